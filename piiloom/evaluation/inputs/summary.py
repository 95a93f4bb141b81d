"""What was read on either side: counts that are filled while the pairs are iterated, for the report and its JSON."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import Literal

from piiloom.corpus.formats.base import Json

Pairing = Literal["id", "position"]


@dataclass(slots=True, kw_only=True)
class SideSummary:
    """Counts of one side.

    ``malformed`` are entries that are no annotation; ``without_place`` mentions whose text has no place, or not the stated one;
    ``skipped`` gold values without a place that ``--skip-values`` left out. ``left_out_by_map`` and ``left_out_by_types`` are
    annotations of types that the map leaves out, or that are not among those asked for. ``absent`` are documents that only the other
    side has (see ``entity_tables``). ``joined_texts`` are texts made of tokens, ``seams`` CAPID values that are marked inside a word.
    ``types`` counts mentions by type, as they are compared. ``left_out`` counts what the reader of the format does not read: further
    annotators, predictions, relations, other columns. ``relevances`` counts mentions of a CAPID file by the spelling of their
    relevance, where one that is not known is "other". ``stand_ins`` counts mentions by a rule that stands in for a model, by its name.
    ``rows_left_out`` are those of ``left_out`` that are whole rows.
    """

    file: str
    format: str
    documents: int = 0
    mentions: int = 0
    malformed: int = 0
    without_type: int = 0
    without_place: int = 0
    skipped: int = 0
    left_out_by_map: int = 0
    left_out_by_types: int = 0
    absent: int = 0
    joined_texts: int = 0
    seams: int = 0
    rows_left_out: int = 0
    types: Counter[str] = field(default_factory=Counter)
    left_out: Counter[str] = field(default_factory=Counter)
    relevances: Counter[str] = field(default_factory=Counter)
    stand_ins: Counter[str] = field(default_factory=Counter)

    @property
    def untyped(self) -> bool:
        """Whether there are mentions and none of them states a type."""
        return self.mentions > 0 and not self.types

    def notes(self) -> list[str]:
        """Return what was left out or differs from the rule, with counts."""
        counts = {
            "malformed": self.malformed,
            "without a type": self.without_type,
            "not in the text": self.without_place,
            "skipped": self.skipped,
            "left out by the map": self.left_out_by_map,
            "of other types": self.left_out_by_types,
            "documents without a row": self.absent,
            "texts joined from tokens": self.joined_texts,
            "mentions at seams of words": self.seams,
        }
        told = [f"{what} {count:,}" for what, count in counts.items() if count]
        told += [f"by {name}, a rule in the place of a model, {count:,}" for name, count in sorted(self.stand_ins.items())]
        return told + [f"not read: {what} {count:,}" for what, count in sorted(self.left_out.items())]

    def to_json(self) -> Json:
        """The fields as JSON values, types sorted by name; stand-ins only if there are any."""
        stand_ins = {"stand_ins": dict(sorted(self.stand_ins.items()))} if self.stand_ins else {}
        return {
            "file": self.file,
            "format": self.format,
            "documents": self.documents,
            "mentions": self.mentions,
            "malformed": self.malformed,
            "without_type": self.without_type,
            "without_place": self.without_place,
            "skipped": self.skipped,
            "left_out_by_map": self.left_out_by_map,
            "left_out_by_types": self.left_out_by_types,
            "absent": self.absent,
            "joined_texts": self.joined_texts,
            "seams": self.seams,
            "left_out": dict(sorted(self.left_out.items())),
            "types": dict(sorted(self.types.items())),
            "relevances": dict(sorted(self.relevances.items())),
            **stand_ins,
        }


@dataclass(slots=True, kw_only=True)
class InputsSummary:
    """Both sides; ``pairing`` says how documents were paired, ``unused_map_keys`` which keys of the map no file has."""

    gold: SideSummary
    found: SideSummary
    pairs: int = 0
    pairing: Pairing | None = None
    unused_map_keys: tuple[str, ...] = ()

    @property
    def types_only_in_gold(self) -> list[str]:
        """The types that only gold mentions have."""
        return sorted(self.gold.types.keys() - self.found.types.keys())

    @property
    def types_only_in_found(self) -> list[str]:
        """The types that only predicted mentions have."""
        return sorted(self.found.types.keys() - self.gold.types.keys())

    def to_json(self) -> Json:
        """The fields as JSON values."""
        return {
            "gold": self.gold.to_json(),
            "found": self.found.to_json(),
            "pairs": self.pairs,
            "pairing": self.pairing,
            "types_only_in_gold": self.types_only_in_gold,
            "types_only_in_found": self.types_only_in_found,
            "unused_map_keys": list(self.unused_map_keys),
        }
