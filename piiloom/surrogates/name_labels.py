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

Part = Literal["", "given", "family", "middle", "second"]

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
    words, being = any_of(_file().family + _file().family_told), any_of(_file().being)
    return re.compile(rf"\b(?:{words})(?: (?:{being}))?\s*[:,]?\s*\Z", re.IGNORECASE)


def family_told(text: str, start: int) -> bool:
    """Whether the words right before *start* tell that a family name follows ("her maiden name is Smith")."""
    return _family_told().search(text, max(0, start - _TOLD_WITHIN), start) is not None
