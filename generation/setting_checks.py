"""Settings of a run that do not go together are refused (``UsageError``), before anything is sent or stored."""

from __future__ import annotations

from typing import TYPE_CHECKING

from piiloom.foundation.errors import UsageError
from piiloom.generation.sampling import check_stages, check_taken

if TYPE_CHECKING:
    from piiloom.generation.configuration import RunConfig


def check_fit(config: RunConfig) -> None:
    """Refuse settings that the provider has no use for."""
    if config.provider != "composer" and (config.bank is not None or config.composer != type(config.composer)()):
        raise UsageError(f"{config.provider} composes from no bank", where="--bank", remedy="Leave bank and composer settings out")
    if config.provider != "composer" and config.recipe == "story":
        raise UsageError("stories are told by the composer", where="--recipe", remedy="Leave --recipe or --provider out")
    if config.provider == "composer" and config.recipe == "case":
        raise UsageError("the composer tells stories", where="--recipe", remedy="Take --recipe story, or name another --provider")
    if config.recipe == "staged" and config.questions_per_text is not None:
        raise UsageError("a text is asked one question", where="--questions-per-text", remedy="Leave it out, or take another --recipe")
    if config.provider == "composer" and config.judges:
        raise UsageError("the composer cannot judge", where="--judge", remedy="Judges need a model: name another --provider")
    if config.provider == "composer" and config.batch:
        raise UsageError("the composer has no batch API", where="--batch", remedy="Leave --batch out")
    if config.provider == "composer" and config.prompts is not None:
        raise UsageError("the composer reads no prompts", where="--prompts", remedy="Leave --prompts out, or name another --provider")
    if config.response_format != "auto" and config.provider != "compatible":
        remedy = "Leave --response-format out: what other providers take is known"
        raise UsageError("only a compatible server can be told a response format", where="--response-format", remedy=remedy)


def check_sampling(config: RunConfig) -> None:
    """Refuse sampling settings of stages that the run has not, and those that the model does not take."""
    judges = {f"judge_{name}": f"Add the judge {name}, or leave it out" for name in ("relevance", "leak") if name not in config.judges}
    values = {"values": "Have the model draw the values (values: llm), or leave it out"} if config.values == "code" else {}
    check_stages(config.sampling, judges | values)
    check_taken(config.provider, config.model, config.own_sampling(), config.sampling)
