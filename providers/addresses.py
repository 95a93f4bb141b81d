"""Base URLs: checked before use, and shown without what must not be shown."""

from __future__ import annotations

from urllib.parse import SplitResult, parse_qsl, urlsplit, urlunsplit

from piiloom.foundation.errors import UsageError

EXAMPLES = "http://localhost:11434/v1 (Ollama), http://localhost:8000/v1 (vLLM)"


def public_url(url: str) -> str:
    """*url* without user, password, query and fragment, and without a trailing slash."""
    parts = urlsplit(url)
    host = parts.netloc.rpartition("@")[2]
    return urlunsplit((parts.scheme, host, parts.path.rstrip("/"), "", ""))


def secrets_of(url: str) -> tuple[str, ...]:
    """What in *url* may be a secret: the password and every value of the query."""
    parts = urlsplit(url)
    values = [value for _, value in parse_qsl(parts.query)]
    return tuple(value for value in (parts.password, *values) if value)


def check_base_url(url: str) -> str:
    """Return *url* stripped of white space; ``UsageError`` unless it is an absolute http or https URL."""
    text = url.strip()
    if not _is_absolute(text):
        # The text is not shown: without a scheme there is no telling which part of it is a password.
        raise UsageError(
            "the base URL is not an absolute http or https URL",
            where="base URL",
            remedy=f"Give it with its scheme and port, for example {EXAMPLES}",
        )
    return text


def _is_absolute(text: str) -> bool:
    """Whether *text* has a scheme we speak, a host and, if any, a port that is a number."""
    try:
        parts: SplitResult = urlsplit(text)
        return parts.scheme in {"http", "https"} and bool(parts.hostname) and (parts.port is None or parts.port > 0)
    except ValueError:
        return False
