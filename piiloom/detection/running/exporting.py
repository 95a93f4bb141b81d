"""Write detected documents to a folder in any export format, with ``release.json``, so that it is read like the export of a release."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import orjson

from piiloom.corpus.formats.base import Format, FormatWithExtras, Json, LossReport, WriteOptions
from piiloom.corpus.formats.registry import NativeFormat
from piiloom.corpus.record import Record
from piiloom.corpus.releases.export_drafts import ExportDrafts, check_folder, new_folders, sha256_of
from piiloom.corpus.releases.exporting import try_out
from piiloom.corpus.releases.manifest import MANIFEST, OWN_TYPES, SCHEMA, ExportedFile, SplitCounts, files_to_json, piiloom_version
from piiloom.detection.running.worker import OWN_KEYS, RELEVANCE_SCORE, record_from
from piiloom.foundation.errors import OutputError

SPLIT: Final = "detected"


@dataclass(frozen=True, slots=True, kw_only=True)
class DetectionExport:
    """How to write the folder *out*; with ``force``, also over an earlier export."""

    out: Path
    format: Format
    options: WriteOptions
    force: bool

    def check(self, beside: Iterable[str], *, again: bool) -> None:
        """Raise ``OutputError`` if the export may not be written, and ``UsageError`` if the format's library is missing.

        *beside* are files that may be put there, too. *again*: an export of this run may be there already.
        """
        with _output_errors(self.out):
            try_out(self.format, self.options)
            check_folder(self.out, {self._file, *beside}, force=self.force or again)

    @property
    def _file(self) -> str:
        return f"{SPLIT}{self.format.suffix}"

    def write(
        self, rows: Path, beside: Mapping[str, Path], figures: Mapping[str, Any], about: Mapping[str, Any]
    ) -> tuple[list[Path], LossReport]:
        """Write the lines of *rows* in the format, and *beside* as they are. Return the files, and what the format does not keep."""
        counts = SplitCounts()
        with _output_errors(self.out), new_folders([self.out]), ExportDrafts(self.out) as drafts:
            draft = drafts.folder / self._file
            if self.format.name == NativeFormat.name:
                shutil.copyfile(rows, draft)
                for _ in counts.counting(_records(rows, {})):
                    pass
                loss = LossReport()
            else:
                keys = dict.fromkeys(OWN_KEYS)
                loss = self.format.write(counts.counting(_records(rows, keys)), draft, self.options)
                loss = LossReport(fields=(*loss.fields, *keys), entries=loss.entries)
            files = [ExportedFile(name=self._file, split=SPLIT, records=counts.records, sha256=sha256_of(draft))]
            for name, path in beside.items():
                shutil.copyfile(path, drafts.folder / name)
                files.append(ExportedFile(name=name, split=None, records=0, sha256=sha256_of(path)))
            manifest = self._manifest(counts, files, loss, {"figures": figures, **about})
            if isinstance(self.format, FormatWithExtras):
                extras = self.format.write_extras(drafts.folder, manifest, self.options.taxonomy)
                files += (ExportedFile(name=one, split=None, records=0, sha256=sha256_of(drafts.folder / one)) for one in extras)
                manifest["files"] = files_to_json(files)
            text = json.dumps(manifest, ensure_ascii=False, indent=2) + "\n"
            (drafts.folder / MANIFEST).write_text(text, encoding="utf-8", newline="\n")
            drafts.publish([file.name for file in files])
        return [self.out / name for name in (*(file.name for file in files), MANIFEST)], loss

    def _manifest(self, counts: SplitCounts, files: list[ExportedFile], loss: LossReport, detection: Json) -> Json:
        about: Json = {
            "schema": SCHEMA,
            "name": self.out.name,
            "format": self.format.name,
            "description": "Texts in which piiloom detect has marked personal information. Nobody has checked the marks.",
            "piiloom": piiloom_version(),
            "splits": {SPLIT: counts.to_json()},
            "files": files_to_json(files),
            "loss": loss.to_json(),
            "detection": detection,
        }
        return about | {OWN_TYPES: detection[OWN_TYPES]} if OWN_TYPES in detection else about


def _records(rows: Path, keys: dict[str, None]) -> Iterator[Record]:
    """Yield the records of *rows*; *keys* gets that of a span which only some detectors give, if there is one."""
    with rows.open("rb") as fh:
        for line in fh:
            row = orjson.loads(line)
            if any(RELEVANCE_SCORE in span for span in row["spans"]):
                keys[RELEVANCE_SCORE] = None
            yield record_from(row)


@contextmanager
def _output_errors(out: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        reason = f"the export cannot be written ({error.strerror or error})"
        raise OutputError(reason, where=str(out), remedy="Name another folder with --out") from error
