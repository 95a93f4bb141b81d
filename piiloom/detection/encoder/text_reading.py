"""Reading texts with a trained encoder, whatever runs it: PyTorch or ONNX Runtime."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

import numpy as np

from piiloom.corpus.record import Relevance
from piiloom.detection.encoder.decoding import Decoded, decode
from piiloom.detection.encoder.relevance_head import RelevanceHead
from piiloom.detection.encoder.windows import EncoderWindow, Tokens, WindowMaker
from piiloom.detection.findings import DetectorText

if TYPE_CHECKING:
    from numpy.typing import NDArray


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
        width = max(len(window.ids) for window in windows)
        ids = np.full((len(windows), width), self._pad, dtype=np.int64)
        mask, segments = np.zeros_like(ids), np.zeros_like(ids)
        for row, window in enumerate(windows):
            size = len(window.ids)
            ids[row, :size], segments[row, :size], mask[row, :size] = window.ids, window.segments, 1
        logits, states = self._backend.run(ids, mask, segments)
        return [(logits[row, : len(window.ids)], states[row, : len(window.ids)]) for row, window in enumerate(windows)]


def _joined(tokens: Tokens, logits: Sequence[NDArray[np.float32]]) -> NDArray[np.float32]:
    """Return the logits of each token of the text, from the window in which it has most around it."""
    homes = np.array(tokens.homes, dtype=np.int64)
    joined = np.zeros((len(homes), logits[0].shape[-1]), dtype=np.float32)
    for number, window in enumerate(tokens.windows):
        own = np.flatnonzero(homes == number)
        joined[own] = logits[number][own + (window.at - window.text[0])]
    return joined
