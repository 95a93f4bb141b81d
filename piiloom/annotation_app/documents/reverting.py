"""Revert one step in the middle of a history and keep the later steps."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TypeVar

from piiloom.annotation_app.documents.applying import check_acceptable, with_document
from piiloom.annotation_app.documents.document import Decided, Document, State
from piiloom.annotation_app.documents.merging import merge
from piiloom.annotation_app.documents.refusals import Refusal

T = TypeVar("T")


def reverted(now: State, *, step: tuple[State, State], base: Document) -> State:
    """Return *now* without *step*, given as (state before it, state after it); the later steps are kept.

    This is a three-way merge with the state after the step as base. Raises ``Refusal`` ("no_longer_fits") if later steps
    changed the same things or nothing is left to revert, and if an acceptance would be restored that is not allowed. If the
    document changes, the verdict becomes "open", because nobody has reviewed the result as a whole.
    """
    before, after = step
    merged = merge(after.document, now.document, before.document)
    if merged.conflicts:
        raise Refusal("no_longer_fits")
    verdict = _three_way((after.verdict, after.reason), (now.verdict, now.reason), (before.verdict, before.reason))
    flag = _three_way((after.flag,), (now.flag,), (before.flag,))
    decided = _decisions(after.decided, now.decided, before.decided)
    if merged.document == now.document:
        state = replace(now, verdict=verdict[0], reason=verdict[1], flag=flag[0], decided=decided)
    else:
        state = replace(with_document(now, merged.document), flag=flag[0], decided=decided)
    if state == now:
        raise Refusal("no_longer_fits", "There is nothing left of this step that could be taken back.")
    if state.verdict == "accepted" != now.verdict:
        check_acceptable(state.document, base)
    return state


def _decisions(base: Sequence[Decided], ours: Sequence[Decided], theirs: Sequence[Decided]) -> tuple[Decided, ...]:
    sides = [{one.suggestion: one for one in side} for side in (base, ours, theirs)]
    names = sorted(set().union(*sides))
    found = (_three_way(*(side.get(name) for side in sides)) for name in names)
    return tuple(one for one in found if one is not None)


def _three_way(base: T, ours: T, theirs: T) -> T:
    if theirs in (base, ours):
        return ours
    if ours != base:
        raise Refusal("no_longer_fits")
    return theirs
