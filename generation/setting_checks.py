"""Settings of a run that do not go together are refused (``UsageError``), before anything is sent or stored."""

from __future__ import annotations

from typing import TYPE_CHECKING

from piiloom.foundation.errors import UsageError
from piiloom.generation.sampling import STAGES_OF, check_stages, check_taken
from piiloom.providers.factory import KINDS as PAID_PROVIDERS

if TYPE_CHECKING:
    from piiloom.generation.configuration import RunConfig


def check_fit(config: RunConfig) -> None:
    """Refuse settings that the provider has no use for."""
    if config.provider != "composer" and (config.bank is not None or config.composer != type(config.composer)()):
        raise UsageError(f"{config.provider} composes from no bank", where="--bank", remedy="Leave bank and composer settings out")
    if config.provider != "composer" and config.recipe == "story":
        raise UsageError("stories are told by the composer", where="--recipe", remedy="Leave --recipe or --provider out")
    if config.provider == "composer" and config.recipe == "case":
        raise UsageError("the composer tells stories", where="--recipe", remedy="Leave --recipe out, or name a model with --provider")
    if config.recipe == "staged" and config.questions_per_text is not None:
        raise UsageError("a text is asked one question", where="--questions-per-text", remedy="Leave it out, or take another --recipe")
    if config.provider == "composer" and config.judges:
        raise UsageError("the composer cannot judge", where="--judge", remedy="Judges need a model: name another --provider")
    if config.recipe != "case" and config.on_disagreement is not None:
        raise UsageError("no label is judged so", where="--on-disagreement", remedy="Leave it out, or take --recipe case")
    _check_judge(config)
    if config.provider == "composer" and config.batch:
        raise UsageError("the composer has no batch API", where="--batch", remedy="Leave --batch out")
    if config.provider == "composer" and config.prompts is not None:
        raise UsageError("the composer reads no prompts", where="--prompts", remedy="Leave --prompts out, or name another --provider")
    if config.response_format != "auto" and config.provider != "compatible":
        remedy = "Leave --response-format out: what other providers take is known"
        raise UsageError("only a compatible server can be told a response format", where="--response-format", remedy=remedy)


def _check_judge(config: RunConfig) -> None:
    """Refuse a judge who would be asked nothing, or cannot be."""
    judge = config.of_judge()
    if judge is None:
        if config.judge_base_url is not None or config.judge_price is not None:
            where = "--judge-base-url" if config.judge_base_url is not None else "--judge-price"
            raise UsageError("the run has no judge of its own", where=where, remedy="Name one with --judge-provider or --judge-model")
        return
    if judge.provider not in PAID_PROVIDERS:
        where, remedy = "--judge-provider", f"Choose one of {', '.join(PAID_PROVIDERS)}"
        raise UsageError(f"{judge.provider!r} cannot judge", where=where, remedy=remedy)
    if config.recipe != "case" and not config.judges:
        raise UsageError("nothing is judged", where="--judge-provider", remedy="Add --judge relevance, or take --recipe case")
    if config.batch:
        raise UsageError("a batch goes to one provider", where="--batch", remedy="Leave it out, or the judge of its own")


def check_sampling(config: RunConfig) -> None:
    """Refuse sampling settings of stages that the run has not, and those that the model does not take."""
    judging = {"relevance", *config.judges} if config.recipe == "case" else set(config.judges)
    judges = {f"judge_{name}": f"Add the judge {name}, or leave it out" for name in ("relevance", "leak") if name not in judging}
    values = {"values": "Have the model draw the values (values: llm), or leave it out"} if config.values == "code" else {}
    recipe = "case" if config.recipe == "case" else "staged"
    other = {name: f"The recipe {recipe} has no such stage" for names in (STAGES_OF[r] for r in STAGES_OF if r != recipe) for name in names}
    check_stages(config.sampling, judges | values | other)
    check_taken(config.provider, config.model, config.own_sampling(), config.sampling)
