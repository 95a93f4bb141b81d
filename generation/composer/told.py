"""A told story: a text, its spans, and the questions asked of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class ToldSpan:
    """A value as it stands in the text, ``text[start:end]``; ``fact`` is its name in the story."""

    start: int
    end: int
    value: str
    entity_type: str
    subtype: str
    fact: str
    subject: str


@dataclass(frozen=True, slots=True, kw_only=True)
class AskedQuestion:
    """A question of the text, which of the facts told are high for it, and why; the others are low."""

    id: str
    text: str
    high: Mapping[str, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class ToldStory:
    """A text with its spans in order, and its questions; ``habit`` names how its writer departs from the book, if they do."""

    story: str
    text: str
    spans: tuple[ToldSpan, ...]
    questions: tuple[AskedQuestion, ...]
    habit: str | None = None
