"""The folder of a job.

================  ==========================================================================
``job.json``      the plan; a folder with it has complete files
``*.jsonl``       ``train`` and ``validation``: what is sent; ``left-out``: rows that are not
``ledger.jsonl``  what was begun and what came of it (``ledger``)
``events.jsonl``  what the provider told of the job
``piiloom.json``  the trained model; written last
================  ==========================================================================

One process at a time works in it.
"""

from __future__ import annotations

import fcntl
import json
import os
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import asdict
from pathlib import Path
from types import TracebackType
from typing import Any, BinaryIO, Final, Self

from piiloom.corpus.releases.export_drafts import sha256_of
from piiloom.detection.training.openai_tuning.ledger import Ledger, sync_folder
from piiloom.detection.training.openai_tuning.plan import DataFile, Plan, read_plan
from piiloom.foundation.errors import DataError, OutputError, UsageError
from piiloom.foundation.whole_files import drafted, output_errors
from piiloom.providers.tuning_api import JobEvent
from piiloom.tagging.model_card import CARD

PLAN: Final = "job.json"
LEDGER: Final = "ledger.jsonl"
EVENTS: Final = "events.jsonl"
LEFT_OUT: Final = "left-out.jsonl"
ROWS: Final[Mapping[str, str]] = {"train": "train.jsonl", "validation": "validation.jsonl"}
_LOCK: Final = ".lock"
_OURS: Final = frozenset({PLAN, LEDGER, EVENTS, LEFT_OUT, CARD, _LOCK, *ROWS.values()})


class JobBusy(UsageError):
    """Another process works on the job."""


class JobFolder:
    """The folder *path*, locked while the context manager is entered.

    Raises ``JobBusy`` if another process works in it, ``DataError`` if its plan is missing, and ``OutputError`` if it is no folder, has
    foreign files or cannot be written.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._lock: BinaryIO | None = None
        self._events: dict[str, JobEvent] | None = None

    def __enter__(self) -> Self:
        with output_errors(self.path):
            if self.path.exists() and not self.path.is_dir():
                raise OutputError("this is not a folder", where=str(self.path), remedy="Name a new folder with --out")
            self.path.mkdir(parents=True, exist_ok=True)
            foreign = sorted(one.name for one in self.path.iterdir() if one.name not in _OURS and not one.name.endswith(".part"))
            if foreign and not self.planned:
                problem = f"the folder is not empty, and holds no job (there is {foreign[0]!r})"
                raise OutputError(problem, where=str(self.path), remedy="Name a new folder with --out")
            if (self.path / LEDGER).exists() and not self.planned:
                problem = f"the folder has the ledger of a job, but no {PLAN}"
                raise DataError(problem, where=str(self.path), remedy="Restore it from a copy, or name a new folder with --out")
            self._lock = (self.path / _LOCK).open("wb")
        try:
            fcntl.flock(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            self._unlock()
            remedy = "Wait for it, or stop it (Ctrl-C; the job goes on); --status shows the job meanwhile"
            raise JobBusy("another process works on this job", where=str(self.path), remedy=remedy) from None
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self._unlock()

    def _unlock(self) -> None:
        if self._lock is not None:
            self._lock.close()
            self._lock = None

    @property
    def planned(self) -> bool:
        """Whether there is a plan."""
        return (self.path / PLAN).is_file()

    def plan(self) -> Plan:
        """Return the plan. Raises ``UsageError`` if there is none, and ``DataError`` if it is damaged."""
        if not self.planned:
            remedy = "Name the folder of a job with --out, or begin one with --release or --train"
            raise UsageError("there is no job in this folder", where=str(self.path), remedy=remedy)
        return read_plan(self.path / PLAN)

    def write_plan(self, plan: Plan, rows: Mapping[str, list[bytes]], left_out: list[Mapping[str, Any]]) -> None:
        """Write the files of *plan*, and the plan last."""
        contents = {ROWS[part]: b"".join(lines) for part, lines in rows.items()}
        contents[LEFT_OUT] = b"".join(json.dumps(one, ensure_ascii=False).encode() + b"\n" for one in left_out)
        contents[PLAN] = (json.dumps(plan.to_json(), ensure_ascii=False, indent=2) + "\n").encode()
        for name, content in contents.items():
            with drafted(self.path / name) as fh:
                fh.write(content)
                fh.flush()
                os.fsync(fh.fileno())
        with output_errors(self.path):
            sync_folder(self.path)

    def ledger(self) -> Ledger:
        """Return the ledger as it stands."""
        return Ledger(self.path / LEDGER)

    def content(self, file: DataFile) -> bytes:
        """Return the rows of *file*. Raises ``DataError`` if they have changed since the plan was made."""
        path = self.path / file.path
        remedy = "Restore it from a copy, or begin another job in a new folder"
        try:
            if sha256_of(path) != file.sha256:
                raise DataError("the file has changed since the job was planned", where=str(path), remedy=remedy)
            return path.read_bytes()
        except OSError as error:
            raise DataError(f"the file cannot be read ({error.strerror})", where=str(path), remedy=remedy) from error

    def events(self) -> dict[str, JobEvent]:
        """Return the events so far, by their ids."""
        if self._events is None:
            self._events = {}
            path = self.path / EVENTS
            for line in path.read_bytes().split(b"\n")[:-1] if path.is_file() else ():
                with suppress(ValueError, KeyError, TypeError):  # a damaged line: the event is told once more
                    row = json.loads(line)
                    row["metrics"] = tuple((name, value) for name, value in row["metrics"])
                    self._events[row["id"]] = JobEvent(**row)
        return self._events

    def add_events(self, events: list[JobEvent]) -> None:
        """Keep *events*, which are new."""
        known = self.events()
        path = self.path / EVENTS
        with output_errors(self.path), path.open("ab") as fh:
            if fh.tell():
                _drop_torn_line(path, fh)
            for event in events:
                fh.write(json.dumps(asdict(event), ensure_ascii=False).encode() + b"\n")
                known[event.id] = event


def _drop_torn_line(path: Path, fh: BinaryIO) -> None:
    """Cut off the last line of *path* if a kill left it incomplete; what it told is told again."""
    data = path.read_bytes()
    fh.truncate(data.rfind(b"\n") + 1)
