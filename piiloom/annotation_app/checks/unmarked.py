"""Checks for missing spans: identifiers that patterns find, and unmarked mentions of values that are marked elsewhere."""

from __future__ import annotations

from bisect import bisect_right, insort
from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from typing import Any

from piiloom.annotation_app.checks.check import Check
from piiloom.annotation_app.checks.shapes import CODE_KINDS
from piiloom.annotation_app.checks.text_facts import facts_of
from piiloom.annotation_app.documents.document import Document, Mark
from piiloom.foundation.words import STOP_WORDS, Range

_IDENTIFIER_TYPE = "code"


def identifier_checks(document: Document, region: str | None, known: Collection[str]) -> Iterator[Check]:
    """Yield a check for each identifier (e-mail address, card number …) that no span covers. *region* is a country code.

    The fix adds a span, or widens the only span inside the identifier. An added span has low relevance if any span of the document has a
    relevance, since a question hardly ever depends on such a number. *known* are the names of the types in use.
    """
    done = 0
    for kind, place in facts_of(document.context).identifiers(region):
        if place[0] < done or _is_covered(document, place):
            continue
        done = place[1]
        touched = touching(document.marks, place)
        fix: dict[str, Any] | None = None
        label = None
        if not touched and _IDENTIFIER_TYPE in known:
            relevance = "low" if any(span.relevance for span in document.marks) else None
            fix, label = _add(place, _IDENTIFIER_TYPE, relevance, {span.id for span in document.marks}), "mark it"
        elif len(touched) == 1 and place[0] <= touched[0].start and touched[0].end <= place[1]:
            fix, label = {"op": "move", "id": touched[0].id, "start": place[0], "end": place[1]}, "widen the span"
        yield Check(
            code=f"unmarked.{kind}",
            sentence=f"Here stands {CODE_KINDS.get(kind, 'a web address')} that is not marked{' as a whole' if touched else ''}.",
            spans=tuple(span.id for span in touched),
            ranges=(place,),
            fix=fix,
            fix_label=label,
        )


def repeat_checks(document: Document) -> Iterator[Check]:
    """Yield a check for each marked value that also occurs unmarked. The fix marks all those places.

    The new spans get the most frequent type and relevance of the value's spans. A place inside another span, or inside an unmarked mention
    of a longer value, is skipped. So are single characters, numbers below three digits and function words: they occur in most texts with
    another meaning.
    """
    facts = facts_of(document.context)
    spellings: dict[str, list[Mark]] = {}
    for span in document.marks:
        spellings.setdefault(document.context[span.start : span.end], []).append(span)
    taken: list[Range] = []
    for text, spans in sorted(spellings.items(), key=lambda held: -len(held[0])):
        if not _is_telling(text):
            continue
        missed = [place for place in facts.mentions(text) if not touching(document.marks, place) and not _meets(taken, place)]
        if missed:
            for place in missed:
                insort(taken, place)
            yield _repeat(document, spans, missed)


def touching(spans: Sequence[Mark], place: Range) -> list[Mark]:
    """Return those of *spans* (sorted, disjoint) that share a character with *place*."""
    at = bisect_right(spans, place[0], key=lambda span: span.end)
    found: list[Mark] = []
    while at < len(spans) and spans[at].start < place[1]:
        found.append(spans[at])
        at += 1
    return found


def _repeat(document: Document, spans: Sequence[Mark], missed: Sequence[Range]) -> Check:
    (entity_type, relevance), _ = Counter((span.entity_type, span.relevance) for span in spans).most_common(1)[0]
    used = {span.id for span in document.marks}
    adds = [_add(place, entity_type, relevance, used) for place in missed]
    count = len(missed)
    where = "in one more place" if count == 1 else f"in {count} more places"
    return Check(
        code="unmarked.repeat",
        sentence=f"This value of the type {entity_type} stands {where} without a mark.",
        spans=tuple(span.id for span in spans),
        ranges=tuple(missed),
        fix=adds[0] if count == 1 else {"op": "many", "operations": adds},
        fix_label="mark it" if count == 1 else f"mark all {count}",
    )


def _add(place: Range, entity_type: str, relevance: str | None, used: set[str]) -> dict[str, Any]:
    # The id is derived from the range, so that a check stays the same while nothing changes. A span that was moved away may still have this
    # id: then a number is appended.
    name, number = f"u-{place[0]}-{place[1]}", 1
    while name in used:
        number += 1
        name = f"u-{place[0]}-{place[1]}-{number}"
    used.add(name)
    return {"op": "add", "span": {"id": name, "start": place[0], "end": place[1], "type": entity_type, "relevance": relevance}}


def _is_covered(document: Document, place: Range) -> bool:
    """Return whether every letter and digit of *place* lies in a span."""
    position, end = place
    for span in touching(document.marks, place):
        if any(c.isalnum() for c in document.context[position : max(position, span.start)]):
            return False
        position = min(span.end, end)
    return not any(c.isalnum() for c in document.context[position:end])


def _is_telling(text: str) -> bool:
    bare = text.strip()
    return len(bare) > 1 and not (bare.isdigit() and len(bare) < 3) and bare.casefold() not in STOP_WORDS


def _meets(taken: Sequence[Range], place: Range) -> bool:
    """Whether *place* shares a character with one of *taken*, which are sorted and disjoint."""
    at = bisect_right(taken, place[0], key=lambda range_: range_[1])
    return at < len(taken) and taken[at][0] < place[1]
