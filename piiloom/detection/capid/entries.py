"""Read the entries that a model lists, in any spelling of the form that was asked for, and bring them back to exact places of the text.

Asked for is a list of ``{"value", "type", "relevance"}``. Also read are objects one after another, a list within an object, and objects
whose keys are the values, as in CAPID's files: ``{"asthma": {"type": "health", "relevance": "1"}}`` or ``{"asthma": "health"}``. A key that
repeats in such an object is an entry each time.

Entries stand in the order of the text, so each gets the first mention of its value behind the entry before it, or the first that no other
one has.
Then every other whole-word mention of what was found is taken, too, with what was said of the mention before it: a value means the same
everywhere. Function words and numbers of less than five characters do not; of these, only those count that are listed, unless the form of
the answer names each value once.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right, insort
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Final, NamedTuple

from piiloom.corpus.formats.row_reading import find_values
from piiloom.corpus.mention_search import FoundValue, SearchableText, without_overlaps
from piiloom.corpus.record import Relevance
from piiloom.detection.detector import SetAside
from piiloom.execution.calls import Fault
from piiloom.foundation.lenient_json import JsonObject, LenientJson, read_leniently
from piiloom.foundation.words import STOP_WORDS, Range
from piiloom.taxonomy.entity_types import Taxonomy

PHASE: Final = 0  # of a detector without phases
_VALUE: Final = ("value", "text", "mention", "span", "pii")
_TYPE: Final = ("type", "entity_type", "label", "category")
_RELEVANCE: Final = ("relevance", "relevant")
_HIGH: Final = frozenset(("high", "1", "1.0", "true", "yes", "relevant", "h"))
_LOW: Final = frozenset(("low", "0", "0.0", "false", "no", "irrelevant", "not relevant", "l"))
LISTED: Final = "it has no JSON list of objects with a value and a type; if there are no mentions, answer []"
KEYED: Final = "it has no JSON object with a type and a relevance for each value; if there are no values, answer {}"
_SHOWN: Final = 60  # characters of a word that is no type


class ListedEntry(NamedTuple):
    """The model says that the text has *value*, and what it is. ``relevance`` is None without a question, or if it is not told."""

    value: str
    entity_type: str
    relevance: Relevance | None


class ListedEntries(NamedTuple):
    """The entries of a reply in its order, and what of it is not usable. ``cut_off``: the reply ended before its list did."""

    entries: list[ListedEntry]
    refused: list[SetAside]
    cut_off: bool


def read_entries(reply: str, taxonomy: Taxonomy, *, relevance: bool, wanted: str = LISTED) -> ListedEntries:
    """Return the entries of *reply*; with *relevance*, each should have one. *wanted* is the fault of a reply without a list.

    An entry without a usable relevance stays an entry, and is told as "unknown_relevance". Others are refused: "empty", "unknown_type",
    "no_entry" (something else stands in the list). Raises ``Fault`` if there is no list, or if it ends before its first entry.
    """
    read = read_leniently(reply)
    judged = [_judged(one, taxonomy, relevance=relevance) for one in _entries_in(read)]
    if not judged and (read.cut_off or not any(_is_empty(one) for one in read.values)):
        raise Fault("no_list", wanted)
    entries = [one for one in judged if isinstance(one, ListedEntry)]
    refused = [one for one in judged if isinstance(one, SetAside)] + [_refused("no_entry")] * read.broken
    if not entries and any(one.reason == "no_entry" for one in refused):
        raise Fault("no_list", wanted)
    if relevance:
        refused += [_refused("unknown_relevance", one.value, one.entity_type) for one in entries if one.relevance is None]
    return ListedEntries(entries, refused, read.cut_off)


def _entries_in(read: LenientJson) -> Iterator[Any]:
    """Yield what stands where entries should: in the last list that has any, or one after another."""
    lists = [found for one in read.values if (found := _list_in(one)) is not None and any(isinstance(entry, dict) for entry in found)]
    if lists:
        yield from lists[-1]
    else:
        yield from (one for one in read.values if isinstance(one, dict) and _list_in(one) is None)


def _is_empty(value: Any) -> bool:
    found = _list_in(value)
    return found is not None and not found


def _list_in(value: Any) -> list[Any] | None:
    """The list that *value* is, has as its only container, or amounts to; None for a bare entry or something else."""
    if isinstance(value, list):
        return value
    if not isinstance(value, JsonObject) or isinstance(_first(value, _VALUE), str | int | float):
        return None
    held = [one for _, one in value.pairs if isinstance(one, list | dict)]
    if not value:
        return []
    if all(isinstance(one, str) or _is_described(one) for _, one in value.pairs):
        return [_keyed(key, each) for key, one in value.pairs for each in (one if isinstance(one, list) else [one])]
    return _list_in(held[0]) if len(held) == 1 else None


def _is_described(value: Any) -> bool:
    """Whether *value* says of what kind something is that its key names; a list says of what kinds."""
    if isinstance(value, list):
        return bool(value) and all(isinstance(one, dict) and _is_described(one) for one in value)
    return isinstance(value, dict) and _first(value, _TYPE) is not None and _first(value, _VALUE) is None


def _keyed(value: str, told: Any) -> dict[str, Any]:
    return {"value": value, "type": told} if isinstance(told, str) else {**told, "value": value}


def _first(entry: Mapping[str, Any], names: tuple[str, ...]) -> Any:
    return next((entry[name] for name in names if name in entry), None)


def _judged(said: Any, taxonomy: Taxonomy, *, relevance: bool) -> ListedEntry | SetAside:
    if not isinstance(said, dict):
        return _refused("no_entry")
    value, kind = _first(said, _VALUE), _first(said, _TYPE)
    shown = str(kind)[:_SHOWN] if isinstance(kind, str) else None
    if isinstance(value, int | float) and not isinstance(value, bool):
        value = str(value)
    if not isinstance(value, str):
        return _refused("no_entry", subtype=shown)
    if not value.strip():
        return _refused("empty", subtype=shown)
    known = taxonomy.resolve(kind) if isinstance(kind, str) else None
    if known is None:
        return _refused("unknown_type", value, shown)
    return ListedEntry(value, known, _relevance(_first(said, _RELEVANCE)) if relevance else None)


def _relevance(said: Any) -> Relevance | None:
    word = str(said).strip().lower()
    return "high" if word in _HIGH else "low" if word in _LOW else None


def _refused(reason: str, value: str = "", subtype: str | None = None) -> SetAside:
    return SetAside(phase=PHASE, reason=reason, subtype=subtype, value=value)


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
