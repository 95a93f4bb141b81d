"""The options that several commands share, declared once. Imports nothing heavy: help must be quick."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from piiloom.foundation.settings import setting

DEFAULT_STORE = Path("outputs/piiloom.duckdb")
WORKERS = "Workers"


def store_setting(default: Path = DEFAULT_STORE) -> Any:
    """Declare the option --store."""
    return setting(default, "The DuckDB file of the workspace.", metavar="FILE")


def json_setting() -> Any:
    """Declare the option --json."""
    return setting(False, "Print the result as JSON and nothing else on standard output.", flags="--json")


def run_setting() -> Any:
    """Declare the option --run."""
    return setting("last", 'The run to work on, by its id or "last" (the newest).', metavar="RUN")


def config_setting() -> Any:
    """Declare the option --config."""
    return setting(None, "A run file with settings (samples: 100, pairs: all …); command-line options override it.", metavar="YAML")


StoreOption = Annotated[Path, typer.Option("--store", metavar="FILE", help="The DuckDB file of the workspace.")]
JsonOption = Annotated[bool, typer.Option("--json", help="Print the result as JSON and nothing else on standard output.")]
JsonLinesOption = Annotated[bool, typer.Option("--json", help="Print JSON lines, one a record, and nothing else on standard output.")]
RunOption = Annotated[
    str | None, typer.Option("--run", metavar="RUN", help='The run to work on, by its id or "last"; the newest when not given.')
]
ConfigOption = Annotated[
    Path | None,
    typer.Option(
        "--config", metavar="YAML", help="A run file with settings (samples: 100, pairs: all …); command-line options override it."
    ),
]


def given(**options: Any) -> dict[str, Any]:
    """Keep the options that were given on the command line."""
    return {name: value for name, value in options.items() if value is not None and value != []}
