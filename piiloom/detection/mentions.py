"""Where a text mentions a value, also in scripts that put no blanks between words.

``corpus.mention_search`` asks for whole words; between Han characters, kana or Hangul every place is the end of one.
"""

from __future__ import annotations

import re
from typing import Final

from piiloom.corpus.mention_search import Range, SearchableText, stands_alone
from piiloom.corpus.normalising import trim

# Han, kana, Hangul, and their signs of repetition.
_NO_BLANKS: Final = re.compile(
    r"[\u2e80-\u2fdf\u3005-\u3007\u3040-\u30ff\u31f0-\u31ff\u3400-\u9fff\uac00-\ud7af\uf900-\ufaff\U00020000-\U0003ffff]"
)
_NEAR: Final = 40  # a word's edge is decided by what stands this near
_QUOTES: Final = "\"'`“”‘’«»„「」『』"


def mentions_of(text: str, value: str) -> list[Range]:
    """The ranges at which *text* has exactly *value*, as whole words."""
    found: list[Range] = []
    at = text.find(value) if value else -1
    while at >= 0:
        end = at + len(value)
        if is_whole(text, at, end):
            found.append((at, end))
            at = text.find(value, end)
        else:
            at = text.find(value, at + 1)
    return found


def is_whole(text: str, start: int, end: int) -> bool:
    """Whether ``text[start:end]`` begins and ends where a word may."""
    return _free_before(text, start, end) and _free_behind(text, start, end)


def _free_before(text: str, start: int, end: int) -> bool:
    if start == 0 or _NO_BLANKS.match(text[start]) or _NO_BLANKS.match(text[start - 1]):
        return True
    low = max(0, start - _NEAR)
    return stands_alone(text[low:end], start - low, end - low)


def _free_behind(text: str, start: int, end: int) -> bool:
    if end == len(text) or _NO_BLANKS.match(text[end - 1]) or _NO_BLANKS.match(text[end]):
        return True
    return stands_alone(text[start : end + _NEAR], 0, end - start)


def located(searchable: SearchableText, value: str) -> tuple[list[Range], str | None]:
    """Return the mentions of *value*, which a model says the text has, or the reason why there are none.

    The value is taken without quotes around it, as written or in another typography or case. "inside_word": it is part of a longer word
    only; "altered": the text has something very similar; "invented": nothing of the kind.
    """
    text = searchable.text
    for form in dict.fromkeys((_trimmed(value.strip(_QUOTES + " \t\r\n")), _trimmed(value))):
        if not form:
            continue
        found = mentions_of(text, form) or [one for one in searchable.normalised(form) if is_whole(text, *one)]
        if found:
            return found, None
    form = _trimmed(value)
    if not form:
        return [], "empty"
    if form in text or searchable.only_touched(form):
        return [], "inside_word"
    return [], "altered" if searchable.fuzzy(form) or _digits_differ(text, form) else "invented"


def _digits_differ(text: str, value: str) -> bool:
    """Whether *value* is a number that the text has in another grouping."""
    digits = re.sub(r"[\W_]", "", value)
    return len(digits) >= 5 and any(c.isdigit() for c in digits) and digits in re.sub(r"[\W_]", "", text)


def _trimmed(value: str) -> str:
    start, end = trim(value, 0, len(value))
    return value[start:end]
