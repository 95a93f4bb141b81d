"""The table in Markdown and in LaTeX."""

from __future__ import annotations

import re
from collections.abc import Iterable

from piiloom.evaluation.comparison.table import Cell, ComparisonTable
from piiloom.foundation.markdown import escaped

# TeX makes one other character of two hyphens, commas or quotes in a row, and has others in the places of < > | " in its old fonts.
_LATEX = {
    "\\": r"\textbackslash{}",
    "{": r"\{",
    "}": r"\}",
    "$": r"\$",
    "&": r"\&",
    "#": r"\#",
    "%": r"\%",
    "_": r"\_",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    '"': r"{\char34}",
    "'": "{'}",
    "`": "{`}",
    "--": "-{}-{}",
    ",,": ",{},{}",
    "−": "$-$",
    "–": "--",
    "…": r"\ldots{}",
    "≤": r"$\leq$",
    "\ufffd": "?",
}
_LATEX_SPECIAL = re.compile("|".join(map(re.escape, _LATEX)))


def markdown_table(table: ComparisonTable) -> str:
    """Return *table* in Markdown: a heading, a pipe table, and the notes as a list."""
    rulers = ("---:", "---", *("---:" for _ in table.columns[2:]))
    lines = [_row(map(_markdown, table.columns)), _row(rulers), *(_row(map(_markdown, row)) for row in table.rows)]
    notes = "\n".join(f"- {note}" for note in table.notes)
    return "\n\n".join((f"## {table.title}", "\n".join(lines), notes)) + "\n"


def latex_table(table: ComparisonTable) -> str:
    """Return *table* as a LaTeX float with the rules of booktabs; the notes stand in the caption.

    Names are written as they are but for TeX's own characters, so those of other scripts need XeLaTeX or LuaLaTeX.
    """
    alignment = "rl" + "r" * (len(table.columns) - 2)
    lines = [
        r"% needs \usepackage{booktabs}",
        r"\begin{table}",
        r"\centering",
        rf"\caption{{{latex(table.title)}. {latex('; '.join(table.notes))}.}}",
        rf"\begin{{tabular}}{{{alignment}}}",
        r"\toprule",
        _latex_row(map(_latex_cell, table.columns)),
        r"\midrule",
        *(_latex_row(map(_latex_cell, row)) for row in table.rows),
        r"\bottomrule",
        r"\end{tabular}",
        r"\end{table}",
    ]
    return "\n".join(lines) + "\n"


def latex(text: str) -> str:
    """Return *text* escaped for LaTeX's text mode."""
    return _LATEX_SPECIAL.sub(lambda found: _LATEX[found.group()], text)


def _row(cells: Iterable[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _markdown(cell: Cell) -> str:
    text = escaped(cell.text) if cell.quoted else cell.text
    text = f"**{text}**" if cell.strong else text
    return f"{text} {cell.interval}" if cell.interval else text


def _latex_row(cells: Iterable[str]) -> str:
    return rf"{' & '.join(cells)} \\"


def _latex_cell(cell: Cell) -> str:
    text = rf"\textbf{{{latex(cell.text)}}}" if cell.strong else latex(cell.text)
    return rf"{text} {{\scriptsize {latex(cell.interval)}}}" if cell.interval else text
