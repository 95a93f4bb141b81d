"""Documents for tests of masking: mentions are found by their text, and drawn at random for laws."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from hypothesis import strategies as st

from piiloom.evaluation.inputs.documents import AnnotatedDocument, AnnotatedMention


def mention(text: str, said: str, entity_type: str | None = None, nth: int = 1, **more: Any) -> AnnotatedMention:
    """The *nth* place of *said* in *text*."""
    start = -1
    for _ in range(nth):
        start = text.index(said, start + 1)
    return AnnotatedMention(text=said, entity_type=entity_type, start=start, end=start + len(said), **more)


def document(text: str | None, *mentions: AnnotatedMention, **more: Any) -> AnnotatedDocument:
    return AnnotatedDocument(**{"where": "a:1", "id": "a", "text": text, "mentions": mentions, **more})


def masking(text: str, *said: str) -> AnnotatedDocument:
    """A prediction of the first place of each of *said*."""
    return document(text, *(mention(text, one) for one in said))


TEXT = "Ann Lee, 5 Elm St. ♥ met Bo-Jo;\nSí"

_PLACES = st.tuples(st.integers(0, len(TEXT)), st.integers(0, len(TEXT) - 1)).map(
    lambda ends: (min(ends), max(ends) + (ends[0] <= ends[1]))
)
# Type, annotator, value id, kind of identifier, relevance, subject.
_ATTRIBUTES = st.tuples(
    st.sampled_from(["name", "age", "PERSON", None]),
    st.sampled_from(["one", "two"]),
    st.sampled_from(["v1", "v2", None]),
    st.sampled_from(["direct", "quasi", "none", None]),
    st.sampled_from(["high", "low", None]),
    st.sampled_from(["self", "sister", None]),
)


def _drawn(place: tuple[int, int], attributes: tuple[Any, ...]) -> AnnotatedMention:
    names = ("entity_type", "annotator", "value_id", "identifier", "relevance", "subject")
    return AnnotatedMention(text=TEXT[slice(*place)], start=place[0], end=place[1], **dict(zip(names, attributes, strict=True)))


GOLD = st.lists(st.builds(_drawn, _PLACES, _ATTRIBUTES), max_size=5)
FOUND_MENTION = st.builds(_drawn, _PLACES, _ATTRIBUTES).map(
    lambda one: replace(one, annotator=None, value_id=None, identifier=None, subject=None)
)
FOUND = st.lists(FOUND_MENTION, max_size=5)
