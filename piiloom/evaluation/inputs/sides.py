"""One side of an evaluation: counts of what was read, values without a place in their text, and names of types.

A label map is a YAML file with a line for each type: ``PERSON: NAME_STUDENT`` renames, ``TITLE: null`` leaves out. It applies once, to
both sides: the new name of a type is not mapped again.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Literal

from piiloom.corpus.formats.base import Json
from piiloom.corpus.formats.native_rows import RowFault
from piiloom.foundation.errors import ConfigError, DataError
from piiloom.foundation.yaml_files import key_name, read_document
from piiloom.taxonomy.entity_types import Taxonomy, bare_spelling, shipped_taxonomy
from piiloom.taxonomy.label_maps import label_key, label_map, shipped_label_maps
from piiloom.taxonomy.own_types import UNTYPED

Pairing = Literal["id", "position"]
# What becomes of a value that has no place in its text, or not the stated one. In the gold it is an error, or left out with
# ``--skip-values``; in predictions it is kept as a mention without a place, which no scheme on offsets finds in the gold.
Handling = Literal["refuse", "leave out", "keep"]
TypeMap = Mapping[str, str | None]
# As many mentions of either side are hardly all wrong, unless they name types differently.
_ENOUGH = 20


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
    unplaced: Handling = "keep"
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

    def keep(self, fault: str) -> bool:
        """Return whether to keep a value without a place, and count it; raises ``RowFault`` with *fault* if it is refused."""
        if self.unplaced == "refuse":
            raise RowFault(f"{fault}; --skip-values leaves such values of the gold out")
        self.skipped += self.unplaced == "leave out"
        self.without_place += self.unplaced == "keep"
        return self.unplaced == "keep"

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
        told = {one.name: getattr(self, one.name) for one in fields(self) if one.name not in {"unplaced", "rows_left_out", "stand_ins"}}
        told |= {name: dict(sorted(told.pop(name).items())) for name in ("left_out", "types", "relevances")}
        return told | ({"stand_ins": dict(sorted(self.stand_ins.items()))} if self.stand_ins else {})


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


def read_type_map(name: str | Path) -> dict[str, str | None]:
    """Return the shipped label map *name*, without subtypes, or the map in the YAML file *name*, whose types are not restricted.

    Raises ``ConfigError`` (file, line, key) if a file is no map of texts to texts or null.
    """
    if str(name) in shipped_label_maps():
        return {label: target and target.partition("/")[0] for label, target in label_map(name, shipped_taxonomy()).items()}
    document = read_document(Path(name))
    if not isinstance(document.data, dict) or not document.data:
        raise ConfigError("is no map of types", where=document.where(), remedy="Write a line a type, such as: PERSON: NAME_STUDENT")
    found: dict[str, str | None] = {}
    for key, value in document.data.items():
        label = label_key(document, key)
        if value is not None and not (isinstance(value, str) and value):
            remedy = "Write a type (in quotes, if YAML reads it as something else), or null to leave such mentions out."
            raise ConfigError(f"{key_name([label])}: must be text or null", where=document.where([label]), remedy=remedy)
        found[label] = value
    return found


@dataclass(frozen=True, slots=True)
class TypeName:
    """The name of a type as it is compared; None if a mention has none."""

    name: str | None


class TypeNames:
    """The types of one side; counts what it leaves out in *summary*.

    ``of_taxonomy``: a type that differs from one of the taxonomy by case, blanks and punctuation only is spelled as there. The map has
    precedence: it may name either spelling.
    """

    def __init__(
        self, type_map: TypeMap, only: Collection[str] | None, summary: SideSummary, taxonomy: Taxonomy, *, of_taxonomy: bool = False
    ) -> None:
        self._map = type_map
        self._only, self.taxonomy = only, taxonomy
        self._summary = summary
        self._of_taxonomy = {bare_spelling(name): name for name in taxonomy.types} if of_taxonomy else {}
        self._names: dict[str, str | None] = {}
        self.used_keys: set[str] = set()

    def of(self, raw: str | None) -> TypeName | None:
        """Return the name for *raw*, a type as the file has it; None if its mentions are left out, each of which is counted."""
        name = raw
        if raw is not None:
            if raw not in self._names:
                self._names[raw] = self._renamed(raw)
            name = self._names[raw]
            if name is None:
                self._summary.left_out_by_map += 1
                return None
            if name == UNTYPED.name:
                name = None
        if self._only is not None and name not in self._only:
            self._summary.left_out_by_types += 1
            return None
        return TypeName(name)

    def _renamed(self, raw: str) -> str | None:
        spelled = self._of_taxonomy.get(bare_spelling(raw), raw)
        for key in (raw, spelled):
            if key in self._map:
                self.used_keys.add(key)
                return self._map[key]
        return spelled


def refuse_disjoint_types(summary: InputsSummary, taxonomy: Taxonomy) -> None:
    """Raise ``DataError``, naming the types of both sides, if they have none in common, so that they rather need a map.

    Not if either side has few mentions, or if all are types of *taxonomy*: then the prediction may just be wrong.
    """
    gold, found = summary.gold.types, summary.found.types
    few = min(gold.total(), found.total()) < _ENOUGH
    if few or gold.keys() & found.keys() or (gold.keys() | found.keys()) <= taxonomy.types.keys():
        return
    raise DataError(
        f"gold and prediction have no type in common: {_listed(gold)} in the gold, {_listed(found)} in the prediction",
        where=summary.found.file,
        remedy="Rename them with --label-map FILE (a YAML file with a line a type, such as PERSON: NAME)",
    )


def _listed(counts: Mapping[str, int]) -> str:
    return ", ".join(f"{name!r} {count:,}" for name, count in sorted(counts.items()))
