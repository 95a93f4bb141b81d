"""Three-way merge of one text, with the edits that lead from each side's text to the merged one."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from piiloom.annotation_app.documents.text_edits import TextEdit, edited, edits_between


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
class _Region:
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


def _regions(ours: Iterable[TextEdit], theirs: Iterable[TextEdit]) -> list[_Region]:
    """Group the edits of both sides into regions, in text order. Overlapping edits, and insertions at one place, share a region."""
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
