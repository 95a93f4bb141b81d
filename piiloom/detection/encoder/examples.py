"""Records as a training reads them: windows with the tag of each token, spans with a known relevance, and batches of examples.

Tag 0 is outside of all spans, 2t + 1 begins a span of the t-th type, and 2t + 2 goes on with it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from piiloom.corpus.record import Record, Span
from piiloom.detection.encoder.text_reading import HIGH, LOW, EncoderWindow, WindowMaker
from piiloom.foundation.seeding import derive_rng

OUTSIDE: Final = 0
IGNORED: Final = -100


def tag_count(types: int) -> int:
    """Return how many tags there are for so many types."""
    return 2 * types + 1


def span_tokens(owners: Sequence[int], spans: int) -> list[tuple[int, int] | None]:
    """Return the first token and one past the last of each of so many *spans*, by the *owners* of ``token_tags``; None if it has none."""
    places: list[tuple[int, int] | None] = [None] * spans
    for at, owner in enumerate(owners):
        if owner >= 0:
            known = places[owner]
            places[owner] = (at if known is None else known[0], at + 1)
    return places


def token_tags(offsets: Sequence[tuple[int, int]], spans: Sequence[Span], number_of: Mapping[str, int]) -> tuple[list[int], list[int]]:
    """Return the tag of each token, and the position in *spans* of the span that it is part of (-1: none).

    *spans* are in order and disjoint; those of a type without a number (validation records may have one) leave their tokens outside.
    """
    tags, owners, following, last = [], [], 0, -1
    for start, end in offsets:
        while following < len(spans) and spans[following].end <= start:
            following += 1
        inside = following < len(spans) and spans[following].start < end and start < end
        number = number_of.get(spans[following].entity_type) if inside else None
        owner = following if number is not None else -1
        tags.append(OUTSIDE if number is None else 2 * number + (1 if owner != last else 2))
        owners.append(owner)
        last = owner
    return tags, owners


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


Batch = list[int]
# As many batches are sorted by length at once: little padding, and still another mixture each epoch.
_POOL: Final = 40
# Lengths are blurred by this share, so that equal ones do not always meet.
_BLUR: Final = 0.1


def epoch_batches(examples: Sequence[EncoderExample], batch_size: int, *, seed: int, epoch: int, contrast: bool) -> list[Batch]:
    """Return the batches of an *epoch* as numbers of *examples*: the same for the same arguments, in every process."""
    rng = derive_rng("encoder batches", seed, epoch)
    units = _units(examples, contrast=contrast)
    rng.shuffle(units)
    found: list[Batch] = []
    pool = _POOL * batch_size
    at = 0
    while at < len(units):
        taken, count = [], 0
        while at < len(units) and count < pool:
            taken.append(units[at])
            count += len(units[at])
            at += 1
        length = {unit[0]: max(examples[one].size for one in unit) * (1 + _BLUR * rng.random()) for unit in taken}
        found += _filled(sorted(taken, key=lambda unit: length[unit[0]]), batch_size)
    rng.shuffle(found)
    return found


def _units(examples: Sequence[EncoderExample], *, contrast: bool) -> list[Batch]:
    """Return what stays together: examples of one contrast group and part of its text, or each by itself."""
    if not contrast:
        return [[number] for number in range(len(examples))]
    units: dict[object, Batch] = {}
    for number, example in enumerate(examples):
        units.setdefault(number if example.group is None else (example.group, example.window.text[0]), []).append(number)
    return list(units.values())


def _filled(units: Sequence[Batch], batch_size: int) -> list[Batch]:
    found: list[Batch] = []
    batch: Batch = []
    for unit in units:
        if batch and len(batch) + len(unit) > batch_size:
            found.append(batch)
            batch = []
        batch = batch + unit
        while len(batch) > batch_size:
            found.append(batch[:batch_size])
            batch = batch[batch_size:]
    return [*found, batch] if batch else found
