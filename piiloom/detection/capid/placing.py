"""Bring the values that a model lists back to exact places of the text.

Entries stand in the order of the text, so each gets the first mention of its value behind the entry before it, or the first that no other
one has.
Then every other whole-word mention of what was found is taken, too, with what was said of the mention before it: a value means the same
everywhere. Function words and numbers of less than five characters do not; of these, only those count that are listed, unless the form of
the answer names each value once.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right, insort
from collections import defaultdict
from collections.abc import Iterable, Sequence
from typing import Final, NamedTuple

from piiloom.corpus.formats.row_reading import find_values
from piiloom.corpus.mention_search import FoundValue, Range, SearchableText, without_overlaps
from piiloom.detection.capid.entries import PHASE, ListedEntry
from piiloom.detection.findings import SetAside
from piiloom.foundation.words import STOP_WORDS

_SURE: Final = 5  # a number with so many characters is the same thing everywhere


class ListedMention(NamedTuple):
    """``text[start:end]`` is what *entry* says. ``listed``: the model listed this mention, not only its value."""

    start: int
    end: int
    entry: ListedEntry
    listed: bool = True


class PlacedMentions(NamedTuple):
    """Mentions, and what has none, with reasons."""

    mentions: list[ListedMention]
    set_aside: list[SetAside]


def place_entries(text: str, piece: Range, entries: Sequence[ListedEntry]) -> PlacedMentions:
    """Return a mention of ``text[start:end]`` (*piece*) for each of *entries*, with offsets of the text.

    Set aside: "invented" and "inside_word" (no such mention), "too_often" (more entries of a value than mentions), and "altered", which
    gives the place that was taken: the text has the value in another spelling.
    """
    begin, end = piece
    searched = SearchableText(text[begin:end])
    found: dict[str, FoundValue] = {}
    taken: list[Range] = []  # sorted; those that overlap something are rare, so that looking at neighbours is enough
    behind = 0
    mentions: list[ListedMention] = []
    set_aside: dict[SetAside, None] = {}
    for entry in entries:
        located = found.get(entry.value)
        if located is None:
            located = searched.find(entry.value)
            if located.step == "inside_word" and (seams := find_values(searched.text, [entry.value])[0]):
                located = FoundValue(seams, "exact")  # where digits meet letters, as in 34F
            found[entry.value] = located
        free = [one for one in located.ranges if one not in taken]
        if not free:
            set_aside.setdefault(_aside("too_often" if located.ranges else located.step, entry))
            continue
        apart = [one for one in free if _is_apart(one, taken)]
        at = next((one for one in apart if one[0] >= behind), (apart or free)[0])
        insort(taken, at)
        behind = at[1]
        start, stop = at[0] + begin, at[1] + begin
        mentions.append(ListedMention(start, stop, entry))
        if located.step != "exact":
            set_aside.setdefault(_aside("altered", entry, (start, stop)))
    return PlacedMentions(mentions, list(set_aside))


def _is_apart(one: Range, taken: Sequence[Range]) -> bool:
    at = bisect_left(taken, one)
    return (at == 0 or taken[at - 1][1] <= one[0]) and (at == len(taken) or one[1] <= taken[at][0])


def everywhere(text: str, listed: Sequence[ListedMention], *, once: bool = False) -> PlacedMentions:
    """Return *listed*, of all pieces, with all other mentions of the same words; disjoint and in text order.

    *once*: an answer names each value once, however often the text has it.

    Of those that overlap the longest stays, then the listed one. A listed one that goes is set aside ("overlap").
    """
    by_surface: defaultdict[str, list[ListedMention]] = defaultdict(list)
    for one in sorted(listed, key=_place_of):
        by_surface[text[one.start : one.end]].append(one)
    searchable = SearchableText(text)
    same = {surface: known for surface, known in by_surface.items() if once or _means_one_thing(surface)}
    more = [one for surface, known in same.items() for one in _repeats(searchable, surface, known)]
    kept, _ = without_overlaps(sorted((*listed, *more), key=lambda one: (one.start - one.end, not one.listed, one.start)), _place_of)
    staying = set(kept)
    gone = dict.fromkeys(_aside("overlap", one.entry, (one.start, one.end)) for one in listed if one not in staying)
    return PlacedMentions(kept, list(gone))


def _means_one_thing(surface: str) -> bool:
    if not any(map(str.isalpha, surface)):
        return sum(map(str.isalnum, surface)) >= _SURE
    return surface.strip() not in STOP_WORDS


def _repeats(searchable: SearchableText, surface: str, known: Sequence[ListedMention]) -> Iterable[ListedMention]:
    starts = [one.start for one in known]
    for start, end in sorted({*searchable.mentions(surface)} - {_place_of(one) for one in known}):
        before = known[max(bisect_right(starts, start) - 1, 0)]
        yield ListedMention(start, end, before.entry, listed=False)


def _place_of(one: ListedMention) -> Range:
    return one.start, one.end


def _aside(reason: str, entry: ListedEntry, place: Range | tuple[None, None] = (None, None)) -> SetAside:
    return SetAside(phase=PHASE, reason=reason, subtype=entry.entity_type, value=entry.value, start=place[0], end=place[1])
