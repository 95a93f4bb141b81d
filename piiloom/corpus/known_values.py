"""Values that are known to be personal, and the places of other texts that hold them again.

Values and texts are compared in their folded form (``normalising.fold``) without accents, word by word, so the time grows with the text
and not with the number of values. In scripts without blanks each character is a word. A value does not go over an empty line.
"""

from __future__ import annotations

import re
from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from functools import cache, lru_cache
from typing import Any, Final, NamedTuple

from piiloom.corpus.mention_search import stands_alone
from piiloom.corpus.normalising import ComparableText, fold
from piiloom.foundation.repeated_ids import text_hash
from piiloom.foundation.words import STOP_WORDS, UNSPACED, Range, words_like_names

_SPACELESS: Final = UNSPACED + r"\u1100-\u11ff"  # and the letters of folded Hangul
_ACCENT: Final = re.compile("[\u0300-\u036f]")
_EMPTY_LINE: Final = re.compile(r"\n[ \t\r]*\n\s*")
_ELISION: Final = re.compile(r"(?<!\w)(?:[cdjlmnst]|qu|(?:d|n|s|c)?(?:e|a|u)ll|un)['’]\Z", re.IGNORECASE)
_MOST: Final = 48  # words of the longest value that is looked for
_SURE: Final = 5  # a number with so many digits is the same thing everywhere


class Known(NamedTuple):
    """A known value: ``what`` is what its owner says of it, ``before`` and ``after`` are the signs around its words.

    ``cased``: it is written with a capital. ``name``: it names a person; ``part``: it is a part of such a name.
    """

    what: Any
    before: str = ""
    after: str = ""
    cased: bool = False
    name: bool = False
    part: bool = False


class RepeatedValue(NamedTuple):
    """A place of a text that holds the value ``known``. ``sure``: the words can hardly mean anything else there."""

    start: int
    end: int
    key: str
    known: Known
    sure: bool


class Key(NamedTuple):
    """The folded words of a value, the first of them, how many they are, and the signs before and after them."""

    words: str
    first: str
    size: int
    before: str
    after: str


@cache
def _word() -> Any:
    import regex  # noqa: PLC0415 - most runs look for no values

    return regex.compile(rf"[{_SPACELESS}]\p{{M}}*|(?:(?![{_SPACELESS}])[\p{{L}}\p{{M}}\p{{N}}])+")


@cache
def like_names_in(language: str) -> frozenset[str]:
    """Return the folded words of *language* that are names of people, too."""
    return frozenset(_bare(fold(word).text) for word in words_like_names(language))


@lru_cache(maxsize=1 << 14)
def known_value_key(value: str) -> Key | None:
    """Return the key of *value*; None if it has no word, is a single letter or digit, or is too long."""
    folded = fold(value).text
    words = [match.span() for match in _word().finditer(folded)]
    if not words or len(words) > _MOST:
        return None
    start, end = words[0][0], words[-1][1]
    if end - start < 2:
        return None
    return Key(_bare(folded[start:end]), _bare(folded[slice(*words[0])]), len(words), folded[:start].lstrip(), folded[end:].rstrip())


def _bare(folded: str) -> str:
    """Return *folded* words without the accents that capitals are often written without."""
    return folded if folded.isascii() else _ACCENT.sub("", folded)


class ValueTable(dict[str, Known]):
    """Known values by their folded words. The first value of the same words stays, but a whole value takes the place of a part."""

    def __init__(self) -> None:
        super().__init__()
        self._sizes: dict[str, set[int]] = {}

    def note(self, value: str, what: object, *, name: bool = False, part: bool = False) -> None:
        """Add *value*, of which *what* is known."""
        key = known_value_key(value)
        if key is None or (key.words in self and (part or not self[key.words].part)):
            return
        self[key.words] = Known(what, key.before, key.after, value != value.lower(), name, part)
        self._sizes.setdefault(key.first, set()).add(key.size)

    def sizes(self, first: str) -> Sequence[int]:
        """Return how many words the values have that begin with the word *first*, the longest first."""
        found = self._sizes.get(first)
        return sorted(found, reverse=True) if found else ()

    def digests(self) -> Iterator[tuple[int, Known | None]]:
        """Yield what ``PackedValues`` takes."""
        for words, known in self.items():
            yield text_hash(words), known
        for first, sizes in self._sizes.items():
            yield from ((text_hash(f"{size}\0{first}"), None) for size in sizes)


class PackedValues:
    """The known values of a whole corpus, in ten bytes each: digests of their words instead of the words. Picklable."""

    def __init__(self, entries: Mapping[int, Known | None]) -> None:
        self._digests = array("Q", sorted(entries))
        self._known = list(dict.fromkeys(entries.values()))
        numbers = {known: number for number, known in enumerate(self._known)}
        self._numbers = array("L", (numbers[entries[digest]] for digest in self._digests))
        self.sizes: Callable[[str], Sequence[int]] = lru_cache(maxsize=1 << 16)(self._sizes_of)

    def __reduce__(self) -> tuple[type[PackedValues], tuple[Mapping[int, Known | None]]]:
        return type(self), ({digest: self._known[number] for digest, number in zip(self._digests, self._numbers, strict=True)},)

    def get(self, words: str) -> Known | None:
        """Return the value of these folded *words*, if it is known."""
        at = self._at(words)
        return self._known[self._numbers[at]] if at is not None else None

    def _sizes_of(self, first: str) -> Sequence[int]:
        return tuple(size for size in range(_MOST, 0, -1) if self._at(f"{size}\0{first}") is not None)

    def _at(self, words: str) -> int | None:
        digest = text_hash(words)
        at = bisect_left(self._digests, digest)
        return at if at < len(self._digests) and self._digests[at] == digest else None


def repeats(
    text: str,
    tables: Iterable[ValueTable | PackedValues],
    *,
    taken: Sequence[Range] = (),
    like_names: Container[str] = (),
    lines: bool = False,
) -> Iterator[RepeatedValue]:
    """Yield the places of *text* that hold a value of *tables*, in order and disjoint; of several values at a place the longest.

    An earlier table wins over a later one. *taken* are ranges (sorted, disjoint) that are left out. *like_names* are folded words of
    the language that are names, too. With *lines*, a value does not go over the end of a line.
    """
    tables = list(tables)
    starts = [start for start, _ in taken]
    for offset, block in _blocks(text, lines=lines):
        folded = fold(block)
        words = [match.span() for match in _word().finditer(folded.text)]
        firsts = [_bare(folded.text[start:end]) for start, end in words]
        known = {first: candidates for first in set(firsts) if (candidates := _candidates(first, tables))}
        behind = 0
        for at in [number for number, first in enumerate(firsts) if first in known]:
            if at < behind:
                continue
            for size, table in known[firsts[at]]:
                found = _at(text, offset, folded, words[at : at + size], table, like_names) if at + size <= len(words) else None
                if found is not None and not _overlaps(found, taken, starts):
                    yield found
                    behind = at + size
                    break


def _at(
    text: str, offset: int, folded: ComparableText, words: Sequence[Range], table: ValueTable | PackedValues, like_names: Container[str]
) -> RepeatedValue | None:
    """Return the repeat that the *words* of a folded part of *text* are, which begins at *offset*; None if they are none of *table*."""
    start, end = words[0][0], words[-1][1]
    key = _bare(folded.text[start:end])
    known = table.get(key)
    place = folded.original_range(start, end) if known is not None else None
    return _repeat(text, offset + place[0], offset + place[1], key, known, like_names) if known is not None and place is not None else None


def _candidates(first: str, tables: Iterable[ValueTable | PackedValues]) -> list[tuple[int, ValueTable | PackedValues]]:
    found = [(size, table) for table in tables for size in table.sizes(first)]
    return sorted(found, key=lambda one: -one[0]) if len(found) > 1 else found


def _blocks(text: str, *, lines: bool) -> Iterator[tuple[int, str]]:
    at = 0
    if lines:
        for line in text.splitlines(keepends=True):
            yield at, line
            at += len(line)
        return
    for gap in _EMPTY_LINE.finditer(text):
        yield at, text[at : gap.start()]
        at = gap.end()
    yield at, text[at:]


def _overlaps(found: RepeatedValue, taken: Sequence[Range], starts: Sequence[int]) -> bool:
    before = bisect_right(starts, found.start) - 1
    if before >= 0 and taken[before][1] > found.start:
        return True
    return before + 1 < len(taken) and starts[before + 1] < found.end


def _repeat(text: str, start: int, end: int, key: str, known: Known, like_names: Container[str]) -> RepeatedValue | None:
    """Return the repeat at ``[start, end)``, with the signs around the value; None where the words are an ordinary word."""
    surface = text[start:end]
    capital = not surface[0].islower()
    if surface.isalpha() and (key in like_names or key in STOP_WORDS):
        if known.cased and not capital:
            return None
        sure = not known.cased and key not in STOP_WORDS
    elif not any(map(str.isalpha, surface)):
        sure = sum(map(str.isalnum, surface)) >= _SURE
    else:
        sure = capital or not known.name or not (known.part or surface.isalpha())
    alone = stands_alone(text, start, end) or bool(re.match(f"[{_SPACELESS}]", key) or _ELISION.search(text, max(0, start - 6), start))
    if not alone and not any(map(str.isalpha, surface)):
        return None  # "34" in "34.5"
    for sign, stands in ((known.before, slice(start - len(known.before), start)), (known.after, slice(end, end + len(known.after)))):
        if sign and stands.start >= 0 and fold(text[stands]).text == sign:
            start, end = min(start, stands.start), max(end, stands.stop)
    return RepeatedValue(start, end, key, known, sure and alone)
