"""Spans of whole words from the probabilities that a token classifier gives the labels of each token, and windows over long texts.

A word is judged by its first token, on which classifiers are trained (many never learn what to say of the others). The probabilities of the
labels of one kind are added up, ``B-PER`` and ``I-PER`` say; the likeliest kind, or none, is that of the word. Adjacent words of one kind
are one mention, unless the labels say that a new one begins. **The score of a mention is the mean, over its words, of the probability of
its kind.** Since only whole words are joined, a span never cuts a word, however the tokenizer cut it.

Schemes are found in the labels themselves: BIO (also IOB1, where B is seldom), BILOU, BIOES (E for the last, S for a single one) and IO
(no prefixes). The prefix may stand before or behind the kind: ``B-PER``, ``B_PER``, ``PER-B``.

Windows overlap; each token is judged in the window where it has more around it. They begin where a word does, unless a word is longer than
a window. A text that fits is one window.

``decode`` does the same for the tags of our own encoder: spans with exact offsets, at word boundaries.
"""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Final, Literal, NamedTuple

import numpy as np
import regex
from numpy.typing import NDArray

from piiloom.corpus.mention_search import is_word_character
from piiloom.corpus.normalising import APOSTROPHES
from piiloom.foundation.errors import UsageError
from piiloom.foundation.words import is_unspaced

Scheme = Literal["BIO", "BILOU", "BIOES", "IO"]

_OUTSIDE: Final = "O"
_ALSO_OUTSIDE: Final = frozenset({"OTHER", "0", "NONE", "OUTSIDE"})  # where no label is O
_BEFORE: Final = re.compile(r"([BIELSU])[-_ ](.+)", re.DOTALL)
_BEHIND: Final = re.compile(r"(.+)[-_ ]([BIELSU])", re.DOTALL)
_BEGINS: Final = frozenset("BSU")  # S and U: the only one of its mention
_ENDS: Final = frozenset("ELSU")
_UNNAMED: Final = re.compile(r"LABEL_\d+")


@dataclass(frozen=True, slots=True, kw_only=True)
class LabelScheme:
    """The labels of a model, taken apart.

    ``kinds`` are the kinds of mentions, in the order of their first label. For each label: ``kind_of`` is the number of its kind, -1 for
    those outside of mentions; ``begins`` and ``ends`` tell whether it begins or ends a mention for sure.
    """

    scheme: Scheme
    kinds: tuple[str, ...]
    kind_of: tuple[int, ...]
    begins: tuple[bool, ...]
    ends: tuple[bool, ...]


def scheme_of(labels: Sequence[str]) -> LabelScheme:
    """Return how *labels*, in the order of their numbers, are to be read.

    Raises ``UsageError`` if none is outside of mentions, none inside, or if they were never named (``LABEL_0`` …).
    """
    if labels and all(_UNNAMED.fullmatch(label) for label in labels):
        raise UsageError(
            "the labels of the model have no names (LABEL_0 …)", remedy="Name them in id2label of config.json, such as: O, B-PER, I-PER"
        )
    outside = [label.strip().upper() == _OUTSIDE for label in labels]
    if not any(outside):
        outside = [label.strip().upper() in _ALSO_OUTSIDE for label in labels]
    parts = _parts([label for label, out in zip(labels, outside, strict=True) if not out])
    if not any(outside) or not parts:
        what = "for what is no mention (O)" if parts else "for a kind of mention"
        raise UsageError(
            f"the model has no label {what}", remedy="Is it a token classifier for named entities? See id2label in config.json"
        )
    kinds = tuple(dict.fromkeys(kind for _, kind in parts.values()))
    prefixes = ["" if out else parts[label][0] for label, out in zip(labels, outside, strict=True)]
    return LabelScheme(
        scheme=_named(frozenset(prefixes)),
        kinds=kinds,
        kind_of=tuple(-1 if out else kinds.index(parts[label][1]) for label, out in zip(labels, outside, strict=True)),
        begins=tuple(prefix in _BEGINS for prefix in prefixes),
        ends=tuple(prefix in _ENDS for prefix in prefixes),
    )


def _parts(labels: Sequence[str]) -> Mapping[str, tuple[str, str]]:
    """Prefix and kind of each label: on the side where all labels have a prefix, otherwise none has one."""
    for form, prefix, kind in ((_BEFORE, 1, 2), (_BEHIND, 2, 1)):
        found = {label: form.fullmatch(label) for label in labels}
        if labels and all(found.values()):
            return {label: (match[prefix], match[kind]) for label, match in found.items() if match}
    return {label: ("", label) for label in labels}


def _named(prefixes: frozenset[str]) -> Scheme:
    if prefixes & {"L", "U"}:
        return "BILOU"
    if prefixes & {"E", "S"}:
        return "BIOES"
    return "BIO" if prefixes & {"B", "I"} else "IO"


_FREE: Final = r"\p{Han}\p{Hiragana}\p{Katakana}\p{Hangul}\p{Thai}\p{Lao}\p{Khmer}\p{Myanmar}々〇"
_MARKS: Final = r"[\p{M}\p{Cf}\p{Emoji_Modifier}]"
_LETTER: Final = rf"(?:[\w--[{_FREE}]]{_MARKS}*+)"
_DIGIT: Final = rf"(?:\d{_MARKS}*+)"
_CLITIC: Final = r"(?i:s|d|m|ll|ve|re)(?!\w)"
_WORD: Final = regex.compile(
    rf"""
      {_LETTER}++ (?: (?: [{APOSTROPHES}](?!{_CLITIC}) | (?<={_DIGIT})[.,:](?=\d) ) {_LETTER}++ )*+
    | \p{{Regional_Indicator}}{{2}}
    | [^\s] {_MARKS}*+ (?: (?<=\u200d) [^\s\w] {_MARKS}*+ )*+
    """,
    regex.VERBOSE | regex.VERSION1,
)


class Words:
    """The words and signs of *text*; between two of them is white space or nothing."""

    def __init__(self, text: str) -> None:
        self._ranges = [match.span() for match in _WORD.finditer(text)]
        self._starts = [start for start, _ in self._ranges]

    def around(self, start: int, end: int) -> tuple[int, int]:
        """Return the range of the words that ``[start, end)`` touches; an empty one if it touches none."""
        first = max(bisect_right(self._starts, start) - 1, 0)
        last = bisect_right(self._starts, end - 1) - 1
        while first <= last and self._ranges[first][1] <= start:
            first += 1
        if end <= start or first > last:
            return start, start
        return self._ranges[first][0], self._ranges[last][1]


Probabilities = NDArray[np.float32]


class TokenWord(NamedTuple):
    """A word, or several that share a token: ``text[start:end]``; *token* is the number of its first token."""

    start: int
    end: int
    token: int


class TokenMention(NamedTuple):
    """``text[start:end]`` is taken for one of *kind*."""

    start: int
    end: int
    kind: str
    score: float


def token_words(text: str, offsets: Sequence[tuple[int, int]]) -> list[TokenWord]:
    """Return the words of *text* that have a token; *offsets* are the ranges of the tokens, ascending.

    Tokens of white space, or of nothing, belong to none.
    """
    words = Words(text)
    found: list[TokenWord] = []
    for number, (start, end) in enumerate(offsets):
        begin, finish = words.around(start, end)
        if begin == finish:
            continue
        if found and begin < found[-1].end:
            if finish > found[-1].end:
                found[-1] = found[-1]._replace(end=finish)
        else:
            found.append(TokenWord(begin, finish, number))
    return found


def decoded_mentions(words: Sequence[TokenWord], probabilities: Probabilities, scheme: LabelScheme) -> list[TokenMention]:
    """Return the mentions among *words* in text order; *probabilities* has a row a token and a column a label."""
    if not words:
        return []
    rows = np.asarray(probabilities, dtype=np.float64)[[word.token for word in words]]
    kind_of = np.array(scheme.kind_of)
    outside = rows[:, kind_of == -1].sum(axis=1)
    by_kind = np.stack([rows[:, kind_of == kind].sum(axis=1) for kind in range(len(scheme.kinds))], axis=1)
    best = by_kind.argmax(axis=1)
    chosen = by_kind[np.arange(len(words)), best]
    inside = chosen > outside
    begins = _says(rows, best, scheme, scheme.begins)
    ends = _says(rows, best, scheme, scheme.ends)
    found = []
    for first, last in _runs(inside, best, begins, ends):
        score = float(min(1.0, max(0.0, chosen[first:last].mean())))
        found.append(TokenMention(words[first].start, words[last - 1].end, scheme.kinds[best[first]], score))
    return found


def _says(rows: NDArray[np.float64], best: NDArray[np.int64], scheme: LabelScheme, flags: Sequence[bool]) -> NDArray[np.bool_]:
    """Whether, of the labels of its kind, those with the flag are likelier than the others; a row each."""
    kind_of = np.array(scheme.kind_of)
    weights = np.where(np.array(flags), 1.0, -1.0)
    difference = np.stack([(rows * (weights * (kind_of == kind))).sum(axis=1) for kind in range(len(scheme.kinds))], axis=1)
    said: NDArray[np.bool_] = difference[np.arange(len(rows)), best] > 0
    return said


def _runs(
    inside: NDArray[np.bool_], best: NDArray[np.int64], begins: NDArray[np.bool_], ends: NDArray[np.bool_]
) -> Iterator[tuple[int, int]]:
    """The ranges of words that are one mention each."""
    first = -1  # of the open run
    for number in range(len(inside)):
        goes_on = first >= 0 and inside[number] and best[number] == best[first] and not begins[number] and not ends[number - 1]
        if goes_on:
            continue
        if first >= 0:
            yield first, number
        first = number if inside[number] else -1
    if first >= 0:
        yield first, len(inside)


class TokenWindow(NamedTuple):
    """The model reads the tokens ``[first, last)``; what it says of ``[own_first, own_last)`` counts. Own ranges cover a text once."""

    first: int
    last: int
    own_first: int
    own_last: int


def windows_of(count: int, limit: int, overlap: int, word_starts: Sequence[int]) -> list[TokenWindow]:
    """Return the windows over *count* tokens, at most *limit* each, about *overlap* of them shared with the next one.

    *word_starts* are the numbers of tokens that begin a word, ascending.
    """
    if not 0 <= overlap < limit:
        raise ValueError("the overlap must be smaller than a window")
    ranges: list[tuple[int, int]] = []
    first = 0
    while True:
        last = min(first + limit, count)
        if last > first:
            ranges.append((first, last))
        if last >= count:
            break
        first = _next_start(first, last - overlap, word_starts)
    middles = [(later[0] + earlier[1]) // 2 for earlier, later in pairwise(ranges)]
    borders = [0, *middles, count]
    return [TokenWindow(*one, borders[number], borders[number + 1]) for number, one in enumerate(ranges)]


def _next_start(first: int, latest: int, word_starts: Sequence[int]) -> int:
    """The last beginning of a word in ``(first, latest]``, or *latest* if there is none."""
    at = bisect_right(word_starts, latest) - 1
    return word_starts[at] if at >= 0 and word_starts[at] > first else max(latest, first + 1)


_HALF: Final = re.compile("[\ud800-\udfff]")


def with_whole_characters(text: str) -> str:
    """Return *text* with the replacement character in the place of each half of a pair, so that all offsets stay."""
    return _HALF.sub("\ufffd", text)


_TINY = 1e-9
_JOINTS = frozenset({"", " ", "-"})
_NO_BEGINNING = frozenset(".,;:!?)]}-–—/")
_NO_END = frozenset(",;:!?([{-–—/")
_IN_NUMBERS = frozenset(".,:/")
# An address of mail or the internet, whole: a part of one is none.
_ADDRESS = re.compile(r"(?:https?://|www\.)[^\s<>\"]*[\w/]|(?<![\w.+-])[\w.+-]++@\w[\w.-]*\w")


@dataclass(frozen=True, slots=True)
class Decoded:
    """A span that was found: its place in the text and among the tokens, the number of its type, and how sure the tags are of it."""

    start: int
    end: int
    first: int
    last: int
    type_number: int
    confidence: float


def softmax(logits: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the probabilities along the last axis."""
    shifted = np.exp(logits - logits.max(axis=-1, keepdims=True))
    return np.asarray(shifted / shifted.sum(axis=-1, keepdims=True))


def decode(text: str, offsets: Sequence[tuple[int, int]], logits: NDArray[np.floating], *, outside_bias: float = 0.0) -> list[Decoded]:
    """Return the spans of *text* by the tag *logits* of its tokens, in order and disjoint. More *outside_bias* gives fewer spans.

    Where a span begins and ends is decided by all types together, its type by all of its tokens: so a span never falls apart because
    its tokens lean towards two types. The confidence is that of the least sure token times that of the type.
    """
    if not len(offsets):
        return []
    biased = logits.astype(np.float64)
    biased[:, 0] += outside_bias
    probabilities = softmax(biased)
    begins, goes_on = probabilities[:, 1::2], probabilities[:, 2::2]
    parts = np.stack([probabilities[:, 0], begins.sum(axis=1), goes_on.sum(axis=1)], axis=1)
    found: list[Decoded] = []
    for first, last in _tag_runs(parts.argmax(axis=1), offsets):
        by_type = (begins[first:last] + goes_on[first:last]).sum(axis=0)
        number = int(by_type.argmax())
        inside = float((1 - parts[first:last, 0]).min())
        confidence = inside * float(by_type[number] / max(_TINY, by_type.sum())) * float(max(parts[first, 1], parts[first, 2]))
        start, end = offsets[first][0], offsets[last - 1][1]
        found.append(Decoded(start, end, first, last, number, min(1.0, max(0.0, confidence))))
    return _repaired(text, found)


def _tag_runs(tags: NDArray[np.intp], offsets: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    """Return the runs of tokens that a span has: a 1 begins one, a 2 goes on, or begins one where none is open."""
    runs: list[tuple[int, int]] = []
    is_open = False
    for at, tag in enumerate(tags.tolist()):
        if tag == 0:
            is_open = False
        # A piece of a word begins no span within the word of the span that is open.
        elif is_open and (tag == 2 or offsets[at][0] < offsets[at - 1][1]):
            runs[-1] = (runs[-1][0], at + 1)
        else:
            runs.append((at, at + 1))
            is_open = True
    return runs


def _repaired(text: str, found: Sequence[Decoded]) -> list[Decoded]:
    """Let spans begin and end where words do; those that so meet in one word, or had been one of a type, become one."""
    repaired: list[Decoded] = []
    addresses = [match.span() for match in _ADDRESS.finditer(text)]
    for one in found:
        start, end = _whole_words(text, one.start, one.end)
        for first, last in addresses:
            if start < last and end > first:
                start, end = min(start, first), max(end, last)
        if start >= end:
            continue
        before = repaired[-1] if repaired else None
        if before is not None and _is_one(text, before, one, start):
            surer = one if one.confidence > before.confidence else before
            sure = min(one.confidence, before.confidence)
            repaired[-1] = Decoded(before.start, max(end, before.end), before.first, one.last, surer.type_number, sure)
        else:
            repaired.append(Decoded(start, end, one.first, one.last, one.type_number, one.confidence))
    return repaired


def _is_one(text: str, before: Decoded, one: Decoded, start: int) -> bool:
    """Whether *one*, which begins at *start*, goes on with *before*: they share a word, or only a blank or a hyphen parts two of a type."""
    return start < before.end or (one.type_number == before.type_number and text[before.end : start] in _JOINTS)


def _whole_words(text: str, start: int, end: int) -> tuple[int, int]:
    """Return [start, end) without blanks and marks that no value has at its ends, and with the rest of words that it has a part of."""
    while start < end and (text[start].isspace() or text[start] in _NO_BEGINNING):
        start += 1
    while end > start and (text[end - 1].isspace() or text[end - 1] in _NO_END):
        end -= 1
    if start == end:
        return start, end
    while start > 0 and (_one_word(text[start - 1], text[start]) or _within_number(text, start) or _before_ending(text, start)):
        start -= 1
    while end < len(text) and (_one_word(text[end - 1], text[end]) or _within_number(text, end)):
        end += 1
    return start, end


def _within_number(text: str, at: int) -> bool:
    """Whether a number goes on at *at*, before or behind a mark in it: 0.3, 12,466, 15:05, 5/14."""
    for mark in (at - 1, at):
        if 0 < mark < len(text) - 1 and text[mark] in _IN_NUMBERS and text[mark - 1].isdigit() and text[mark + 1].isdigit():
            return True
    return False


def _before_ending(text: str, at: int) -> bool:
    """Whether *at* is before the ending of a word behind an apostrophe (master's), at which no value begins."""
    return text[at] in "'’" and text[at - 1].isalpha() and at + 1 < len(text) and text[at + 1].isalpha()


def _one_word(left: str, right: str) -> bool:
    """Whether two neighbours are of one word: not in scripts that write no blanks, where characters stand for themselves."""
    if unicodedata.combining(right):
        return True
    return is_word_character(left) and is_word_character(right) and not (is_unspaced(left) or is_unspaced(right))
