"""Files that are written whole or not at all."""

from __future__ import annotations

import os
from pathlib import Path
from typing import BinaryIO

import pytest

from piiloom.foundation.errors import OutputError
from piiloom.foundation.whole_files import drafted, replaced


def test_a_draft_is_on_disk_before_it_takes_its_place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """After a power failure a file that was renamed but not synced may be empty."""
    path, sizes = tmp_path / "new" / "file", []
    monkeypatch.setattr(os, "fsync", lambda number: sizes.append((os.fstat(number).st_size, path.exists())))
    with replaced(path) as file:
        file.write("\U0001f600".encode())
    assert (sizes, path.read_text("utf-8"), list(path.parent.iterdir())) == ([(4, False)], "\U0001f600", [path])


@pytest.mark.parametrize("error", [ValueError("fault"), KeyboardInterrupt()])
def test_after_an_error_all_is_as_before(tmp_path: Path, error: BaseException) -> None:
    (tmp_path / "file").write_text("before")
    with pytest.raises(type(error)), replaced(tmp_path / "file") as file:
        _fail(file, error)
    assert [(path.name, path.read_text()) for path in tmp_path.iterdir()] == [("file", "before")]


@pytest.mark.parametrize("path", ["folder", "file/below", f"{'x' * 255}"])
def test_what_cannot_be_written_is_named(tmp_path: Path, path: str) -> None:
    (tmp_path / "folder").mkdir()
    (tmp_path / "file").write_text("")
    message = rf"{path}: the table cannot be written \(.+\)\. Name another with --out"
    with pytest.raises(OutputError, match=message), drafted(tmp_path / path, "the table", remedy="Name another with --out") as file:
        file.write(b"text")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["file", "folder"]


def _fail(file: BinaryIO, error: BaseException) -> None:
    file.write(b"half")
    file.flush()
    raise error
