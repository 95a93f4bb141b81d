"""Corpora made of our own sentences in the formats of public ones (``corpora/*.txt``), with the kind that each placeholder has."""

from __future__ import annotations

import random
import re
from pathlib import Path
from typing import Final, NamedTuple

_FOLDER: Final = Path(__file__).parent / "corpora"
_MARK: Final = re.compile(r"⟦(.*?)=([\w-]+)⟧", re.DOTALL)
REPORTED: Final = "-"


class Text(NamedTuple):
    """A document, and the kind of each of its placeholders by (start, end)."""

    text: str
    kinds: dict[tuple[int, int], str]


def made_corpus(name: str, *, documents: int = 40, sentences: int = 7) -> list[Text]:
    """Make documents of the sentences in ``corpora/<name>.txt``: all of them, in random order; ``#`` in a placeholder is a digit."""
    lines = [line for line in (_FOLDER / f"{name}.txt").read_text("utf-8").splitlines() if line and not line.startswith("# ")]
    rng = random.Random(name)
    pool: list[str] = []
    made = []
    for _ in range(documents):
        while len(pool) < sentences:
            pool += rng.sample(lines, len(lines))
        made.append(_made([pool.pop(0) for _ in range(sentences)], rng))
    return made


def _made(lines: list[str], rng: random.Random) -> Text:
    pieces: list[str] = []
    kinds: dict[tuple[int, int], str] = {}
    at = reached = 0
    source = "\n".join(lines).replace("\\n", "\n")
    for mark in _MARK.finditer(source):
        before = source[reached : mark.start()]
        tag = re.sub("#", lambda _: str(rng.randrange(1, 10)), mark.group(1))
        pieces += [before, tag]
        at += len(before)
        kinds[at, at + len(tag)] = mark.group(2)
        at += len(tag)
        reached = mark.end()
    return Text("".join([*pieces, source[reached:]]), kinds)
