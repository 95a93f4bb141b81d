"""Write a report to a folder: ``report.json`` (all figures), ``report.md`` (the dataset card), ``index.html`` (the page) and the plots.

All files are written under temporary names first. ``report.json`` is renamed last, so a folder that has it is complete. Equal
records give equal bytes (plots: with the same matplotlib).
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

from piiloom.corpus.formats.base import Json
from piiloom.corpus.releases.manifest import piiloom_version
from piiloom.evaluation.report.card import dataset_card
from piiloom.evaluation.report.figures import Figures
from piiloom.evaluation.report.page.rendering import dataset_page
from piiloom.evaluation.report.self_bleu import INSTALL
from piiloom.evaluation.report.sources import Corpus, Source
from piiloom.foundation.whole_files import check_folder, write_folder

FIGURES_FILE = "report.json"
CARD_FILE = "report.md"
PAGE_FILE = "index.html"
# Plots that an earlier report may have left and that this one may not overwrite.
_PLOTS = ("lengths", "openers", "relevance", "values", "guessability")


@dataclass(frozen=True, slots=True, kw_only=True)
class WrittenReport:
    """The names of the written files, and what to install if plots could not be drawn (else None)."""

    files: tuple[str, ...]
    install: str | None


def report_json(source: Source, figures: Figures) -> Json:
    """Return the content of ``report.json``. It holds no time and no path, only the bare name of the file that was read."""
    measured = figures.to_json()
    return {"schema": measured.pop("schema"), "piiloom": piiloom_version(), "source": source.to_json(), **measured}


def write_report(out: Path, corpus: Corpus, figures: Figures, *, force: bool = False) -> WrittenReport:
    """Write the report on *corpus* to *out*. *force*: an earlier report there is replaced, other files stay. Raises ``OutputError``."""
    check_folder(out, force=force)
    plots, captions, install = _plots(figures)
    card, page = dataset_card(corpus.source, figures, captions), dataset_page(corpus, figures)
    data = json.dumps(report_json(corpus.source, figures), ensure_ascii=False, indent=2) + "\n"
    texts = {PAGE_FILE: page, CARD_FILE: card, FIGURES_FILE: data}
    contents = plots | {name: text.encode("utf-8", "replace") for name, text in texts.items()}
    write_folder(out, contents, stale=[f"{plot}.{kind}" for plot in _PLOTS for kind in ("png", "svg")])
    return WrittenReport(files=tuple(contents), install=install)


def _plots(figures: Figures) -> tuple[dict[str, bytes], list[tuple[str, str]], str | None]:
    """Return the plot files by name, (file, caption) pairs for the card, and what to install if matplotlib is missing (else None)."""
    try:
        from piiloom.evaluation.report.plots import all_plots
    except ImportError:
        return {}, [], INSTALL
    files: dict[str, bytes] = {}
    captions: list[tuple[str, str]] = []
    for plot in all_plots(figures):
        files |= {f"{plot.name}.png": plot.png, f"{plot.name}.svg": plot.svg}
        captions.append((f"{plot.name}.png", plot.caption))
    return files, captions, None
