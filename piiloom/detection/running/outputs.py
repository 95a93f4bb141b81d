"""The output of a detection: what is done so far, and the finished file of native rows, or folder in any export format.

A hidden folder beside the output, ``.NAME.unfinished``, has what a run has done so far. Lines are appended chunk by chunk, and a note of
each chunk is written when its lines are on disk. A killed run continues behind the last note. When all is done, ``publish.json`` says which
file goes where: from then on, continuing means to finish moving them. A folder has ``release.json``, as a release is exported.
"""

from __future__ import annotations

import fcntl
import json
import os
import shutil
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any, BinaryIO, Final, NamedTuple, Self, TextIO

import orjson

from piiloom.corpus.formats.base import Format, FormatWithExtras, Json, LossReport, WriteOptions
from piiloom.corpus.formats.registry import NativeFormat, get_format
from piiloom.corpus.record import Record
from piiloom.corpus.releases.exporting import ExportDrafts, check_export_folder, try_out
from piiloom.corpus.releases.manifest import MANIFEST, OWN_TYPES, SCHEMA, ExportedFile, SplitCounts, files_to_json
from piiloom.detection.running.documents import DocumentChunk
from piiloom.detection.running.rows import OWN_KEYS, RELEVANCE_SCORE, Detected, SpanCounts, record_from
from piiloom.foundation.errors import OutputError, UsageError
from piiloom.foundation.interrupts import held_interrupts
from piiloom.foundation.version import __version__
from piiloom.foundation.whole_files import new_folders, sha256_of, write_errors
from piiloom.taxonomy.entity_types import Taxonomy

ROWS, MASKED, SET_ASIDE, REJECTS = "rows.jsonl", "masked.jsonl", "set-aside.jsonl", "detect-rejects.jsonl"
FAILED: Final = "failed.jsonl"
_LINES: Final = (ROWS, MASKED, SET_ASIDE, FAILED)  # in the order of ``Detected``
_NOTES: Final = "chunks.jsonl"
_ABOUT: Final = "run.json"
_PUBLISH: Final = "publish.json"
_EXPORTING: Final = "exporting"
_LOCK: Final = "lock"
Move = tuple[str, Path]


class ChunkNote(NamedTuple):
    """What is known of a finished chunk. ``ends``: the sizes of the files of lines behind it."""

    digest: str
    ends: tuple[int, ...]
    tally: SpanCounts


class UnfinishedRun:
    """The folder of the run that writes *out*, a context manager; it is removed by ``publish``, or if nothing is worth keeping.

    *about* is what decides the result: an unfinished run is gone on with (*resume*) only if it has the same. *force* begins anew. Entering
    raises ``UsageError`` if there is an unfinished run and neither is asked for, or one of other settings, and ``OutputError`` if nothing
    can be written there or another process is at work.
    """

    def __init__(self, out: Path, about: Mapping[str, Any], *, resume: bool, force: bool) -> None:
        self._out = out
        self._about = dict(about)
        self._resume, self._force = resume, force
        self.folder = out.with_name(f".{out.name}.unfinished")
        self.chunks = 0
        self.catalogues: dict[str, str] = {}
        self._files: list[BinaryIO] = []
        self._notes: TextIO | None = None
        self._lock: TextIO | None = None

    def __enter__(self) -> Self:
        try:
            self.folder.mkdir(exist_ok=True)
            self._lock = (self.folder / _LOCK).open("w")
            fcntl.flock(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            notes = self.folder / _NOTES
            begun = self.is_published or (notes.exists() and notes.stat().st_size > 0)
            if begun and not self._force:
                self.chunks = 1  # not to be removed
                self._check()
            else:
                self._empty()
            if not self.is_published:
                self._open()
        except BlockingIOError as error:
            self._close()
            raise OutputError("another process is writing this output", where=str(self._out), remedy="Wait for it, or stop it") from error
        except OSError as error:
            self._leave()
            raise unwritable_output(self._out, error) from error
        except BaseException:
            self._leave()
            raise
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self._leave()
        if isinstance(error, OSError):
            raise unwritable_output(self._out, error) from error

    def _check(self) -> None:
        """Raise ``UsageError`` unless the run in the folder is to be gone on with and is this one."""
        anew = "or begin anew with --force"
        if not self._resume:
            remedy = f"Go on with it with --resume, {anew}"
            raise UsageError("an unfinished run is there that writes this output", where=str(self._out), remedy=remedy)
        try:
            known = json.loads((self.folder / _ABOUT).read_text(encoding="utf-8"))
        except (OSError, ValueError):
            known = {}
        other = [name for name, value in self._about.items() if known.get(name) != value]
        if other:
            remedy = f"Give the same options to go on with it, {anew}"
            raise UsageError(f"the unfinished run has another {' and another '.join(other)}", where=str(self._out), remedy=remedy)

    def _empty(self) -> None:
        for path in self.folder.iterdir():
            if path.name != _LOCK:
                path.unlink()

    def _open(self) -> None:
        _write_whole(self.folder / _ABOUT, json.dumps(self._about, ensure_ascii=False, indent=2) + "\n")
        (self.folder / _NOTES).touch()
        self.chunks, ends, size = 0, (0,) * len(_LINES), 0
        for note, end in self._sound_notes():
            self.chunks, ends, size = self.chunks + 1, note.ends, end
            self.catalogues |= note.tally.catalogues
        os.truncate(self.folder / _NOTES, size)
        for name, end in zip(_LINES, ends, strict=True):
            self._files.append((self.folder / name).open("ab"))
            self._files[-1].truncate(end)
        self._notes = (self.folder / _NOTES).open("a", encoding="utf-8", newline="\n")

    def _sound_notes(self) -> Iterator[tuple[ChunkNote, int]]:
        """Yield the notes whose lines are all there, each with the size of the file of notes behind it."""
        there = [path.stat().st_size if (path := self.folder / name).exists() else 0 for name in _LINES]
        size = 0
        with (self.folder / _NOTES).open("rb") as fh:
            for line in fh:
                note = _note(line)
                if note is None or any(end > has for end, has in zip(note.ends, there, strict=True)):
                    return
                size += len(line)
                yield note, size

    def notes(self) -> Iterator[ChunkNote]:
        """Yield the notes of the chunks that earlier sessions have finished, in order."""
        for number, (note, _) in enumerate(self._sound_notes()):
            if number == self.chunks:
                return
            yield note

    def append(self, chunk: DocumentChunk, detected: Detected) -> None:
        """Write the lines of the next chunk, and then its note."""
        assert self._notes is not None  # noqa: S101 - it is open
        with held_interrupts():
            for file, data in zip(self._files, detected[:-1], strict=True):
                if data:
                    file.write(data)
                    file.flush()
                    os.fsync(file.fileno())
            ends = [file.tell() for file in self._files]
            self._notes.write(json.dumps({"digest": chunk.digest, "ends": ends, "tally": detected.tally.to_json()}) + "\n")
            self._notes.flush()
            self.chunks += 1

    @property
    def is_published(self) -> bool:
        """Whether all is done but for moving the files to their places."""
        return (self.folder / _PUBLISH).exists()

    @property
    def is_exporting(self) -> bool:
        """Whether a session began to write an export of the finished run."""
        return (self.folder / _EXPORTING).exists()

    def mark_exporting(self) -> None:
        """Note that an export is being written: a session that goes on may replace it."""
        (self.folder / _EXPORTING).touch()

    def publish(self, moves: Iterable[Move], stale: Iterable[Path], report: Mapping[str, Any]) -> None:
        """Move files of the folder to their places and remove *stale* ones; ``roll_forward`` does it if the process is killed meanwhile."""
        told = {"moves": [[name, str(to)] for name, to in moves], "stale": [str(path) for path in stale], "report": report}
        _write_whole(self.folder / _PUBLISH, json.dumps(told, ensure_ascii=False))
        self.roll_forward()

    def roll_forward(self) -> dict[str, Any]:
        """Finish what ``publish`` began, and return its report."""
        told: dict[str, Any] = json.loads((self.folder / _PUBLISH).read_text(encoding="utf-8"))
        with held_interrupts():
            for path in told["stale"]:
                Path(path).unlink(missing_ok=True)
            for name, to in told["moves"]:
                if (self.folder / name).exists():
                    (self.folder / name).replace(to)
            self.drop()
        report: dict[str, Any] = told["report"]
        return report

    def drop(self) -> None:
        """Remove the folder: the run is over."""
        with held_interrupts():
            self.chunks = 0
            self._leave()

    def _leave(self) -> None:
        with held_interrupts():
            if not self.chunks and self._lock is not None:
                shutil.rmtree(self.folder, ignore_errors=True)
            self._close()

    def _close(self) -> None:
        for file in (*self._files, self._notes, self._lock):
            if file is not None:
                with suppress(OSError):  # a full disk: what is lost has no note
                    file.close()
        self._files, self._notes, self._lock = [], None, None


def _note(line: bytes) -> ChunkNote | None:
    try:
        told = json.loads(line)
        return ChunkNote(told["digest"], tuple(told["ends"]), SpanCounts.from_json(told["tally"]))
    except (ValueError, KeyError, TypeError):
        return None


def _write_whole(path: Path, text: str) -> None:
    draft = path.with_name(path.name + ".new")
    draft.write_text(text, encoding="utf-8", newline="\n")
    draft.replace(path)


def unwritable_output(out: Path, error: OSError) -> OutputError:
    """Return the error for an ``OSError`` while the output is written."""
    reason = f"the output cannot be written ({error.strerror or type(error).__name__})"
    return OutputError(reason, where=str(out), remedy="Free disk space or check the folder's permissions, or name another place with --out")


SPLIT: Final = "detected"


SUFFIX: Final = ".jsonl"
NATIVE: Final = "native"
_ELSEWHERE: Final = "Name another folder with --out"
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
        with write_errors(self.out, "the export", remedy=_ELSEWHERE):
            try_out(self.format, self.options)
            check_export_folder(self.out, {self._file, *_BESIDE}, force=self.force or again)

    @property
    def _file(self) -> str:
        return f"{SPLIT}{self.format.suffix}"

    def finish(
        self, run: UnfinishedRun, rows: Path, beside: Mapping[str, Path], figures: Mapping[str, Any], about: Mapping[str, Any]
    ) -> tuple[list[Path], LossReport]:
        """Write the lines of *rows* in the format, and *beside* as they are, and end the run. See ``RowsFile.finish``."""
        run.mark_exporting()
        counts = SplitCounts()
        with write_errors(self.out, "the export", remedy=_ELSEWHERE), new_folders([self.out]), ExportDrafts(self.out) as drafts:
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
            "piiloom": __version__,
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
