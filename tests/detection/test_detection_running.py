"""Runs: the same bytes for any number of workers and after any stop, and nothing half-written."""

from __future__ import annotations

import fcntl
import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import orjson
import pytest

from piiloom.detection.running import documents, outputs
from piiloom.detection.running import running as session
from piiloom.detection.running.request import DetectionProgress, DetectionRequest
from piiloom.detection.running.running import run_detection
from piiloom.foundation.errors import ConfigError, DataError, Interrupted, OutputError, PiiloomError, UsageError
from tests.detection.own_entities import member, only_own, own, text_of, write_texts

__all__ = ["only_own", "own"]
pytestmark = pytest.mark.usefixtures("only_own")
COUNT = 45


class Killed(BaseException):
    """Stands for the end of the process."""


@pytest.fixture(autouse=True)
def _small_chunks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(session, "MOST_DOCUMENTS", 10)


@pytest.fixture
def request_of(tmp_path: Path, own: Path) -> Callable[..., DetectionRequest]:
    """Make a request for the output NAME of an input of 45 documents in five chunks."""
    source = write_texts(tmp_path / "in.jsonl", COUNT)

    def make(name: str = "found.jsonl", **more: Any) -> DetectionRequest:
        return DetectionRequest(**{"source": source, "types": [own], "mask": "type", "out": tmp_path / name} | more)

    return make


def killed_after(documents: int) -> Callable[[DetectionProgress], None]:
    def watch(progress: DetectionProgress) -> None:
        if progress.documents >= documents:
            raise Killed

    return watch


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def test_what_a_run_writes(request_of, tmp_path):
    seen: list[DetectionProgress] = []
    report = run_detection(request_of(), watch=seen.append)
    rows = [orjson.loads(line) for line in (tmp_path / "found.jsonl").read_bytes().splitlines()]
    assert [row["id"] for row in rows] == [f"d{number}" for number in range(COUNT)]
    assert rows[3]["context"] == text_of(3)
    first, second = rows[3]["spans"]
    assert (first["text"], first["type"], first["subtype"], first["validated"]) == (member(3), "code", "test_member", True)
    assert (second["text"], second["type"], "validated" in second) == ("nick_dż", "name", False)
    assert rows[3]["meta"]["source"] == {"file": "in.jsonl", "line": 4, "id": "d3"}
    masked = orjson.loads((tmp_path / "found.masked.jsonl").read_bytes().splitlines()[3])
    assert masked["text"] == text_of(3).replace(member(3), "<CODE>").replace("nick_dż", "<NAME>")
    figures = report.figures
    assert (figures["documents"], figures["spans"], figures["validated"]) == (COUNT, 2 * COUNT, COUNT)
    assert figures["types"] == {"code": COUNT, "name": COUNT}
    assert report.files == (tmp_path / "found.jsonl", tmp_path / "found.masked.jsonl")
    assert [one.documents for one in seen] == [10, 20, 30, 40, 45]
    assert (seen[-1].done, seen[-1].total) == (45, 45)
    assert names(tmp_path) == ["found.jsonl", "found.masked.jsonl", "in.jsonl"]


@pytest.mark.parametrize("after", [10, 40])
def test_a_stopped_run_ends_with_the_same_bytes(request_of, tmp_path, after):
    run_detection(request_of("whole.jsonl"))
    with pytest.raises(Killed):
        run_detection(request_of(), watch=killed_after(after))
    assert not (tmp_path / "found.jsonl").exists()
    with pytest.raises(UsageError, match=r"an unfinished run is there.*--resume.*--force"):
        run_detection(request_of())
    report = run_detection(request_of(resume=True))
    assert (report.kept, report.figures["documents"], report.figures["spans"]) == (after, COUNT, 2 * COUNT)
    for ending in ("jsonl", "masked.jsonl"):
        assert (tmp_path / f"found.{ending}").read_bytes() == (tmp_path / f"whole.{ending}").read_bytes()
    assert not [name for name in names(tmp_path) if name.startswith(".")]


def test_what_was_cut_off_while_it_was_written_is_done_again(request_of, tmp_path):
    run_detection(request_of("whole.jsonl"))
    with pytest.raises(Killed):
        run_detection(request_of(), watch=killed_after(30))
    folder = tmp_path / ".found.jsonl.unfinished"
    with (folder / "chunks.jsonl").open("ab") as fh:
        fh.write(b'{"digest": "12')
    rows = folder / "rows.jsonl"
    os.truncate(rows, rows.stat().st_size - 7)
    report = run_detection(request_of(resume=True))
    assert report.kept == 20
    assert (tmp_path / "found.jsonl").read_bytes() == (tmp_path / "whole.jsonl").read_bytes()


def test_ctrl_c_says_how_to_go_on(request_of, tmp_path):
    def struck(progress: DetectionProgress) -> None:
        raise KeyboardInterrupt

    with pytest.raises(Interrupted, match=r"stopped at once. What is done is kept \(10 documents\).*--resume"):
        run_detection(request_of(), watch=struck)
    assert run_detection(request_of(resume=True)).kept == 10


def test_a_run_goes_on_only_with_the_same_input_and_settings(request_of, tmp_path, own):
    with pytest.raises(Killed):
        run_detection(request_of(), watch=killed_after(20))
    unfinished_files = names(tmp_path / ".found.jsonl.unfinished")
    with pytest.raises(UsageError, match="the unfinished run has another detector"):
        run_detection(request_of(resume=True, threshold=0.8))
    with pytest.raises(UsageError, match="the unfinished run has another input and another mask"):
        run_detection(request_of(resume=True, locale="pl_PL", mask=None))
    source = tmp_path / "in.jsonl"
    content = source.read_text()
    source.write_text(content.replace("card", "Card", 1))
    with pytest.raises(UsageError, match=r"in\.jsonl, lines 1 to 10: the input has changed"):
        run_detection(request_of(resume=True))
    source.write_text("".join(content.splitlines(keepends=True)[:10]))
    with pytest.raises(UsageError, match="the input has become shorter"):
        run_detection(request_of(resume=True))
    source.write_text(content)
    assert names(tmp_path / ".found.jsonl.unfinished") == unfinished_files
    assert run_detection(request_of(force=True)).kept == 0


def test_a_catalogue_that_has_changed_is_told(request_of, own, tmp_path):
    changed = tmp_path / "own.yaml"
    changed.write_text(own.read_text())
    request = request_of(types=[changed], mask=None)
    with pytest.raises(Killed):
        run_detection(request, watch=killed_after(20))
    changed.write_text(own.read_text().replace("0.7", "0.8"))
    os.utime(changed, (1, 1))
    with pytest.raises(UsageError, match="the catalogue of pl_PL has changed"):
        run_detection(request.model_copy(update={"resume": True}))


def test_a_run_that_was_killed_while_its_files_were_moved_is_finished(request_of, tmp_path, monkeypatch):
    run_detection(request_of("whole.jsonl"))
    with monkeypatch.context() as patch:
        patch.setattr(outputs.UnfinishedRun, "roll_forward", _die)
        with pytest.raises(Killed):
            run_detection(request_of())
    folder = tmp_path / ".found.jsonl.unfinished"
    (folder / "masked.jsonl").replace(tmp_path / "found.masked.jsonl")  # the first move was made
    with pytest.raises(UsageError, match="an unfinished run"):
        run_detection(request_of())
    report = run_detection(request_of(resume=True))
    assert (report.kept, report.figures["spans"]) == (COUNT, 2 * COUNT)
    assert (tmp_path / "found.jsonl").read_bytes() == (tmp_path / "whole.jsonl").read_bytes()
    assert not folder.exists()


def _die(self: object) -> None:
    raise Killed


def test_an_export_that_was_killed_is_written_again(request_of, tmp_path, monkeypatch):
    run_detection(request_of("whole", format="csv"))
    with monkeypatch.context() as patch:
        patch.setattr(outputs.UnfinishedRun, "drop", _die)
        with pytest.raises(Killed):
            run_detection(request_of("found", format="csv"))
    with pytest.raises(UsageError, match="an unfinished run"):
        run_detection(request_of("found", format="csv"))
    run_detection(request_of("found", format="csv", resume=True))
    assert names(tmp_path) == ["found", "in.jsonl", "whole"]
    assert names(tmp_path / "found") == ["detected.csv", "masked.jsonl", "release.json"]
    for name in ("detected.csv", "masked.jsonl"):
        assert (tmp_path / "found" / name).read_bytes() == (tmp_path / "whole" / name).read_bytes()


def test_ids_that_repeat_are_made_unique_in_all_files(request_of, tmp_path):
    with (tmp_path / "in.jsonl").open("a", encoding="utf-8") as fh:
        for name in ("d3", "d3", "d44", "d3~2"):
            fh.write(json.dumps({"id": name, "text": text_of(1), "locale": "pl_PL"}) + "\n")
    report = run_detection(request_of())
    assert report.figures["repeated_ids"] == 3
    for name in ("found.jsonl", "found.masked.jsonl"):
        ids = [orjson.loads(line)["id"] for line in (tmp_path / name).read_bytes().splitlines()]
        assert ids[-4:] == ["d3~~2", "d3~~3", "d44~~2", "d3~2"]
        assert len(set(ids)) == len(ids)


def test_rejects_are_told_and_kept_apart(request_of, tmp_path):
    with (tmp_path / "in.jsonl").open("a", encoding="utf-8") as fh:
        fh.write("{broken\n")
    with pytest.raises(Killed):
        run_detection(request_of(), watch=killed_after(20))
    report = run_detection(request_of(resume=True))
    assert report.figures["rejected"] == 1
    (line,) = (tmp_path / "found.detect-rejects.jsonl").read_text().splitlines()
    assert json.loads(line) == {"file": "in.jsonl", "line": 46, "reason": "not valid JSON (column 2)", "row": "{broken"}
    (tmp_path / "in.jsonl").write_text((tmp_path / "in.jsonl").read_text().replace("{broken\n", ""))
    assert run_detection(request_of(force=True)).figures["rejected"] == 0
    assert not (tmp_path / "found.detect-rejects.jsonl").exists()


def test_what_is_there_is_replaced_only_on_request(request_of, tmp_path):
    (tmp_path / "found.masked.jsonl").write_text("mine")
    with pytest.raises(OutputError, match=r"found\.masked\.jsonl: the file exists.*--force"):
        run_detection(request_of())
    assert names(tmp_path) == ["found.masked.jsonl", "in.jsonl"]
    (tmp_path / "exp").mkdir()
    (tmp_path / "exp" / "notes.txt").write_text("mine")
    with pytest.raises(OutputError, match="the folder is not empty"):
        run_detection(request_of("exp", format="csv"))
    run_detection(request_of("exp", format="csv", force=True))
    assert names(tmp_path / "exp") == ["detected.csv", "masked.jsonl", "notes.txt", "release.json"]
    run_detection(request_of("exp", force=True))
    assert names(tmp_path / "exp") == ["detected.jsonl", "masked.jsonl", "notes.txt", "release.json"]
    assert "mine" in (tmp_path / "found.masked.jsonl").read_text()


def test_two_processes_do_not_write_the_same_output(request_of, tmp_path):
    folder = tmp_path / ".found.jsonl.unfinished"
    folder.mkdir()
    with (folder / "lock").open("w") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        with pytest.raises(OutputError, match="another process is writing this output"):
            run_detection(request_of())
        assert names(folder) == ["lock"]
    assert run_detection(request_of()).figures["documents"] == COUNT


@pytest.mark.parametrize(
    ("out", "more", "kind", "says"),
    [
        ("in.jsonl", {}, UsageError, "--out: the output would replace the input"),
        ("found.csv", {}, UsageError, r"the output is a \.jsonl file or a folder"),
        ("found.jsonl", {"format": "csv"}, UsageError, r"--format: a \.jsonl file holds native rows, not csv"),
        ("found", {"format": "word"}, UsageError, "unknown format 'word'"),
        ("found.jsonl", {"workers": 0}, UsageError, "--workers"),
        ("found.jsonl", {"resume": True, "force": True}, UsageError, "--resume, --force"),
        ("in.jsonl/found.jsonl", {}, PiiloomError, "in.jsonl/found.jsonl"),
        ("found", {"format": "conll", "tokenizer": "nope"}, PiiloomError, "nope"),
    ],
)
def test_requests_that_make_no_sense(request_of, tmp_path, out, more, kind, says):
    with pytest.raises(kind, match=says) as caught:
        run_detection(request_of(out, **more))
    assert caught.value.remedy
    assert names(tmp_path) == ["in.jsonl"]


def test_the_folder_that_one_stands_in_may_be_the_output(request_of, tmp_path, monkeypatch):
    (tmp_path / "out").mkdir()
    monkeypatch.chdir(tmp_path / "out")
    run_detection(request_of("x", format="csv", out=Path()))
    assert names(tmp_path / "out") == ["detected.csv", "masked.jsonl", "release.json"]
    assert names(tmp_path) == ["in.jsonl", "out"]
    with pytest.raises(UsageError, match="the output would replace the input"):
        request_of(out=Path("/"))


def test_an_output_inside_of_the_input_folder_is_refused(request_of, tmp_path):
    (tmp_path / "texts").mkdir()
    (tmp_path / "texts" / "a.txt").write_text("a")
    with pytest.raises(UsageError, match="the output lies inside the input folder"):
        request_of(source=tmp_path / "texts", locale="pl_PL", out=tmp_path / "texts" / "found.jsonl")


def test_faults_that_come_late_keep_what_was_done_and_early_ones_nothing(request_of, tmp_path, own):
    source = tmp_path / "in.jsonl"
    good = source.read_bytes()
    source.write_bytes(b"\xff\n" + good)
    with pytest.raises(DataError, match=r"in\.jsonl:1: the file is not UTF-8 text\. Convert it to UTF-8$"):
        run_detection(request_of())
    assert names(tmp_path) == ["in.jsonl"]
    source.write_bytes(good + b"\xff\n")
    with pytest.raises(DataError, match=r"in\.jsonl:46: .*Convert it to UTF-8\. What is done is kept \(40 documents\).*--resume"):
        run_detection(request_of())
    source.write_bytes(good)
    assert run_detection(request_of(resume=True)).kept == 40


def test_a_faulty_catalogue_of_a_user_is_told_before_anything_is_written(request_of, tmp_path):
    broken = tmp_path / "broken.yaml"
    broken.write_text("locale: universal\nlanguage: en\nentities:\n  a_b: {name: x}\n")
    for path in (broken, tmp_path / "gone.yaml"):
        with pytest.raises((ConfigError, UsageError, DataError), match=path.name):
            run_detection(request_of(types=[path], mask=None))
    assert names(tmp_path) == ["broken.yaml", "in.jsonl"]


def test_chunks_end_by_their_length_too(request_of, tmp_path, monkeypatch):
    run_detection(request_of("whole.jsonl"))
    monkeypatch.setattr(documents, "MOST_CHARACTERS", 150)
    seen: list[int] = []
    run_detection(request_of(), watch=lambda progress: seen.append(progress.documents))
    assert len(seen) > 10
    assert (tmp_path / "found.jsonl").read_bytes() == (tmp_path / "whole.jsonl").read_bytes()
