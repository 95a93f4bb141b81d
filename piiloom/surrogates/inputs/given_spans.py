"""Spans that come with a text: convert them to mentions, and update them in the mirror when the text has changed.

A span is an object with a start, an end and a type, under the key names that common tools use, or a list ``[start, end, type]`` as
spaCy and doccano write it.

Stand-off annotation: spans that a file gives apart from its text, with offsets in a counting of its own; BRAT's files.

A file may count from 0 or from 1, and a line end of two characters (CR LF) as one or as two. Where its spans repeat their words, these
tell which; otherwise it is from 0, every character one.

BRAT has a text file and, beside it, its annotations in a file ``.ann``. Both are one document, and both are in the mirror. Text-bound
annotations ("T1<tab>Person 0 6;9 12<tab>words") are rewritten; relations, attributes, notes and the like stay as they are.
"""

from __future__ import annotations

import marshal
import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, Final, NamedTuple

from piiloom.foundation.errors import DataError
from piiloom.foundation.words import Range
from piiloom.surrogates.documents import Mention, OffsetMap, Replaced
from piiloom.surrogates.inputs.parts import (
    CUT_SPANS,
    DROPPED_SPANS,
    BratLayout,
    FileChange,
    FilePart,
    FoundText,
    KindOf,
    Notes,
    Parsed,
    SourceSettings,
    TextSlot,
    cannot_read,
    undecodable,
    with_changes,
)
from piiloom.surrogates.kinds.wording import legal_form_of, told_by_original
from piiloom.surrogates.known_names import family_told
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
        new = span_values(item) | moved_values(item, text, replaced.text, moves)
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


def moved_values(item: Any, text: str, new_text: str, moves: OffsetMap) -> dict[str, Any]:
    """Return the offsets and words of a span in the new text, by their keys."""
    span = GivenSpan.of(item)
    if span is None:
        return {}
    start, end = moves.to_output(span.start), moves.to_output(span.end, end=True)
    return dict.fromkeys(_moving_keys(item, text), new_text[start:end]) | {span.start_at: start, span.end_at: end}


def span_values(item: Any) -> dict[str, Any]:
    """Return a span's values by key; those of a list by their positions."""
    return item if isinstance(item, dict) else {str(number): value for number, value in enumerate(item)}


_FIRSTS: Final = (0, 1, -1)  # what a file may call the first character; -1 where it left one out


class BadSpan(Exception):
    """Raised for a span that does not fit its text. ``at`` is its place in the file; the message quotes no text."""

    def __init__(self, at: int, message: str) -> None:
        super().__init__(message)
        self.at = at


class Told(NamedTuple):
    """A span as its file tells it: the fragments in the file's own counting, and the words that it repeats (None: it repeats none).

    ``joint`` is what stands between the words of two fragments. ``at`` is the place of the span in the file.
    """

    type: str
    fragments: tuple[Range, ...]
    words: str | None
    at: int
    joint: str = " "


class Counting:
    """How a file counts the characters of *text*.

    Offset *first* is the character *base* of the text. The characters at *uncounted* (sorted) are not counted.
    """

    def __init__(self, uncounted: Sequence[int], base: int = 0, first: int = 0) -> None:
        self._uncounted = uncounted
        self._before = [offset - number for number, offset in enumerate(uncounted)]
        self._base, self._first = base, first
        self._shift = base - bisect_left(uncounted, base) - first

    def to_text(self, told: Range) -> Range:
        """Return the range of the text that the file calls *told*."""
        start, end = told[0] + self._shift, told[1] + self._shift
        return start + bisect_right(self._before, start), end + bisect_left(self._before, end)

    def from_text(self, found: Range) -> Range:
        """Return what the file calls the range *found* of the text."""
        start, end = (offset - bisect_left(self._uncounted, offset) - self._shift for offset in found)
        return start, end

    def moved(self, replaced: Replaced, moves: OffsetMap) -> Counting:
        """Return the file's counting of the new text."""
        starts = [place.start for place in replaced.placed]
        uncounted = []
        for offset in self._uncounted:
            before = bisect_right(starts, offset) - 1
            if before < 0 or offset >= replaced.placed[before].end:
                uncounted.append(moves.to_output(offset))
        return Counting(uncounted, moves.to_output(self._base), self._first)


class Standoff(NamedTuple):
    """The stand-off spans of one text, in the order of the file: ``ranges`` has the fragments of each in the text."""

    told: tuple[Told, ...]
    ranges: tuple[tuple[Range, ...], ...]
    counting: Counting

    def spans(self) -> list[dict[str, object]]:
        """Return the spans as rows have them (``given_spans``); each fragment is one, and empty ones are left out."""
        return [
            {"start": start, "end": end, "type": told.type}
            for told, ranges in zip(self.told, self.ranges, strict=True)
            for start, end in ranges
            if start < end
        ]

    def rewritten(self, replaced: Replaced) -> list[tuple[Told, tuple[Range, ...], str]]:
        """Return for each span its new fragments in the file's counting, and its new words."""
        moves = OffsetMap(place[:4] for place in replaced.placed)
        counting = self.counting.moved(replaced, moves)
        found = []
        for told, ranges in zip(self.told, self.ranges, strict=True):
            new = [(moves.to_output(start), moves.to_output(end, end=True)) for start, end in ranges]
            words = told.joint.join(replaced.text[start:end] for start, end in new)
            found.append((told, tuple(map(counting.from_text, new)), words))
        return found


def read_standoff(text: str, told: Iterable[Told], *, base: int = 0, uncounted: Sequence[int] = ()) -> Standoff:
    """Find out how the spans *told* count the characters of *text*, and where they are. Raises ``BadSpan`` for one that does not fit.

    Offset 0 is the character *base* of the text; the characters at *uncounted* are the reader's own, and not the file's.
    """
    spans = tuple(told)
    best: tuple[int, Counting] | None = None
    for counting in _countings(text, base, uncounted):
        wrong = sum(not _fits(text, span, counting) for span in spans)
        if best is None or wrong < best[0]:
            best = (wrong, counting)
        if not wrong:
            break
    assert best is not None  # noqa: S101 - there is a counting
    counting = best[1]
    for span in spans:
        if not _fits(text, span, counting):
            raise BadSpan(
                span.at, "the words of the span differ from those at its offsets" if span.words else "the span lies outside the text"
            )
    return Standoff(spans, tuple(tuple(map(counting.to_text, span.fragments)) for span in spans), counting)


def _countings(text: str, base: int, uncounted: Sequence[int]) -> Iterable[Counting]:
    returns = [match.start() for match in re.finditer("\r\n", text)]
    for left_out in (uncounted, *([sorted({*uncounted, *returns})] if returns else [])):
        for first in _FIRSTS:
            yield Counting(left_out, base, first)


def _fits(text: str, span: Told, counting: Counting) -> bool:
    ranges = [counting.to_text(one) for one in span.fragments]
    if any(not 0 <= start <= end <= len(text) for start, end in ranges):
        return False
    return span.words is None or span.words.split() == span.joint.join(text[start:end] for start, end in ranges).split()


SUFFIX: Final = ".ann"
_BOUND: Final = re.compile(r"^\ufeff?T[^\t\n]*\t(?P<type>[^\t\n ]+) (?P<offsets>\d+ \d+(?:;\d+ \d+)*)\t(?P<words>[^\r\n]*)", re.MULTILINE)
_LINE: Final = re.compile(r"^\ufeff?T", re.MULTILINE)
_OTHER: Final = re.compile(r"^(?!\ufeff?(?:#|[TREAMN*][^\t\n]*\t))[^\n]*\S|\r(?!\n)", re.MULTILINE)  # no annotation, or an old line end


def annotations_of(name: str) -> str:
    """Return the name of the annotations that belong to the text file *name*."""
    return name.removesuffix(Path(name).suffix) + SUFFIX


class BratSlot(TextSlot):
    """The text. ``ann`` is the text of the other file, ``standoff`` its text-bound annotations."""

    __slots__ = ("_places", "ann", "standoff")

    def __init__(self, text: str, ann: str, standoff: Standoff, places: Sequence[re.Match[str]]) -> None:
        super().__init__(0, len(text))
        self.ann, self.standoff, self._places = ann, standoff, places

    @property
    def ranges(self) -> list[Range]:
        """The fragments of all annotations, in the text."""
        return [one for ranges in self.standoff.ranges for one in ranges]

    def annotations(self, replaced: Replaced) -> str:
        """Return the text of the other file for the new text."""
        changes: list[FileChange] = []
        for place, (told, fragments, words) in zip(self._places, self.standoff.rewritten(replaced), strict=True):
            changes.append((*place.span("offsets"), ";".join(f"{start} {end}" for start, end in fragments)))
            if words.split() != (told.words or "").split():
                changes.append((*place.span("words"), " ".join(words.splitlines())))
        return with_changes(self.ann, 0, len(self.ann), changes)

    def rest(self, parsed: Parsed) -> str:  # noqa: ARG002 - a slot's signature
        """Return the other file without what ``annotations`` may change."""
        return with_changes(
            self.ann, 0, len(self.ann), [(*place.span(group), "") for place in self._places for group in ("offsets", "words")]
        )


class BratParsed(Parsed):
    """A text with annotations; ``ann`` are those of a text that is empty."""

    ann: str = ""

    def mirrored(self, replaced: Sequence[Replaced]) -> bytes:
        """Return the marshalled bytes of both files."""
        slots = [(one.slot.annotations(done)) for one, done in zip(self.found, replaced, strict=True) if isinstance(one.slot, BratSlot)]
        return marshal.dumps((super().mirrored(replaced), (slots or [self.ann])[0].encode("utf-8")))


def read_brat(part: FilePart, raw: str, settings: SourceSettings) -> Parsed:
    """Read a text and its annotations. Raises ``DataError`` for an annotation that does not fit the text."""
    layout = part.file.layout
    assert isinstance(layout, BratLayout)  # noqa: S101 - a BRAT file has one
    ann = _annotations(part, layout)
    places = list(_BOUND.finditer(ann))
    known = {place.start() for place in places}
    for line in _LINE.finditer(ann):
        if line.start() not in known:
            raise _fault(layout, ann, line.start(), "a text-bound annotation has another form than T1<tab>Type 0 6<tab>words")
    if settings.takes_spans and (other := _OTHER.search(ann)) is not None:
        raise _fault(layout, ann, other.start(), "the line is no annotation of BRAT, so a span may be missing")
    told = [Told(place["type"], _fragments(place["offsets"]), place["words"], place.start()) for place in places]
    try:
        standoff = read_standoff(raw, told)
    except BadSpan as bad:
        raise _fault(layout, ann, bad.at, str(bad)) from None
    parsed = BratParsed(raw, rows=1, lines=raw.count("\n"))
    parsed.ann, given = ann, NOTHING_GIVEN
    if settings.takes_spans and settings.kind_of is not None:
        given = mentions_of(standoff.spans(), raw, settings.kind_of)
        given.note(parsed.notes, 0)
    if raw:
        parsed.found.append(FoundText(raw, BratSlot(raw, ann, standoff, places), mentions=given.mentions, covered=given.covered))
    return parsed


def _fragments(offsets: str) -> tuple[Range, ...]:
    return tuple((int(start), int(end)) for start, end in (one.split() for one in offsets.split(";")))


def _annotations(part: FilePart, layout: BratLayout) -> str:
    try:
        data = Path(layout.path).read_bytes()
        return data.decode("utf-8")
    except OSError as error:
        raise cannot_read(layout.name, error) from error
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise undecodable(part.file._replace(name=layout.name), error.start, data[error.start], line, "utf-8") from error


def _fault(layout: BratLayout, ann: str, at: int, message: str) -> DataError:
    where = f"{layout.name}:{ann.count(chr(10), 0, at) + 1}"
    return DataError(message, where=where, remedy="Correct the line, or use --skip-bad-rows to set the document aside")
