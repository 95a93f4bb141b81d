"""``piiloom benchmark``: the benchmark of detectors: made and shown."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from piiloom.cli.options import JsonOption, examples

_MAKE = (
    "piiloom benchmark make --out outputs/benchmark",
    "piiloom benchmark make --out outputs/pl --locale pl_PL --documents 500 --seed 3",
    "piiloom benchmark make --out outputs/noisy --perturb ocr --perturb spacing",
)
_SHOW = ("piiloom benchmark show outputs/benchmark", "piiloom benchmark show outputs/benchmark --document pl_PL-Finance-short-00006")

benchmark_app = typer.Typer(
    help="Make the benchmark of detectors: documents of 13 locales and six domains with exact spans, and look-alikes that are none.",
    epilog=examples(*_MAKE, *_SHOW),
    no_args_is_help=True,
    pretty_exceptions_enable=False,
)


@benchmark_app.command("make", epilog=examples(*_MAKE))
def make(
    out: Annotated[Path, typer.Option("--out", metavar="DIR", help="The folder to write.", show_default=False)],
    locale: Annotated[
        list[str] | None, typer.Option("--locale", metavar="CODE", help="Only this locale, as pl_PL. May be repeated.")
    ] = None,
    domain: Annotated[
        list[str] | None, typer.Option("--domain", help="Only this domain: Finance, Travel, Healthcare, IT, CPG or Media.")
    ] = None,
    length: Annotated[
        list[str] | None,
        typer.Option("--length", help="Only this length: tiny (under 21 words), short (to 240), medium (to 1,000) or long (to 4,500)."),
    ] = None,
    documents: Annotated[
        int | None, typer.Option("--documents", min=1, help="Documents of each locale (default: as many as the published benchmark has).")
    ] = None,
    perturb: Annotated[
        list[str] | None,
        typer.Option("--perturb", help="Spoil the texts: spacing, case, transliteration, ocr or digits. Several take turns."),
    ] = None,
    seed: Annotated[int, typer.Option("--seed", help="Other documents for another seed.")] = 0,
    force: Annotated[bool, typer.Option("--force", help="Replace a benchmark that is there already.")] = False,
    quiet: Annotated[bool, typer.Option("--quiet", help="Show no progress.")] = False,
    as_json: JsonOption = False,
) -> None:
    """Make a benchmark: benchmark.jsonl (native rows), look_alikes.jsonl (what must not be found) and benchmark.json (counts).

    Templates of everyday documents are filled with drawn values. No native speaker has checked the templates; benchmark.json says so.
    """
    from piiloom.cli.benchmarking import make_folder, options_of

    options = options_of(locale or [], domain or [], length or [], documents, perturb or [], seed)
    make_folder(out, options, force=force, quiet=quiet, as_json=as_json)


@benchmark_app.command("show", epilog=examples(*_SHOW))
def show(
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="The folder of a benchmark.", show_default=False)],
    document: Annotated[str | None, typer.Option("--document", metavar="ID", help="Show this document with its values marked.")] = None,
    as_json: JsonOption = False,
) -> None:
    """Show what a benchmark holds: documents by locale, domain and length, entities and look-alikes."""
    from piiloom.cli.benchmarking import show_document, show_folder

    if document is None:
        show_folder(folder, as_json=as_json)
    else:
        show_document(folder, document, as_json=as_json)
