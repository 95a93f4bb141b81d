"""Write a report to a folder: ``report.json`` (all figures), ``report.md`` (the dataset card), ``index.html`` (the page) and the plots.

All files are written under temporary names first. ``report.json`` is renamed last, so a folder that has it is complete. Equal
records give equal bytes (plots: with the same matplotlib).

The card contains text of the corpus (openers, values). Every character in it that Markdown or HTML could interpret is written as a
numeric character reference, so that a value cannot become a link, an image, a table cell or a script.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Self

from pydantic import model_validator

from piiloom.corpus.formats.base import Json
from piiloom.corpus.formats.registry import READABLE
from piiloom.corpus.store import StoreSettings
from piiloom.evaluation.pages.parts import count
from piiloom.evaluation.report.figures import DEFAULT_SEED, ReportFigures, StepWatch, measure
from piiloom.evaluation.report.page import dataset_page
from piiloom.evaluation.report.sources import (
    Corpus,
    MeasureAgreement,
    ReportSource,
    Tell,
    Wanted,
    corpus_of_file,
    corpus_of_release,
    corpus_of_store,
)
from piiloom.evaluation.report.tables import all_tables
from piiloom.evaluation.report.wording import INSTALL
from piiloom.foundation.errors import UsageError
from piiloom.foundation.noop import noop
from piiloom.foundation.settings import OptionalPath, setting
from piiloom.foundation.version import __version__
from piiloom.foundation.whole_files import check_folder, write_folder
from piiloom.foundation.words import escaped
from piiloom.taxonomy.own_types_file import read_types_file

if TYPE_CHECKING:
    from piiloom.evaluation.plots import Plot

FIGURES_FILE = "report.json"
CARD_FILE = "report.md"
PAGE_FILE = "index.html"
# Plots that an earlier report may have left and that this one may not overwrite.
_PLOTS = ("lengths", "openers", "relevance", "values", "guessability")


def dataset_card(source: ReportSource, figures: ReportFigures, plots: Sequence[tuple[str, str]]) -> str:
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
        *(table.markdown() for table in all_tables(source, figures)),
    ]
    if plots:
        parts += ["## plots", *(f"### {caption}\n\n![{caption}]({name})" for name, caption in plots)]
    return "\n\n".join(parts) + "\n"


class ReportSettings(StoreSettings):
    """Settings of a report. Raises ``UsageError`` for settings that contradict each other."""

    input: OptionalPath = setting(None, "A file of records, of any producer, instead of a store.", argument=True, metavar="INPUT")
    release: str | None = setting(None, "Records of this release, with its splits and the values that they share.", metavar="NAME")
    input_format: str | None = setting(
        None, f"Format of INPUT ({', '.join(READABLE)}); native or capid by the first row when not given.", metavar="FORMAT"
    )
    types: OptionalPath = setting(None, "File of the own types of INPUT, where no release.json next to it defines them.", metavar="YAML")
    run: str | None = setting(None, 'Only records of this run, by its id or "last"; all when not given.', metavar="RUN")
    out: OptionalPath = setting(
        None, "New or empty folder for report.json, report.md, index.html and plots.", flags="--out -o", metavar="DIR"
    )
    force: bool = setting(False, "Write into a folder that is not empty; a report there is replaced.")
    seed: int = setting(DEFAULT_SEED, "Seed of the samples of texts (self-BLEU, distinct-n).")

    @model_validator(mode="after")
    def _consistent(self) -> Self:
        given = {name for name in ("store", "run", "release") if name in self.model_fields_set and getattr(self, name) is not None}
        if self.input is not None and given:
            options = " and ".join(f"--{name}" for name in ("store", "run", "release") if name in given)
            raise UsageError(f"a report on a file has no use for {options}", where="INPUT", remedy="Leave one out")
        if self.input is None and self.input_format is not None:
            raise UsageError("only a file has a format", where="--input-format", remedy="Name the file, or leave it out")
        if self.input is None and self.types is not None:
            raise UsageError("a store has its own types", where="--types", remedy="Name a file, or leave it out")
        if self.run is not None and self.release is not None:
            raise UsageError("a release has its records already", where="--run", remedy="Name a run or a release")
        return self

    def corpus(self, wanted: Wanted | None = None, tell: Tell | None = None) -> Corpus:
        """Read the records; with *wanted*, also the background that a store has."""
        if self.input is not None:
            return corpus_of_file(self.input, self.input_format, None if self.types is None else read_types_file(self.types))
        if self.release is not None:
            return corpus_of_release(self.store, self.release, tell=tell, wanted=wanted)
        return corpus_of_store(self.store, run=self.run, tell=tell, wanted=wanted)


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """A report: its figures, the names of written files, and the remedy if plots could not be drawn."""

    source: ReportSource
    figures: ReportFigures
    files: tuple[str, ...] = ()
    install: str | None = None

    def to_json(self) -> Json:
        """Return the content of ``report.json``."""
        return report_json(self.source, self.figures)


def make_report(settings: ReportSettings, agreement: MeasureAgreement, *, watch: StepWatch = noop, tell: Tell | None = None) -> Report:
    """Read, measure and write a report, if a folder is named; faults of the folder are found before the work begins.

    *agreement* measures the agreement among annotators; *tell* reports a copy of the store. Raises ``DataError``, ``StoreError``,
    ``RunError``, ``ReleaseError`` and ``OutputError``.
    """
    out = settings.out
    if out is not None:
        check_folder(out, force=settings.force)
    watch("reading")
    corpus = settings.corpus(None if out is None else Wanted(seed=settings.seed, agreement=agreement), tell)
    report = Report(source=corpus.source, figures=measure(corpus.splits, corpus.taxonomy, seed=settings.seed, watch=watch))
    if out is None:
        return report
    watch("page and plots")
    files, install = write_report(out, corpus, report.figures, force=settings.force)
    return replace(report, files=files, install=install)


def report_json(source: ReportSource, figures: ReportFigures) -> Json:
    """Return the content of ``report.json``. It holds no time and no path, only the bare name of the file that was read."""
    measured = figures.to_json()
    return {"schema": measured.pop("schema"), "piiloom": __version__, "source": source.to_json(), **measured}


def write_report(out: Path, corpus: Corpus, figures: ReportFigures, *, force: bool = False) -> tuple[tuple[str, ...], str | None]:
    """Write the report on *corpus* to *out*; return the names of its files, and the remedy if plots could not be drawn.

    *force*: an earlier report there is replaced, other files stay. Raises ``OutputError``.
    """
    check_folder(out, force=force)
    plots: list[Plot] = []
    install: str | None = INSTALL
    with suppress(ImportError):
        from piiloom.evaluation.report.plots import report_plots

        plots, install = list(report_plots(figures)), None
    captions = [(f"{plot.name}.png", plot.caption) for plot in plots]
    card, page = dataset_card(corpus.source, figures, captions), dataset_page(corpus, figures)
    data = json.dumps(report_json(corpus.source, figures), ensure_ascii=False, indent=2) + "\n"
    texts = {PAGE_FILE: page, CARD_FILE: card, FIGURES_FILE: data}
    images = {name: image for plot in plots for name, image in plot.files().items()}
    contents = images | {name: text.encode("utf-8", "replace") for name, text in texts.items()}
    write_folder(out, contents, stale=[f"{plot}.{kind}" for plot in _PLOTS for kind in ("png", "svg")])
    return tuple(contents), install
