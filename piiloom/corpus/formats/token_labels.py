r"""Spans as labels of tokens, and back; and tokenizers, by the name in ``WriteOptions.tokenizer``.

A token that overlaps a span belongs to it, so a span that begins or ends within a token is widened. A token that two spans overlap
belongs to the first. Of white space, which in most formats is in no token, spans keep what lies between their tokens. Each of these
changes is a ``LossEntry`` of the span.

In files a span is a first and a last token, or a tag for each token: ``B-NAME`` for its first, ``I-NAME`` for the others, ``O`` for
tokens in no span. Tags of other files are read in all common schemes: IOB1, IOB2, BILOU, BIOES, or bare labels. Tags that are a letter
of these schemes and nothing else (``B``, ``I``) name no type: their spans have the label ``entity``.

The tokenizers:

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
from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import accumulate
from pathlib import Path
from typing import Any, Literal

import regex
from pydantic import BaseModel, ConfigDict

from piiloom.corpus.formats.base import Json, LossEntry, ReadTally, quoted
from piiloom.corpus.formats.native_rows import RowFault, valid_row
from piiloom.corpus.record import Record, Relevance, Span
from piiloom.foundation.errors import UsageError, how_to_install
from piiloom.foundation.words import Range
from piiloom.taxonomy.entity_types import Taxonomy

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


# Returns the tokens of (text, locale) as code-point ranges: sorted, disjoint, without white space, covering all but white space.
Tokenizer = Callable[[str, str], list[Range]]


def tokenizer_named(name: str) -> Tokenizer:
    """Return the tokenizer called *name* (see the module docstring).

    Raises ``UsageError`` if there is none, if its file cannot be read, or if the extra that it needs is not installed.
    """
    if name == "whitespace":
        return split_at_white_space
    if name == "spacy" or name.startswith("spacy:"):
        pipelines = SpacyPipelines(name.removeprefix("spacy").removeprefix(":") or None)
        return lambda text, locale: tidied(text, ((token.idx, token.idx + len(token)) for token in pipelines.doc(text, locale)))
    return _hugging_face_tokens(Path(name))


def split_at_white_space(text: str, locale: str) -> list[Range]:  # noqa: ARG001 - the same in all languages
    """Return words and single signs; see ``Tokenizer``."""
    pattern = _ASCII_TOKENS if text.isascii() else _TOKENS
    return [match.span() for match in pattern.finditer(text)]


def _hugging_face_tokens(path: Path) -> Tokenizer:
    """Return the tokenizer of a Hugging Face tokenizer file; it has one vocabulary for all languages."""
    if not path.is_file():
        raise UsageError("there is no such tokenizer, nor a file of this name", where=str(path), remedy=f"Tokenizers: {_NAMES}")
    try:
        import tokenizers  # noqa: PLC0415 - an extra
    except ImportError as error:
        remedy = f"Install it: {how_to_install('tokenizers')}"
        raise UsageError("a tokenizer file needs the library tokenizers, which is not installed", remedy=remedy) from error
    try:
        tokenizer = tokenizers.Tokenizer.from_file(str(path))
    except Exception as error:  # the library raises nothing narrower
        remedy = f"A tokenizer.json as Tokenizer.save writes it is needed. Tokenizers: {_NAMES}"
        raise UsageError("not a Hugging Face tokenizer file", where=str(path), remedy=remedy) from error
    tokenizer.no_truncation()  # files of models often cut texts at 512 tokens, and pad them
    tokenizer.no_padding()
    return lambda text, _locale: tidied(text, tokenizer.encode(text, add_special_tokens=False).offsets)


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


WIDENED = "begins or ends within a token: widened to whole tokens"
TRIMMED = "begins or ends with white space that is in no token, or not wholly in the span: written without it"
SHARED = "its first token belongs to the span before it, too: written from its next token on"
SHARED_WHOLE = "all of its tokens belong to the span before it, too: left out"
UNCOVERED = "there is no token in it: left out"
OTHER_LABEL = "its label is not read back as its type"

OUTSIDE = "O"
UNTYPED = "entity"
_TAG = re.compile(r"([BILUESM])(?:-(.*))?", re.DOTALL)
_BEGINS, _ENDS = "BUS", "LEUS"
_RELEVANCE: dict[str | None, Relevance] = {"high": "high", "low": "low"}


@dataclass(frozen=True, slots=True)
class TokenSpan:
    """A span as the positions of its first and last token (inclusive)."""

    first: int
    last: int
    span: Span


@lru_cache(maxsize=256)
def label_of(entity_type: str) -> str:
    """Return the label of a type, as ``SEXUAL_ORIENTATION``."""
    return "_".join(entity_type.upper().split())


def on_tokens(record: Record, tokens: Sequence[Range], taxonomy: Taxonomy) -> tuple[list[TokenSpan], list[LossEntry]]:
    """Place the spans of *record* on sorted, disjoint *tokens*; return them in text order, with the losses.

    A label that a reader does not take for the type in *taxonomy* is a loss, too.

    Tokens hold either no white space or nothing else; of the latter a span takes those that lie in it whole.
    """
    placed: list[TokenSpan] = []
    losses: list[LossEntry] = []
    free = 0  # the first token that no earlier span has
    for span in record.spans:
        first, last = _overlapped(record.context, tokens, span)
        if first > last:
            reasons = [UNCOVERED]
        elif last < free:
            reasons = [SHARED_WHOLE]
        else:
            reasons = [SHARED] if first < free else []
            first = max(first, free)
            placed.append(TokenSpan(first, last, span))
            free = last + 1
            reasons += _changes(record.context, span, tokens[first][0], tokens[last][1], shared=bool(reasons))
        if not _is_read_back(span.entity_type, taxonomy):
            reasons.append(OTHER_LABEL)
        losses += (LossEntry(record_id=record.id, value=span.text_in(record.context), reason=reason) for reason in reasons)
    return placed, losses


@lru_cache(maxsize=256)
def _is_read_back(entity_type: str, taxonomy: Taxonomy) -> bool:
    return taxonomy.resolve(label_of(entity_type)) == entity_type


def _overlapped(text: str, tokens: Sequence[Range], span: Span) -> Range:
    """Return the positions of the first and the last token that overlap *span*; the last is smaller if there is none."""
    first = bisect_left(tokens, (span.start + 1,)) - 1  # the last token that begins at or before the span's start
    if first < 0 or tokens[first][1] <= span.start:
        first += 1
    last = bisect_left(tokens, (span.end,)) - 1
    if first <= last and tokens[first][0] < span.start and text[span.start].isspace():
        first += 1
    if first <= last and span.end < tokens[last][1] and text[span.end - 1].isspace():
        last -= 1
    return first, last


def _changes(text: str, span: Span, start: int, end: int, *, shared: bool) -> Iterator[str]:
    if start < span.start or end > span.end:
        yield WIDENED
    if text[end : span.end] or (text[span.start : start] and not shared):
        yield TRIMMED


def bio_tags(count: int, spans: Sequence[TokenSpan]) -> list[str]:
    """Return the tags of *count* tokens."""
    tags = [OUTSIDE] * count
    for placed in spans:
        label = label_of(placed.span.entity_type)
        tags[placed.first] = f"B-{label}"
        tags[placed.first + 1 : placed.last + 1] = [f"I-{label}"] * (placed.last - placed.first)
    return tags


def relevances(count: int, spans: Sequence[TokenSpan]) -> list[Relevance | None]:
    """Return for each of *count* tokens the relevance of its span; None outside of spans, and in a span without one."""
    found: list[Relevance | None] = [None] * count
    for placed in spans:
        found[placed.first : placed.last + 1] = [placed.span.relevance] * (placed.last + 1 - placed.first)
    return found


def tagged_spans(tags: Sequence[str]) -> Iterator[tuple[int, int, str]]:
    """Yield (first token, last token, label) of the spans in *tags*; the label is ``UNTYPED`` where the tags name none.

    A span ends before ``O``, before another label, and before a tag that begins one (B, U, S); L, E, U and S end it themselves. Any
    other tag without a span to continue begins one, as in IOB1.
    """
    first, label, opened = 0, "", False
    for position, tag in enumerate(tags):
        if tag == OUTSIDE:
            if opened:
                yield first, position - 1, label
                opened = False
            continue
        match = _TAG.fullmatch(tag)
        prefix, own = (match[1], match[2] or UNTYPED) if match else ("I", tag)
        if opened and (prefix in _BEGINS or own != label):
            yield first, position - 1, label
            opened = False
        if not opened:
            first, label, opened = position, own, True
        if prefix in _ENDS:
            yield first, position, label
            opened = False
    if opened:
        yield first, len(tags) - 1, label


def token_places(tokens: Sequence[str], text: str) -> list[Range]:
    """Return the range of each token in *text*; raises ``RowFault`` unless they follow each other with only white space between."""
    places: list[Range] = []
    at = 0
    for position, token in enumerate(tokens):
        start = text.find(token, at)
        if start < 0 or (start > at and not text[at:start].isspace()):
            raise RowFault(f"tokens[{position}]: {quoted(token)} is not where the text goes on")
        at = start + len(token)
        places.append((start, at))
    if text[at:].strip():
        raise RowFault(f"tokens: the text goes on after the last, at character {at}")
    return places


def text_and_places(tokens: Sequence[str], text: str | None, tally: ReadTally) -> tuple[str, list[Range]]:
    """Return *text* and the ranges of *tokens* in it; without a text it is the tokens joined by blanks, and *tally* counts it."""
    if text is None:
        tally.joined_texts += 1
        return joined(tokens)
    return text, token_places(tokens, text)


def joined(tokens: Sequence[str]) -> tuple[str, list[Range]]:
    """Return the text of *tokens* joined by blanks, and their ranges in it."""
    places: list[Range] = []
    at = 0
    for token in tokens:
        places.append((at, at + len(token)))
        at += len(token) + 1
    return " ".join(tokens), places


def span_row(text: str, start: int, end: int, label: str, relevance: str | None) -> Json:
    """Return a span in the shape of native rows; a *relevance* that is neither high nor low counts as none."""
    return {"start": start, "end": end, "text": text[start:end], "type": label, "relevance": _RELEVANCE.get(relevance)}


class TokenRow(BaseModel):
    """A row of tokens with their tags. Only rows of ours have ``id``, ``locale`` and ``question``, and ``relevance`` for each token."""

    model_config = ConfigDict(strict=True, extra="allow", frozen=True)

    document: int | str | None = None
    full_text: str | None = None
    tokens: list[str]
    trailing_whitespace: list[bool] | None = None
    labels: list[str]
    relevance: list[Literal["high", "low"] | None] | None = None
    id: str | None = None
    locale: str | None = None
    question: str | None = None


def token_row(content: Json, tally: ReadTally) -> Json:
    """Return the native row of *content*, see ``TokenRow``; raises ``RowFault`` (field) if it is none.

    The relevance of a span is that of its first token. Without ``full_text``, the text is the tokens joined by blanks, or each followed
    by a blank if its ``trailing_whitespace`` is true.
    """
    row = valid_row(TokenRow, content)
    tally.ignored_fields.update(key for key, value in (row.model_extra or {}).items() if value not in (None, "", []))
    for field in ("trailing_whitespace", "labels", "relevance"):
        values = getattr(row, field)
        if values is not None and len(values) != len(row.tokens):
            raise RowFault(f"{field}: {len(values)} values for {len(row.tokens)} tokens")
    text, places = _text_and_places(row, tally)
    relevance = row.relevance or [None] * len(places)
    return {
        "id": row.id or (None if row.document is None else str(row.document)),
        "locale": row.locale,
        "context": text,
        "question": row.question,
        "spans": [
            span_row(text, places[first][0], places[last][1], label, relevance[first]) for first, last, label in tagged_spans(row.labels)
        ],
    }


def _text_and_places(row: TokenRow, tally: ReadTally) -> tuple[str, list[Range]]:
    blanks = row.trailing_whitespace
    if blanks is None:
        return text_and_places(row.tokens, row.full_text, tally)
    whole = "".join(token + " " * blank for token, blank in zip(row.tokens, blanks, strict=True))
    if row.full_text not in (None, whole):
        raise RowFault("tokens: with trailing_whitespace they do not give full_text")
    ends = accumulate((len(token) + blank for token, blank in zip(row.tokens, blanks, strict=True)), initial=0)
    return whole, [(at, at + len(token)) for at, token in zip(ends, row.tokens, strict=False)]
