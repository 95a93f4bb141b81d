"""What the tables of the short scenarios show, and their titles."""

from __future__ import annotations

from collections.abc import Sequence

from benchmarks.peers.harness import Column, Figures, cell


def _ended(figures: Figures) -> str:
    return "" if figures["ended"] == "exit 0" else str(figures["ended"])


_ROWS: Column = ("rows", cell("rows", "d"))
_ENDED: Column = ("ended", _ended)

COLUMNS: dict[str, Sequence[Column]] = {
    "throughput": (
        ("wall ÷ ideal", cell("wall_over_ideal", ranged=True)),
        ("CPU ms a call", cell("cpu_ms_per_call", ranged=True)),
        ("peak MB", cell("peak_mb", ".0f")),
        ("processes", cell("processes", "d")),
        ("whole process s", cell("seconds_whole", ".1f")),
        ("others' CPU", cell("others_cpu")),
        ("its CPU s", cell("cpu_s_whole", ".1f")),
        _ROWS,
        _ENDED,
    ),
    "kill": (
        ("answered at kill", cell("answered_at_kill", "d")),
        ("sent after", cell("sent_after", "d")),
        ("paid again", cell("paid_again", "d")),
        _ROWS,
        _ENDED,
    ),
    "refused": (_ROWS, ("sends of the refused", lambda figures: ", ".join(map(str, figures["sends_of_refused"]))), _ENDED),
    "few": (
        ("seconds", cell("wall_s", ".1f")),
        ("÷ ideal", cell("wall_over_ideal")),
        ("rejections", cell("rejections", "d")),
        _ROWS,
        _ENDED,
    ),
}
TITLES = {
    "throughput": "{calls} calls, {concurrency} in flight, 200 ms server; aims, piiloom ÷ bare SDK: wall ≤ 1.05, CPU ≤ 1.5; peak ≤ 150 MB",
    "kill": "SIGKILL at 0.6 of {calls} answers, then the same again",
    "refused": "three prompts of {calls} always refused (400)",
    "few": "a server that takes 16 at once, others 429; {calls} calls",
}
