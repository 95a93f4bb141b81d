"""Hidden control records: copies of correct records, either unchanged (gold) or with one planted error each, and people's results.

They look like normal work; ``worklist.assigning`` mixes them in. The person who makes them must be sure that the source records
are correct. Planted errors resemble those of models: boundaries move by whole words, types change to one that is easily confused.

An error counts as found if the accepted document has it corrected: the span is back (any overlap counts), or has the right ends,
type or relevance. A rejected record counts as found, too, since its error does no harm. A gold record counts as kept if it was
accepted with all spans unchanged; its texts are not compared.

Known answers (for practice, the qualifying test and controls) are copies with new ids. Their status in the store is "control", so that
exports leave them out.
"""

from __future__ import annotations

import random
import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import count
from typing import Any, Literal, get_args

from piiloom.annotation_app.documents.document import EditedDocument, State, document_of
from piiloom.annotation_app.documents.merging import paired
from piiloom.annotation_app.event_log import EventLog, control_of, item_of
from piiloom.annotation_app.figures.intervals import Share
from piiloom.annotation_app.worklist.assigning import ProjectService, ProjectSettings
from piiloom.annotation_app.worklist.pool import CERTAIN, scored, signals_of
from piiloom.corpus.record import Record, Span
from piiloom.corpus.store.annotation_events import NewEvent, load_documents
from piiloom.corpus.store.annotation_items import (
    CONTROL_STATUS,
    AnnotationItem,
    ItemRole,
    add_items,
    disagreement_counts,
    item_facts,
    item_pair_counts,
    newest_records,
    pooled,
)
from piiloom.corpus.store.annotation_project import ControlRow, add_controls, control_orders, known_record_ids, load_controls
from piiloom.corpus.store.database import Store
from piiloom.corpus.store.judgements import uncertainties
from piiloom.corpus.store.opening import SharedStore
from piiloom.corpus.store.records import add_records
from piiloom.corpus.store.releases import types_of
from piiloom.foundation.errors import UsageError
from piiloom.foundation.seeding import derive_rng
from piiloom.taxonomy.own_types import extended

_TAIL = re.compile(r"[0-9a-f]*[0-9][0-9a-f]*(?=[^0-9a-f]*$)")
_TRIES = 100


@dataclass(frozen=True, slots=True, kw_only=True)
class KnownAnswer:
    """A record as people see it (``shown``, with the id of its source) and the correct result (``reference``)."""

    kind: str
    shown: Record
    reference: EditedDocument
    detail: Mapping[str, Any] = field(default_factory=dict)


def store_known(
    store: Store, log: EventLog, settings: ProjectSettings, actor: str, answers: Sequence[KnownAnswer], role: ItemRole
) -> list[ControlRow]:
    """Store copies of *answers* as work items of *role*, and log it. Call this inside a transaction on *store*."""
    copies = _copies(store, answers, settings.seed)
    add_records(store, None, [(None, copy) for copy in copies], status=CONTROL_STATUS)
    orders = control_orders(store, [copy.id for copy in copies])
    counts, against = item_pair_counts(store), disagreement_counts(store)
    unsure, taxonomy = uncertainties(store, [answer.shown.id for answer in answers]), extended(types_of(store))
    rows: list[NewEvent] = []
    for copy, answer in zip(copies, answers, strict=True):
        signals = signals_of(copy, taxonomy, against.get(answer.shown.id, 0), unsure.get(answer.shown.id, CERTAIN))
        priority, reasons = scored(signals, counts, settings)
        item = AnnotationItem(record_id=copy.id, record_order=orders[copy.id], wanted=settings.overlap, facts=item_facts(copy))
        rows += [pooled(replace(item, priority=priority, reasons=reasons), actor), _made(copy.id, answer, role, actor)]
    events = log.append(store, rows)
    add_items(store, [replace(item_of(event), role=role) for event in events if event.kind == "pooled"])
    made = [control_of(event) for event in events if event.kind == "control_made"]
    add_controls(store, made)
    return made


def reference_in(row: ControlRow) -> EditedDocument:
    """Return the correct result for the record of *row*."""
    return EditedDocument.from_json(row.entry["reference"])


def lookalike_id(record_id: str, rng: random.Random, taken: Collection[str]) -> str:
    """Return a new id of the same form as *record_id*, not in *taken*, so that copies cannot be told from originals.

    The last number or hexadecimal part is replaced by a random one of the same length; if there is none, or hardly any such id
    is free, a random suffix is appended.
    """
    tail = _TAIL.search(record_id)
    for attempt in count():
        if tail is None or attempt >= _TRIES:  # no number to vary, or hardly any free numbers of this length
            made = f"{record_id}-{rng.getrandbits(24 + attempt):06x}"
        else:
            digits = "0123456789" if tail[0].isdigit() else "0123456789abcdef"
            made = record_id[: tail.start()] + "".join(rng.choice(digits) for _ in tail[0]) + record_id[tail.end() :]
        if made not in taken:
            break
    return made


def _copies(store: Store, answers: Sequence[KnownAnswer], seed: int) -> list[Record]:
    copies: list[Record] = []
    taken: set[str] = set()
    for number, answer in enumerate(answers):
        rng = derive_rng("control id", seed, answer.kind, answer.shown.id, number)
        made = lookalike_id(answer.shown.id, rng, taken)
        while known_record_ids(store, [made]):
            taken.add(made)
            made = lookalike_id(answer.shown.id, rng, taken)
        taken.add(made)
        copies.append(replace(answer.shown, id=made))
    return copies


def _made(record_id: str, answer: KnownAnswer, role: ItemRole, actor: str) -> NewEvent:
    known = {"reference": answer.reference.to_json(), **answer.detail}
    entry = {"record_id": record_id, "role": role, "kind": answer.kind, "source_id": answer.shown.id, "answer": known}
    return NewEvent(actor=actor, kind="control_made", entry=entry)


PlantedKind = Literal["boundary", "dropped", "type", "relevance"]
ERROR_KINDS: tuple[PlantedKind, ...] = get_args(PlantedKind)
# Unlike in ``piiloom.foundation.words``, parts joined by a hyphen are one word, as in the guidelines.
_WORD = re.compile(r"\w+(?:['’\-‐‑]\w+)*")
_CONFUSED = {
    "age": ("datetime", "appearance"),
    "appearance": ("health", "demographic"),
    "belief": ("organization", "demographic"),
    "code": ("finance", "name"),
    "datetime": ("age", "code"),
    "demographic": ("location", "belief"),
    "education": ("occupation", "organization"),
    "finance": ("code", "occupation"),
    "health": ("appearance", "belief"),
    "location": ("organization", "demographic"),
    "name": ("organization", "relationship"),
    "occupation": ("education", "organization"),
    "organization": ("location", "education"),
    "relationship": ("name", "demographic"),
    "sexual orientation": ("relationship", "demographic"),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Planted:
    """A record with one planted error; ``span_id`` is the id, in the correct record, of the span that is now wrong."""

    record: Record
    kind: PlantedKind
    span_id: str


def plant(record: Record, kind: PlantedKind, rng: random.Random, besides: Collection[str] = ()) -> Planted | None:
    """Plant an error of *kind* in a random span of *record*, except those with ids in *besides*; None if no span can have it."""
    spans = [span for span in record.spans if span.id not in besides]
    rng.shuffle(spans)
    for span in spans:
        wrong = _wrong(record, span, kind, rng)
        if wrong is not span:
            changed = ((wrong if other is span else other) for other in record.spans)
            kept = tuple(other for other in changed if other is not None)
            return Planted(record=replace(record, spans=kept), kind=kind, span_id=span.id)
    return None


def plant_several(record: Record, count: int, rng: random.Random) -> tuple[Record, tuple[Planted, ...]]:
    """Plant up to *count* errors in different spans of *record*, with the kinds taking turns.

    Returns the changed record and the planted errors.
    """
    kinds = list(ERROR_KINDS)
    rng.shuffle(kinds)
    planted: list[Planted] = []
    for number in range(count):
        done = [one.span_id for one in planted]
        tries = (plant(record, kinds[(number + turn) % len(kinds)], rng, done) for turn in range(len(kinds)))
        found = next((one for one in tries if one is not None), None)
        if found is None:
            break
        planted.append(found)
        record = found.record
    return record, tuple(planted)


def _wrong(record: Record, span: Span, kind: PlantedKind, rng: random.Random) -> Span | None:
    """Return the span with the error, None if it is dropped, or *span* itself if it cannot have that error."""
    if kind == "dropped":
        return None
    if kind == "type":
        others = _CONFUSED.get(span.entity_type, ())
        return replace(span, entity_type=rng.choice(others), subtype=None) if others else span
    if kind == "relevance":
        if span.relevance is None:
            return span
        return replace(span, relevance="low" if span.relevance == "high" else "high")
    places = moved_boundaries(record, span)
    if not places:
        return span
    start, end = rng.choice(places)
    return replace(span, start=start, end=end)


def moved_boundaries(record: Record, span: Span) -> list[tuple[int, int]]:
    """Return possible (start, end) of *span* with one word more or less at one end.

    A word is added only if nothing but blanks lies between it and the span, and no other span covers it.
    """
    words = [found.span() for found in _WORD.finditer(record.context)]
    inside = [place for place in words if place[0] >= span.start and place[1] <= span.end]
    before = max((place for place in words if place[1] <= span.start), default=None)
    after = min((place for place in words if place[0] >= span.end), default=None)
    places: list[tuple[int, int]] = []
    if len(inside) > 1:
        places += [(inside[1][0], span.end), (span.start, inside[-2][1])]
    if before and _blank(record.context[before[1] : span.start]) and _free(record, span, before):
        places.append((before[0], span.end))
    if after and _blank(record.context[span.end : after[0]]) and _free(record, span, after):
        places.append((span.start, after[1]))
    return [place for place in places if place != (span.start, span.end)]


def _blank(between: str) -> bool:
    return bool(between) and not between.strip(" \u00a0")


def _free(record: Record, span: Span, place: tuple[int, int]) -> bool:
    return all(other is span or other.end <= place[0] or other.start >= place[1] for other in record.spans)


GOLD = "gold"


@dataclass(frozen=True, slots=True, kw_only=True)
class ControlReport:
    """Numbers of controls made, by kind, and the ids of the sources for which none was made.

    ``known`` sources have such a control already, ``unfit`` ones have no span that can take an error, ``missing`` ones are not in
    the store.
    """

    made: dict[str, int]
    known: tuple[str, ...] = ()
    unfit: tuple[str, ...] = ()
    missing: tuple[str, ...] = ()


class Controls(ProjectService):
    """Makes the control records of the store *shared*."""

    def plant_errors(self, actor: str, record_ids: Sequence[str], kinds: Sequence[PlantedKind] = ERROR_KINDS) -> ControlReport:
        """Make a control from each of *record_ids* by planting one error.

        The *kinds* take turns, so that they are about equally frequent. A record that cannot have the next kind of error gets the
        first possible one after it. The same records, kinds and project seed give the same controls. Raises ``UsageError`` if
        *kinds* is empty or has an unknown kind.
        """
        if not kinds or not set(kinds) <= set(ERROR_KINDS):
            raise UsageError("These are not kinds of errors", remedy=f"Known: {', '.join(ERROR_KINDS)}")
        good, known, missing = self._good(record_ids, ERROR_KINDS)
        unfit: list[str] = []
        answers = list(_planted(good, kinds, self._settings.current().seed, unfit))
        return self._store(actor, answers, known, unfit, missing)

    def add_gold(self, actor: str, record_ids: Sequence[str]) -> ControlReport:
        """Make gold controls: unchanged copies of *record_ids*. A person who changes their spans has made an error."""
        good, known, missing = self._good(record_ids, [GOLD])
        answers = [KnownAnswer(kind=GOLD, shown=record, reference=document_of(record)) for record in good]
        return self._store(actor, answers, known, (), missing)

    def _good(self, record_ids: Sequence[str], kinds: Sequence[str]) -> tuple[list[Record], list[str], list[str]]:
        with self._shared.reading() as store:
            had = {row.source_id for row in load_controls(store, kinds)}
            found = {record.id: record for _, record in newest_records(store, record_ids=record_ids)}
        named = list(dict.fromkeys(record_ids))
        good = [found[name] for name in named if name in found and name not in had]
        return good, [name for name in named if name in had], [name for name in named if name not in found]

    def _store(
        self, actor: str, answers: Sequence[KnownAnswer], known: Sequence[str], unfit: Sequence[str], missing: Sequence[str]
    ) -> ControlReport:
        with self._shared.writing() as store:
            made = store_known(store, self._log, self._settings.current(), actor, answers, "control")
        counts = dict(sorted(Counter(row.kind for row in made).items()))
        return ControlReport(made=counts, known=tuple(known), unfit=tuple(unfit), missing=tuple(missing))


def _planted(good: Iterable[Record], kinds: Sequence[PlantedKind], seed: int, unfit: list[str]) -> Iterator[KnownAnswer]:
    turn = 0
    for record in sorted(good, key=lambda one: derive_rng("control order", seed, one.id).random()):
        rng = derive_rng("control", seed, record.id)
        tries = (plant(record, kinds[(turn + step) % len(kinds)], rng) for step in range(len(kinds)))
        found = next((one for one in tries if one is not None), None)
        if found is None:
            unfit.append(record.id)
            continue
        turn += 1
        yield KnownAnswer(kind=found.kind, shown=found.record, reference=document_of(record), detail={"span": found.span_id})


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


def changed_spans(reference: EditedDocument, given: EditedDocument, besides: str | None = None) -> int:
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
