"""Parse the rate-limit headers of a response.

OpenAI and the servers that follow it send ``x-ratelimit-{limit,remaining,reset}-{requests,tokens}``, with resets as
durations ("120ms", "6m0s"). Anthropic sends ``anthropic-ratelimit-{requests,tokens,input-tokens,output-tokens}-{limit,
remaining,reset}``, with resets as timestamps (RFC 3339). Missing or malformed headers give None: a limit is never guessed.
All of them send ``retry-after`` with an error.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from functools import lru_cache
from typing import NamedTuple

_MARK = b"ratelimit-"
_NUM = r"(\d{1,15}(?:\.\d{1,9})?)"
_DURATION = re.compile(rf"(?:{_NUM}d)?(?:{_NUM}h)?(?:{_NUM}m)?(?:{_NUM}s)?(?:{_NUM}ms)?", re.ASCII)
_UNITS = (86_400.0, 3_600.0, 60.0, 1.0, 0.001)
_NUMBER = re.compile(_NUM, re.ASCII)
_STATED = re.compile(
    rf"(?:retry|try again|wait)(?: after| in| for)? (?:{_NUM} ?seconds?\b|((?:[\d.]+(?:ms|[dhms]))+)\b)", re.ASCII | re.IGNORECASE
)

# Cached, because hundreds of responses a second carry the same date.
_parsed = lru_cache(maxsize=4)(parsedate_to_datetime)


@dataclass(frozen=True, slots=True, kw_only=True)
class RateReport:
    """Limits per window, what remains of them, and the seconds until they are fully reset; None if not stated."""

    limit_requests: float | None = None
    remaining_requests: float | None = None
    reset_requests_s: float | None = None
    limit_tokens: float | None = None
    remaining_tokens: float | None = None
    reset_tokens_s: float | None = None


class _Window(NamedTuple):
    limit: float | None
    remaining: float | None
    reset_s: float | None

    @property
    def share(self) -> float:
        """The remaining fraction of the limit; 1.0 if the limit or the remainder is not stated."""
        return self.remaining / self.limit if self.limit and self.remaining is not None else 1.0


def read_rates(raw: Iterable[tuple[bytes, bytes]]) -> RateReport | None:
    """Return the report in the *raw* headers (name and value pairs, as sent); None if there is no rate-limit header."""
    found: dict[str, str] = {}
    date = ""
    for name, value in raw:
        lower = name.lower()
        if _MARK in lower:
            found[lower.decode("latin-1")] = value.decode("latin-1").strip()
        elif lower == b"date":
            date = value.decode("latin-1")
    if not found:
        return None
    return _anthropic(found, date) if any(name.startswith("anthropic-") for name in found) else _openai(found, date)


def read_retry_after(headers: Mapping[str, str]) -> float | None:
    """Return the wait in seconds that the server asks for; None if it gives none or an invalid one.

    Reads ``retry-after-ms``, or ``retry-after`` in seconds or as an HTTP date.
    """
    for name, unit in (("retry-after-ms", 0.001), ("retry-after", 1.0)):
        try:
            seconds = float(headers.get(name, "")) * unit
        except ValueError:
            continue
        # Ignore "nan", "inf" and negative numbers.
        return seconds if 0 <= seconds < float("inf") else None
    try:
        return _wait(parsedate_to_datetime(headers.get("retry-after", "")), headers.get("date", ""))
    except (TypeError, ValueError):
        return None


def stated_wait(message: str) -> float | None:
    """Return the wait in seconds that an error's *message* asks for ("Please retry after 6 seconds", "try again in 9m38.016s")."""
    found = _STATED.search(message)
    return _seconds(found[1] or found[2].lower(), "") if found else None


def _openai(found: Mapping[str, str], date: str) -> RateReport:
    return _report(_window(found, "x-ratelimit-{}-requests", date), _window(found, "x-ratelimit-{}-tokens", date))


def _anthropic(found: Mapping[str, str], date: str) -> RateReport:
    whole, given, made = (_window(found, f"anthropic-ratelimit-{kind}-{{}}", date) for kind in ("tokens", "input-tokens", "output-tokens"))
    return _report(_window(found, "anthropic-ratelimit-requests-{}", date), _binding(whole, given, made))


def _binding(whole: _Window, given: _Window, made: _Window) -> _Window:
    """Merge Anthropic's three token windows (all, input, output) into one.

    The limit is the window for all tokens, or the sum of input and output, so that it counts what callers count and does not
    change from response to response. The remaining fraction and the reset time are those of the window with the least left.
    """
    scarcest = min((window for window in (whole, given, made) if window.limit), key=lambda window: window.share, default=whole)
    sides = [window.limit for window in (given, made) if window.limit]
    limit = whole.limit or (sum(sides) if sides else None)
    if limit is None or scarcest is whole or scarcest.remaining is None:
        return whole if whole.limit else _Window(limit, scarcest.remaining, scarcest.reset_s)
    return _Window(limit, limit * scarcest.share, scarcest.reset_s)


def _report(requests: _Window, tokens: _Window) -> RateReport:
    return RateReport(
        limit_requests=requests.limit,
        remaining_requests=requests.remaining,
        reset_requests_s=requests.reset_s,
        limit_tokens=tokens.limit,
        remaining_tokens=tokens.remaining,
        reset_tokens_s=tokens.reset_s,
    )


def _window(found: Mapping[str, str], name: str, date: str) -> _Window:
    """Read one window; *name* is the header name with ``{}`` in place of limit, remaining and reset."""
    limit, remaining, reset = (found.get(name.format(what), "") for what in ("limit", "remaining", "reset"))
    # Gateways send a limit of 0 or -1 if there is none.
    return _Window(_number(limit) or None, _number(remaining), _seconds(reset, date))


def _number(text: str) -> float | None:
    return float(text) if _NUMBER.fullmatch(text) else None


def _seconds(text: str, date: str) -> float | None:
    """Return the seconds until *text*: a duration ("6m0s", "120ms"), a number of seconds, or a timestamp (RFC 3339)."""
    if not text:
        return None
    if _NUMBER.fullmatch(text):
        return float(text)
    parts = _DURATION.fullmatch(text)
    if parts is not None:
        return sum(float(part) * unit for part, unit in zip(parts.groups(), _UNITS, strict=True) if part)
    return _until(text, date)


def _until(moment: str, date: str) -> float | None:
    try:
        return _wait(datetime.fromisoformat(moment), date)
    except (TypeError, ValueError):
        return None


def _wait(moment: datetime, date: str) -> float:
    """Return the seconds from the response's *date* header to *moment*, at least 0.

    Without a date the local clock is used, which may differ from the server's.
    """
    return max(0.0, (moment - (_parsed(date) if date else datetime.now(UTC))).total_seconds())
