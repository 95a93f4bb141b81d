"""Write a release to a folder: ``train.*``, ``test.*`` and ``release.json``.

All files are written under temporary names and renamed when all are complete. ``release.json`` is renamed last, so a folder
that has it is complete. The same release gives the same bytes.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Self

from piiloom.corpus.formats.base import Format, Json, LossReport
from piiloom.corpus.formats.registry import FORMATS, get_format
from piiloom.corpus.releases.foreign_files import refuse_foreign
from piiloom.corpus.releases.import_losses import ImportLosses
from piiloom.corpus.releases.manifest import MANIFEST, ExportedFile, SplitCounts, manifest
from piiloom.corpus.releases.splits import SPLITS
from piiloom.corpus.store.database import Store
from piiloom.corpus.store.own_types import types_of
from piiloom.corpus.store.releases import get_release, iter_release_records, withheld_of
from piiloom.foundation.errors import OutputError

__all__ = ["MANIFEST", "ExportReport", "export_release"]


@dataclass(frozen=True, slots=True, kw_only=True)
class ExportReport:
    """What was written, how many records were withheld, and what the format could not express."""

    release: str
    format: str
    out: Path
    files: tuple[ExportedFile, ...]
    withheld: int
    loss: LossReport

    def to_json(self) -> Json:
        """Return the report as JSON values (``out`` as it was given)."""
        return {
            "release": self.release,
            "format": self.format,
            "out": str(self.out),
            "files": [{"name": f.name, "split": f.split, "records": f.records, "sha256": f.sha256} for f in self.files],
            "withheld": self.withheld,
            "loss": self.loss.to_json(),
        }


def export_release(store: Store, name: str, file_format: Format | str, out: Path, *, force: bool = False) -> ExportReport:
    """Write release *name* to the folder *out*, which must be new or empty unless *force* allows replacing an earlier export.

    Only files that the ``release.json`` there lists and that are unchanged are replaced; any other file with the name of a split
    file is an error. A split without records gives no file. Raises ``ReleaseError`` for an unknown release, ``UsageError`` for an
    unknown format, and ``OutputError`` if the folder is not empty, has such a file or cannot be written.
    """
    chosen = get_format(file_format) if isinstance(file_format, str) else file_format
    release = get_release(store, name)
    withheld = withheld_of(store, name)
    drafts = _Drafts(out)
    with _output_errors(out), drafts:
        _prepare(out, force=force)
        files: list[ExportedFile] = []
        counts = {split: SplitCounts() for split in SPLITS}
        losses: list[LossReport] = []
        lost = ImportLosses()
        for split in SPLITS:
            records = lost.watching(counts[split].counting(iter_release_records(store, name, split)))
            file_name = f"{split}{chosen.suffix}"
            with drafts.path(file_name).open("w", encoding="utf-8", newline="\n") as fh:
                losses.append(chosen.write(records, fh))
            if counts[split].records:
                files.append(_describe(file_name, split, drafts.path(file_name), counts[split].records))
            else:
                drafts.discard(file_name)
        loss = LossReport(fields=losses[0].fields, entries=(*lost.entries, *(entry for part in losses for entry in part.entries)))
        about = manifest(release, chosen.name, counts=counts, files=files, withheld=withheld, loss=loss, own_types=types_of(store))
        drafts.path(MANIFEST).write_text(json.dumps(about, ensure_ascii=False, indent=2) + "\n", encoding="utf-8", newline="\n")
        drafts.publish()
    return ExportReport(release=name, format=chosen.name, out=out, files=tuple(files), withheld=len(withheld), loss=loss)


class _Drafts:
    """Context manager for files of *out* under temporary names; files not published when the block ends are removed."""

    def __init__(self, out: Path) -> None:
        self._out = out
        self._waiting: dict[str, Path] = {}

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        for name in list(self._waiting):
            self.discard(name)

    def path(self, name: str) -> Path:
        """Return the temporary path of the file that will be called *name*."""
        return self._waiting.setdefault(name, self._out / f".{name}.part")

    def discard(self, name: str) -> None:
        """Remove one temporary file."""
        with suppress(OSError):
            self._waiting.pop(name).unlink(missing_ok=True)

    def publish(self) -> None:
        """Give all files their final names, in the order in which they were begun.

        The old manifest is removed first, because a folder with a manifest is complete by definition. Then the files of an earlier
        export that this one does not have are removed.
        """
        (self._out / MANIFEST).unlink(missing_ok=True)
        for stale in {f"{split}{known.suffix}" for split in SPLITS for known in FORMATS.values()} - self._waiting.keys():
            (self._out / stale).unlink(missing_ok=True)
        for name in list(self._waiting):
            self._waiting[name].replace(self._out / name)
            del self._waiting[name]


def _describe(file_name: str, split: str, draft: Path, records: int) -> ExportedFile:
    with draft.open("rb") as fh:
        return ExportedFile(name=file_name, split=split, records=records, sha256=hashlib.file_digest(fh, "sha256").hexdigest())


def _prepare(out: Path, *, force: bool) -> None:
    if out.exists() and not out.is_dir():
        raise OutputError("this is not a folder", where=str(out), remedy="Name a new folder with --out")
    out.mkdir(parents=True, exist_ok=True)
    if not force and any(out.iterdir()):
        remedy = "Name another with --out, or replace the export there with --force"
        raise OutputError("the folder is not empty", where=str(out), remedy=remedy)
    refuse_foreign(out, MANIFEST, {f"{split}{known.suffix}" for split in SPLITS for known in FORMATS.values()})


@contextmanager
def _output_errors(out: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        reason = f"the export cannot be written ({error.strerror})"
        raise OutputError(reason, where=str(out), remedy="Name another folder with --out") from error
