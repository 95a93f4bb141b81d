"""What people made of one record, side by side: the differences, and the spans to choose from one by one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations, pairwise

from annotation_app.adjudication.stale_edits import StaleOffer, stale_offers
from annotation_app.agreement.matching import match
from annotation_app.agreement.pairing import placed
from annotation_app.agreement.spans_table import spans_table
from annotation_app.agreement.units import mention_of
from annotation_app.documents.differences import Difference, compare
from annotation_app.documents.document import Document, Mark, State, document_of
from annotation_app.documents.realigning import realigned_through
from annotation_app.documents.text_edits import edits_between
from corpus.record import Record
from corpus.store.adjudications import Adjudication, load_adjudications
from corpus.store.annotation_documents import load_documents
from corpus.store.annotation_items import Item, base_records, find_item
from corpus.store.database import Store
from foundation.errors import UsageError


@dataclass(frozen=True, slots=True, kw_only=True)
class Version:
    """What *annotator* has made of the record; ``version`` counts his edits."""

    annotator: str
    version: int
    state: State
    changed_at: str
    guideline: int | None
    event: int

    @property
    def finished(self) -> bool:
        """Whether he has accepted or rejected the record."""
        return self.state.verdict != "open"


@dataclass(frozen=True, slots=True, kw_only=True)
class SideBySide:
    """A record as the work began, all that people made of it (by name), and what was decided on it before.

    ``differences`` lie between each two finished versions that were accepted, ``changes`` between the record and each version.
    """

    item: Item
    base: Record
    versions: tuple[Version, ...]
    differences: dict[tuple[str, str], list[Difference]]
    changes: dict[str, list[Difference]]
    stale: tuple[StaleOffer, ...]
    decisions: tuple[Adjudication, ...]

    @property
    def finished(self) -> tuple[Version, ...]:
        """The versions that are accepted or rejected."""
        return tuple(version for version in self.versions if version.finished)

    @property
    def accepted(self) -> tuple[Version, ...]:
        """The versions that are accepted."""
        return tuple(version for version in self.versions if version.state.verdict == "accepted")

    def version_of(self, annotator: str) -> Version:
        """The version of one person; ``UsageError`` when there is none."""
        for version in self.versions:
            if version.annotator == annotator:
                return version
        raise UsageError("this person has no version of the record", where=f"record {self.base.id}", remedy="Choose another version")


@dataclass(frozen=True, slots=True, kw_only=True)
class Choice:
    """One mention: the span that each person has for it, as offsets of the chosen text; None for those who have none.

    ``agreed``: all have it, with the same ends and labels. ``number`` counts from 0 in text order.
    """

    number: int
    options: dict[str, Mark | None]
    agreed: bool


def side_by_side(store: Store, record_id: str) -> SideBySide:
    """Lay out *record_id*; ``UsageError`` when it is not in the work list or was deleted."""
    item = find_item(store, record_id)
    base = base_records(store, [record_id]).get(record_id)
    if item is None or base is None:
        raise UsageError("this record is not in the work list any more", where=f"record {record_id}", remedy="Go on with the next one")
    versions = versions_of(store, [record_id]).get(record_id, [])
    accepted = [version for version in versions if version.state.verdict == "accepted"]
    start = document_of(base)
    return SideBySide(
        item=item,
        base=base,
        versions=tuple(versions),
        differences={
            (one.annotator, other.annotator): compare(one.state.document, other.state.document) for one, other in combinations(accepted, 2)
        },
        changes={version.annotator: compare(start, version.state.document) for version in versions},
        stale=tuple(stale_offers(store, base)),
        decisions=tuple(load_adjudications(store, [record_id])),
    )


def versions_of(store: Store, record_ids: Sequence[str]) -> dict[str, list[Version]]:
    """The versions of each record that has any, by name of the person."""
    found: dict[str, list[Version]] = {}
    for row in load_documents(store, record_ids=record_ids):
        version = Version(
            annotator=row.annotator,
            version=row.version,
            state=State.from_json(row.state),
            changed_at=row.changed_at,
            guideline=row.guideline,
            event=row.event,
        )
        found.setdefault(row.record_id, []).append(version)
    return found


def choices(versions: Mapping[str, Document], text_from: str) -> list[Choice]:
    """The mentions that any of *versions* (by person) marks, on the text of the person *text_from*, in text order.

    A span whose text is not there in the chosen text cannot be chosen and is left out.
    """
    text = versions[text_from].context
    people = list(versions)
    marks = [realigned_through(versions[name].marks, edits_between(versions[name].context, text)) for name in people]
    table = spans_table([placed(own) for own in marks])
    pairs = list(combinations(range(len(people)), 2))
    label = mention_of(table, match(table, [one for one, _ in pairs], [other for _, other in pairs]))
    groups: dict[int, dict[str, Mark | None]] = {}
    for row, mention in enumerate(label.tolist()):
        document = int(table.document[row])
        options = groups.setdefault(mention, dict.fromkeys(people))
        mark = marks[document][row - int(table.first[document])]
        if options[people[document]] is None:
            options[people[document]] = mark
        else:  # a chain of overlaps: the second span of one person is a choice of its own
            groups[-1 - row] = {**dict.fromkeys(people), people[document]: mark}
    ordered = sorted(groups.values(), key=lambda options: min(_place(mark) for mark in options.values() if mark is not None))
    return [Choice(number=number, options=options, agreed=_same(list(options.values()))) for number, options in enumerate(ordered)]


def assembled(versions: Mapping[str, Document], *, text_from: str, question_from: str, picks: Mapping[int, str | None]) -> Document:
    """The document with the text and the question of those people and, of each choice, the span of the person picked (None: no span).

    Choices that all agree on need no pick. ``UsageError`` when one that is open has none, or when spans picked overlap.
    """
    if not {text_from, question_from} <= versions.keys():
        raise UsageError("this person has no version of the record", remedy="Choose another version")
    chosen: list[Mark] = []
    for choice in choices(versions, text_from):
        if choice.number not in picks and not choice.agreed:
            raise UsageError("a span is still open", remedy="Choose a version of each span, or none")
        person = picks.get(choice.number, text_from)
        mark = choice.options.get(person) if person is not None else None
        if person is not None and person not in choice.options:
            raise UsageError("this person has no version of the record", remedy="Choose another version")
        if mark is not None:
            chosen.append(replace(mark, doubt=False))
    chosen.sort(key=_place)
    if any(one.end > other.start for one, other in pairwise(chosen)):
        raise UsageError("two of the spans that were chosen overlap", remedy="Choose one of the two, or none")
    return Document(context=versions[text_from].context, question=versions[question_from].question, marks=_renamed(chosen))


def _renamed(marks: Sequence[Mark]) -> tuple[Mark, ...]:
    """The marks with ids that are unique: two people may have used one for different spans."""
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


def _same(options: Sequence[Mark | None]) -> bool:
    marks = [mark for mark in options if mark is not None]
    return len(marks) == len(options) and len(set(placed(marks))) == 1


def _place(mark: Mark) -> tuple[int, int]:
    return mark.start, mark.end
