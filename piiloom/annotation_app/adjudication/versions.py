"""All people's versions of one record, side by side, where they differ, and one document combined from them.

Edits made on an outdated version can still be merged. A combined document has one person's text and question, each span from any person.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Container, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import combinations, pairwise

from piiloom.annotation_app.documents.document import (
    EditedDocument,
    Redo,
    Refusal,
    Revert,
    SpanMark,
    State,
    Undo,
    Verdict,
    document_of,
    parse_operation,
)
from piiloom.annotation_app.documents.history import EDITS, EditHistory, apply, replayed_history
from piiloom.annotation_app.documents.merging import (
    Conflict,
    Difference,
    TextEdit,
    differences_between,
    edits_between,
    merge_documents,
    realigned_through,
)
from piiloom.annotation_app.figures.spans import compared_spans, match, mention_of, spans_table
from piiloom.annotation_app.sync.service import STALE
from piiloom.corpus.record import Record
from piiloom.corpus.store.annotation_events import Adjudication, AnnotationEvent, load_adjudications, load_documents, read_events
from piiloom.corpus.store.annotation_items import AnnotationItem, base_records, find_item
from piiloom.corpus.store.database import Store
from piiloom.corpus.store.judgements import Suggestion, suggestions_for
from piiloom.corpus.store.releases import types_of
from piiloom.foundation.errors import UsageError
from piiloom.foundation.words import Range
from piiloom.taxonomy.own_types import extended


@dataclass(frozen=True, slots=True, kw_only=True)
class StaleOffer:
    """The edits of *annotator* in an outdated browser tab, merged into their newest document.

    ``merged`` is the newest document with the tab's changes. If both changed the same thing, ``merged`` keeps the newest and
    ``conflicts`` lists it. ``left_out`` counts edits that could not be applied even to the version that they were made on. ``events``
    are the log numbers of the edits. ``verdict``, ``reason`` and ``flag`` are those after the tab's last edit; its first one starts
    from an open verdict. ``finished``: the newest document is accepted or rejected.
    """

    annotator: str
    at: str
    events: tuple[int, ...]
    merged: EditedDocument
    conflicts: tuple[Conflict, ...]
    left_out: int
    verdict: Verdict
    reason: str
    flag: str
    finished: bool


def stale_offers(store: Store, records: Mapping[str, Record]) -> dict[str, list[StaleOffer]]:
    """Return the offers for each of *records* (original records by id), oldest first; records without offers are left out.

    Edits made before the last decision on the record are left out, and so are offers that change neither document nor verdict.
    """
    events: dict[str, list[AnnotationEvent]] = {}
    for event in read_events(store, record_ids=records, kinds=[*EDITS, STALE]):
        events.setdefault(str(event.record_id), []).append(event)
    late = [record_id for record_id, own in events.items() if any(event.kind == STALE for event in own)]
    decided = {row.record_id: row.event for row in load_adjudications(store, late) if row.outcome != "reopened"} if late else {}
    suggestions = suggestions_for(store, late) if late else {}
    types = extended(types_of(store)).types
    offers = {
        record_id: _offers(records[record_id], events[record_id], decided.get(record_id, 0), types, suggestions.get(record_id, []))
        for record_id in late
    }
    return {record_id: found for record_id, found in offers.items() if found}


def _offers(
    record: Record, events: Sequence[AnnotationEvent], decided: int, types: Container[str], suggestions: Sequence[Suggestion]
) -> list[StaleOffer]:
    offers = []
    for annotator in sorted({event.actor for event in events if event.kind == STALE and event.event > decided}):
        own = [event for event in events if event.owner == annotator]
        history = replayed_history(document_of(record), own)
        for group in _grouped([event for event in own if event.kind == STALE and event.event > decided]):
            offer = _offer(history, group, types, suggestions)
            if offer is not None and _changes(offer, history.state):
                offers.append(offer)
    return sorted(offers, key=lambda offer: offer.events[0])


def _changes(offer: StaleOffer, now: State) -> bool:
    """Return whether the offer changes the document, or both tabs have a verdict and these differ.

    While the newest document is open, the annotator can still give the verdict in the newer tab.
    """
    return offer.merged != now.document or ("open" not in {offer.verdict, now.verdict} and offer.verdict != now.verdict)


def _grouped(events: Sequence[AnnotationEvent]) -> list[list[AnnotationEvent]]:
    """Group the edits into runs of one tab, in which each edit was made on the result of the one before."""
    groups: list[list[AnnotationEvent]] = []
    for event in sorted(events, key=lambda event: (event.client or "", event.event)):
        last = groups[-1][-1] if groups else None
        if last is not None and last.client == event.client and event.entry["base"] == last.entry["base"] + 1:
            groups[-1].append(event)
        else:
            groups.append([event])
    return groups


def _offer(
    history: EditHistory, group: Sequence[AnnotationEvent], types: Container[str], suggestions: Sequence[Suggestion]
) -> StaleOffer | None:
    base = group[0].entry["base"]
    if not isinstance(base, int) or not 0 <= base <= history.version:
        return None  # the base is not a version of this history
    before = history.state_at(base)
    # A verdict from before these edits is not theirs.
    state, left_out = _redone(replace(before, verdict="open", reason=""), group, history.base, types, suggestions)
    merged = merge_documents(before.document, history.state.document, state.document)
    return StaleOffer(
        annotator=group[0].actor,
        at=group[-1].at,
        events=tuple(event.event for event in group),
        merged=merged.document,
        conflicts=merged.conflicts,
        left_out=left_out,
        verdict=state.verdict,
        reason=state.reason,
        flag=state.flag,
        finished=history.state.verdict != "open",
    )


def _redone(
    state: State, group: Sequence[AnnotationEvent], base: EditedDocument, types: Container[str], suggestions: Sequence[Suggestion]
) -> tuple[State, int]:
    left_out = 0
    for event in group:
        try:
            operation = parse_operation(event.entry["operation"])
            if isinstance(operation, Undo | Redo | Revert):
                left_out += 1  # they refer to the tab's own history, which does not exist here
            else:
                state = apply(state, operation, base, types, suggestions)
        except Refusal:
            left_out += 1
    return state, left_out


@dataclass(frozen=True, slots=True, kw_only=True)
class PersonsVersion:
    """The version of *annotator*. ``version`` is the number of their edits, ``event`` the log number of the last one."""

    annotator: str
    version: int
    state: State
    changed_at: str
    guideline: int | None
    event: int

    @property
    def finished(self) -> bool:
        """Whether the annotator has accepted or rejected the record."""
        return self.state.verdict != "open"


@dataclass(frozen=True, slots=True, kw_only=True)
class SideBySide:
    """A record before annotation (``base``), all versions of it, and the earlier decisions on it."""

    item: AnnotationItem
    base: Record
    versions: tuple[PersonsVersion, ...]
    stale: tuple[StaleOffer, ...]
    decisions: tuple[Adjudication, ...]

    @property
    def accepted(self) -> tuple[PersonsVersion, ...]:
        """The versions that are accepted."""
        return tuple(version for version in self.versions if version.state.verdict == "accepted")


def side_by_side(store: Store, record_id: str) -> SideBySide:
    """Load all versions of *record_id*; raises ``UsageError`` if it is not in the work list or was deleted."""
    item = find_item(store, record_id)
    base = base_records(store, [record_id]).get(record_id)
    if item is None or base is None:
        raise UsageError("this record is not in the work list any more", where=f"record {record_id}", remedy="Go on with the next one")
    versions = versions_of(store, [record_id]).get(record_id, [])
    return SideBySide(
        item=item,
        base=base,
        versions=tuple(versions),
        stale=tuple(stale_offers(store, {record_id: base}).get(record_id, ())),
        decisions=tuple(load_adjudications(store, [record_id])),
    )


def versions_of(store: Store, record_ids: Sequence[str]) -> dict[str, list[PersonsVersion]]:
    """Return the versions by record id, sorted by annotator; records without versions are left out."""
    found: dict[str, list[PersonsVersion]] = {}
    for row in load_documents(store, record_ids=record_ids):
        version = PersonsVersion(
            annotator=row.annotator,
            version=row.version,
            state=State.from_json(row.state),
            changed_at=row.changed_at,
            guideline=row.guideline,
            event=row.event,
        )
        found.setdefault(row.record_id, []).append(version)
    return found


# A word may be as long as a line where a script puts no blanks between words.
_LONGEST_WORD = 30


@dataclass(slots=True)
class Differing:
    """The differences of one version from the others: ids of spans, and (start, end) of whole words, in text order.

    An empty range marks a place where another version has additional words. ``lacking`` has the ranges of the context where
    another version has a span and this one has none.
    """

    spans: set[str] = field(default_factory=set)
    context: list[Range] = field(default_factory=list)
    question: list[Range] = field(default_factory=list)
    lacking: list[Range] = field(default_factory=list)


def differing(versions: Mapping[str, EditedDocument]) -> dict[str, Differing]:
    """Return, for each of *versions* (by name), where it differs from any other version."""
    found = {name: Differing() for name in versions}
    for one, other in combinations(versions, 2):
        _note(versions[one], versions[other], found[one], found[other])
    for name, own in found.items():
        own.context = _merged(versions[name].context, own.context)
        own.question = _merged(versions[name].question or "", own.question)
        own.lacking = sorted(set(own.lacking))
    return found


def _note(a: EditedDocument, b: EditedDocument, of_a: Differing, of_b: Differing) -> None:
    lonely: dict[str, list[SpanMark]] = {"only_left": [], "only_right": []}
    for difference in differences_between(a, b):
        left, right = difference.left, difference.right
        of_a.spans |= {left.id} if left else set()
        of_b.spans |= {right.id} if right else set()
        if (mark := left or right) is not None and difference.kind in lonely:
            lonely[difference.kind].append(mark)
        elif difference.kind == "text":
            _add(difference, (a.context, of_a.context), (b.context, of_b.context))
        elif difference.kind == "question":
            _add(difference, (a.question or "", of_a.question), (b.question or "", of_b.question))
    of_b.lacking += _places(lonely["only_left"], a, b)
    of_a.lacking += _places(lonely["only_right"], b, a)


def _places(marks: list[SpanMark], theirs: EditedDocument, mine: EditedDocument) -> list[Range]:
    """Return the ranges of *marks* of *theirs* in the text of *mine*; marks whose text is gone are left out."""
    edits: list[TextEdit] = edits_between(theirs.context, mine.context) if marks else []
    return [(mark.start, mark.end) for mark in realigned_through(marks, edits)]


def _add(difference: Difference, left: tuple[str, list[Range]], right: tuple[str, list[Range]]) -> None:
    """Add a difference to the ranges of both sides, extended to whole words.

    *left* and *right* are (text, list to extend). Both sides are extended by the same number of letters, so that a word that only
    got longer is highlighted as a whole on both sides.
    """
    if difference.left_range is None or difference.right_range is None:
        return
    sides = ((left[0], difference.left_range), (right[0], difference.right_range))
    before = max(_letters_before(text, start, text[start : start + 1]) for text, (start, _) in sides)
    behind = max(_letters_behind(text, end, text[end - 1 : end] if end else "") for text, (_, end) in sides)
    for (text, (start, end)), ranges in zip(sides, (left[1], right[1]), strict=True):
        ranges.append((max(0, start - before), min(len(text), end + behind)))


def _letters_before(text: str, at: int, behind: str) -> int:
    """Count the letters before *at* that belong to the same word as the character *behind*; at most ``_LONGEST_WORD``."""
    first = at
    while behind.isalnum() and first > 0 and at - first < _LONGEST_WORD and text[first - 1].isalnum():
        first -= 1
    return at - first


def _letters_behind(text: str, at: int, before: str) -> int:
    """Count the letters from *at* on that belong to the same word as the character *before*; at most ``_LONGEST_WORD``."""
    last = at
    while before.isalnum() and last < len(text) and last - at < _LONGEST_WORD and text[last].isalnum():
        last += 1
    return last - at


def _merged(text: str, ranges: Iterable[Range]) -> list[Range]:
    """Sort *ranges*, join those that are separated only by white space, and make ranges of only white space empty."""
    merged: list[Range] = []
    for start, end in sorted(ranges):
        if merged and not text[merged[-1][1] : start].strip():
            merged[-1] = (merged[-1][0], max(end, merged[-1][1]))
        else:
            merged.append((start, end))
    return [(start, end if text[start:end].strip() else start) for start, end in merged]


# Two people's spans are equal if these are equal: start, end, type, relevance.
SpanKey = tuple[int, int, str, str | None]


@dataclass(frozen=True, slots=True, kw_only=True)
class SpanChoice:
    """One mention and each person's span for it (``options``), as offsets of the chosen text; None for people who have no span.

    ``agreed``: all have it, with the same ends and labels. ``number`` counts from 0 in text order; ``key`` identifies the mention
    and does not depend on the chosen text. A span is in doubt if its text differs in the chosen text.
    """

    number: int
    key: str
    options: dict[str, SpanMark | None]
    agreed: bool

    @property
    def variants(self) -> dict[SpanKey | None, list[str]]:
        """The people by variant of the span, most frequent variant first; the key None is for people without a span."""
        found: dict[SpanKey | None, list[str]] = {}
        for name, mark in self.options.items():
            found.setdefault(None if mark is None else span_key(mark), []).append(name)
        return dict(sorted(found.items(), key=lambda way: -len(way[1])))


@dataclass(frozen=True, slots=True, kw_only=True)
class SpanChoices:
    """All choices on the text of ``text_from``. ``unfit`` has, by person, the spans whose text does not occur in it."""

    versions: Mapping[str, EditedDocument]
    text_from: str
    choices: tuple[SpanChoice, ...]
    unfit: dict[str, list[SpanMark]]


def span_choices(versions: Mapping[str, EditedDocument], text_from: str) -> SpanChoices:
    """Collect all mentions that occur in any of *versions* (by person), in text order.

    Offsets refer to the text of the person *text_from*. Raises ``UsageError`` if that person has no version.
    """
    if text_from not in versions:
        raise _no_such_version()
    text, people = versions[text_from].context, list(versions)
    marks = [realigned_through(versions[name].marks, edits_between(versions[name].context, text)) for name in people]
    spans = spans_table([compared_spans(own) for own in marks])
    pairs = list(combinations(range(len(people)), 2))
    label = mention_of(spans, match(spans, [one for one, _ in pairs], [other for _, other in pairs]))
    groups: dict[int, dict[str, SpanMark | None]] = {}
    for row, mention in enumerate(label.tolist()):
        document = int(spans.document[row])
        options = groups.setdefault(mention, dict.fromkeys(people))
        mark = marks[document][row - int(spans.first[document])]
        if options[people[document]] is None:
            options[people[document]] = mark
        else:  # a chain of overlaps joined two spans of one person: the second becomes a separate choice
            groups[-1 - row] = {**dict.fromkeys(people), people[document]: mark}
    ordered = sorted(groups.values(), key=lambda options: min(_place(mark) for mark in options.values() if mark is not None))
    return SpanChoices(
        versions=versions,
        text_from=text_from,
        choices=tuple(_choice(number, options) for number, options in enumerate(ordered)),
        unfit={name: lost for name, own in zip(people, marks, strict=True) if (lost := _lost(versions[name], own))},
    )


def picked_spans(among: SpanChoices, picks: Mapping[int, str | None]) -> list[SpanMark]:
    """Return the picked spans in text order; they may overlap.

    *picks* maps the number of a choice to the person whose span is taken, or to None for no span. Choices that all agree on need no
    pick. Raises ``UsageError`` if another choice has no pick, or if the person has no version.
    """
    chosen: list[SpanMark] = []
    for choice in among.choices:
        if choice.number not in picks and not choice.agreed:
            raise UsageError("a span is still open", remedy="Choose a version of each span, or none")
        person = picks.get(choice.number, among.text_from)
        if person is not None and person not in choice.options:
            raise _no_such_version()
        mark = choice.options[person] if person is not None else None
        if mark is not None:
            chosen.append(replace(mark, doubt=False))
    return sorted(chosen, key=_place)


def overlaps(marks: Sequence[SpanMark]) -> list[tuple[SpanMark, SpanMark]]:
    """Return the pairs of neighbors in *marks* (in text order) that overlap."""
    return [(one, other) for one, other in pairwise(marks) if one.end > other.start]


def assembled(among: SpanChoices, *, question_from: str, picks: Mapping[int, str | None]) -> EditedDocument:
    """Build the document from the text of *among*, the question of *question_from* and the picked spans.

    Raises ``UsageError`` if the spans overlap, a pick is missing, or a person has no version.
    """
    if question_from not in among.versions:
        raise _no_such_version()
    chosen = picked_spans(among, picks)
    if overlaps(chosen):
        raise UsageError("two of the spans that were chosen overlap", remedy="Choose one of the two, or none")
    return EditedDocument(
        context=among.versions[among.text_from].context, question=among.versions[question_from].question, marks=_renamed(chosen)
    )


def most_common_owner(values: Mapping[str, object]) -> str:
    """Return the first person who has the most frequent of *values* (by person)."""
    counts = Counter(values.values())
    return max(values, key=lambda name: counts[values[name]])


def span_key(mark: SpanMark) -> SpanKey:
    """Return what makes spans equal: start, end, type, relevance."""
    return mark.start, mark.end, mark.entity_type, mark.relevance


def _choice(number: int, options: dict[str, SpanMark | None]) -> SpanChoice:
    name, mark = next((name, mark) for name, mark in options.items() if mark is not None)
    marks = [mark for mark in options.values() if mark is not None]
    agreed = len(marks) == len(options) and len({span_key(mark) for mark in marks}) == 1
    return SpanChoice(number=number, key=f"{name}-{mark.id}", options=options, agreed=agreed)


def _lost(version: EditedDocument, moved: Sequence[SpanMark]) -> list[SpanMark]:
    kept = {mark.id for mark in moved}
    return [mark for mark in version.marks if mark.id not in kept]


def _renamed(marks: Sequence[SpanMark]) -> tuple[SpanMark, ...]:
    """Make the ids of *marks* unique, since two people may have used the same id for different spans."""
    taken: set[str] = set()
    found = []
    for mark in marks:
        name, number = mark.id, 1
        while name in taken:
            number += 1
            name = f"{mark.id}-{number}"
        taken.add(name)
        found.append(replace(mark, id=name))
    return tuple(found)


def _place(mark: SpanMark) -> tuple[int, int]:
    return mark.start, mark.end


def _no_such_version() -> UsageError:
    return UsageError("this person has no version of the record", remedy="Choose another version")
