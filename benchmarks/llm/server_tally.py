"""What the server counts: the only witness in the benchmark, as no contestant is asked what it sent."""

from __future__ import annotations

import time
from collections import Counter, defaultdict
from dataclasses import dataclass, field
from typing import Any

from .server_settings import BILLED
from .server_wire import PROBE


@dataclass(slots=True)
class Tally:
    """Counts since the start. Times are ``time.monotonic``, which all processes of a Linux machine share."""

    requests: int = 0
    probes: int = 0
    in_flight: int = 0
    most_in_flight: int = 0
    answered: int = 0
    first_at: float | None = None
    last_at: float | None = None
    cpu_at_first: float = 0.0
    outcomes: Counter[str] = field(default_factory=Counter)
    # (case, outcome) of every request that is billed; of all requests
    billed: Counter[tuple[str, str]] = field(default_factory=Counter)
    sent: Counter[str] = field(default_factory=Counter)
    tokens: int = 0
    # by second since the first request: [taken, refused with 429, tokens taken]
    seconds: defaultdict[int, list[int]] = field(default_factory=lambda: defaultdict(lambda: [0, 0, 0]))
    # how much later than its latency an answer left, in milliseconds: the sign of a server that cannot keep up
    late_ms: list[float] = field(default_factory=list)

    def arrived(self, now: float, case: str, outcome: str, tokens: int) -> None:
        """Count a request in, with what will become of it."""
        if case == PROBE:
            self.probes += 1
            return
        if self.first_at is None:
            self.first_at, self.cpu_at_first = now, time.process_time()
        self.requests += 1
        self.sent[case] += 1
        self.outcomes[outcome] += 1
        second = self.seconds[int(now - self.first_at)]
        if outcome in BILLED:
            self.billed[case, outcome] += 1
            self.tokens += tokens
            second[0] += 1
            second[2] += tokens
        elif outcome in {"rate_limit", "full", "over_rate"}:
            second[1] += 1

    def started(self) -> None:
        """Count a request that takes time."""
        self.in_flight += 1
        self.most_in_flight = max(self.most_in_flight, self.in_flight)

    def ended(self, now: float, due: float, *, lost: bool) -> None:
        """Count it out again; *lost* when it was never answered."""
        self.in_flight -= 1
        if lost:
            return
        self.answered += 1
        self.last_at = now
        self.late_ms.append(1000 * (now - due))

    def brief(self) -> dict[str, Any]:
        """What a watcher polls for."""
        return {"requests": self.requests, "answered": self.answered, "in_flight": self.in_flight, "last_at": self.last_at}

    def full(self) -> dict[str, Any]:
        """Everything."""
        late = sorted(self.late_ms) or [0.0]
        billed = Counter[str]()
        for (case, _), number in self.billed.items():
            billed[case] += number
        wall = (self.last_at or 0.0) - (self.first_at or 0.0)
        return self.brief() | {
            "first_at": self.first_at,
            "wall_s": wall,
            "most_in_flight": self.most_in_flight,
            "outcomes": dict(self.outcomes),
            "billed": [[case, outcome, number] for (case, outcome), number in sorted(self.billed.items())],
            "billed_total": sum(billed.values()),
            "billed_again": sum(number - 1 for number in billed.values()),
            "probes": self.probes,
            "cases_billed": len(billed),
            "sent": dict(self.sent),
            "tokens": self.tokens,
            "seconds": [[second, *counts] for second, counts in sorted(self.seconds.items())],
            "late_ms": {"p50": late[len(late) // 2], "p99": late[int(len(late) * 0.99)], "max": late[-1]},
            "server_cpu_share": (time.process_time() - self.cpu_at_first) / wall if wall > 0 else 0.0,
        }
