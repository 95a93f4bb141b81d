"""LLM calls against the peers, all in one run on servers that count: throughput, kills, refused prompts, full servers.

    python benchmarks/llm_throughput.py --make-peers outputs/peers        # once: an environment for each peer
    python benchmarks/llm_throughput.py --peers outputs/peers             # all contestants, all short scenarios
    python benchmarks/llm_throughput.py --only floor,ours --repeats 5     # what a change did to ours
    python benchmarks/llm_throughput.py --only ours --scenarios faults,rates,memory --out outputs/llm.json

Contestants are the bare openai SDK in a loop (the floor), piiloom with its journal, limiter, budget and validation on, and
four peers used as their documentation says. Short scenarios: throughput, kill, refused, few. Only for piiloom, and only when
named or with --long: faults (the server's bill against the journal), rates (RPM and TPM enforced for minutes), memory
(20,000 calls). A peer without environment is skipped with a line that says so.
"""

from __future__ import annotations

import argparse
import json
import platform
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from llm.contestants import CONTESTANTS, Contestant, choose, make_peers, versions
from llm.long_scenarios import LONG
from llm.scenarios import Bench, few_at_once, kill, middle, refused, throughput
from llm.tables import show, show_long, show_ratios
from rich.console import Console

SHORT = ("throughput", "kill", "refused", "few")
# Processors that others may use while throughput is measured.
DISTURBED = 0.15
TITLES = {contestant.name: contestant.title for contestant in CONTESTANTS}


def main() -> None:
    arguments = parsed()
    if arguments.make_peers:
        make_peers(arguments.make_peers.absolute())
        return
    console = Console(width=None if sys.stdout.isatty() else 140)
    contestants = present(console, choose(arguments.only), arguments.peers.absolute())
    chosen = arguments.scenarios.split(",") if arguments.scenarios else [*SHORT, *(LONG if arguments.long else ())]
    unknown = set(chosen) - {*SHORT, *LONG}
    if unknown:
        raise SystemExit(f"error: unknown scenario {', '.join(sorted(unknown))}; there are {', '.join((*SHORT, *LONG))}")
    report: dict[str, Any] = {"machine": machine(), "versions": versions(contestants, arguments.peers.absolute())}
    console.print(report)
    with tempfile.TemporaryDirectory(prefix="llm-bench-") as scratch:
        bench = Bench(
            peers=arguments.peers.absolute(),
            scratch=arguments.keep or Path(scratch),
            calls=arguments.calls,
            concurrency=arguments.concurrency,
        )
        report["sizes"] = sizes = {"calls": bench.calls, "concurrency": bench.concurrency, "repeats": arguments.repeats}
        report["results"] = {}
        for name in chosen:
            if name == "throughput":
                report["results"][name] = in_turns(console, bench, contestants, arguments.repeats, arguments.patience)
            elif name in SHORT:
                report["results"][name] = play_short(console, name, bench, contestants)
        show(console, report["results"], TITLES, sizes)
        show_ratios(console, report["results"].get("throughput", {}))
        ours = [contestant for contestant in contestants if contestant.name == "ours"]
        report["long"] = {name: LONG[name](bench, ours[0]) for name in chosen if name in LONG and ours}
        show_long(console, report["long"])
    if arguments.out:
        arguments.out.write_text(json.dumps(report, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


def parsed() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", metavar="NAMES", help=f"contestants, separated by commas: {', '.join(TITLES)}")
    parser.add_argument("--scenarios", metavar="NAMES", help=f"separated by commas: {', '.join((*SHORT, *LONG))}")
    parser.add_argument("--long", action="store_true", help="also faults, rates and memory (about ten minutes)")
    parser.add_argument("--calls", type=int, default=1000, help="calls of the short scenarios (1000)")
    parser.add_argument("--concurrency", type=int, default=64, help="calls in flight (64)")
    parser.add_argument("--repeats", type=int, default=3, help="how often throughput is measured, contestants taking turns (3)")
    parser.add_argument("--patience", type=int, default=0, help="how often a throughput run is played again that others disturbed (0)")
    parser.add_argument("--peers", type=Path, default=Path("outputs/peers"), help="where the peers' environments are (outputs/peers)")
    parser.add_argument("--make-peers", type=Path, metavar="DIR", help="make the peers' environments in DIR, and nothing else")
    parser.add_argument("--out", type=Path, help="also write everything as JSON")
    parser.add_argument("--keep", type=Path, help="keep the folders of the runs here, with what each driver printed")
    return parser.parse_args()


def present(console: Console, wanted: Sequence[Contestant], peers: Path) -> list[Contestant]:
    """Those of *wanted* that can run here; says why the others cannot."""
    for contestant in wanted:
        if missing := contestant.missing(peers):
            console.print(f"skipped: {missing}", style="yellow")
    return [contestant for contestant in wanted if contestant.missing(peers) is None]


def in_turns(console: Console, bench: Bench, contestants: Sequence[Contestant], repeats: int, patience: int) -> dict[str, Any]:
    """Measure throughput *repeats* times, contestants taking turns, so that a busy minute of the machine is shared out.

    A run that the rest of the machine disturbed is played again, up to *patience* times; the least disturbed one counts.
    """
    runs: dict[str, list[dict[str, Any]]] = {contestant.name: [] for contestant in contestants}
    number = 0
    for _ in range(repeats):
        for contestant in contestants:
            tries: list[dict[str, Any]] = []
            while len(tries) <= patience and (not tries or tries[-1]["others_cpu"] > DISTURBED):
                number += 1
                tries.append(throughput(bench, contestant, number))
                others = tries[-1]["others_cpu"]
                note = f", others took {others:.2f} of a processor" if others > DISTURBED else ""
                console.print(f"throughput: {contestant.title}: {tries[-1]['wall_over_ideal']:.2f}{note}", style="dim")
            runs[contestant.name].append(min(tries, key=lambda found: found["others_cpu"]))
    return {contestant: middle(found) for contestant, found in runs.items()}


def play_short(console: Console, name: str, bench: Bench, contestants: Sequence[Contestant]) -> dict[str, Any]:
    """Play one of the other short scenarios with all contestants."""
    results: dict[str, Any] = {}
    for contestant in contestants:
        console.print(f"{name}: {contestant.title}", style="dim")
        if name == "refused":
            results[contestant.name] = refused(bench, contestant)
        elif name == "few":
            results[contestant.name] = few_at_once(bench, contestant)
        elif contestant.name != "floor":  # it keeps nothing, so a kill loses all
            results[contestant.name] = kill(bench, contestant, contestant.keeping)
            if contestant.keeping:
                results[f"{contestant.name}, its default"] = kill(bench, contestant, {})
    return results


def machine() -> dict[str, Any]:
    """What was measured on."""
    with Path("/proc/cpuinfo").open(encoding="utf-8") as lines:
        models = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return {
        "cpu": models[0] if models else platform.processor(),
        "cores": len(models),
        "system": platform.release(),
        "python": platform.python_version(),
    }


if __name__ == "__main__":
    main()
