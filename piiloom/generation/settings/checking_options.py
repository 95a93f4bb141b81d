"""The command-line options for what checks finished records: judges, and a trained detector. Imports nothing heavy."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Annotated, Any, Final, Literal

import typer

from piiloom.generation.settings.option_panels import CALLS, RUN

# As ``command_line_options.SETTINGS``.
CHECKS: Final[Mapping[str, Any]] = MappingProxyType(
    {
        "judges": Annotated[
            list[str] | None,
            typer.Option("--judge", rich_help_panel=RUN, help="Have the model check each record: relevance, leak. May be given twice."),
        ],
        "judge_provider": Annotated[
            str | None,
            typer.Option(
                "--judge-provider", rich_help_panel=RUN, help="The provider of a separate judge: openai, anthropic or compatible."
            ),
        ],
        "judge_model": Annotated[
            str | None,
            typer.Option("--judge-model", rich_help_panel=RUN, help="The judge's model; alone: another model of the same provider."),
        ],
        "judge_base_url": Annotated[
            str | None,
            typer.Option("--judge-base-url", metavar="URL", rich_help_panel=RUN, help="Where the judge's compatible server listens."),
        ],
        "judge_price": Annotated[
            str | None, typer.Option("--judge-price", rich_help_panel=CALLS, help="The judge's prices, in the form of --price.")
        ],
        "screen_model": Annotated[
            Path | None,
            typer.Option(
                "--screen-model",
                metavar="DIR",
                rich_help_panel=RUN,
                help="Have a detector (saved by piiloom probe --out) look for personal information outside of spans.",
            ),
        ],
        "screen_threshold": Annotated[
            float | None,
            typer.Option(
                "--screen-threshold",
                metavar="P",
                min=0,
                max=1,
                rich_help_panel=RUN,
                help="The least score that counts for --screen-model (default 0.9).",
            ),
        ],
        "on_unlisted": Annotated[
            Literal["flag", "reject"] | None,
            typer.Option(
                "--on-unlisted",
                rich_help_panel=RUN,
                help="When --screen-model finds something: keep the record and flag it for annotators (default), or reject it.",
            ),
        ],
    }
)
