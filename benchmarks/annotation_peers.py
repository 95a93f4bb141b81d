"""piiloom's annotation app and other tools at the same work on the same real records, driven in headless Chromium in one run.

    python -m venv /tmp/peers/label-studio && /tmp/peers/label-studio/bin/pip install label-studio
    python -m benchmarks.annotation_peers --peers /tmp/peers --data ../shared/data/capid

A program works the tools: it reads in no time and knows what to do, so its seconds are the tools' alone. Each edit is made the
shortest way that the tool has, with the mouse where that is shorter. What a person reads or decides is in no figure. A tool whose
environment is not under ``--peers`` is left out, and the run says so; what goes wrong in the driving of a tool is said as such.
"""

from __future__ import annotations

import argparse
import tempfile
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx

from benchmarks.annotation_peers_desk import Tool
from benchmarks.annotation_peers_label_studio import LabelStudio
from benchmarks.annotation_peers_material import Story, hardened, stories
from benchmarks.annotation_peers_piiloom import Piiloom
from benchmarks.annotation_peers_trials import TRIALS
from piiloom.corpus.formats.capid import CapidFormat
from piiloom.corpus.record import Record
from tests.annotation_app.app_driver import sync_api
from tests.one_browser import launch


def main() -> None:
    """Try each tool at each trial, and print what came of it."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True, help="the folder with raw_pipeline_sample.jsonl")
    parser.add_argument("--peers", type=Path, required=True, help="the folder with an environment for each peer")
    parser.add_argument("--records", type=int, default=10)
    parser.add_argument("--trials", nargs="*", choices=sorted(TRIALS), default=list(TRIALS))
    parser.add_argument("--tools", nargs="*", help="only tools with these names")
    wanted = parser.parse_args()
    rows = CapidFormat().read(wanted.data / "raw_pipeline_sample.jsonl")
    plain = stories((row for row in rows if isinstance(row, Record)), wanted.records)
    hard = [hardened(plain[3], "emoji"), hardened(plain[4], "CRLF")]
    tools = [tool for tool in present(wanted.peers) if not wanted.tools or tool.name in wanted.tools]
    with sync_api.sync_playwright() as playwright:
        browser = launch(playwright)
        for name in wanted.trials:
            for tool in tools:
                _try(TRIALS[name], tool, browser, plain, hard)
        browser.close()


def present(peers: Path) -> list[Tool]:
    """piiloom, and the peers that are installed under *peers*."""
    found: list[Tool] = [Piiloom()]
    if (peers / "label-studio" / "bin" / "label-studio").exists():
        found.append(LabelStudio(peers / "label-studio"))
    else:
        print(f"Label Studio is left out: there is no {peers}/label-studio/bin/label-studio")
    for tool in found:
        print(f"{tool.name} {tool.version}")
    return found


def _try(trial: Callable[..., Any], tool: Tool, browser: Any, plain: list[Story], hard: list[Story]) -> None:
    summary = (trial.__doc__ or "").splitlines()[0].rstrip(".")
    print(f"\n## {tool.name}: {summary}", flush=True)
    with tempfile.TemporaryDirectory() as folder:
        try:
            trial(tool, browser, Path(folder), plain, hard)
        except (AssertionError, LookupError, OSError, ValueError, httpx.HTTPError, sync_api.Error):
            print(f"The driving of {tool.name} failed; this says nothing about the tool:\n{traceback.format_exc()}", flush=True)


if __name__ == "__main__":
    main()
