"""Edit texts and move spans along; compare two versions of a record, and merge two that were both edited from the same base.

Texts are merged by changed region; spans are matched by id and merged field by field. If both sides changed the same thing
differently, our version is kept and a conflict is reported.

Text inserted directly before or after a span does not become part of it. A span whose own text changed is marked as in doubt. A
span is removed if its text was deleted, or replaced together with text around it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from difflib import SequenceMatcher
from functools import lru_cache
from itertools import accumulate
from typing import Any, Literal

from rapidfuzz.distance import Postfix, Prefix

from piiloom.annotation_app.documents.document import EditedDocument, SpanMark
from piiloom.foundation.words import Range

# The diff's tokens: a word or a single other character, each with the white space after it. White space as a token of its own
# would match everywhere.
_PIECE = re.compile(r"\w+\s*|\W\s*")
_EXACT_UP_TO = 1000  # tokens; above that difflib's autojunk heuristic ignores frequent tokens, which is faster but less exact


@dataclass(frozen=True, slots=True)
class TextEdit:
    """Replacement of ``text[start:end]`` by ``inserted``."""

    start: int
    end: int
    inserted: str

    @property
    def growth(self) -> int:
        """The change in text length, in code points; negative if the text gets shorter."""
        return len(self.inserted) - (self.end - self.start)

    def applied_to(self, text: str) -> str:
        """*text* after the edit."""
        return f"{text[: self.start]}{self.inserted}{text[self.end :]}"


def edited(text: str, edits: Sequence[TextEdit]) -> str:
    """Return *text* after disjoint *edits*, given in text order and with offsets of *text*."""
    pieces, position = [], 0
    for edit in edits:
        pieces += [text[position : edit.start], edit.inserted]
        position = edit.end
    return "".join((*pieces, text[position:]))


def edits_between(a: str, b: str) -> list[TextEdit]:
    """Return disjoint edits, in text order, that turn *a* into *b*.

    The texts are compared word by word; each edit is then trimmed to the characters that differ. Results are cached.
    """
    return list(_edits_between(a, b))


# Cached, since pages compare the same long texts at each rerun: 0.2 s for 20,000 words with 300 edits.
@lru_cache(maxsize=32)
def _edits_between(a: str, b: str) -> tuple[TextEdit, ...]:
    head, tail = common_edges(a, b)
    old, new = a[head : len(a) - tail], b[head : len(b) - tail]
    if not old or not new:
        return (TextEdit(head, head + len(old), new),) if old or new else ()
    return tuple(_edits_of_pieces(old, new, head))


def common_edges(a: str, b: str) -> tuple[int, int]:
    """Return the lengths of the common prefix and common suffix of *a* and *b*, in code points; the two never overlap."""
    head = Prefix.similarity(a, b)
    return head, min(Postfix.similarity(a, b), len(a) - head, len(b) - head)


def _edits_of_pieces(old: str, new: str, offset: int) -> Iterator[TextEdit]:
    left, right = _PIECE.findall(old), _PIECE.findall(new)
    places, others = ([0, *accumulate(map(len, pieces))] for pieces in (left, right))
    matcher = SequenceMatcher(None, left, right, autojunk=max(len(left), len(right)) > _EXACT_UP_TO)
    for tag, i, j, k, m in matcher.get_opcodes():
        if tag != "equal":
            before, after = old[places[i] : places[j]], new[others[k] : others[m]]
            head, tail = common_edges(before, after)
            start, end = offset + places[i] + head, offset + places[j] - tail
            yield TextEdit(start, end, after[head : len(after) - tail])


def realigned(marks: Sequence[SpanMark], edit: TextEdit) -> tuple[SpanMark, ...]:
    """Return *marks* (sorted, disjoint) after *edit*, which must change the text; marks whose text is gone are left out."""
    return tuple(moved for mark in marks if (moved := _after(mark, edit)) is not None)


def realigned_through(marks: Sequence[SpanMark], edits: Iterable[TextEdit]) -> tuple[SpanMark, ...]:
    """Return *marks* after several disjoint *edits*, given in text order and with offsets of the original text."""
    found = tuple(marks)
    for edit in reversed(list(edits)):  # from the right, so that the offsets of the remaining edits stay valid
        found = realigned(found, edit)
    return found


def _after(mark: SpanMark, edit: TextEdit) -> SpanMark | None:
    if edit.start >= mark.end:
        return mark
    if edit.end <= mark.start:
        return replace(mark, start=mark.start + edit.growth, end=mark.end + edit.growth)
    start, end = _ends_after(mark, edit)
    return replace(mark, start=start, end=end, doubt=True) if start < end else None


def _ends_after(mark: SpanMark, edit: TextEdit) -> tuple[int, int]:
    """Return the new ends of a mark that *edit* overlaps; start equals end if nothing is left of it."""
    if mark.start <= edit.start and edit.end <= mark.end:
        return mark.start, mark.end + edit.growth
    if edit.start <= mark.start and mark.end <= edit.end:
        return mark.start, mark.start
    if edit.start < mark.start:
        return edit.start + len(edit.inserted), mark.end + edit.growth
    return mark.start, edit.start


@dataclass(frozen=True, slots=True, kw_only=True)
class Clash:
    """A region that both sides changed differently, as (start, end) in our text and in their text."""

    ours: tuple[int, int]
    theirs: tuple[int, int]


@dataclass(frozen=True, slots=True, kw_only=True)
class MergedText:
    """The merged text; at a clash it has our version.

    ``edits_of_ours`` and ``edits_of_theirs`` lead from the base to each side (offsets of the base); ``ours_to_merged`` and
    ``theirs_to_merged`` lead from each side to the merged text (offsets of that side).
    """

    text: str
    clashes: tuple[Clash, ...]
    edits_of_ours: tuple[TextEdit, ...]
    edits_of_theirs: tuple[TextEdit, ...]
    ours_to_merged: tuple[TextEdit, ...]
    theirs_to_merged: tuple[TextEdit, ...]


@dataclass(slots=True)
class _EditedRegion:
    """A range of the base text, with the edits of both sides that lie in it."""

    start: int
    end: int
    ours: list[TextEdit]
    theirs: list[TextEdit]

    def of(self, edits: Sequence[TextEdit], base: str) -> str:
        """Return the text of this region of *base* after *edits*."""
        shifted = [TextEdit(edit.start - self.start, edit.end - self.start, edit.inserted) for edit in edits]
        return edited(base[self.start : self.end], shifted)


def merge_texts(base: str, ours: str, theirs: str) -> MergedText:
    """Merge two texts that were both edited from *base*. Changes to adjacent ranges that share no character do not clash."""
    of_ours, of_theirs = edits_between(base, ours), edits_between(base, theirs)
    pieces: list[str] = []
    clashes: list[Clash] = []
    to_merged: tuple[list[TextEdit], list[TextEdit]] = ([], [])
    position = our_shift = their_shift = 0
    for region in _regions(of_ours, of_theirs):
        mine, yours = region.of(region.ours, base), region.of(region.theirs, base)
        merged = mine if region.ours else yours
        pieces += [base[position : region.start], merged]
        position = region.end
        my_range = (region.start + our_shift, region.start + our_shift + len(mine))
        your_range = (region.start + their_shift, region.start + their_shift + len(yours))
        if region.ours and region.theirs and mine != yours:
            clashes.append(Clash(ours=my_range, theirs=your_range))
        for found, (start, end), text in ((to_merged[0], my_range, mine), (to_merged[1], your_range, yours)):
            if text != merged:
                found.append(TextEdit(start, end, merged))
        our_shift += len(mine) - (region.end - region.start)
        their_shift += len(yours) - (region.end - region.start)
    return MergedText(
        text="".join((*pieces, base[position:])),
        clashes=tuple(clashes),
        edits_of_ours=tuple(of_ours),
        edits_of_theirs=tuple(of_theirs),
        ours_to_merged=tuple(to_merged[0]),
        theirs_to_merged=tuple(to_merged[1]),
    )


def _regions(ours: Iterable[TextEdit], theirs: Iterable[TextEdit]) -> list[_EditedRegion]:
    """Group the edits of both sides into regions, in text order. Overlapping edits, and insertions at one place, share a region."""
    both = sorted([(edit.start, edit.end, side, edit) for side, edits in enumerate((ours, theirs)) for edit in edits], key=lambda e: e[:3])
    regions: list[_EditedRegion] = []
    for start, end, side, edit in both:
        last = regions[-1] if regions else None
        same_place = last is not None and last.start == last.end == start == end
        if last is None or (start >= last.end and not same_place):
            regions.append(last := _EditedRegion(start, end, [], []))
        last.end = max(last.end, end)
        (last.theirs if side else last.ours).append(edit)
    return regions


DifferenceKind = Literal["text", "question", "only_left", "only_right", "boundary", "type", "relevance"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Difference:
    """One difference between a left and a right document.

    ``left_range`` and ``right_range`` are (start, end) offsets in the context of the respective document, or in its question if
    the kind is "question". A pair of spans has up to three differences: boundary, type, relevance. A span that only shifted
    because the text was edited has no ``boundary`` difference.
    """

    kind: DifferenceKind
    left_range: Range | None = None
    right_range: Range | None = None
    left: SpanMark | None = None
    right: SpanMark | None = None


def differences_between(a: EditedDocument, b: EditedDocument) -> list[Difference]:
    """The differences between *a* (left) and *b* (right): texts first, then spans in text order."""
    edits = edits_between(a.context, b.context)
    found = list(_of_text("text", edits))
    if a.question != b.question:
        in_question = edits_between(a.question or "", b.question or "")
        found += list(_of_text("question", in_question or [TextEdit(0, 0, "")]))  # None versus "" is a difference, too
    return found + _of_marks(paired(a, b, edits))


def paired(
    a: EditedDocument, b: EditedDocument, edits: Sequence[TextEdit] | None = None
) -> list[tuple[SpanMark | None, SpanMark | None, bool]]:
    """Align the spans of *a* and *b*: return (span of *a*, span of *b*, whether both have the same ends), in text order.

    Each span is in one row; its partner is None if it has none. To compare, the spans of *a* are first moved to the text of
    *b*. Overlapping spans are paired greedily: equal ends first, then equal ids, then the largest overlap. *edits* turn the
    context of *a* into that of *b*; they are computed if not given.
    """
    if edits is None:
        edits = edits_between(a.context, b.context)
    moved = {mark.id: mark for mark in realigned_through(a.marks, edits)}
    originals = {mark.id: mark for mark in a.marks}
    closest = sorted(_meetings(moved.values(), b.marks), key=lambda meeting: meeting[0])
    partners: dict[str, SpanMark] = {}
    taken: set[str] = set()
    for _, near, other in closest:
        if near.id not in partners and other.id not in taken:
            partners[near.id] = other
            taken.add(other.id)
    rows: list[tuple[int, SpanMark | None, SpanMark | None, bool]] = []
    last = 0
    for name, original in originals.items():
        left, right = moved.get(name), partners.get(name)
        last = left.start if left else last
        rows.append((last, original, right, bool(left and right and _ends(left) == _ends(right))))
    rows += [(mark.start, None, mark, False) for mark in b.marks if mark.id not in taken]
    return [(left, right, same) for _, left, right, same in sorted(rows, key=lambda row: row[0])]


def _meetings(lefts: Iterable[SpanMark], rights: Sequence[SpanMark]) -> Iterator[tuple[tuple[bool, bool, int], SpanMark, SpanMark]]:
    """Yield each overlapping pair with its sort key; better matches have lower keys."""
    for left in lefts:
        for right in rights:
            shared = min(left.end, right.end) - max(left.start, right.start)
            if shared > 0:
                yield (_ends(left) != _ends(right), left.id != right.id, -shared), left, right


def _of_text(kind: DifferenceKind, edits: Sequence[TextEdit]) -> Iterator[Difference]:
    shift = 0
    for edit in edits:
        start = edit.start + shift
        yield Difference(kind=kind, left_range=(edit.start, edit.end), right_range=(start, start + len(edit.inserted)))
        shift += edit.growth


def _of_marks(pairs: Sequence[tuple[SpanMark | None, SpanMark | None, bool]]) -> list[Difference]:
    found: list[Difference] = []
    for left, right, same_ends in pairs:
        for kind in _kinds(left, right, same_ends):
            ranges = [None if mark is None else _ends(mark) for mark in (left, right)]
            found.append(Difference(kind=kind, left_range=ranges[0], right_range=ranges[1], left=left, right=right))
    return found


def _kinds(left: SpanMark | None, right: SpanMark | None, same_ends: bool) -> Iterator[DifferenceKind]:
    if left is None or right is None:
        yield "only_left" if right is None else "only_right"
        return
    if not same_ends:
        yield "boundary"
    if left.entity_type != right.entity_type:
        yield "type"
    if left.relevance != right.relevance:
        yield "relevance"


def _ends(mark: SpanMark) -> Range:
    return mark.start, mark.end


_FIELDS = ("entity_type", "relevance", "subtype", "value_id", "subject")


@dataclass(frozen=True, slots=True, kw_only=True)
class Conflict:
    """Something that both sides changed differently; the merged document has our version.

    ``kind`` is "context" (``ours`` and ``theirs`` are (start, end) in each side's context), "question", or "span" (``span`` is
    its id, ``fields`` lists what conflicts: "place", "presence", "type", "relevance" …).
    """

    kind: Literal["context", "question", "span"]
    span: str | None = None
    fields: tuple[str, ...] = ()
    ours: tuple[int, int] | None = None
    theirs: tuple[int, int] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Merged:
    """The merged document and the conflicts."""

    document: EditedDocument
    conflicts: tuple[Conflict, ...] = ()


@dataclass(frozen=True, slots=True)
class _Side:
    """The marks of one side, by id.

    ``marks`` are as this side has them; ``expected`` are the base's marks after only this side's text edits; ``mapped`` are this
    side's marks moved to the merged text.
    """

    marks: dict[str, SpanMark]
    expected: dict[str, SpanMark]
    mapped: dict[str, SpanMark]

    def moved(self, name: str) -> bool:
        """Whether this side moved the ends of the mark (or added it), beyond what its text edits did."""
        mark, expected = self.marks[name], self.expected.get(name)
        return expected is None or (mark.start, mark.end) != (expected.start, expected.end)

    def touched(self, name: str) -> bool:
        """Whether this side changed, added or removed the mark, beyond what its text edits did."""
        return self.marks.get(name) != self.expected.get(name)


def merge_documents(base: EditedDocument, ours: EditedDocument, theirs: EditedDocument) -> Merged:
    """Merge *ours* and *theirs*, which were both edited from *base*."""
    texts = merge_texts(base.context, ours.context, theirs.context)
    question, question_clash = _merged_question(base.question, ours.question, theirs.question)
    conflicts = [Conflict(kind="context", ours=clash.ours, theirs=clash.theirs) for clash in texts.clashes]
    conflicts += [Conflict(kind="question")] * question_clash
    marks, span_conflicts = _merged_marks(base, ours, theirs, texts)
    return Merged(document=EditedDocument(context=texts.text, question=question, marks=marks), conflicts=(*conflicts, *span_conflicts))


def _merged_question(base: str | None, ours: str | None, theirs: str | None) -> tuple[str | None, bool]:
    if theirs in {base, ours}:
        return ours, False
    if ours == base:
        return theirs, False
    if base is None or ours is None or theirs is None:
        return ours, True
    merged = merge_texts(base, ours, theirs)
    return merged.text, bool(merged.clashes)


def _merged_marks(
    base: EditedDocument, ours: EditedDocument, theirs: EditedDocument, texts: MergedText
) -> tuple[tuple[SpanMark, ...], list[Conflict]]:
    known = _named(base.marks)
    our = _Side(
        _named(ours.marks),
        _named(realigned_through(base.marks, texts.edits_of_ours)),
        _named(realigned_through(ours.marks, texts.ours_to_merged)),
    )
    their = _Side(
        _named(theirs.marks),
        _named(realigned_through(base.marks, texts.edits_of_theirs)),
        _named(realigned_through(theirs.marks, texts.theirs_to_merged)),
    )
    kept: dict[str, SpanMark] = {}  # marks at the position that ours gives them
    taken: dict[str, SpanMark] = {}  # marks at a position that only theirs gives them
    at_odds: dict[str, list[str]] = {}
    for name in known | our.marks | their.marks:
        mark, from_theirs, fields = _merged_mark(name, known.get(name), our, their)
        if fields:
            at_odds[name] = fields
        if mark is not None:
            (taken if from_theirs else kept)[name] = mark
    for name in _settled(kept, taken, our.mapped):
        at_odds.setdefault(name, []).append("place")
    marks = tuple(sorted((kept | taken).values(), key=lambda mark: mark.start))
    return marks, [Conflict(kind="span", span=name, fields=tuple(fields)) for name, fields in at_odds.items()]


def _merged_mark(name: str, base: SpanMark | None, our: _Side, their: _Side) -> tuple[SpanMark | None, bool, list[str]]:
    """Merge one mark: return it in the merged text (None if it is gone), whether its position is theirs, and the conflicting fields."""
    ours, theirs = our.marks.get(name), their.marks.get(name)
    if ours is None or theirs is None:
        return _on_one_side(name, base, our, their)
    place, from_theirs, misplaced = _place(name, base, our, their)
    fields = ["place"] * misplaced
    if place is None:
        return None, False, fields
    values: dict[str, Any] = {}
    for field in (*_FIELDS, "doubt"):
        was = getattr(base, field, getattr(ours, field))
        values[field], clash = _three_way(was, getattr(ours, field), getattr(theirs, field), new=base is None)
        fields += ["type" if field == "entity_type" else field] * (clash and field != "doubt")
    moved = from_theirs or our.moved(name)  # the mark was confirmed at its old position, not at the new one
    return replace(place, **values | {"doubt": values["doubt"] or (moved and place.doubt)}), from_theirs, fields


def _place(name: str, base: SpanMark | None, our: _Side, their: _Side) -> tuple[SpanMark | None, bool, bool]:
    """Choose the position of a mark that both sides have.

    Return the mark there (None if its text is gone), whether the position is theirs, and whether the positions conflict.
    """
    mine, yours = our.mapped.get(name), their.mapped.get(name)
    if our.moved(name):
        return mine, False, mine is None or (their.moved(name) and (yours is None or _ends(mine) != _ends(yours)))
    if base is None or not their.moved(name):
        return mine, False, False
    return (mine, False, True) if yours is None else (yours, True, False)


def _on_one_side(name: str, base: SpanMark | None, our: _Side, their: _Side) -> tuple[SpanMark | None, bool, list[str]]:
    """Merge a mark that at least one side lacks (added by the other side, or removed); returns the same as ``_merged_mark``."""
    has, lacks = (our, their) if name in our.marks else (their, our)
    if name not in has.marks:
        return None, False, []
    # A side that lost the mark only because its text was deleted did not remove the mark itself; the merged text decides.
    if base is None or not lacks.touched(name):
        place = has.mapped.get(name)
        return place, has is their, ["presence"] * (place is None and has.touched(name))
    if not has.touched(name):
        return None, False, []
    return our.mapped.get(name), False, ["presence"]


def _three_way(base: Any, ours: Any, theirs: Any, *, new: bool) -> tuple[Any, bool]:
    if ours == theirs or (theirs == base and not new):
        return ours, False
    return (ours, True) if new or ours != base else (theirs, False)


def _settled(kept: dict[str, SpanMark], taken: dict[str, SpanMark], ours: Mapping[str, SpanMark]) -> list[str]:
    """Resolve overlaps in place: move marks of *taken* that overlap one of *kept* to *kept*, at our position, until none overlap.

    A mark without a position in *ours* is dropped. Marks of the same side never overlap, so only pairs across the sides are
    compared. Returns the ids of the marks that were moved or dropped.
    """
    sent_back: list[str] = []
    while True:
        clashing = [name for name, mark in taken.items() if any(k.start < mark.end and mark.start < k.end for k in kept.values())]
        if not clashing:
            return sent_back
        for name in clashing:
            mark = taken.pop(name)
            if (place := ours.get(name)) is not None:
                kept[name] = replace(mark, start=place.start, end=place.end)
        sent_back += clashing


def _named(marks: tuple[SpanMark, ...]) -> dict[str, SpanMark]:
    return {mark.id: mark for mark in marks}
