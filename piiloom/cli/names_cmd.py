"""``piiloom names``: which names people bear where."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from piiloom.cli.options import JsonOption
from piiloom.cli.terminal import examples

_BUILD = ("piiloom names build", "piiloom names build --out names.idx --countries NL,BE,DE")
_CLASSIFY = (
    'piiloom names classify "Adaeze Okafor" "Md. Rahman"',
    "piiloom names classify --file names.txt --json",
)
_TOP = ("piiloom names top --country NL --gender female -n 20", "piiloom names top --country KR --family")

names_app = typer.Typer(
    help="Look up names in the names index, and build the large one.",
    epilog=examples(*_BUILD, *_CLASSIFY, *_TOP),
    no_args_is_help=True,
    pretty_exceptions_enable=False,
)

_Index = Annotated[
    Path | None,
    typer.Option(
        "--index", metavar="FILE", help="The index to use (default: $PIILOOM_NAMES, else the one that was built, else the built-in one)."
    ),
]


@names_app.command("build", epilog=examples(*_BUILD))
def build(
    out: Annotated[Path | None, typer.Option("--out", metavar="FILE", help="Where to put it; your data folder when not given.")] = None,
    countries: Annotated[
        str | None, typer.Option("--countries", metavar="CODES", help="Only these, as ISO codes with commas between (default: all 105).")
    ] = None,
    quiet: Annotated[bool, typer.Option("--quiet", help="Show no progress.")] = False,
    as_json: JsonOption = False,
) -> None:
    """Build the large names index from the package names-dataset: once, for yourself, in about half a minute.

    It needs about 1.4 GB of memory while it runs and 85 MB of disk. docs/names.md says where the data of the package come from;
    do not pass the index on.
    """
    from piiloom.cli.naming import build_names

    build_names(out, countries, quiet=quiet, as_json=as_json)


@names_app.command("classify", epilog=examples(*_CLASSIFY))
def classify(
    names: Annotated[list[str] | None, typer.Argument(metavar="[NAME]...", help="Full names, each in quotes.", show_default=False)] = None,
    file: Annotated[Path | None, typer.Option("--file", metavar="FILE", help="A text file with one name a line (UTF-8).")] = None,
    index: _Index = None,
    as_json: JsonOption = False,
) -> None:
    """Estimate gender, country and UN region of names, with probabilities. A guess about names, never a fact about a person."""
    from piiloom.cli.naming import classify_names

    classify_names(names or [], file, index, as_json=as_json)


@names_app.command("top", epilog=examples(*_TOP))
def top(
    country: Annotated[str, typer.Option("--country", metavar="CODE", help="ISO 3166 alpha-2 code of the country: NL.")],
    gender: Annotated[str | None, typer.Option("--gender", help="female or male; both when not given.")] = None,
    number: Annotated[int, typer.Option("-n", "--number", min=1, help="How many names (default 20).")] = 20,
    family: Annotated[bool, typer.Option("--family", help="Family names instead of given names.")] = False,
    index: _Index = None,
    as_json: JsonOption = False,
) -> None:
    """List the most frequent names of a country, most frequent first."""
    from piiloom.cli.naming import print_top

    print_top(country, gender, number, index, family=family, as_json=as_json)
