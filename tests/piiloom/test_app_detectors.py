"""The detectors that ``piiloom annotate`` offers: read from options, checked before anything is served, and run as commands."""

from __future__ import annotations

import json
import threading
from pathlib import Path

import pytest

from piiloom.cli.detect import CommandDetectors
from piiloom.foundation.errors import PiiloomError, UsageError
from tests.longer import case_by_case


def test_those_that_need_nothing_are_offered_and_so_is_what_is_named() -> None:
    found = {one.label: one for one in CommandDetectors(["--detector probe --model-path 'my models/probe'"]).offered}
    assert list(found) == ["probe --model-path 'my models/probe'", "patterns", "hybrid-offline"]
    first = next(iter(found.values()))
    assert (first.detector, first.model, first.sends) == ("probe", "probe", False)


def test_who_sends_texts_away_must_have_said_yes() -> None:
    with pytest.raises(UsageError, match="sends texts away"):
        CommandDetectors(["--detector capid --provider openai --model gpt-5-mini"])
    (asked, *_) = CommandDetectors(["--detector capid --provider openai --model gpt-5-mini --yes"]).offered
    assert (asked.sends, asked.model, asked.label) == (True, "gpt-5-mini", "capid --provider openai --model gpt-5-mini")


@case_by_case(
    ("options", "said"),
    [
        ("--detector nothing", "there is no detector 'nothing'"),
        ("--detector encoder", "needs a model on this machine"),
        ("--detektor patterns", "No such option"),
        ("--detector 'patterns", "cannot be read"),
        ("--detector patterns --out here.jsonl", "the app says what is read and written"),
        ("notes.txt --detector patterns", "the app says what is read and written"),
    ],
)
def test_what_makes_no_detector_is_refused(options: str, said: str) -> None:
    with pytest.raises(UsageError, match=said) as caught:
        CommandDetectors([options])
    assert "--detect " in str(caught.value)


@pytest.mark.long
def test_a_run_is_a_command_whose_errors_are_told(tmp_path: Path) -> None:
    source, out = tmp_path / "records.jsonl", tmp_path / "found.jsonl"
    source.write_text(json.dumps({"id": "r-1", "locale": "en_US", "context": "Write to ada.stone@example.org, badge B-12."}) + "\n")
    detectors = CommandDetectors(["--detector probe --model-path nowhere"])
    probe, patterns, _ = detectors.offered
    types, no_types = tmp_path / "types.yaml", tmp_path / "no_types.yaml"
    types.write_text("types:\n  - {name: badge number, pattern: 'B-[0-9]{2}'}\n")
    detectors.detect(patterns, source, out, types, threading.Event())
    (row,) = map(json.loads, out.read_text().splitlines())
    assert [(span["text"], span["type"]) for span in row["spans"]] == [("ada.stone@example.org", "code"), ("B-12", "badge number")]
    with pytest.raises(PiiloomError, match="nowhere"):
        detectors.detect(probe, source, tmp_path / "other.jsonl", None, threading.Event())
    with pytest.raises(PiiloomError, match=r"no_types\.yaml"):
        detectors.detect(probe, source, tmp_path / "other.jsonl", no_types, threading.Event())


@pytest.mark.long
def test_a_run_can_be_stopped(tmp_path: Path) -> None:
    source = tmp_path / "records.jsonl"
    source.write_text(json.dumps({"id": "r-1", "context": "nothing"}) + "\n")
    stopping = threading.Event()
    stopping.set()
    detectors = CommandDetectors()
    detectors.detect(detectors.offered[0], source, tmp_path / "found.jsonl", None, stopping)
    assert not (tmp_path / "found.jsonl").exists()
