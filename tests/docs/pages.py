"""The guides as something that can be run: the code blocks of a page, in order, with what is said about each in a comment before it.

A console block holds commands (``$ …``, gone on with by ``> …``), each with the output that the page shows. In the output ``…``
stands for anything, and right behind a letter or sign for the rest of that word. An HTML comment in the line before a block, which no
reader sees, may say

- ``<!-- not run: REASON -->``: the block is left alone;
- ``<!-- file: PATH -->``: the block is the content of a file;
- ``<!-- train: FOLDER -->``: it needs the extra ``train`` and a base model in FOLDER;
- ``<!-- serves -->``: its last command serves until it is interrupted;
- ``<!-- columns: N -->``: the terminal is that wide (80 where nothing is said).
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from difflib import SequenceMatcher
from itertools import groupby
from pathlib import Path

ROOT = Path(__file__).parents[2]
PAGES = (ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md")), ROOT / "CONTRIBUTING.md")

_BLOCK = re.compile(r"(?:^<!-- (?P<note>[^\n]*?) -->\n)?^```(?P<kind>\w*)\n(?P<text>.*?)^```$", re.MULTILINE | re.DOTALL)
# What differs from run to run: times and rates.
_VOLATILE = re.compile(
    r"\b\d+(?:\.\d+)? ?(?:s|ms|seconds)\b|[\d.,]+/s\b"
    r"|\b\d{4}-\d{2}-\d{2}[T ]\d{2}:?\d{2}:?\d{2}(?:\.\d+)?(?:Z|\+00:00)?|\b\d{1,2}:\d{2}(?::\d{2})?\b"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Command:
    """One command of a console block, as bash takes it, and the lines that the page shows below it."""

    line: int
    text: str
    shown: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Block:
    """A fenced block: its kind ("console", "python", "yaml" …), and the note before it ("" where there is none)."""

    line: int
    kind: str
    note: str
    text: str

    def commands(self) -> list[Command]:
        """The commands of a console block, in order."""
        found: list[tuple[int, list[str], list[str]]] = []
        for number, line in enumerate(self.text.splitlines(), self.line + 1):
            if line.startswith("$ "):
                found.append((number, [line[2:]], []))
            elif found and not found[-1][2] and (line.startswith("> ") or _is_open(found[-1][1])):
                found[-1][1].append(line.removeprefix("> "))
            elif found:
                found[-1][2].append(line)
        return [Command(line=number, text="\n".join(typed), shown="\n".join(shown)) for number, typed, shown in found]


def _is_open(typed: list[str]) -> bool:
    """Whether a quote of a command goes on in the next line."""
    return "\n".join(typed).count('"') % 2 == 1


def blocks_of(page: Path) -> list[Block]:
    """All fenced blocks of *page*."""
    text = page.read_text(encoding="utf-8")
    return [
        Block(line=text.count("\n", 0, found.start("kind")) + 1, kind=found["kind"], note=found["note"] or "", text=found["text"])
        for found in _BLOCK.finditer(text)
    ]


def plain(text: str) -> str:
    """*text* with each run of blanks as one, and without what differs from run to run."""
    return " ".join(_VOLATILE.sub("~", text).split())


def agrees(shown: str, printed: str) -> bool:
    """Whether *printed* is what a page shows; wrapping and times may differ, and ``…`` stands for anything, or the rest of a word."""
    # A command may print a "…" of its own: it is matched like any text.
    parts = re.split(r"(?<=[^\s…])(…)|…", plain(shown))
    pattern = re.escape(parts[0].strip())
    for in_word, part in zip(parts[1::2], parts[2::2], strict=True):
        pattern += (r"\S*" if in_word else r"\s*.*?\s*") + (r"\s*" if part.startswith(" ") else "") + re.escape(part.strip())
    return re.fullmatch(rf"\s*{pattern}\s*", plain(printed), re.DOTALL) is not None


def renewed(shown: list[str], printed: str) -> list[str]:
    """The lines of *printed* that stand where those that a page shows stood; what no line of it is like stays as it is shown."""
    lines = [line.rstrip() for line in printed.split("\n")]
    if not any("…" in line for line in shown):
        return lines
    blocks = SequenceMatcher(None, [_likeness(line) for line in shown], [_likeness(line) for line in lines], autojunk=False)
    places = {a + n: b + n for a, b, size in blocks.get_matching_blocks() for n in range(size)}
    found: list[str] = []
    for cut, chunk in groupby(range(len(shown)), key=lambda at: "…" in shown[at] and at not in places):
        wanted = list(chunk)
        ends = [places[at] for at in wanted if at in places]
        if cut or not ends:
            found += (shown[at] for at in wanted)
        else:
            origins = {places[at]: at for at in wanted if at in places}
            for to in range(min(ends), max(ends) + 1):
                kept = to in origins and "…" in shown[origins[to]] and agrees(shown[origins[to]], lines[to])
                found.append(shown[origins[to]] if kept else lines[to])
    return found


def _likeness(line: str) -> str:
    """*line* without figures, hashes, rests of words and widths."""
    return re.sub(r"(?<=\w-)…|\b[0-9a-f]{8,}\b|[\d.,]+|[─━┳┻╇┷┴┬]+|\s+", " ", line).strip()
