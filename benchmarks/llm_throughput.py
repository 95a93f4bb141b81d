"""LLM calls against the peers, all in one run on servers that count: throughput, kills, refused prompts, full servers.

    python -m benchmarks.llm_throughput --make-peers                       # once: an environment for each peer
    python -m benchmarks.llm_throughput                                    # all contestants, all short trials
    python -m benchmarks.llm_throughput --only floor,ours --repeats 5      # what a change did to ours
    python -m benchmarks.llm_throughput --only ours --trials faults,rates,memory --out outputs/llm.json

Contestants are the bare openai SDK in a loop (the floor), piiloom with its journal, limiter, budget and validation on, and
four peers used as their documentation says. Short trials: throughput, kill, refused, few. Only for piiloom, and only when
named or with --long: faults (the server's bill against the journal), rates (RPM and TPM enforced for minutes), memory
(20,000 calls).
"""

from __future__ import annotations

import argparse
import tempfile
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

from benchmarks.llm.columns import COLUMNS, TITLES
from benchmarks.llm.long_scenarios import LONG
from benchmarks.llm.scenarios import Bench, few_at_once, kill, merged, refused, undisturbed
from benchmarks.peers.contestants import OURS, Contestant, contestants_of
from benchmarks.peers.harness import Play, Report, Trial, arguments, prepared, some_of
from benchmarks.peers.holding import hold

SHORT = ("throughput", "kill", "refused", "few")


def main() -> None:
    given = parsed()
    known = contestants_of("llm")
    names = some_of((*SHORT, *LONG), given.trials, [*SHORT, *(LONG if given.long else ())])
    contestants, versions = prepared("llm_throughput", known, given)
    settings = {"calls": given.calls, "concurrency": given.concurrency, "repeats": given.repeats}
    titles = {one.name: one.title for one in known}
    titles |= {_by_default(one): f"{one.title}, its default" for one in known}
    with tempfile.TemporaryDirectory(prefix="llm-bench-") as scratch:
        bench = Bench(peers=given.peers, scratch=given.keep or Path(scratch), calls=given.calls, concurrency=given.concurrency)
        report = Report(benchmark="llm_throughput", versions=versions, settings=settings)
        hold(report, [trial(name, bench, contestants, given) for name in names], titles=titles, out=given.out)


def parsed() -> argparse.Namespace:
    parser = arguments(__doc__)
    parser.add_argument("--trials", "--scenarios", metavar="NAMES", help=f"separated by commas: {', '.join((*SHORT, *LONG))}")
    parser.add_argument("--long", action="store_true", help="also faults, rates and memory (about ten minutes)")
    parser.add_argument("--calls", type=int, default=1000, help="calls of the short trials (%(default)s)")
    parser.add_argument("--concurrency", type=int, default=64, help="calls in flight (%(default)s)")
    parser.add_argument("--patience", type=int, default=0, help="how often a throughput run is played again that others disturbed (0)")
    parser.add_argument("--keep", type=Path, help="keep the folders of the runs here, with what each driver printed")
    return parser.parse_args()


def trial(name: str, bench: Bench, contestants: Sequence[Contestant], given: argparse.Namespace) -> Trial:
    """The trial *name* with a row for each contestant that takes part; only throughput is measured more than once."""
    if name in LONG:
        return Trial(name=name, title=name, plays={one.name: _once(LONG[name], bench, one) for one in contestants if one.name == OURS})
    title = TITLES[name].format(calls=bench.calls, concurrency=bench.concurrency)
    if name == "throughput":
        measured = {one.name: partial(undisturbed, bench, one, given.patience) for one in contestants}
        ratios = ("wall_s", "cpu_ms_per_call", "peak_mb")
        return Trial(name=name, title=title, plays=measured, columns=COLUMNS[name], repeats=given.repeats, merge=merged, ratios=ratios)
    if name == "kill":
        plays = {one.name: _once(kill, bench, one, one.more.get("KEEPING", {})) for one in contestants}
        plays |= {_by_default(one): _once(kill, bench, one, {}) for one in contestants if "KEEPING" in one.more}
        plays.pop("floor", None)  # it keeps nothing, so a kill loses all
    else:
        plays = {one.name: _once({"refused": refused, "few": few_at_once}[name], bench, one) for one in contestants}
    return Trial(name=name, title=title, plays=plays, columns=COLUMNS[name])


def _once(play: Any, *arguments: Any) -> Play:
    return lambda _: dict(play(*arguments))


def _by_default(contestant: Contestant) -> str:
    return f"{contestant.name}, its default"


if __name__ == "__main__":
    main()
