"""Spans that come with a text: convert them to mentions, and update them in the mirror when the text has changed.

A span is an object with a start, an end and a type, under the key names that common tools use, or a list ``[start, end, type]`` as
spaCy and doccano write it.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any, Final, NamedTuple

from piiloom.surrogates.documents import Mention, Replaced
from piiloom.surrogates.inputs.input_settings import KindOf
from piiloom.surrogates.inputs.json_walking import Hit, JsonSlot, Scan, blank_end, key_scanner, walk_object
from piiloom.surrogates.inputs.parts import CUT_SPANS, DROPPED_SPANS, FileChange, Notes, Parsed
from piiloom.surrogates.kinds.companies import legal_form_of
from piiloom.surrogates.kinds.wording import told_by_original
from piiloom.surrogates.known_names import family_told
from piiloom.surrogates.offset_map import OffsetMap
from piiloom.surrogates.time_cues import role_before

START_KEYS: Final = ("start", "start_position", "start_offset", "begin")
END_KEYS: Final = ("end", "end_position", "end_offset", "stop")
TYPE_KEYS: Final = ("type", "entity_type", "label", "entity_group", "entity")
_KEYS: Final[tuple[tuple[str, ...], ...]] = (START_KEYS, END_KEYS, TYPE_KEYS)
_COPIES: Final = frozenset({"text", "entity_value"})  # keys whose value must equal the text of the span
_WORDS: Final = _COPIES | {"value", "word", "surface"}  # keys whose value is the text of the span, maybe in another spelling
_NAMED: Final = frozenset({"person", "organisation"})
_NO_LETTER: Final = re.compile(r"[\W\d_]+")
_FORMS: Final = {
    **dict.fromkeys(("firstname", "givenname", "forename", "fname", "namefirst", "namegiven"), "given"),
    **dict.fromkeys(("lastname", "surname", "familyname", "lname", "namelast", "namefamily"), "family"),
}
_LIST: Final = 3  # fewest elements of a span that is a list: start, end, type


class GivenSpans(NamedTuple):
    """The mentions of one text's spans, sorted and disjoint.

    ``dropped`` counts spans left out because they overlap a longer one, or an earlier one of the same length; ``cut`` those that begin
    or end inside a word. ``covered`` are the spans left out, as mentions: their values are known, too.
    """

    mentions: tuple[Mention, ...] | None
    dropped: int = 0
    cut: int = 0
    covered: tuple[Mention, ...] = ()

    def note(self, notes: Notes, line: int) -> None:
        """Note what is to be reported of the spans of *line*."""
        for what, count in ((DROPPED_SPANS, self.dropped), (CUT_SPANS, self.cut)):
            if count:
                notes.add(what, line, count)


NOTHING_GIVEN: Final = GivenSpans(None)


class GivenSpan(NamedTuple):
    """A span as given in a row. ``start_at`` and ``end_at`` are the keys (or list indices, as text) of the two offsets."""

    start: int
    end: int
    type: str
    start_at: str
    end_at: str

    @classmethod
    def of(cls, item: Any) -> GivenSpan | None:
        """Parse *item* of a row's spans. Return None if it is no span."""
        starts, ends, types = _KEYS
        if isinstance(item, list):
            item = dict(zip(("0", "1", "2"), item, strict=False)) if len(item) >= _LIST else {}
            starts, ends, types = ("0",), ("1",), ("2",)
        if not isinstance(item, dict):
            return None
        start_at = next((key for key in starts if type(item.get(key)) is int), None)
        end_at = next((key for key in ends if type(item.get(key)) is int), None)
        of_type = next((item[key] for key in types if isinstance(item.get(key), str)), None)
        if start_at is None or end_at is None or of_type is None:
            return None
        return cls(item[start_at], item[end_at], of_type, start_at, end_at)


def looks_like_spans(value: Any) -> bool:
    """Whether *value* is a non-empty list of spans."""
    return isinstance(value, list) and bool(value) and all(GivenSpan.of(item) is not None for item in value)


def mentions_of(spans: Any, text: str, kind_of: KindOf) -> GivenSpans:
    """Convert the *spans* of *text* to mentions; *kind_of* maps (entity type, subtype) to a kind.

    Raises ``ValueError``, which names the faulty span and the reason, but quotes no text.
    """
    from piiloom.corpus.formats.row_reading import keep_disjoint  # noqa: PLC0415 - most corpora bring no spans
    from piiloom.corpus.mention_search import is_inside_word  # noqa: PLC0415 - as above

    if not isinstance(spans, list):
        raise ValueError("is no list of spans")  # noqa: TRY004 - all faults of spans are reported alike
    read = [_checked(item, position, text) for position, item in enumerate(spans)]
    placed = keep_disjoint(((span.start, span.end), position) for position, span in enumerate(read))
    mentions = []
    for (start, end), position in [*placed.kept, *(one[:2] for one in placed.dropped)]:
        told = spans[position] if isinstance(spans[position], dict) else {}
        subtype, value = told.get("subtype"), told.get("value_id")
        subtype = subtype if isinstance(subtype, str) else None
        original = text[start:end]
        kind = kind_of(read[position].type, subtype)
        if subtype is None:
            kind = told_by_original(kind, original)
            if kind == "date" and role_before(text, start, 0) == "birth":
                kind = "birth_date"
        if kind in _NAMED and legal_form_of(original):
            kind = "company"  # "Janssen B.V." is one, whatever a detector took it for
        form = ""
        if kind == "person":
            form = _form_of(read[position].type, subtype) or ("family" if family_told(text, start) else "")
        index = value if isinstance(value, str) else ""
        mentions.append(Mention(start, end, kind, index=index, form=form, original=original, rule="span"))
    kept, covered = mentions[: len(placed.kept)], mentions[len(placed.kept) :]
    cut = sum(is_inside_word(text, mention.start) or is_inside_word(text, mention.end) for mention in kept)
    return GivenSpans(tuple(kept), len(placed.dropped), cut, tuple(covered))


def _form_of(entity_type: str, subtype: str | None) -> str:
    """Return the part of a name that a span's type tells ("FIRST_NAME", "surname"), or ""."""
    return next((_FORMS[key] for name in (subtype, entity_type) if name and (key := _NO_LETTER.sub("", name.casefold())) in _FORMS), "")


def _checked(item: Any, position: int, text: str) -> GivenSpan:
    span = GivenSpan.of(item)
    if span is None:
        raise ValueError(f"[{position}] needs whole numbers start and end, and a type")
    if not 0 <= span.start < span.end <= len(text):
        raise ValueError(f"[{position}] is empty or outside the text")
    if isinstance(item, dict):
        for key in _COPIES & item.keys():
            if isinstance(item[key], str) and item[key] != text[span.start : span.end]:
                raise ValueError(f"[{position}].{key} differs from the text there")
    return span


class RowSpans:
    """The spans of a JSON row, whose text is *text* at *slot*: offsets, and copies of words, in which an original would be a leak."""

    __slots__ = ("_slot", "_spans", "_text", "place")

    def __init__(self, hit: Hit, text: str, slot: JsonSlot) -> None:
        self._spans: list[Any] = hit.value
        self._text, self._slot = text, slot
        self.place = hit.start, hit.end

    def rest(self) -> str:
        """Return all of the spans but offsets and words, as JSON."""
        return json.dumps(bare_spans(self._spans, self._text), ensure_ascii=False)

    def changes(self, parsed: Parsed, replaced: Replaced) -> Iterator[FileChange]:
        """Yield the changes for each offset and each copy of the text, in order."""
        moves = OffsetMap(place[:4] for place in replaced.placed)
        ascii_only = self._slot.is_ascii(parsed)
        for item, hits in zip(self._spans, _items(parsed.raw, self.place[0]), strict=True):
            new = _moved(item, self._text, replaced.text, moves)
            yield from ((hit.start, hit.end, json.dumps(new[hit.path], ensure_ascii=ascii_only)) for hit in hits if hit.path in new)


def span_items(value: Any) -> Any:
    """Return the spans in the cell *value* as a list of objects, or *value* itself if that is neither a list nor an object of lists.

    Older versions of Hugging Face's ``datasets`` store an object of lists, which must be equally long.
    """
    if isinstance(value, dict) and value and all(isinstance(one, list) for one in value.values()):
        if len({len(one) for one in value.values()}) > 1:
            return value
        return [dict(zip(value, items, strict=True)) for items in zip(*value.values(), strict=True)]
    return value


def moved_spans(value: Any, text: str, replaced: Replaced) -> Any:
    """Return the cell *value*, the spans of *text*, with the offsets and words of the new text, in the form that it has."""
    moves = OffsetMap(place[:4] for place in replaced.placed)
    items = []
    for item in span_items(value):
        new = span_values(item) | _moved(item, text, replaced.text, moves)
        items.append(new if isinstance(item, dict) else list(new.values()))
    return {key: [item[key] for item in items] for key in value} if isinstance(value, dict) else items


def bare_spans(value: Any, text: str) -> list[Any]:
    """Return *value*, the spans of *text*, without their offsets and words."""
    items = span_items(value)
    return [span_values(item) | dict.fromkeys(_moving_keys(item, text)) for item in items] if isinstance(items, list) else []


def _moving_keys(item: Any, text: str) -> list[str]:
    """Return the keys of a span whose values are offsets in *text* or copies of it; none of an item that is no span."""
    span = GivenSpan.of(item)
    if span is None:
        return []
    words = text[span.start : span.end]
    copies = [key for key, value in span_values(item).items() if isinstance(value, str) and (key in _WORDS or value == words)]
    return [span.start_at, span.end_at, *copies]


def _moved(item: Any, text: str, new_text: str, moves: OffsetMap) -> dict[str, Any]:
    """Return the offsets and words of a span in the new text, by their keys."""
    span = GivenSpan.of(item)
    if span is None:
        return {}
    start, end = moves.to_output(span.start), moves.to_output(span.end, end=True)
    return dict.fromkeys(_moving_keys(item, text), new_text[start:end]) | {span.start_at: start, span.end_at: end}


def span_values(item: Any) -> dict[str, Any]:
    """Return a span's values by key; those of a list by their positions."""
    return item if isinstance(item, dict) else {str(number): value for number, value in enumerate(item)}


def _items(raw: str, start: int) -> Iterator[list[Hit]]:
    """Yield, for each span of the list at *start*, its values with their positions in *raw*."""
    scan = key_scanner(None)
    for span in _elements(raw, start, scan):
        if isinstance(span.value, dict):
            yield walk_object(raw, span.start, {key: {} for key in span.value}, scan)[0]
        else:
            yield _elements(raw, span.start, scan)


def _elements(raw: str, at: int, scan: Scan) -> list[Hit]:
    """Return the elements of the list at *at* (paths are their indices)."""
    hits: list[Hit] = []
    at = blank_end(raw, at + 1)
    while raw[at] != "]":
        value, end = scan(raw, at)
        hits.append(Hit(str(len(hits)), at, end, value))
        at = blank_end(raw, end)
        if raw[at] == ",":
            at = blank_end(raw, at + 1)
    return hits
