"""The committed sample: what the commands make today, byte for byte."""

from __future__ import annotations

from pathlib import Path

import pytest

import piiloom
from docs.making.sample import make_sample
from tests.docs.pages import ROOT

SAMPLE = ROOT / "outputs" / "sample"


def contents(folder: Path) -> dict[str, bytes]:
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_the_sample_is_small_and_has_two_hundred_records():
    files = contents(SAMPLE)
    assert set(files) == {"README.md", "index.html", "release.json", "test.jsonl", "train.jsonl"}
    assert sum(map(len, files.values())) < 1_000_000
    assert [len(piiloom.load(SAMPLE / f"{split}.jsonl")) for split in ("train", "test")] == [160, 40]


@pytest.mark.long
def test_make_sample_writes_the_committed_bytes(tmp_path):
    make_sample(tmp_path / "sample")
    made, committed = contents(tmp_path / "sample"), contents(SAMPLE)
    # The contents of a file would fill the screen.
    assert [name for name in {*made, *committed} if made.get(name) != committed.get(name)] == [], "renew it with make sample"
