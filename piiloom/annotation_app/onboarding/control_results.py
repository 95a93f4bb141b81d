"""Results of the hidden control records: the share of planted errors that each person corrected.

An error counts as found if the accepted document has it corrected: the span is back (any overlap counts), or has the right ends,
type or relevance. A rejected record counts as found, too, since its error does no harm. A gold record counts as kept if it was
accepted with all spans unchanged; its texts are not compared.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from piiloom.annotation_app.documents.differences import paired
from piiloom.annotation_app.documents.document import Document, State
from piiloom.annotation_app.onboarding.controls import GOLD
from piiloom.annotation_app.onboarding.known_answers import reference_in
from piiloom.annotation_app.onboarding.seeded_errors import ERROR_KINDS
from piiloom.annotation_app.shares import Share
from piiloom.corpus.store.annotation_assignments import ControlRow, load_controls
from piiloom.corpus.store.annotation_events import load_documents
from piiloom.corpus.store.opening import SharedStore


@dataclass(frozen=True, slots=True, kw_only=True)
class PersonsControls:
    """Control results of one person.

    ``by_kind`` and ``found``: shares of planted errors found, by kind and in total. ``kept``: share of gold records kept.
    ``other_changes``: spans other than the planted error that the person changed, added or removed in accepted records with one.
    """

    person: str
    by_kind: Mapping[str, Share]
    found: Share
    kept: Share
    other_changes: int


def control_results(shared: SharedStore) -> list[PersonsControls]:
    """Return the results of everybody who has finished a control record, sorted by name."""
    with shared.reading() as store:
        rows = {row.record_id: row for row in load_controls(store, [*ERROR_KINDS, GOLD])}
        work = [one for one in load_documents(store, record_ids=list(rows)) if one.verdict != "open"]
    by_person: dict[str, list[tuple[ControlRow, State]]] = {}
    for one in work:
        by_person.setdefault(one.annotator, []).append((rows[one.record_id], State.from_json(one.state)))
    return [_result(person, done) for person, done in sorted(by_person.items())]


def is_found(row: ControlRow, state: State) -> bool:
    """Return whether the planted error of *row* is corrected in *state*, or the record is rejected."""
    if state.verdict == "rejected":
        return True
    for right, given, same_ends in paired(reference_in(row), state.document):
        if right is not None and right.id == row.entry["span"]:
            if given is None:
                return False
            mended = {"dropped": True, "boundary": same_ends, "type": given.entity_type == right.entity_type}
            return mended.get(row.kind, given.relevance == right.relevance)
    return False


def changed_spans(reference: Document, given: Document, besides: str | None = None) -> int:
    """Count the spans that differ between *reference* and *given*, not counting the span with id *besides*."""
    count = 0
    for right, mark, same_ends in paired(reference, given):
        if right is not None and right.id == besides:
            continue
        same = right is not None and mark is not None and same_ends
        count += not (same and right and mark and (right.entity_type, right.relevance) == (mark.entity_type, mark.relevance))
    return count


def _result(person: str, done: Iterable[tuple[ControlRow, State]]) -> PersonsControls:
    planted = [(row, state) for row, state in done if row.kind != GOLD]
    gold = [(row, state) for row, state in done if row.kind == GOLD]
    by_kind: dict[str, Share] = {}
    for kind in ERROR_KINDS:
        found = [is_found(row, state) for row, state in planted if row.kind == kind]
        if found:
            by_kind[kind] = Share.of(sum(found), len(found))
    kept = [state.verdict == "accepted" and changed_spans(reference_in(row), state.document) == 0 for row, state in gold]
    accepted = [(row, state) for row, state in planted if state.verdict == "accepted"]
    return PersonsControls(
        person=person,
        by_kind=by_kind,
        found=Share.of(sum(share.part for share in by_kind.values()), len(planted)),
        kept=Share.of(sum(kept), len(kept)),
        other_changes=sum(changed_spans(reference_in(row), state.document, row.entry["span"]) for row, state in accepted),
    )
