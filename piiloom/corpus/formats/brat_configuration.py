"""The files that tell BRAT which annotations a collection has (``annotation.conf``) and how to show them (``visual.conf``)."""

from __future__ import annotations

import re
from collections.abc import Iterable
from itertools import cycle
from pathlib import Path

RELEVANCE = "Relevance"
_UNFIT = re.compile(r"[^A-Za-z0-9_-]")  # a name in BRAT has nothing else
_COLOURS = ("#ffd7a8", "#b8e0d2", "#d6c8f0", "#f7c1c1", "#c5dcf5", "#e6e6a1", "#f2c6de", "#cfe8b4", "#c2e7ee", "#e0cfc0")


def brat_name(entity_type: str) -> str:
    """Return the name of a type in BRAT: ``_`` for blanks."""
    return _UNFIT.sub("_", entity_type)


def write_configuration(folder: Path, types: Iterable[str]) -> None:
    """Write ``annotation.conf`` and ``visual.conf`` for *types* into *folder*."""
    names = {brat_name(name): name for name in types}
    annotation = [
        "[entities]",
        *names,
        "",
        "[relations]",
        "",
        "[events]",
        "",
        "[attributes]",
        f"{RELEVANCE}\tArg:<ENTITY>, Value:high|low",
    ]
    visual = [
        "[labels]",
        *(f"{name} | {spelt}" for name, spelt in names.items()),
        "",
        "[drawing]",
        "SPAN_DEFAULT\tfgColor:black, bgColor:lightgreen, borderColor:darken",
        *(f"{name}\tbgColor:{colour}" for name, colour in zip(names, cycle(_COLOURS), strict=False)),
        f"{RELEVANCE}\tglyph:↑|↓",
    ]
    for file, lines in (("annotation.conf", annotation), ("visual.conf", visual)):
        (folder / file).write_text("\n".join([*lines, ""]), encoding="utf-8", newline="\n")
