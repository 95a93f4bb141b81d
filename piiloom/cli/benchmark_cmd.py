"""``piiloom benchmark``: the benchmark of detectors: made, shown, and more texts for it written by a model."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from piiloom.cli.benchmark_write_options import WriteCommand
from piiloom.cli.options import JsonOption
from piiloom.cli.terminal import examples
from piiloom.generation.settings.command_line_options import takes

_MAKE = (
    "piiloom benchmark make --out outputs/benchmark",
    "piiloom benchmark make --out outputs/pl --locale pl_PL --documents 500 --seed 3",
    "piiloom benchmark make --out outputs/noisy --perturb ocr --perturb spacing",
    "piiloom benchmark make --out outputs/fresh --carriers outputs/carriers --with-shipped --locale pl_PL",
)
_SHOW = ("piiloom benchmark show outputs/benchmark", "piiloom benchmark show outputs/benchmark --document pl_PL-Finance-short-00006")
_WRITE = (
    "piiloom benchmark write --locale pl_PL --provider openai --budget-usd 2 --out outputs/carriers",
    (
        "piiloom benchmark write --locale fi_FI --domain IT --length short --documents 12 --provider compatible --model qwen3 "
        "--base-url http://localhost:11434/v1 --unpriced --out outputs/carriers"
    ),
)

benchmark_app = typer.Typer(
    help="Make the benchmark of detectors: documents of 13 locales and six domains with exact spans, and look-alikes that are none.",
    epilog=examples(*_MAKE, *_SHOW, *_WRITE),
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
    carriers: Annotated[
        Path | None, typer.Option("--carriers", metavar="DIR", help="Carrier texts of this folder, as benchmark write makes one, not ours.")
    ] = None,
    with_shipped: Annotated[bool, typer.Option("--with-shipped", help="The carrier texts that ship besides those of --carriers.")] = False,
    seed: Annotated[int, typer.Option("--seed", help="Other documents for another seed.")] = 0,
    force: Annotated[bool, typer.Option("--force", help="Replace a benchmark that is there already.")] = False,
    quiet: Annotated[bool, typer.Option("--quiet", help="Show no progress.")] = False,
    as_json: JsonOption = False,
) -> None:
    """Make a benchmark: benchmark.jsonl (native rows), look_alikes.jsonl (what must not be found) and benchmark.json (counts).

    Templates of everyday documents are filled with drawn values. No native speaker has checked the templates; benchmark.json says so.
    """
    from piiloom.cli.benchmarking import make_folder, options_of, with_own_carriers

    named = (locale or [], domain or [], length or [])
    options, own = with_own_carriers(options_of(*named, documents, perturb or [], seed), carriers, *named, both=with_shipped)
    make_folder(out, options, own, force=force, quiet=quiet, as_json=as_json)


@benchmark_app.command("write", epilog=examples(*_WRITE))
@takes(WriteCommand, ())
def write(**given: Any) -> None:
    """Have a model write carrier texts: documents with slots, into which benchmark make --carriers puts values.

    A reply that has unknown slots, anything personal written out, another length or language, or that copies another is asked again
    with its fault named, then set aside in rejects.jsonl. Nothing personal is sent. No native speaker has checked what comes.
    """
    from piiloom.cli.benchmark_writing import write_and_report

    write_and_report(WriteCommand(**given))


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
