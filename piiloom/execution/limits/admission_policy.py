"""All conditions for a call to start: no pause, calls in flight, and requests and tokens per minute.

``AdmissionPolicy`` asks each of them when a call may start and reports to each how it ended. ``limiter`` is the public interface.
"""

from __future__ import annotations

from dataclasses import dataclass

from piiloom.execution.limits.adaptive import AdaptiveLimit, Start
from piiloom.execution.limits.minute_window import Cell
from piiloom.execution.limits.rate_buckets import RateBucket
from piiloom.execution.limits.retry_after_pause import RetryAfterPause
from piiloom.execution.limits.token_ratios import TokenRatios

# Own back-off, for refusals without Retry-After when a rate is exhausted or no call is in flight.
_FIRST_BACKOFF_S, _LONGEST_BACKOFF_S = 0.1, 30.0


@dataclass(slots=True)
class Admission:
    """A call that wants to start: its estimated tokens, and what it occupies once it has started."""

    estimated: int
    stage: str
    reserved: float = 0.0
    start: Start | None = None
    requests: Cell | None = None
    tokens: Cell | None = None


class AdmissionPolicy:
    """Decides when calls start (``admission_queue`` asks it) and adapts to how they end."""

    def __init__(self, *, concurrency: int, rpm: float | None, tpm: float | None) -> None:
        self.adaptive = AdaptiveLimit(concurrency)
        self.requests, self.tokens = RateBucket(rpm), RateBucket(tpm)
        self.pause = RetryAfterPause()
        self.refused_count = 0
        self._ratios = TokenRatios()
        self._refused_in_a_row = 0

    def ready_at(self, who: Admission, now: float) -> float:
        """Return when *who* may start: *now*, later, or ``inf``: not before a change. Also sets the tokens that it would reserve."""
        at = max(self.pause.ready_at(now), self.adaptive.opens_at(now))
        if at > now:
            return at
        who.reserved = self._ratios.corrected(who.estimated, who.stage)
        return max(self.requests.ready_at(1.0, now), self.tokens.ready_at(who.reserved, now))

    def admit(self, who: Admission, now: float) -> None:
        """Start *who*: occupy a place and charge the request and its tokens."""
        self.pause.started(now)
        who.start = self.adaptive.start(now)
        who.requests = self.requests.take(1.0, now)
        who.tokens = self.tokens.take(who.reserved, now)

    def withdraw(self, who: Admission) -> None:
        """Undo ``admit`` for a call that was cancelled before anything was sent."""
        start, requests, tokens = _taken(who)
        self.requests.settle(requests, -1.0)
        self.tokens.settle(tokens, -who.reserved)
        self.adaptive.failed(start)

    def answered(self, who: Admission, now: float, tokens: int | None, latency_s: float, stage: str) -> None:
        """End *who*, which was answered after *latency_s*, and correct its charge to *tokens* (None: not known)."""
        start, request_cell, token_cell = _taken(who)
        self._refused_in_a_row = 0
        self.requests.settle(request_cell, 0.0)
        if tokens is None:
            self.tokens.settle(token_cell, 0.0)
        else:
            self._ratios.learn(who.estimated, tokens, stage)
            self.tokens.settle(token_cell, tokens - who.reserved, learn=True)
        self.adaptive.answered(start, now, latency_s)

    def failed(self, who: Admission, now: float, *, timed_out: bool) -> None:
        """End *who*, which got no answer. The server may have worked on it, so its tokens stay charged.

        *timed_out*: the answer did not come in time, as from a server that queues more calls than it works on. Fewer are sent then.
        """
        start, request_cell, token_cell = _taken(who)
        self.requests.settle(request_cell, 0.0)
        self.tokens.settle(token_cell, 0.0)
        if timed_out:
            self.adaptive.refused(start, now, 0.0)
        else:
            self.adaptive.failed(start)

    def refused(self, who: Admission, now: float, retry_after: float | None) -> None:
        """End *who*, which the server refused; *retry_after* is the requested wait in seconds, if any.

        Lowers the concurrency, unless a rate per minute is nearly used up and so the likely cause, and pauses all calls.
        """
        start, request_cell, token_cell = _taken(who)
        self.refused_count += 1
        # Servers count refused requests, but no tokens for them.
        self.requests.settle(request_cell, 0.0)
        self.tokens.settle(token_cell, -who.reserved)
        wait = max(0.0, retry_after or 0.0)
        tight = self.requests.is_tight(now) or self.tokens.is_tight(now)
        if tight:
            self.adaptive.refused_for_rate(start)
        else:
            self.adaptive.refused(start, now, wait)
        self._refused_in_a_row += 1
        if not wait and (tight or not self.adaptive.in_flight):
            wait = min(_LONGEST_BACKOFF_S, _FIRST_BACKOFF_S * 2.0 ** min(self._refused_in_a_row, 20))
        self.pause.begin(wait, now, calls=self.adaptive.limit(now), round_trip_s=self.adaptive.round_trip_s)


def _taken(who: Admission) -> tuple[Start, Cell, Cell]:
    if who.start is None or who.requests is None or who.tokens is None:
        raise RuntimeError("a slot was used before it was entered")
    return who.start, who.requests, who.tokens
