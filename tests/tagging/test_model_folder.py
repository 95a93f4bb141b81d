"""A detector as a folder: the same after loading, the same bytes for the same training, and what is wrong with a folder is said."""

from __future__ import annotations

import hashlib
import json
import os
import pickletools

import pytest

from piiloom.foundation.errors import DataError, OutputError, UsageError
from piiloom.foundation.whole_files import check_folder
from piiloom.tagging.model_folder import CARD, RELEVANCE, SPANS, load_tagging_model, save_model
from tests.tagging.trained import example, save_small_model, small_model


@pytest.fixture
def folder(tmp_path):
    return save_small_model(tmp_path / "model")


def test_what_is_loaded_says_the_same(folder):
    loaded = load_tagging_model(folder)
    assert loaded.relevance == small_model().relevance
    for seed in range(60, 70):
        one = example(seed)
        assert loaded.tag(one.context, one.question) == small_model().tag(one.context, one.question)


def test_the_same_detector_gives_the_same_bytes(folder, tmp_path):
    save_small_model(tmp_path / "again")
    names = sorted(path.name for path in folder.iterdir())
    assert names == [CARD, RELEVANCE, SPANS]
    assert all((folder / name).read_bytes() == (tmp_path / "again" / name).read_bytes() for name in names)


def test_nothing_in_it_is_a_pickle(folder):
    for path in folder.iterdir():
        with pytest.raises(ValueError, match=r"opcode|exhausted|expected|invalid"):
            list(pickletools.genops(path.read_bytes()))


def rewritten(folder, **changes):
    card = json.loads((folder / CARD).read_text())
    (folder / CARD).write_text(json.dumps(card | changes))


def model_of(folder):
    return json.loads((folder / CARD).read_text())["model"]


def replaced(folder, name, content):
    (folder / name).write_bytes(content)
    model = model_of(folder)
    rewritten(folder, model=model | {"files": {**model["files"], name: hashlib.sha256(content).hexdigest()}})


DAMAGES = {
    "no JSON": (lambda folder: (folder / CARD).write_text("{"), "description of the trained model is damaged"),
    "a list": (lambda folder: (folder / CARD).write_text("[]"), "description of the trained model is damaged"),
    "newer": (lambda folder: rewritten(folder, schema=2), "newer piiloom"),
    "no files": (lambda folder: rewritten(folder, model=model_of(folder) | {"files": 3}), "description of the trained model is damaged"),
    "not a number": (
        lambda folder: rewritten(
            folder, model=model_of(folder) | {"calibration": {"spans": {"slope": float("nan"), "offset": 0.0}, "relevance": None}}
        ),
        "description of the trained model is damaged",
    ),
    "types": (lambda folder: rewritten(folder, types=["age"]), "other types"),
    "one file gone": (lambda folder: (folder / SPANS).unlink(), "cannot be read"),
    "one byte more": (lambda folder: (folder / SPANS).write_bytes((folder / SPANS).read_bytes() + b"0"), "another SHA-256"),
    "cut": (lambda folder: replaced(folder, SPANS, b"lCRF"), "no model of CRFsuite"),
    "half": (lambda folder: replaced(folder, SPANS, (folder / SPANS).read_bytes()[:9000]), "no model of CRFsuite"),
    "something else": (lambda folder: replaced(folder, SPANS, b"PK" * 500), "no model of CRFsuite"),
    "weights": (lambda folder: replaced(folder, RELEVANCE, b'{"intercept": "1", "weights": {}}'), "no relevance model"),
    "infinite": (lambda folder: replaced(folder, RELEVANCE, b'{"intercept": 1.0, "weights": {"ty=age": Infinity}}'), "no relevance model"),
}


@pytest.mark.parametrize("damage", DAMAGES)
def test_damaged_folders(folder, damage):
    harm, says = DAMAGES[damage]
    harm(folder)
    with pytest.raises(DataError, match=says) as caught:
        load_tagging_model(folder)
    assert str(folder) in str(caught.value)
    assert caught.value.remedy


@pytest.mark.parametrize(
    ("make", "says"), [("nothing", "no such folder"), ("empty", f"has no {CARD}"), ("other", "of the family 'encoder'")]
)
def test_folders_that_hold_something_else(folder, tmp_path, make, says):
    other = tmp_path / "other"
    if make != "nothing":
        other.mkdir()
    if make == "other":
        (other / CARD).write_text('{"schema": 1, "family": "encoder"}')
    with pytest.raises(UsageError, match=says) as caught:
        load_tagging_model(other)
    assert caught.value.where == f"--model-path {other}"


def test_a_folder_with_something_in_it_is_left_alone(folder, tmp_path):
    with pytest.raises(OutputError, match=r"not empty.*--out"):
        check_folder(folder, force=False)
    check_folder(folder, force=True)
    check_folder(tmp_path / "new", force=False)


def test_what_cannot_be_written_leaves_no_half(folder, monkeypatch, tmp_path):
    def full(self, target):
        raise OSError(28, os.strerror(28))

    monkeypatch.setattr("pathlib.Path.replace", full)
    with pytest.raises(OutputError, match="No space"):
        save_model(tmp_path / "new", small_model(), {}, data={}, settings={}, figures={})
    assert list((tmp_path / "new").iterdir()) == []
