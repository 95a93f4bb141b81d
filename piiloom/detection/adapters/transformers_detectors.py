"""The detectors "huggingface" (a token classifier of transformers) and "gliner" (a GLiNER model), with their labels brought to our types.

Nothing is ever downloaded, and no code of the folder is run. Texts are read in windows, in batches of about equal length.

The detector "gliner": a GLiNER model, which gets its labels in words.

The labels are the keys of the label map ``gliner``, or of the user's own map. User-defined types of the taxonomy are asked for by name.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final, NamedTuple

import numpy as np

from piiloom.detection.adapters.label_targets import (
    LabelledRange,
    LabelTargets,
    first_line,
    has_tokenizer,
    label_targets,
    likeliest_map,
    local_and_quiet,
    mapped_findings,
    unusable,
)
from piiloom.detection.detector import DetectorText, Findings, TextDetector, library
from piiloom.detection.detector_settings import LocalModel
from piiloom.detection.token_decoding import (
    LabelScheme,
    Probabilities,
    TokenWindow,
    TokenWord,
    Words,
    decoded_mentions,
    scheme_of,
    token_words,
    windows_of,
    with_whole_characters,
)
from piiloom.foundation.errors import UsageError
from piiloom.foundation.torch_devices import EXTRA, chosen_device, import_torch
from piiloom.taxonomy.entity_types import Taxonomy

MOST_TOKENS: Final = 512  # more are not read at once, even if a model could: it was hardly trained so, and the time grows with the square
_ARCHITECTURE: Final = "ForTokenClassification"
# Models that count the positions of a text from behind the padding's number, so that they have fewer than their configuration says.
_POSITIONS_FROM_PADDING: Final = frozenset(
    {"roberta", "xlm-roberta", "xlm-roberta-xl", "camembert", "data2vec-text", "ibert", "longformer"}
)


class TokenClassifier(NamedTuple):
    """A model and what it takes to use it. ``limit``: how many tokens it reads at once, without special ones."""

    model: Any
    tokenizer: Any
    scheme: LabelScheme
    labels: tuple[str, ...]
    device: str
    before: tuple[int, ...]
    behind: tuple[int, ...]
    limit: int


def load_classifier(path: str, device: str) -> TokenClassifier:
    """Return the token classifier in the folder *path*.

    Raises ``UsageError`` if a package, the folder, its configuration or its tokenizer is missing, it is another kind of model, its labels
    cannot be read, or there is no CUDA for "cuda".
    """
    folder = Path(path)
    config = _configuration(folder)
    chosen = chosen_device(device)
    transformers = library("transformers", "transformers is not installed", EXTRA)
    with local_and_quiet():
        tokenizer = _tokenizer(transformers, folder)
        model = _model(transformers, folder)
    labels = tuple(str(model.config.id2label[number]) for number in range(model.config.num_labels))
    try:
        scheme = scheme_of(labels)
    except UsageError as error:
        raise UsageError(error.message, where=str(folder), remedy=error.remedy) from None
    before, behind = _special_tokens(tokenizer)
    return TokenClassifier(
        model=model.to(chosen).eval(),
        tokenizer=tokenizer,
        scheme=scheme,
        labels=labels,
        device=chosen,
        before=before,
        behind=behind,
        limit=_most(config, tokenizer) - len(before) - len(behind),
    )


def _configuration(folder: Path) -> dict[str, Any]:
    if not folder.is_dir():
        raise unusable(folder, "there is no such folder", "Name the folder of a model; models are not downloaded")
    try:
        config = json.loads((folder / "config.json").read_text(encoding="utf-8"))
    except OSError:
        raise unusable(
            folder, "the folder has no config.json", "Name the folder that has config.json, the weights and the tokenizer"
        ) from None
    except ValueError:
        raise unusable(folder, "config.json is damaged", "Get the folder again") from None
    kinds = config.get("architectures") if isinstance(config, dict) else None
    if not isinstance(kinds, list) or not any(str(kind).endswith(_ARCHITECTURE) for kind in kinds):
        said = f"it is a {kinds[0]}" if isinstance(kinds, list) and kinds else "config.json names no architecture"
        raise unusable(
            folder,
            f"the model is no token classifier: {said}",
            "Use --detector encoder for what piiloom has trained"
            if (folder / "piiloom.json").is_file()
            else f"Name the folder of a …{_ARCHITECTURE}",
        )
    return dict(config)


def _tokenizer(transformers: Any, folder: Path) -> Any:
    if not has_tokenizer(folder):
        raise unusable(folder, "the folder has no tokenizer", "Copy the tokenizer's files (tokenizer.json) into it")
    try:
        tokenizer = transformers.AutoTokenizer.from_pretrained(str(folder), local_files_only=True, trust_remote_code=False)
    except Exception as error:  # files of many makers; what is wrong with one may show up as any error
        raise unusable(folder, f"the tokenizer cannot be loaded: {first_line(error)}", "Get its files again") from error
    if not tokenizer.is_fast:
        raise unusable(
            folder, "the tokenizer does not tell where its tokens are", "It needs a tokenizer.json, from which offsets are known"
        )
    return tokenizer


def _model(transformers: Any, folder: Path) -> Any:
    torch = import_torch()
    try:
        model, loading = transformers.AutoModelForTokenClassification.from_pretrained(
            str(folder), local_files_only=True, trust_remote_code=False, dtype=torch.float32, output_loading_info=True
        )
    except Exception as error:  # as above
        raise unusable(folder, f"the model cannot be loaded: {first_line(error)}", "Get its files again") from error
    if missing := sorted(loading["missing_keys"]):
        raise unusable(
            folder,
            f"the model's file lacks {len(missing)} weights, such as {missing[0]}",
            "Get its files again, or name the folder of the trained model",
        )
    return model


def _special_tokens(tokenizer: Any) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """The tokens that stand before and behind each text."""
    told = tokenizer("a", return_special_tokens_mask=True)
    ids, special = told["input_ids"], told["special_tokens_mask"]
    inner = [number for number, flag in enumerate(special) if not flag]
    first, last = (inner[0], inner[-1] + 1) if inner else (len(ids), len(ids))
    return tuple(ids[:first]), tuple(ids[last:])


def _most(config: dict[str, Any], tokenizer: Any) -> int:
    positions = config.get("max_position_embeddings")
    most = min(MOST_TOKENS, int(tokenizer.model_max_length))
    if isinstance(positions, int) and positions > 0:
        lost = int(config.get("pad_token_id") or 0) + 1 if config.get("model_type") in _POSITIONS_FROM_PADDING else 0
        most = min(most, positions - lost)
    return most


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
                raise UsageError(
                    "CUDA has too little memory for one window of this model", where="--device", remedy="Use --device cpu"
                ) from None
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


MAPS: Final = ("conll", "ontonotes", "i2b2", "obi", "ai4privacy", "nemotron-pii", "presidio")  # of equals the first is meant


class HuggingFaceDetector(TextDetector):
    """Finds what a token classifier finds; see ``token_decoding`` for how its tokens become spans, and for their scores.

    Of the shipped label maps that which has most of the model's labels is used, then the names of our types; the map of *local* goes first.
    Spans that score less than *threshold* are left out. Raises ``UsageError`` for a folder that has no such model (``load_classifier``),
    and ``ConfigError`` (file, line) for a fault in the label map.
    """

    name = "huggingface"

    def __init__(self, local: LocalModel, *, taxonomy: Taxonomy, threshold: float = 0.0) -> None:
        self._threshold = threshold
        label_targets([], local.label_map, taxonomy)  # a fault in it shows before the model is loaded
        loaded = load_classifier(local.model_path, local.device)
        self._scheme = loaded.scheme
        self._targets = model_targets(loaded.scheme.kinds, local.label_map, taxonomy)
        self._reader = ClassifierReader(loaded, local.batch_size)

    def examine_batch(self, texts: Sequence[DetectorText]) -> list[Findings]:
        """Return the findings of each of *texts*; the model reads windows over them in batches."""
        findings = []
        for one, read in zip(texts, self._reader.read([one.text for one in texts]), strict=True):
            found = decoded_mentions(read.words, read.probabilities, self._scheme)
            sure = (LabelledRange(*mention) for mention in found if mention.score >= self._threshold)
            findings.append(mapped_findings(one.text, sure, self._targets, self.name))
        return findings


def model_targets(kinds: Sequence[str], label_map: Path | None, taxonomy: Taxonomy) -> LabelTargets:
    """Return what the *kinds* of a model mean."""
    best = likeliest_map(kinds, MAPS)
    return label_targets([best] if best else [], label_map, taxonomy)


_UNLIMITED: Final = 100_000  # tokenizers without a limit have a huge one
_PER_WORD: Final = 2  # tokens that a word may have on average where there is a limit


class _WordPiece(NamedTuple):
    """Words of a text: it is read from ``start`` to ``end``; what begins from ``own_start`` to ``own_end`` counts."""

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

    name = "gliner"

    def __init__(self, local: LocalModel, *, taxonomy: Taxonomy, threshold: float = 0.0) -> None:
        self._threshold, self._batch_size = threshold, local.batch_size
        self._targets = label_targets([] if local.label_map is not None else [self.name], local.label_map, taxonomy)
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
        starts = [*(start for start, _ in words), len(text)]
        windows = windows_of(len(words), self._limit, self._limit // _OVERLAP, range(len(words)))
        return [
            _WordPiece(number, starts[one.first], words[one.last - 1][1], starts[one.own_first], starts[one.own_last]) for one in windows
        ]


def asked_labels(targets: LabelTargets) -> tuple[str, ...]:
    """Return the labels that a model is asked for: those of *targets* that mean something, and the names of own types."""
    own = [name for name, kind in targets.taxonomy.types.items() if kind.own]
    return tuple(dict.fromkeys([*(label for label, target in targets.targets.items() if target is not None), *own]))


def _loaded(folder: Path, device: str) -> Any:
    if not (folder / "gliner_config.json").is_file():
        raise unusable(
            folder,
            "the folder has no gliner_config.json" if folder.is_dir() else "there is no such folder",
            "Name the folder of a GLiNER model; models are not downloaded",
        )
    if not (folder / "tokenizer_config.json").is_file():
        raise unusable(
            folder,
            "the folder has no tokenizer (tokenizer_config.json)",
            "Save the model once with save_pretrained of GLiNER, which puts it there",
        )
    gliner = library("gliner", "gliner is not installed", "gliner")
    chosen = chosen_device(device)
    try:
        with local_and_quiet():
            return gliner.GLiNER.from_pretrained(str(folder), local_files_only=True, map_location=chosen).eval()
    except Exception as error:  # files of many makers; what is wrong with one may show up as any error
        raise unusable(
            folder,
            f"GLiNER cannot load the model: {first_line(error)}",
            "The folder needs the encoder's configuration, the weights and the tokenizer",
        ) from error


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
