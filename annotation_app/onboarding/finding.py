"""Which errors of a record several people found, so that those that nobody found can be estimated.

An error is a difference between the record as it was and as somebody left it. Two people found the same one when they changed
the same span in the same respect (its ends, its type, its relevance; they need not agree on what is right), removed the same
span, or added spans that overlap.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

from annotation_app.documents.differences import compare
from annotation_app.documents.document import Document, State, document_of
from annotation_app.documents.realigning import realigned_through
from annotation_app.documents.text_edits import edits_between
from annotation_app.onboarding.capture_recapture import Estimate, chao, chapman
from corpus.store.annotation_documents import list_heads, load_documents
from corpus.store.annotation_items import base_records, load_items
from corpus.store.shared import SharedStore

_SPAN_KINDS = ("boundary", "type", "relevance", "only_left")


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """One error of a record: ``what`` it is, and who found it."""

    record_id: str
    what: str
    by: frozenset[str]


@dataclass(frozen=True, slots=True, kw_only=True)
class PairEstimate:
    """The errors in the records that two people have both finished."""

    people: tuple[str, str]
    records: int
    estimate: Estimate


@dataclass(frozen=True, slots=True, kw_only=True)
class Remaining:
    """What is estimated: pair by pair, and (for each number of people) over the records that so many have finished."""

    pairs: tuple[PairEstimate, ...]
    lower_bounds: Mapping[int, Estimate]


def errors_found(record_id: str, base: Document, documents: Mapping[str, Document], truth: Document | None = None) -> list[Found]:
    """The errors of *base* that people's *documents* (by name) correct; with *truth* only those that it corrects as well."""
    finders: dict[str, set[str]] = {}
    added: list[tuple[int, int, str]] = []
    named = {**documents, "": truth} if truth is not None else documents
    for person, document in named.items():
        for difference in compare(base, document):
            if difference.kind in _SPAN_KINDS and difference.left is not None:
                finders.setdefault(f"{difference.kind}:{difference.left.id}", set()).add(person)
        added += [(start, end, person) for start, end in _added(base, document)]
    for number, people in enumerate(_overlapping(added)):
        finders[f"added:{number}"] = people
    real = {what: people for what, people in finders.items() if truth is None or "" in people}
    return [Found(record_id=record_id, what=what, by=frozenset(people - {""})) for what, people in sorted(real.items()) if people - {""}]


def estimate_remaining(shared: SharedStore) -> Remaining:
    """The errors in the work done so far, from all records that two or more people have finished. Rejected records are left out."""
    with shared.reading() as store:
        work_ids = [item.record_id for item in load_items(store, roles=["work"])]
        accepted = Counter(head.record_id for head in list_heads(store, record_ids=work_ids) if head.verdict == "accepted")
        several = [record_id for record_id, count in accepted.items() if count > 1]
        shared_ones: dict[str, dict[str, Document]] = {record_id: {} for record_id in several}
        for row in load_documents(store, record_ids=several):
            if row.verdict == "accepted":
                shared_ones[row.record_id][row.annotator] = State.from_json(row.state).document
        bases = base_records(store, list(shared_ones))
    found: dict[str, list[Found]] = {
        record_id: errors_found(record_id, document_of(bases[record_id]), documents)
        for record_id, documents in shared_ones.items()
        if record_id in bases
    }
    people = {record_id: frozenset(shared_ones[record_id]) for record_id in found}
    return Remaining(pairs=tuple(_pairs(people, found)), lower_bounds=_lower_bounds(people, found))


def _pairs(people: Mapping[str, frozenset[str]], found: Mapping[str, Sequence[Found]]) -> Iterable[PairEstimate]:
    for one, other in combinations(sorted(frozenset[str]().union(*people.values())), 2):
        common = [record_id for record_id, names in people.items() if {one, other} <= names]
        if not common:
            continue
        errors = [error for record_id in common for error in found[record_id]]
        first, second = sum(one in e.by for e in errors), sum(other in e.by for e in errors)
        both = sum({one, other} <= e.by for e in errors)
        yield PairEstimate(people=(one, other), records=len(common), estimate=chapman(first, second, both))


def _lower_bounds(people: Mapping[str, frozenset[str]], found: Mapping[str, Sequence[Found]]) -> dict[int, Estimate]:
    bounds: dict[int, Estimate] = {}
    for count in sorted({len(names) for names in people.values()}):
        counts = [len(error.by) for record_id, names in people.items() if len(names) == count for error in found[record_id]]
        bounds[count] = chao(counts, count)
    return bounds


def _added(base: Document, document: Document) -> list[tuple[int, int]]:
    """Where *document* has spans that *base* has not, in places of the text of *base*."""
    new = tuple(d.right for d in compare(base, document) if d.kind == "only_right" and d.right is not None)
    back = edits_between(document.context, base.context)
    return [(mark.start, mark.end) for mark in realigned_through(new, back)]


def _overlapping(places: Iterable[tuple[int, int, str]]) -> list[set[str]]:
    """Who is in each group of places that overlap, in text order."""
    groups: list[set[str]] = []
    reach = -1
    for start, end, person in sorted(places):
        if start >= reach:
            groups.append(set())
        groups[-1].add(person)
        reach = max(reach, end)
    return groups
