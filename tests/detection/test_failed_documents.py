"""Documents of which a detector could find out nothing: they are rejected with the reason, and the others keep their places."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Self

import pytest

from piiloom.detection import detector_settings
from piiloom.detection.detector import DetectorText, Findings, ScoredSpan, TextDetector
from piiloom.detection.families import FAMILIES, Family
from piiloom.detection.running import running as session
from piiloom.detection.running.request import DetectionProgress, DetectionRequest
from piiloom.detection.running.running import run_detection

REASON = "the service refused the text"


class Moody(TextDetector):
    """Fails for texts that hold "no"; finds the first word of others."""

    name = "moody"

    @classmethod
    def made(cls, *_: object) -> Self:
        """See ``registry.make_detector``."""
        return cls()

    def examine_batch(self, texts: Sequence[DetectorText]) -> list[Findings]:
        """See ``TextDetector``."""
        return [_findings(one.text) for one in texts]


def _findings(text: str) -> Findings:
    if "no" in text:
        return Findings(spans=(), failed=REASON)
    end = len(text.split(maxsplit=1)[0])
    return Findings(spans=(ScoredSpan(start=0, end=end, entity_type="name", subtype=None, score=0.9, detector="moody"),))


@pytest.fixture(autouse=True)
def _moody(monkeypatch: pytest.MonkeyPatch) -> None:
    family = Family(about="for tests", make=f"{__name__}:Moody")
    monkeypatch.setattr(detector_settings, "FAMILIES", MappingProxyType({**FAMILIES, "moody": family}))
    monkeypatch.setattr(session, "MOST_DOCUMENTS", 2)


def _request(tmp_path: Path, rows: Sequence[dict[str, str]], **more: bool) -> DetectionRequest:
    source = tmp_path / "in.jsonl"
    source.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return DetectionRequest(source=source, locale="de_DE", detector="moody", mask="type", out=tmp_path / "found.jsonl", **more)


ROWS = [{"id": "a", "text": text} for text in ("Ada came", "no one", "Bea came", "no two", "Cid came", "Dan came")]


def _lines(path: Path) -> list[dict[str, object]]:
    return [json.loads(line) for line in path.read_text().splitlines()]


def test_failed_documents_are_rejected_and_the_others_keep_their_ids(tmp_path: Path) -> None:
    report = run_detection(_request(tmp_path, ROWS))
    found = _lines(tmp_path / "found.jsonl")
    assert [(row["id"], str(row["context"])[:3]) for row in found] == [("a", "Ada"), ("a~3", "Bea"), ("a~5", "Cid"), ("a~6", "Dan")]
    assert [row["id"] for row in _lines(tmp_path / "found.masked.jsonl")] == ["a", "a~3", "a~5", "a~6"]
    rejected = _lines(tmp_path / "found.detect-rejects.jsonl")
    assert [(row["line"], row["reason"], row["row"]) for row in rejected] == [(2, REASON, "no one"), (4, REASON, "no two")]
    assert (report.figures["documents"], report.figures["failed"]) == (4, 2)


def test_a_resumed_run_still_knows_which_documents_failed(tmp_path: Path) -> None:
    class Killed(BaseException):
        """Stands for the end of the process."""

    def watch(progress: DetectionProgress) -> None:
        if progress.documents >= 2:
            raise Killed

    with pytest.raises(Killed):
        run_detection(_request(tmp_path, ROWS), watch=watch)
    run_detection(_request(tmp_path, ROWS, resume=True))
    assert [row["line"] for row in _lines(tmp_path / "found.detect-rejects.jsonl")] == [2, 4]
    assert [row["id"] for row in _lines(tmp_path / "found.jsonl")] == ["a", "a~3", "a~5", "a~6"]
