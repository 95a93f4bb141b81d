"""Gather names from many lists: in which countries each occurs, how often, and the gender of its bearers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, Literal

from piiloom.pii_values.names.sensible import tidy

ListedKind = Literal["first", "last", "first_native", "last_native"]
LARGEST: Final[Mapping[ListedKind, int]] = {
    "first": 400,
    "last": 450,
    "first_native": 100,
    "last_native": 150,
}  # most names taken from one list


@dataclass(slots=True)
class NameEntry:
    """The data of one name. ``weights``: sum of list weights by country; ``female``, ``male``: sum of list weights by gender."""

    weights: dict[str, float] = field(default_factory=dict)
    ranks: dict[str, int] = field(default_factory=dict)
    female: float = 0.0
    male: float = 0.0
    both: bool = False

    def shares(self) -> dict[str, int]:
        """Return the share of each country in thousandths, sorted by country code."""
        total = sum(self.weights.values())
        return {country: round(1000 * self.weights[country] / total) for country in sorted(self.weights)}

    def genders(self) -> tuple[int | None, int | None]:
        """Return the (female, male) shares in thousandths; (None, None) if the name is for any gender or nothing is known."""
        total = self.female + self.male
        if self.both or not total:
            return None, None
        female = round(1000 * self.female / total)
        return female or None, (1000 - female) or None


class Gathered:
    """A collector of name lists, which are added one by one; names of a country's first list get the highest ranks."""

    def __init__(self) -> None:
        self._entries: dict[ListedKind, dict[str, NameEntry]] = {"first": {}, "last": {}, "first_native": {}, "last_native": {}}
        self._ranked: dict[tuple[ListedKind, str, str | None], int] = {}

    def add(
        self, kind: ListedKind, country: str, gender: str | None, names: Mapping[str, float], *, weight: float = 1.0, ranked: bool = True
    ) -> None:
        """Add one list. *names* has frequencies in any unit, used for ranking only; entries that are no valid names are left out.

        *weight*: how much being in this list adds to a name's weights.
        """
        latin = kind in {"first", "last"}
        kept: dict[str, float] = {}
        for raw, often in names.items():
            name = tidy(raw) if latin else raw
            if name is not None:
                kept[name] = kept.get(name, 0.0) + often
        chosen = _largest(kept, LARGEST[kind]) if ranked else kept.items()
        for name, _ in chosen:
            entry = self._entries[kind].setdefault(name, NameEntry())
            entry.weights[country] = max(weight, entry.weights.get(country, 0.0))
            entry.female += weight if gender == "female" else 0.0
            entry.male += weight if gender == "male" else 0.0
            entry.both |= gender is None
            if ranked and country not in entry.ranks:
                place = self._ranked.get((kind, country, gender), 0) + 1
                self._ranked[kind, country, gender] = place
                entry.ranks[country] = place

    def countries(self) -> list[str]:
        """Return all countries with names, in ascending order."""
        return sorted({country for entries in self._entries.values() for entry in entries.values() for country in entry.weights})

    def entries(self, kind: ListedKind) -> Mapping[str, NameEntry]:
        """Return the entries of one kind, by name."""
        return self._entries[kind]


def _largest(names: Mapping[str, float], limit: int) -> Sequence[tuple[str, float]]:
    """Return the *limit* most frequent names, most frequent first; of an (alphabetical) list without frequencies, evenly spaced ones."""
    ordered = sorted(names.items(), key=lambda item: -item[1])
    if len(ordered) > limit and ordered[0][1] == ordered[-1][1]:
        return [ordered[at * len(ordered) // limit] for at in range(limit)]
    return ordered[:limit]
