"""Settings of the composer that only ablation measurements change."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict, Field


class ComposerSettings(BaseModel):
    """What the composer leaves out, to measure what it adds (``benchmarks/ablation.py``); by default nothing.

    ``personas`` false: each value is of another person. ``distractors`` false: no hard negatives and no text without PII.
    ``scenarios_per_pair`` limits the bank, ``value_draws`` how many different draws of values there are.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    personas: bool = True
    distractors: bool = True
    scenarios_per_pair: int | None = Field(default=None, ge=1)
    value_draws: int | None = Field(default=None, ge=1)
