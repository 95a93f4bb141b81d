"""What a token classifier says of the tokens of texts: windows over them, in batches of about equal length."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from typing import Any, Final, NamedTuple

import numpy as np

from piiloom.detection.adapters.huggingface.model_folder import TokenClassifier
from piiloom.detection.adapters.whole_characters import with_whole_characters
from piiloom.detection.token_decoding.decoding import Probabilities, TokenWord, token_words
from piiloom.detection.token_decoding.windows import TokenWindow, windows_of
from piiloom.foundation.errors import UsageError
from piiloom.foundation.torch_devices import import_torch

_OVERLAP: Final = 4  # a quarter of a window is read twice
_LOGGER: Final = logging.getLogger(__name__)


class ClassifiedText(NamedTuple):
    """The words of a text, and the probabilities of the labels for each of its tokens."""

    words: list[TokenWord]
    probabilities: Probabilities


class _TokenPiece(NamedTuple):
    text: int
    window: TokenWindow
    ids: Sequence[int]


class ClassifierReader:
    """Reads texts with a model, *batch_size* windows at a time.

    If CUDA has too little memory for as many, it goes on with half of them, and says so.
    """

    def __init__(self, loaded: TokenClassifier, batch_size: int) -> None:
        self._loaded = loaded
        self._batch_size = batch_size
        self._torch = import_torch()
        padding = loaded.tokenizer.pad_token_id
        self._padding = 0 if padding is None else int(padding)

    def read(self, texts: Sequence[str]) -> list[ClassifiedText]:
        """Return what the model says of each of *texts*. Raises ``UsageError`` if CUDA has too little memory even for one window."""
        tokens, offsets = self._tokens(texts)
        words = [token_words(text, places) for text, places in zip(texts, offsets, strict=True)]
        found: list[Probabilities] = [np.zeros((len(ids), len(self._loaded.labels)), dtype=np.float32) for ids in tokens]
        pieces = [
            _TokenPiece(number, window, ids[window.first : window.last])
            for number, ids in enumerate(tokens)
            for window in windows_of(len(ids), self._loaded.limit, self._loaded.limit // _OVERLAP, [word.token for word in words[number]])
        ]
        pieces.sort(key=lambda piece: -len(piece.ids))  # those of a batch are padded to the longest; the largest batch comes first
        at = 0
        while at < len(pieces):
            batch = pieces[at : at + self._batch_size]
            rows = self._probabilities_or_fewer(batch)
            if rows is None:
                continue
            for piece, row in zip(batch, rows, strict=True):
                window = piece.window
                found[piece.text][window.own_first : window.own_last] = row[
                    window.own_first - window.first : window.own_last - window.first
                ]
            at += len(batch)
        return [ClassifiedText(here, rows) for here, rows in zip(words, found, strict=True)]

    def _tokens(self, texts: Sequence[str]) -> tuple[list[list[int]], list[list[tuple[int, int]]]]:
        if not texts:
            return [], []
        told = self._loaded.tokenizer(
            [with_whole_characters(text) for text in texts],
            add_special_tokens=False,
            split_special_tokens=True,  # "[SEP]" in a text is text
            truncation=False,
            return_offsets_mapping=True,
            return_attention_mask=False,
            return_token_type_ids=False,
            verbose=False,
        )
        return told["input_ids"], told["offset_mapping"]

    def _probabilities_or_fewer(self, batch: Sequence[_TokenPiece]) -> list[Probabilities] | None:
        """The probabilities of *batch*; None if the memory was too small, and smaller batches are to be tried."""
        try:
            return self._probabilities(batch)
        except self._torch.cuda.OutOfMemoryError:
            if len(batch) == 1:
                remedy = "Use --device cpu"
                raise UsageError("CUDA has too little memory for one window of this model", where="--device", remedy=remedy) from None
        self._torch.cuda.empty_cache()
        self._batch_size = max(1, len(batch) // 2)
        _LOGGER.warning("CUDA has too little memory: %d windows are read at once from now on", self._batch_size)
        return None

    def _probabilities(self, batch: Sequence[_TokenPiece]) -> list[Probabilities]:
        torch, loaded = self._torch, self._loaded
        rows = [[*loaded.before, *piece.ids, *loaded.behind] for piece in batch]
        longest = max(map(len, rows))
        ids = torch.tensor([row + [self._padding] * (longest - len(row)) for row in rows], device=loaded.device)
        mask = torch.tensor([[1] * len(row) + [0] * (longest - len(row)) for row in rows], device=loaded.device)
        with torch.inference_mode():
            logits = loaded.model(input_ids=ids, attention_mask=mask).logits
            probabilities: Any = torch.softmax(logits.float(), dim=-1).cpu().numpy()
        skip = len(loaded.before)
        return [probabilities[number, skip : skip + len(piece.ids)] for number, piece in enumerate(batch)]
