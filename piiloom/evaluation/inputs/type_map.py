"""The types that are compared: renamed by ``--label-map``, and restricted by ``--only-types``.

A map is a YAML file with a line for each type: ``PERSON: NAME_STUDENT`` renames, ``TITLE: null`` leaves out. It applies once, to both
sides: the new name of a type is not mapped again.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from pathlib import Path

from piiloom.evaluation.inputs.summary import InputsSummary, SideSummary
from piiloom.foundation.errors import ConfigError, DataError
from piiloom.foundation.yaml_files import key_name, read_document
from piiloom.taxonomy.entity_types import Taxonomy, bare_spelling, shipped_taxonomy
from piiloom.taxonomy.label_maps import label_key, label_map, shipped_label_maps
from piiloom.taxonomy.own_types import UNTYPED

TypeMap = Mapping[str, str | None]

# As many mentions of either side are hardly all wrong, unless they name types differently.
_ENOUGH = 20


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
