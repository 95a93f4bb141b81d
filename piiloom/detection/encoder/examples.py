"""Records as a training reads them: windows with the tag of each token, and the spans whose relevance is known."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from piiloom.corpus.record import Record
from piiloom.detection.encoder.relevance_head import HIGH, LOW
from piiloom.detection.encoder.tags import token_tags
from piiloom.detection.encoder.windows import EncoderWindow, WindowMaker


@dataclass(frozen=True, slots=True)
class JudgedSpan:
    """A span with a known relevance: its tokens in the window, its label, and its place in the text, by which pairs find each other."""

    first: int
    last: int
    label: int
    place: tuple[int, int]


@dataclass(frozen=True, slots=True)
class EncoderExample:
    """A window and what is to be learnt from it. ``tags`` are those of its tokens of the text; ``group`` is the contrast group."""

    window: EncoderWindow
    tags: list[int]
    judged: tuple[JudgedSpan, ...]
    group: str | None

    @property
    def size(self) -> int:
        """How many tokens it has."""
        return len(self.window.ids)

    def without_question(self) -> EncoderExample:
        """Return it as it is without its question, to which then nothing is relevant."""
        start, end = self.window.question
        if start == end:
            return self
        old = self.window
        ids, segments = [*old.ids[:start], *old.ids[end:]], [*old.segments[:start], *old.segments[end:]]
        return EncoderExample(EncoderWindow(ids, segments, (start, start), old.text, old.at - (end - start)), self.tags, (), self.group)


def encoder_examples(
    records: Iterable[Record], maker: WindowMaker, types: tuple[str, ...], *, hide_question: bool = False
) -> list[EncoderExample]:
    """Return the examples of *records*. *hide_question*: the relevance is to be guessed without seeing the question (an ablation)."""
    number_of = {name: number for number, name in enumerate(types)}
    return [example for record in records for example in _examples_of(record, maker, number_of, hide_question=hide_question)]


def _examples_of(record: Record, maker: WindowMaker, number_of: Mapping[str, int], *, hide_question: bool) -> Iterable[EncoderExample]:
    tokens = maker.tokens(record.context, HIDDEN if hide_question and record.question else record.question)
    tags, owners = token_tags(tokens.offsets, record.spans, number_of)
    places = _places(owners)
    for window in tokens.windows:
        judged: list[JudgedSpan] = []
        begin, end = window.text
        has_question = window.question[0] < window.question[1]
        for position, span in enumerate(record.spans if has_question else ()):
            if position in places and span.relevance is not None:
                first, last = places[position]
                if begin <= first and last <= end:
                    shift = window.at - begin
                    label = HIGH if span.relevance == "high" else LOW
                    judged.append(JudgedSpan(first + shift, last + shift, label, (span.start, span.end)))
        yield EncoderExample(window, tags[begin:end], tuple(judged), record.contrast_group)


# What stands in the place of every question when it is hidden.
HIDDEN = "?"


def _places(owners: list[int]) -> dict[int, tuple[int, int]]:
    """Return the tokens of each span that has any."""
    found: dict[int, tuple[int, int]] = {}
    for at, owner in enumerate(owners):
        if owner >= 0:
            found[owner] = (found[owner][0] if owner in found else at, at + 1)
    return found
