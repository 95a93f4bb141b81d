"""``piiloom stages``: how far each stage of a run has come, and single stages run alone."""

from __future__ import annotations

from typing import Annotated

import typer

from piiloom.cli.options import (
    DEFAULT_STORE,
    AttemptsOption,
    BankOption,
    BaseUrlOption,
    ConcurrencyOption,
    ConfigOption,
    JsonOption,
    LocaleOption,
    ModelOption,
    PairsOption,
    ProviderOption,
    RunOption,
    SamplesOption,
    SeedOption,
    StoreOption,
    SubtopicsOption,
    TopicsOption,
    TypesOption,
    ValuesOption,
    examples,
    given,
)

_LIST = ("piiloom stages list", "piiloom stages list --run last --json")
_RUN = (
    "piiloom stages run topics subtopics --samples 100 --seed 7",
    "piiloom stages run values situation peripheral question paraphrase spans screen",
)

stages_app = typer.Typer(
    help="See how far the stages of a run have come, or run single ones.",
    epilog=examples(*_LIST, *_RUN),
    no_args_is_help=True,
    pretty_exceptions_enable=False,
)


@stages_app.command("list", epilog=examples(*_LIST))
def list_stages(store: StoreOption = DEFAULT_STORE, run: RunOption = None, as_json: JsonOption = False) -> None:
    """List the stages of a run in order, with items done and rejected, and the reasons."""
    from piiloom.cli.staging import print_stages

    print_stages(store, run or "last", as_json=as_json)


@stages_app.command("run", epilog=examples(*_RUN))
def run_stages(
    stages: Annotated[list[str], typer.Argument(metavar="STAGE...", help="The stages to run, in the order given; stages list names them.")],
    store: StoreOption = DEFAULT_STORE,
    run: RunOption = None,
    as_json: JsonOption = False,
    samples: SamplesOption = None,
    provider: ProviderOption = None,
    model: ModelOption = None,
    base_url: BaseUrlOption = None,
    pairs: PairsOption = None,
    locale: LocaleOption = None,
    seed: SeedOption = None,
    concurrency: ConcurrencyOption = None,
    values: ValuesOption = None,
    bank: BankOption = None,
    types: TypesOption = None,
    topics_per_pair: TopicsOption = None,
    subtopics_per_topic: SubtopicsOption = None,
    max_attempts: AttemptsOption = None,
    config: ConfigOption = None,
) -> None:
    """Run stages alone over all that waits for them, as python -m generation.STAGE does.

    The stage topics without --run starts a new run; only then the settings of a run can be given. All stages in order
    give what piiloom generate gives.
    """
    from piiloom.cli.staging import run_all

    settings = given(
        samples=samples,
        provider=provider,
        model=model,
        base_url=base_url,
        pairs=pairs,
        locale=locale,
        seed=seed,
        concurrency=concurrency,
        values=values,
        bank=bank,
        types=types,
        topics_per_pair=topics_per_pair,
        subtopics_per_topic=subtopics_per_topic,
        max_attempts=max_attempts,
    )
    if not run_all(stages, store, run=run, settings=settings, config=config, as_json=as_json):
        raise typer.Exit(1)
