r"""Tokenizers for the formats that label tokens, by the name in ``WriteOptions.tokenizer``.

``whitespace``
    Words and single punctuation marks, as GLiNER splits texts: ``\w+(?:[-_]\w+)*|\S``; but what is read as one character stays one
    token (a letter or sign with its combining marks, a flag, an emoji with its modifiers and joiners).
``spacy``
    spaCy's tokens, by a blank pipeline of the record's language; ``spacy:MODEL`` by a pipeline that the user has.
a path
    The tokens of a Hugging Face tokenizer file (``tokenizer.json``), without special tokens.

Whatever the tokenizer, its tokens hold no white space (``str.isspace``) and cover everything else.

Only the tokenizers of spaCy pipelines run. spaCy is an extra and slow to import, so it is imported when a pipeline is first asked for.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, Protocol

import regex

from piiloom.foundation.errors import UsageError
from piiloom.foundation.extras import how_to_install
from piiloom.foundation.words import Range

_NAMES = "whitespace, spacy, spacy:MODEL, or the path of a tokenizer.json"
# The same for ASCII, in two thirds of the time.
_ASCII_TOKENS = re.compile(r"\w+(?:[-_]\w+)*|\S")
# regex's \s lacks four control characters that str.isspace has. The last range are tags, of which some flags are made.
_AFTER = r"[\p{M}\p{Emoji_Modifier}\U000E0020-\U000E007F]*"
_TOKENS = regex.compile(
    r"\w+(?:[-_]\w+)*|\p{Regional_Indicator}{2}|[^\s\x1c-\x1f]" + _AFTER + r"(?:\u200d\p{Extended_Pictographic}" + _AFTER + ")*"
)
_WORDS = re.compile(r"\S+")
# What belongs to the character before it: marks, joiners and other format characters.
_CONTINUING = regex.compile(r"[\p{M}\p{Cf}]+")
# Languages that spaCy knows under another code.
_CODES = {"no": "nb"}
_ANY_LANGUAGE = "xx"
_LANGUAGE = re.compile(r"[a-z]{2,3}")


class Tokenizer(Protocol):
    """Splits texts into tokens."""

    def __call__(self, text: str, locale: str) -> list[Range]:
        """Return the tokens of *text* as code-point ranges: sorted, disjoint, without white space, covering all but white space."""
        ...


def tokenizer_named(name: str) -> Tokenizer:
    """Return the tokenizer called *name* (see the module docstring).

    Raises ``UsageError`` if there is none, if its file cannot be read, or if the extra that it needs is not installed.
    """
    if name == "whitespace":
        return split_at_white_space
    if name == "spacy" or name.startswith("spacy:"):
        return SpacyTokens(name.removeprefix("spacy").removeprefix(":") or None)
    return _HuggingFaceTokens(Path(name))


def split_at_white_space(text: str, locale: str) -> list[Range]:  # noqa: ARG001 - the same in all languages
    """Return words and single signs; see ``Tokenizer``."""
    pattern = _ASCII_TOKENS if text.isascii() else _TOKENS
    return [match.span() for match in pattern.finditer(text)]


class SpacyTokens:
    """The tokens of spaCy pipelines, less those of white space; see ``Tokenizer``."""

    def __init__(self, model: str | None) -> None:
        self._pipelines = SpacyPipelines(model)

    def __call__(self, text: str, locale: str) -> list[Range]:
        """Return the tokens of *text*."""
        doc = self._pipelines.doc(text, locale)
        return tidied(text, ((token.idx, token.idx + len(token)) for token in doc))


class _HuggingFaceTokens:
    """The tokens of a Hugging Face tokenizer file."""

    def __init__(self, path: Path) -> None:
        if not path.is_file():
            raise UsageError("there is no such tokenizer, nor a file of this name", where=str(path), remedy=f"Tokenizers: {_NAMES}")
        try:
            import tokenizers  # noqa: PLC0415 - an extra
        except ImportError as error:
            remedy = f"Install it: {how_to_install('tokenizers')}"
            raise UsageError("a tokenizer file needs the library tokenizers, which is not installed", remedy=remedy) from error
        try:
            self._tokenizer = tokenizers.Tokenizer.from_file(str(path))
        except Exception as error:  # the library raises nothing narrower
            remedy = f"A tokenizer.json as Tokenizer.save writes it is needed. Tokenizers: {_NAMES}"
            raise UsageError("not a Hugging Face tokenizer file", where=str(path), remedy=remedy) from error
        self._tokenizer.no_truncation()  # files of models often cut texts at 512 tokens, and pad them
        self._tokenizer.no_padding()

    def __call__(self, text: str, locale: str) -> list[Range]:  # noqa: ARG002 - one vocabulary for all
        """Return the tokens of *text*."""
        return tidied(text, self._tokenizer.encode(text, add_special_tokens=False).offsets)


def tidied(text: str, ranges: Iterable[Range]) -> list[Range]:
    """Return *ranges* in the form that ``Tokenizer`` promises.

    Of ranges that share characters (the bytes of one character, say) the first keeps them. Ranges are cut at white space. Characters
    in no range, which a normalizer has dropped, continue the token before them if they are marks, or become tokens of their own.
    """
    tokens: list[Range] = []
    at = 0
    for start, end in sorted(ranges):
        if end > max(start, at):
            _add_dropped(text, at, start, tokens)
            tokens += _words(text, max(start, at), end)
            at = end
    _add_dropped(text, at, len(text), tokens)
    return tokens


def _add_dropped(text: str, start: int, end: int, tokens: list[Range]) -> None:
    for word_start, word_end in _words(text, start, end):
        begin = word_start
        if tokens and tokens[-1][1] == begin and (marks := _CONTINUING.match(text, begin, word_end)):
            tokens[-1] = (tokens[-1][0], marks.end())
            begin = marks.end()
        if begin < word_end:
            tokens.append((begin, word_end))


def _words(text: str, start: int, end: int) -> Iterator[Range]:
    return (match.span() for match in _WORDS.finditer(text, start, end))


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
