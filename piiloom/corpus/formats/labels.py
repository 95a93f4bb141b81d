"""Types of labels: the label map of an import first, then the names and aliases of the taxonomy."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from piiloom.corpus.formats.base import Json, ReadOptions, ReadTally
from piiloom.taxonomy.entity_types import Taxonomy

UNKNOWN_TYPE = "not one of the known types"


@dataclass(frozen=True, slots=True)
class Label:
    """A type and, if the label map names one, its subtype."""

    entity_type: str
    subtype: str | None = None


class Labels:
    """Resolves the labels of one file, and counts in *tally* those that were mapped, left out or not known."""

    def __init__(self, options: ReadOptions, tally: ReadTally) -> None:
        self._map, self._taxonomy = options.label_map, options.taxonomy
        self._tally = tally
        self._found: dict[str, Label | None] = {}

    def is_left_out(self, raw: str) -> bool:
        """Whether the label map says that *raw* is no personal information; each call with such a label is counted."""
        if raw in self._map and self._map[raw] is None:
            self._tally.unmapped_labels[raw] += 1
            return True
        return False

    def resolve(self, raw: str) -> Label | None:
        """Return the type of the label *raw*, or None if it has none, which is counted."""
        if raw not in self._found:
            self._found[raw] = self._resolved(raw)
        label = self._found[raw]
        if label is None:
            self._tally.unknown_types[raw] += 1
        return label

    def _resolved(self, raw: str) -> Label | None:
        name, _, subtype = (self._map.get(raw) or raw).partition("/")
        resolved = self._taxonomy.resolve(name)
        if resolved is None:
            return None
        if resolved != raw:
            self._tally.mapped_types[raw] = f"{resolved}/{subtype}" if subtype else resolved
        return Label(resolved, subtype or None)


def types_of_release(about: Json, taxonomy: Taxonomy) -> list[str]:
    """Return all types of *taxonomy*, then those that only the release described by *about* (``release.json``) has."""
    splits = about.get("splits")
    counts = [split.get("types", {}) for split in splits.values()] if isinstance(splits, dict) else []
    return types_and((name for types in counts for name in types), taxonomy)


def types_and(others: Iterable[str], taxonomy: Taxonomy) -> list[str]:
    """Return all types of *taxonomy*, then *others* by name."""
    known = list(taxonomy.types)
    return [*known, *sorted(set(others).difference(known))]
