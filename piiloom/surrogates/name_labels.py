"""What tells the part of a name before it: the label of a field ("Nombre:"), or the words of a sentence ("her maiden name is").

The words are in ``data/name_labels.yaml``.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from typing import Final, Literal

from piiloom.foundation.words import any_of
from piiloom.foundation.yaml_files import FileModel, load_yaml

Part = Literal["", "given", "family", "middle", "second", "birth"]

_LONGEST_LAST: Final = 24
_BETWEEN: Final = re.compile(r"[^\w.]+")
_TOLD_WITHIN: Final = 32  # code points before a name in which a sentence tells that it is a family name


class _LabelsFile(FileModel):
    """``name_labels.yaml``; its head says what the lists are."""

    given: list[str]
    family: list[str]
    family_beside: list[str]
    family_told: list[str]
    second: list[str]
    middle: list[str]
    being: list[str]
    birth: list[str]
    married: list[str]
    couples: list[str]


@cache
def _file() -> _LabelsFile:
    return load_yaml(files("piiloom.surrogates") / "data" / "name_labels.yaml", _LabelsFile)


@cache
def labels() -> Mapping[str, Part]:
    """Return the labels of fields, in small letters and without accents, with the part of a name that they announce."""
    known = _file()
    parts: tuple[tuple[Part, list[str]], ...] = (
        ("given", known.given),
        ("family", known.family + known.family_beside),
        ("second", known.second),
        ("middle", known.middle),
    )
    return {word: part for part, words in parts for word in words}


@cache
def _family_told() -> re.Pattern[str]:
    known = _file()
    words, being, beside = any_of(known.family + known.family_told), any_of(known.being), any_of(known.birth + known.couples)
    return re.compile(rf"(?<!\w)(?:(?:{words})(?: (?:{being}))?\s*[:,]?|(?:{beside}))\s*\Z", re.IGNORECASE)


@cache
def _family_ends() -> frozenset[str]:
    """Return the last words of all that tells a family name: most text before a name ends in others."""
    known = _file()
    return frozenset(map(_last_word, (*known.family, *known.family_told, *known.being, *known.birth, *known.couples)))


def _last_word(text: str) -> str:
    return _BETWEEN.split(text.casefold())[-1]


def family_told(text: str, start: int) -> bool:
    """Whether the words right before *start* tell that a family name follows: "her maiden name is", "née", "les époux"."""
    last = text[max(0, start - _LONGEST_LAST) : start].rstrip(" \n\r\t\u00a0:,").rpartition(" ")[2]
    last = last.casefold() if last.isalpha() else _last_word(last)
    return last in _family_ends() and _family_told().search(text, max(0, start - _TOLD_WITHIN), start) is not None


@cache
def _birth_name() -> re.Pattern[str]:
    return re.compile(rf"[ \u00a0]?,?[ \u00a0(]{{0,2}}(?:{any_of(_file().birth + _file().married)})[ \u00a0:]{{1,2}}", re.IGNORECASE)


def birth_name_told(gap: str) -> bool:
    """Whether *gap*, which stands between two names, tells that the second is a further family name of whom the first calls: " née "."""
    return 1 < len(gap) <= _TOLD_WITHIN and _birth_name().fullmatch(gap) is not None


@cache
def _birth_name_within() -> re.Pattern[str]:
    return re.compile(rf"[ ,(](?:{any_of(_file().birth + _file().married)})[ :]{{1,2}}(?=\w)")


def birth_name_in(name: str) -> re.Match[str] | None:
    """Return what stands in *name* between a name and a further family name of the same person: "Mary Smith née Jones"; or None."""
    found = _birth_name_within().search(name)
    return found if found is not None and any(word[:1].isupper() for word in name[: found.start()].split()) else None
