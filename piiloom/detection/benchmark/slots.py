"""The slots of carrier texts.

``{pl_pesel}`` is a labeled value of that entity, ``{person_name@1}`` the same person wherever the 1 stands, ``{person_name@f}`` and
``{person_name@1m}`` a woman and a man, where the text says so. ``{=date}`` is no personal information, ``{!order_number}`` a look-alike
that must not be found, ``{!bad:pl_pesel}`` that id with a fault. ``{=product@1}`` is the same one wherever it stands; an index from 50 on
holds within one entry of a growing document. ``{iban:FI}`` begins with these letters. ``{{`` and ``}}`` are braces.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from typing import Final, Literal

from piiloom.foundation.errors import ConfigError

_TOKEN: Final = re.compile(r"\{\{|\}\}|\{([^{}]*)\}|[{}]")
_SLOT: Final = re.compile(r"(=|!bad:|!|)([a-z][a-z0-9_]*)(?::([A-Z]{2}))?(?:@(\d{0,2})([fm]?))?")

OF_ONE_ENTRY: Final = 50  # slots with this index or a higher one tell of somebody else in the next entry

_GENDERS: Final[dict[str, Literal["female", "male"]]] = {"f": "female", "m": "male"}
SlotKind = Literal["value", "plain", "look-alike", "bad"]
_KINDS: Final[dict[str, SlotKind]] = {"": "value", "=": "plain", "!": "look-alike", "!bad:": "bad"}


@dataclass(frozen=True, slots=True)
class CarrierSlot:
    """A place for a value. ``name`` is the id of an entity or of a drawer. Slots with the same ``index`` tell of one value or person."""

    kind: SlotKind
    name: str
    index: int | None = None
    gender: Literal["female", "male"] | None = None
    begins: str = ""


CarrierPart = str | CarrierSlot


@lru_cache(maxsize=8192)
def parse_carrier(text: str) -> tuple[CarrierPart, ...]:
    """Split *text* into literal text and slots. Raises ``ConfigError`` that names a malformed slot."""
    parts: list[CarrierPart] = []
    literal, at = "", 0
    for found in _TOKEN.finditer(text):
        literal += text[at : found.start()]
        at = found.end()
        token = found[0]
        if token in ("{{", "}}"):
            literal += token[0]
            continue
        slot = _SLOT.fullmatch(found[1] or "")
        if slot is None:
            raise ConfigError(f"{token!r} is no slot", remedy="Write {entity_id}, {=date}, {!order_number}, {!bad:id}, or {{ for a brace")
        parts += [literal] if literal else []
        literal = ""
        index, gender = int(slot[4]) if slot[4] else None, _GENDERS[slot[5]] if slot[5] else None
        parts.append(CarrierSlot(_KINDS[slot[1]], slot[2], index, gender, slot[3] or ""))
    literal += text[at:]
    return tuple([*parts, literal] if literal else parts)
