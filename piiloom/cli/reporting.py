"""The work behind ``piiloom report``."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from rich.table import Table
from rich.text import Text

from piiloom.cli.options import DEFAULT_STORE
from piiloom.cli.reading import say_sight
from piiloom.cli.report_agreement import agreement_among
from piiloom.cli.terminal import console, error_console, harmless, say, say_aside, say_json, say_table
from piiloom.evaluation.pages.tables import ReportTable
from piiloom.evaluation.report.background import Wanted
from piiloom.evaluation.report.figures import Figures, Watch, measure
from piiloom.evaluation.report.folder import WrittenReport, report_json, write_report
from piiloom.evaluation.report.sources import Corpus, Source, corpus_of_file, corpus_of_release, corpus_of_store
from piiloom.evaluation.report.tables import all_tables
from piiloom.foundation.errors import UsageError
from piiloom.foundation.whole_files import check_folder
from piiloom.taxonomy.own_types_file import read_types_file


@dataclass(frozen=True, slots=True, kw_only=True)
class Choice:
    """Which records to measure; ``UsageError`` for a choice that contradicts itself. ``store`` None is the default one."""

    store: Path | None = None
    run: str | None = None
    release: str | None = None
    file: Path | None = None
    file_format: str | None = None
    types: Path | None = None

    def __post_init__(self) -> None:
        of_store = [
            name for name, value in (("--store", self.store), ("--run", self.run), ("--release", self.release)) if value is not None
        ]
        if self.file is not None and of_store:
            raise UsageError(f"a report on a file has no use for {' and '.join(of_store)}", where="--input", remedy="Leave one out")
        if self.file is None and self.file_format is not None:
            raise UsageError("only an --input has a format", where="--format", remedy="Name the file with --input, or leave it out")
        if self.file is None and self.types is not None:
            raise UsageError("a store knows its own types", where="--types", remedy="Name a file with --input, or leave it out")
        if self.run is not None and self.release is not None:
            raise UsageError("a release has its records already", where="--run", remedy="Name a run or a release")

    def corpus(self, wanted: Wanted | None = None) -> Corpus:
        """Read the records; with *wanted*, also what a store knows about them."""
        if self.file is not None:
            return corpus_of_file(self.file, self.file_format, None if self.types is None else read_types_file(self.types))
        store = DEFAULT_STORE if self.store is None else self.store
        if self.release is not None:
            return corpus_of_release(store, self.release, tell=say_sight, wanted=wanted)
        return corpus_of_store(store, run=self.run, tell=say_sight, wanted=wanted)


@dataclass(frozen=True, slots=True, kw_only=True)
class MadeReport:
    """A report, and what was written of it; ``written`` is None where no folder was named."""

    source: Source
    figures: Figures
    written: WrittenReport | None


def make_report(choice: Choice, out: Path | None, *, force: bool, seed: int, watch: Watch = lambda _: None) -> MadeReport:
    """Read, measure and, where *out* is given, write; what is wrong with *out* is found before the work begins."""
    if out is not None:
        check_folder(out, force=force)
    watch("reading")
    corpus = choice.corpus(None if out is None else Wanted(seed=seed, agreement=agreement_among))
    written = None
    figures = measure(corpus.splits, corpus.taxonomy, seed=seed, watch=watch)
    if out is not None:
        watch("page and plots")
        written = write_report(out, corpus, figures, force=force)
    return MadeReport(source=corpus.source, figures=figures, written=written)


def report_and_print(choice: Choice, out: Path | None, *, force: bool, seed: int, as_json: bool) -> None:
    """Make a report and print its tables, or all its figures as JSON."""
    with _shown_steps(wanted=not as_json) as watch:
        made = make_report(choice, out, force=force, seed=seed, watch=watch)
    files = made.written.files if made.written else ()
    if as_json:
        say_json({**report_json(made.source, made.figures), "out": None if out is None else str(out), "files": list(files)})
    else:
        _print(made)
        if files:
            say("")
            say(f"written to {out}: {', '.join(files)}")
    if made.written and made.written.install:
        say_aside(f"no plots were drawn: they need an extra: {made.written.install}")


@contextmanager
def _shown_steps(*, wanted: bool) -> Iterator[Watch]:
    """Show what is being done, on standard error where that is a terminal."""
    if not wanted:
        yield lambda _: None
        return
    with error_console().status("measuring …") as status:
        yield lambda step: status.update(f"measuring: {step} …")


def _print(made: MadeReport) -> None:
    to = console()
    say(f"report on {made.source.title()}")
    for table in all_tables(made.source, made.figures):
        say("")
        say_table(drawn(table))
        if table.note:
            to.print(Text(table.note, style="dim"))


def drawn(table: ReportTable) -> Table:
    """Return *table* for the terminal; its cells are texts that steer nothing."""
    drawn = Table(title=table.title)
    for place, name in enumerate(table.columns):
        drawn.add_column(name, justify="left" if place < table.texts else "right")
    for row in table.rows:
        drawn.add_row(*(Text(harmless(" ".join(cell.split()))) for cell in row))
    return drawn
