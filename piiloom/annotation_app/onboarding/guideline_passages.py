"""Find what guidelines say about a type: rows of tables, items of lists and paragraphs that name it."""

from __future__ import annotations

import re
from collections.abc import Collection
from typing import Final

_HEADING: Final = re.compile(r"#{1,6}\s")
_ITEM: Final = re.compile(r"\s*(?:[-*+]|\d+[.)])\s+")
_RULE: Final = re.compile(r"[\s|:-]+")
_LONGEST: Final = 400


def passages_of(markdown: str, names: Collection[str]) -> dict[str, list[str]]:
    """Return, for each of *names*, the passages of *markdown* that name it as whole words, in their order, as Markdown of one line each.

    Headings are left out, and passages longer than a screen can spare.
    """
    passages = [one for one in _passages(markdown) if len(one) <= _LONGEST]
    return {name: [one for one in passages if _names(name).search(one)] for name in names}


def _names(name: str) -> re.Pattern[str]:
    return re.compile(rf"(?<!\w){re.escape(name)}(?!\w)", re.IGNORECASE)


def _passages(markdown: str) -> list[str]:
    """Split *markdown* into passages. A row of a table becomes its cells, with a dot between them."""
    found: list[str] = []
    open_paragraph = False
    for line in markdown.splitlines():
        words = line.strip().removeprefix(">").strip()
        if not words or _HEADING.match(words) or (words.startswith("|") and _RULE.fullmatch(words)):
            open_paragraph = False
        elif words.startswith("|"):
            found.append(" · ".join(cell for cell in map(str.strip, words.strip("|").split("|")) if cell))
            open_paragraph = False
        elif item := _ITEM.match(line):
            found.append(line[item.end() :].strip())
            open_paragraph = True
        elif open_paragraph:
            found[-1] += f" {words}"
        else:
            found.append(words)
            open_paragraph = True
    return found
