"""Parse the outbox that a browser sends: all its operations that have not been acknowledged yet."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass

from piiloom.foundation.errors import UsageError

# Limits that our editor never exceeds: JavaScript's exact integers, the length of ids, and a pasted text of about 100,000 words
# (in characters of JSON).
_LARGEST_NUMBER = 2**53
_LONGEST_NAME = 200
_LONGEST_OPERATION = 4_000_000


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


def parse_outbox(value: object) -> list[Sent]:
    """Parse ``{"client", "operations": [{"sequence", "record", "base", "operation"}]}``.

    Raises ``UsageError`` for anything that our editor never sends. The operations themselves are validated when they are applied.
    """
    try:
        if not isinstance(value, Mapping) or not isinstance(value["operations"], list):
            raise _not_ours()
        return [
            Sent(
                client=_name(value["client"]),
                sequence=_number(item["sequence"]),
                record_id=_name(item["record"]),
                base=_number(item["base"]),
                operation=_operation(item["operation"]),
            )
            for item in value["operations"]
        ]
    except (KeyError, TypeError) as error:
        raise _not_ours() from error


def _name(item: object) -> str:
    if not isinstance(item, str) or not 0 < len(item) <= _LONGEST_NAME or any("\ud800" <= character <= "\udfff" for character in item):
        raise _not_ours()
    return item


def _number(item: object) -> int:
    if not isinstance(item, int) or isinstance(item, bool) or not 0 <= item < _LARGEST_NUMBER:
        raise _not_ours()
    return item


def _operation(item: object) -> object:
    try:
        if len(json.dumps(item, allow_nan=False)) > _LONGEST_OPERATION:
            raise _not_ours()
    except (RecursionError, ValueError) as error:
        raise _not_ours() from error
    return item


def _not_ours() -> UsageError:
    return UsageError("the browser sent something that the editor never sends", remedy="Reload the page")
