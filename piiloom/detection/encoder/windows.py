"""Texts as tokens, in windows: ``[CLS] question [SEP] part of the text [SEP]``.

The question stands first, as in the pairs that such models were trained on, and in every window of a long text: each part of the text is
read with the question, and no part is left out. (With the text first, the question would move with its length.) A text without a
question has an empty one, so that the form is the same.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

from piiloom.detection.encoder.encoder_settings import Windows
from piiloom.detection.token_decoding.windows import TokenWindow as Part
from piiloom.detection.token_decoding.windows import windows_of
from piiloom.foundation.errors import DataError, UsageError
from piiloom.foundation.extras import how_to_install

if TYPE_CHECKING:
    from tokenizers import Tokenizer

TOKENIZER: Final = "tokenizer.json"
_HALVES: Final = re.compile("[\ud800-\udfff]")


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
        encoded = self._tokenizer.encode(_encodable(text), add_special_tokens=False)
        asked = self._tokenizer.encode(_encodable(question), add_special_tokens=False).ids if question else []
        asked = asked[: self._windows.question_tokens]
        room = self._windows.max_tokens - self._special - len(asked)
        count = len(encoded.ids)
        parts = windows_of(count, room, self._windows.overlap, range(count)) or [Part(0, 0, 0, 0)]
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
    try:
        from tokenizers import Tokenizer as FastTokenizer  # noqa: PLC0415 - an extra brings it
    except ImportError:
        raise UsageError("the encoder needs the package tokenizers", remedy=f"Install it: {how_to_install('train')}") from None
    try:
        found = FastTokenizer.from_file(str(folder / TOKENIZER))
    except Exception as error:  # the library raises bare exceptions
        raise DataError("the tokenizer cannot be read", where=str(folder / TOKENIZER), remedy="Copy the whole folder again") from error
    return plain_tokenizer(found)


def plain_tokenizer(tokenizer: Tokenizer) -> Tokenizer:
    """Return *tokenizer* so that it neither pads nor cuts, and "[SEP]" in a text is text."""
    tokenizer.no_padding()
    tokenizer.no_truncation()
    tokenizer.encode_special_tokens = True
    return tokenizer


def _encodable(text: str) -> str:
    """Return *text* with halves of characters, which the library refuses, as U+FFFD: as long as before."""
    return _HALVES.sub("\ufffd", text)


def _run(segments: Sequence[int | None], which: int) -> tuple[int, int]:
    """Return where the tokens of sequence *which* are."""
    places = [place for place, segment in enumerate(segments) if segment == which]
    return places[0], places[-1] + 1
