"""What an interrupted training leaves behind, and how another session goes on from there."""

from __future__ import annotations

from pathlib import Path

import pytest

from piiloom.detection.training.training_data import TrainingNote, UnfinishedTraining
from piiloom.foundation.errors import DataError, OutputError, UsageError

WANTED = TrainingNote(digest="d", in_force={"batch": 2})


def training(out: Path) -> UnfinishedTraining:
    return UnfinishedTraining(out, finished="card.json", state="state.json")


def checkpoint(out: Path, number: int, state: str | None = "{}") -> None:
    folder = out / "checkpoints" / f"checkpoint-{number}"
    folder.mkdir(parents=True)
    if state is not None:
        (folder / "state.json").write_text(state)


def test_what_was_noted_is_gone_on_with(tmp_path: Path) -> None:
    out = tmp_path / "out"
    assert training(out).begin(WANTED, resume=True, force=False) == WANTED, "nothing there: it begins"
    training(out).note(TrainingNote(digest="d", in_force={"batch": 1}))
    with pytest.raises(OutputError, match="not empty"):
        training(out).begin(WANTED, resume=False, force=False)
    assert training(out).begin(WANTED, resume=True, force=False).in_force == {"batch": 1}
    with pytest.raises(UsageError, match="begun with other data"):
        training(out).begin(TrainingNote(digest="e"), resume=True, force=False)
    with pytest.raises(UsageError, match="Give one of them"):
        training(out).begin(WANTED, resume=True, force=True)
    checkpoint(out, 3)
    assert training(out).begin(WANTED, resume=False, force=True) == WANTED
    assert training(out).last_checkpoint() is None, "begun anew"


def test_the_newest_whole_checkpoint_counts(tmp_path: Path) -> None:
    for number, state in ((2, "{}"), (10, "{}"), (11, None)):
        checkpoint(tmp_path, number, state)
    found = training(tmp_path).last_checkpoint()
    assert found is not None
    assert found.name == "checkpoint-10"
    checkpoint(tmp_path, 12, "{cut")
    with pytest.raises(DataError, match=r"checkpoint-12: the checkpoint is damaged\. Remove this folder"):
        training(tmp_path).last_checkpoint()


@pytest.mark.parametrize(
    "note", ["", "[]", '{"digest": "d", "other": 1}', '{"digest": "d", "in_force": {"batch": "x"}}', '{"in_force": 3}']
)
def test_a_damaged_note(tmp_path: Path, note: str) -> None:
    (tmp_path / "unfinished.json").write_text(note)
    with pytest.raises(DataError, match="note of the unfinished training is damaged"):
        training(tmp_path).begin(WANTED, resume=True, force=False)


def test_the_end_removes_what_only_an_unfinished_one_needs(tmp_path: Path) -> None:
    out = tmp_path / "out"
    training(out).begin(WANTED, resume=False, force=False)
    checkpoint(out, 1)
    training(out).finish()
    assert not list(out.iterdir())
    (out / "card.json").write_text("{}")
    with pytest.raises(UsageError, match="finished"):
        training(out).begin(WANTED, resume=True, force=False)
