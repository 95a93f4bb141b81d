"""Kinds of errors, and the rows in which the gold and the predicted mentions of a document are aligned: one way, whatever their order.

1. Mentions of the same place, or of the same string if one of them has no place: those of the same type and relevance first.
2. Of what is left, the two that overlap by most code points, and so on; at a tie the closer ones, then those of the same type, then the
   first in the text.
3. What is left then and overlaps one of two that were aligned in step 2, joins them: a mention is split, or several are merged.
4. The rest is missed, spurious, or not in the text.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from piiloom.evaluation.inputs.documents import AnnotatedMention, Pair

BoundaryKind = Literal["too long", "too short", "shifted", "split", "merged"]
RowKind = Literal["correct", "missed", "spurious", "not in the text", "wrong type", "wrong relevance"] | BoundaryKind

BOUNDARY: tuple[BoundaryKind, ...] = ("too long", "too short", "shifted", "split", "merged")
# All kinds but "correct", in the order in which they are shown.
ERRORS: tuple[RowKind, ...] = ("missed", "spurious", "not in the text", "wrong type", *BOUNDARY, "wrong relevance")
KINDS: tuple[RowKind, ...] = ("correct", *ERRORS)

MEANING: dict[RowKind, str] = {
    "correct": "place, type and relevance (where both state one) as in gold",
    "missed": "a gold mention that no prediction overlaps, or only such as go with others",
    "spurious": "a predicted mention where gold has none, or none that is left",
    "not in the text": "a predicted value that the text does not hold",
    "wrong type": "the place overlaps, but the types differ (the place or the relevance may differ, too)",
    "too long": "the predicted mention holds the gold one and more",
    "too short": "the predicted mention is a part of the gold one",
    "shifted": "both overlap, and each has a part of its own",
    "split": "several predicted mentions for one of gold",
    "merged": "one predicted mention for several of gold",
    "wrong relevance": "place and type are right, high and low are confused",
}
_Key = Callable[[AnnotatedMention], object]
_Numbered = dict[int, AnnotatedMention]  # in the order of the text
# An overlap, the best first when sorted: minus its code points, those of both together, whether type and relevance differ, both numbers.
_Overlap = tuple[int, int, bool, bool, int, int]


@dataclass(frozen=True, slots=True)
class Row:
    """Mentions that belong together: one of gold and one predicted, or one and several, or one alone.

    ``gold`` is empty for what is spurious, ``found`` for what was missed; the first of each are those that were aligned, the others
    follow in the order of the text. ``kind`` is the first that holds of wrong type, a boundary error, wrong relevance; ``also`` are
    the others that hold.
    """

    kind: RowKind
    gold: tuple[AnnotatedMention, ...] = ()
    found: tuple[AnnotatedMention, ...] = ()
    also: tuple[RowKind, ...] = ()

    @property
    def counted(self) -> tuple[AnnotatedMention, ...]:
        """The mentions that the row counts for: those of gold, or what was predicted without any."""
        return self.gold or self.found


def judged(gold: Sequence[AnnotatedMention], found: Sequence[AnnotatedMention]) -> Row:
    """Return the row of mentions that were aligned with each other; neither side is empty, and one of them has one mention."""
    kinds: list[RowKind] = []
    if not {one.entity_type for one in gold} & {one.entity_type for one in found}:
        kinds.append("wrong type")
    boundary = _boundary(gold, found)
    if boundary is not None:
        kinds.append(boundary)
    wanted, given = ({one.relevance for one in side} for side in (gold, found))
    if None not in wanted and None not in given and not wanted & given:
        kinds.append("wrong relevance")
    return Row(kinds[0] if kinds else "correct", tuple(gold), tuple(found), tuple(kinds[1:]))


def _boundary(gold: Sequence[AnnotatedMention], found: Sequence[AnnotatedMention]) -> BoundaryKind | None:
    if len(found) > 1:
        return "split"
    if len(gold) > 1:
        return "merged"
    wanted, given = gold[0].place, found[0].place
    if wanted is None or given is None or wanted == given:
        return None
    if given[0] <= wanted[0] and wanted[1] <= given[1]:
        return "too long"
    if wanted[0] <= given[0] and given[1] <= wanted[1]:
        return "too short"
    return "shifted"


def aligned_rows(pair: Pair) -> list[Row]:
    """Return the rows of *pair* in the order of the text, those without a place last; each mention of either side is in exactly one."""
    text = pair.gold.text if pair.gold.text is not None else pair.found.text
    gold, found = dict(enumerate(sorted(pair.gold.mentions, key=_order))), dict(enumerate(sorted(pair.found.mentions, key=_order)))
    rows = [Row("correct", (a,), (b,)) for a, b in _equals(gold, found, _key_of_place(2))]
    if gold and found:
        rows += [judged((a,), (b,)) for key in (_key_of_place(1), _key_of_place(0)) for a, b in _equals(gold, found, key)]
        rows += [judged((a,), (b,)) for a, b in _same_strings(gold, found)]
        rows += _overlapping(gold, found)
    rows += [Row("missed", (one,)) for one in gold.values()]
    for one in found.values():
        absent = one.place is None and text is not None and (not one.text or one.text not in text)
        rows.append(Row("not in the text" if absent else "spurious", (), (one,)))
    return sorted(rows, key=lambda row: (_order(row.counted[0]), not row.gold))


def _order(mention: AnnotatedMention) -> tuple[object, ...]:
    """Return a key that is equal only for mentions that are equal in all that is said of them."""
    place = (1, 0, 0) if mention.start is None or mention.end is None else (0, mention.start, mention.end)
    labels = (mention.entity_type or "", mention.relevance or "", mention.subtype or "", mention.value_id or "", mention.subject or "")
    return (*place, mention.text, mention.entity_type is None, *labels, mention.annotator or "", mention.identifier or "")


def _key_of_place(labels: int) -> _Key:
    """Return a key of the place and so many labels (type, relevance), None for mentions without a place."""
    return lambda one: None if one.place is None else (one.place, one.entity_type, one.relevance)[: 1 + labels]


def _string(labels: int, *, placed: bool) -> _Key:
    """Return a key of the string and so many labels, for mentions with a place or for those without."""
    return lambda one: None if (one.place is not None) != placed else (one.text, one.entity_type, one.relevance)[: 1 + labels]


def _equals(gold: _Numbered, found: _Numbered, key: _Key, found_key: _Key | None = None) -> list[tuple[AnnotatedMention, AnnotatedMention]]:
    """Take the mentions with an equal key that is not None out of both, and return them in twos."""
    offered: defaultdict[object, list[int]] = defaultdict(list)
    for number in reversed(found):
        offered[(found_key or key)(found[number])].append(number)
    offered.pop(None, None)
    taken = [(number, same.pop()) for number, one in gold.items() if (same := offered.get(key(one)))]
    return [(gold.pop(a), found.pop(b)) for a, b in taken]


def _same_strings(gold: _Numbered, found: _Numbered) -> Iterator[tuple[AnnotatedMention, AnnotatedMention]]:
    """Take mentions of the same string, of which one or both have no place, out of both, and yield them in twos."""
    if all(one.place for side in (gold, found) for one in side.values()):
        return
    for labels in (2, 1, 0):
        for wanted, given in ((False, False), (False, True), (True, False)):
            yield from _equals(gold, found, _string(labels, placed=wanted), _string(labels, placed=given))


def _overlapping(gold: _Numbered, found: _Numbered) -> list[Row]:
    """Take the mentions that overlap one of the other side out of both, as far as steps 2 and 3 place them, and return their rows."""
    overlaps = sorted(_overlaps(gold, found))
    groups: dict[tuple[str, int], tuple[list[int], list[int]]] = {}  # by the aligned ones: ("gold", number) and ("found", number)
    placed: set[tuple[str, int]] = set()
    for *_, a, b in overlaps:
        if ("gold", a) not in placed and ("found", b) not in placed:
            groups["gold", a] = groups["found", b] = ([a], [b])
            placed |= {("gold", a), ("found", b)}
    rows = [groups[key] for key in groups if key[0] == "gold"]
    for *_, a, b in overlaps:
        split, merged = groups.get(("gold", a)), groups.get(("found", b))
        if split is not None and ("found", b) not in placed and len(split[0]) == 1:
            split[1].append(b)
            placed.add(("found", b))
        elif merged is not None and ("gold", a) not in placed and len(merged[1]) == 1:
            merged[0].append(a)
            placed.add(("gold", a))
    return [judged([gold.pop(a) for a in _first_then_sorted(one)], [found.pop(b) for b in _first_then_sorted(two)]) for one, two in rows]


def _first_then_sorted(numbers: Sequence[int]) -> list[int]:
    return [numbers[0], *sorted(numbers[1:])]


def _overlaps(gold: _Numbered, found: _Numbered) -> Iterator[_Overlap]:
    """Yield all overlaps, by one way through both in the order of the text; a mention is looked at while it may overlap what begins."""
    sides = (gold, found)
    begins = sorted((one.place, side, number) for side in (0, 1) for number, one in sides[side].items() if one.place)
    running: tuple[list[tuple[int, int, int]], list[tuple[int, int, int]]] = ([], [])
    for (start, end), side, number in begins:
        facing = running[1 - side]
        facing[:] = [each for each in facing if each[1] > start]
        if end > start:
            for first, last, other in facing:
                a, b = (other, number) if side else (number, other)
                common, both = min(end, last) - start, max(end, last) - first
                differs = gold[a].entity_type != found[b].entity_type, gold[a].relevance != found[b].relevance
                yield -common, both, *differs, a, b
            running[side].append((start, end, number))
