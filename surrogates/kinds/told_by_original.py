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
    """``words/told_by_original.yaml``: by kind of the type, patterns and the kind that they tell; the first that is found decides."""

    kinds: dict[str, list[dict[str, Text]]]


@cache
def _patterns() -> Mapping[str, _Told]:
    known = load_yaml(files("piiloom.surrogates") / "data" / "words" / "told_by_original.yaml", _WordsFile).kinds
    return {
        coarse: tuple((re.compile(pattern, re.IGNORECASE), kind) for entry in entries for kind, pattern in entry.items())
        for coarse, entries in known.items()
    }


def told_by_original(kind: str, original: str) -> str:
    """Return the kind that *original* is of, if it tells more than the *kind* of its type; else *kind*."""
    return next((told for pattern, told in _patterns().get(kind, ()) if pattern.search(original)), kind)
