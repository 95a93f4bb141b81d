"""The scenarios of ``limits_ablation``: four kinds of servers, each in several settings, and what is sent to them."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass
from math import exp, inf

from benchmarks.limits_servers import Changing, Noisy, Sharing, TellingBucket, TellingFixedWindow, TellingSlidingWindow
from benchmarks.simulated_servers import Call, Capacity, Queueing, Server, lognormal


@dataclass(frozen=True, kw_only=True)
class Scenario:
    """A server and what is sent to it. ``best``: the calls in flight that an oracle would keep; None for ``concurrency``."""

    kind: str
    name: str
    server: Callable[[int], Server]
    calls: Callable[[int], list[Call]]
    concurrency: int = 64
    rpm: float | None = None
    tpm: float | None = None
    best: int | None = None


def calls(count: int, *, mean: float = 100, guess: float = 1.0, sigma: float = 0.4) -> Callable[[int], list[Call]]:
    """*count* calls of *mean* tokens of varying length, which are estimated at *guess* times what they take, give or take 30%."""

    def drawn(seed: int) -> list[Call]:
        rng = random.Random(seed)
        lengths = [max(1, round(mean * rng.lognormvariate(-(sigma**2) / 2, sigma))) for _ in range(count)]
        return [Call(estimated=max(1, round(length * guess * rng.uniform(0.7, 1.3))), tokens=length) for length in lengths]

    return drawn


RATES, AT_ONCE, QUEUES, NOISE = "rates", "concurrency", "queueing", "noisy"
SCENARIOS: tuple[Scenario, ...] = (
    Scenario(
        kind=RATES,
        name="600 RPM and 60,000 TPM over 60 s, declared; estimates half of what calls take",
        server=lambda seed: TellingSlidingWindow(latency=lognormal(seed, 1.0)),
        calls=calls(1500, mean=300, guess=0.5),
        rpm=600,
        tpm=60_000,
    ),
    Scenario(
        kind=RATES,
        name="the same, declared, 1,000 tokens a call",
        server=lambda seed: TellingSlidingWindow(latency=lognormal(seed, 1.0)),
        calls=calls(450, mean=1000),
        rpm=600,
        tpm=60_000,
    ),
    Scenario(
        kind=RATES,
        name="the same, declared, 15 s a reply, estimates twice what calls take",
        server=lambda seed: TellingSlidingWindow(latency=lognormal(seed, 15.0)),
        calls=calls(1500, mean=300, guess=2.0),
        rpm=600,
        tpm=60_000,
    ),
    Scenario(
        kind=RATES,
        name="540 RPM over 60 s, declared as 600, without Retry-After",
        server=lambda seed: TellingSlidingWindow(latency=lognormal(seed, 1.0), rpm=540, tpm=inf, silent=True),
        calls=calls(3000),
        rpm=600,
    ),
    Scenario(
        kind=RATES,
        name="540 RPM over 60 s, declared as 600",
        server=lambda seed: TellingSlidingWindow(latency=lognormal(seed, 1.0), rpm=540, tpm=inf),
        calls=calls(3000),
        rpm=600,
    ),
    Scenario(
        kind=RATES,
        name="600 RPM by the clock's minute, nothing declared",
        server=lambda seed: TellingFixedWindow(latency=lognormal(seed, 0.5), tpm=inf),
        calls=calls(3000),
    ),
    Scenario(
        kind=RATES,
        name="bucket of 600 RPM that holds 2 s worth, nothing declared",
        server=lambda seed: TellingBucket(latency=lognormal(seed, 0.5), tpm=inf, depth_s=2.0),
        calls=calls(2000),
    ),
    Scenario(
        kind=AT_ONCE,
        name="takes 16 at once",
        server=lambda seed: Capacity(latency=lognormal(seed, 1.0), most=16),
        calls=calls(2000),
    ),
    Scenario(
        kind=AT_ONCE,
        name="takes 16 at once, of 256",
        server=lambda seed: Capacity(latency=lognormal(seed, 1.0), most=16),
        calls=calls(2000),
        concurrency=256,
    ),
    Scenario(
        kind=AT_ONCE,
        name="takes 16, then 48, then 8 at once",
        server=lambda seed: Changing(latency=lognormal(seed, 0.5), plan=[(0, 16), (30, 48), (60, 8)]),
        calls=calls(4500),
    ),
    Scenario(
        kind=QUEUES,
        name="continuous batching, 64 slots, 256 sent at once",
        server=lambda seed: Sharing(latency=lognormal(seed, 1.0)),
        calls=calls(4000),
        concurrency=256,
        best=64,
    ),
    Scenario(
        kind=QUEUES,
        name="continuous batching that thrashes beyond 64, 128 sent at once",
        server=lambda seed: Sharing(latency=lognormal(seed, 1.0), thrashing=True),
        calls=calls(4000),
        concurrency=128,
        best=64,
    ),
    Scenario(
        kind=QUEUES,
        name="16 workers, 64 sent at once",
        server=lambda seed: Queueing(latency=lognormal(seed, 1.0), workers=16),
        calls=calls(2000),
        best=16,
    ),
    Scenario(
        kind=QUEUES,
        name="4 slots of 12 s a reply, 32 sent at once (the time limit is 60 s)",
        server=lambda seed: Queueing(latency=lognormal(seed, 12.0, 0.3), workers=4),
        calls=calls(300),
        concurrency=32,
        best=4,
    ),
    Scenario(
        kind=NOISE,
        name="10% 429, 3% 500, latency with a heavy tail",
        server=lambda seed: Noisy(latency=lognormal(seed, exp(-0.5), 1.0), rng=random.Random(seed)),
        calls=calls(5000),
    ),
    Scenario(
        kind=NOISE,
        name="1% 429 with Retry-After 1, heavy tail",
        server=lambda seed: Noisy(
            latency=lognormal(seed, exp(-0.5), 1.0), rng=random.Random(seed), refused=0.01, failed=0.0, retry_after=1.0
        ),
        calls=calls(5000),
    ),
    Scenario(
        kind=NOISE,
        name="30% 429, latency 0.2 s with a heavy tail",
        server=lambda seed: Noisy(latency=lognormal(seed, 0.2, 1.0), rng=random.Random(seed), refused=0.3, failed=0.0),
        calls=calls(10_000),
    ),
)
