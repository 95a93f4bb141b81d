"""Base URLs: check them before use, and remove credentials before they are shown."""

from __future__ import annotations

from urllib.parse import SplitResult, parse_qsl, urlsplit, urlunsplit

from piiloom.foundation.errors import UsageError

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


def check_base_url(url: str) -> str:
    """Return *url* stripped of white space; raises ``UsageError`` unless it is an absolute http or https URL."""
    text = url.strip()
    if not _is_absolute(text):
        # The text is not shown, because without a scheme a password in it cannot be located.
        raise UsageError(
            "the base URL is not an absolute http or https URL",
            where="base URL",
            remedy=f"Give it with its scheme and port, for example {EXAMPLES}",
        )
    return text


def _is_absolute(text: str) -> bool:
    """Whether *text* has the scheme http or https, a host, and no port or a positive one."""
    try:
        parts: SplitResult = urlsplit(text)
        return parts.scheme in {"http", "https"} and bool(parts.hostname) and (parts.port is None or parts.port > 0)
    except ValueError:
        return False
