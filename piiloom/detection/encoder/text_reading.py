"""Reading texts with a trained encoder, whatever runs it: texts as tokens in windows, tag logits, and the relevance of spans to a question.

A window is ``[CLS] question [SEP] part of the text [SEP]``. The question stands first, as in the pairs that such models were trained on,
and in every window of a long text: each part of the text is read with the question, and no part is left out. (With the text first, the
question would move with its length.) A text without a question has an empty one, so that the form is the same.

The relevance head sees the mean of the span's tokens, the mean of the question's, their elementwise product (in which what both have in
common stands out) and the state of the window's first token. It is small, so that it runs in NumPy, whatever runs the encoder itself.

Records as a training reads them: windows with the tag of each token, spans with a known relevance, and batches of examples.

Tag 0 is outside of all spans, 2t + 1 begins a span of the t-th type, and 2t + 2 goes on with it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Protocol

import numpy as np

from piiloom.corpus.record import Record, Relevance, Span
from piiloom.detection.detector import DetectorText, library
from piiloom.detection.token_decoding import Decoded, TokenWindow, decode, windows_of, with_whole_characters
from piiloom.detection.training.training_options import Windows
from piiloom.foundation.errors import DataError
from piiloom.foundation.seeding import derive_rng

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from tokenizers import Tokenizer


TOKENIZER: Final = "tokenizer.json"


@dataclass(frozen=True, slots=True)
class EncoderWindow:
    """One window: the ids of its tokens, the segment of each, and where question and text are in it.

    ``text`` are its tokens of the text (half-open, of all tokens of the text), ``at`` is where they begin in the window.
    """

    ids: list[int]
    segments: list[int]
    question: tuple[int, int]
    text: tuple[int, int]
    at: int


@dataclass(frozen=True, slots=True)
class Tokens:
    """A text: where each of its tokens stands (code points), and its windows, at least one.

    ``homes`` has for each token the number of the window in which it has most around it: there its tag and its state are taken from.
    """

    offsets: list[tuple[int, int]]
    windows: list[EncoderWindow]
    homes: list[int]


class WindowMaker:
    """Cuts texts into windows. *tokenizer* must neither pad nor cut."""

    def __init__(self, tokenizer: Tokenizer, windows: Windows) -> None:
        self._tokenizer = tokenizer
        self._windows = windows
        pair = tokenizer.encode("a", "b")
        segments = pair.sequence_ids
        first, second = _run(segments, 0), _run(segments, 1)
        self._before, self._between, self._after = pair.ids[: first[0]], pair.ids[first[1] : second[0]], pair.ids[second[1] :]
        self._type_of = pair.type_ids[first[0]], pair.type_ids[second[0]]
        self._special = len(self._before) + len(self._between) + len(self._after)

    def tokens(self, text: str, question: str | None) -> Tokens:
        """Return *text* in windows with *question*."""
        encoded = self._tokenizer.encode(with_whole_characters(text), add_special_tokens=False)
        asked = self._tokenizer.encode(with_whole_characters(question), add_special_tokens=False).ids if question else []
        asked = asked[: self._windows.question_tokens]
        room = self._windows.max_tokens - self._special - len(asked)
        count = len(encoded.ids)
        parts = windows_of(count, room, self._windows.overlap, range(count)) or [TokenWindow(0, 0, 0, 0)]
        windows = [self._window(asked, encoded.ids, (part.first, part.last)) for part in parts]
        homes = [number for number, part in enumerate(parts) for _ in range(part.own_first, part.own_last)]
        return Tokens(list(encoded.offsets), windows, homes)

    def _window(self, asked: list[int], ids: list[int], part: tuple[int, int]) -> EncoderWindow:
        first, second = self._type_of
        begin = len(self._before)
        at = begin + len(asked) + len(self._between)
        own = ids[part[0] : part[1]]
        return EncoderWindow(
            ids=[*self._before, *asked, *self._between, *own, *self._after],
            segments=[first] * at + [second] * (len(own) + len(self._after)),
            question=(begin, begin + len(asked)),
            text=part,
            at=at,
        )


def open_tokenizer(folder: Path) -> Tokenizer:
    """Return the tokenizer in *folder*. Raises ``UsageError`` if the library is missing and ``DataError`` if the file is damaged."""
    tokenizers = library("tokenizers", "the encoder needs the package tokenizers", "train")
    try:
        found: Tokenizer = tokenizers.Tokenizer.from_file(str(folder / TOKENIZER))
    except Exception as error:  # the library raises bare exceptions
        raise DataError("the tokenizer cannot be read", where=str(folder / TOKENIZER), remedy="Copy the whole folder again") from error
    return plain_tokenizer(found)


def plain_tokenizer(tokenizer: Tokenizer) -> Tokenizer:
    """Return *tokenizer* so that it neither pads nor cuts, and "[SEP]" in a text is text."""
    tokenizer.no_padding()
    tokenizer.no_truncation()
    tokenizer.encode_special_tokens = True
    return tokenizer


def _run(segments: Sequence[int | None], which: int) -> tuple[int, int]:
    """Return where the tokens of sequence *which* are."""
    places = [place for place, segment in enumerate(segments) if segment == which]
    return places[0], places[-1] + 1


PARTS: Final = 4
LOW, HIGH = 0, 1


@dataclass(frozen=True, slots=True)
class RelevanceHead:
    """Its weights: a layer of the width of the encoder, tanh, and one output a relevance."""

    inner: NDArray[np.float32]
    inner_bias: NDArray[np.float32]
    outer: NDArray[np.float32]
    outer_bias: NDArray[np.float32]

    @classmethod
    def of(cls, weights: Mapping[str, NDArray[np.float32]]) -> RelevanceHead:
        """Return the head with *weights* as ``network`` names them."""
        return cls(*(weights[f"relevance.{name}"] for name in ("inner.weight", "inner.bias", "outer.weight", "outer.bias")))

    def high(self, states: NDArray[np.float32], spans: Sequence[tuple[int, int]], question: tuple[int, int]) -> NDArray[np.float32]:
        """Return the probability that each of *spans* (places in the window of *states*) is of high relevance to the *question*.

        All at once: so small a product takes less time than what BLAS spends on sharing it among threads.
        """
        asked, first = states[question[0] : question[1]].mean(axis=0), states[0]
        means = [states[start:end].mean(axis=0) for start, end in spans]
        seen = np.stack([np.concatenate([one, asked, one * asked, first]) for one in means])
        logits = np.tanh(seen @ self.inner.T + self.inner_bias) @ self.outer.T + self.outer_bias
        return np.asarray(1 / (1 + np.exp(-np.clip(logits[:, HIGH] - logits[:, LOW], -50, 50))), dtype=np.float32)


class Backend(Protocol):
    """Runs the encoder."""

    def run(
        self, ids: NDArray[np.int64], mask: NDArray[np.int64], segments: NDArray[np.int64]
    ) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
        """Return the tag logits and the states of each token of each row."""
        ...


@dataclass(frozen=True, slots=True)
class EncoderReading:
    """A text that was read: its tokens, the tag logits of each, and the states of each window."""

    text: DetectorText
    tokens: Tokens
    logits: NDArray[np.float32]
    states: list[NDArray[np.float32]]

    def spans(self, outside_bias: float = 0.0) -> list[Decoded]:
        """Return the spans that are found; see ``decode``."""
        return decode(self.text.text, self.tokens.offsets, self.logits, outside_bias=outside_bias)

    def relevance(self, head: RelevanceHead, places: Sequence[tuple[int, int]]) -> list[Relevance | None]:
        """Return of which relevance each of *places* (first token, one past the last) is to the question.

        None where the text has no question.
        """
        found: list[Relevance | None] = [None] * len(places)
        by_window: dict[int, list[int]] = {}
        for number, (first, last) in enumerate(places):
            by_window.setdefault(self.tokens.homes[(first + last - 1) // 2], []).append(number)
        for home, numbers in by_window.items():
            window = self.tokens.windows[home]
            if window.question[0] == window.question[1]:
                continue
            start, end = window.text
            shift = window.at - start
            inside = [(max(places[number][0], start) + shift, min(places[number][1], end) + shift) for number in numbers]
            for number, high in zip(numbers, head.high(self.states[home], inside, window.question), strict=True):
                found[number] = "high" if high >= 0.5 else "low"
        return found


def padded(windows: Sequence[EncoderWindow], pad: int) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """Return ids, mask and segments of *windows*, a row each."""
    ids = np.full((len(windows), max(len(window.ids) for window in windows)), pad, dtype=np.int64)
    mask, segments = np.zeros_like(ids), np.zeros_like(ids)
    for row, window in enumerate(windows):
        size = len(window.ids)
        ids[row, :size], segments[row, :size], mask[row, :size] = window.ids, window.segments, 1
    return ids, mask, segments


class EncoderReader:
    """Reads texts *batch_size* windows at a time; *pad* is the id of the padding token."""

    def __init__(self, backend: Backend, maker: WindowMaker, *, pad: int, batch_size: int) -> None:
        self._backend, self._maker, self._pad, self._batch_size = backend, maker, pad, batch_size

    def read(self, texts: Sequence[DetectorText], take: Callable[[int, EncoderReading], None]) -> None:
        """Read *texts*, those of about one length together, and give each with its number to *take*."""
        tokens = [self._maker.tokens(one.text, one.question) for one in texts]
        order = sorted(range(len(texts)), key=lambda number: (len(tokens[number].windows), len(tokens[number].windows[0].ids)))
        group: list[int] = []
        for number in order:
            group.append(number)
            if sum(len(tokens[one].windows) for one in group) >= self._batch_size:
                self._read_group(texts, tokens, group, take)
                group = []
        self._read_group(texts, tokens, group, take)

    def _read_group(
        self, texts: Sequence[DetectorText], tokens: Sequence[Tokens], group: Sequence[int], take: Callable[[int, EncoderReading], None]
    ) -> None:
        windows = [window for number in group for window in tokens[number].windows]
        done: list[tuple[NDArray[np.float32], NDArray[np.float32]]] = []
        for at in range(0, len(windows), self._batch_size):
            done += self._run(windows[at : at + self._batch_size])
        at = 0
        for number in group:
            own = done[at : at + len(tokens[number].windows)]
            at += len(own)
            take(
                number,
                EncoderReading(texts[number], tokens[number], _joined(tokens[number], [one for one, _ in own]), [one for _, one in own]),
            )

    def _run(self, windows: Sequence[EncoderWindow]) -> list[tuple[NDArray[np.float32], NDArray[np.float32]]]:
        logits, states = self._backend.run(*padded(windows, self._pad))
        return [(logits[row, : len(window.ids)], states[row, : len(window.ids)]) for row, window in enumerate(windows)]


def _joined(tokens: Tokens, logits: Sequence[NDArray[np.float32]]) -> NDArray[np.float32]:
    """Return the logits of each token of the text, from the window in which it has most around it."""
    homes = np.array(tokens.homes, dtype=np.int64)
    joined = np.zeros((len(homes), logits[0].shape[-1]), dtype=np.float32)
    for number, window in enumerate(tokens.windows):
        own = np.flatnonzero(homes == number)
        joined[own] = logits[number][own + (window.at - window.text[0])]
    return joined


HEADS: Final = "heads.safetensors"
ONNX: Final = "model.onnx"
INPUTS: Final = ("ids", "mask", "segments")  # of the network


def read_heads(folder: Path) -> Mapping[str, NDArray[Any]]:
    """Return the weights of the heads in *folder*, by name. Raises ``DataError`` if they cannot be read."""
    safetensors = library("safetensors.numpy", "the encoder needs the package safetensors", "train")
    try:
        weights: Mapping[str, NDArray[Any]] = safetensors.load_file(folder / HEADS)
    except Exception as error:  # the library raises errors of its own
        raise damaged_heads(folder) from error
    return weights


def damaged_heads(folder: Path) -> DataError:
    """Return the error for heads that cannot be read, or do not fit the encoder."""
    return DataError(
        "the file is damaged, or of another model", where=str(folder / HEADS), remedy="Train again, or copy the whole folder again"
    )


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
    places = span_tokens(owners, len(record.spans))
    for window in tokens.windows:
        judged: list[JudgedSpan] = []
        begin, end = window.text
        has_question = window.question[0] < window.question[1]
        for span, place in zip(record.spans, places, strict=True) if has_question else ():
            if span.relevance is not None and place is not None and begin <= place[0] and place[1] <= end:
                shift = window.at - begin
                label = HIGH if span.relevance == "high" else LOW
                judged.append(JudgedSpan(place[0] + shift, place[1] + shift, label, (span.start, span.end)))
        yield EncoderExample(window, tags[begin:end], tuple(judged), record.contrast_group)


# What stands in the place of every question when it is hidden.
HIDDEN = "?"


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
