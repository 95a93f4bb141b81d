"""Align a marked answer with its text: exact spans of the text, and everything else in the answer with a reason.

Text and answer are compared by tokens, then by characters where they differ. A block of equal text is *certain* if it occurs once in each
of the two; without those ends of it that a gap beside it contains as well, for in "x b", left of "x a x b", either x may be the one that
stayed. Whatever is between two certain blocks of the answer comes from between the same two of the text; a marked value is searched there
and nowhere else, as it is and then in other typography or case. It is placed if text and answer contain it there equally often (the n-th
is the n-th), or if the text contains it once and all its repeats in the answer have the same mark. Nothing is placed by likeness.

``SetAside.reason`` of marks without a span: those of ``answer_reading``; ``altered_value`` (the text differs there), ``invented_value``
(the text has nothing there), ``ambiguous_place`` (the text has it more or less often), ``inside_character`` (it would part a letter from
its combining marks), ``doubled`` and ``overlapping`` (another mark has the place). Of marks with a span: ``misspelt_marker``,
``respelled_value``, ``no_relevance`` (a question was asked, and the marker does not answer it). Of the text: ``dropped_text`` (the answer
lacks it), ``invented_text`` (only the answer contains it), ``altered_text`` (the answer differs there), ``altered_blanks`` (all different
blanks, as one entry). ``value`` is the text of ``dropped_text``, and that of the answer for all other reasons.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import accumulate, pairwise
from typing import Final, NamedTuple

from rapidfuzz import fuzz
from rapidfuzz.distance import LCSseq, Levenshtein

from piiloom.corpus.markers import TYPES, MarkerSet
from piiloom.corpus.mention_search import SearchableText, occurrences, stands_alone, without_overlaps
from piiloom.corpus.normalising import extends
from piiloom.detection.detector import SetAside
from piiloom.detection.marking.answer_reading import TOKEN, AnswerMark, LostMark, MarkedAnswer, read_answer
from piiloom.foundation.words import Range, trimmed
from piiloom.taxonomy.entity_types import Taxonomy

_LEAST: Final = 3  # characters, without blanks, of a certain stretch
_MOST_COMPARED: Final = 4_000_000  # product of the lengths of two stretches that are compared by characters
_ALIKE: Final = 70.0  # rapidfuzz's partial ratio (0-100) from which on a value counts as an altered one
_LONGEST_NAME: Final = 60  # of an unknown type
_Search = Callable[[SearchableText, str], list[Range]]


class Block(NamedTuple):
    """``answer[place : place + size]`` equals ``original[start : start + size]``."""

    start: int
    place: int
    size: int

    @property
    def ends(self) -> Range:
        """The ends of the block in text and answer."""
        return self.start + self.size, self.place + self.size


class AnswerStretch(NamedTuple):
    """``answer[place:place_end]`` comes from ``original[start:end]``."""

    start: int
    end: int
    place: int
    place_end: int


class AnswerAlignment:
    """The blocks in which *answer*, without its markers, equals *original*, and the ``changes`` between them."""

    def __init__(self, original: str, answer: str) -> None:
        self.original, self.answer = original, answer
        blocks = _joined(_token_blocks(original, answer))
        gaps = (AnswerStretch(before.ends[0], block.start, before.ends[1], block.place) for before, block in pairwise(blocks))
        self.changes = [gap for gap in gaps if gap.start < gap.end or gap.place < gap.place_end]
        letters = (block for change in self.changes for block in self._equal_letters(change))
        self._certain = [*self._certain_blocks(_joined([*blocks, *letters]))] if self.changes else blocks

    @property
    def lost(self) -> int:
        """The number of characters of the text, without blanks, that the answer lacks."""
        pairs = (("".join(self.original[a:b].split()), "".join(self.answer[c:d].split())) for a, b, c, d in self.changes)
        return sum(len(ours) - LCSseq.similarity(ours, theirs) for ours, theirs in pairs)

    def window(self, start: int, end: int) -> AnswerStretch:
        """Return the narrowest certain stretch around ``answer[start:end]``."""
        before = self._certain[bisect_right(self._certain, start, key=lambda block: block.place) - 1]
        behind = self._certain[bisect_left(self._certain, end, key=lambda block: block.ends[1])]
        into, back = min(start - before.place, before.size), max(end - behind.place, 0)
        return AnswerStretch(before.start + into, behind.start + back, before.place + into, behind.place + back)

    def _equal_letters(self, change: AnswerStretch) -> Iterator[Block]:
        ours, theirs = self.original[change.start : change.end], self.answer[change.place : change.place_end]
        if len(ours) * len(theirs) <= _MOST_COMPARED:
            for start, place, size in Levenshtein.opcodes(ours, theirs).as_matching_blocks():
                yield Block(start + change.start, place + change.place, size)

    def _certain_blocks(self, blocks: Sequence[Block]) -> Iterator[Block]:
        """Yield the certain parts of *blocks*, between the empty ones at both ends."""
        yield blocks[0]
        for before, block, behind in zip(blocks, blocks[1:], blocks[2:], strict=False):
            text = self.original[block.start : block.ends[0]]
            heads = self.original[before.ends[0] : block.start], self.answer[before.ends[1] : block.place]
            tails = self.original[block.ends[0] : behind.start], self.answer[block.ends[1] : behind.place]
            head = max(_length_in(text, gap) for gap in heads)
            tail = max(_length_in(text[::-1], gap[::-1]) for gap in tails)
            text = text[head : block.size - tail]
            if len("".join(text.split())) >= _LEAST and _once(self.original, text) and _once(self.answer, text):
                yield Block(block.start + head, block.place + head, len(text))
        yield blocks[-1]


def _token_blocks(original: str, answer: str) -> Iterator[Block]:
    """Yield the blocks of equal tokens, in characters, and empty ones at both ends of the texts."""
    yield Block(0, 0, 0)
    ours, theirs = TOKEN.findall(original), TOKEN.findall(answer)
    starts, places = (list(accumulate(map(len, tokens), initial=0)) for tokens in (ours, theirs))
    for start, place, size in Levenshtein.opcodes(ours, theirs).as_matching_blocks():
        yield Block(starts[start], places[place], starts[start + size] - starts[start])


def _joined(blocks: Iterable[Block]) -> list[Block]:
    """Return *blocks* in text order, adjacent ones as one, between the empty ones at both ends."""
    first, *inner, last = sorted(blocks)
    joined = [first]
    for block in (one for one in inner if one.size):
        if joined[-1].size and joined[-1].ends == block[:2]:
            joined[-1] = joined[-1]._replace(size=joined[-1].size + block.size)
        else:
            joined.append(block)
    return [*joined, last]


def _length_in(text: str, gap: str) -> int:
    """Return how many characters at the beginning of *text* the *gap* contains as well."""
    return bisect_left(range(min(len(text), len(gap))), 1, key=lambda last: text[: last + 1] not in gap)


def _once(text: str, part: str) -> bool:
    return text.find(part) == text.rfind(part)


@dataclass(frozen=True, slots=True)
class PlacedMark:
    """A mark at ``[start, end)`` of the text. ``respelled``: the answer has other typography or case."""

    start: int
    end: int
    mark: AnswerMark
    respelled: bool = False

    @property
    def place(self) -> Range:
        """The range in the text."""
        return self.start, self.end


@dataclass(frozen=True, slots=True)
class AlignedAnswer:
    """The content of an answer: ``placed`` are disjoint and in text order; it lacks ``lost`` characters of the text."""

    placed: Sequence[PlacedMark]
    set_aside: Sequence[SetAside]
    lost: int


def align_answer(reply: str, original: str, taxonomy: Taxonomy, markers: MarkerSet = TYPES, *, relevance: bool = False) -> AlignedAnswer:
    """Return the content of *reply*, the answer to *original* with *markers*. *relevance*: a question was asked.

    All ranges are exact, without blanks at their ends.
    """
    return _Placing(read_answer(reply, original, taxonomy, markers), original).result(relevance=relevance)


class _Placing:
    """Places the marks of *answer* in *original*."""

    def __init__(self, answer: MarkedAnswer, original: str) -> None:
        self._text, self._answer, self._read = SearchableText(original), SearchableText(answer.text), answer
        self._alignment = AnswerAlignment(original, answer.text)
        # Marks of one value are often many.
        self._exact: _Search = cache(lambda searched, value: list(occurrences(searched.text, value)))
        self._respelled: _Search = cache(SearchableText.normalised)
        self._marked = {(mark.start, mark.end, mark.entity_type) for mark in answer.marks}

    def result(self, *, relevance: bool) -> AlignedAnswer:
        """Return the placed marks, and everything else as set aside."""
        placed: list[PlacedMark] = []
        unplaced: list[tuple[AnswerMark, SetAside]] = []
        for mark in self._read.marks:
            found = self._place(mark)
            if isinstance(found, PlacedMark):
                placed.append(found)
            else:
                unplaced.append((mark, found))
        kept, dropped = without_overlaps(sorted(placed, key=lambda one: (one.respelled, one.start)), lambda one: one.place)
        for one, winner in dropped:
            unplaced.append((one.mark, self._aside("doubled" if one.place == winner.place else "overlapping", one.mark, one.place)))
        explained = [mark for mark, _ in unplaced] + [one.mark for one in kept if one.respelled]
        set_aside = [
            *(self._aside(lost.reason, lost, self._own_place(lost)) for lost in self._read.lost),
            *(aside for _, aside in unplaced),
            *(self._aside(reason, one.mark, one.place) for one in kept for reason in _remarks(one, relevance=relevance)),
            *self._of_changes(sorted((mark.start, mark.end) for mark in explained)),
        ]
        return AlignedAnswer(kept, set_aside, self._alignment.lost)

    def _place(self, mark: AnswerMark) -> PlacedMark | SetAside:
        value = self._answer.text[mark.start : mark.end]
        window = self._alignment.window(mark.start, mark.end)
        place = self._own_place(mark)
        text = self._text.text[window.start : window.end]
        if place and text == value:
            return self._checked(mark, place)
        alone = stands_alone(self._answer.text, mark.start, mark.end)
        for search in (self._exact, self._respelled):
            ours = _places(search, self._text, value, window[:2], alone=alone)
            if ours:
                found = self._counterpart(mark, ours, _places(search, self._answer, value, window[2:], alone=alone))
                return self._checked(mark, found) if found else self._aside("ambiguous_place", mark)
        if trimmed(self._answer.text, window.place, window.place_end) != (mark.start, mark.end):
            return self._aside("altered_value" if fuzz.partial_ratio(value, text.strip()) >= _ALIKE else "invented_value", mark)
        start, end = trimmed(self._text.text, window.start, window.end)
        return self._aside("altered_value", mark, (start, end)) if start < end else self._aside("invented_value", mark)

    def _own_place(self, mark: AnswerMark | LostMark) -> Range | None:
        """Return the range of the text that a mark comes from, if both of its ends are certain."""
        start, end, *own = self._alignment.window(mark.start, mark.end)
        return (start, end) if own == [mark.start, mark.end] and start <= end else None

    def _counterpart(self, mark: AnswerMark, ours: Sequence[Range], theirs: Sequence[Range]) -> Range | None:
        """Return that one of *ours* to which the place of *mark* among *theirs*, places of the same value in the answer, corresponds."""
        if len(ours) == 1 < len(theirs) and all((*one, mark.entity_type) in self._marked for one in theirs):
            return ours[0]
        if len(ours) != len(theirs) or (mark.start, mark.end) not in theirs:
            return None
        return ours[theirs.index((mark.start, mark.end))]

    def _checked(self, mark: AnswerMark, place: Range) -> PlacedMark | SetAside:
        text = self._text.text
        if any(0 < at < len(text) and extends(text[at]) for at in place):
            return self._aside("inside_character", mark, place)
        if stands_alone(self._answer.text, mark.start, mark.end) and not stands_alone(text, *place):
            return self._aside("altered_value", mark, place)
        return PlacedMark(*place, mark, text[slice(*place)] != self._answer.text[mark.start : mark.end])

    def _aside(self, reason: str, mark: AnswerMark | LostMark, place: Range | None = None) -> SetAside:
        start, end = place or (None, None)
        name = mark.entity_type if isinstance(mark, AnswerMark) else mark.name[:_LONGEST_NAME] or None
        return SetAside(phase=0, reason=reason, subtype=name, value=self._answer.text[mark.start : mark.end], start=start, end=end)

    def _of_changes(self, explained: Sequence[Range]) -> Iterator[SetAside]:
        """Yield the differences between text and answer, except for those inside marks that are *explained* (ranges of the answer)."""
        blanks = 0
        for start, end, place, place_end in self._alignment.changes:
            ours, theirs = self._text.text[start:end], self._answer.text[place:place_end]
            if not (ours + theirs).strip():
                blanks += 0 if _inside((place, place_end), explained) else max(len(ours), len(theirs))
            elif not theirs:
                yield SetAside(phase=0, reason="dropped_text", value=ours, start=start, end=end)
            elif not _inside(trimmed(self._answer.text, place, place_end), explained):
                place_of_ours = (start, end) if ours else (None, None)
                reason = "altered_text" if ours else "invented_text"
                yield SetAside(phase=0, reason=reason, value=theirs, start=place_of_ours[0], end=place_of_ours[1])
        if blanks:
            yield SetAside(phase=0, reason="altered_blanks", value=" " * blanks)


def _remarks(one: PlacedMark, *, relevance: bool) -> Iterator[str]:
    if one.mark.misspelt:
        yield "misspelt_marker"
    if one.respelled:
        yield "respelled_value"
    if relevance and one.mark.relevance is None:
        yield "no_relevance"


def _places(search: _Search, searched: SearchableText, value: str, within: Range, *, alone: bool) -> list[Range]:
    """Return the places of *value* in a range that are whole words (*alone*), or are not."""
    places = search(searched, value)
    places = places[bisect_left(places, (within[0], 0)) : bisect_right(places, (within[1], 0))]
    return [place for place in places if place[1] <= within[1] and stands_alone(searched.text, *place) == alone]


def _inside(one: Range, others: Sequence[Range]) -> bool:
    """Whether *one* is inside one of *others*, which are disjoint and in order."""
    at = bisect_right(others, one[0], key=lambda other: other[0]) - 1
    return at >= 0 and one[1] <= others[at][1]
