"""What is kept between the passes, or let go early, changes nothing but time and memory."""

from __future__ import annotations

import json
import subprocess
import sys
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from piiloom.surrogates import engine as engine_module
from piiloom.surrogates import replacing
from piiloom.surrogates.documents import Document, Replaced
from piiloom.surrogates.engine import Engine, EngineFactory, Planned
from piiloom.surrogates.placeholders import Mapping
from piiloom.surrogates.settings import EngineSettings

ROOT = Path(__file__).parents[2]
TEXTS = [f"<STUDENT> met [NAME] and [NAME] on [DATE]: {'so ' * number}<STUDENT>, (AGE), wrote to [EMAIL]. " * 2 for number in range(6)]
CHUNKS = (0, 2, 3, 6)


def both_passes(engine: Engine, *, keep: bool) -> list[Replaced]:
    documents = [Document(number, f"d{number}", text, "memory") for number, text in enumerate(TEXTS)]
    chunks = [documents[start:end] for start, end in pairwise(CHUNKS)]
    engine.load(engine.assign([engine.scan(chunk, number if keep else None) for number, chunk in enumerate(chunks)]))
    return [done for number, chunk in enumerate(chunks) for done in engine.replace(chunk, number)]


def an_engine(strategy: Any = "consistent") -> Engine:
    return EngineFactory(settings=EngineSettings(seed=0, strategy=strategy), mapping=Mapping())()


def watched(engine: Engine, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The ids of the documents that are planned, as they are planned."""
    planned: list[str] = []
    plan = engine.plan

    def noted(document: Document) -> Planned:
        planned.append(document.id)
        return plan(document)

    monkeypatch.setattr(engine, "plan", noted)
    return planned


@pytest.mark.parametrize("strategy", ["consistent", "per-mention", "markov"])
def test_kept_plans_give_the_same(strategy: str, monkeypatch: pytest.MonkeyPatch) -> None:
    plain = both_passes(an_engine(strategy), keep=False)
    kept = an_engine(strategy)
    planned = watched(kept, monkeypatch)
    assert both_passes(kept, keep=True) == plain
    assert planned == [f"d{number}" for number in range(6)]  # each once


def test_plans_for_which_there_is_no_room_are_made_again(monkeypatch: pytest.MonkeyPatch) -> None:
    plain = both_passes(an_engine(), keep=False)
    first, second = (sum(len(text) + 100 * 14 for text in TEXTS[start:end]) for start, end in ((0, 2), (2, 3)))
    monkeypatch.setattr(engine_module, "_ROOM", first + second // 2)
    engine = an_engine()
    planned = watched(engine, monkeypatch)
    assert both_passes(engine, keep=True) == plain
    assert planned == ["d0", "d1", "d2", "d3", "d4", "d5", "d2", "d3", "d4", "d5"]


def test_people_who_are_let_go_when_they_are_named_have_the_same_names(monkeypatch: pytest.MonkeyPatch) -> None:
    plain = both_passes(an_engine(), keep=False)
    monkeypatch.setattr(replacing, "_LONG", 1)
    assert both_passes(an_engine(), keep=False) == plain


_PEAK = """
import sys
from pathlib import Path
from typing import Any
from piiloom.cli.main import run
from piiloom.foundation.peak_memory import peak_bytes
assert run(["surrogate", "run", sys.argv[1], "--out", sys.argv[2], "--workers", "1", "--json"]) == 0
Path(sys.argv[3]).write_text(str(peak_bytes()))
"""


@pytest.mark.long
def test_a_dense_row_takes_forty_times_its_size(tmp_path: Path) -> None:
    """A placeholder in 25 characters, beyond what the program itself takes; some room is left for other builds of Python."""
    peaks = []
    sizes = (2_000, 96_000)
    for number in sizes:
        source = tmp_path / f"{number}.jsonl"
        source.write_text(json.dumps({"text": "word and so on [NAME] it. " * number}) + "\n")
        told = tmp_path / f"{number}.txt"
        command = [sys.executable, "-c", _PEAK, str(source), str(tmp_path / f"out{number}"), str(told)]
        subprocess.run(command, check=True, cwd=ROOT, stdout=subprocess.DEVNULL)
        peaks.append(int(told.read_text()))
    assert (peaks[1] - peaks[0]) / (26 * (sizes[1] - sizes[0])) < 44
