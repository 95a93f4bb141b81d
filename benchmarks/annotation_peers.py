"""piiloom's annotation app and other tools at the same work on the same real records, driven in headless Chromium in one run.

    python -m benchmarks.annotation_peers --make-peers                     # once: an environment for each tool
    python -m benchmarks.annotation_peers --data ../shared/data/capid
    python -m benchmarks.annotation_peers --data ../shared/data/capid --only ours --trials accepting,text --records 3

A program works the tools: it reads in no time and knows what to do, so its seconds are the tools' alone. Each edit is made the
shortest way that the tool has, with the mouse where that is shorter. What a person reads or decides is in no figure. What goes wrong
in the driving of a tool is said as such.
"""

from __future__ import annotations

import tempfile
from importlib import import_module
from pathlib import Path
from typing import Any

import httpx

from benchmarks.annotation.desk import Tool
from benchmarks.annotation.material import hardened, stories
from benchmarks.annotation.trials import TRIALS
from benchmarks.peers.contestants import Contestant, contestants_of
from benchmarks.peers.harness import Figures, Report, Trial, arguments, prepared, some_of
from benchmarks.peers.holding import hold
from piiloom.corpus.formats.base import ReadOptions, ReadTally
from piiloom.corpus.formats.capid import CapidFormat
from piiloom.corpus.record import Record
from piiloom.taxonomy.entity_types import shipped_taxonomy
from tests.annotation_app.app_driver import sync_api
from tests.one_browser import launch

_FORGIVEN = (AssertionError, LookupError, OSError, ValueError, httpx.HTTPError, sync_api.Error)


def main() -> None:
    """Try each tool at each trial, and print what came of it."""
    parser = arguments(__doc__, repeats=1)
    parser.add_argument("--data", type=Path, help="the folder with raw_pipeline_sample.jsonl")
    parser.add_argument("--records", type=int, default=10)
    parser.add_argument("--trials", metavar="NAMES", help=f"separated by commas: {', '.join(TRIALS)}")
    given = parser.parse_args()
    names = some_of(list(TRIALS), given.trials, list(TRIALS))
    contestants, versions = prepared("annotation_peers", contestants_of("annotation"), given)
    if given.data is None:
        parser.error("--data is needed: the folder with raw_pipeline_sample.jsonl")
    rows = CapidFormat().read(given.data / "raw_pipeline_sample.jsonl", ReadOptions(taxonomy=shipped_taxonomy()), ReadTally())
    plain = stories((row for row in rows if isinstance(row, Record)), given.records)
    hard = [hardened(plain[min(3, len(plain) - 1)], "emoji"), hardened(plain[min(4, len(plain) - 1)], "CRLF")]
    with sync_api.sync_playwright() as playwright:
        browser = launch(playwright)

        def play(name: str, tool: Tool) -> Figures:
            with tempfile.TemporaryDirectory() as folder:
                return TRIALS[name](tool, browser, Path(folder), plain, hard)

        tools = {contestant.name: tool_of(contestant, given.peers) for contestant in contestants}
        trials = [
            Trial(
                name=name,
                title=_summary(TRIALS[name]),
                plays={who: lambda _, name=name, tool=tool: play(name, tool) for who, tool in tools.items()},
                repeats=given.repeats,
                forgiven=_FORGIVEN,
            )
            for name in names
        ]
        report = Report(benchmark="annotation_peers", versions=versions, settings={"records": given.records})
        hold(report, trials, titles={one.name: one.title for one in contestants}, out=given.out)
        browser.close()


def tool_of(contestant: Contestant, peers: Path) -> Tool:
    """The ``AnnotationTool`` of a contestant's file; it runs here, its server in the environment of its own."""
    tool: Tool = import_module(f"benchmarks.peers.annotation.{contestant.file.stem}").AnnotationTool(contestant.environment(peers))
    return tool


def _summary(trial: Any) -> str:
    return str(trial.__doc__).splitlines()[0].rstrip(".")


if __name__ == "__main__":
    main()
