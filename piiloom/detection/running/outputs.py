"""The output of a detection: a file of native rows, or a folder in any export format with ``release.json``, as a release is exported."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import orjson

from piiloom.corpus.formats.base import Format, FormatWithExtras, Json, LossReport, WriteOptions
from piiloom.corpus.formats.registry import NativeFormat, get_format
from piiloom.corpus.record import Record
from piiloom.corpus.releases.export_drafts import ExportDrafts, check_folder, new_folders, sha256_of
from piiloom.corpus.releases.exporting import try_out
from piiloom.corpus.releases.manifest import MANIFEST, OWN_TYPES, SCHEMA, ExportedFile, SplitCounts, files_to_json, piiloom_version
from piiloom.detection.running.rows import OWN_KEYS, RELEVANCE_SCORE, record_from
from piiloom.detection.running.unfinished import MASKED, REJECTS, SET_ASIDE, UnfinishedRun
from piiloom.foundation.errors import OutputError, UsageError
from piiloom.taxonomy.entity_types import Taxonomy

SPLIT: Final = "detected"


SUFFIX: Final = ".jsonl"
NATIVE: Final = "native"
_BESIDE: Final = (MASKED, SET_ASIDE, REJECTS)
_FILES: Final = {".json", ".csv", ".tsv", ".parquet", ".txt", ".conll", ".spacy", ".ndjson"}


@dataclass(frozen=True, slots=True, kw_only=True)
class RowsFile:
    """A file of native rows; masked texts and the like are beside it: ``found.masked.jsonl``."""

    out: Path
    force: bool

    def check(self, *, again: bool) -> None:
        """Raise ``OutputError`` if the file may not be written. *again*: an earlier session was killed while it wrote the result."""
        if self.out.is_dir():
            raise OutputError("this is a folder", where=str(self.out), remedy="Name another file with --out")
        for path in (self.out, *map(self._beside, _BESIDE)):
            if path.exists() and not (self.force or again):
                raise OutputError("the file exists", where=str(path), remedy="Name another file with --out, or replace it with --force")

    def _beside(self, name: str) -> Path:
        return self.out.with_name(f"{self.out.stem}.{name}")

    def finish(
        self, run: UnfinishedRun, rows: Path, beside: Mapping[str, Path], figures: Mapping[str, Any], about: Mapping[str, Any]
    ) -> tuple[list[Path], LossReport]:
        """Write the result from the lines in *rows* and *beside*, and end the run; files that an earlier run left beside it are removed.

        Return the files, and what the format does not keep.
        """
        del about
        moves = [(path.name, self._beside(name)) for name, path in beside.items()] + [(rows.name, self.out)]
        files = [to for _, to in reversed(moves)]
        stale = [path for name in _BESIDE if (path := self._beside(name)) not in files and path.exists()]
        run.publish(moves, stale, {"figures": figures, "files": list(map(str, files))})
        return files, LossReport()


@dataclass(frozen=True, slots=True, kw_only=True)
class ExportFolder:
    """A folder in an export format; with ``force``, also over an earlier export."""

    out: Path
    format: Format
    options: WriteOptions
    force: bool

    def check(self, *, again: bool) -> None:
        """Raise ``OutputError`` if the export may not be written, and ``UsageError`` if the format's library is missing.

        *again*: an export of this run may be there already.
        """
        with _output_errors(self.out):
            try_out(self.format, self.options)
            check_folder(self.out, {self._file, *_BESIDE}, force=self.force or again)

    @property
    def _file(self) -> str:
        return f"{SPLIT}{self.format.suffix}"

    def finish(
        self, run: UnfinishedRun, rows: Path, beside: Mapping[str, Path], figures: Mapping[str, Any], about: Mapping[str, Any]
    ) -> tuple[list[Path], LossReport]:
        """Write the lines of *rows* in the format, and *beside* as they are, and end the run. See ``RowsFile.finish``."""
        run.mark_exporting()
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
        run.drop()
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


def output_of(out: Path, format_name: str | None, *, taxonomy: Taxonomy, tokenizer: str, force: bool) -> RowsFile | ExportFolder:
    """Return what *out* names: a file if it ends in ``.jsonl``, else a folder. Raises ``UsageError`` for what makes no sense."""
    if out.suffix == SUFFIX and not out.is_dir():
        if format_name not in {None, NATIVE}:
            remedy = "Name a folder with --out for another format"
            raise UsageError(f"a {SUFFIX} file holds native rows, not {format_name}", where="--format", remedy=remedy)
        return RowsFile(out=out, force=force)
    if out.suffix in _FILES and not out.is_dir():
        remedy = f"Name a file that ends in {SUFFIX}, or a folder and a --format"
        raise UsageError(f"the output is a {SUFFIX} file or a folder", where=f"--out {out}", remedy=remedy)
    chosen = get_format(format_name or NATIVE)
    return ExportFolder(out=out, format=chosen, options=WriteOptions(taxonomy=taxonomy, tokenizer=tokenizer), force=force)
