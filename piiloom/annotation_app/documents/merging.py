"""Three-way merge of documents: two versions that were both edited from the same base.

Texts are merged by changed region; spans are matched by id and merged field by field. If both sides changed the same thing
differently, our version is kept and a conflict is reported.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal

from piiloom.annotation_app.documents.document import Document, Mark
from piiloom.annotation_app.documents.merged_texts import MergedText, merge_texts
from piiloom.annotation_app.documents.realigning import realigned_through

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

    document: Document
    conflicts: tuple[Conflict, ...] = ()


@dataclass(frozen=True, slots=True)
class _Side:
    """The marks of one side, by id.

    ``marks`` are as this side has them; ``expected`` are the base's marks after only this side's text edits; ``mapped`` are this
    side's marks moved to the merged text.
    """

    marks: dict[str, Mark]
    expected: dict[str, Mark]
    mapped: dict[str, Mark]

    def moved(self, name: str) -> bool:
        """Whether this side moved the ends of the mark (or added it), beyond what its text edits did."""
        mark, expected = self.marks[name], self.expected.get(name)
        return expected is None or (mark.start, mark.end) != (expected.start, expected.end)

    def touched(self, name: str) -> bool:
        """Whether this side changed, added or removed the mark, beyond what its text edits did."""
        return self.marks.get(name) != self.expected.get(name)


def merge(base: Document, ours: Document, theirs: Document) -> Merged:
    """Merge *ours* and *theirs*, which were both edited from *base*."""
    texts = merge_texts(base.context, ours.context, theirs.context)
    question, question_clash = _merged_question(base.question, ours.question, theirs.question)
    conflicts = [Conflict(kind="context", ours=clash.ours, theirs=clash.theirs) for clash in texts.clashes]
    conflicts += [Conflict(kind="question")] * question_clash
    marks, span_conflicts = _merged_marks(base, ours, theirs, texts)
    return Merged(document=Document(context=texts.text, question=question, marks=marks), conflicts=(*conflicts, *span_conflicts))


def _merged_question(base: str | None, ours: str | None, theirs: str | None) -> tuple[str | None, bool]:
    if theirs in {base, ours}:
        return ours, False
    if ours == base:
        return theirs, False
    if base is None or ours is None or theirs is None:
        return ours, True
    merged = merge_texts(base, ours, theirs)
    return merged.text, bool(merged.clashes)


def _merged_marks(base: Document, ours: Document, theirs: Document, texts: MergedText) -> tuple[tuple[Mark, ...], list[Conflict]]:
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
    kept: dict[str, Mark] = {}  # marks at the position that ours gives them
    taken: dict[str, Mark] = {}  # marks at a position that only theirs gives them
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


def _merged_mark(name: str, base: Mark | None, our: _Side, their: _Side) -> tuple[Mark | None, bool, list[str]]:
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


def _place(name: str, base: Mark | None, our: _Side, their: _Side) -> tuple[Mark | None, bool, bool]:
    """Choose the position of a mark that both sides have.

    Return the mark there (None if its text is gone), whether the position is theirs, and whether the positions conflict.
    """
    mine, yours = our.mapped.get(name), their.mapped.get(name)
    if our.moved(name):
        return mine, False, mine is None or (their.moved(name) and _ends(mine) != _ends(yours))
    if base is None or not their.moved(name):
        return mine, False, False
    return (mine, False, True) if yours is None else (yours, True, False)


def _on_one_side(name: str, base: Mark | None, our: _Side, their: _Side) -> tuple[Mark | None, bool, list[str]]:
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


def _settled(kept: dict[str, Mark], taken: dict[str, Mark], ours: Mapping[str, Mark]) -> list[str]:
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


def _named(marks: tuple[Mark, ...]) -> dict[str, Mark]:
    return {mark.id: mark for mark in marks}


def _ends(mark: Mark | None) -> tuple[int, int] | None:
    return None if mark is None else (mark.start, mark.end)
