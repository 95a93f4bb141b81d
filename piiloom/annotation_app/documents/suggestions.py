"""Suggestions in a text that people edit: where they are now, and what accepting or refusing them does.

``editor/js/suggestions.js`` must decide the same as ``taken`` and ``refused``.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from piiloom.annotation_app.documents.document import Decided, Document, Mark, Outcome, State
from piiloom.annotation_app.documents.operations import Taken
from piiloom.annotation_app.documents.realigning import realigned_through
from piiloom.annotation_app.documents.refusals import Refusal
from piiloom.annotation_app.documents.text_edits import edits_between
from piiloom.corpus.store.suggestions import ORIGIN, Suggestion

# Why a suggestion cannot be shown: its own words were edited, or they are gone.
Withdrawal = Literal["text_changed", "text_gone"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Placement:
    """Where a suggestion is in the text as it is now; ``withdrawn`` says why it is nowhere."""

    suggestion: Suggestion
    start: int
    end: int
    withdrawn: Withdrawal | None = None


def placements(suggestions: Sequence[Suggestion], base: Document, document: Document) -> list[Placement]:
    """Move *suggestions* to the text of *document*, which began as *base*. One whose own words have changed is withdrawn."""
    by_text: dict[str, list[Suggestion]] = {}
    for one in suggestions:
        by_text.setdefault(base.context if one.text is None else one.text, []).append(one)
    found: dict[str, Placement] = {}
    for text, group in by_text.items():
        edits = edits_between(text, document.context)
        marks = [Mark(id=one.id, start=one.start, end=one.end, entity_type=one.entity_type) for one in group]
        moved = {mark.id: mark for mark in realigned_through(marks, edits)}
        for one in group:
            mark = moved.get(one.id)
            if mark is None:
                found[one.id] = Placement(suggestion=one, start=one.start, end=one.end, withdrawn="text_gone")
            else:
                found[one.id] = Placement(suggestion=one, start=mark.start, end=mark.end, withdrawn="text_changed" if mark.doubt else None)
    return [found[one.id] for one in suggestions]


def span_for(document: Document, taken: Taken, placed: Mapping[str, Placement]) -> tuple[Mark, bool]:
    """Return the span that *taken* asks for, and whether it is to be added (False: *document* has it already).

    Raises ``Refusal`` if a suggestion is not open.
    """
    for mark in document.marks:
        if (mark.start, mark.end, mark.entity_type) == (taken.start, taken.end, taken.entity_type):
            return mark, False
    first = _placed(taken.suggestions[0], placed).suggestion
    subtypes = (_placed(name, placed).suggestion for name in taken.suggestions)
    subtype = next((one.subtype for one in subtypes if one.subtype and one.entity_type == taken.entity_type), None)
    made = Mark(
        id=f"{ORIGIN}{first.id}",
        start=taken.start,
        end=taken.end,
        entity_type=taken.entity_type,
        relevance=taken.relevance,
        subtype=subtype,
    )
    return made, True


def outcome_of(taken: Taken, placement: Placement) -> Outcome:
    """Whether *taken* is what the suggestion says; a relevance that it does not tell is no change."""
    said = placement.suggestion
    same = (placement.start, placement.end, said.entity_type) == (taken.start, taken.end, taken.entity_type)
    return "accepted" if same and said.relevance in {None, taken.relevance} else "changed"


def open_ones(names: Iterable[str], state: State, placed: Mapping[str, Placement]) -> list[Placement]:
    """Return the suggestions called *names*; raises ``Refusal`` if one is unknown, withdrawn, decided already or named twice."""
    decided = {one.suggestion for one in state.decided}
    found: list[Placement] = []
    for name in names:
        if name in decided:
            raise Refusal("already_decided")
        decided.add(name)
        found.append(_placed(name, placed))
    return found


def with_decisions(state: State, fresh: Iterable[Decided]) -> State:
    """Return *state* with the decisions *fresh*, which replace earlier ones on the same suggestions."""
    decided = {one.suggestion: one for one in (*state.decided, *fresh)}
    return replace(state, decided=tuple(decided[name] for name in sorted(decided)))


def after_change(state: State, before: Document) -> State:
    """Return *state*, whose document was *before*, with decisions that fit what became of their spans by an operation on spans.

    A span that is changed later was suggested otherwise, and one that is removed was refused after all.
    """
    if not state.decided or state.document == before:
        return state
    marks = {mark.id: mark for mark in state.document.marks}
    fresh = [_followed(one, before.mark(one.span), marks.get(one.span)) for one in state.decided if one.span is not None]
    return with_decisions(state, fresh)


def _followed(decided: Decided, before: Mark | None, now: Mark | None) -> Decided:
    if before is None or before == now:
        return decided
    if now is None:
        return replace(decided, how="refused", span=None)
    differs = (before.start, before.end, before.entity_type) != (now.start, now.end, now.entity_type)
    return replace(decided, how="changed") if differs else decided


def _placed(name: str, placed: Mapping[str, Placement]) -> Placement:
    found = placed.get(name)
    if found is None or found.withdrawn:
        raise Refusal("no_suggestion")
    return found
