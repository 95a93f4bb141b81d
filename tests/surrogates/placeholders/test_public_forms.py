"""How public tools, corpora and courts write what they redacted: filled with the right kind or listed, and nothing beside it is."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Final, NamedTuple

from piiloom.surrogates.placeholders import Finder, auto_mapping

_FILE: Final = Path(__file__).parent / "public_forms.txt"
_PAGE: Final = Path(__file__).parents[3] / "docs/surrogate-readings.md"
_MARK: Final = re.compile(r"⟦(.*?)=([\w-]+)⟧")
_LISTED: Final = "-"


class Counts(NamedTuple):
    """Placeholders of one source, by what became of them; ``wrong``: filled with another kind, or filled or listed though none."""

    filled: int = 0
    reported: int = 0
    silent: int = 0
    wrong: int = 0


def _counted(language: str, marked: str) -> Counts:
    """Return the counts of one text, as a corpus of its own."""
    text, wanted = "", {}
    pieces = _MARK.split(marked)
    for plain, placeholder, kind in zip(pieces[::3], [*pieces[1::3], ""], [*pieces[2::3], ""], strict=True):
        text += plain
        if placeholder:
            wanted[len(text), len(text) + len(placeholder)] = kind
        text += placeholder
    found = Finder(auto_mapping([text], language)).find(text)
    told = {(one.start, one.end): one.kind for one in found.mentions} | {(one.start, one.end): _LISTED for one in found.unknown}
    right = [kind for place, kind in wanted.items() if told.get(place) == kind]
    silent = sum(place not in told for place in wanted)
    wrong = len(wanted) - len(right) - silent + sum(place not in wanted for place in told)
    return Counts(len(right) - right.count(_LISTED), right.count(_LISTED), silent, wrong)


def _table() -> dict[str, Counts]:
    lines = [line for line in _FILE.read_text("utf-8").splitlines() if not line.startswith("#")]
    rows = (line.split("|", 2) for line in lines)
    return {source: _counted(language, marked) for source, language, marked in rows}


def test_no_public_form_is_silent_or_wrong_and_the_page_has_the_counts() -> None:
    table = _table()
    assert {source: counts for source, counts in table.items() if counts.silent or counts.wrong} == {}
    page = _PAGE.read_text("utf-8").partition("| written by | filled |")[2].partition("\n\n")[0]
    rows = [[cell.strip() for cell in row.split("|")[1:-1]] for row in page.splitlines()[2:]]
    assert {source: Counts(*map(int, counts)) for source, *counts in rows} == table
