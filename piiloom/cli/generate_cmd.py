"""``piiloom generate``: records from plan to screened, in one go."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from piiloom.cli.options import DEFAULT_STORE, ConfigOption, JsonOption, ResumeOption, RetryOption, StoreOption, examples
from piiloom.generation.settings.setting_options import (
    AttemptsOption,
    BankOption,
    BaseUrlOption,
    BatchOption,
    BudgetOption,
    ConcurrencyOption,
    DisagreementOption,
    ExtraBodyOption,
    JudgeBaseUrlOption,
    JudgeModelOption,
    JudgeOption,
    JudgePriceOption,
    JudgeProviderOption,
    KeepGoingOption,
    LocaleOption,
    ModelOption,
    PairsOption,
    PriceOption,
    PromptsOption,
    ProviderOption,
    QuestionsOption,
    RecipeOption,
    ResponseFormatOption,
    RpmOption,
    SamplesOption,
    SeedOption,
    SubtopicsOption,
    TemperatureOption,
    TimeoutOption,
    TopicsOption,
    TopPOption,
    TpmOption,
    TypesOption,
    UnpricedOption,
    ValuesOption,
    chosen_settings,
)

EPILOG = examples(
    "piiloom generate --samples 200 --seed 7 --show 5",
    "piiloom generate --pairs health+occupation,age+belief --locale en_GB",
    "piiloom generate --provider openai --samples 50 --max-attempts 5",
    "piiloom generate --provider compatible --base-url http://localhost:11434/v1 --model MODEL",
    "piiloom generate --provider openai --samples 2307 --estimate",
    "piiloom generate --provider openai --samples 2307 --budget-usd 25 --concurrency 64",
    "piiloom generate --provider anthropic --samples 2307 --batch --judge relevance",
    "piiloom generate --provider openai --judge-provider anthropic --samples 500",
    "piiloom generate --recipe staged --samples 500",
    "piiloom generate --bank my_bank --samples 500",
    "piiloom generate --types my_types.yaml --bank my_bank",
    "piiloom generate --config run.yaml",
    "piiloom generate --resume last --budget-usd 40",
    "piiloom generate --resume last --retry question.content_word,17",
)

EstimateOption = Annotated[
    bool, typer.Option("--estimate", help="Say what the run would send and cost, stage by stage, as a range; send and store nothing.")
]
ShowOption = Annotated[int, typer.Option("--show", min=0, metavar="N", help="Print a table of the first N records, with coloured spans.")]
RayOption = Annotated[
    int | None, typer.Option("--ray", min=1, metavar="N", help="Work on the items with N Ray workers (extra ray); same records.")
]
RayAddressOption = Annotated[str | None, typer.Option("--ray-address", metavar="HOST:PORT", help="The Ray cluster for --ray.")]
RayFolderOption = Annotated[Path | None, typer.Option("--ray-folder", metavar="DIR", help="A folder that all nodes of it share.")]
OtelOption = Annotated[bool, typer.Option("--otel", help="Make OpenTelemetry spans (extra otel), sent where OTEL_TRACES_EXPORTER says.")]
QuietOption = Annotated[bool, typer.Option("--quiet", "-q", help="Print nothing but errors.")]

# What the command takes besides settings of the run.
_NOT_SETTINGS = ("store", "config", "resume", "retry", "show", "estimate", "ray", "ray_address", "ray_folder", "otel", "as_json", "quiet")


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
    recipe: RecipeOption = None,
    questions_per_text: QuestionsOption = None,
    on_disagreement: DisagreementOption = None,
    bank: BankOption = None,
    types: TypesOption = None,
    topics_per_pair: TopicsOption = None,
    subtopics_per_topic: SubtopicsOption = None,
    max_attempts: AttemptsOption = None,
    judges: JudgeOption = None,
    judge_provider: JudgeProviderOption = None,
    judge_model: JudgeModelOption = None,
    judge_base_url: JudgeBaseUrlOption = None,
    judge_price: JudgePriceOption = None,
    prompts: PromptsOption = None,
    temperature: TemperatureOption = None,
    top_p: TopPOption = None,
    extra_body: ExtraBodyOption = None,
    rpm: RpmOption = None,
    tpm: TpmOption = None,
    timeout_s: TimeoutOption = None,
    response_format: ResponseFormatOption = None,
    budget_usd: BudgetOption = None,
    price: PriceOption = None,
    unpriced: UnpricedOption = None,
    batch: BatchOption = None,
    keep_going: KeepGoingOption = None,
    config: ConfigOption = None,
    store: StoreOption = DEFAULT_STORE,
    resume: ResumeOption = None,
    retry: RetryOption = None,
    estimate: EstimateOption = False,
    show: ShowOption = 0,
    ray: RayOption = None,
    ray_address: RayAddressOption = None,
    ray_folder: RayFolderOption = None,
    otel: OtelOption = False,
    as_json: JsonOption = False,
    quiet: QuietOption = False,
) -> None:
    """Generate records: plan, compose, repair and screen until the wanted number is accepted.

    The default provider is the composer, a template-based generator that needs no key, no network and no model.
    Ctrl-C stops cleanly; the run can be resumed.
    """
    options = dict(locals())
    from piiloom.cli.generating import Wishes, generate_records

    settings = chosen_settings(options)
    if not generate_records(Wishes(settings=settings, **{name: options[name] for name in _NOT_SETTINGS})):
        raise typer.Exit(1)
