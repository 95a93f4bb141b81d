"""A spaCy pipeline from a folder or by the name of a package, with what it needs to find entities and no more."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Final

from piiloom.corpus.formats.tokenizing import import_spacy
from piiloom.foundation.errors import UsageError

# Of what these find, nothing shapes the entities of a recognizer that was trained.
_NOT_NEEDED: Final = frozenset(
    "tagger parser attribute_ruler lemmatizer trainable_lemmatizer morphologizer senter sentencizer textcat textcat_multilabel".split()
)
_TRAINED: Final = frozenset({"ner", "beam_ner"})
_FINDS: Final = "doc.ents"


def load_entity_pipeline(name: str, *, where: str = "--model-path") -> Any:
    """Load the pipeline *name*. Raises ``UsageError`` if spaCy is missing, if it cannot be loaded, or if it finds no entities."""
    nlp = load_any(name, where=where)
    finders = [one for one in nlp.pipe_names if _FINDS in nlp.get_pipe_meta(one).assigns]
    if not finders:
        parts = ", ".join(nlp.pipe_names) or "nothing"
        remedy = "Use a pipeline with the component ner; piiloom train spacy trains one"
        raise UsageError(f"this pipeline finds no entities (it has {parts})", where=f"{where} {name}", remedy=remedy)
    factories = {one: nlp.get_pipe_meta(one).factory for one in nlp.pipe_names}
    if {factories[one] for one in finders} <= _TRAINED:  # rules may ask for parts of speech or lemmas
        for one, factory in factories.items():
            if factory in _NOT_NEEDED:
                nlp.disable_pipe(one)
    return nlp


def load_any(name: str, *, where: str) -> Any:
    """Load the pipeline *name*, whatever it has."""
    spacy = import_spacy()
    try:
        return spacy.load(name)
    except Exception as error:  # a config may name what is not installed, data may be cut off: spaCy raises a dozen kinds
        if not Path(name).exists() and isinstance(error, OSError):
            remedy = "Name the folder of one, or an installed package: piiloom downloads nothing"
            raise UsageError("there is no such spaCy pipeline here", where=f"{where} {name}", remedy=remedy) from error
        problem = f"spaCy cannot load this pipeline ({type(error).__name__})"
        remedy = "Copy the whole folder again, or install what it needs; --debug shows the cause"
        raise UsageError(problem, where=f"{where} {name}", remedy=remedy) from error
