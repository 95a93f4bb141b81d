"""Ask a model the questions of the three phases."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final, NamedTuple, TypeVar

from piiloom.corpus.mention_search import Range
from piiloom.detection.asking.asker import ModelAsker
from piiloom.detection.findings import SetAside
from piiloom.detection.hybrid.asked_types import AskedTypes, prompt_entity
from piiloom.detection.hybrid.by_model.claims import candidates_of, read_claims
from piiloom.detection.hybrid.candidates import EntityCandidate
from piiloom.detection.hybrid.places import Ambiguity
from piiloom.detection.hybrid.short_numbers import NumberCheck
from piiloom.execution.calls import Fault, Lost
from piiloom.providers.protocol import JsonSchema, SamplingSettings

ZERO_SHOT: Final = "detect_zero_shot"
RESOLUTION: Final = "detect_resolution"
VERIFICATION: Final = "detect_verification"
TEMPLATES: Final = (ZERO_SHOT, RESOLUTION, VERIFICATION)  # each is the name of a template, of its schema, and of the stage in the journal
_LEAST_TOKENS: Final = 512
_SHORT_REPLY: Final = SamplingSettings(max_output_tokens=64)

R = TypeVar("R")


def _closed(required: list[str], **properties: JsonSchema) -> JsonSchema:
    return {"type": "object", "properties": properties, "required": required, "additionalProperties": False}


_TEXT: Final = {"type": "string"}
_ENTRY: Final = _closed(["type", "text"], type=_TEXT, text=_TEXT, before=_TEXT)
_SCHEMAS: Final[Mapping[str, JsonSchema]] = {
    ZERO_SHOT: _closed(["found"], found={"type": "array", "items": _ENTRY}),
    RESOLUTION: _closed(["type"], type=_TEXT),
    VERIFICATION: _closed(["confirmed"], confirmed={"type": "boolean"}),
}


class Read(NamedTuple):
    """What came of a piece: candidates, and what is set aside."""

    candidates: list[EntityCandidate]
    set_aside: list[SetAside]


class ModelReader:
    """Asks by *asker*; each method returns ``Lost`` if no usable reply came. Raises errors that would hit every other request, too."""

    def __init__(self, asker: ModelAsker) -> None:
        self._asker = asker

    async def find(self, text: str, piece: Range, asked: AskedTypes, item_id: str) -> Read | Lost:
        """Phase I: what ``text[start:end]`` has."""
        start, end = piece
        variables = {
            "entities": [prompt_entity(one) for one in asked.entities.values()],
            "notes": asked.catalogue.notes or "",
            "locale": asked.catalogue.locale,
            "text": text[start:end],
        }

        def read(data: Any) -> Read:
            claims, unknown = read_claims(data, asked)
            candidates, missing = candidates_of(text, piece, claims)
            return Read(candidates, [*unknown, *missing])

        settings = SamplingSettings(max_output_tokens=_LEAST_TOKENS + end - start)
        return await self._ask(ZERO_SHOT, variables, f"{item_id} {start}", read, settings)

    async def resolve(self, question: Ambiguity, locale: str, item_id: str) -> str | Lost:
        """Phase II: the id of one of the options."""
        options = {one.entity.id: one.entity for one in question.options}
        variables = {
            "entities": [prompt_entity(one) for one in options.values()],
            "locale": locale,
            "before": question.before,
            "value": question.value,
            "after": question.after,
        }

        def read(data: Any) -> str:
            said = str(data["type"]).strip().strip("\"'`.").lower().replace(" ", "_").replace("-", "_")
            if said not in options:
                raise Fault("outside", f"the type is none of the possible kinds; they are {', '.join(options)}")
            return said

        return await self._ask(RESOLUTION, variables, f"{item_id} {question.place.best.start}", read, _SHORT_REPLY)

    async def verify(self, check: NumberCheck, locale: str, item_id: str) -> bool | Lost:
        """Phase III: whether a short number is what it is taken for."""
        variables = {
            "entity": prompt_entity(check.candidate.entity),
            "locale": locale,
            "before": check.before,
            "value": check.value,
            "after": check.after,
        }
        return await self._ask(
            VERIFICATION, variables, f"{item_id} {check.candidate.start}", lambda data: bool(data["confirmed"]), _SHORT_REPLY
        )

    async def _ask(
        self, name: str, variables: Mapping[str, Any], item_id: str, read: Callable[[Any], R], settings: SamplingSettings
    ) -> R | Lost:
        return await self._asker.ask(name, variables, item_id=item_id, read=read, schema=_SCHEMAS[name], settings=settings)
