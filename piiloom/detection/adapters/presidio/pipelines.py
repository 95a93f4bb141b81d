"""The pipeline of spaCy that presidio reads texts with. Nothing is ever downloaded."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Final

from piiloom.corpus.formats.tokenizing import import_spacy
from piiloom.detection.adapters.languages import ANY_LANGUAGE, spacy_language
from piiloom.foundation.errors import UsageError

_LEMMAS: Final = "piiloom_small_letters"
_CONFIG: Final = "config.cfg"


def load_spacy_model(model: str) -> Any:
    """Return the pipeline in the folder *model*, or in the installed package of that name.

    Raises ``UsageError`` if there is neither, or it cannot be loaded.
    """
    spacy = import_spacy()
    folder = Path(model)
    if not (folder / _CONFIG).is_file() and not spacy.util.is_package(model):
        what = f"the folder has no {_CONFIG}: it is no pipeline of spaCy" if folder.is_dir() else "there is no such pipeline of spaCy"
        remedy = "Name an installed package or the folder of a pipeline; without --model-path presidio's patterns are used alone"
        raise UsageError(what, where=f"--model-path {model}", remedy=remedy)
    try:
        return spacy.load(model)
    except Exception as error:  # a pipeline runs code of its own when it is loaded: anything can be wrong with it
        reason = str(error).partition("\n")[0]
        remedy = "Is it made for this version of spaCy, and is all there that it needs?"
        raise UsageError(f"spaCy cannot load this pipeline: {reason}", where=f"--model-path {model}", remedy=remedy) from error


def word_pipeline(locale: str) -> Any:
    """Return a pipeline that only cuts texts of *locale* into words.

    Each word is its own lemma, in small letters: presidio looks its context words up among the lemmas.
    """
    spacy = import_spacy()
    if not spacy.Language.has_factory(_LEMMAS):
        spacy.Language.component(_LEMMAS, func=_small_letters)
    try:
        pipeline = spacy.blank(spacy_language(locale))
    except ImportError:  # a language that spaCy has not, or for which it needs another library
        pipeline = spacy.blank(ANY_LANGUAGE)
    pipeline.add_pipe(_LEMMAS)
    return pipeline


def check_language(pipeline: Any, model: str, locale: str) -> None:
    """Raise ``UsageError`` if *pipeline* is of another language than *locale*."""
    wanted = spacy_language(locale)
    if pipeline.lang not in (wanted, ANY_LANGUAGE):
        remedy = f"Name a pipeline for {wanted!r}, or leave --model-path out, so that presidio's patterns are used alone"
        raise UsageError(f"it is for texts in {pipeline.lang!r}, not for {locale}", where=f"--model-path {model}", remedy=remedy)


def _small_letters(doc: Any) -> Any:
    for token in doc:
        token.lemma_ = token.lower_
    return doc
