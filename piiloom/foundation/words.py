"""Ranges and words of a text, and counted nouns.

Stages, repair, gates and splits share this definition of a word, so that they count and compare in the same way.

Write text of unknown content into Markdown.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Sequence
from functools import cache
from importlib.resources import files

Range = tuple[int, int]  # of a text: start and end, half-open, in code points

_ES = re.compile(r"(?:s|x|z|ch|sh)$")
_Y = re.compile(r"(?<=[^aeiou])y$")
_OF_THEIR_OWN = {"person": "people", "epoch": "epochs"}


def counted(number: int, noun: str) -> str:
    """Return *number* and *noun*, plural unless it is 1: ``1 record``, ``1,234 records``. Only the last of several words is inflected."""
    return f"{number:,} {noun if number == 1 else plural(noun)}"


def plural(noun: str) -> str:
    """Return the plural of a regular English noun, of "person" or of "epoch"."""
    before, _, word = noun.rpartition(" ")
    many = _OF_THEIR_OWN.get(word) or (_Y.sub("ies", word) if _Y.search(word) else f"{word}{'es' if _ES.search(word) else 's'}")
    return f"{before} {many}" if before else many


WORD = re.compile(r"\w+(?:['’]\w+)*")
# Scripts that write no blanks between words: Han and kana, of which a word has two characters or so, and those of mainland South East
# Asia. Sets of so many letters take milliseconds to compile, so that is done when a text needs it.
EAST = r"\u3005-\u3007\u3040-\u30ff\u31f0-\u31ff\u3400-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
UNSPACED = rf"\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff{EAST}"
_FIRST_UNSPACED = "\u0e00"
LETTERS_A_WORD = {True: 2, False: 5}

# Function words carry no content, so they count neither as leaked by a question nor as making two texts similar. One file per
# language that texts are written in. All languages are used together, so a file leaves out words that carry content in another language
# ("men", "hon", "kan" are Swedish ones). The lists by which surrogates tell a language (piiloom/surrogates/data/function_words.yaml)
# must have those and as many for each language, so that the two cannot be one.
STOP_WORDS = frozenset(
    word for source in (files("piiloom.foundation") / "function_words").iterdir() for word in source.read_text("utf-8").split()
)


@cache
def words_like_names(language: str) -> frozenset[str]:
    """Return the words of *language* (ISO 639-1) that also name people ("will"), in small letters; of all languages if it has no list."""
    folder = files("piiloom.foundation") / "words_like_names"
    own = folder / f"{language}.txt"
    lines = (line for source in ([own] if own.is_file() else folder.iterdir()) for line in source.read_text("utf-8").splitlines())
    return frozenset(word for line in lines if not line.startswith("#") for word in line.split())


def words(text: str) -> list[str]:
    """Return the words of *text* in order, as written."""
    return WORD.findall(text)


def count_words(text: str) -> int:
    """Return the number of words in *text*; in a script without blanks, two characters (of Thai and its neighbors five) are a word."""
    if text.isascii() or max(text) < _FIRST_UNSPACED:
        return sum(1 for _ in WORD.finditer(text))
    runs = rf"(?P<east>[{EAST}]+)|[{UNSPACED}]+"
    rest = sum(1 for _ in WORD.finditer(re.sub(runs, " ", text)))
    return rest + sum(-(-len(run.group()) // LETTERS_A_WORD[run["east"] is not None]) for run in re.finditer(runs, text))


def is_unspaced(character: str) -> bool:
    """Whether *character* is of a script that writes no blanks between words."""
    return character >= _FIRST_UNSPACED and re.match(f"[{UNSPACED}]", character) is not None


def content_words(text: str) -> frozenset[str]:
    """Return the case-folded words of *text* that are not function words."""
    return frozenset(w for w in (m.casefold() for m in WORD.findall(text)) if w not in STOP_WORDS)


def whole_word(value: str) -> re.Pattern[str]:
    """Return a pattern that matches *value* where no word character is adjacent to it."""
    return re.compile(rf"(?<!\w){re.escape(value)}(?!\w)")


def any_of(values: Iterable[str]) -> str:
    """Return the source of a pattern that matches any of *values*, as they are written; to be put into a group."""
    return "|".join(map(re.escape, values))


def trimmed(text: str, start: int, end: int) -> tuple[int, int]:
    """Return ``[start, end)`` of *text* without white space at its ends; it may become empty."""
    while start < end and text[start].isspace():
        start += 1
    while start < end and text[end - 1].isspace():
        end -= 1
    return start, end


def with_capital(value: str) -> str:
    """Return *value* (not empty) with its first character in upper case."""
    return value[0].upper() + value[1:]


# All ASCII punctuation except characters without a special meaning inside a line of text.
_SPECIAL = re.compile(r"""[!"#$&()*+./:<=>@\[\\\]^_`{|}~]""")
# Control characters, surrogates, line separators, and characters that change the text direction.
_UNSHOWN = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069\ud800-\udfff]")


def escaped(text: str) -> str:
    """Return *text* as one line, escaped for Markdown; unprintable characters become U+FFFD."""
    return _SPECIAL.sub(lambda found: f"&#{ord(found.group())};", one_line(text))


def one_line(text: str) -> str:
    """Return *text* as one line: white space becomes single spaces, unprintable characters U+FFFD."""
    return _UNSHOWN.sub("\ufffd", re.sub(r"\s+", " ", text))


def pipe_table(header: Sequence[str], rows: Iterable[Sequence[str]], texts: Collection[int] = (0,)) -> str:
    """Return a pipe table of cells that are escaped already; columns that are not among *texts* hold figures, to the right."""
    ruler = ["---" if place in texts else "---:" for place in range(len(header))]
    return "\n".join(f"| {' | '.join(cells)} |" for cells in (header, ruler, *rows))
