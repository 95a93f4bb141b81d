"""The qualifying test: records to correct without feedback, scored against their references.

A test has one or more sets of records. Each attempt uses the next set; after the last set comes the first again. A further attempt
at a set starts from the person's own answers, all of them open again.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, replace
from typing import Any

from piiloom.annotation_app.documents.document import State
from piiloom.annotation_app.event_log import EventLog
from piiloom.annotation_app.onboarding.feedback import score_of
from piiloom.annotation_app.onboarding.known_answers import KnownAnswer, reference_in, store_known
from piiloom.annotation_app.onboarding.practice import with_errors
from piiloom.annotation_app.worklist.project_settings import SettingsStore
from piiloom.corpus.store.annotation_assignments import ControlRow, load_controls
from piiloom.corpus.store.annotation_events import AnnotationEvent, NewEvent, list_heads, load_documents, read_events
from piiloom.corpus.store.annotation_items import newest_records
from piiloom.corpus.store.annotation_project import newest_version
from piiloom.corpus.store.database import Store
from piiloom.corpus.store.opening import SharedStore
from piiloom.foundation.errors import UsageError
from piiloom.foundation.words import counted

QUALIFYING = "qualifying"
# reopen(person, record_ids) sets the person's verdicts on these records back to open.
Reopen = Callable[[str, Collection[str]], None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Attempt:
    """One attempt. ``threshold`` is the passing score at that time; ``scores`` has the score by record id, ``score`` is their mean."""

    person: str
    number: int
    test_set: int
    score: float
    threshold: float
    passed: bool
    at: str
    scores: dict[str, float]


@dataclass(frozen=True, slots=True, kw_only=True)
class Task:
    """The next attempt of a person: ``records`` has (record id, whether it is finished), in order."""

    number: int
    test_set: int
    records: tuple[tuple[str, bool], ...]


class QualifyingTest:
    """The qualifying test of the store *shared*; *reopen* is a hook."""

    def __init__(self, shared: SharedStore, log: EventLog, settings: SettingsStore, reopen: Reopen) -> None:
        self._shared = shared
        self._log = log
        self._settings = settings
        self._reopen = reopen

    def add_set(self, actor: str, answers: Sequence[KnownAnswer]) -> list[str]:
        """Add *answers* (``kind`` "qualifying") as a new set; returns the new ids. Raises ``UsageError`` if *answers* is empty."""
        if not answers:
            raise UsageError("a test needs records", remedy="Name one record or more.")
        with self._shared.writing() as store:
            number = 1 + max((_set_of(row) for row in load_controls(store, [QUALIFYING])), default=0)
            numbered = [replace(answer, detail={**answer.detail, "set": number}) for answer in answers]
            made = store_known(store, self._log, self._settings.current(), actor, numbered, "qualifying")
        return [row.record_id for row in made]

    def make_set(self, actor: str, record_ids: Sequence[str], *, errors: int = 2) -> list[str]:
        """Make a set from correct records by planting up to *errors* errors in each; returns the new ids."""
        with self._shared.reading() as store:
            good = [record for _, record in newest_records(store, record_ids=record_ids)]
        return self.add_set(actor, with_errors(good, QUALIFYING, self._settings.current().seed, errors))

    def task(self, person: str) -> Task:
        """Return the next attempt of *person*; raises ``UsageError`` if there is no test.

        Records that an earlier attempt at the same set left finished are opened again.
        """
        with self._shared.reading() as store:
            number, rows, since = self._next(store, person)
            ids = [row.record_id for row in rows]
            finished = [head for head in list_heads(store, record_ids=ids, annotator=person) if head.verdict != "open"]
        if former := [head.record_id for head in finished if head.event <= since]:
            self._reopen(person, former)
        done = {head.record_id for head in finished if head.event > since}
        return Task(number=number, test_set=_set_of(rows[0]), records=tuple((record_id, record_id in done) for record_id in ids))

    def hand_in(self, person: str) -> Attempt:
        """Score the current attempt of *person* and log it; raises ``UsageError`` if a record is unfinished or there is no test."""
        with self._shared.writing() as store:
            number, rows, since = self._next(store, person)
            done = {row.record_id: row for row in load_documents(store, record_ids=[row.record_id for row in rows], annotator=person)}
            finished = {name for name, document in done.items() if document.verdict != "open" and document.event > since}
            left = [row for row in rows if row.record_id not in finished]
            if left:
                raise UsageError(
                    f"{len(left)} of {counted(len(rows), 'record')} {'is' if len(left) == 1 else 'are'} not finished yet",
                    remedy="Accept or reject each of them first",
                )
            scores = {row.record_id: _score(row, State.from_json(done[row.record_id].state)) for row in rows}
            score, threshold = sum(scores.values()) / len(scores), self._settings.current().qualifying_threshold
            entry: dict[str, Any] = {"number": number, "set": _set_of(rows[0]), "score": score, "threshold": threshold}
            # Tolerance: rounding errors in the sum of scores must not make somebody fail.
            entry |= {"passed": score >= threshold - 1e-9, "scores": scores}
            noted = NewEvent(actor=person, kind="qualified", guideline=newest_version(store), entry=entry)
            return _attempt(self._log.append(store, [noted])[0])

    def attempts(self, person: str | None = None) -> list[Attempt]:
        """Return all attempts, of everybody or of *person*, oldest first."""
        with self._shared.reading() as store:
            return [_attempt(event) for event in read_events(store, actor=person, kinds=["qualified"])]

    def _next(self, store: Store, person: str) -> tuple[int, list[ControlRow], int]:
        """Return the number of the next attempt, the records of its set, and the event of the last attempt at that set (0: none)."""
        rows = load_controls(store, [QUALIFYING])
        if not rows:
            raise UsageError("This project has no qualifying test yet", remedy="An admin can make one")
        former = read_events(store, actor=person, kinds=["qualified"])
        number = 1 + len(former)
        sets = sorted({_set_of(row) for row in rows})
        chosen = sets[(number - 1) % len(sets)]
        since = max((event.event for event in former if event.entry["set"] == chosen), default=0)
        return number, [row for row in rows if _set_of(row) == chosen], since


def _set_of(row: ControlRow) -> int:
    return int(row.entry.get("set", 1))


def _score(row: ControlRow, state: State) -> float:
    """Score one record. Rejecting it scores 0, because all test records are usable."""
    return 0.0 if state.verdict == "rejected" else score_of(reference_in(row), state.document)


def _attempt(event: AnnotationEvent) -> Attempt:
    entry = event.entry
    return Attempt(
        person=event.actor,
        number=entry["number"],
        test_set=entry["set"],
        score=entry["score"],
        threshold=entry["threshold"],
        passed=entry["passed"],
        at=event.at,
        scores=dict(entry["scores"]),
    )
