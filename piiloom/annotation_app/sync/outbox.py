"""Parse the outbox that a browser sends: all its operations that have not been acknowledged yet."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Annotated, Any

from pydantic import AfterValidator, Field, StrictInt, TypeAdapter, ValidationError

from piiloom.annotation_app.documents.operations import Name
from piiloom.foundation.errors import UsageError

# A pasted text of about 100,000 words (in characters of JSON): more than our editor ever sends.
_LONGEST_OPERATION = 4_000_000


def _is_short(operation: Any) -> Any:
    try:
        if len(json.dumps(operation, allow_nan=False)) > _LONGEST_OPERATION:
            raise ValueError("too long")
    except (RecursionError, TypeError) as error:
        raise ValueError("no JSON") from error
    return operation


ShortName = Annotated[Name, Field(max_length=200)]
Number = Annotated[StrictInt, Field(ge=0, lt=2**53)]  # JavaScript's exact integers


@dataclass(frozen=True, slots=True, kw_only=True)
class _Numbered:
    sequence: Number
    record: ShortName
    base: Number
    operation: Annotated[Any, AfterValidator(_is_short)]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Outbox:
    client: ShortName
    operations: list[_Numbered]


@dataclass(frozen=True, slots=True, kw_only=True)
class Sent:
    """One operation as sent by a client (one tab of one browser).

    ``sequence`` numbers all operations that the client ever sent. ``base`` is the document version that the operation was made
    on; the client counts its own earlier operations as applied. ``operation`` is JSON that has not been validated yet.
    """

    client: str
    sequence: int
    record_id: str
    base: int
    operation: object


_OUTBOX = TypeAdapter(_Outbox)


def parse_outbox(value: object) -> list[Sent]:
    """Parse ``{"client", "operations": [{"sequence", "record", "base", "operation"}]}``; other keys are ignored.

    Raises ``UsageError`` for anything that our editor never sends. The operations themselves are validated when they are applied.
    """
    try:
        found = _OUTBOX.validate_python(value)
    except ValidationError as error:
        raise UsageError("the browser sent something that the editor never sends", remedy="Reload the page") from error
    return [
        Sent(client=found.client, sequence=one.sequence, record_id=one.record, base=one.base, operation=one.operation)
        for one in found.operations
    ]
