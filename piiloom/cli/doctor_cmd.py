"""``piiloom doctor``: what works here."""

from __future__ import annotations

import typer

from piiloom.cli.options import DEFAULT_STORE, JsonOption, StoreOption
from piiloom.cli.terminal import examples
from piiloom.generation.settings.command_line_options import BankOption, BaseUrlOption, ModelOption, TypesOption

EPILOG = examples(
    "piiloom doctor",
    "piiloom doctor --base-url http://localhost:11434/v1",
    "piiloom doctor --base-url http://localhost:8080/v1 --model qwen3",
    "piiloom doctor --store other.duckdb --json",
    "piiloom doctor --bank my_bank",
    "piiloom doctor --types my_types.yaml --bank my_bank",
)


def doctor(
    store: StoreOption = DEFAULT_STORE,
    base_url: BaseUrlOption = None,
    model: ModelOption = None,
    bank: BankOption = None,
    types: TypesOption = None,
    as_json: JsonOption = False,
) -> None:
    """Check Python, packages, provider keys (by name only), servers, the store and the scenario bank; with --bank or --types, your own.

    Servers are asked only where a key is set or --base-url is given, and never for anything that costs
    money; only --base-url with --model sends a few tiny calls to find out which response formats the server takes. Opening a store
    of an older schema upgrades it after a backup, as every command does.
    """
    from piiloom.cli.bank_report import report_bank
    from piiloom.cli.health_checks import all_checks, report

    if types is not None:
        from piiloom.cli.types_report import report_types

        if not report_types(types, bank, as_json=as_json):
            raise typer.Exit(1)
        return
    if bank is not None:
        if not report_bank(bank, as_json=as_json):
            raise typer.Exit(1)
        return
    if not report(all_checks(store, base_url=base_url, model=model), as_json=as_json):
        raise typer.Exit(1)
