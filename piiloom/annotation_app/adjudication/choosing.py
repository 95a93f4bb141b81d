"""Combine several versions into one document: one person's text, one person's question, and each span from any person."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations, pairwise

from piiloom.annotation_app.agreement.matching import match, mention_of
from piiloom.annotation_app.agreement.spans import placed, spans_table
from piiloom.annotation_app.documents.document import Document, Mark
from piiloom.annotation_app.documents.realigning import realigned_through
from piiloom.annotation_app.documents.text_edits import edits_between
from piiloom.foundation.errors import UsageError

# Two people's spans are equal if these are equal: start, end, type, relevance.
SpanKey = tuple[int, int, str, str | None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Choice:
    """One mention and each person's span for it (``options``), as offsets of the chosen text; None for people who have no span.

    ``agreed``: all have it, with the same ends and labels. ``number`` counts from 0 in text order; ``key`` identifies the mention
    and does not depend on the chosen text. A span is in doubt if its text differs in the chosen text.
    """

    number: int
    key: str
    options: dict[str, Mark | None]
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

    versions: Mapping[str, Document]
    text_from: str
    choices: tuple[Choice, ...]
    unfit: dict[str, list[Mark]]


def span_choices(versions: Mapping[str, Document], text_from: str) -> SpanChoices:
    """Collect all mentions that occur in any of *versions* (by person), in text order.

    Offsets refer to the text of the person *text_from*. Raises ``UsageError`` if that person has no version.
    """
    if text_from not in versions:
        raise _no_such_version()
    text, people = versions[text_from].context, list(versions)
    marks = [realigned_through(versions[name].marks, edits_between(versions[name].context, text)) for name in people]
    spans = spans_table([placed(own) for own in marks])
    pairs = list(combinations(range(len(people)), 2))
    label = mention_of(spans, match(spans, [one for one, _ in pairs], [other for _, other in pairs]))
    groups: dict[int, dict[str, Mark | None]] = {}
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


def picked_spans(among: SpanChoices, picks: Mapping[int, str | None]) -> list[Mark]:
    """Return the picked spans in text order; they may overlap.

    *picks* maps the number of a choice to the person whose span is taken, or to None for no span. Choices that all agree on need no
    pick. Raises ``UsageError`` if another choice has no pick, or if the person has no version.
    """
    chosen: list[Mark] = []
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


def overlaps(marks: Sequence[Mark]) -> list[tuple[Mark, Mark]]:
    """Return the pairs of neighbors in *marks* (in text order) that overlap."""
    return [(one, other) for one, other in pairwise(marks) if one.end > other.start]


def assembled(among: SpanChoices, *, question_from: str, picks: Mapping[int, str | None]) -> Document:
    """Build the document from the text of *among*, the question of *question_from* and the picked spans.

    Raises ``UsageError`` if the spans overlap, a pick is missing, or a person has no version.
    """
    if question_from not in among.versions:
        raise _no_such_version()
    chosen = picked_spans(among, picks)
    if overlaps(chosen):
        raise UsageError("two of the spans that were chosen overlap", remedy="Choose one of the two, or none")
    return Document(
        context=among.versions[among.text_from].context, question=among.versions[question_from].question, marks=_renamed(chosen)
    )


def most_common(values: Mapping[str, object]) -> str:
    """Return the first person who has the most frequent of *values* (by person)."""
    counts = Counter(values.values())
    return max(values, key=lambda name: counts[values[name]])


def span_key(mark: Mark) -> SpanKey:
    """Return what makes spans equal: start, end, type, relevance."""
    return mark.start, mark.end, mark.entity_type, mark.relevance


def _choice(number: int, options: dict[str, Mark | None]) -> Choice:
    name, mark = next((name, mark) for name, mark in options.items() if mark is not None)
    marks = [mark for mark in options.values() if mark is not None]
    agreed = len(marks) == len(options) and len({span_key(mark) for mark in marks}) == 1
    return Choice(number=number, key=f"{name}-{mark.id}", options=options, agreed=agreed)


def _lost(version: Document, moved: Sequence[Mark]) -> list[Mark]:
    kept = {mark.id for mark in moved}
    return [mark for mark in version.marks if mark.id not in kept]


def _renamed(marks: Sequence[Mark]) -> tuple[Mark, ...]:
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


def _place(mark: Mark) -> tuple[int, int]:
    return mark.start, mark.end


def _no_such_version() -> UsageError:
    return UsageError("this person has no version of the record", remedy="Choose another version")
