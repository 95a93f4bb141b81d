"""Base URLs: check them before use, and remove credentials before they are shown."""

from __future__ import annotations

from urllib.parse import SplitResult, parse_qsl, urlsplit, urlunsplit

from piiloom.foundation.errors import UsageError

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
