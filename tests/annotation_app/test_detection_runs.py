"""A detector that looks through records in the background: what it is given, what becomes of what it finds, stopping and failing."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from worklist_stories import WorkProject, composed

from piiloom.annotation_app.worklist.detection_runs import DetectionRuns, OfferedDetector, SuggestionIntake
from piiloom.corpus.store.annotation_items import set_status
from piiloom.corpus.store.database import MEMORY, Store
from piiloom.corpus.store.judgements import suggestions_for
from piiloom.corpus.store.releases import keep_types
from piiloom.foundation.errors import DataError, UsageError
from piiloom.taxonomy.own_types import OwnTypes
from piiloom.taxonomy.own_types_file import read_types_file
from tests.taxonomy.own_types_example import TYPES

FINDER = OfferedDetector(label="finder --fast", detector="finder", about="finds asthma", model="small")


class Given:
    """Detectors of a test: *act* is what happens in a run."""

    def __init__(self, act: Callable[[Path, Path, threading.Event], None]) -> None:
        self.offered, self._act = (FINDER,), act
        self.types: OwnTypes | None = None

    def detect(self, chosen: OfferedDetector, source: Path, out: Path, types: Path | None, stopping: threading.Event) -> None:
        assert chosen is FINDER
        self.types = None if types is None else read_types_file(types)
        self._act(source, out, stopping)


def finds_asthma(source: Path, out: Path, stopping: threading.Event) -> None:
    del stopping
    rows = [json.loads(line) for line in source.read_text(encoding="utf-8").splitlines()]
    assert all(set(row) == {"id", "locale", "context", "question"} for row in rows)  # no labels
    for row in rows:
        start = row["context"].index("asthma")
        row["spans"] = [{"start": start, "end": start + 6, "text": "asthma", "type": "health", "score": 0.9, "detector": "finder"}]
    out.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")


def waits(source: Path, out: Path, stopping: threading.Event) -> None:
    del source, out
    stopping.wait(20)


@pytest.fixture
def project() -> Iterator[WorkProject]:
    with Store.open(MEMORY) as store:
        yield WorkProject(store, [composed(n) for n in range(3)])


def runs_of(project: WorkProject, act: Callable[[Path, Path, threading.Event], None]) -> DetectionRuns:
    return detection_runs(project, Given(act))


def detection_runs(project: WorkProject, detectors: Given | None) -> DetectionRuns:
    return DetectionRuns(
        project.shared, project.log, SuggestionIntake(project.shared, project.log, project.settings, project.pool), detectors
    )


def test_what_is_found_in_waiting_records_becomes_suggestions(project: WorkProject) -> None:
    with project.shared.writing() as store:
        set_status(store, [composed(0).id], "validated", project.log.now())
    runs = runs_of(project, finds_asthma)
    begun = runs.start("boss", FINDER.label)
    assert (begun.phase, begun.records) == ("running", 2)
    runs.wait(20)
    assert runs.last is not None
    assert runs.last.phase == "done"
    assert runs.last.report is not None
    assert (runs.last.report.counts.added, runs.last.report.run.model, runs.last.report.run.made_by) == (2, "small", "boss")
    with project.shared.reading() as store:
        found = suggestions_for(store, [composed(n).id for n in range(3)])
    assert {name: [(one.entity_type, one.detector) for one in some] for name, some in found.items()} == {
        composed(n).id: [("health", "finder")] for n in (1, 2)
    }


def test_one_at_a_time_and_it_can_be_stopped(project: WorkProject) -> None:
    runs = runs_of(project, waits)
    runs.start("boss", FINDER.label, [composed(1).id])
    with pytest.raises(UsageError, match="at work already"):
        runs.start("boss", FINDER.label)
    runs.stop()
    assert runs.last is not None
    assert (runs.last.phase, runs.last.report) == ("stopped", None)
    with pytest.raises(UsageError, match="no such detector"):
        runs.start("boss", "finder")
    with pytest.raises(UsageError, match="no record waits"):
        runs.start("boss", FINDER.label, [])


def test_a_detector_that_fails_says_so_and_nothing_is_stored(project: WorkProject) -> None:
    def fails(source: Path, out: Path, stopping: threading.Event) -> None:
        raise DataError("there is no model", where="outputs/encoder", remedy="Train one")

    runs = runs_of(project, fails)
    runs.start("boss", FINDER.label)
    runs.wait(20)
    assert runs.last is not None
    assert (runs.last.phase, str(runs.last.fault)) == ("failed", "outputs/encoder: there is no model. Train one")
    runs.start("boss", FINDER.label)  # and another one can begin
    runs.wait(20)


def test_without_detectors_there_is_nothing_to_choose(project: WorkProject) -> None:
    assert detection_runs(project, None).offered == ()


def test_a_detector_gets_the_projects_own_types(project: WorkProject) -> None:
    given = Given(finds_asthma)
    runs = detection_runs(project, given)
    runs.start("boss", FINDER.label)
    runs.wait(20)
    assert given.types is None
    own = read_types_file(TYPES)
    with project.shared.writing() as store:
        keep_types(store, own)
    runs.start("boss", FINDER.label)
    runs.wait(20)
    assert given.types == own
