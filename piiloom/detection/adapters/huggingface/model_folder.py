"""Loads a token classifier and its tokenizer from a folder; nothing is ever downloaded, and no code of the folder is run."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Final, NamedTuple

from piiloom.detection.adapters.quiet_loading import local_and_quiet
from piiloom.detection.token_decoding.label_schemes import LabelScheme, scheme_of
from piiloom.foundation.errors import UsageError
from piiloom.foundation.extras import how_to_install
from piiloom.foundation.torch_devices import EXTRA, chosen_device, import_torch

MOST_TOKENS: Final = 512  # more are not read at once, even if a model could: it was hardly trained so, and the time grows with the square
_TOKENIZER_FILES: Final = ("tokenizer.json", "vocab.txt", "vocab.json", "spiece.model", "sentencepiece.bpe.model", "tokenizer.model")
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
    transformers = _import_transformers()
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
        remedy = "Name the folder of a model; models are not downloaded"
        raise UsageError("there is no such folder", where=f"--model-path {folder}", remedy=remedy)
    try:
        config = json.loads((folder / "config.json").read_text(encoding="utf-8"))
    except OSError:
        remedy = "Name the folder that has config.json, the weights and the tokenizer"
        raise UsageError("the folder has no config.json", where=f"--model-path {folder}", remedy=remedy) from None
    except ValueError:
        raise UsageError("config.json is damaged", where=f"--model-path {folder}", remedy="Get the folder again") from None
    kinds = config.get("architectures") if isinstance(config, dict) else None
    if not isinstance(kinds, list) or not any(str(kind).endswith(_ARCHITECTURE) for kind in kinds):
        said = f"it is a {kinds[0]}" if isinstance(kinds, list) and kinds else "config.json names no architecture"
        trained_here = (folder / "piiloom.json").is_file()
        remedy = "Use --detector encoder for what piiloom has trained" if trained_here else f"Name the folder of a …{_ARCHITECTURE}"
        raise UsageError(f"the model is no token classifier: {said}", where=f"--model-path {folder}", remedy=remedy)
    return dict(config)


def _import_transformers() -> Any:
    try:
        import transformers  # noqa: PLC0415 - an extra, and slow
    except ImportError as error:
        raise UsageError("transformers is not installed", remedy=f"Install it: {how_to_install(EXTRA)}") from error
    return transformers


def _tokenizer(transformers: Any, folder: Path) -> Any:
    where = f"--model-path {folder}"
    if not any((folder / name).is_file() for name in _TOKENIZER_FILES):
        remedy = "Copy the tokenizer's files (tokenizer.json) into it"
        raise UsageError("the folder has no tokenizer", where=where, remedy=remedy)
    try:
        tokenizer = transformers.AutoTokenizer.from_pretrained(str(folder), local_files_only=True, trust_remote_code=False)
    except Exception as error:  # files of many makers; what is wrong with one may show up as any error
        raise UsageError(f"the tokenizer cannot be loaded: {_first_line(error)}", where=where, remedy="Get its files again") from error
    if not tokenizer.is_fast:
        remedy = "It needs a tokenizer.json, from which offsets are known"
        raise UsageError("the tokenizer does not tell where its tokens are", where=where, remedy=remedy)
    return tokenizer


def _model(transformers: Any, folder: Path) -> Any:
    torch = import_torch()
    where = f"--model-path {folder}"
    try:
        model, loading = transformers.AutoModelForTokenClassification.from_pretrained(
            str(folder), local_files_only=True, trust_remote_code=False, dtype=torch.float32, output_loading_info=True
        )
    except Exception as error:  # as above
        raise UsageError(f"the model cannot be loaded: {_first_line(error)}", where=where, remedy="Get its files again") from error
    if missing := sorted(loading["missing_keys"]):
        remedy = "Get its files again, or name the folder of the trained model"
        raise UsageError(f"the model's file lacks {len(missing)} weights, such as {missing[0]}", where=where, remedy=remedy)
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


def _first_line(error: Exception) -> str:
    return f"{type(error).__name__}: {str(error).strip().partition(chr(10))[0][:300]}"
