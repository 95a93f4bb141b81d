"""The options that several commands share, declared once. Imports nothing heavy: help must be quick."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, Literal

import typer

DEFAULT_STORE = Path("outputs/piiloom.duckdb")

_RUN = "Settings of the run"
_CALLS = "Paid calls"

StoreOption = Annotated[Path, typer.Option("--store", metavar="FILE", help="The DuckDB file of the workspace.")]
JsonOption = Annotated[bool, typer.Option("--json", help="Print the result as JSON and nothing else on standard output.")]
RunOption = Annotated[
    str | None, typer.Option("--run", metavar="RUN", help='The run to work on, by its id or "last"; the newest when not given.')
]

SamplesOption = Annotated[
    int | None, typer.Option("--samples", min=1, rich_help_panel=_RUN, help="How many accepted records are wanted (default 100).")
]
ProviderOption = Annotated[
    str | None,
    typer.Option("--provider", rich_help_panel=_RUN, help="composer (default; needs no key or network), openai, anthropic or compatible."),
]
ModelOption = Annotated[str | None, typer.Option("--model", rich_help_panel=_RUN, help="The provider's model, as the provider spells it.")]
BaseUrlOption = Annotated[
    str | None,
    typer.Option("--base-url", metavar="URL", rich_help_panel=_RUN, help="Where a compatible server listens: http://localhost:11434/v1."),
]
PairsOption = Annotated[
    str | None, typer.Option("--pairs", rich_help_panel=_RUN, help='"all" (default), or pairs of PII types: health+occupation,age+belief.')
]
LocaleOption = Annotated[str | None, typer.Option("--locale", rich_help_panel=_RUN, help="Locale of texts and values (default en_US).")]
SeedOption = Annotated[
    int | None,
    typer.Option(
        "--seed", rich_help_panel=_RUN, help="Same seed and settings, same plan; from the composer also the same records (default 7)."
    ),
]
ConcurrencyOption = Annotated[
    int | None,
    typer.Option(
        "--concurrency", min=1, rich_help_panel=_RUN, help="How many calls may be in flight at once (default 16). Never changes a record."
    ),
]
ValuesOption = Annotated[
    Literal["code", "llm"] | None,
    typer.Option(
        "--values", rich_help_panel=_RUN, help="Who draws the PII values: code (default; from the value lexicons) or llm (the provider)."
    ),
]
BankOption = Annotated[
    Path | None,
    typer.Option(
        "--bank", metavar="DIR", rich_help_panel=_RUN, help="Scenarios and sentences of your own: a bank file, or a folder of them."
    ),
]
TypesOption = Annotated[
    Path | None,
    typer.Option(
        "--types",
        metavar="YAML",
        rich_help_panel=_RUN,
        help="Entity types of your own beside the 15 that ship (docs/own-types.md); the run and its store remember them.",
    ),
]
TopicsOption = Annotated[
    int | None,
    typer.Option("--topics-per-pair", min=1, rich_help_panel=_RUN, help="How many topics are asked for a pair of types (default 10)."),
]
SubtopicsOption = Annotated[
    int | None,
    typer.Option("--subtopics-per-topic", min=1, rich_help_panel=_RUN, help="How many subtopics are asked for a topic (default 20)."),
]
AttemptsOption = Annotated[
    int | None,
    typer.Option("--max-attempts", min=1, rich_help_panel=_RUN, help="How often a stage asks before it rejects an item (default 3)."),
]
RpmOption = Annotated[
    float | None,
    typer.Option("--rpm", rich_help_panel=_CALLS, help="Requests a minute that the account allows; learnt from the server if it says so."),
]
TpmOption = Annotated[
    float | None,
    typer.Option("--tpm", rich_help_panel=_CALLS, help="Tokens a minute that the account allows; learnt from the server if it says so."),
]
TimeoutOption = Annotated[
    float | None, typer.Option("--timeout", metavar="SECONDS", rich_help_panel=_CALLS, help="How long one request may take (default 60).")
]
BudgetOption = Annotated[
    float | None,
    typer.Option(
        "--budget-usd",
        metavar="USD",
        rich_help_panel=_CALLS,
        help="Hard stop for the whole run, all sittings: no call starts that could pass it. The run can be resumed with more.",
    ),
]
PriceOption = Annotated[
    str | None,
    typer.Option(
        "--price",
        metavar="input=X,output=Y",
        rich_help_panel=_CALLS,
        help="USD per million tokens of a model that is not listed; also cached=…, cache_write=….",
    ),
]
UnpricedOption = Annotated[
    bool | None,
    typer.Option("--unpriced", rich_help_panel=_CALLS, help="Go on although the model's price is unknown: costs are not counted."),
]
BatchOption = Annotated[
    bool | None,
    typer.Option("--batch", rich_help_panel=_CALLS, help="Send by the provider's batch API (half the price, up to a day). Ctrl-C is safe."),
]
JudgeOption = Annotated[
    list[str] | None,
    typer.Option("--judge", rich_help_panel=_RUN, help="Have the model check each record: relevance, leak. May be given twice."),
]
PromptsOption = Annotated[
    Path | None,
    typer.Option(
        "--prompts", metavar="DIR", rich_help_panel=_RUN, help="Prompt templates of your own, which replace shipped ones by name."
    ),
]
ConfigOption = Annotated[
    Path | None,
    typer.Option("--config", metavar="YAML", help="A run file with settings (samples: 100, pairs: all …); options win over it."),
]


def given(**options: Any) -> dict[str, Any]:
    """Keep the options that were given on the command line."""
    return {name: value for name, value in options.items() if value is not None and value != []}


def examples(*lines: str) -> str:
    """Write the Examples part of a help text."""
    return "\n".join(["Examples:", *(f"  {line}" for line in lines)])
