"""What every tool of ``annotation_peers`` is given: real records, and for each the same five edits."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

from piiloom.corpus.record import Record, Relevance, Span
from piiloom.taxonomy.entity_types import shipped_taxonomy

FAMILY = "\U0001f468\u200d\U0001f469\u200d\U0001f467\u200d\U0001f466"
# What is put before a record's text to see whether offsets survive it.
PREFIXES = {
    "emoji": f"{FAMILY} Hi \U0001f600! ",
    "CRLF": "Dear all,\r\n\r\nplease read this:\r\n",
}
TYPES = tuple(shipped_taxonomy().types)
EDITS = ("flip", "type", "end", "add", "remove")
_WORD = re.compile(r"[A-Za-z]{5,}")
_NEXT_WORD = re.compile(r" [A-Za-z]+(?= [A-Za-z])")


@dataclass(frozen=True, order=True)
class Mark:
    """One span, in code points."""

    start: int
    end: int
    entity_type: str
    relevance: Relevance


@dataclass(frozen=True)
class Change:
    """One edit: the span before it (None when it is added), and after it (None when it is removed)."""

    kind: str
    before: Mark | None
    after: Mark | None


@dataclass(frozen=True)
class Story:
    """A record, its spans, and what is to be done to it. ``hard`` names the prefix that its text was given."""

    name: str
    context: str
    question: str
    marks: tuple[Mark, ...]
    changes: tuple[Change, ...]
    hard: str = ""

    @property
    def wanted(self) -> list[Mark]:
        """The spans when everything has been done."""
        gone = {change.before for change in self.changes}
        return sorted([mark for mark in self.marks if mark not in gone] + [change.after for change in self.changes if change.after])

    def text(self, mark: Mark) -> str:
        """What *mark* marks."""
        return self.context[mark.start : mark.end]


def stories(records: Iterable[Record], count: int) -> list[Story]:
    """The first *count* records in which each of the edits can be made, each to a span of its own."""
    found: list[Story] = []
    for record in records:
        story = _story(record, len(found))
        if story is not None:
            found.append(story)
        if len(found) == count:
            break
    return found


def hardened(story: Story, hard: str) -> Story:
    """The same with the prefix *hard* before its text."""
    by = len(PREFIXES[hard])
    changes = tuple(Change(one.kind, _shifted(one.before, by), _shifted(one.after, by)) for one in story.changes)
    marks = tuple(replace(mark, start=mark.start + by, end=mark.end + by) for mark in story.marks)
    return replace(story, name=f"{story.name}-{hard}", context=PREFIXES[hard] + story.context, marks=marks, changes=changes, hard=hard)


def _shifted(mark: Mark | None, by: int) -> Mark | None:
    return None if mark is None else replace(mark, start=mark.start + by, end=mark.end + by)


def _story(record: Record, number: int) -> Story | None:
    marks = tuple(_mark(span) for span in record.spans)
    growing = next(((mark, end) for mark in marks for end in _ends_further(record.context, mark, marks)), None)
    others = [mark for mark in marks if growing and mark is not growing[0]]
    fresh = _missing(record.context, marks, growing[1] if growing else 0, TYPES[(4 * number + 3) % len(TYPES)])
    if growing is None or len(others) < 3 or fresh is None or any(mark.relevance is None for mark in marks):
        return None
    flipped, retyped, removed = others[0], others[1], others[-1]
    changes = (
        Change("flip", flipped, replace(flipped, relevance="low" if flipped.relevance == "high" else "high")),
        Change("type", retyped, replace(retyped, entity_type=TYPES[(TYPES.index(retyped.entity_type) + 1 + number) % len(TYPES)])),
        Change("end", growing[0], replace(growing[0], end=growing[1])),
        Change("add", None, fresh),
        Change("remove", removed, None),
    )
    return Story(f"r{number:02d}", record.context, record.question or "", marks, changes)


def _mark(span: Span) -> Mark:
    return Mark(span.start, span.end, span.entity_type, span.relevance or "low")


def _ends_further(context: str, mark: Mark, marks: Iterable[Mark]) -> Iterator[int]:
    """Where *mark* would end with the next word in it, if only a blank lies between and nobody else has that word."""
    word = _NEXT_WORD.match(context, mark.end)
    if word and not any(other.start < word.end() + 1 and mark.end <= other.start for other in marks):
        yield word.end()


def _missing(context: str, marks: Iterable[Mark], taken_to: int, entity_type: str) -> Mark | None:
    """The last longer word that nobody has marked, with other words around it; it stands only once in the text."""
    for word in reversed(list(_WORD.finditer(context))):
        clear = all(word.end() + 1 < mark.start or mark.end + 1 < word.start() for mark in marks)
        between = context[word.start() - 1 : word.start()] == " " and context[word.end() : word.end() + 1] == " "
        if clear and between and word.start() > taken_to and len(re.findall(word[0], context, re.IGNORECASE)) == 1:
            return Mark(word.start(), word.end(), entity_type, "high")
    return None
