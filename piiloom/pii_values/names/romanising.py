"""Romanize names of other scripts with the tables of ``data/names_index/romanising.yaml``."""

from __future__ import annotations

import unicodedata
from functools import cache
from typing import Final

from pydantic import Field

from piiloom.foundation.errors import UsageError
from piiloom.foundation.yaml_files import FileModel, load_data
from piiloom.pii_values.names.korean import syllable

_LONGEST_END: Final = 8


class _Script(FileModel):
    letters: dict[str, str]
    starts: dict[str, str] = Field(default={})
    ends: dict[str, str] = Field(default={})
    pairs: dict[str, str] = Field(default={})


class _File(FileModel):
    scripts: dict[str, _Script]


@cache
def _tables() -> _File:
    return load_data("piiloom.pii_values", "names_index/romanising.yaml", _File)


def romanised(name: str, table: str) -> str:
    """Return *name* in Latin letters, each part capitalized; raises ``UsageError`` for an unknown table or letter."""
    if table == "korean":
        return _korean(name)
    script = _tables().scripts.get(table)
    if script is None:
        raise UsageError(f"unknown romanisation table {table!r}", remedy=f"Known: korean, {', '.join(sorted(_tables().scripts))}.")
    plain = name.casefold()
    if table == "greek":  # stress and diaeresis are not written
        plain = "".join(c for c in unicodedata.normalize("NFD", plain) if not unicodedata.combining(c))
    return "-".join(_part(part, script).capitalize() for part in plain.split("-"))


def _part(text: str, script: _Script) -> str:
    end = next((text[-size:] for size in range(min(_LONGEST_END, len(text)), 1, -1) if text[-size:] in script.ends), "")
    text, tail = text[: len(text) - len(end)], script.ends.get(end, "")
    found, at = [], 0
    while at < len(text):
        pair, letter = text[at : at + 2], text[at]
        if at == 0 and pair in script.starts:
            found.append(script.starts[pair])
            at += 2
        elif at == 0 and letter in script.starts and pair not in script.pairs:
            found.append(script.starts[letter])
            at += 1
        elif pair in script.pairs:
            found.append(script.pairs[pair])
            at += 2
        elif letter in script.letters:
            found.append(script.letters[letter])
            at += 1
        else:
            raise UsageError(f"the letter U+{ord(letter):04X} is not in the table", remedy="Leave the name out or add the letter.")
    return "".join(found) + tail


def _korean(name: str) -> str:
    found = []
    for letter in name:
        written = syllable(letter)
        if written is None:
            raise UsageError(f"U+{ord(letter):04X} is not a Korean syllable", remedy="Leave the name out.")
        found.append(written)
    return "".join(found).capitalize()
