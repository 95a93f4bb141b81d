"""Write a file, or the files of a folder, so that they are whole or not there."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
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


def check_folder(out: Path, *, force: bool, option: str = "--out") -> None:
    """Raise ``OutputError`` if *out* is not a folder, or is not empty (allowed with *force*). Call this before the work begins.

    *option* is the one that named it.
    """
    with output_errors(out, option):
        if out.exists() and not out.is_dir():
            raise OutputError("this is not a folder", where=str(out), remedy=f"Name a new folder with {option}")
        if not force and out.exists() and any(out.iterdir()):
            remedy = f"Name another with {option}, or replace what is there with --force"
            raise OutputError("the folder is not empty", where=str(out), remedy=remedy)


def write_folder(out: Path, contents: Mapping[str, bytes], *, stale: Iterable[str] = (), option: str = "--out") -> None:
    """Write *contents*, by file name, to *out*, and remove *stale* files of an earlier run. Raises ``OutputError``.

    All are written as drafts first, and the last one takes its place last: a folder that has it is complete.
    """
    drafts = {name: out / f".{name}.part" for name in contents}
    with output_errors(out, option):
        out.mkdir(parents=True, exist_ok=True)
        try:
            for name, content in contents.items():
                drafts[name].write_bytes(content)
            for name in (*stale, *list(contents)[-1:]):
                (out / name).unlink(missing_ok=True)
            for name, draft in drafts.items():
                draft.replace(out / name)
        finally:
            for draft in drafts.values():
                with suppress(OSError):
                    draft.unlink(missing_ok=True)


@contextmanager
def output_errors(out: Path, option: str = "--out") -> Iterator[None]:
    """Raise ``OutputError`` for an ``OSError`` in the block, which writes to *out*, that *option* named."""
    try:
        yield
    except OSError as error:
        reason = f"the folder cannot be written ({error.strerror})"
        raise OutputError(reason, where=str(out), remedy=f"Name another folder with {option}") from error
