r"""Word boundaries: a mention must not begin or end inside a longer word, number or grapheme.

The rule is ``(?<!\w)value(?!\w)`` with these additions:

- a combining mark, variation selector or skin tone after the value belongs to its last character;
- zero-width characters are skipped, and a joiner (U+200D) between symbols makes one emoji;
- an apostrophe inside a word joins ("Brien" in "O'Brien", "Don" in "Don't", "7" in 5'7"), except before a clitic
  ("Ann's", "Ann'll"), where a mention may end before the apostrophe;
- ``.``, ``,`` and ``:`` between digits join ("34" in "34.5", "45" in "7:45").

A hyphen separates ("34" in "34-year-old").
"""

from __future__ import annotations

import re
import unicodedata

from piiloom.corpus.normalising import APOSTROPHES, extends, is_zero_width

_JOINER = "\u200d"
_CLITIC = re.compile(rf"[{APOSTROPHES}](?:s|d|m|ll|ve|re)(?!\w)", re.IGNORECASE)
_IN_NUMBERS = ".,:"
SPACELESS = r"\u0e00-\u0e7f\u3040-\u30ff\u3400-\u9fff"  # scripts that write no blanks between words: Thai, kana, Han
_SPACELESS = re.compile(f"[{SPACELESS}]")
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
    if not 0 < at < len(text) or _SPACELESS.match(text, at):
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
        return True
    if last == 0 or not is_word_character(first):
        return False
    inside_word = before in APOSTROPHES and is_word_character(text[last - 1])
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
        return True
    if _is_flag_half(after) and _is_flag_half(last):
        return True
    if following + 1 == size or not is_word_character(text[following + 1]):
        return False
    inside_word = after in APOSTROPHES and is_word_character(last) and not _CLITIC.match(text, following)
    inside_number = after in _IN_NUMBERS and last.isdigit() and text[following + 1].isdigit()
    return inside_word or inside_number


def _can_join(character: str) -> bool:
    return unicodedata.category(character)[0] in "LMNS"


def _is_flag_half(character: str) -> bool:
    return "\U0001f1e6" <= character <= "\U0001f1ff"
