"""Base URLs, checked before use and shown without credentials; messages of servers, shown without keys and quotes of the prompt."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from urllib.parse import SplitResult, parse_qsl, urlsplit, urlunsplit

from piiloom.foundation.errors import UsageError
from piiloom.foundation.words import words

# The paths of the APIs, as users copy them from the examples of a server's documentation.
_PATHS = ("/chat/completions", "/completions", "/responses", "/v1/messages", "/messages")
EXAMPLES = "http://localhost:11434/v1 (Ollama), http://localhost:8000/v1 (vLLM)"


def public_url(url: str) -> str:
    """Return *url* without user, password, query, fragment and trailing slash."""
    parts = urlsplit(url)
    host = parts.netloc.rpartition("@")[2]
    return urlunsplit((parts.scheme, host, parts.path.rstrip("/"), "", ""))


def secrets_of(url: str) -> tuple[str, ...]:
    """Return the parts of *url* that may be secret: the password and every query value."""
    parts = urlsplit(url)
    values = [value for _, value in parse_qsl(parts.query)]
    return tuple(value for value in (parts.password, *values) if value)


def query_of(url: str) -> dict[str, str]:
    """Return the query of *url*, which is sent with every request: ``api-version`` of Azure."""
    return dict(parse_qsl(urlsplit(url).query))


def without_query(url: str) -> str:
    """Return *url* without its query, as the SDKs append paths to it."""
    return urlunsplit((*urlsplit(url)[:3], "", ""))


def check_base_url(url: str) -> str:
    """Return *url* stripped of white space.

    Raises ``UsageError`` unless it is an absolute http or https URL, and for the URL of one path of the API instead of its base.
    """
    text = url.strip()
    if not _is_absolute(text):
        # The text is not shown, because without a scheme a password in it cannot be located.
        raise UsageError(
            "the base URL is not an absolute http or https URL",
            where="base URL",
            remedy=f"Give it with its scheme and port, for example {EXAMPLES}",
        )
    base = without_query(text)
    pasted = next((path for path in _PATHS if base.rstrip("/").endswith(path)), "")
    if pasted:
        meant = text.replace(base, base.rstrip("/").removesuffix(pasted), 1)
        raise UsageError(
            f"the base URL ends in {pasted}, which is added to it", where="base URL", remedy=f"Did you mean {public_url(meant)}?"
        )
    return text


def _is_absolute(text: str) -> bool:
    """Whether *text* has the scheme http or https, a host, and no port or a positive one."""
    try:
        parts: SplitResult = urlsplit(text)
        return parts.scheme in {"http", "https"} and bool(parts.hostname) and (parts.port is None or parts.port > 0)
    except ValueError:
        return False


MAX_CHARS = 240
QUOTE_WORDS = 5
# Text that looks like a key, since keys that we do not know may be echoed too: "sk-…", "Bearer …".
_KEY_LIKE = re.compile(r"\b(?:sk|pk|rk|key|api)[-_][\w-]{12,}|(?<=Bearer )\S+", re.IGNORECASE)
WITHHELD = "the server's explanation repeats the prompt and is not shown"


class Redactor:
    """Removes *secrets* (keys, passwords) and quotes of the prompt from text. Its ``repr`` does not show the secrets."""

    __slots__ = ("_secrets",)

    def __init__(self, secrets: Iterable[str]) -> None:
        # Shorter strings are not secrets, and removing them would blank much of every message.
        self._secrets = tuple(sorted({secret for secret in secrets if len(secret) >= 4}, key=len, reverse=True))

    def __repr__(self) -> str:
        return f"Redactor({len(self._secrets)} secrets)"

    def hide_secrets(self, text: str) -> str:
        """Replace every known secret, and everything that looks like a key, with "…"."""
        for secret in self._secrets:
            text = text.replace(secret, "…")
        return _KEY_LIKE.sub("…", text)

    def presentable(self, text: str, *, prompt: Sequence[str] = ()) -> str:
        """Return *text* without secrets, on one line of at most ``MAX_CHARS`` characters.

        If it repeats ``QUOTE_WORDS`` consecutive words of *prompt*, ``WITHHELD`` is returned instead.
        """
        flat = " ".join(self.hide_secrets(text).split())
        if _quotes(flat, prompt):
            return WITHHELD
        return flat if len(flat) <= MAX_CHARS else flat[: MAX_CHARS - 1] + "…"


def _quotes(text: str, prompt: Sequence[str]) -> bool:
    """Whether *text* repeats ``QUOTE_WORDS`` consecutive words of *prompt*."""
    runs = set(_runs(text))
    return bool(runs) and any(run in runs for part in prompt for run in _runs(part))


def _runs(text: str) -> Iterable[tuple[str, ...]]:
    """Return every sequence of ``QUOTE_WORDS`` consecutive words in *text*, case-folded."""
    found = [word.casefold() for word in words(text)]
    return (tuple(found[i : i + QUOTE_WORDS]) for i in range(len(found) - QUOTE_WORDS + 1))
