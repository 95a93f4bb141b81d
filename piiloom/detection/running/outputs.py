"""Where the result goes: a file of native rows, or a folder in any export format."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, Protocol

from piiloom.corpus.formats.base import LossReport, WriteOptions
from piiloom.corpus.formats.registry import get_format
from piiloom.detection.running.exporting import DetectionExport
from piiloom.detection.running.unfinished import MASKED, REJECTS, SET_ASIDE, UnfinishedRun
from piiloom.foundation.errors import OutputError, UsageError
from piiloom.taxonomy.entity_types import Taxonomy

SUFFIX: Final = ".jsonl"
NATIVE: Final = "native"
_BESIDE: Final = (MASKED, SET_ASIDE, REJECTS)
_FILES: Final = {".json", ".csv", ".tsv", ".parquet", ".txt", ".conll", ".spacy", ".ndjson"}


class DetectionOutput(Protocol):
    """What a run writes. ``check`` raises ``OutputError`` or ``UsageError`` if that is not possible."""

    def check(self, *, again: bool) -> None:
        """*again*: an earlier session was killed while it wrote the result."""
        ...

    def finish(
        self, run: UnfinishedRun, rows: Path, beside: Mapping[str, Path], figures: Mapping[str, Any], about: Mapping[str, Any]
    ) -> tuple[list[Path], LossReport]:
        """Write the result from the lines in *rows* and *beside*, and end the run. Return the files, and what the format does not keep."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class RowsFile:
    """A file of native rows; masked texts and the like are beside it: ``found.masked.jsonl``."""

    out: Path
    force: bool

    def check(self, *, again: bool) -> None:
        """See ``DetectionOutput``."""
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
        """See ``DetectionOutput``. What an earlier run left beside the file is removed."""
        del about
        moves = [(path.name, self._beside(name)) for name, path in beside.items()] + [(rows.name, self.out)]
        files = [to for _, to in reversed(moves)]
        stale = [path for name in _BESIDE if (path := self._beside(name)) not in files and path.exists()]
        run.publish(moves, stale, {"figures": figures, "files": list(map(str, files))})
        return files, LossReport()


@dataclass(frozen=True, slots=True)
class ExportFolder:
    """A folder in an export format."""

    export: DetectionExport

    def check(self, *, again: bool) -> None:
        """See ``DetectionOutput``."""
        self.export.check(_BESIDE, again=again)

    def finish(
        self, run: UnfinishedRun, rows: Path, beside: Mapping[str, Path], figures: Mapping[str, Any], about: Mapping[str, Any]
    ) -> tuple[list[Path], LossReport]:
        """See ``DetectionOutput``."""
        run.mark_exporting()
        files, loss = self.export.write(rows, beside, figures, about)
        run.drop()
        return files, loss


def output_of(out: Path, format_name: str | None, *, taxonomy: Taxonomy, tokenizer: str, force: bool) -> DetectionOutput:
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
    return ExportFolder(DetectionExport(out=out, format=chosen, options=WriteOptions(taxonomy=taxonomy, tokenizer=tokenizer), force=force))
