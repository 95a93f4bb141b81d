"""The options of ``piiloom generate`` besides the settings of the run. Imports nothing heavy: help must be quick."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any

import typer

from piiloom.cli.options import DEFAULT_STORE, ConfigOption, JsonOption, StoreOption


@dataclass(frozen=True, slots=True, kw_only=True)
class GenerateOptions:
    """What the command line asks for; ``settings`` are those of the run that were given."""

    config: ConfigOption = None
    store: StoreOption = DEFAULT_STORE
    resume: Annotated[
        str | None,
        typer.Option(
            "--resume",
            metavar="RUN",
            help='Resume a run, by its id or "last". Its settings stay; only --samples (more) and how calls are made may change.',
        ),
    ] = None
    retry: Annotated[
        str | None,
        typer.Option(
            "--retry",
            metavar="ITEMS",
            help="With --resume: try rejected items again, by plan index or reason code: 17,23 or off_length.",
        ),
    ] = None
    estimate: Annotated[
        bool,
        typer.Option("--estimate", help="Estimate what the run would send and cost, stage by stage, as a range; send and store nothing."),
    ] = False
    show: Annotated[int, typer.Option("--show", min=0, metavar="N", help="Print a table of the first N records, with coloured spans.")] = 0
    ray: Annotated[
        int | None, typer.Option("--ray", min=1, metavar="N", help="Work on the items with N Ray workers (extra ray); same records.")
    ] = None
    ray_address: Annotated[str | None, typer.Option("--ray-address", metavar="HOST:PORT", help="The Ray cluster for --ray.")] = None
    ray_folder: Annotated[
        Path | None, typer.Option("--ray-folder", metavar="DIR", help="A folder that all nodes of the cluster share.")
    ] = None
    otel: Annotated[
        bool, typer.Option("--otel", help="Send OpenTelemetry spans (extra otel) to the exporter named by OTEL_TRACES_EXPORTER.")
    ] = False
    as_json: JsonOption = False
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Print nothing but errors.")] = False
    settings: dict[str, Any] = field(default_factory=dict)
