"""The options of ``piiloom utility``, declared once. Imports nothing heavy: help must be quick."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Final

import typer

from piiloom.cli.options import DEFAULT_STORE, JsonOption

_MODEL: Final = "Models"
_CALLS: Final = "Paid calls"


@dataclass(frozen=True, slots=True, kw_only=True)
class UtilityCommand:
    """What the command line asks for; each field is an option (``source`` the argument)."""

    source: Annotated[str, typer.Argument(metavar="RELEASE|FILE", help="A file of records, or the name of a release of the --store.")]
    store: Annotated[
        Path, typer.Option("--store", metavar="FILE", help="The DuckDB file of the workspace, which a release is read from.")
    ] = DEFAULT_STORE
    split: Annotated[str | None, typer.Option("--split", metavar="NAME", help="Only this split of the release: train, test …")] = None
    file_format: Annotated[
        str | None,
        typer.Option(
            "--format",
            metavar="FORMAT",
            help="How the file is written: any format that piiloom import reads; without it, native or capid by the first row.",
        ),
    ] = None
    types: Annotated[
        Path | None,
        typer.Option("--types", metavar="YAML", help="The own types of the file, where no release.json beside it defines them."),
    ] = None
    variants: Annotated[str, typer.Option("--variants", metavar="NAME,…", help="What is compared: original and some of the others.")] = (
        "original,relevance_aware,all_masked,surrogates"
    )
    limit: Annotated[int | None, typer.Option("--limit", min=1, metavar="N", help="Only N of the records, drawn by --seed.")] = None
    seed: Annotated[int, typer.Option("--seed", help="Same seed: same sample, same intervals, and kept replies are used again.")] = 7
    provider: Annotated[
        str,
        typer.Option(
            "--provider",
            rich_help_panel=_MODEL,
            help="Who answers: openai, anthropic or compatible; offline asks nobody: a rule stands in for the judge.",
        ),
    ] = "offline"
    model: Annotated[
        str | None, typer.Option("--model", rich_help_panel=_MODEL, help="The provider's model, as the provider spells it.")
    ] = None
    base_url: Annotated[
        str | None, typer.Option("--base-url", metavar="URL", rich_help_panel=_MODEL, help="Where a compatible server listens.")
    ] = None
    judge_provider: Annotated[
        str | None, typer.Option("--judge-provider", rich_help_panel=_MODEL, help="Who judges, if it is not the model that answers.")
    ] = None
    judge_model: Annotated[
        str | None,
        typer.Option("--judge-model", rich_help_panel=_MODEL, help="The judge's model; alone: another one of the same provider."),
    ] = None
    judge_base_url: Annotated[
        str | None,
        typer.Option("--judge-base-url", metavar="URL", rich_help_panel=_MODEL, help="Where the judge's compatible server listens."),
    ] = None
    prompts: Annotated[
        Path | None,
        typer.Option("--prompts", metavar="DIR", rich_help_panel=_MODEL, help="Prompts of your own (docs/prompts.md)."),
    ] = None
    budget_usd: Annotated[
        float | None, typer.Option("--budget-usd", min=0.0, rich_help_panel=_CALLS, help="Stop before more than this is spent.")
    ] = None
    price: Annotated[
        str | None,
        typer.Option(
            "--price",
            metavar="IN,OUT",
            rich_help_panel=_CALLS,
            help="USD per million tokens, if they are not known: input=1,output=2.",
        ),
    ] = None
    judge_price: Annotated[
        str | None, typer.Option("--judge-price", rich_help_panel=_CALLS, help="The judge's prices, in the form of --price.")
    ] = None
    unpriced: Annotated[bool, typer.Option("--unpriced", rich_help_panel=_CALLS, help="Go on although a model's price is unknown.")] = False
    concurrency: Annotated[
        int, typer.Option("--concurrency", min=1, rich_help_panel=_CALLS, help="Calls in flight at once; never changes a result.")
    ] = 16
    rpm: Annotated[float | None, typer.Option("--rpm", min=0.1, rich_help_panel=_CALLS, help="At most this many requests a minute.")] = None
    tpm: Annotated[float | None, typer.Option("--tpm", min=1.0, rich_help_panel=_CALLS, help="At most this many tokens a minute.")] = None
    timeout_s: Annotated[
        float, typer.Option("--timeout", min=0.1, metavar="S", rich_help_panel=_CALLS, help="Seconds until a call counts as failed.")
    ] = 60.0
    attempts: Annotated[
        int, typer.Option("--max-attempts", min=1, rich_help_panel=_CALLS, help="Tries for one usable reply before it is given up.")
    ] = 3
    replies: Annotated[
        Path,
        typer.Option("--replies", metavar="FILE", rich_help_panel=_CALLS, help="Where replies are kept, so that none is paid for twice."),
    ] = Path("outputs/utility.duckdb")
    yes: Annotated[
        bool, typer.Option("--yes", rich_help_panel=_CALLS, help="Confirm in advance that the texts may be sent to the providers.")
    ] = False
    estimate: Annotated[
        bool, typer.Option("--estimate", help="Estimate what would be sent and what it costs; send and store nothing, no key needed.")
    ] = False
    out: Annotated[
        Path | None, typer.Option("--out", metavar="DIR", help="Write answers, comparisons with reasons, and tables to this folder.")
    ] = None
    force: Annotated[bool, typer.Option("--force", help="Write into a folder that is not empty; a result there is replaced.")] = False
    as_json: JsonOption = False
