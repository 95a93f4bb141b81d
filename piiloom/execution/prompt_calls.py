"""The call that a prompt template makes with its variables."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from piiloom.prompts.library import PromptTemplate
from piiloom.providers.protocol import JsonSchema, Message, PromptCall, SamplingSettings


def prompt_call(
    template: PromptTemplate,
    variables: Mapping[str, Any],
    *,
    stage: str,
    schema_name: str,
    schema: JsonSchema | None,
    item_id: str,
    attempt: int,
    fault: str | None,
    settings: SamplingSettings,
    shown: tuple[Message, ...] = (),
) -> PromptCall:
    """Return the call for one *attempt* (from 0); *fault* tells the model what was wrong with its previous reply.

    *shown* goes between the instruction and the question: examples with their answers. *schema* is None for a plain text.

    The template is rendered when the messages are asked for: a reply that is known already needs none.
    """
    variables = {**variables, "fault": fault}

    def rendered() -> tuple[Message, ...]:
        prompt = template.render(variables)
        return (Message(role="system", content=prompt.system), *shown, Message(role="user", content=prompt.user))

    return PromptCall(
        stage=stage,
        template=template.id,
        variables=variables,
        render=rendered,
        schema_name=schema_name,
        schema=schema,
        item_id=item_id,
        attempt=attempt,
        settings=settings,
    )
