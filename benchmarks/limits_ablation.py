"""What each idea of the rate limiter adds: it is switched off, alone, before simulated servers of four kinds in virtual time.

    python -m benchmarks.limits_ablation                                  # everything (some minutes)
    python -m benchmarks.limits_ablation --kinds noisy --seeds 1 --only "all,the basics"

Prints a table in Markdown for each kind. A cell holds the time that all calls took over that of an oracle which knows the server's
limits, the refused calls in percent of those wanted, and the 95th percentile of the latency in seconds of an answered call; each the
mean over the seeds. The same seeds give the same table.
"""

# Parts of the limiter are replaced by functions with the same parameters, which need not use them.
# ruff: noqa: ARG001, ARG002, ARG005, D101, D102, SLF001

from __future__ import annotations

import argparse
import asyncio
import itertools
import random
import statistics
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from typing import Any
from unittest.mock import patch

from benchmarks.limits_servers import SCENARIOS, Scenario, ServerError, free_at
from benchmarks.simulated_servers import Call, Refusal, Server
from benchmarks.virtual_time import clock, run_virtually
from piiloom.execution.limits import adaptive, admission_policy, retry_after_pause
from piiloom.execution.limits.adaptive import AdaptiveLimit, Start
from piiloom.execution.limits.admission_policy import Admission, AdmissionPolicy
from piiloom.execution.limits.limiter import Limiter
from piiloom.execution.limits.minute_window import MinuteWindow
from piiloom.execution.limits.rate_buckets import RateBucket
from piiloom.execution.limits.token_ratios import TokenRatios
from piiloom.execution.limits.unrelated_refusals import UnrelatedRefusals
from piiloom.execution.retrying import RetryPolicy
from piiloom.foundation.errors import ProviderError
from piiloom.providers.errors import ProviderUnavailable, RateLimited

# As by default: generation.settings.configuration.
TIME_LIMIT_S = 60.0
TIMED_OUT_ERROR = ProviderUnavailable("", maybe_billed=True)

Switch = Callable[[], Any]


def replaced(owner: object, name: str, value: object) -> Switch:
    return lambda: patch.object(owner, name, value)


class Aimd:
    """The textbook in place of ``AdaptiveLimit``: half after a refusal, at most once per round trip; one more per round trip without."""

    def __init__(self, most: int) -> None:
        self.most, self.in_flight, self.refused_count, self.round_trip_s = most, 0, 0, 0.0
        self._value, self._started, self._started_at_cut = float(most), 0, 0

    def limit(self, now: float) -> int:
        return int(self._value)

    def opens_at(self, now: float) -> float:
        return now if self.in_flight < self.limit(now) else float("inf")

    def start(self, now: float) -> Start:
        self.in_flight += 1
        self._started += 1
        return Start(self._started, self.in_flight, self.refused_count)

    def failed(self, start: Start) -> None:
        self.in_flight -= 1

    def answered(self, start: Start, now: float, latency_s: float) -> None:
        self.in_flight -= 1
        self.round_trip_s += (latency_s - self.round_trip_s) * (0.05 if self.round_trip_s else 1.0)
        if start.level >= int(self._value):
            self._value = min(float(self.most), self._value + 1 / self._value)

    def refused(self, start: Start, now: float, wait_s: float) -> None:
        self.in_flight -= 1
        self.refused_count += 1
        if start.number > self._started_at_cut:
            self._started_at_cut = self._started
            self._value = max(1.0, self._value / 2)

    def refused_for_rate(self, start: Start) -> None:
        self.in_flight -= 1
        self.refused_count += 1


def _grow_by_one(self: AdaptiveLimit, now: float) -> None:
    if self._plateau is not None:
        self._value = min(float(self.most), self._value + 1 / self._value)


_cut = AdaptiveLimit._cut


def _half(self: AdaptiveLimit, start: Start, accepted: int, now: float, wait_s: float) -> None:
    if start.number > self._started_at_cut:
        _cut(self, start, max(1, int(self._value / 2)), now, wait_s)


_failed_as_is = AdmissionPolicy.failed


def _failed(self: AdmissionPolicy, who: Admission, now: float, *, timed_out: bool) -> None:
    _failed_as_is(self, who, now, timed_out=False)


RATIOS = replaced(TokenRatios, "corrected", lambda self, estimated, stage: max(1.0, estimated))
MARGIN = replaced(RateBucket, "_margin", lambda self, limit: 0.0)
WINDOW = replaced(MinuteWindow, "fits_at", lambda self, need, most, now: (self.expire(now), now)[1])
TIGHT = replaced(RateBucket, "is_tight", lambda self, now: False)
SPREAD = replaced(retry_after_pause, "_LONGEST_SPREAD_S", 0.0)
BACKOFF = replaced(admission_policy, "_FIRST_BACKOFF_S", 0.0)
UNRELATED = replaced(UnrelatedRefusals, "restored", lambda self, now: None)
TIMED_OUT = replaced(AdmissionPolicy, "failed", _failed)
RAMP = replaced(adaptive, "_START", 10_000)
CUBIC = replaced(AdaptiveLimit, "_grow", _grow_by_one)
ACCEPTED = replaced(AdaptiveLimit, "_cut", _half)
AIMD = replaced(admission_policy, "AdaptiveLimit", Aimd)

VARIANTS: Mapping[str, Sequence[Switch]] = {
    "all": (),
    "no token ratios": (RATIOS,),
    "no margin for lengths": (MARGIN,),
    "no minute window": (WINDOW,),
    "no blaming of a tight rate": (TIGHT,),
    "no spreading after a pause": (SPREAD,),
    "no back-off of the limiter": (BACKOFF,),
    "no restoring after unrelated refusals": (UNRELATED,),
    "time-outs say nothing": (TIMED_OUT,),
    "no ramp-up": (RAMP,),
    "no cubic curve": (CUBIC,),
    "half instead of what was accepted": (ACCEPTED,),
    "AIMD for the concurrency": (AIMD,),
    "the basics": (RATIOS, MARGIN, WINDOW, TIGHT, SPREAD, BACKOFF, TIMED_OUT, AIMD),
}


@dataclass
class Outcome:
    """What became of the calls of one simulation."""

    seconds: float = 0.0
    refused: int = 0
    timed_out: int = 0
    lost: int = 0
    latencies: list[float] = field(default_factory=list)


@dataclass
class Client:
    """Sends all calls of a scenario: each asks *gate* for leave, and tries again as ``RetryPolicy`` says."""

    server: Server
    seed: int
    outcome: Outcome = field(default_factory=Outcome)

    def __post_init__(self) -> None:
        self._policy, self._rng = RetryPolicy(), random.Random(self.seed)

    async def through(self, limiter: Limiter, calls: Sequence[Call], callers: int) -> Outcome:
        """Send *calls* through *limiter*."""

        async def attempt(call: Call) -> ProviderError | None:
            async with limiter.slot(call.estimated, call.stage) as slot:
                sent = clock()
                error = await self._sent(call)
                if isinstance(error, RateLimited):
                    slot.refused(retry_after=error.retry_after)
                elif error is not None:
                    slot.failed(timed_out=error is TIMED_OUT_ERROR)
                else:
                    slot.answered(tokens=round(call.tokens), latency_s=clock() - sent, stage=call.stage)
            return error

        return await self._all(attempt, calls, callers, wait=True)

    async def knowing(self, calls: Sequence[Call], in_flight: int) -> Outcome:
        """Send *calls* as an oracle: each when the server takes it, *in_flight* at once."""
        turn = asyncio.Lock()

        async def attempt(call: Call) -> ProviderError | None:
            async with turn:
                while (at := free_at(self.server, clock(), call.tokens)) > clock():  # noqa: ASYNC110 - no event tells of it
                    await asyncio.sleep(at - clock())
                sending = asyncio.ensure_future(self._sent(call))
                await asyncio.sleep(0)
            return await sending

        return await self._all(attempt, calls, in_flight, wait=False)

    async def _all(
        self, attempt: Callable[[Call], Awaitable[ProviderError | None]], calls: Sequence[Call], callers: int, *, wait: bool
    ) -> Outcome:
        waiting = iter(calls)

        async def caller() -> None:
            for call in waiting:
                await self._completed(attempt, call, wait=wait)

        await asyncio.gather(*(caller() for _ in range(callers)))
        self.outcome.seconds = clock()
        return self.outcome

    async def _completed(self, attempt: Callable[[Call], Awaitable[ProviderError | None]], call: Call, *, wait: bool) -> None:
        began = clock()
        for number in itertools.count(1):
            error = await attempt(call)
            if error is None:
                return
            if not wait:
                continue
            if not self._policy.worth_retrying(error, number, clock() - began):
                self.outcome.lost += 1
                return
            if getattr(error, "retry_after", None) is None:
                await asyncio.sleep(self._policy.backoff(number, self._rng))

    async def _sent(self, call: Call) -> ProviderError | None:
        sent = clock()
        try:
            async with asyncio.timeout(TIME_LIMIT_S):
                await self.server.call(call.tokens, call.stage)
        except Refusal as refusal:
            self.outcome.refused += 1
            return RateLimited("", retry_after=refusal.retry_after)
        except ServerError:
            return ProviderUnavailable("")
        except TimeoutError:
            self.outcome.timed_out += 1
            return TIMED_OUT_ERROR
        self.outcome.latencies.append(clock() - sent)
        return None


@contextmanager
def switched_off(switches: Sequence[Switch]) -> Iterator[None]:
    with ExitStack() as stack:
        for switch in switches:
            stack.enter_context(switch())
        yield


def simulated(scenario: Scenario, seed: int, switches: Sequence[Switch]) -> Outcome:
    """All calls of *scenario* through a limiter without the ideas in *switches*."""

    async def run() -> Outcome:
        limiter = Limiter(concurrency=scenario.concurrency, rpm=scenario.rpm, tpm=scenario.tpm, clock=clock)
        return await Client(scenario.server(seed), seed).through(limiter, scenario.calls(seed), 2 * scenario.concurrency)

    with switched_off(switches):
        return run_virtually(run())


def oracle_s(scenario: Scenario, seed: int) -> float:
    """How long an oracle takes for *scenario*, in seconds."""

    async def run() -> Outcome:
        return await Client(scenario.server(seed), seed).knowing(scenario.calls(seed), scenario.best or scenario.concurrency)

    return run_virtually(run()).seconds


def cell(found: Sequence[tuple[float, Outcome]], wanted: int) -> str:
    """Time over the oracle's, refused percent, 95th percentile of latency; and how many calls were given up, if any."""
    ratio = statistics.mean(outcome.seconds / ideal for ideal, outcome in found)
    refused = statistics.mean(100 * outcome.refused / wanted for _, outcome in found)
    late = statistics.mean(statistics.quantiles(outcome.latencies, n=20)[-1] for _, outcome in found)
    end = statistics.mean(100 * outcome.timed_out / wanted for _, outcome in found)
    lost = statistics.mean(100 * outcome.lost / wanted for _, outcome in found)
    more = f" ({end:.0f}% timed out, {lost:.0f}% lost)" if end or lost else ""
    return f"{ratio:.2f} / {refused:.1f} / {late:.2g}{more}"


def table(kind: str, variants: Sequence[str], seeds: int) -> str:
    scenarios = [scenario for scenario in SCENARIOS if scenario.kind == kind]
    ideals = {(at, seed): oracle_s(scenario, seed) for at, scenario in enumerate(scenarios) for seed in range(seeds)}
    lines = [f"| {kind} | " + " | ".join(scenario.name for scenario in scenarios) + " |", "|---" * (len(scenarios) + 1) + "|"]
    for name in variants:
        cells = []
        for at, scenario in enumerate(scenarios):
            found = [(ideals[at, seed], simulated(scenario, seed, VARIANTS[name])) for seed in range(seeds)]
            cells.append(cell(found, len(scenario.calls(0))))
        lines.append(f"| {name} | " + " | ".join(cells) + " |")
    return "\n".join(lines)


def main() -> None:
    arguments = parsed()
    for kind in arguments.kinds.split(","):
        print(table(kind, arguments.only.split(",") if arguments.only else list(VARIANTS), arguments.seeds), end="\n\n", flush=True)


def parsed() -> argparse.Namespace:
    kinds = list(dict.fromkeys(scenario.kind for scenario in SCENARIOS))
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kinds", default=",".join(kinds), help=f"kinds of servers, separated by commas ({','.join(kinds)})")
    parser.add_argument("--only", help=f"variants, separated by commas: {', '.join(VARIANTS)}")
    parser.add_argument("--seeds", type=int, default=5, help="how many seeds (5)")
    return parser.parse_args()


if __name__ == "__main__":
    main()
