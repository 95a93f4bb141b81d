"""The command-line options for run settings, declared once for all commands that start or resume a run.

This module imports nothing heavy, so that ``--help`` is quick.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Mapping
from functools import wraps
from pathlib import Path
from types import MappingProxyType
from typing import Annotated, Any, Literal, get_type_hints

import typer

_RUN = "Settings of the run"
_CALLS = "Paid calls"

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
RecipeOption = Annotated[
    Literal["staged", "case", "story"] | None,
    typer.Option(
        "--recipe",
        rich_help_panel=_RUN,
        help="How a text comes about: story (the composer tells a whole story; its default), case (a model writes a whole text and keeps "
        "a ledger of what matters; its default), or staged (sentence by sentence, with one question).",
    ),
]
QuestionsOption = Annotated[
    int | None,
    typer.Option(
        "--questions-per-text",
        min=1,
        max=4,
        rich_help_panel=_RUN,
        help="How many records share a text, each with a question of its own (default 2; with --recipe staged always 1).",
    ),
]
DisagreementOption = Annotated[
    Literal["redo", "reject", "relabel"] | None,
    typer.Option(
        "--on-disagreement",
        rich_help_panel=_RUN,
        help="When the judge of the recipe case contradicts a label: redo the question once, then reject (default); reject; or relabel.",
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
TemperatureOption = Annotated[
    float | None,
    typer.Option("--temperature", rich_help_panel=_RUN, help="How freely the model draws, 0 to 2; the provider's default when not given."),
]
TopPOption = Annotated[
    float | None, typer.Option("--top-p", rich_help_panel=_RUN, help="Draw only from the likeliest tokens that make up this share.")
]
ExtraBodyOption = Annotated[
    str | None,
    typer.Option(
        "--extra-body",
        metavar="JSON",
        rich_help_panel=_RUN,
        help="Further fields of every request: '{\"top_k\": 40}'. By stage: sampling in a run file.",
    ),
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
ResponseFormatOption = Annotated[
    Literal["auto", "json_schema", "json_object", "text"] | None,
    typer.Option(
        "--response-format",
        rich_help_panel=_CALLS,
        help="How a compatible server is asked for JSON; auto (default) asks it with a tiny call which of them it takes.",
    ),
]
BudgetOption = Annotated[
    float | None,
    typer.Option(
        "--budget-usd",
        metavar="USD",
        rich_help_panel=_CALLS,
        help="Hard stop for the whole run, all sessions: no call starts that could pass it. The run can be resumed with more.",
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
JudgeProviderOption = Annotated[
    str | None,
    typer.Option("--judge-provider", rich_help_panel=_RUN, help="Who judges, if not who writes: openai, anthropic or compatible."),
]
JudgeModelOption = Annotated[
    str | None, typer.Option("--judge-model", rich_help_panel=_RUN, help="The judge's model; alone: another model of the same provider.")
]
JudgeBaseUrlOption = Annotated[
    str | None, typer.Option("--judge-base-url", metavar="URL", rich_help_panel=_RUN, help="Where the judge's compatible server listens.")
]
JudgePriceOption = Annotated[
    str | None, typer.Option("--judge-price", rich_help_panel=_CALLS, help="The judge's prices, in the form of --price.")
]
PromptsOption = Annotated[
    Path | None,
    typer.Option(
        "--prompts", metavar="DIR", rich_help_panel=_RUN, help="Prompt templates of your own, which replace shipped ones by name."
    ),
]
KeepGoingOption = Annotated[
    bool | None,
    typer.Option(
        "--keep-going", rich_help_panel=_CALLS, help="Do not stop when item after item is rejected for one reason and nothing gets through."
    ),
]

# Options by their field names in ``RunConfig``; ``keep_going`` stands for ``stop_after: 0``.
SETTINGS: Mapping[str, Any] = MappingProxyType(
    {
        "samples": SamplesOption,
        "provider": ProviderOption,
        "model": ModelOption,
        "base_url": BaseUrlOption,
        "pairs": PairsOption,
        "locale": LocaleOption,
        "seed": SeedOption,
        "concurrency": ConcurrencyOption,
        "values": ValuesOption,
        "recipe": RecipeOption,
        "questions_per_text": QuestionsOption,
        "on_disagreement": DisagreementOption,
        "bank": BankOption,
        "types": TypesOption,
        "topics_per_pair": TopicsOption,
        "subtopics_per_topic": SubtopicsOption,
        "max_attempts": AttemptsOption,
        "judges": JudgeOption,
        "judge_provider": JudgeProviderOption,
        "judge_model": JudgeModelOption,
        "judge_base_url": JudgeBaseUrlOption,
        "judge_price": JudgePriceOption,
        "prompts": PromptsOption,
        "temperature": TemperatureOption,
        "top_p": TopPOption,
        "extra_body": ExtraBodyOption,
        "rpm": RpmOption,
        "tpm": TpmOption,
        "timeout_s": TimeoutOption,
        "response_format": ResponseFormatOption,
        "budget_usd": BudgetOption,
        "price": PriceOption,
        "unpriced": UnpricedOption,
        "batch": BatchOption,
        "keep_going": KeepGoingOption,
    }
)
# Settings of how calls are made, which may change when a run is resumed.
CALL_SETTINGS = ("concurrency", "rpm", "tpm", "timeout_s", "response_format", "budget_usd", "price", "unpriced", "batch", "keep_going")


def chosen_settings(options: Mapping[str, Any]) -> dict[str, Any]:
    """Return the *options* that were given on the command line, as settings of a run."""
    given = {name: value for name, value in options.items() if name in SETTINGS and value is not None and value != []}
    return given if given.pop("keep_going", None) is None else given | {"stop_after": 0}


def takes_settings(command: Callable[..., None], names: Iterable[str] = tuple(SETTINGS)) -> Callable[..., None]:
    """Wrap *command*, which takes settings as ``**options``, so that the signature Typer reads has an option for each of *names*."""
    hints = get_type_hints(command, include_extras=True)
    own = [parameter for parameter in inspect.signature(command).parameters.values() if parameter.kind is not parameter.VAR_KEYWORD]
    parameters = [parameter.replace(annotation=hints[parameter.name]) for parameter in own]
    parameters += [inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=None, annotation=SETTINGS[name]) for name in names]

    @wraps(command)
    def with_options(*given: Any, **options: Any) -> None:
        command(*given, **options)

    with_options.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
    vars(with_options)["__signature__"] = inspect.Signature(parameters)
    return with_options
