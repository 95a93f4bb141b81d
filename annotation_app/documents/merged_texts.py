"""Three-way merge of one text, and how to get from each side's text to the merged one."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from piiloom.annotation_app.documents.text_edits import TextEdit, edited, edits_between


@dataclass(frozen=True, slots=True, kw_only=True)
class Clash:
    """A stretch that both sides changed differently, as ranges of our text and of their text."""

    ours: tuple[int, int]
    theirs: tuple[int, int]


@dataclass(frozen=True, slots=True, kw_only=True)
class MergedText:
    """The text with both sides' changes (with ours at a clash), and the edits that lead there."""

    text: str
    clashes: tuple[Clash, ...]
    edits_of_ours: tuple[TextEdit, ...]
    edits_of_theirs: tuple[TextEdit, ...]
    ours_to_merged: tuple[TextEdit, ...]
    theirs_to_merged: tuple[TextEdit, ...]


@dataclass(slots=True)
class _Region:
    """A stretch of the base and the edits of either side that fall into it."""

    start: int
    end: int
    ours: list[TextEdit]
    theirs: list[TextEdit]

    def of(self, edits: Sequence[TextEdit], base: str) -> str:
        """What the stretch reads after *edits*."""
        shifted = [TextEdit(edit.start - self.start, edit.end - self.start, edit.inserted) for edit in edits]
        return edited(base[self.start : self.end], shifted)


def merge_texts(base: str, ours: str, theirs: str) -> MergedText:
    """Merge two texts that were both made of *base*; stretches next to each other, but not sharing a character, don't clash."""
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


def _regions(ours: Iterable[TextEdit], theirs: Iterable[TextEdit]) -> list[_Region]:
    """The edits of both sides in text order, those that share a place together."""
    both = sorted([(edit.start, edit.end, side, edit) for side, edits in enumerate((ours, theirs)) for edit in edits], key=lambda e: e[:3])
    regions: list[_Region] = []
    for start, end, side, edit in both:
        last = regions[-1] if regions else None
        same_place = last is not None and last.start == last.end == start == end
        if last is None or (start >= last.end and not same_place):
            regions.append(last := _Region(start, end, [], []))
        last.end = max(last.end, end)
        (last.theirs if side else last.ours).append(edit)
    return regions
