"""What becomes of a request: the rules of the scenario, in the order in which a provider's front door applies them."""

from __future__ import annotations

import random
from collections import deque

from .server_settings import FAULT_KINDS, ServerSettings

WINDOW_S = 60.0


class SlidingWindow:
    """At most *limit* units in any 60 seconds. What was refused does not count."""

    def __init__(self, limit: int) -> None:
        self.limit = limit
        self.used = 0
        self._taken: deque[tuple[float, int]] = deque()

    def wait(self, now: float, units: int) -> float:
        """Seconds until *units* would be let in; 0 when they are."""
        while self._taken and self._taken[0][0] <= now - WINDOW_S:
            self.used -= self._taken.popleft()[1]
        missing = self.used + units - self.limit
        if missing <= 0:
            return 0.0
        for at, taken in self._taken:
            missing -= taken
            if missing <= 0:
                return at + WINDOW_S - now
        return WINDOW_S

    def take(self, now: float, units: int) -> None:
        """Count *units* in."""
        self._taken.append((now, units))
        self.used += units


class Behaviour:
    """Decides on each request; keeps the windows of the rate limits."""

    def __init__(self, settings: ServerSettings) -> None:
        self.settings = settings
        self._refused = frozenset(settings.refused)
        self._rng = random.Random(settings.seed)
        self.requests = SlidingWindow(settings.rpm) if settings.rpm else None
        self.tokens = SlidingWindow(settings.tpm) if settings.tpm else None

    def decide(self, now: float, case: str, tokens: int, in_flight: int) -> tuple[str, float]:
        """Give the outcome, and how many seconds a refused caller should wait (0: it is not told)."""
        settings = self.settings
        if settings.at_once is not None and in_flight >= settings.at_once:
            return "full", 0.0
        windows = [(window, units) for window, units in ((self.requests, 1), (self.tokens, tokens)) if window]
        wait = max((window.wait(now, units) for window, units in windows), default=0.0)
        if wait > 0:
            return "over_rate", wait
        for window, units in windows:
            window.take(now, units)
        if case in self._refused:
            return "refused", 0.0
        kind = self._fault()
        return kind, settings.retry_after_s if kind == "rate_limit" else 0.0

    def rate_headers(self, now: float) -> str:
        """What OpenAI says of its limits in each answer; nothing when there are none."""
        lines = []
        for name, window in (("requests", self.requests), ("tokens", self.tokens)):
            if window is not None:
                reset = window.wait(now, window.limit)
                lines.append(f"x-ratelimit-limit-{name}: {window.limit}\r\n")
                lines.append(f"x-ratelimit-remaining-{name}: {window.limit - window.used}\r\n")
                lines.append(f"x-ratelimit-reset-{name}: {reset:.3f}s\r\n")
        return "".join(lines)

    def _fault(self) -> str:
        shares = self.settings.faults
        if not shares:
            return "ok"
        drawn = self._rng.random()
        for kind in FAULT_KINDS:
            drawn -= shares.get(kind, 0.0)
            if drawn < 0:
                return kind
        return "ok"
