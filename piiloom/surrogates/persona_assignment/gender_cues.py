"""Infer a person's gender from the text: titles and kinship words before the name, pronouns and nouns after it.

Each language has one file in ``data/cues``. Words before a name are more reliable than words after it, because a pronoun may refer to
somebody else.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Final

from pydantic import Field

from piiloom.foundation.yaml_files import FileModel, load_yaml
from piiloom.surrogates.mentions import Gender

AFTER: Final = 80  # code points after a mention within which a pronoun is taken to refer to the person
_BEFORE: Final = 26
_AGED_WITHIN: Final = 32
_AGED: Final = re.compile(r"[^\s-]+")
_SENTENCE_ENDS: Final = ".!?\n"
_BLANKS: Final = " \u00a0"
_BETWEEN: Final = " \u00a0\n\r\t"
_DOT_OR_BLANK: Final = "." + _BETWEEN
_CLOSED: Final = ',.;:!?)"”’…'  # signs right after a word
_OPENED: Final = "([\"'“‘«"
_WORD: Final = re.compile(r"\S+")
_ABBREVIATED: Final = re.compile(r"(?<![^\W\d_])[^\W\d_]\.")  # the dots of "y.o." and "M.D." end no sentence


class _Words(FileModel):
    female: list[str]
    male: list[str]


class _CuesFile(FileModel):
    titles: _Words
    kin: _Words
    pronouns: _Words
    nouns: _Words
    professions: list[str] = Field(default=[])


@dataclass(frozen=True, slots=True)
class Cues:
    """The cue words of one language, in every spelling that may stand between blanks.

    Spellings are lower case, capitalized and upper case, each with and without a punctuation mark at the end.
    """

    before: dict[str, Gender]
    after: dict[str, Gender]
    nouns: dict[str, Gender]  # those of ``after`` that are neither pronouns nor kin
    titles: dict[str, Gender]  # those of ``before`` that are no kin
    professions: frozenset[str]  # titles of which a text may well have several people, in small letters and without a full stop
    words_after: frozenset[str]
    # The last three characters of the words in ``before``; of words shorter than that with the blank or sign before them.
    ends: frozenset[str]


@cache
def cues_of(language: str) -> Cues | None:
    """Return the cues of a language (ISO 639-1), or None if there is no file for it."""
    source = files("piiloom.surrogates") / "data" / "cues" / f"{language}.yaml"
    if not source.is_file():
        return None
    known = load_yaml(source, _CuesFile)
    before = _spelled(_sides(known.titles, known.kin), ".")
    after = _spelled(_sides(known.pronouns, known.nouns), _CLOSED)
    kin = {*known.kin.female, *known.kin.male}
    nouns = {word: gender for word, gender in _sides(known.nouns).items() if word not in kin}
    return Cues(
        before,
        after,
        _spelled(nouns, _CLOSED),
        _spelled(_sides(known.titles), "."),
        frozenset(known.professions),
        frozenset(after),
        frozenset((sign + word)[-3:] for word in before for sign in _BETWEEN + _OPENED),
    )


def _sides(*groups: _Words) -> dict[str, Gender]:
    found: dict[str, Gender] = {}
    for group in groups:
        found.update(dict.fromkeys(group.female, "female"))
        found.update(dict.fromkeys(group.male, "male"))
    return found


def _spelled(words: dict[str, Gender], signs: str) -> dict[str, Gender]:
    found: dict[str, Gender] = {}
    for word, gender in words.items():
        for form in (word, word.capitalize(), word.upper(), word.replace("'", "’")):
            found[form] = gender
            found.update((form + sign, gender) for sign in signs)
    return found


def gender_before(text: str, start: int, cues: Cues) -> Gender | None:
    """Return the gender indicated by a title or kinship word right before *start*; an initial may stand between.

    Return None if there is no such word.
    """
    words = _words_before(text, start, cues)
    if not words:
        return None
    last = words[-1]
    if len(last) == 2 and last[1] == "." and last[0].isupper() and len(words) > 1 and last not in cues.before:
        last = words[-2]
    return cues.before.get(last) or cues.before.get(last.lstrip(_OPENED))


def title_before(text: str, start: int, cues: Cues) -> str:
    """Return the title right before *start* that tells a gender, in small letters and without its full stop, or ""."""
    words = _words_before(text, start, cues)
    word = words[-1].lstrip(_OPENED) if words else ""
    return word.casefold().rstrip(".") if word in cues.titles else ""


def _words_before(text: str, start: int, cues: Cues) -> list[str]:
    """Return the words right before *start*; none if the last one cannot be a cue word, as most do not end like any."""
    if start < 2 or text[start - 1] not in _BLANKS:
        return []
    # An initial may stand after the cue word, or a second blank.
    if start > 3 and text[start - 4 : start - 1] not in cues.ends and text[start - 2] not in _DOT_OR_BLANK:
        return []
    return text[max(0, start - _BEFORE) : start].split()


def gender_after(text: str, end: int, limit: int, cues: Cues) -> Gender | None:
    """Return the gender of the first cue word between *end* and *limit*, or None.

    The caller sets *limit* to ``AFTER`` code points after *end* or to the next person, whichever comes first.
    """
    window = text[end:limit]
    if cues.words_after.isdisjoint(window.split()):
        return None
    for match in _WORD.finditer(window):
        gender = cues.after.get(match[0])
        if gender is None or _cut(text, end, limit, match):
            continue
        # After two sentence ends, a pronoun more likely refers to somebody else.
        before = window[: match.start()]
        return gender if sum(map(before.count, _SENTENCE_ENDS)) - len(_ABBREVIATED.findall(before)) < 2 else None
    return None


def gender_after_age(text: str, end: int, cues: Cues) -> Gender | None:
    """Return the gender of the noun that follows an age at once, up to *end*: "-year-old woman", " y.o. male"; None if there is none."""
    for match in _AGED.finditer(text, end, end + _AGED_WITHIN):
        gender = cues.nouns.get(match[0])
        if gender is not None:
            return gender
        if match[0].endswith((",", ".")) and not _ABBREVIATED.search(match[0]):
            return None
    return None


def _cut(text: str, end: int, limit: int, match: re.Match[str]) -> bool:
    """Whether the word is only a part of one: the mention or *limit* cuts "her" off "hers", or "man" off "chairman"."""
    begins = match.start() == 0 and text[max(end - 1, 0) : end + 1].isalnum() and end > 0
    ends = end + match.end() == limit < len(text) and text[limit - 1 : limit + 1].isalnum()
    return begins or ends
