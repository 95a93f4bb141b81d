"""``piiloom generate``: records from plan to screened, in one go."""

from __future__ import annotations

from typing import Annotated

import typer

from piiloom.options import (
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
    SamplesOption,
    SeedOption,
    StoreOption,
    SubtopicsOption,
    TopicsOption,
    ValuesOption,
    examples,
    given,
)

EPILOG = examples(
    "piiloom generate --samples 200 --seed 7 --show 5",
    "piiloom generate --pairs health+occupation,age+belief --locale en_GB",
    "piiloom generate --provider openai --samples 50 --max-attempts 5",
    "piiloom generate --provider compatible --base-url http://localhost:11434/v1 --model MODEL",
    "piiloom generate --bank my_bank --samples 500",
    "piiloom generate --config run.yaml",
    "piiloom generate --resume last",
)


def generate(
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
    topics_per_pair: TopicsOption = None,
    subtopics_per_topic: SubtopicsOption = None,
    max_attempts: AttemptsOption = None,
    config: ConfigOption = None,
    store: StoreOption = DEFAULT_STORE,
    resume: Annotated[
        str | None,
        typer.Option(metavar="RUN", help='Go on with a run, by its id or "last". Only --samples (more) and --concurrency go with it.'),
    ] = None,
    show: Annotated[int, typer.Option(min=0, metavar="N", help="Print a table of the first N records, with coloured spans.")] = 0,
    as_json: JsonOption = False,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Print nothing but errors.")] = False,
) -> None:
    """Generate records: plan, compose, repair and screen until the wanted number is accepted.

    The default provider is the composer, a template-based generator that needs no key, no network and no model.
    Ctrl-C stops cleanly; the run can be resumed.
    """
    from piiloom.generating import Wishes, generate_records

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
        topics_per_pair=topics_per_pair,
        subtopics_per_topic=subtopics_per_topic,
        max_attempts=max_attempts,
    )
    wishes = Wishes(store=store, settings=settings, config=config, resume=resume, show=show, as_json=as_json, quiet=quiet)
    if not generate_records(wishes):
        raise typer.Exit(1)
