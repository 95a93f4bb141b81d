"""The detector "gliner": a GLiNER model, which gets its labels in words.

The labels are the keys of the label map ``gliner``, or of the user's own map. User-defined types of the taxonomy are asked for by name.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final, NamedTuple

from piiloom.detection.adapters.label_targets import LabelledRange, LabelTargets, label_targets, mapped_findings
from piiloom.detection.adapters.libraries import first_line, local_and_quiet
from piiloom.detection.detector import DetectorText, Findings, TextDetector
from piiloom.detection.detector_settings import LocalModel
from piiloom.detection.token_decoding import TokenWindow, Words, windows_of, with_whole_characters
from piiloom.foundation.errors import UsageError
from piiloom.foundation.extras import how_to_install
from piiloom.foundation.torch_devices import chosen_device
from piiloom.taxonomy.entity_types import Taxonomy

NAME: Final = "gliner"
EXTRA: Final = "gliner"
_OVERLAP: Final = 4  # a quarter of a window is read twice
_UNLIMITED: Final = 100_000  # tokenizers without a limit have a huge one
_PER_WORD: Final = 2  # tokens that a word may have on average where there is a limit


class _WordPiece(NamedTuple):
    """Words ``[first, last)`` of a text, where they are in it."""

    text: int
    start: int
    end: int
    own_start: int
    own_end: int


class GlinerDetector(TextDetector):
    """Finds what the GLiNER model *local* finds with a score of at least *threshold*.

    A text longer than the model reads at once is read in windows of words that overlap; of a mention counts where it begins. Raises
    ``UsageError`` if gliner, the folder or something in it is missing, and ``ConfigError`` (file, line) for a fault in the label map.
    """

    name = NAME

    def __init__(self, local: LocalModel, *, taxonomy: Taxonomy, threshold: float = 0.0) -> None:
        self._threshold, self._batch_size = threshold, local.batch_size
        self._targets = label_targets([] if local.label_map is not None else [NAME], local.label_map, taxonomy)
        self._labels = asked_labels(self._targets)
        self._model = _loaded(Path(local.model_path), local.device)
        self._limit = _most_words(self._model, self._labels)

    def examine_batch(self, texts: Sequence[DetectorText]) -> list[Findings]:
        """Return the findings of each of *texts*; the model reads windows over them in batches."""
        pieces = [piece for number, one in enumerate(texts) for piece in self._pieces(number, one.text)]
        pieces.sort(key=lambda piece: piece.start - piece.end)  # those of a batch are padded to the longest
        found: list[list[LabelledRange]] = [[] for _ in texts]
        words = [Words(one.text) for one in texts]
        if pieces:
            slices = [with_whole_characters(texts[piece.text].text[piece.start : piece.end]) for piece in pieces]
            told = self._model.inference(
                slices, list(self._labels), flat_ner=True, threshold=self._threshold, multi_label=False, batch_size=self._batch_size
            )
            for piece, entities in zip(pieces, told, strict=True):
                for one in entities:
                    start, end = piece.start + int(one["start"]), piece.start + int(one["end"])
                    if piece.own_start <= start < piece.own_end:
                        whole = words[piece.text].around(start, end)  # for GLiNER "O'Brien" is three words, "34.5" too
                        found[piece.text].append(LabelledRange(*whole, str(one["label"]), float(one["score"])))
        return [mapped_findings(one.text, here, self._targets, self.name) for one, here in zip(texts, found, strict=True)]

    def _pieces(self, number: int, text: str) -> list[_WordPiece]:
        words = [(int(start), int(end)) for _, start, end in self._model.data_processor.words_splitter(text)]
        windows = windows_of(len(words), self._limit, self._limit // _OVERLAP, range(len(words)))
        return [_piece(number, text, window, words) for window in windows]


def asked_labels(targets: LabelTargets) -> tuple[str, ...]:
    """Return the labels that a model is asked for: those of *targets* that mean something, and the names of own types."""
    own = [name for name, kind in targets.taxonomy.types.items() if kind.own]
    return tuple(dict.fromkeys([*(label for label, target in targets.targets.items() if target is not None), *own]))


def _piece(number: int, text: str, window: TokenWindow, words: Sequence[tuple[int, int]]) -> _WordPiece:
    return _WordPiece(
        text=number,
        start=words[window.first][0],
        end=words[window.last - 1][1],
        own_start=words[window.own_first][0],
        own_end=words[window.own_last][0] if window.own_last < len(words) else len(text),
    )


def _loaded(folder: Path, device: str) -> Any:
    where = f"--model-path {folder}"
    if not (folder / "gliner_config.json").is_file():
        what = "the folder has no gliner_config.json" if folder.is_dir() else "there is no such folder"
        raise UsageError(what, where=where, remedy="Name the folder of a GLiNER model; models are not downloaded")
    if not (folder / "tokenizer_config.json").is_file():
        remedy = "Save the model once with save_pretrained of GLiNER, which puts it there"
        raise UsageError("the folder has no tokenizer (tokenizer_config.json)", where=where, remedy=remedy)
    try:
        import gliner  # noqa: PLC0415 - an extra, and slow
    except ImportError as error:
        raise UsageError("gliner is not installed", remedy=f"Install it: {how_to_install(EXTRA)}") from error
    chosen = chosen_device(device)
    try:
        with local_and_quiet():
            return gliner.GLiNER.from_pretrained(str(folder), local_files_only=True, map_location=chosen).eval()
    except Exception as error:  # files of many makers; what is wrong with one may show up as any error
        remedy = "The folder needs the encoder's configuration, the weights and the tokenizer"
        raise UsageError(f"GLiNER cannot load the model: {first_line(error)}", where=where, remedy=remedy) from error


def _most_words(model: Any, labels: Sequence[str]) -> int:
    """How many words the model reads at once beside its labels, so that nothing is cut off unseen."""
    most = int(model.config.max_len)
    tokenizer = model.data_processor.transformer_tokenizer
    longest = int(tokenizer.model_max_length)
    if longest < _UNLIMITED:
        prompt = sum(len(tokenizer.tokenize(label)) + 1 for label in labels)
        most = min(most, (longest - prompt) // _PER_WORD)
    if most < 2:
        raise UsageError("the labels leave no room for text", where="--label-map", remedy="Ask for fewer, or in fewer words")
    return most
