"""Have a detector look through records while the app runs, and offer what it finds as suggestions.

Which detectors there are is told by whoever starts the app (``Detectors``): this room knows none. They get text, question and locale, no
labels. One run at a time; it goes on when the admin who started it leaves the page.
"""

from __future__ import annotations

import tempfile
import threading
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final, Literal, Protocol

from piiloom.annotation_app.event_log import EventLog
from piiloom.annotation_app.worklist.suggestion_intake import SuggestionIntake
from piiloom.corpus.formats.native_rows import write_rows
from piiloom.corpus.record import Record
from piiloom.corpus.store.annotation_items import OPEN_STATUSES, base_records, load_items
from piiloom.corpus.store.own_types import types_of
from piiloom.corpus.store.shared import SharedStore
from piiloom.corpus.suggesting import SuggestionReport
from piiloom.foundation.errors import PiiloomError, UsageError
from piiloom.taxonomy.own_types import OwnTypes
from piiloom.taxonomy.own_types_file import write_types_file

Phase = Literal["running", "done", "failed", "stopped"]
_PATIENCE_S: Final = 10.0


@dataclass(frozen=True, slots=True, kw_only=True)
class OfferedDetector:
    """A detector that can be chosen.

    ``label`` tells it from the others on the page, ``detector`` is its name for suggestions, ``about`` is a line for people. ``model`` is
    the model that it loads or asks, if any; ``sends``: texts leave this machine.
    """

    label: str
    detector: str
    about: str
    model: str | None = None
    sends: bool = False


class Detectors(Protocol):
    """The detectors of whoever started the app."""

    @property
    def offered(self) -> Sequence[OfferedDetector]:
        """Those that can be chosen."""
        ...

    def detect(self, chosen: OfferedDetector, source: Path, out: Path, types: Path | None, stopping: threading.Event) -> None:
        """Look through the native rows of *source*, and write native rows with scored spans to *out*; gives up once *stopping* is set.

        *types* is a types file with the project's own entity types; None: there are none.

        Raises ``PiiloomError`` if it fails; a text that could not be looked through is missing in *out*.
        """
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class DetectionRun:
    """A run: which detector, who started it and when, over how many records, and how it stands or ended."""

    detector: OfferedDetector
    actor: str
    began_at: str
    records: int
    phase: Phase = "running"
    report: SuggestionReport | None = None
    fault: PiiloomError | None = None


class DetectionRuns:
    """Runs *detectors* over records of the store *shared*. ``last`` is the run that is going on, or the last one."""

    def __init__(self, shared: SharedStore, log: EventLog, intake: SuggestionIntake, detectors: Detectors | None) -> None:
        self._shared = shared
        self._log = log
        self._intake = intake
        self._detectors = detectors
        self._lock = threading.Lock()
        self._stopping = threading.Event()
        self._worker: threading.Thread | None = None
        self.last: DetectionRun | None = None

    @property
    def offered(self) -> Sequence[OfferedDetector]:
        """The detectors that can be chosen; none, if whoever started the app gave none."""
        return () if self._detectors is None else self._detectors.offered

    def start(self, actor: str, label: str, record_ids: Collection[str] | None = None) -> DetectionRun:
        """Begin to look through *record_ids* (None: all that wait for annotation) in the background.

        Raises ``UsageError`` if there is no such detector, a run is going on, or there is nothing to look through.
        """
        detectors = self._detectors
        chosen = next((one for one in self.offered if one.label == label), None)
        if detectors is None or chosen is None:
            raise UsageError("there is no such detector", remedy="Choose one of the list")
        with self._lock:
            if self.last is not None and self.last.phase == "running":
                raise UsageError("a detector is at work already", remedy="Wait until it is done, or stop it")
            records, own = self._work(record_ids)
            if not records:
                raise UsageError("no record waits for annotation", remedy="Put records into the work list first")
            self._stopping.clear()
            self.last = DetectionRun(detector=chosen, actor=actor, began_at=self._log.now(), records=len(records))
            self._worker = threading.Thread(target=self._run, args=(detectors, self.last, records, own), name="detection", daemon=True)
            self._worker.start()
            return self.last

    def stop(self) -> None:
        """Have the run that is going on give up, and wait for its end; what it found so far is dropped."""
        self._stopping.set()
        worker = self._worker
        if worker is not None:
            worker.join(_PATIENCE_S)

    def wait(self, seconds: float) -> None:
        """Wait for the end of a run, at most *seconds*."""
        worker = self._worker
        if worker is not None:
            worker.join(seconds)

    def _work(self, record_ids: Collection[str] | None) -> tuple[list[Record], OwnTypes]:
        with self._shared.reading() as store:
            listed = [item.record_id for item in load_items(store, record_ids, roles=["work"]) if item.status in OPEN_STATUSES]
            return list(base_records(store, listed).values()), types_of(store)

    def _run(self, detectors: Detectors, run: DetectionRun, records: Sequence[Record], own: OwnTypes) -> None:
        try:
            with tempfile.TemporaryDirectory(prefix="piiloom-detection-") as scratch:
                source, out = Path(scratch) / "records.jsonl", Path(scratch) / "found.jsonl"
                write_rows(map(_row, records), source)
                types = Path(scratch) / "types.yaml" if own else None
                if types is not None:
                    write_types_file(own, types)
                detectors.detect(run.detector, source, out, types, self._stopping)
                if self._stopping.is_set():
                    self.last = replace(run, phase="stopped")
                    return
                report = self._intake.add(run.actor, out, detector=run.detector.detector, model=run.detector.model)
                self.last = replace(run, phase="done", report=report)
        except (PiiloomError, OSError) as error:
            fault = error if isinstance(error, PiiloomError) else PiiloomError(f"a file cannot be written ({error.strerror})")
            self.last = replace(run, phase="stopped") if self._stopping.is_set() else replace(run, phase="failed", fault=fault)
        except BaseException:
            self.last = replace(run, phase="failed", fault=PiiloomError("the detector failed in a way that nobody foresaw"))
            raise


def _row(record: Record) -> dict[str, Any]:
    """Return what a detector may know of *record*."""
    return {"id": record.id, "locale": record.locale, "context": record.context, "question": record.question}
