"""Terms of the calls of a run: the parts that all its calls have in common."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

from piiloom.execution.prompt_calls import prompt_call
from piiloom.foundation.seeding import keyed_seeds
from piiloom.prompts.compiling import PromptTemplate
from piiloom.prompts.library import open_library
from piiloom.providers.model_calls import ModelCalls
from piiloom.providers.protocol import PromptCall, SamplingSettings
from piiloom.surrogates.by_model.kinds import language_name, told_of
from piiloom.surrogates.by_model.value_requests import ValueRequest
from piiloom.surrogates.settings import Settings

STAGE: Final = "surrogate_value"
TEMPLATE: Final = "surrogate_value"
SCHEMA: Final = {"type": "object", "properties": {"value": {"type": "string"}}, "required": ["value"], "additionalProperties": False}
_SAMPLING: Final = SamplingSettings(max_output_tokens=256)


@dataclass(frozen=True, slots=True, kw_only=True)
class Terms:
    """Everything besides the request that determines a call: template, seed, language, country and number of attempts."""

    template: PromptTemplate
    seed: int
    language: str
    country: str
    attempts: int

    @classmethod
    def of(cls, options: ModelCalls, settings: Settings) -> Terms:
        """Build the terms of a run. Raises ``ConfigError`` if the template cannot be used."""
        template = open_library(options.prompts).find(TEMPLATE)
        seed = keyed_seeds(settings.key, "letters")[0]
        return cls(template=template, seed=seed, language=settings.language, country=settings.country, attempts=options.max_attempts)

    def call(self, request: ValueRequest, attempt: int, fault: str | None) -> PromptCall:
        """Return the call for one *attempt* (from 0); *fault* says what was wrong with the reply before.

        It contains nothing of the document except the request's sentence.
        """
        kind = told_of(request.kind)
        variables: dict[str, Any] = {
            "before": request.sentence.before,
            "gap": request.sentence.gap,
            "after": request.sentence.after,
            "means": kind.means,
            "digits": kind.digits,
            "language": language_name(self.language),
            "country": self.country,
            "letters": request.letters(self.seed, self.language),
        }
        return prompt_call(
            self.template,
            variables,
            stage=STAGE,
            schema_name=TEMPLATE,
            schema=SCHEMA,
            item_id=request.item_id,
            attempt=attempt,
            fault=fault,
            settings=_SAMPLING,
        )
