"""Bring an answer back: exact spans of the text, and everything else with a reason, so that nothing the answer says vanishes.

``SetAside.reason`` is one of these. Of marks and markers that give no span: what ``pairing`` and ``placing`` name, and
``ambiguous_marker`` (``answer_reading``). Of marks that give one all the same: ``misspelt_marker``, ``respelled_value``,
``no_relevance`` (a question was asked, and the marker does not say). Of the text: ``dropped_text`` (the answer lacks it),
``invented_text`` (the answer has it, the text does not), ``altered_text`` (the answer has this instead), ``altered_blanks`` (all blanks
that differ, as one entry). ``value`` is what the text has of ``dropped_text``, and what the answer says of everything else.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from piiloom.corpus.markers import TYPES, MarkerSet
from piiloom.corpus.mention_search import Range
from piiloom.detection.findings import SetAside
from piiloom.detection.marking.aligning import Alignment
from piiloom.detection.marking.answer_reading import Answer, read_answer
from piiloom.detection.marking.pairing import LostMark
from piiloom.detection.marking.placing import Placed, Placing, Unplaced
from piiloom.foundation.words import trimmed
from piiloom.taxonomy.entity_types import Taxonomy

_PHASE: Final = 0
_TYPICAL_NAME: Final = 60  # longest name of a type that is told


@dataclass(frozen=True, slots=True)
class Brought:
    """What an answer says of its text: ``placed`` are disjoint and in order. ``lost`` characters of the text it does not give back."""

    placed: Sequence[Placed]
    set_aside: Sequence[SetAside]
    lost: int


def bring_back(reply: str, original: str, taxonomy: Taxonomy, markers: MarkerSet = TYPES, *, relevance: bool = False) -> Brought:
    """Return what *reply*, the answer to *original*, says of it with *markers*. *relevance*: these say what matters to a question.

    The ranges of all that is placed are exact, and it has no blanks at its ends.
    """
    answer = read_answer(reply, original, taxonomy, markers)
    alignment = Alignment(original, answer.text)
    placed, unplaced = _placed(answer, alignment)
    otherwise = [one.mark for one in unplaced] + [one.mark for one in placed if one.respelled]
    set_aside = [
        *(_of_lost(one, alignment) for one in answer.lost),
        *(_of_unplaced(one, alignment) for one in unplaced),
        *(told for one in placed for told in _of_placed(one, alignment, relevance=relevance)),
        *_of_changes(alignment, sorted((mark.start, mark.end) for mark in otherwise)),
    ]
    return Brought(placed, set_aside, alignment.lost)


def _placed(answer: Answer, alignment: Alignment) -> tuple[list[Placed], list[Unplaced]]:
    placing = Placing(alignment, answer.marks)
    placed: list[Placed] = []
    unplaced: list[Unplaced] = []
    for found in map(placing.place, answer.marks):
        if isinstance(found, Unplaced):
            unplaced.append(found)
        else:
            placed.append(found)
    kept: list[Placed] = []
    for one in sorted(placed, key=lambda one: (one.respelled, one.mark.start)):
        at = bisect_left(kept, one.start, key=lambda other: other.start)
        if (at == 0 or kept[at - 1].end <= one.start) and (at == len(kept) or one.end <= kept[at].start):
            kept.insert(at, one)
        else:
            again = at < len(kept) and (kept[at].start, kept[at].end) == (one.start, one.end)
            unplaced.append(Unplaced(one.mark, "doubled" if again else "overlapping", one.start, one.end))
    return kept, unplaced


def _of_lost(one: LostMark, alignment: Alignment) -> SetAside:
    start, end = alignment.direct(one.start, one.end) or (None, None)
    return SetAside(
        phase=_PHASE,
        reason=one.reason,
        subtype=one.name[:_TYPICAL_NAME] or None,
        value=alignment.answer[one.start : one.end],
        start=start,
        end=end,
    )


def _of_unplaced(one: Unplaced, alignment: Alignment) -> SetAside:
    mark = one.mark
    return SetAside(
        phase=_PHASE,
        reason=one.reason,
        subtype=mark.entity_type,
        value=alignment.answer[mark.start : mark.end],
        start=one.start,
        end=one.end,
    )


def _of_placed(one: Placed, alignment: Alignment, *, relevance: bool) -> Iterator[SetAside]:
    mark = one.mark
    reasons = {
        "misspelt_marker": mark.misspelt,
        "respelled_value": one.respelled,
        "no_relevance": relevance and mark.relevance is None,
    }
    value = alignment.answer[mark.start : mark.end]
    for reason, holds in reasons.items():
        if holds:
            yield SetAside(phase=_PHASE, reason=reason, subtype=mark.entity_type, value=value, start=one.start, end=one.end)


def _of_changes(alignment: Alignment, told: Sequence[Range]) -> Iterator[SetAside]:
    """What differs between text and answer, but for what is within marks that are *told* already (ranges of the answer)."""
    blanks = 0
    for change in alignment.changes:
        if change.equal:
            continue
        ours = alignment.original[change.a_start : change.a_end]
        theirs = alignment.answer[change.b_start : change.b_end]
        if not ours.strip() and not theirs.strip():
            blanks += 0 if _within((change.b_start, change.b_end), told) else max(len(ours), len(theirs))
        elif not theirs:
            yield SetAside(phase=_PHASE, reason="dropped_text", value=ours, start=change.a_start, end=change.a_end)
        elif not _within(trimmed(alignment.answer, change.b_start, change.b_end), told):
            if ours:
                yield SetAside(phase=_PHASE, reason="altered_text", value=theirs, start=change.a_start, end=change.a_end)
            else:
                yield SetAside(phase=_PHASE, reason="invented_text", value=theirs)
    if blanks:
        yield SetAside(phase=_PHASE, reason="altered_blanks", value=" " * blanks)


def _within(one: Range, others: Sequence[Range]) -> bool:
    """Whether *one* lies in one of *others*, which are disjoint and in order."""
    at = bisect_right(others, one[0], key=lambda other: other[0]) - 1
    return at >= 0 and one[1] <= others[at][1]
