"""What a text tells of a person's gender: titles and words of kinship before the name, pronouns and nouns after it.

One language is one file of ``data/cues``. Words before a name weigh more than what follows: a pronoun may be somebody else's.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Final

from pydantic import BaseModel, ConfigDict

from piiloom.foundation.yaml_files import load_yaml
from piiloom.surrogates.mentions import Gender

AFTER: Final = 80  # code points after a mention in which a pronoun is taken to be the person's
_BEFORE: Final = 26
_SENTENCE_ENDS: Final = ".!?\n"
_BLANKS: Final = " \u00a0"
_BETWEEN: Final = " \u00a0\n\r\t"
_DOT_OR_BLANK: Final = "." + _BETWEEN


class _Words(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)

    female: list[str]
    male: list[str]


class _CuesFile(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)

    titles: _Words
    kin: _Words
    pronouns: _Words
    nouns: _Words


@dataclass(frozen=True, slots=True)
class Cues:
    """The cue words of one language, as they may stand between blanks: in small letters, with a capital, with a sign behind."""

    before: dict[str, Gender]
    after: dict[str, Gender]
    words_after: frozenset[str]
    ends: frozenset[str]  # of the words before: the last three signs, with a blank before short ones


@cache
def cues_of(language: str) -> Cues | None:
    """The cues of a language; None where there is no file for it."""
    source = files("piiloom.surrogates") / "data" / "cues" / f"{language}.yaml"
    if not source.is_file():
        return None
    known = load_yaml(source, _CuesFile)
    before = _spelled(_sides(known.titles, known.kin), ".")
    after = _spelled(_sides(known.pronouns, known.nouns), ',.;:!?)"”’…')
    return Cues(before, after, frozenset(after), frozenset((blank + word)[-3:] for word in before for blank in _BETWEEN))


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
    """The gender that a title or a word of kinship right before *start* tells; an initial may stand between."""
    if start < 3 or text[start - 1] not in _BLANKS:
        return None
    # Most words end otherwise than any that tells; an initial or a second blank is looked at closely.
    if start > 3 and text[start - 4 : start - 1] not in cues.ends and text[start - 2] not in _DOT_OR_BLANK:
        return None
    words = text[max(0, start - _BEFORE) : start].split()
    if not words:
        return None
    last = words[-1]
    if len(last) == 2 and last[1] == "." and last[0].isupper() and len(words) > 1 and last not in cues.before:
        last = words[-2]
    return cues.before.get(last)


def gender_after(text: str, end: int, limit: int, cues: Cues) -> Gender | None:
    """The gender of the first pronoun or noun after *end* that is told before *limit* (``AFTER`` code points on, or the next person)."""
    window = text[end:limit]
    words = window.split()
    if cues.words_after.isdisjoint(words):
        return None
    known = cues.after
    for word in words:
        gender = known.get(word)
        if gender is None:
            continue
        # A pronoun of the second sentence on is more likely somebody else's.
        before = window[: window.find(word)]
        return gender if sum(map(before.count, _SENTENCE_ENDS)) < 2 else None
    return None
