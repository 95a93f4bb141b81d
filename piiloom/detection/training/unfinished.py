"""What an interrupted training leaves in its folder: checkpoints, and a note of what is trained there."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Final

from piiloom.foundation.errors import DataError, UsageError
from piiloom.foundation.whole_files import check_folder, drafted, output_errors

NOTE: Final = "unfinished.json"
CHECKPOINTS: Final = "checkpoints"
_CHECKPOINT: Final = re.compile(r"checkpoint-(\d+)")
ANEW: Final = "Begin anew with --force"


@dataclass(frozen=True, slots=True, kw_only=True)
class TrainingNote:
    """``digest`` is of all that shapes the model; ``in_force`` are numbers that a session has changed and the next one goes on with."""

    digest: str
    in_force: Mapping[str, int] = field(default_factory=dict)


class UnfinishedTraining:
    """The folder *out* while it is trained in.

    *finished* names the file that it has at the end, *state* the JSON file that is written last to each checkpoint.
    """

    def __init__(self, out: Path, *, finished: str, state: str) -> None:
        self._out, self._finished, self._state = out, finished, state
        self.checkpoints = out / CHECKPOINTS

    def begin(self, wanted: TrainingNote, *, resume: bool, force: bool) -> TrainingNote:
        """Make the folder ready, and return what is in force there: *wanted*, or, if *resume* goes on with it, what was noted before.

        Raises ``OutputError`` if the folder is not empty, and ``UsageError`` if what is unfinished there was trained otherwise.
        """
        if resume and force:
            raise UsageError("--resume goes on, and --force begins anew", where="--resume, --force", remedy="Give one of them")
        if resume and (self._out / self._finished).is_file():
            raise UsageError("the training there is finished", where=f"--out {self._out}", remedy=f"Use it, or: {ANEW}")
        if resume and (self._out / NOTE).is_file():
            known = self._read()
            if known.digest != wanted.digest:
                problem = "what is unfinished there was begun with other data, settings or another base model"
                raise UsageError(problem, where=f"--out {self._out}", remedy=f"Give the same again, or: {ANEW}")
            return known
        check_folder(self._out, force=force)
        with output_errors(self._out):
            shutil.rmtree(self.checkpoints, ignore_errors=True)
            (self._out / self._finished).unlink(missing_ok=True)
        self.note(wanted)
        return wanted

    def note(self, note: TrainingNote) -> None:
        """Keep *note*."""
        with drafted(self._out / NOTE) as fh:
            fh.write(json.dumps(asdict(note)).encode())

    def last_checkpoint(self) -> Path | None:
        """Return the newest complete checkpoint (a folder ``checkpoint-N``). Raises ``DataError`` if it is damaged."""
        found = sorted(self._numbered(), reverse=True)
        if not found:
            return None
        newest = found[0][1]
        try:
            json.loads((newest / self._state).read_text(encoding="utf-8"))
        except (OSError, ValueError):
            raise damaged(newest) from None
        return newest

    def finish(self) -> None:
        """Remove what only an unfinished training needs."""
        with output_errors(self._out):
            shutil.rmtree(self.checkpoints, ignore_errors=True)
            (self._out / NOTE).unlink(missing_ok=True)

    def _read(self) -> TrainingNote:
        path = self._out / NOTE
        try:
            note = TrainingNote(**json.loads(path.read_text(encoding="utf-8")))
            return replace(note, in_force={name: int(number) for name, number in note.in_force.items()})
        except (OSError, ValueError, TypeError, AttributeError):
            raise DataError("the note of the unfinished training is damaged", where=str(path), remedy=ANEW) from None

    def _numbered(self) -> Iterable[tuple[int, Path]]:
        """The whole checkpoints with their numbers."""
        for path in self.checkpoints.iterdir() if self.checkpoints.is_dir() else ():
            match = _CHECKPOINT.fullmatch(path.name)
            if match and (path / self._state).is_file():
                yield int(match[1]), path


def damaged(checkpoint: Path) -> DataError:
    """Return the error for a checkpoint that cannot be gone on with."""
    remedy = f"Remove this folder to go on from the one before, or: {ANEW}"
    return DataError("the checkpoint is damaged", where=str(checkpoint), remedy=remedy)
