"""The options of ``piiloom surrogate`` but those of ``Reading``, declared once. Imports nothing heavy: help must be quick."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import typer

_TAGS, _CAST, _MODEL, _WORK = "Placeholders", "Surrogates", "Values by a model", "Running"

PlaceholdersOption = Annotated[
    str,
    typer.Option(
        "--placeholders",
        metavar="auto|FILE",
        rich_help_panel=_TAGS,
        help="auto learns the tags of the input; or a mapping that survey wrote.",
    ),
]
LocaleOption = Annotated[str, typer.Option("--locale", rich_help_panel=_CAST, help="Language and country of the texts, as in nl_NL.")]
KeepOption = Annotated[
    float, typer.Option("--keep", min=0.0, max=1.0, rich_help_panel=_CAST, help="Markov: how likely the next mention keeps the surrogate.")
]
OutOption = Annotated[
    Path, typer.Option("--out", metavar="DIR", help="The folder to make: records.jsonl, mirror/, map.jsonl, report.json.")
]
OnUnknownOption = Annotated[
    Literal["keep", "error", "generic"],
    typer.Option(
        "--on-unknown",
        rich_help_panel=_TAGS,
        help="What looks like a placeholder of no known meaning: keep and report it, stop, or a neutral value.",
    ),
]
SeedOption = Annotated[
    int, typer.Option("--seed", rich_help_panel=_CAST, help="Same seed and input, same bytes, for any number of workers.")
]
ScopeOption = Annotated[
    Literal["document", "corpus"],
    typer.Option("--scope", rich_help_panel=_CAST, help="Whether numbered people and roles are the same ones in all documents."),
]
StrategyOption = Annotated[
    Literal["consistent", "per-mention", "markov"],
    typer.Option("--strategy", rich_help_panel=_CAST, help="Whether a person keeps one surrogate."),
]
GroupsOption = Annotated[
    Literal["exact", "weights", "cue"],
    typer.Option(
        "--groups",
        rich_help_panel=_CAST,
        help="People in equal groups of gender and UN region, by --weights, or with names of the texts' own country (cue).",
    ),
]
WeightsOption = Annotated[
    str,
    typer.Option("--weights", metavar="NAME=N,…", rich_help_panel=_CAST, help="For --groups weights: female=2,Africa=3; others weigh 1."),
]
ScriptOption = Annotated[
    Literal["latin", "native"],
    typer.Option(
        "--script", rich_help_panel=_CAST, help="native: names of the texts' own country in its own script (zh_CN, ko_KR, ru_RU, ar_EG …)."
    ),
]
EnglishOnlyOption = Annotated[
    bool, typer.Option("--english-only", rich_help_panel=_CAST, help="Only names that are also in use in English-speaking countries.")
]
NamesOption = Annotated[
    Path | None, typer.Option("--names", metavar="FILE", rich_help_panel=_CAST, help="A names index that piiloom names build made.")
]
KeepWeekdaysOption = Annotated[bool, typer.Option("--keep-weekdays", rich_help_panel=_CAST, help="Known dates move by whole weeks.")]
ValuesOption = Annotated[
    Literal["code", "llm"],
    typer.Option("--values", rich_help_panel=_MODEL, help="Who words organisations, courses, occupations and the like."),
]
ProviderOption = Annotated[str | None, typer.Option("--provider", rich_help_panel=_MODEL, help="openai, anthropic or compatible.")]
ModelOption = Annotated[
    str | None, typer.Option("--model", rich_help_panel=_MODEL, help="The provider's model, as the provider spells it.")
]
BaseUrlOption = Annotated[
    str | None, typer.Option("--base-url", metavar="URL", rich_help_panel=_MODEL, help="Where a compatible server listens.")
]
ConcurrencyOption = Annotated[
    int, typer.Option("--concurrency", min=1, rich_help_panel=_MODEL, help="Calls in flight at once; never changes a value.")
]
BudgetUsdOption = Annotated[
    float | None, typer.Option("--budget-usd", min=0.0, rich_help_panel=_MODEL, help="Stop asking when this much is spent.")
]
PriceOption = Annotated[
    str | None,
    typer.Option("--price", metavar="IN,OUT", rich_help_panel=_MODEL, help="USD per million tokens, for models we know no price of."),
]
UnpricedOption = Annotated[bool, typer.Option("--unpriced", rich_help_panel=_MODEL, help="Go on although the model's price is unknown.")]
StoreOption = Annotated[
    Path,
    typer.Option("--store", metavar="FILE", rich_help_panel=_MODEL, help="Where replies are kept, so that none is paid for twice."),
]
YesOption = Annotated[bool, typer.Option("--yes", rich_help_panel=_MODEL, help="Agree beforehand to send what leaves the machine.")]
LeakageOption = Annotated[
    str,
    typer.Option(
        "--leakage",
        metavar="RATE,…",
        rich_help_panel=_WORK,
        help="Estimate for these miss rates how often a document leaks recognisably.",
    ),
]
ScanOption = Annotated[
    bool, typer.Option("--scan/--no-scan", rich_help_panel=_WORK, help="Look for personal information that nobody put in.")
]
WorkersOption = Annotated[
    str, typer.Option("--workers", metavar="N|auto|ray", rich_help_panel=_WORK, help="Processes, or Ray for a cluster.")
]
VaultOption = Annotated[
    Path | None,
    typer.Option(
        "--vault",
        metavar="FILE",
        rich_help_panel=_WORK,
        help="Also write what stood where, so that the run can be reversed. Keep it apart.",
    ),
]
ForceOption = Annotated[bool, typer.Option("--force", rich_help_panel=_WORK, help="Replace a folder that an earlier run made.")]
