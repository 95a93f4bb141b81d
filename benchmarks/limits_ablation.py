"""What each idea of the rate limiter adds: it is switched off, alone, before simulated servers of four kinds in virtual time.

    python -m benchmarks.limits_ablation                                  # everything (some minutes)
    python -m benchmarks.limits_ablation --kinds noisy --seeds 1 --only "all,the basics"

Prints a table in Markdown for each kind. A cell holds the time that all calls took over that of an oracle which knows the server's
limits, the refused calls in percent of those wanted, and the 95th percentile of the latency in seconds of an answered call; each the
mean over the seeds. The same seeds give the same table.
"""

from __future__ import annotations

import argparse
import asyncio
import itertools
import random
import statistics
from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field

from benchmarks.limits_scenarios import SCENARIOS, Scenario
from benchmarks.limits_servers import ServerError, free_at
from benchmarks.limits_variants import VARIANTS, Switch
from benchmarks.peers.harness import some_of
from benchmarks.simulated_servers import Call, Refusal, Server
from benchmarks.virtual_time import clock, run_virtually
from piiloom.execution.limits.limiter import Limiter
from piiloom.execution.retrying import RetryPolicy
from piiloom.foundation.errors import ProviderError
from piiloom.providers.errors import ProviderUnavailable, RateLimited

# As by default: generation.settings.configuration.
TIME_LIMIT_S = 60.0
TIMED_OUT_ERROR = ProviderUnavailable("", maybe_billed=True)


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
    kinds = list(dict.fromkeys(scenario.kind for scenario in SCENARIOS))
    variants = some_of(list(VARIANTS), arguments.only, list(VARIANTS))
    for kind in some_of(kinds, arguments.kinds, kinds):
        print(table(kind, variants, arguments.seeds), end="\n\n", flush=True)


def parsed() -> argparse.Namespace:
    kinds = list(dict.fromkeys(scenario.kind for scenario in SCENARIOS))
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kinds", default=",".join(kinds), help=f"kinds of servers, separated by commas ({','.join(kinds)})")
    parser.add_argument("--only", help=f"variants, separated by commas: {', '.join(VARIANTS)}")
    parser.add_argument("--seeds", type=int, default=5, help="how many seeds (5)")
    return parser.parse_args()


if __name__ == "__main__":
    main()
