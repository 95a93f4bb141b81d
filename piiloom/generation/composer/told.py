"""A told story: a text, its spans, and the questions asked of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class ToldSpan:
    """A value in the text, at ``text[start:end]``; ``fact`` is its name in the story."""

    start: int
    end: int
    value: str
    entity_type: str
    subtype: str
    fact: str
    subject: str


@dataclass(frozen=True, slots=True, kw_only=True)
class AskedQuestion:
    """A question about the text. ``high``: the told facts that matter to it, each with the reason; all others are low."""

    id: str
    text: str
    high: Mapping[str, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class ToldStory:
    """A text with its spans in order, and its questions; ``habit`` is the writer's orthographic habit, None if there is none.

    ``lookalikes`` are the (kind, value) of the look-alikes in the text.
    """

    story: str
    text: str
    spans: tuple[ToldSpan, ...]
    questions: tuple[AskedQuestion, ...]
    habit: str | None = None
    lookalikes: tuple[tuple[str, str], ...] = ()

    def bracketed(self) -> str:
        """Return the text with each value in square brackets."""
        text = self.text
        for span in reversed(self.spans):
            text = f"{text[: span.start]}[{span.value}]{text[span.end :]}"
        return text
