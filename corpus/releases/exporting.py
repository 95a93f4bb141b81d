"""Write a release to a folder: ``train.*``, ``test.*`` … and ``release.json``.

All files are written to a folder of drafts and moved when all are complete. ``release.json`` is moved last, so a folder that has it
is complete. The same release gives the same bytes.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from piiloom.corpus.formats.base import Format, FormatWithExtras, Json, LossEntry, LossReport, WriteOptions
from piiloom.corpus.formats.registry import get_format
from piiloom.corpus.releases.export_drafts import ExportDrafts
from piiloom.corpus.releases.foreign_files import refuse_foreign, sha256_of
from piiloom.corpus.releases.import_losses import ImportLosses
from piiloom.corpus.releases.manifest import MANIFEST, ExportedFile, SplitCounts, files_to_json, manifest
from piiloom.corpus.split_names import TEST, TRAIN, VALIDATION
from piiloom.corpus.store.database import Store
from piiloom.corpus.store.own_types import types_of
from piiloom.corpus.store.releases import ReleaseRow, count_members, get_release, iter_release_records, types_in, withheld_of
from piiloom.foundation.errors import OutputError, UsageError
from piiloom.taxonomy.own_types import only, types_in_force

__all__ = ["MANIFEST", "ExportReport", "export_release"]

DEFAULT_WRITING = WriteOptions()


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
            "files": [{"name": name, **about} for name, about in files_to_json(self.files).items()],
            "withheld": self.withheld,
            "loss": self.loss.to_json(),
        }


def export_release(
    store: Store,
    name: str,
    file_format: Format | str,
    out: Path,
    *,
    splits: Sequence[str] = (),
    options: WriteOptions = DEFAULT_WRITING,
    force: bool = False,
) -> ExportReport:
    """Write release *name* (only *splits* of it, if any are given) to the folder *out*.

    The folder must be new or empty, unless *force* allows replacing an earlier export. Only what the ``release.json`` there lists
    and that is unchanged is replaced; any other file with the name of a split file is an error. Raises ``ReleaseError`` for an
    unknown release, ``UsageError`` for an unknown format or split, and ``OutputError`` if the folder is not empty, has such a file
    or cannot be written.
    """
    chosen = get_format(file_format) if isinstance(file_format, str) else file_format
    release = get_release(store, name)
    wanted = _wanted_splits(store, release, splits)
    withheld = withheld_of(store, name)
    own_types = types_of(store)
    # A format that numbers the types knows those of the release: one that the store gets later changes no bytes.
    with _output_errors(out), types_in_force(only(own_types, types_in(store, name))):
        _prepare(out, {f"{split}{chosen.suffix}" for split in [*wanted, TRAIN, VALIDATION, TEST]}, force=force)
        with ExportDrafts(out) as drafts:
            files: list[ExportedFile] = []
            counts = {split: SplitCounts() for split in wanted}
            losses: list[LossReport] = []
            lost = ImportLosses()
            for split in wanted:
                records = lost.watching(counts[split].counting(iter_release_records(store, name, split)))
                draft = drafts.folder / f"{split}{chosen.suffix}"
                losses.append(chosen.write(records, draft, options))
                files.append(_described(draft, split, counts[split].records))
            loss = joined_losses(losses, lost.entries)
            about = manifest(release, chosen.name, counts=counts, files=files, withheld=withheld, loss=loss, own_types=own_types)
            if isinstance(chosen, FormatWithExtras):
                files += (_described(drafts.folder / extra, None, 0) for extra in chosen.write_extras(drafts.folder, about))
                about["files"] = files_to_json(files)
            text = json.dumps(about, ensure_ascii=False, indent=2) + "\n"
            (drafts.folder / MANIFEST).write_text(text, encoding="utf-8", newline="\n")
            drafts.publish([file.name for file in files])
    return ExportReport(release=name, format=chosen.name, out=out, files=tuple(files), withheld=len(withheld), loss=loss)


def joined_losses(losses: Sequence[LossReport], before: Sequence[LossEntry]) -> LossReport:
    """Return the losses of all splits as one report, after the entries *before*."""
    return LossReport(
        fields=losses[0].fields if losses else (),
        entries=(*before, *(entry for part in losses for entry in part.entries)),
    )


def _wanted_splits(store: Store, release: ReleaseRow, splits: Sequence[str]) -> list[str]:
    known = list(count_members(store, release.name))
    for split in splits:
        if split not in known:
            raise UsageError(f"the release {release.name!r} has no split {split!r}", remedy=f"Its splits: {', '.join(known)}")
    return [split for split in known if not splits or split in splits]


def _described(draft: Path, split: str | None, records: int) -> ExportedFile:
    return ExportedFile(name=draft.name, split=split, records=records, sha256=sha256_of(draft))


def _prepare(out: Path, names: Collection[str], *, force: bool) -> None:
    if out.exists() and not out.is_dir():
        raise OutputError("this is not a folder", where=str(out), remedy="Name a new folder with --out")
    out.mkdir(parents=True, exist_ok=True)
    if not force and any(out.iterdir()):
        remedy = "Name another with --out, or replace the export there with --force"
        raise OutputError("the folder is not empty", where=str(out), remedy=remedy)
    refuse_foreign(out, MANIFEST, names)


@contextmanager
def _output_errors(out: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        reason = f"the export cannot be written ({error.strerror})"
        raise OutputError(reason, where=str(out), remedy="Name another folder with --out") from error
