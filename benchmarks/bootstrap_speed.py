"""Intervals and p values for many documents: seconds on one core and memory, beside drawing documents round by round.

    python -m benchmarks.bootstrap_speed --documents 100000 --rounds 1000

Counts of the scheme ``exact`` are made up: five gold mentions a document, three documents a story, three systems. "one by one" draws rows
and sums them in each round, as the probe does. Contestants take turns; figures are medians with the least and the most.
"""

from __future__ import annotations

import argparse
import os
import resource
import statistics
import time
from collections.abc import Callable
from functools import partial

import numpy as np
from numpy.typing import NDArray

from piiloom.evaluation.inputs.documents import AnnotatedDocument, Pair
from piiloom.evaluation.schemes.base import SchemeSettings
from piiloom.evaluation.schemes.registry import make_scheme
from piiloom.evaluation.scoring.counts import Clusters
from piiloom.evaluation.scoring.resampling import ResamplingSettings, cluster_sums, intervals, permutation_p

Counts = NDArray[np.float64]
SCHEME = make_scheme("exact", SchemeSettings())


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--documents", type=int, default=100_000)
    parser.add_argument("--rounds", type=int, default=1_000)
    parser.add_argument("--turns", type=int, default=3)
    wanted = parser.parse_args()
    os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
    systems = [counts_of(wanted.documents, seed) for seed in range(3)]
    clusters = timed_once("clusters of all documents", lambda: stories(wanted.documents))
    by_story = [cluster_sums(rows, clusters) for rows in systems]
    resampling = ResamplingSettings(resamples=wanted.rounds)
    before = memory()
    contestants: dict[str, Callable[[], object]] = {
        "intervals, clusters are documents": partial(intervals, SCHEME, systems[0], resampling),
        "intervals, clusters are stories": lambda: intervals(SCHEME, cluster_sums(systems[0], clusters), resampling),
        "one by one, documents": partial(one_by_one, systems[0], wanted.rounds),
        "p of three systems, documents": partial(permutation_p, SCHEME, systems, SCHEME.headline, rounds=wanted.rounds, seed=7),
        "p of three systems, stories": partial(permutation_p, SCHEME, by_story, SCHEME.headline, rounds=wanted.rounds, seed=7),
    }
    seconds: dict[str, list[float]] = {name: [] for name in contestants}
    for turn in range(wanted.turns):
        for name in list(contestants)[:: 1 if turn % 2 == 0 else -1]:
            begun = time.process_time()
            contestants[name]()
            seconds[name].append(time.process_time() - begun)
    for name, found in seconds.items():
        print(f"{name}: {statistics.median(found):.2f} s CPU ({min(found):.2f}–{max(found):.2f})")
    print(f"peak memory {before:,.0f} MB before, {memory():,.0f} MB after")


def counts_of(documents: int, seed: int) -> Counts:
    """Counts of one system that finds about four of five mentions."""
    rng = np.random.default_rng(seed)
    hits = rng.binomial(5, 0.8, size=documents)
    return np.stack([hits, rng.binomial(3, 0.3, size=documents), 5 - hits], axis=1).astype(float)


def stories(documents: int) -> NDArray[np.int64]:
    """The clusters of documents of which three each share a story."""
    clusters, nothing = Clusters("story"), AnnotatedDocument(where="b:1")
    for number in range(documents):
        gold = AnnotatedDocument(where="a:1", id=f"d{number}", group_keys=(f"story:{number // 3}",))
        clusters.add(Pair(gold=gold, found=nothing))
    return clusters.numbers()


def one_by_one(rows: Counts, rounds: int) -> Counts:
    """Draw and sum the rows of each round."""
    rng = np.random.default_rng(7)
    totals = np.array([rows[rng.integers(0, len(rows), size=len(rows))].sum(axis=0) for _ in range(rounds)])
    return np.quantile(SCHEME.figures(totals)["f1"], (0.025, 0.975))


def timed_once(what: str, work: Callable[[], NDArray[np.int64]]) -> NDArray[np.int64]:
    begun = time.process_time()
    found = work()
    print(f"{what}: {time.process_time() - begun:.2f} s CPU")
    return found


def memory() -> float:
    """The peak so far, in MB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


if __name__ == "__main__":
    main()
