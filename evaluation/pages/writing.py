"""Write a file so that it is whole or not there."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

from piiloom.foundation.errors import OutputError


@contextmanager
def drafted(path: Path) -> Iterator[BinaryIO]:
    """Open a draft beside *path*, which takes its place at the end, or is removed after an error. Makes the folder.

    Raises ``OutputError`` if it cannot be written.
    """
    draft = path.with_name(f".{path.name}.part")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        try:
            with draft.open("wb") as fh:
                yield fh
            draft.replace(path)
        finally:
            draft.unlink(missing_ok=True)
    except OSError as error:
        raise OutputError(f"the file cannot be written ({error.strerror})", where=str(path), remedy="Name another place") from error
