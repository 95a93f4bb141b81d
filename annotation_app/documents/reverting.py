"""Taking back one step in the middle of a history and keeping what came later."""

from __future__ import annotations

from dataclasses import replace
from typing import TypeVar

from piiloom.annotation_app.documents.applying import check_acceptable, with_document
from piiloom.annotation_app.documents.document import Document, State
from piiloom.annotation_app.documents.merging import merge
from piiloom.annotation_app.documents.refusals import Refusal

T = TypeVar("T")


def reverted(now: State, *, step: tuple[State, State], base: Document) -> State:
    """*now* without the *step* that led from its first to its second state; raises ``Refusal`` where later steps stand on it.

    It never accepts or rejects a document that it changes: what comes out has not been looked at in whole.
    """
    before, after = step
    merged = merge(after.document, now.document, before.document)
    if merged.conflicts:
        raise Refusal("no_longer_fits")
    verdict = _three_way((after.verdict, after.reason), (now.verdict, now.reason), (before.verdict, before.reason))
    flag = _three_way((after.flag,), (now.flag,), (before.flag,))
    if merged.document == now.document:
        state = replace(now, verdict=verdict[0], reason=verdict[1], flag=flag[0])
    else:
        state = replace(with_document(now, merged.document), flag=flag[0])
    if state == now:
        raise Refusal("no_longer_fits", "There is nothing left of this step that could be taken back.")
    if state.verdict == "accepted" != now.verdict:
        check_acceptable(state.document, base)
    return state


def _three_way(base: T, ours: T, theirs: T) -> T:
    if theirs in (base, ours):
        return ours
    if ours != base:
        raise Refusal("no_longer_fits")
    return theirs
