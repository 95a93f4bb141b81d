"""Types of labels: the label map of an import first, then the names and aliases of the taxonomy."""

from __future__ import annotations

from dataclasses import dataclass

from piiloom.corpus.formats.base import ReadOptions, ReadTally
from piiloom.taxonomy.entity_types import load_taxonomy


@dataclass(frozen=True, slots=True)
class Label:
    """A type and, if the label map names one, its subtype."""

    entity_type: str
    subtype: str | None = None


class Labels:
    """Resolves the labels of one file, and counts in *tally* those that were mapped, left out or not known."""

    def __init__(self, options: ReadOptions, tally: ReadTally) -> None:
        self._map = options.label_map
        self._tally = tally

    def is_left_out(self, raw: str) -> bool:
        """Whether the label map says that *raw* is no personal information; each call with such a label is counted."""
        if raw in self._map and self._map[raw] is None:
            self._tally.unmapped_labels[raw] += 1
            return True
        return False

    def resolve(self, raw: str) -> Label | None:
        """Return the type of the label *raw*, or None if it has none, which is counted."""
        name, _, subtype = (self._map.get(raw) or raw).partition("/")
        resolved = load_taxonomy().resolve(name)
        if resolved is None:
            self._tally.unknown_types[raw] += 1
            return None
        if resolved != raw:
            self._tally.mapped_types[raw] = f"{resolved}/{subtype}" if subtype else resolved
        return Label(resolved, subtype or None)
