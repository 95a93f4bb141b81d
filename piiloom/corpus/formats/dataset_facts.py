"""The figures of a release that its dataset card and its Croissant description tell.

The source is the content of ``release.json``; keys that an older version lacks are unknown.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final

from piiloom.corpus.formats.base import Json
from piiloom.corpus.record import in_order

# How the phrases begin that ``releases.manifest.producer_of`` gives.
COMPOSED: Final = "composed by piiloom's composer"
WRITTEN: Final = "written through "
IMPORTED: Final = "imported"
UNSTATED: Final = "of unstated origin"


@dataclass(frozen=True)
class DatasetFacts:
    """The facts of one release. Counts are over all splits."""

    about: Mapping[str, Any]

    @cached_property
    def records(self) -> int:
        """The number of records."""
        return sum(part.get("records", 0) for part in self.splits.values())

    @cached_property
    def spans(self) -> int:
        """The number of spans."""
        return sum(part.get("spans", 0) for part in self.splits.values())

    @cached_property
    def types(self) -> Counter[str]:
        """The spans by type."""
        return self._counts("types")

    @cached_property
    def relevance(self) -> Counter[str]:
        """The spans by relevance: high, low, none."""
        return self._counts("relevance")

    @cached_property
    def pairs(self) -> Counter[str]:
        """The records by pair of types ("health+occupation"); imported ones have none."""
        return self._counts("pairs")

    @cached_property
    def locales(self) -> Counter[str]:
        """The records by locale."""
        return self._counts("locales")

    @cached_property
    def producers(self) -> Counter[str]:
        """The records by producer, a phrase that follows a count."""
        return self._counts("producers")

    def _counts(self, name: str) -> Counter[str]:
        return sum((Counter(part.get(name, {})) for part in self.splits.values()), Counter[str]())

    @property
    def name(self) -> str:
        """The name of the release."""
        return str(self.about.get("name") or "dataset")

    @property
    def version(self) -> str | None:
        """Its version, if one is stated."""
        return _text(self.about.get("version"))

    @property
    def license(self) -> str | None:
        """Its licence, if one is stated: an SPDX identifier or any text."""
        return _text(self.about.get("license"))

    @property
    def content_sha256(self) -> str | None:
        """The hash of its content, if one is stated."""
        return _text(self.about.get("content_sha256"))

    @property
    def splits(self) -> Mapping[str, Mapping[str, Any]]:
        """The counts of each split, in the order of splits."""
        splits = self.about.get("splits") or {}
        return {name: splits[name] for name in in_order(splits)}

    def files(self) -> dict[str, str]:
        """Return the file of each split, in the order of splits."""
        told: Mapping[str, Mapping[str, Any]] = self.about.get("files") or {}
        by_split = {str(entry["split"]): name for name, entry in told.items() if entry.get("split")}
        return {split: by_split[split] for split in in_order(by_split)}

    def languages(self) -> list[str]:
        """Return the language codes of the locales ("en" of "en_US"), sorted; locales of another form have none."""
        heads = {locale.replace("-", "_").partition("_")[0] for locale in self.locales}
        return sorted(head for head in heads if head.isascii() and head.isalpha() and head.islower() and 2 <= len(head) <= 3)

    def relevance_by_type(self) -> dict[str, Counter[str]]:
        """Return the counts of high, low and none by type; empty if the release does not state them."""
        found: dict[str, Counter[str]] = {}
        for part in self.splits.values():
            for name, counts in (part.get("relevance_by_type") or {}).items():
                found.setdefault(name, Counter()).update(counts)
        return found

    def made_by(self, beginning: str) -> int:
        """Return the number of records whose producer's phrase begins so (``COMPOSED``, ``WRITTEN`` …)."""
        return sum(count for phrase, count in self.producers.items() if phrase.startswith(beginning))

    def collection_types(self) -> list[str]:
        """Return the ways of collecting, by the words that the RAI vocabulary recommends."""
        made = self.made_by(COMPOSED) + self.made_by(WRITTEN)
        return (["Software Collection"] if made else []) + (["Secondary Data analysis"] if self.made_by(IMPORTED) else [])

    def leakage(self) -> dict[str, Mapping[str, Any]]:
        """Return the figures of each split that was compared with another; empty if none is stated."""
        told = self.about.get("leakage") or {}
        return {name: told[name] for name in in_order(told) if isinstance(told[name], dict)}


def settings_of(about: Json) -> dict[str, object]:
    """Return the settings that make the release again, flat, those that are not set left out."""
    told: dict[str, object] = {}
    for group in ("settings", "filters"):
        values = about.get(group)
        if isinstance(values, dict):
            told |= {name: value for name, value in values.items() if name != "left_out" and value not in (None, False, "", [], {})}
    for name in ("seed", "test_size", "status"):
        if name not in told and about.get(name) is not None:
            told[name] = about[name]
    return told


def _text(value: object) -> str | None:
    return str(value) if value not in (None, "") else None
