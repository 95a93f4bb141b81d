"""Practice: records with a reference; people annotate them as often as they like and get feedback at once."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from piiloom.annotation_app.documents.document import Document, State, document_of
from piiloom.annotation_app.event_log import EventLog
from piiloom.annotation_app.onboarding.feedback import Feedback, counted, feedback_on
from piiloom.annotation_app.onboarding.known_answers import KnownAnswer, reference_in, store_known
from piiloom.annotation_app.onboarding.seeded_errors import plant_several
from piiloom.annotation_app.worklist.project_settings import SettingsStore
from piiloom.corpus.record import Record
from piiloom.corpus.store.annotation_assignments import find_control, load_controls
from piiloom.corpus.store.annotation_events import NewEvent, list_heads, load_documents, read_events
from piiloom.corpus.store.annotation_items import load_items, newest_records
from piiloom.corpus.store.annotation_project import newest_version
from piiloom.corpus.store.opening import SharedStore
from piiloom.foundation.errors import UsageError
from piiloom.foundation.seeding import derive_rng

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


class Practice:
    """The practice set of the store *shared*."""

    def __init__(self, shared: SharedStore, log: EventLog, settings: SettingsStore) -> None:
        self._shared = shared
        self._log = log
        self._settings = settings

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
                entry = {"perfect": feedback.perfect, "score": feedback.score, "kinds": counted(feedback.remarks)}
                entry["version"] = done[0].version
                noted = NewEvent(actor=person, kind="practised", record_id=record_id, guideline=newest_version(store), entry=entry)
                self._log.append(store, [noted])
        return feedback

    def reference(self, person: str, record_id: str) -> Document:
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
