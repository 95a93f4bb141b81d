"""Hints on a document while a person edits it, each with the operation that fixes the problem where one is known.

They are computed after each edit: span boundaries, missing spans, values that do not fit their type, questions that give values away.

The facts that they depend on (words and identifiers of a text, whether a span's text fits its type) are cached, since most edits change
spans and not the text. Only near-certain problems are reported: people soon ignore hints that are often wrong.
"""

from __future__ import annotations

import re
from array import array
from bisect import bisect_right, insort
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from functools import cached_property, lru_cache
from itertools import pairwise
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from stdnum import iban, luhn

from piiloom.annotation_app.documents.document import EditedDocument, SpanMark
from piiloom.corpus.mention_search import SearchableText, stands_alone
from piiloom.corpus.normalising import ComparableText, extends, fold, is_zero_width, trim
from piiloom.foundation.words import STOP_WORDS, WORD, Range
from piiloom.screening.gates import content_stems, stem
from piiloom.screening.identifiers import find_identifiers
from piiloom.taxonomy.entity_types import EntityType

# Ends of the pieces in which identifiers are searched. No identifier crosses the end of a line, or of a sentence before a letter. After an
# edit only the piece that changed is searched again.
_PIECE_END = re.compile(r"[.!?] (?=[^\W\d_])|[\r\n]+")


# Where a text can be split for folding: after white space that is directly followed by a word. The folded pieces joined are the folded
# text.
_SEAM = re.compile(r"(?:[.!?] |[\r\n]+)(?=[^\W\d_])")


class _PiecedText(SearchableText):
    """A searchable text that is folded in cached pieces, so that an edit folds only one piece again. It keeps what was found in it."""

    def __init__(self, text: str) -> None:
        super().__init__(text)
        self.found: dict[str, tuple[Range, ...]] = {}

    @cached_property
    def folded(self) -> ComparableText:
        """What ``fold`` gives for the whole text."""
        seams = [0, *(found.end() for found in _SEAM.finditer(self.text)), len(self.text)]
        pieces = [_folded(self.text[start:end]) for start, end in pairwise(seams)]
        words = [text for text, _ in pieces]
        places = np.concatenate([ranges for _, ranges in pieces], axis=1) + np.repeat(seams[:-1], [len(text) for text in words])
        starts, ends = (array("q", row.tobytes()) for row in places)
        return ComparableText(text="".join(words), starts=starts, ends=ends)


@lru_cache(maxsize=8192)
def _folded(piece: str) -> tuple[str, NDArray[np.int64]]:
    found = fold(piece)
    return found.text, np.array([found.starts, found.ends], dtype=np.int64)


# The text in the form in which values are searched.
searchable = lru_cache(maxsize=64)(_PiecedText)
# The stems of the content words of a span's text.
stems_of = lru_cache(maxsize=8192)(content_stems)


@lru_cache(maxsize=64)
def stems_in(text: str) -> tuple[tuple[str, Range], ...]:
    """Return (stem, range) of each content word, in text order."""
    words = ((found.group().casefold(), found.span()) for found in WORD.finditer(text))
    return tuple((stem(word), place) for word, place in words if word not in STOP_WORDS)


def places_of_value(text: str, value: str) -> tuple[Range, ...]:
    """Return the ranges of all whole-word occurrences that a reader takes for *value*."""
    searched = searchable(text)
    if value not in searched.found:
        searched.found[value] = tuple(searched.mentions(value))
    return searched.found[value]


@lru_cache(maxsize=64)
def identifiers_in(text: str, region: str | None) -> tuple[tuple[str, Range], ...]:
    """Return (kind, range) of what ``piiloom.screening.gates`` finds, in text order. *region* is a country code."""
    seams = [0, *(found.end() for found in _PIECE_END.finditer(text)), len(text)]
    return tuple(
        (kind, (start + first, start + last))
        for start, end in pairwise(seams)
        for kind, (first, last) in _identifiers(text[start:end], region)
    )


@lru_cache(maxsize=8192)
def _identifiers(piece: str, region: str | None) -> tuple[tuple[str, Range], ...]:
    return tuple(sorted(find_identifiers(piece, region), key=lambda hit: (hit[1][0], -hit[1][1])))


@lru_cache(maxsize=8192)
def kind_of(value: str, region: str | None) -> str | None:
    """Return the kind of identifier that *value* is from end to end; None if it is none or only contains one."""
    for kind, place in find_identifiers(value, region):
        if place == (0, len(value)):
            return kind
    return None


CODE_KINDS = {
    "email": "an e-mail address",
    "card": "a card number",
    "iban": "a bank account number (IBAN)",
    "ssn": "a US social security number",
    "ip": "an IP address",
    "phone": "a telephone number",
}
_CODE, _DATETIME, _AGE, _FINANCE = "code", "datetime", "age", "finance"
_CARD_GROUPS = re.compile(r"[3-6]\d{3}(?:([ -])\d{4}\1\d{4}\1\d{4}|([ -])\d{6}\2\d{5})")
_CARD_DIGITS = re.compile(r"[3-6]\d{12,18}")
_IBAN_SHAPE = re.compile(r"[A-Z]{2}\d{2}[A-Z0-9]{11,30}")
_ISO_DATE = re.compile(r"(\d{4})-(\d{2})-(\d{2})")
_MONTH = r"(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Sept|Oct|Nov|Dec)[a-z]*\.?"
_DATE = re.compile(
    rf"\d{{4}}-\d{{2}}-\d{{2}}|\d{{1,2}}([/.])\d{{1,2}}\1(?:19|20)\d{{2}}|{_MONTH} \d{{1,2}},? \d{{4}}|\d{{1,2}} {_MONTH} \d{{4}}"
)
_CLOCK = re.compile(r"\d{1,2}(?::\d{2})? ?[ap]\.?m\.?", re.IGNORECASE)
_AGE_SHAPE = re.compile(r"\d{1,3}[- ]?(?:y/?o|(?:years?|yrs?|months?)[- ]old)", re.IGNORECASE)
_MONEY = re.compile(r"[$£€₹] ?\d[\d.,]*[km]?", re.IGNORECASE)
_NUMBER = re.compile(r"\d+")
_YEAR = re.compile(r"(?:19|20)\d{2}")
_OLDEST = 125
# Types whose values are never a bare number.
_WORDY = frozenset({"name", "belief", "relationship", "sexual orientation", "occupation"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Oddity:
    """Why a text does not look like its type. ``better`` is the type that it does look like, None if none stands out."""

    code: str
    sentence: str
    better: str | None = None


def oddity(text: str, entity_type: str, subtype: str | None, region: str | None, known: Collection[str]) -> Oddity | None:
    """Return what is odd about *text* as a value of *entity_type*, or None.

    *region* is the country code of the locale. A hint whose better type is not in *known* is dropped.
    """
    found = _other_type(text, entity_type, region) or _checksum(text, entity_type, subtype) or _impossible(text, entity_type)
    if found is not None and found.better is not None and found.better not in known:
        return None
    return found


def _other_type(text: str, entity_type: str, region: str | None) -> Oddity | None:
    kind = kind_of(text, region) if entity_type != _CODE else None
    if kind in CODE_KINDS:
        return Oddity(code=f"format.{kind}", sentence=f"This is {CODE_KINDS[kind]}, but its type is {entity_type}.", better=_CODE)
    for pattern, code, what, better in _SHAPES:
        if entity_type != better and pattern.fullmatch(text):
            return Oddity(code=code, sentence=f"This looks like {what}, but its type is {entity_type}.", better=better)
    if entity_type == _AGE and _YEAR.fullmatch(text):
        return Oddity(code="format.date", sentence="This looks like a year, but its type is age.", better=_DATETIME)
    return None


_SHAPES = (
    (_DATE, "format.date", "a date", _DATETIME),
    (_CLOCK, "format.date", "a time of day", _DATETIME),
    (_AGE_SHAPE, "format.age", "an age", _AGE),
    (_MONEY, "format.money", "an amount of money", _FINANCE),
)


def _checksum(text: str, entity_type: str, subtype: str | None) -> Oddity | None:
    if entity_type not in {_CODE, _FINANCE}:
        return None
    card = _CARD_GROUPS.fullmatch(text) or (subtype == "payment_card" and _CARD_DIGITS.fullmatch(text))
    if card and not luhn.is_valid(re.sub(r"\D", "", text)):
        return Oddity(code="checksum.card", sentence="This is shaped like a card number, but its check digit is wrong.")
    number = text.replace(" ", "")
    if _IBAN_SHAPE.fullmatch(number) and not iban.is_valid(number, check_country=False):
        mended = number[:2] + iban.calc_check_digits(number) + number[4:]
        if iban.is_valid(mended, check_country=False):
            return Oddity(code="checksum.iban", sentence="This is shaped like a bank account number, but its check digits are wrong.")
    return None


def _impossible(text: str, entity_type: str) -> Oddity | None:
    if entity_type == _DATETIME and (found := _ISO_DATE.fullmatch(text)):
        try:
            date(*(int(part) for part in found.groups()))
        except ValueError:
            return Oddity(code="format.no_such_date", sentence="There is no such date.")
    if _NUMBER.fullmatch(text):
        if entity_type == _AGE and int(text[:9]) > _OLDEST:
            return Oddity(code="format.no_such_age", sentence="Nobody is that old.")
        if entity_type in _WORDY:
            return Oddity(code="format.bare_number", sentence=f"A bare number is hardly a value of the type {entity_type}.")
    return None


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
