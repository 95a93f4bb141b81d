"""What kind a value is of, by its own words, where the type of its span is coarse: "belief" is a religion or a party.

Only the types that leave it open are looked at; a subtype that a span bears is never overruled.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache
from importlib.resources import files

from piiloom.foundation.yaml_files import FileModel, Text, load_yaml

_Told = tuple[tuple[re.Pattern[str], str], ...]


class _WordsFile(FileModel):
    """``words/told_by_original.yaml``; ``kinds``: by kind of the type, patterns and the kind that they tell; the first found decides."""

    kinds: dict[str, list[dict[str, Text]]]
    party: str
    several_kin: str


@cache
def _file() -> _WordsFile:
    return load_yaml(files("piiloom.surrogates") / "data" / "words" / "told_by_original.yaml", _WordsFile)


@cache
def _patterns() -> Mapping[str, _Told]:
    return {
        coarse: tuple((re.compile(pattern, re.IGNORECASE), kind) for entry in entries for kind, pattern in entry.items())
        for coarse, entries in _file().kinds.items()
    }


@cache
def _party() -> re.Pattern[str]:
    return re.compile(_file().party, re.IGNORECASE)


@cache
def _several_kin() -> re.Pattern[str]:
    return re.compile(_file().several_kin, re.IGNORECASE | re.DOTALL)


def told_by_original(kind: str, original: str) -> str:
    """Return the kind that *original* is of, if it tells more than the *kind* of its type; else *kind*."""
    return next((told for pattern, told in _patterns().get(kind, ()) if pattern.search(original)), kind)


def names_party(original: str) -> bool:
    """Whether a political *original* names a party, and no leaning alone ("Libertarian")."""
    return _party().search(original) is not None


def number_of_kin(original: str) -> str | None:
    """Return how many relatives *original* is, as it says it ("two"), "" if it only says that they are several; None for one."""
    found = _several_kin().match(original)
    return None if found is None else found["count"] or ""
