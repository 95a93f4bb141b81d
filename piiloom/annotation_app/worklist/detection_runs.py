"""Detector runs that add suggestions to records: in the running app, or in a store that no app has open.

The detectors come from the caller (``Detectors``): this room has none. They get text, question and locale, no labels. In the app there is
one run at a time; it continues when the admin who started it leaves the page.
"""

from __future__ import annotations

import tempfile
import threading
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final, Literal, Protocol

from piiloom.annotation_app.event_log import EventLog, StoreService
from piiloom.annotation_app.worklist.assigning import ProjectService, SettingsStore
from piiloom.annotation_app.worklist.pool import Pool
from piiloom.corpus.formats.native_rows import write_rows
from piiloom.corpus.record import Record
from piiloom.corpus.store.annotation_items import OPEN_STATUSES, base_records, load_items, newest_records
from piiloom.corpus.store.database import Store
from piiloom.corpus.store.opening import SharedStore
from piiloom.corpus.store.releases import get_release, release_places, types_of
from piiloom.corpus.suggesting import SuggestionReport, read_proposals, store_proposals
from piiloom.foundation.errors import DataError, OutputError, PiiloomError, StoreLocked, UsageError
from piiloom.taxonomy.own_types import OwnTypes
from piiloom.taxonomy.own_types_file import write_types_file


class SuggestionIntake(ProjectService):
    """Stores suggestions in the store *shared*, and orders the work list anew if it is ordered by their uncertainty."""

    def __init__(self, shared: SharedStore, log: EventLog, settings: SettingsStore, pool: Pool) -> None:
        super().__init__(shared, log, settings)
        self._pool = pool

    def add(
        self, actor: str, path: Path, *, detector: str | None = None, model: str | None = None, rejects: Path | None = None
    ) -> SuggestionReport:
        """Store the suggestions in the native rows of *path*. Raises what ``read_proposals`` raises; then nothing is stored."""
        with self._shared.reading() as store:  # a large file takes a while, and others go on meanwhile
            proposals = read_proposals(store, path, detector, rejects)
        with self._shared.writing() as store:
            report = store_proposals(store, proposals, actor=actor, at=self._log.now(), model=model)
        if self._settings.current().by_uncertainty:
            self._pool.prioritise(actor)
        return report


RunPhase = Literal["running", "done", "failed", "stopped"]
_PATIENCE_S: Final = 10.0
_ACTOR: Final = "piiloom detect"


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
    phase: RunPhase = "running"
    report: SuggestionReport | None = None
    fault: PiiloomError | None = None


class DetectionRuns(StoreService):
    """Runs *detectors* over records of the store *shared*. ``last`` is the run that is going on, or the last one."""

    def __init__(self, shared: SharedStore, log: EventLog, intake: SuggestionIntake, detectors: Detectors | None) -> None:
        super().__init__(shared, log)
        self._intake, self._detectors = intake, detectors
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


class StoreDetection:
    """A detection over records of the store *workspace*, for ``piiloom detect --to annotation``: call ``take``, ``run`` and ``store``.

    One process at a time can write a store. So it is not open while the detector works: records are written to a file before, and
    suggestions are stored at the end. If another process has the store then, the findings stay in the file ``rows``, which the app takes as
    an upload. *rows* is a file of the caller, which stays; *resume* continues with the files of an earlier command.
    """

    def __init__(self, workspace: Path, *, detector: str, rows: Path | None, resume: bool) -> None:
        self._workspace, self._detector, self._resume = workspace, detector, resume
        self._folder = workspace.with_name(f"{workspace.name}.detecting")
        self._is_ours = rows is None
        self.rows = rows or self._folder / f"{detector}.jsonl"
        self._source = self._folder / "records.jsonl"

    def take(self, store: Store, release: str | None = None, record_ids: Sequence[str] = ()) -> None:
        """Write the texts of the records of a release, of *record_ids*, or of all that wait. Raises ``UsageError`` if there are none."""
        count = 0

        def counted_rows() -> Iterator[dict[str, Any]]:
            nonlocal count
            for record in _chosen(store, release, record_ids):
                count += 1
                yield _row(record)

        try:
            self._folder.mkdir(parents=True, exist_ok=True)
            write_rows(counted_rows(), self._source)
        except OSError as error:
            where = str(self._folder)
            raise OutputError(f"the texts cannot be written ({error.strerror})", where=where, remedy="Make room there") from error
        finally:
            if not count:
                self._clear(self._source)
        if not count:
            fault = "no record waits for annotation" if release is None else "the release has no records"
            raise UsageError(fault, where=str(self._workspace), remedy="Put records into the work list, on the page Admin of the app")

    def run(self, detect: Callable[[Path, Path], object]) -> None:
        """Have *detect* read the file of texts and write ``rows``, unless an earlier command has done it and only could not store them."""
        if self._resume and self.rows.exists():
            return
        if self._is_ours and not self._resume:
            for path in self._folder.glob(f"{self._detector}.*jsonl"):
                path.unlink()  # of an earlier command
        detect(self._source, self.rows)

    def store(self, model: str | None) -> SuggestionReport:
        """Store the suggestions of ``rows``, and remove the files of this detection."""
        if not self.rows.stat().st_size:
            reasons = self.rows.with_name(f"{self.rows.stem}.detect-rejects.jsonl")
            raise DataError("no record could be detected", where=str(reasons), remedy="That file has the reasons")
        try:
            store = Store.open(self._workspace, create=False)
        except StoreLocked as error:
            remedy = f"What was found is in {self.rows}: upload it in the app (Admin, Suggestions), or stop it and repeat the command "
            raise StoreLocked(error.message, where=error.where, remedy=f"{remedy}with --resume") from error
        shared = SharedStore(store)
        try:
            log = EventLog(shared)
            settings = SettingsStore(shared, log)
            intake = SuggestionIntake(shared, log, settings, Pool(shared, log, settings))
            rejects = self.rows.with_name(f"{self.rows.stem}-rejects.jsonl")
            report = intake.add(_ACTOR, self.rows, detector=self._detector, model=model, rejects=rejects)
        finally:
            shared.close()
        self._clear(self._source, *((self.rows,) if self._is_ours else ()))
        return report

    def _clear(self, *files: Path) -> None:
        for path in files:
            path.unlink(missing_ok=True)
        with suppress(OSError):  # files of other commands, or reasons, are there
            self._folder.rmdir()


def _chosen(store: Store, release: str | None, record_ids: Sequence[str]) -> Iterator[Record]:
    """Yield the records to search: with the text that annotation begins with, and the newest one if they are not on the work list."""
    if release is None and not record_ids:
        listed = load_items(store, roles=["work"])
        if not listed:  # nobody has put records into the work list yet: an admin will
            yield from (record for _, record in newest_records(store))
            return
        yield from base_records(store, [item.record_id for item in listed if item.status in OPEN_STATUSES]).values()
        return
    names = list(record_ids) if release is None else list(release_places(store, get_release(store, release)))
    found = {record.id: record for _, record in newest_records(store, record_ids=names)} | base_records(store, names)
    for name in dict.fromkeys(names):
        if name not in found:
            raise UsageError("there is no such record", where=f"--record {name}", remedy="piiloom records list shows the ids")
        yield found[name]
