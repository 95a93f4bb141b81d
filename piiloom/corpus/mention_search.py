r"""Search of a text for mentions of a value: exactly, by normalized spelling, in other groups, and by similarity.

``SearchableText.find`` finds a value as a model copied it from the text. Models copy with small changes: another case, typographic quotes,
a number in other groups, a letter more or less. The result names the search step that found the words of the text, or why none did.

Ranges are half-open code-point offsets into the original text. Every range is a whole word or a sequence of whole words, and the ranges
of one search do not overlap.

A mention must not begin or end inside a longer word, number or grapheme. The rule is ``(?<!\w)value(?!\w)`` with these additions:

- a combining mark, variation selector or skin tone after the value belongs to its last character;
- zero-width characters are skipped, and a joiner (U+200D) between symbols makes one emoji;
- an apostrophe inside a word joins ("Brien" in "O'Brien", "Don" in "Don't", "7" in 5'7"), except before a clitic
  ("Ann's", "Ann'll"), where a mention may end before the apostrophe;
- ``.``, ``,`` and ``:`` between digits join ("34" in "34.5", "45" in "7:45").

A hyphen separates ("34" in "34-year-old"). Scripts without blanks between words have no such edges: there a mention may begin and end
anywhere, also next to Latin letters and digits. In Korean it may end before a particle, which adjoins it.
"""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator
from functools import cached_property, lru_cache
from math import ceil
from typing import Literal, NamedTuple, TypeVar

from piiloom.corpus.normalising import APOSTROPHES, ComparableText, extends, fold, is_zero_width, plain, stripped, trim
from piiloom.foundation.words import STOP_WORDS, WORD, Range, is_unspaced

_JOINER = "\u200d"
_CLITIC = re.compile(rf"[{APOSTROPHES}](?:s|d|m|ll|ve|re)(?!\w)", re.IGNORECASE)
_IN_NUMBERS = ".,:"
# No character below this one belongs to the character before it.
_FIRST_EXTENDER = "\u0300"


def is_word_character(character: str) -> bool:
    r"""Whether ``\w`` matches *character*."""
    return character == "_" or character.isalnum()


def stands_alone(text: str, start: int, end: int) -> bool:
    """Whether ``text[start:end]`` (non-empty) is not part of a longer word, number or grapheme on either side."""
    return not _joined_before(text, start) and not _joined_after(text, end)


def is_inside_word(text: str, at: int) -> bool:
    """Whether the offset *at* parts two letters, two digits or a letter and its mark; never in a script without blanks between words."""
    if not 0 < at < len(text) or is_unspaced(text[at]):
        return False
    before, after = text[at - 1], text[at]
    return (before.isalpha() and after.isalpha()) or (before.isdigit() and after.isdigit()) or (before.isalpha() and extends(after))


def ends_at_seams(text: str, start: int, end: int) -> bool:
    """Whether ``text[start:end]`` (non-empty) stands alone but for seams, where a digit and a letter meet, at either side."""
    before = not _joined_before(text, start) or _is_seam(text[start - 1], text[start])
    return before and (not _joined_after(text, end) or (end < len(text) and _is_seam(text[end - 1], text[end])))


def _is_seam(one: str, other: str) -> bool:
    return (one.isdigit() and other.isalpha()) or (one.isalpha() and other.isdigit())


def _joined_before(text: str, start: int) -> bool:
    first = text[start]
    if start == 0 or (text[start - 1] == " " and first < _FIRST_EXTENDER):  # after a space: by far the most frequent case
        return False
    if extends(first):
        return True
    last = start - 1
    while last >= 0 and is_zero_width(text[last]):
        last -= 1
    joiner = _JOINER in text[last + 1 : start]
    while last > 0 and extends(text[last]):
        last -= 1
    if last < 0:
        return False
    before = text[last]
    if is_word_character(before) or (joiner and _can_join(before)) or (_is_flag_half(before) and _is_flag_half(first)):
        return not (is_unspaced(before) or is_unspaced(first))
    if last == 0 or not is_word_character(first):
        return False
    inside_word = before in APOSTROPHES and is_word_character(text[last - 1]) and not (is_unspaced(text[last - 1]) or is_unspaced(first))
    inside_number = before in _IN_NUMBERS and first.isdigit() and text[last - 1].isdigit()
    return inside_word or inside_number


def _joined_after(text: str, end: int) -> bool:
    size = len(text)
    if end < size and text[end] == " ":  # by far the most frequent case
        return False
    following = end
    while following < size and is_zero_width(text[following]):
        following += 1
    if following == size:
        return False
    after, last = text[following], text[end - 1]
    if is_word_character(after) or extends(after) or (_JOINER in text[end:following] and _can_join(after)):
        return extends(after) or not (is_unspaced(after) or is_unspaced(last) or (_is_hangul(after) and _is_hangul(last)))
    if _is_flag_half(after) and _is_flag_half(last):
        return True
    if following + 1 == size or not is_word_character(text[following + 1]):
        return False
    parted = is_unspaced(last) or is_unspaced(text[following + 1]) or _CLITIC.match(text, following)
    inside_word = after in APOSTROPHES and is_word_character(last) and not parted
    inside_number = after in _IN_NUMBERS and last.isdigit() and text[following + 1].isdigit()
    return inside_word or inside_number


def _is_hangul(character: str) -> bool:
    return "\uac00" <= character <= "\ud7a3"


def _can_join(character: str) -> bool:
    return unicodedata.category(character)[0] in "LMNS"


def _is_flag_half(character: str) -> bool:
    return "\U0001f1e6" <= character <= "\U0001f1ff"


T = TypeVar("T")

FUZZY_SCORE = 88.0  # rapidfuzz ratio (0-100): about one letter in eight
_FUZZY_LETTERS = 5  # one letter changed in a shorter word usually makes another word
_ENDING, _STEM = 3, 0.6  # most letters of an ending, and the least share of a word that stays, whichever allows more
_LETTERS_A_SLIP, _MOST_SLIPS = 6, 2  # one letter in six may differ, at most two
_LEAST_REGROUPED = 5  # letters and digits of a value that is searched without anything between them
QUOTES = "\"'`“”‘’«»„「」『』"
_DIGITS = re.compile(r"\d")
SearchStep = Literal["exact", "normalised", "regrouped", "fuzzy", "inside_word", "invented", "empty"]


class FoundValue(NamedTuple):
    """The whole-word mentions of a value, and the search step that found them; or no mentions, and why.

    "normalised": in other typography or case, or without the quotes around the value; "regrouped": a code with other blanks and signs;
    "fuzzy": very similar words. Without mentions: "inside_word" (only in longer words), "invented" or "empty".
    """

    ranges: list[Range]
    step: SearchStep


_CLITIC_END = re.compile(r"['’]s$", re.IGNORECASE)


class SearchableText:
    """A text to be searched for several values; it is folded at most once."""

    def __init__(self, text: str) -> None:
        self.text = text

    @cached_property
    def folded(self) -> ComparableText:
        """The text in the form in which values are compared."""
        return fold(self.text)

    def find(self, value: str) -> FoundValue:
        """Return the mentions of *value*, which a model copied from the text, by the first step that finds any."""
        form, bare = stripped(value), without_quotes(value)
        if exact := self.exact(form):
            return FoundValue(exact, "exact")
        if not any(map(str.isalnum, form)):
            return FoundValue([], "invented" if form else "empty")
        for spelling in dict.fromkeys((bare, form)):
            if found := self.exact(spelling) or self.normalised(spelling):
                return FoundValue(found, "normalised")
        if form in self.text or self.only_touched(form):
            return FoundValue([], "inside_word")
        if found := self.regrouped(form):
            return FoundValue(found, "regrouped")
        similar = self.fuzzy(bare) or self._with_a_slip(bare)
        found = self.exact(self.text[slice(*similar)]) if similar else []
        return FoundValue(found, "fuzzy" if found else "invented")

    def exact(self, value: str) -> list[Range]:
        """Whole-word occurrences of exactly *value*."""
        return exact_mentions(self.text, value)

    def normalised(self, value: str) -> list[Range]:
        """Whole-word occurrences of *value* in any spelling that ``is_same_spelling`` accepts."""
        return [r for r in self.occurrences(value) if r is not None and is_same_spelling(self.text[r[0] : r[1]], value)]

    def mentions(self, value: str) -> list[Range]:
        """Every whole-word occurrence that a reader takes as a mention of *value*.

        Typography is ignored. Case is ignored only if *value* has no capitals: "will" does not mention "Will", but "Asthma"
        at the start of a sentence mentions "asthma".
        """
        found = self.normalised(value)
        if value == value.lower():
            return found
        wanted = plain(value)
        return [(start, end) for start, end in found if plain(self.text[start:end]) == wanted]

    def count(self, value: str) -> int:
        """How often the folded text contains *value*, also inside longer words: a cheap test before a search."""
        needle = _needle(value)
        return self.folded.text.count(needle) if needle else 0

    def only_touched(self, value: str) -> bool:
        """Whether *value* occurs in the text, but only inside longer words, numbers or emoji."""
        places = list(self.occurrences(value))
        return bool(places) and not any(places)

    def fuzzy(self, value: str) -> Range | None:
        """Return the sequence of words most similar to *value*, or None if none scores ``FUZZY_SCORE``.

        There is no fuzzy match where a small change makes another value: values with digits, single words with capitals, short
        words, sequences that contain the value in a longer word. The best score wins, then the earliest start.
        """
        tokens = WORD.findall(value)
        if not tokens or has_number(value) or (len(tokens) == 1 and value != value.lower()):
            return None
        wanted = _needle(value)
        best: tuple[float, int, int] | None = None
        for start, end in self._windows(len(tokens)):
            surface = fold(self.text[start:end]).text
            score = _ratio(surface, wanted)
            if score and (best is None or score > best[0]) and _is_slip(surface, wanted) and stands_alone(self.text, start, end):
                best = (score, start, end)
        return None if best is None else best[1:]

    def regrouped(self, value: str) -> list[Range]:
        """Whole-word occurrences that differ from *value* in blanks and signs only: "0612 345" for "06-12345"."""
        wanted = "".join(filter(str.isalnum, fold(value).text))
        letters, places = self._letters
        found: list[Range] = []
        for start, end in occurrences(letters, wanted) if len(wanted) >= _LEAST_REGROUPED else ():
            place = self.folded.original_range(places[start], places[end - 1] + 1)
            if place is not None and stands_alone(self.text, *place) and (not found or found[-1][1] <= place[0]):
                found.append(self._with_signs(value, *place))
        return found

    @cached_property
    def _letters(self) -> tuple[str, list[int]]:
        """The letters and digits of the folded text, and their places in it."""
        places = [at for at, character in enumerate(self.folded.text) if character.isalnum()]
        return "".join(self.folded.text[at] for at in places), places

    def _with_signs(self, value: str, start: int, end: int) -> Range:
        """Return the range with the sign that *value* begins or ends with, if the text has it there: the "+" of a telephone number."""
        before = not value[0].isalnum() and self.text[max(0, start - 1) : start] == value[0]
        behind = not value[-1].isalnum() and self.text[end : end + 1] == value[-1]
        return start - before, end + behind

    def _with_a_slip(self, value: str) -> Range | None:
        """Return the first words in which a few letters differ from *value*; never a number."""
        wanted = _needle(value)
        most = min(len(wanted) // _LETTERS_A_SLIP, _MOST_SLIPS)
        if not most or has_number(value):
            return None
        from rapidfuzz.distance import Levenshtein  # noqa: PLC0415 - as in _ratio

        words = [found.span() for found in WORD.finditer(self.text)]
        for first, last in zip(words, words[max(len(WORD.findall(value)), 1) - 1 :], strict=False):
            surface = self.text[first[0] : last[1]]
            near = abs(len(surface) - len(wanted)) <= most and not has_number(surface)
            if near and Levenshtein.distance(_needle(surface), wanted, score_cutoff=most) <= most:
                return first[0], last[1]
        return None

    def occurrences(self, value: str) -> Iterator[Range | None]:
        """Yield the range of each occurrence of the folded *value* in the folded text; None for one inside a longer word."""
        needle = _needle(value)
        haystack = self.folded.text
        at = haystack.find(needle) if needle else -1
        while at >= 0:
            found = self.folded.original_range(at, at + len(needle))
            alone = found is not None and stands_alone(self.text, *found)
            yield found if alone else None
            at = haystack.find(needle, at + (len(needle) if alone else 1))

    def _windows(self, size: int) -> Iterator[Range]:
        """Yield the ranges of all sequences of ``size - 1`` to ``size + 1`` words, with and without a final possessive."""
        tokens = list(_word_ranges(self.text))
        for first in range(len(tokens)):
            for last in range(first + max(size - 2, 0), min(first + size + 1, len(tokens))):
                start, end = tokens[first][0], tokens[last][1]
                yield start, end
                if _CLITIC_END.search(self.text, end - 2, end):
                    yield start, end - 2


@lru_cache(maxsize=4096)
def _needle(value: str) -> str:
    return fold(value).text.strip()


def occurrences(text: str, value: str, start: int = 0, end: int | None = None) -> Iterator[Range]:
    """Yield every range in ``text[start:end]`` that equals *value*, also overlapping ones."""
    at = text.find(value, start, end) if value else -1
    while at >= 0:
        yield at, at + len(value)
        at = text.find(value, at + 1, end)


def exact_mentions(text: str, value: str) -> list[Range]:
    """Whole-word occurrences of exactly *value* in *text*, without overlaps, in text order."""
    found: list[Range] = []
    for start, end in occurrences(text, value):
        if (not found or found[-1][1] <= start) and stands_alone(text, start, end):
            found.append((start, end))
    return found


def without_overlaps(items: Iterable[T], place_of: Callable[[T], Range]) -> tuple[list[T], list[tuple[T, T]]]:
    """Keep those of *items* that overlap none kept before them.

    Return them in text order, and the others, each with a kept item that it overlaps.
    """
    kept: list[T] = []
    dropped: list[tuple[T, T]] = []
    for item in items:
        start, end = place_of(item)
        at = bisect_left(kept, start, key=lambda one: place_of(one)[0])
        neighbours = ((place_of(one), one) for one in kept[max(at - 1, 0) : at + 1])
        winner = next((one for (first, last), one in neighbours if start < last and first < end), None)
        if winner is None:
            kept.insert(at, item)
        else:
            dropped.append((item, winner))
    return kept, dropped


def without_quotes(value: str) -> str:
    """Return *value* without quotes and blanks around it."""
    return stripped(stripped(value).strip(QUOTES))


def is_same_spelling(surface: str, value: str) -> bool:
    """Whether the two differ only in typography, composition, compatibility forms or case.

    Words with a digit may differ only in typography, because any other change makes another code or number. A function word
    is not accepted as a lower-case spelling of a name ("will" for "Will").
    """
    if surface == value:
        return True
    if _needle(surface) != _needle(value):
        return False
    if _numeric_words(surface) != _numeric_words(value):
        return False
    return surface not in STOP_WORDS


def is_same_value(surface: str, value: str) -> bool:
    """Whether ``alignment`` would accept *surface* as a mention of *value*: the same spelling, or a typing error."""
    if is_same_spelling(surface, value):
        return True
    return SearchableText(surface).fuzzy(value) == trim(surface, 0, len(surface))


def is_inflected(surface: str, value: str) -> bool:
    """Whether *surface* could be *value* with other endings ("der Deutschen Bahn" of "Deutsche Bahn"): as many words, the same figures.

    Each word begins as its counterpart does, for six tenths of it or all but its last three letters.
    """
    ours, theirs = plain(surface).casefold().split(), plain(value).casefold().split()
    if len(ours) != len(theirs) or _DIGITS.findall(surface) != _DIGITS.findall(value):
        return False
    return all(a.startswith(b[: max(1, min(len(b) - _ENDING, ceil(len(b) * _STEM)))]) for a, b in zip(ours, theirs, strict=True))


def has_number(text: str) -> bool:
    """Whether *text* contains a digit or another numeric character (superscripts and fractions, which NFKD turns into digits)."""
    return any(c.isnumeric() for c in text)


def _numeric_words(text: str) -> list[str]:
    return [word for word in plain(text).split() if has_number(word)] if has_number(text) else []


def _is_slip(surface: str, wanted: str) -> bool:
    """Whether the folded *surface* is plausibly a misspelling of *wanted*, and not another value or a longer word."""
    if wanted in surface or has_number(surface):
        return False
    if "hyper" in surface + wanted and "hypo" in surface + wanted:
        return False  # similar in spelling, opposite in meaning
    ours, theirs = surface.split(), wanted.split()
    if len(ours) != len(theirs):
        return True
    return all(a == b or (len(b) >= _FUZZY_LETTERS and _ratio(a, b) >= FUZZY_SCORE) for a, b in zip(ours, theirs, strict=True))


def _ratio(ours: str, theirs: str) -> float:
    """Return how similar two texts are (0-100); 0 below ``FUZZY_SCORE``."""
    from rapidfuzz import fuzz  # noqa: PLC0415 - most who search do so exactly

    return fuzz.ratio(ours, theirs, score_cutoff=FUZZY_SCORE)


def _word_ranges(text: str) -> Iterator[Range]:
    r"""Yield the ranges of the words of *text*; unlike with ``\w+``, a word includes its combining marks."""
    pending: Range | None = None
    for found in WORD.finditer(text):
        start, end = found.span()
        while end < len(text) and extends(text[end]):
            end += 1
        if pending is not None and start <= pending[1]:
            pending = (pending[0], end)
            continue
        if pending is not None:
            yield pending
        pending = (start, end)
    if pending is not None:
        yield pending
