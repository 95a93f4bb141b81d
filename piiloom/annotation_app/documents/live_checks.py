"""Hints on a document while a person edits it, each with the operation that fixes the problem where one is known.

They are computed after each edit: span boundaries, missing spans, values that do not fit their type, questions that give values away.
"""

from __future__ import annotations

import re
from bisect import bisect_right, insort
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Literal

from piiloom.annotation_app.documents.check_facts import CODE_KINDS, identifiers_in, oddity, places_of_value, searchable, stems_in, stems_of
from piiloom.annotation_app.documents.document import EditedDocument, SpanMark
from piiloom.corpus.mention_search import stands_alone
from piiloom.corpus.normalising import extends, is_zero_width, trim
from piiloom.foundation.words import STOP_WORDS, Range
from piiloom.taxonomy.entity_types import EntityType

Field = Literal["context", "question"]


@dataclass(frozen=True, slots=True, kw_only=True)
class LiveCheck:
    """A hint on the spans with the ids ``spans`` and on the half-open code point ``ranges`` of ``field``.

    ``fix`` is an operation of ``piiloom.annotation_app.documents`` in JSON form, ``fix_label`` the label of its button. Both are None if a
    person has to decide. The sentence never quotes the text: the ranges show it.
    """

    code: str
    sentence: str
    field: Field = "context"
    spans: tuple[str, ...] = ()
    ranges: tuple[Range, ...] = ()
    fix: Mapping[str, Any] | None = None
    fix_label: str | None = None


# Scripts without blanks between words, or with particles joined to words: a span may start or end between two of their letters.
_RUN_ON = re.compile(
    "[\u0590-\u06ff\u0750-\u077f\u08a0-\u08ff\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]"
)
# How many characters to search for the end of a word that a span cuts. No word that a person would mark is longer.
_FAR = 60


def corrected_range(text: str, start: int, end: int) -> Range:
    """Return the corrected range of the mention ``text[start:end]``: no outer blanks, whole words, whole graphemes.

    Returns (start, end) if nothing is wrong with it, and an empty range if it holds only blanks.
    """
    start, end = trim(text, start, end)
    if start == end:
        return start, end
    # The start and end of the whole text never cut a word, so each side can be tested alone.
    for earlier in range(start, max(-1, start - _FAR), -1):
        if stands_alone(text, earlier, len(text)) or _may_cut(text, earlier):
            start = earlier
            break
    for later in range(end, min(len(text), end + _FAR) + 1):
        if not is_zero_width(text[later - 1]) and (stands_alone(text, 0, later) or _may_cut(text, later)):
            end = later
            break
    return start, end


def _may_cut(text: str, at: int) -> bool:
    """Return whether *at* lies between two letters of a script in which a span may end there."""
    inside = 0 < at < len(text)
    return inside and not extends(text[at]) and bool(_RUN_ON.match(text[at]) and _RUN_ON.match(text[at - 1]))


def _check(spans: Sequence[SpanMark], place: int, better: Range) -> LiveCheck:
    span = spans[place]
    fix: dict[str, Any] | None
    if better[0] == better[1]:
        code, sentence = "span.blank", "This span holds nothing but blanks."
        fix, label = {"op": "remove", "id": span.id}, "remove it"
    else:
        inside = span.start <= better[0] and better[1] <= span.end
        code = "span.outer_blank" if inside else "span.cuts_word"
        sentence = "This span begins or ends with a blank." if inside else "This span begins or ends inside a word or a character."
        fix, label = {"op": "move", "id": span.id, "start": better[0], "end": better[1]}, "move its ends"
        room_before = place == 0 or spans[place - 1].end <= better[0]
        if not (room_before and (place + 1 == len(spans) or better[1] <= spans[place + 1].start)):
            fix = None
    return LiveCheck(
        code=code,
        sentence=sentence,
        spans=(span.id,),
        ranges=((span.start, span.end),),
        fix=fix,
        fix_label=label if fix else None,
    )


_IDENTIFIER_TYPE = "code"


def identifier_checks(document: EditedDocument, region: str | None, known: Collection[str]) -> Iterator[LiveCheck]:
    """Yield a check for each identifier (e-mail address, card number …) that no span covers. *region* is a country code.

    The fix adds a span, or widens the only span inside the identifier. An added span has low relevance if any span of the document has a
    relevance, since a question hardly ever depends on such a number. *known* are the names of the types in use.
    """
    done = 0
    for kind, place in identifiers_in(document.context, region):
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
        yield LiveCheck(
            code=f"unmarked.{kind}",
            sentence=f"Here stands {CODE_KINDS.get(kind, 'a web address')} that is not marked{' as a whole' if touched else ''}.",
            spans=tuple(span.id for span in touched),
            ranges=(place,),
            fix=fix,
            fix_label=label,
        )


def repeat_checks(document: EditedDocument) -> Iterator[LiveCheck]:
    """Yield a check for each marked value that also occurs unmarked. The fix marks all those places.

    The new spans get the most frequent type and relevance of the value's spans. A place inside another span, or inside an unmarked mention
    of a longer value, is skipped. So are single characters, numbers below three digits and function words: they occur in most texts with
    another meaning.
    """
    spellings: dict[str, list[SpanMark]] = {}
    for span in document.marks:
        spellings.setdefault(document.context[span.start : span.end], []).append(span)
    taken: list[Range] = []
    for text, spans in sorted(spellings.items(), key=lambda held: -len(held[0])):
        if not _is_telling(text):
            continue
        missed = [
            place for place in places_of_value(document.context, text) if not touching(document.marks, place) and not _meets(taken, place)
        ]
        if missed:
            for place in missed:
                insort(taken, place)
            yield _repeat(document, spans, missed)


def touching(spans: Sequence[SpanMark], place: Range) -> list[SpanMark]:
    """Return those of *spans* (sorted, disjoint) that share a character with *place*."""
    at = bisect_right(spans, place[0], key=lambda span: span.end)
    found: list[SpanMark] = []
    while at < len(spans) and spans[at].start < place[1]:
        found.append(spans[at])
        at += 1
    return found


def _repeat(document: EditedDocument, spans: Sequence[SpanMark], missed: Sequence[Range]) -> LiveCheck:
    (entity_type, relevance), _ = Counter((span.entity_type, span.relevance) for span in spans).most_common(1)[0]
    used = {span.id for span in document.marks}
    adds = [_add(place, entity_type, relevance, used) for place in missed]
    count = len(missed)
    where = "in one more place" if count == 1 else f"in {count} more places"
    return LiveCheck(
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


def _is_covered(document: EditedDocument, place: Range) -> bool:
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


def question_checks(
    document: EditedDocument, region: str | None, types: Mapping[str, EntityType], pair: Collection[str] | None
) -> Iterator[LiveCheck]:
    """Yield the hints on the question of *document*; none if it has no question.

    Their codes are those of ``piiloom.screening.gates`` (each check has all its places), ``question.empty`` and
    ``question.identifier``. *region* is the country code of the locale, which decides what is a telephone number. *pair* are the planned
    types, which the question must not name. If it is None, the types of the spans of high relevance are used.
    """
    if document.question is None:
        return
    if not document.question.strip():
        yield LiveCheck(code="question.empty", sentence="The question is empty.", field="question")
        return
    yield from _values(document, document.question)
    yield from _content_words(document, document.question)
    named = pair if pair is not None else sorted({span.entity_type for span in document.marks if span.relevance == "high"})
    for entity_type in named:
        words = (*sorted(types[entity_type].type_words), entity_type) if entity_type in types else (entity_type,)
        found = tuple(place for hit in _any_word(words).finditer(document.question) if (place := hit.span()))
        if found:
            sentence = f"The question names the type {entity_type}, which it should leave to the text."
            yield LiveCheck(code="question.type_word", sentence=sentence, field="question", ranges=found)
    for kind, place in identifiers_in(document.question, region):
        sentence = f"The question holds {CODE_KINDS.get(kind, 'a web address')}."
        yield LiveCheck(code="question.identifier", sentence=sentence, field="question", ranges=(place,))


def _values(document: EditedDocument, question: str) -> Iterator[LiveCheck]:
    seen: dict[tuple[Range, ...], list[str]] = {}
    spellings: dict[str, list[str]] = {}
    for span in document.marks:
        text = document.context[span.start : span.end]
        if text.casefold() not in STOP_WORDS:  # "I" marked as a name
            spellings.setdefault(text, []).append(span.id)
    for text, ids in spellings.items():
        places = tuple(place for place in searchable(question).occurrences(text) if place is not None)
        if places:
            seen.setdefault(places, []).extend(ids)
    for places, ids in seen.items():
        sentence = "The question repeats a marked value: whoever reads it learns the value without the text."
        yield LiveCheck(code="question.value", sentence=sentence, field="question", spans=tuple(ids), ranges=places)


def _content_words(document: EditedDocument, question: str) -> Iterator[LiveCheck]:
    stems = stems_in(question)
    mine = {stem for stem, _ in stems}
    giving: dict[str, list[str]] = {}
    for span in document.marks:
        if span.relevance == "high":
            text = document.context[span.start : span.end]
            if any(place is not None for place in searchable(question).occurrences(text)):
                continue  # already reported as a whole value
            for stem in sorted(mine & stems_of(text)):
                giving.setdefault(stem, []).append(span.id)
    for stem, ids in giving.items():
        places = tuple(place for held, place in stems if held == stem)
        sentence = "The question shares a word with a span of high relevance."
        yield LiveCheck(code="question.content_word", sentence=sentence, field="question", spans=tuple(ids), ranges=places)


@lru_cache(maxsize=256)
def _any_word(words: tuple[str, ...]) -> re.Pattern[str]:
    return re.compile(rf"(?<!\w)(?:{'|'.join(re.escape(word) for word in words)})(?!\w)", re.IGNORECASE)


def live_checks(
    document: EditedDocument, locale: str, types: Mapping[str, EntityType], *, pair: Collection[str] | None = None
) -> list[LiveCheck]:
    """Return all hints on *document*: first those on the question, then those on the context in text order.

    *locale* is a code such as ``en_US``. *types* are the taxonomy's types by name. *pair* are the planned types, if the record has a plan
    (see ``question_checks``).
    """
    region = locale.partition("_")[2] or None
    found = [
        *_span_checks(document, region, types),
        *identifier_checks(document, region, types),
        *repeat_checks(document),
    ]
    found.sort(key=lambda one: one.ranges[0])
    return [*question_checks(document, region, types, pair), *found]


def _span_checks(document: EditedDocument, region: str | None, types: Mapping[str, EntityType]) -> Iterator[LiveCheck]:
    """Yield a check for each span that is in doubt, has outer blanks or cuts a word or grapheme, or does not fit its type.

    The fix of the ends moves them, unless a neighboring span is in the way. A span of nothing but blanks is removed.
    """
    for place, span in enumerate(document.marks):
        at: dict[str, Any] = {"spans": (span.id,), "ranges": ((span.start, span.end),)}
        if span.doubt:
            sentence = "The text of this span has changed: confirm it, move it or remove it."
            yield LiveCheck(code="span.doubt", sentence=sentence, fix={"op": "confirm", "id": span.id}, fix_label="confirm it", **at)
        better = corrected_range(document.context, span.start, span.end)
        if better != (span.start, span.end):
            yield _check(document.marks, place, better)
        odd = oddity(document.context[span.start : span.end].strip(), span.entity_type, span.subtype, region, types)
        if odd is not None:
            fix = {"op": "type", "id": span.id, "type": odd.better} if odd.better else None
            yield LiveCheck(code=odd.code, sentence=odd.sentence, fix=fix, fix_label=f"make it {odd.better}" if fix else None, **at)
