"""The scenarios that every contestant goes through: throughput, a kill, refused prompts, a server that takes few at once."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.peers.contestants import Contestant
from benchmarks.peers.harness import middle

from .running import Run, Server, good_rows, last_words, play, serving, settled
from .server_settings import ServerSettings
from .workload import write_spec

LATENCY_S = 0.2
# Processors that others may use while throughput is measured.
DISTURBED = 0.15


@dataclass(frozen=True, slots=True, kw_only=True)
class Bench:
    """What a scenario works with: where the peers and the scratch folders are, and how large it is."""

    peers: Path
    scratch: Path
    calls: int = 1000
    concurrency: int = 64

    def folder(self, scenario: str, contestant: Contestant, number: int = 0) -> Path:
        """A new folder for one run."""
        path = self.scratch / f"{scenario}-{contestant.name}-{number}"
        path.mkdir(parents=True)
        return path

    def spec(self, folder: Path, server: Server, options: Mapping[str, Any] | None = None) -> Path:
        """The driver's specification in *folder*."""
        return write_spec(folder, f"{server.url}/v1", calls=self.calls, concurrency=self.concurrency, options=options or {})

    def ideal_s(self, at_once: int | None = None) -> float:
        """How long the calls take when every slot is always in use and nothing else takes time."""
        return self.calls * LATENCY_S / (at_once or self.concurrency)


def undisturbed(bench: Bench, contestant: Contestant, patience: int, turn: int) -> dict[str, Any]:
    """Measure throughput again, up to *patience* times, while the rest of the machine disturbs it; the least disturbed one counts."""
    tries: list[dict[str, Any]] = []
    while len(tries) <= patience and (not tries or tries[-1]["others_cpu"] > DISTURBED):
        tries.append(throughput(bench, contestant, turn * (patience + 1) + len(tries)))
    return min(tries, key=lambda found: found["others_cpu"])


def throughput(bench: Bench, contestant: Contestant, number: int) -> dict[str, Any]:
    """All calls against a server that takes everything: wall ÷ ideal, processor time a call, memory."""
    folder = bench.folder("throughput", contestant, number)
    with serving(ServerSettings(latency_s=LATENCY_S)) as server:
        run = play(contestant, server, bench.peers, bench.spec(folder, server))
        stats = settled(server)
    return _base(run, stats, folder, bench) | {
        "wall_s": stats["wall_s"],
        "wall_over_ideal": stats["wall_s"] / bench.ideal_s(),
        "cpu_ms_per_call": run.cpu_ms_per_call(stats),
        "cpu_s_whole": run.cpu_s,
        "seconds_whole": run.seconds,
        "peak_mb": run.peak_mb,
        "processes": run.watch.processes,
        "most_in_flight": stats["most_in_flight"],
        # What the rest of the machine took meanwhile, in processors: figures with more than a tenth are no figures.
        "others_cpu": max(0.0, run.watch.others_between(stats["first_at"], stats["last_at"]) / stats["wall_s"] - stats["server_cpu_share"])
        if stats["wall_s"]
        else 0.0,
        "server_late_ms_p99": stats["late_ms"]["p99"],
        "server_cpu_share": stats["server_cpu_share"],
    }


def kill(bench: Bench, contestant: Contestant, options: Mapping[str, Any]) -> dict[str, Any]:
    """SIGKILL at six tenths of the answers, then the same again: what is paid for twice, and is the work whole in the end."""
    folder = bench.folder("kill", contestant, len(options))
    at = bench.calls * 6 // 10
    with serving(ServerSettings(latency_s=LATENCY_S)) as server:
        spec = bench.spec(folder, server, options)
        play(contestant, server, bench.peers, spec, kill_when=lambda brief: brief["answered"] >= at)
        first = settled(server)
        run = play(contestant, server, bench.peers, spec, stall_s=45.0)
        stats = settled(server)
    return _base(run, stats, folder, bench) | {
        "answered_at_kill": first["answered"],
        "sent_before": first["requests"],
        "sent_after": stats["requests"] - first["requests"],
        "paid_again": stats["billed_again"],
    }


def refused(bench: Bench, contestant: Contestant) -> dict[str, Any]:
    """Three prompts that the server always answers with 400: who suffers, and how often they are tried."""
    folder = bench.folder("refused", contestant)
    cases = tuple(f"case-{bench.calls * share // 10:06d}" for share in (1, 5, 9))
    with serving(ServerSettings(latency_s=LATENCY_S, refused=cases)) as server:
        run = play(contestant, server, bench.peers, bench.spec(folder, server))
        stats = settled(server)
    return _base(run, stats, folder, bench) | {"sends_of_refused": [stats["sent"].get(case, 0) for case in cases]}


def few_at_once(bench: Bench, contestant: Contestant, most: int = 16) -> dict[str, Any]:
    """A server that takes 16 at once and answers all others with 429 and no hint: time against the ideal, rejections."""
    folder = bench.folder("few", contestant)
    with serving(ServerSettings(latency_s=LATENCY_S, at_once=most)) as server:
        run = play(contestant, server, bench.peers, bench.spec(folder, server))
        stats = settled(server)
    return _base(run, stats, folder, bench) | {
        "wall_s": stats["wall_s"],
        # Who lost rows has had less to do.
        "wall_over_ideal": stats["wall_s"] / (max(1, stats["billed_total"]) * LATENCY_S / most),
        "rejections": stats["outcomes"].get("full", 0),
    }


def merged(turns: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """The median of each figure over the turns, and the rows of the turn that lost the most."""
    return middle(turns) | {"repeats": len(turns), "rows": min(turn["rows"] for turn in turns)}


def _base(run: Run, stats: Mapping[str, Any], folder: Path, bench: Bench) -> dict[str, Any]:
    found = {"ended": run.ended, "rows": good_rows(folder, bench.calls), "requests": stats["requests"], "outcomes": stats["outcomes"]}
    return found if run.ended == "exit 0" else found | {"last_words": last_words(folder)}
