"""Ask a model one question, by a template."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from typing import Any, TypeVar

from piiloom.execution.calls import Calls, FailureLimit, Lost, ask_model
from piiloom.execution.prompt_calls import prompt_call
from piiloom.prompts.library import PromptLibrary
from piiloom.providers.protocol import JsonSchema, Message, PromptCall, SamplingSettings

R = TypeVar("R")


class ModelAsker:
    """Asks through *calls*, each question up to *attempts* times."""

    def __init__(self, calls: Calls, library: PromptLibrary, *, attempts: int, concurrency: int) -> None:
        self._calls, self._library, self._attempts = calls, library, attempts
        self._failure_limit = FailureLimit(calls, concurrency)

    async def ask(
        self,
        template: str,
        variables: Mapping[str, Any],
        *,
        item_id: str,
        read: Callable[[Any], R],
        schema: JsonSchema | None,
        settings: SamplingSettings,
        shown: tuple[Message, ...] = (),
        hopeless: Collection[str] = (),
    ) -> R | Lost:
        """Return what *read* makes of the reply, or ``Lost`` if no usable one came.

        *template* is the name of a template; in the journal it is that of the stage, too. *read* gets the JSON data of the reply, or its
        text if *schema* is None, and raises ``Fault`` for what is not usable. *shown* are messages that go between the instruction and
        the question: examples with their answers. After a reply that is *hopeless* ("truncated", say) nothing is asked again. Raises
        errors that would hit every other request, too.
        """

        def make(attempt: int, fault: str | None) -> PromptCall:
            return prompt_call(
                self._library.find(template),
                variables,
                stage=template,
                schema_name=template,
                schema=schema,
                item_id=item_id,
                attempt=attempt,
                fault=fault,
                settings=settings,
                shown=shown,
            )

        async def judged(data: Any, attempt: int) -> R:  # noqa: ARG001 - all attempts are judged alike
            return read(data)

        found = await ask_model(self._calls, make, judged, attempts=self._attempts, failure_limit=self._failure_limit, hopeless=hopeless)
        return found if isinstance(found, Lost) else found[0]
