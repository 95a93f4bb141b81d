"""What a text tells of a person's gender: titles and words of kinship before the name, pronouns and nouns after it.

One language is one file of ``data/cues``. Words before a name weigh more than what follows: a pronoun may be somebody else's.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Final

from pydantic import BaseModel, ConfigDict

from foundation.yaml_files import load_yaml
from surrogates.mentions import Gender

_AFTER: Final = 110  # code points after a mention in which a pronoun is taken to be the person's
_BEFORE: Final = 26
_SENTENCE_END: Final = re.compile(r"[.!?\n]")


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
    """The cue words of one language, ready to search with."""

    before: re.Pattern[str]
    before_words: dict[str, Gender]
    after: re.Pattern[str]
    after_words: dict[str, Gender]


@cache
def cues_of(language: str) -> Cues | None:
    """The cues of a language; None where there is no file for it."""
    source = files("surrogates") / "data" / "cues" / f"{language}.yaml"
    if not source.is_file():
        return None
    known = load_yaml(source, _CuesFile)
    before = _sides(known.titles, known.kin)
    after = _sides(known.pronouns, known.nouns)
    return Cues(
        before=re.compile(rf"(?<!\w)({_any(before)})\.?[ \u00a0]+(?:[A-Z]\.? )?$", re.IGNORECASE),
        before_words=before,
        after=re.compile(rf"\b(?:{_any(after)})\b", re.IGNORECASE),
        after_words=after,
    )


def _sides(*groups: _Words) -> dict[str, Gender]:
    found: dict[str, Gender] = {}
    for group in groups:
        found.update(dict.fromkeys(group.female, "female"))
        found.update(dict.fromkeys(group.male, "male"))
    return found


def _any(words: dict[str, Gender]) -> str:
    return "|".join(re.escape(word) for word in sorted(words, key=len, reverse=True))


def gender_before(text: str, start: int, cues: Cues) -> Gender | None:
    """The gender that a title or a word of kinship right before *start* tells."""
    piece = text[max(0, start - _BEFORE) : start]
    if not piece or not piece[-1].isspace():
        return None
    found = cues.before.search(piece)
    return cues.before_words.get(found.group(1).lower()) if found else None


def gender_after(text: str, end: int, limit: int, cues: Cues) -> Gender | None:
    """The gender of the first pronoun or noun after *end* that is told before *limit* (where the next person is named)."""
    stop = min(end + _AFTER, limit)
    found = cues.after.search(text, end, stop)
    if found is None:
        return None
    # A pronoun of the second sentence on is more likely somebody else's.
    if len(_SENTENCE_END.findall(text, end, found.start())) > 1:
        return None
    return cues.after_words.get(found.group().lower())
