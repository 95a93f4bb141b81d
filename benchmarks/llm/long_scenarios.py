"""The scenarios that only piiloom goes through: faults, enforced rates, and memory over 20,000 calls."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from benchmarks.peers.contestants import Contestant

from .running import good_rows, last_words, play, serving, settled
from .scenarios import LATENCY_S, Bench
from .server_settings import ServerSettings

FAULTS = {"rate_limit": 0.10, "server_error": 0.03, "cut": 0.02, "bad_body": 0.01, "bad_content": 0.01, "hang": 0.01}
RPM, TPM = 600, 60_000


def faults(bench: Bench, contestant: Contestant) -> dict[str, Any]:
    """A faulty server: every request is accounted for, and its list of billed replies equals the journal's, case by case."""
    folder = bench.folder("faults", contestant)
    with serving(ServerSettings(latency_s=LATENCY_S, faults=FAULTS, hang_s=60.0)) as server:
        run = play(contestant, server, bench.peers, bench.spec(folder, server, {"timeout_s": 3.0}))
        stats = settled(server, most_s=1.0)
    journal = json.loads((folder / "journal.json").read_text()) if (folder / "journal.json").exists() else {}
    # A reply that was cut, not JSON, or never came: billed by the server, "may have been billed" in the journal.
    billed: dict[str, Counter[str]] = {"reply": Counter(), "maybe": Counter()}
    for case, outcome, number in stats["billed"]:
        billed["reply" if outcome in {"ok", "bad_content"} else "maybe"][case] += number
    return {
        "ended": run.ended if run.ended == "exit 0" else f"{run.ended}: {last_words(folder)}",
        "rows": good_rows(folder, bench.calls),
        "rejected": len(journal.get("rejected", ())),
        "requests": stats["requests"],
        "sent_in_journal": journal.get("sent", 0),
        "outcomes": stats["outcomes"],
        "outcomes_text": ", ".join(f"{name} {number}" for name, number in sorted(stats["outcomes"].items())),
        "billed_replies": sum(billed["reply"].values()),
        "journaled_replies": sum(journal.get("replies", {}).values()),
        "replies_equal": billed["reply"] == Counter(journal.get("replies", {})),
        "billed_and_lost": sum(billed["maybe"].values()),
        "journaled_maybe_billed": sum(journal.get("maybe_billed", {}).values()),
        "lost_equal": billed["maybe"] == Counter(journal.get("maybe_billed", {})),
    }


def rates(bench: Bench, contestant: Contestant, minutes: int = 4) -> dict[str, Any]:
    """600 RPM and 60,000 TPM held by the server over every 60 seconds, and 600 RPM alone; limits told in its headers."""
    found: dict[str, Any] = {}
    for name, tpm in (("rpm_and_tpm", TPM), ("rpm", None)):
        folder = bench.folder(f"rates-{name}", contestant)
        # More calls than fit, so that the allowance is wanted to the last minute; the run is ended then.
        many = replace(bench, calls=RPM * (minutes + 1))
        with serving(ServerSettings(latency_s=LATENCY_S, rpm=RPM, tpm=tpm)) as server:
            run = play(
                contestant, server, bench.peers, many.spec(folder, server), kill_when=_after(minutes * 60 + 5), stall_s=90.0, every_s=0.5
            )
            stats = settled(server)
        found |= {f"{name}: {key}": value for key, value in _rate_figures(stats, tpm, minutes).items()}
        found[f"{name}: ended"] = run.ended if run.ended == "killed" else f"{run.ended}: {last_words(folder)}"
    return found


def _after(seconds: float) -> Callable[[Mapping[str, Any]], bool]:
    """Whether the last answer came so many seconds after the first one that was seen."""
    first: list[float] = []

    def over(brief: Mapping[str, Any]) -> bool:
        if brief["last_at"] is not None:
            first.append(brief["last_at"])
        return bool(first) and brief["last_at"] - first[0] > seconds

    return over


def _rate_figures(stats: Mapping[str, Any], tpm: int | None, minutes: int) -> dict[str, Any]:
    """Share of the allowance used, and of requests refused, after the first minute."""
    warm = [(taken, refused, tokens) for second, taken, refused, tokens in stats["seconds"] if 60 <= second < minutes * 60]
    taken, refusals, tokens = (sum(column) for column in zip(*warm, strict=True)) if warm else (0, 0, 0)
    allowed = RPM * (minutes - 1)
    share = tokens / (tpm * (minutes - 1)) if tpm else taken / allowed
    return {
        "share_of_allowance": share,
        "taken_a_minute": taken / (minutes - 1),
        "refused_share": refusals / max(1, taken + refusals),
        "refused_in_all": stats["outcomes"].get("over_rate", 0),
    }


def memory(bench: Bench, contestant: Contestant, calls: int = 20_000, concurrency: int = 256) -> dict[str, Any]:
    """20,000 calls with 256 in flight: memory at each fifth of the way, and what a thousand calls more cost at the end."""
    folder = bench.folder("memory", contestant)
    many = replace(bench, calls=calls, concurrency=concurrency)
    with serving(ServerSettings(latency_s=LATENCY_S)) as server:
        run = play(contestant, server, bench.peers, many.spec(folder, server), every_s=0.5)
        stats = settled(server)
    start, wall = stats["first_at"] or 0.0, stats["wall_s"]
    marks = [run.watch.mb_at(start + wall * fifth / 5) for fifth in range(1, 6)]
    return {
        "ended": run.ended if run.ended == "exit 0" else f"{run.ended}: {last_words(folder)}",
        "rows": good_rows(folder, calls),
        "wall_s": wall,
        "wall_over_ideal": wall / many.ideal_s(),
        "calls_a_second": stats["requests"] / wall if wall else 0.0,
        "cpu_ms_per_call": run.cpu_ms_per_call(stats),
        "peak_mb": run.peak_mb,
        "mb_at_each_fifth": [round(mark, 1) for mark in marks],
        # (seconds since the first request, MB), about a hundred of them
        "mb_over_time": [
            [round(sample.at - start, 1), round(sample.mb, 1)] for sample in run.watch.samples[:: 1 + len(run.watch.samples) // 100]
        ],
        "mb_text": ", ".join(f"{mark:.0f}" for mark in marks),
        "kb_per_call_in_second_half": 1024 * (run.watch.mb_at(start + wall) - run.watch.mb_at(start + wall / 2)) / (calls / 2),
        "store_mb": _size_mb(folder / "state"),
    }


def _size_mb(folder: Path) -> float:
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file()) / 2**20


LONG: dict[str, Callable[[Bench, Contestant], dict[str, Any]]] = {"faults": faults, "rates": rates, "memory": memory}
