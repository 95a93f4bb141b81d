"""Sampling settings: temperature, top_p and extra request fields, for a whole run or for a single stage."""

from __future__ import annotations

import json
from collections.abc import Mapping
from types import MappingProxyType
from typing import Annotated, Any, Final

from pydantic import BeforeValidator

from piiloom.foundation.errors import UsageError
from piiloom.foundation.settings import Settings, setting
from piiloom.providers.prices import load_models
from piiloom.providers.protocol import SamplingSettings
from piiloom.providers.sampling import check_sampling

# The stages that ask a model: by recipe those that only this recipe has, and (ASKING_STAGES) all of them.
STAGES_OF: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        "staged": ("situation", "peripheral", "question", "paraphrase"),
        "case": ("sheet", "ledger", "post", "abstraction", "audit"),
    }
)
ASKING_STAGES = (
    *("topics", "subtopics", "values", *STAGES_OF["staged"], *STAGES_OF["case"]),
    *("spans", "judge_relevance", "judge_leak"),
)


def _parsed(given: Any) -> Any:
    """Parse JSON from the command line; return a value from a YAML file or from Python as it is."""
    if not isinstance(given, str):
        return given
    try:
        found = json.loads(given)
    except ValueError:
        found = None
    if not isinstance(found, dict):
        raise ValueError('needs a JSON object, as in {"top_k": 40}')  # noqa: TRY004 - pydantic reports ValueErrors only
    return found


SAMPLING: Final = "Sampling"


class StageSampling(Settings):
    """The sampling of a run or of one stage; each setting of a stage that is not None replaces the run's."""

    temperature: float | None = setting(
        None,
        "Sampling temperature, 0 to 2; the provider's default when not given.",
        panel=SAMPLING,
        counts="apart",
        ge=0,
        le=2,
        allow_inf_nan=False,
    )
    top_p: float | None = setting(
        None,
        "Share of the likeliest tokens that are sampled from.",
        panel=SAMPLING,
        counts="apart",
        advanced=True,
        gt=0,
        le=1,
        allow_inf_nan=False,
    )
    extra_body: Annotated[dict[str, Any] | None, BeforeValidator(_parsed)] = setting(
        None,
        "Further fields for every request: '{\"top_k\": 40}'. By stage: sampling in a run file.",
        metavar="JSON",
        panel=SAMPLING,
        counts="apart",
        advanced=True,
    )

    def over(self, other: StageSampling) -> StageSampling:
        """Return these settings, completed by those of *other*."""
        return StageSampling(**{**other.chosen(), **self.chosen()})

    def chosen(self) -> dict[str, Any]:
        """Return the settings that are not None."""
        return {name: getattr(self, name) for name in StageSampling.model_fields if getattr(self, name) is not None}

    def settings(self) -> SamplingSettings:
        """Return them in the form that providers take."""
        return SamplingSettings(temperature=self.temperature, top_p=self.top_p, extra_body=self.extra_body)


def check_stages(stages: Mapping[str, StageSampling], asked: Mapping[str, str]) -> None:
    """Raise ``UsageError`` if *stages* names a stage that asks no model. *asked*: stages that ask none in this run, with the remedy."""
    for name in stages:
        where = f"sampling.{name}"
        if name not in ASKING_STAGES:
            raise UsageError(f"{name!r} is not a stage that calls a model", where=where, remedy=f"Name one of {', '.join(ASKING_STAGES)}")
        if name in asked:
            raise UsageError(f"this run calls no model at the stage {name}", where=where, remedy=asked[name])


def check_taken(provider: str, model: str | None, everywhere: StageSampling, stages: Mapping[str, StageSampling]) -> None:
    """Raise ``UsageError`` if *provider* or its *model* (None: the default) does not accept the run's or a stage's sampling settings."""
    book = load_models()
    name = model or book.defaults.get(provider, "")
    for where, wish in {"": everywhere, **{f"sampling.{stage}": own.over(everywhere) for stage, own in stages.items()}}.items():
        if wish.chosen():
            check_sampling(provider, name, book.resolve(provider, name), wish.settings(), where=where)
