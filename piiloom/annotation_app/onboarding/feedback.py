"""Compare an annotation with a reference: remarks in plain words, and a score."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from piiloom.annotation_app.documents.differences import Difference, compare, paired
from piiloom.annotation_app.documents.document import Document, Mark

# A span is worth three points: ends, type, relevance. A missing or superfluous span loses all three.
_PARTS = 3
_LOSS = {"only_left": _PARTS, "only_right": _PARTS, "boundary": 1, "type": 1, "relevance": 1}
# Reasons are only shown for these kinds: they say why a span matters, not where it ends.
_EXPLAINED = ("relevance", "only_left")
_SHOWN = 80


@dataclass(frozen=True, slots=True, kw_only=True)
class Remark:
    """One difference, worded for the person. ``span`` is the id of their span, or else the reference's; ``why`` explains the latter."""

    kind: str
    sentence: str
    span: str | None = None
    why: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Feedback:
    """Result of a comparison: ``score`` is from 0 to 1; ``right`` of the ``expected`` reference spans are matched in all respects."""

    remarks: tuple[Remark, ...]
    score: float
    right: int
    expected: int

    @property
    def perfect(self) -> bool:
        """Whether there are no remarks."""
        return not self.remarks


def feedback_on(reference: Document, theirs: Document, reasons: Mapping[str, str] | None = None) -> Feedback:
    """Compare *theirs* with *reference*; *reasons* has explanations of reference spans, by span id."""
    differences = compare(reference, theirs)
    remarks = tuple(_remark(difference, reference, theirs, reasons or {}) for difference in differences)
    wrong = {difference.left.id for difference in differences if difference.left is not None}
    right = sum(mark.id not in wrong for mark in reference.marks)
    return Feedback(remarks=remarks, score=score_of(reference, theirs), right=right, expected=len(reference.marks))


def score_of(reference: Document, theirs: Document) -> float:
    """Return the share of points reached, from 0 to 1.

    Each reference span, and each superfluous span, is worth three points: ends, type, relevance. So one wrong blank at an end costs
    a third of a span. Differences in the texts are not scored. If neither side has spans, the score is 1.
    """
    differences = compare(reference, theirs)
    spans = len(paired(reference, theirs))
    lost = sum(_LOSS.get(difference.kind, 0) for difference in differences)
    return 1 - lost / (_PARTS * spans) if spans else 1.0


def counted(remarks: Sequence[Remark]) -> dict[str, int]:
    """Count the remarks by kind."""
    return dict(sorted(Counter(remark.kind for remark in remarks).items()))


def _remark(difference: Difference, reference: Document, theirs: Document, reasons: Mapping[str, str]) -> Remark:
    sentence = _sentence(difference, reference.context, theirs.context)
    shown = difference.right or difference.left
    why = reasons.get(difference.left.id) if difference.left and difference.kind in _EXPLAINED else None
    return Remark(kind=difference.kind, sentence=sentence, span=shown.id if shown else None, why=why)


def _sentence(difference: Difference, expected: str, given: str) -> str:
    left, right = difference.left, difference.right
    if left is not None and right is not None:
        return _of_pair(difference.kind, left, right, expected, given)
    if left is not None:
        return f"You did not mark “{_cut(left, expected)}” ({left.entity_type}, {_relevance(left)})."
    if right is not None:
        return f"“{_cut(right, given)}” should not be marked."
    what = "question" if difference.kind == "question" else "text"
    return f"The {what} is worded otherwise in the reference. There can be several good wordings."


def _of_pair(kind: str, left: Mark, right: Mark, expected: str, given: str) -> str:
    if kind == "boundary":
        return f"You marked “{_cut(right, given)}”; the span should be “{_cut(left, expected)}”."
    if kind == "type":
        return f"“{_cut(right, given)}” is {left.entity_type}, not {right.entity_type}."
    return f"“{_cut(right, given)}” should have {_relevance(left)}; you gave it {_relevance(right)}."


def _relevance(mark: Mark) -> str:
    return f"{mark.relevance} relevance" if mark.relevance else "no relevance"


def _cut(mark: Mark, text: str) -> str:
    surface = text[mark.start : mark.end]
    return surface if len(surface) <= _SHOWN else f"{surface[: _SHOWN - 1]}…"
