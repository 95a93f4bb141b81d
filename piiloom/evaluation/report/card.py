"""The dataset card in Markdown: a summary, the tables and the plots.

It contains text of the corpus (openers, values). Every character in it that Markdown or HTML could interpret is written as a
numeric character reference, so that a value cannot become a link, an image, a table cell or a script.
"""

from __future__ import annotations

from collections.abc import Sequence

from piiloom.evaluation.pages.cells import Quoted, count
from piiloom.evaluation.pages.tables import ReportTable
from piiloom.evaluation.report.figures import Figures
from piiloom.evaluation.report.sources import Source
from piiloom.evaluation.report.tables import all_tables
from piiloom.foundation.markdown import escaped


def dataset_card(source: Source, figures: Figures, plots: Sequence[tuple[str, str]]) -> str:
    """Return the card as Markdown; *plots* are (file name, caption)."""
    counts = figures.counts
    made = ", ".join(f"{count(number)} {escaped(words)}" for words, number in figures.plan.producers.items())
    summary = (
        f"{count(counts.records)} records with {count(counts.spans)} spans of {len(figures.types)} types: texts in which personal "
        "information is marked and, where a question is asked, judged by whether it matters for the answer (high) or not (low). "
        f"Records: {made}."
    )
    parts = [
        f"# {escaped(source.title())}",
        summary,
        "Measured by `piiloom report`. `report.json` holds all figures; shares there are fractions of 1.",
        *(markdown_section(table) for table in all_tables(source, figures)),
    ]
    if plots:
        parts += ["## plots", *(f"### {caption}\n\n![{caption}]({name})" for name, caption in plots)]
    return "\n\n".join(parts) + "\n"


def markdown_section(table: ReportTable) -> str:
    """Return *table* with its title and note, its quoted cells escaped."""
    ruler = [("---" if place < table.texts else "---:") for place in range(len(table.columns))]
    lines = [_line(table.columns), _line(ruler), *(_line([_cell(cell) for cell in row]) for row in table.rows)]
    parts = [f"## {table.title}", "\n".join(lines), *([table.note] if table.note else [])]
    return "\n\n".join(parts)


def _cell(cell: str) -> str:
    return escaped(cell) if isinstance(cell, Quoted) else cell


def _line(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"
