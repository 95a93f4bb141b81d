"""The spaCy pipelines whose tokens a file gets: a blank one of the record's language, or one that the user has.

Only their tokenizers run. spaCy is an extra and slow to import, so it is imported here when a pipeline is first asked for.
"""

from __future__ import annotations

import re
from typing import Any

from piiloom.foundation.errors import UsageError
from piiloom.foundation.extras import how_to_install

# Languages that spaCy knows under another code.
_CODES = {"no": "nb"}
_ANY_LANGUAGE = "xx"
_LANGUAGE = re.compile(r"[a-z]{2,3}")


def import_spacy() -> Any:
    """Return the module ``spacy``; raises ``UsageError`` with the command that installs it."""
    try:
        import spacy  # noqa: PLC0415 - an extra
    except ImportError as error:
        raise UsageError("spaCy is not installed", remedy=f"Install it: {how_to_install('spacy')}") from error
    return spacy


def blank_pipeline(language: str) -> Any:
    """Return the blank pipeline of *language* ("pl"), or the one of all languages if spaCy lacks it or a library that it needs."""
    spacy = import_spacy()
    if _LANGUAGE.fullmatch(language):
        try:
            return spacy.blank(_CODES.get(language, language))
        except ImportError:  # an unknown language, too
            pass
    return spacy.blank(_ANY_LANGUAGE)


class SpacyPipelines:
    """Makes docs of texts. *model*: name or folder of a pipeline for all texts; None: a blank one of each text's language.

    Raises ``UsageError`` if spaCy or the model is missing.
    """

    def __init__(self, model: str | None = None) -> None:
        self._spacy = import_spacy()
        self._model = self._load(model) if model is not None else None
        self._blank: dict[str, Any] = {}

    def doc(self, text: str, locale: str) -> Any:
        """Return the ``Doc`` of *text*, tokenized only; raises ``UsageError`` if the pipeline's tokenizer changes texts."""
        # The tokenizer by itself: a pipeline refuses texts of over a million characters, which only its parser minds.
        doc = self._pipeline(locale).tokenizer(text)
        if doc.text != text:
            raise UsageError("the tokenizer of the spaCy pipeline changes texts", remedy="Use another pipeline, or --tokenizer spacy")
        return doc

    def _pipeline(self, locale: str) -> Any:
        if self._model is not None:
            return self._model
        language = re.split("[_-]", locale.lower())[0]
        if language not in self._blank:
            self._blank[language] = blank_pipeline(language)
        return self._blank[language]

    def _load(self, model: str) -> Any:
        try:
            return self._spacy.load(model)
        except (OSError, ValueError, ImportError) as error:
            remedy = "Name an installed pipeline package or the folder of one, or use --tokenizer spacy for a blank pipeline"
            raise UsageError("spaCy cannot load this pipeline", where=model, remedy=remedy) from error
