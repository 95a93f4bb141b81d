"""Languages and countries of locales as libraries name them, and models loaded from local files without network and progress bars."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

# Languages that spaCy knows under another code.
_SPACY: Final = {"no": "nb", "nn": "nb"}
# One of these files is what a tokenizer is loaded from.
TOKENIZERS: Final = ("tokenizer.json", "vocab.txt", "tokenizer.model", "spiece.model", "sentencepiece.bpe.model", "vocab.json")
ANY_LANGUAGE: Final = "xx"  # spaCy's code of pipelines for all


def locale_language(locale: str) -> str:
    """Return "pl" for "pl_PL"."""
    return locale.replace("-", "_").partition("_")[0].lower()


def locale_region(locale: str) -> str | None:
    """Return "PL" for "pl_PL"; None for a locale without a country."""
    return locale.replace("-", "_").partition("_")[2].upper() or None


def spacy_language(locale: str) -> str:
    """Return the code that spaCy has for the language of *locale*."""
    language = locale_language(locale)
    return _SPACY.get(language, language)


@contextmanager
def local_and_quiet() -> Iterator[None]:
    """Within the block, libraries of Hugging Face neither look anything up on the network nor draw progress bars."""
    from huggingface_hub import constants  # noqa: PLC0415 - comes with transformers, an extra
    from transformers.utils import logging  # noqa: PLC0415 - an extra

    told: Any = logging
    offline, bars = constants.HF_HUB_OFFLINE, told.is_progress_bar_enabled()
    constants.HF_HUB_OFFLINE = True
    told.disable_progress_bar()
    try:
        yield
    finally:
        constants.HF_HUB_OFFLINE = offline
        if bars:
            told.enable_progress_bar()


def first_line(error: Exception) -> str:
    """Return the kind of *error* and the first line of its message."""
    return f"{type(error).__name__}: {str(error).strip().partition(chr(10))[0][:300]}"


def has_tokenizer(folder: Path) -> bool:
    """Whether *folder* has the files of a tokenizer."""
    return any((folder / name).is_file() for name in TOKENIZERS)
