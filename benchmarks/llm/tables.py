"""The results as tables for a terminal."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from rich.console import Console
from rich.table import Table

Result = Mapping[str, Any]
Column = tuple[str, Callable[[Result], str]]


def _range(result: Result, key: str) -> str:
    low, high = result[f"{key}_range"]
    return f"{result[key]:.2f}" if low == high else f"{result[key]:.2f} ({low:.2f}–{high:.2f})"


def _ended(result: Result) -> str:
    return "" if result["ended"] == "exit 0" else str(result["ended"])


_ROWS: Column = ("rows", lambda r: str(r["rows"]))
_ENDED: Column = ("ended", _ended)

SHORT: dict[str, tuple[str, Sequence[Column]]] = {
    "throughput": (
        "{calls} calls, {concurrency} in flight, 200 ms server",
        (
            ("wall ÷ ideal", lambda r: _range(r, "wall_over_ideal")),
            ("CPU ms a call", lambda r: _range(r, "cpu_ms_per_call")),
            ("peak MB", lambda r: f"{r['peak_mb']:.0f}"),
            ("processes", lambda r: str(r["processes"])),
            ("whole process s", lambda r: f"{r['seconds_whole']:.1f}"),
            ("others' CPU", lambda r: f"{r['others_cpu']:.2f}"),
            ("its CPU s", lambda r: f"{r['cpu_s_whole']:.1f}"),
            _ROWS,
            _ENDED,
        ),
    ),
    "kill": (
        "SIGKILL at 0.6 of {calls} answers, then the same again",
        (
            ("answered at kill", lambda r: str(r["answered_at_kill"])),
            ("sent after", lambda r: str(r["sent_after"])),
            ("paid again", lambda r: str(r["paid_again"])),
            _ROWS,
            _ENDED,
        ),
    ),
    "refused": (
        "three prompts of {calls} always refused (400)",
        (_ROWS, ("sends of the refused", lambda r: ", ".join(map(str, r["sends_of_refused"]))), _ENDED),
    ),
    "few": (
        "a server that takes 16 at once, others 429; {calls} calls",
        (
            ("seconds", lambda r: f"{r['wall_s']:.1f}"),
            ("÷ ideal", lambda r: f"{r['wall_over_ideal']:.2f}"),
            ("rejections", lambda r: str(r["rejections"])),
            _ROWS,
            _ENDED,
        ),
    ),
}


def show(console: Console, results: Mapping[str, Mapping[str, Result]], titles: Mapping[str, str], sizes: Mapping[str, int]) -> None:
    """Print one table a scenario, contestants as rows."""
    for scenario, by_contestant in results.items():
        if scenario not in SHORT:
            continue
        title, columns = SHORT[scenario]
        table = Table(title=title.format(**sizes), title_justify="left")
        table.add_column("")
        for name, _ in columns:
            table.add_column(name, justify="right")
        for name, result in by_contestant.items():
            cells = ["-" if "missing" in result else cell(result) for _, cell in columns]
            table.add_row(titles.get(name, name), *cells)
        console.print(table)


def show_ratios(console: Console, throughput: Mapping[str, Result]) -> None:
    """Print ours against the floor, and against the best peer."""
    if not {"ours", "floor"} <= set(throughput):
        return
    ours, floor = throughput["ours"], throughput["floor"]
    console.print(
        f"piiloom ÷ floor: wall {ours['wall_s'] / floor['wall_s']:.3f} (aim ≤ 1.05), CPU a call "
        f"{ours['cpu_ms_per_call'] / floor['cpu_ms_per_call']:.2f} (aim ≤ 1.5), peak {ours['peak_mb']:.0f} MB (aim ≤ 150)"
    )


def show_long(console: Console, results: Mapping[str, Result]) -> None:
    """Print the long scenarios, which have one contestant."""
    for scenario, result in results.items():
        table = Table(title=scenario, title_justify="left", show_header=False)
        for key, value in result.items():
            if isinstance(value, int | float | str):
                table.add_row(key, f"{value:.3f}" if isinstance(value, float) else str(value))
        console.print(table)
