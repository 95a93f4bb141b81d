"""The settings of a run as typed keyword arguments, for type checkers and editors."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Literal, TypedDict

from piiloom.generation.settings.composer_settings import ComposerSettings
from piiloom.generation.settings.sampling import StageSampling


class RunOptions(TypedDict, total=False):
    """Settings of a run; ``piiloom.generation.settings.configuration.RunConfig`` has their defaults and checks.

    ``samples`` counts accepted records. ``pairs``: "all", or for example "health+occupation,age+belief". ``values``: who draws
    the PII values. ``budget_usd`` limits the whole run. ``price``: "input=0.5,output=1.5" (USD per million tokens).
    ``stop_after``: a paid run stops after this many rejects for one reason with nothing accepted in between (0: never). ``types``: a
    types file. ``sampling``: per-stage settings that override the run's temperature, top_p and extra_body, such as
    ``{"situation": {"temperature": 1.1}}``.
    """

    samples: int
    provider: str
    model: str | None
    base_url: str | None
    pairs: str
    locale: str
    seed: int
    concurrency: int
    topics_per_pair: int
    subtopics_per_topic: int
    values: Literal["code", "llm"]
    recipe: Literal["staged", "case", "story"]
    questions_per_text: int | None
    on_disagreement: Literal["redo", "reject", "relabel"] | None
    max_attempts: int
    max_low: int
    situation_words: tuple[int, int] | None
    peripheral_words: tuple[int, int] | None
    question_words: tuple[int, int]
    registers: Sequence[str]
    bank: str | Path | None
    composer: ComposerSettings | Mapping[str, Any]
    margin: float
    rpm: float | None
    tpm: float | None
    timeout_s: float
    budget_usd: float | None
    price: str | None
    unpriced: bool
    batch: bool
    response_format: Literal["auto", "json_schema", "json_object", "text"]
    stop_after: int
    judges: Sequence[Literal["relevance", "leak"]]
    judge_provider: str | None
    judge_model: str | None
    judge_base_url: str | None
    judge_price: str | None
    screen_model: str | Path | None
    screen_threshold: float | None
    on_unlisted: Literal["flag", "reject"] | None
    prompts: str | Path | None
    types: str | Path | Sequence[Mapping[str, Any]]
    temperature: float | None
    top_p: float | None
    extra_body: Mapping[str, Any] | None
    sampling: Mapping[str, StageSampling | Mapping[str, Any]]
