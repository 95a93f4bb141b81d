"""Write a report to a folder: ``report.json`` (all figures), ``report.md`` (the dataset card), ``index.html`` (the page) and the plots.

All files are written under temporary names first. ``report.json`` is renamed last, so a folder that has it is complete. Equal
records give equal bytes (plots: with the same matplotlib).
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from piiloom.corpus.formats.base import Json
from piiloom.corpus.releases.manifest import piiloom_version
from piiloom.evaluation.report.card import dataset_card
from piiloom.evaluation.report.figures import Figures
from piiloom.evaluation.report.page.rendering import dataset_page
from piiloom.evaluation.report.self_bleu import INSTALL
from piiloom.evaluation.report.sources import Corpus, Source
from piiloom.foundation.errors import OutputError

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


def check_folder(out: Path, *, force: bool) -> None:
    """Raise ``OutputError`` if *out* is not a folder, or is not empty (allowed with *force*). Call this before the work begins."""
    with output_errors(out):
        if out.exists() and not out.is_dir():
            raise OutputError("this is not a folder", where=str(out), remedy="Name a new folder with --out")
        if not force and out.exists() and any(out.iterdir()):
            remedy = "Name another with --out, or replace the report there with --force"
            raise OutputError("the folder is not empty", where=str(out), remedy=remedy)


def write_report(out: Path, corpus: Corpus, figures: Figures, *, force: bool = False) -> WrittenReport:
    """Write the report on *corpus* to *out*. *force*: an earlier report there is replaced, other files stay. Raises ``OutputError``."""
    check_folder(out, force=force)
    plots, captions, install = _plots(figures)
    card, page = dataset_card(corpus.source, figures, captions), dataset_page(corpus, figures)
    data = json.dumps(report_json(corpus.source, figures), ensure_ascii=False, indent=2) + "\n"
    texts = {PAGE_FILE: page, CARD_FILE: card, FIGURES_FILE: data}
    contents = plots | {name: text.encode("utf-8", "replace") for name, text in texts.items()}
    drafts = {name: out / f".{name}.part" for name in contents}
    with output_errors(out):
        out.mkdir(parents=True, exist_ok=True)
        try:
            for name, content in contents.items():
                drafts[name].write_bytes(content)
            for stale in {FIGURES_FILE, *(f"{plot}.{kind}" for plot in _PLOTS for kind in ("png", "svg"))}:
                (out / stale).unlink(missing_ok=True)
            for name, draft in drafts.items():
                draft.replace(out / name)
        finally:
            for draft in drafts.values():
                with suppress(OSError):
                    draft.unlink(missing_ok=True)
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


@contextmanager
def output_errors(out: Path) -> Iterator[None]:
    """Raise ``OutputError`` for an ``OSError`` in the block, which writes to *out*."""
    try:
        yield
    except OSError as error:
        reason = f"the report cannot be written ({error.strerror})"
        raise OutputError(reason, where=str(out), remedy="Name another folder with --out") from error
