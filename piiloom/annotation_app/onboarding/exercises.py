"""Practice with feedback, and the qualifying test without: records to correct, compared with a reference.

A test has one or more sets of records. Each attempt uses the next set; after the last set comes the first again. A further attempt
at a set starts from the person's own answers, all of them open again. Exercises that ship with piiloom give every project a practice set
and a test from the start.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from importlib.resources import files
from typing import Any, Literal

from pydantic import Field

from piiloom.annotation_app.documents.document import EditedDocument, SpanMark, State, document_of
from piiloom.annotation_app.documents.merging import Difference, differences_between, paired
from piiloom.annotation_app.event_log import EventLog
from piiloom.annotation_app.onboarding.controls import KnownAnswer, plant_several, reference_in, store_known
from piiloom.annotation_app.worklist.assigning import ProjectService, SettingsStore
from piiloom.corpus.alignment import strip_marks
from piiloom.corpus.record import Record, Relevance, Span
from piiloom.corpus.store.annotation_events import AnnotationEvent, NewEvent, list_heads, load_documents, read_events
from piiloom.corpus.store.annotation_items import load_items, newest_records
from piiloom.corpus.store.annotation_project import ControlRow, find_control, load_controls, newest_version
from piiloom.corpus.store.database import Store
from piiloom.corpus.store.opening import SharedStore
from piiloom.foundation.errors import UsageError
from piiloom.foundation.seeding import derive_rng
from piiloom.foundation.words import counted
from piiloom.foundation.yaml_files import FileModel, load_yaml
from piiloom.taxonomy.entity_types import shipped_taxonomy

# A span is worth three points: ends, type, relevance. A missing or superfluous span loses all three.
_PARTS = 3
_LOSS = {"only_left": _PARTS, "only_right": _PARTS, "boundary": 1, "type": 1, "relevance": 1}
# Reasons are only shown for these kinds: they say why a span matters, not where it ends.
_EXPLAINED = ("relevance", "only_left")
_SHOWN = 80


@dataclass(frozen=True, slots=True, kw_only=True)
class Remark:
    """One difference, worded for the person. ``span`` is the id of their span, or else the reference's; ``why`` explains the latter."""

    kind: str
    sentence: str
    span: str | None = None
    why: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Feedback:
    """Result of a comparison: ``score`` is from 0 to 1; ``right`` of the ``expected`` reference spans are matched in all respects."""

    remarks: tuple[Remark, ...]
    score: float
    right: int
    expected: int

    @property
    def perfect(self) -> bool:
        """Whether there are no remarks."""
        return not self.remarks


def feedback_on(reference: EditedDocument, theirs: EditedDocument, reasons: Mapping[str, str] | None = None) -> Feedback:
    """Compare *theirs* with *reference*; *reasons* has explanations of reference spans, by span id."""
    differences = differences_between(reference, theirs)
    remarks = tuple(_remark(difference, reference, theirs, reasons or {}) for difference in differences)
    wrong = {difference.left.id for difference in differences if difference.left is not None}
    right = sum(mark.id not in wrong for mark in reference.marks)
    return Feedback(remarks=remarks, score=score_of(reference, theirs), right=right, expected=len(reference.marks))


def score_of(reference: EditedDocument, theirs: EditedDocument) -> float:
    """Return the share of points reached, from 0 to 1.

    Each reference span, and each superfluous span, is worth three points: ends, type, relevance. So one wrong blank at an end costs
    a third of a span. Differences in the texts are not scored. If neither side has spans, the score is 1.
    """
    differences = differences_between(reference, theirs)
    spans = len(paired(reference, theirs))
    lost = sum(_LOSS.get(difference.kind, 0) for difference in differences)
    return 1 - lost / (_PARTS * spans) if spans else 1.0


def _remark(difference: Difference, reference: EditedDocument, theirs: EditedDocument, reasons: Mapping[str, str]) -> Remark:
    sentence = _sentence(difference, reference.context, theirs.context)
    shown = difference.right or difference.left
    why = reasons.get(difference.left.id) if difference.left and difference.kind in _EXPLAINED else None
    return Remark(kind=difference.kind, sentence=sentence, span=shown.id if shown else None, why=why)


def _sentence(difference: Difference, expected: str, given: str) -> str:
    left, right = difference.left, difference.right
    if left is not None and right is not None:
        return _of_pair(difference.kind, left, right, expected, given)
    if left is not None:
        return f"You did not mark “{_cut(left, expected)}” ({left.entity_type}, {_relevance(left)})."
    if right is not None:
        return f"“{_cut(right, given)}” should not be marked."
    what = "question" if difference.kind == "question" else "text"
    return f"The {what} is worded otherwise in the reference. There can be several good wordings."


def _of_pair(kind: str, left: SpanMark, right: SpanMark, expected: str, given: str) -> str:
    if kind == "boundary":
        return f"You marked “{_cut(right, given)}”; the span should be “{_cut(left, expected)}”."
    if kind == "type":
        return f"“{_cut(right, given)}” is {left.entity_type}, not {right.entity_type}."
    return f"“{_cut(right, given)}” should have {_relevance(left)}; you gave it {_relevance(right)}."


def _relevance(mark: SpanMark) -> str:
    return f"{mark.relevance} relevance" if mark.relevance else "no relevance"


def _cut(mark: SpanMark, text: str) -> str:
    surface = text[mark.start : mark.end]
    return surface if len(surface) <= _SHOWN else f"{surface[: _SHOWN - 1]}…"


PRACTICE = "practice"


@dataclass(frozen=True, slots=True, kw_only=True)
class Exercise:
    """One person's progress on a practice record.

    ``checks`` counts requests for feedback; ``perfect`` tells whether one of them gave no remarks.
    """

    record_id: str
    finished: bool
    checks: int
    perfect: bool


class Practice(ProjectService):
    """The practice set of the store *shared*."""

    def add(self, actor: str, answers: Sequence[KnownAnswer]) -> list[str]:
        """Add records with their references (``kind`` must be "practice"); returns the new ids."""
        with self._shared.writing() as store:
            made = store_known(store, self._log, self._settings.current(), actor, answers, "practice")
        return [row.record_id for row in made]

    def make(self, actor: str, record_ids: Sequence[str], *, errors: int = 2) -> list[str]:
        """Make practice records from correct ones, which become the references, by planting up to *errors* errors in each.

        Returns the new ids.
        """
        with self._shared.reading() as store:
            good = [record for _, record in newest_records(store, record_ids=record_ids)]
        return self.add(actor, with_errors(good, PRACTICE, self._settings.current().seed, errors))

    def exercises(self, person: str) -> list[Exercise]:
        """Return the progress of *person* on each record of the practice set."""
        with self._shared.reading() as store:
            ids = [item.record_id for item in load_items(store, roles=["practice"])]
            heads = {head.record_id: head for head in list_heads(store, record_ids=ids, annotator=person)}
            checks = read_events(store, record_ids=ids, actor=person, kinds=["practised"])
        found: list[Exercise] = []
        for record_id in ids:
            own = [event.entry["perfect"] for event in checks if event.record_id == record_id]
            finished = record_id in heads and heads[record_id].verdict != "open"
            found.append(Exercise(record_id=record_id, finished=finished, checks=len(own), perfect=any(own)))
        return found

    def check(self, person: str, record_id: str) -> Feedback:
        """Compare the version of *person* with the reference and log the result, once for each version.

        Raises ``UsageError`` if it is not a practice record or the person has not edited it yet.
        """
        with self._shared.writing() as store:
            row = find_control(store, record_id)
            if row is None or row.kind != PRACTICE:
                raise UsageError("This is not a practice record", where=record_id, remedy="Choose one on the page Training.")
            done = load_documents(store, record_ids=[record_id], annotator=person)
            if not done:
                raise UsageError("You have not done anything with this record yet", remedy="Correct or accept it first")
            state = State.from_json(done[0].state)
            reasons: Mapping[str, str] = row.entry.get("reasons", {})
            feedback = feedback_on(reference_in(row), state.document, reasons)
            former = read_events(store, record_ids=[record_id], actor=person, kinds=["practised"])
            if all(event.entry.get("version") != done[0].version for event in former):
                entry = {
                    "perfect": feedback.perfect,
                    "score": feedback.score,
                    "kinds": dict(sorted(Counter(remark.kind for remark in feedback.remarks).items())),
                }
                entry["version"] = done[0].version
                noted = NewEvent(actor=person, kind="practised", record_id=record_id, guideline=newest_version(store), entry=entry)
                self._log.append(store, [noted])
        return feedback

    def reference(self, person: str, record_id: str) -> EditedDocument:
        """Return the reference of a practice record; raises ``UsageError`` if *person* has never asked for feedback on it."""
        with self._shared.reading() as store:
            tried = read_events(store, record_ids=[record_id], actor=person, kinds=["practised"])
            row = next((row for row in load_controls(store, [PRACTICE]) if row.record_id == record_id), None)
        if row is None or not tried:
            raise UsageError(
                "The right answer is shown after your own attempt", where=record_id, remedy="Correct the record and check it first."
            )
        return reference_in(row)


def with_errors(good: Collection[Record], kind: str, seed: int, errors: int) -> list[KnownAnswer]:
    """Plant up to *errors* errors in each of the correct records *good*; the originals are the references."""
    answers: list[KnownAnswer] = []
    for record in good:
        shown, planted = plant_several(record, errors, derive_rng("exercise", seed, kind, record.id))
        detail = {"planted": [{"kind": one.kind, "span": one.span_id} for one in planted]}
        answers.append(KnownAnswer(kind=kind, shown=shown, reference=document_of(record), detail=detail))
    return answers


QUALIFYING = "qualifying"
# reopen(person, record_ids) sets the person's verdicts on these records back to open.
Reopen = Callable[[str, Collection[str]], None]


@dataclass(frozen=True, slots=True, kw_only=True)
class QualifyingAttempt:
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
class QualifyingTask:
    """The next attempt of a person: ``records`` has (record id, whether it is finished), in order."""

    number: int
    test_set: int
    records: tuple[tuple[str, bool], ...]


class QualifyingTest(ProjectService):
    """The qualifying test of the store *shared*; *reopen* is a hook."""

    def __init__(self, shared: SharedStore, log: EventLog, settings: SettingsStore, reopen: Reopen) -> None:
        super().__init__(shared, log, settings)
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

    def task(self, person: str) -> QualifyingTask:
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
        return QualifyingTask(number=number, test_set=_set_of(rows[0]), records=tuple((record_id, record_id in done) for record_id in ids))

    def hand_in(self, person: str) -> QualifyingAttempt:
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

    def attempts(self, person: str | None = None) -> list[QualifyingAttempt]:
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


def _attempt(event: AnnotationEvent) -> QualifyingAttempt:
    entry = event.entry
    return QualifyingAttempt(
        person=event.actor,
        number=entry["number"],
        test_set=entry["set"],
        score=entry["score"],
        threshold=entry["threshold"],
        passed=entry["passed"],
        at=event.at,
        scores=dict(entry["scores"]),
    )


ExerciseKind = Literal["practice", "qualifying"]


class _ShippedValue(FileModel):
    type: str
    relevance: Relevance
    why: str | None = None


class _Exercise(FileModel):
    id: str
    context: str
    question: str
    spans: dict[str, _ShippedValue] = Field(min_length=1)


class _Exercises(FileModel):
    practice: list[_Exercise]
    qualifying: list[_Exercise]


def shipped_answers(kind: ExerciseKind, *, seed: int = 0, errors: int = 2) -> list[KnownAnswer]:
    """Return the shipped exercises of *kind*, with up to *errors* planted errors each, and explanations of their spans."""
    reasons = {exercise.id: exercise for exercise in getattr(_load(), kind)}
    answers = with_errors([_record(exercise) for exercise in reasons.values()], kind, seed, errors)
    return [replace(answer, detail={**answer.detail, "reasons": _reasons(reasons[answer.shown.id], answer)}) for answer in answers]


def _reasons(exercise: _Exercise, answer: KnownAnswer) -> dict[str, str]:
    found = {mark.id: exercise.spans[mark.value_id or ""].why for mark in answer.reference.marks}
    return {name: why for name, why in found.items() if why}


def _record(exercise: _Exercise) -> Record:
    marked = strip_marks(exercise.context)
    known = shipped_taxonomy()
    spans = tuple(
        Span(
            id=f"s{number}",
            start=mention.start,
            end=mention.end,
            entity_type=known.get(exercise.spans[mention.value_id].type).name,
            relevance=exercise.spans[mention.value_id].relevance,
            value_id=mention.value_id,
        )
        for number, mention in enumerate(marked.mentions, 1)
    )
    return Record(id=exercise.id, context=marked.text, question=exercise.question, spans=spans)


@lru_cache(maxsize=1)
def _load() -> _Exercises:
    return load_yaml(files("piiloom.annotation_app.onboarding") / "default_exercises.yaml", _Exercises)
