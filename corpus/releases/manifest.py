"""The content of ``release.json``: counts, producers, files and losses of a release.

It has no time, no path and no run id, so equal releases give equal bytes on every machine with the same version of piiloom.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from piiloom.corpus.formats.base import Json, LossReport
from piiloom.corpus.record import Record
from piiloom.corpus.store.releases import ReleaseRow
from piiloom.taxonomy.own_types import OwnTypes, from_json, to_json

SCHEMA = 1
MANIFEST = "release.json"
OWN_TYPES = "own_types"


@dataclass(frozen=True, slots=True, kw_only=True)
class ExportedFile:
    """One file or folder of an export; ``split`` is None if it is about the release as a whole."""

    name: str
    split: str | None
    records: int
    sha256: str


def files_to_json(files: Iterable[ExportedFile]) -> dict[str, Json]:
    """Return what ``release.json`` says about *files*, by name."""
    return {file.name: {"split": file.split, "records": file.records, "sha256": file.sha256} for file in files}


@dataclass(slots=True, kw_only=True)
class SplitCounts:
    """Counts of one split, updated while its records pass through ``counting``."""

    records: int = 0
    spans: int = 0
    types: Counter[str] = field(default_factory=Counter)
    relevance: Counter[str] = field(default_factory=Counter)
    relevance_by_type: dict[str, Counter[str]] = field(default_factory=dict)
    pairs: Counter[str] = field(default_factory=Counter)
    locales: Counter[str] = field(default_factory=Counter)
    producers: Counter[str] = field(default_factory=Counter)

    def counting(self, records: Iterable[Record]) -> Iterator[Record]:
        """Yield *records* unchanged and count them."""
        for record in records:
            self.records += 1
            self.spans += len(record.spans)
            self.types.update(span.entity_type for span in record.spans)
            self.relevance.update(span.relevance or "none" for span in record.spans)
            for span in record.spans:
                self.relevance_by_type.setdefault(span.entity_type, Counter())[span.relevance or "none"] += 1
            if record.plan is not None:
                self.pairs["+".join(record.plan.pair)] += 1
            self.locales[record.locale] += 1
            self.producers[producer_of(record)] += 1
            yield record

    def to_json(self) -> Json:
        """Return all counts, with sorted keys."""
        counters = {
            "types": self.types,
            "relevance": self.relevance,
            "pairs": self.pairs,
            "locales": self.locales,
            "producers": self.producers,
        }
        return {
            "records": self.records,
            "spans": self.spans,
            **{name: dict(sorted(count.items())) for name, count in counters.items()},
            "relevance_by_type": {name: dict(sorted(count.items())) for name, count in sorted(self.relevance_by_type.items())},
        }


def producer_of(record: Record) -> str:
    """Return how the record was made, as a phrase that follows a count: "12 written through …"."""
    made = record.provenance
    if made is not None and made.provider == "composer":
        return "composed by piiloom's composer (a template-based generator, no language model)"
    if made is not None and made.provider is not None:
        return f"written through {made.provider} by {made.model or 'an unnamed model'}"
    return "imported" if record.source is not None else "of unstated origin"


def describe(counts: Mapping[str, SplitCounts]) -> str:
    """Return a paragraph that describes the release."""
    producers = sum((split.producers for split in counts.values()), Counter[str]())
    origin = ", ".join(f"{count} {words}" for words, count in sorted(producers.items()))
    return (
        "Contexts with the spans that disclose personal information and, where a question is asked, whether each span matters "
        f"for its answer (high) or not (low). Records: {origin}. Generated people and their data are invented."
    )


def manifest(
    release: ReleaseRow,
    format_name: str,
    *,
    counts: Mapping[str, SplitCounts],
    files: Sequence[ExportedFile],
    withheld: Sequence[tuple[str, str]],
    loss: LossReport,
    own_types: OwnTypes = (),
) -> Json:
    """Return the content of ``release.json``, keys in fixed order. *own_types* are included only if a span has the type."""
    occurring = {name for split in counts.values() for name in split.types}
    told = [one for one in own_types if one.name in occurring]
    about: Json = {
        "schema": SCHEMA,
        "name": release.name,
        "format": format_name,
        "description": describe(counts),
        "piiloom": piiloom_version(),
        "seed": release.seed,
        "test_size": release.test_size,
        "status": release.status_filter,
        "splits": {split: count.to_json() for split, count in counts.items()},
        "files": files_to_json(files),
        "withheld": [{"record": record_id, "reason": reason} for record_id, reason in withheld],
        "loss": loss.to_json(),
    }
    return about | {OWN_TYPES: to_json(tuple(told))} if told else about


def types_beside(file: Path) -> OwnTypes:
    """Return the user-defined types of the export to which *file* belongs; none if no ``release.json`` beside it lists *file*."""
    try:
        about = json.loads((file.parent / MANIFEST).read_text(encoding="utf-8"))
        told = about.get(OWN_TYPES, []) if file.name in about["files"] else []
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return ()
    return from_json(told)


def piiloom_version() -> str:
    """Return the installed version, or "not installed" in a checkout without installation."""
    try:
        return version("piiloom")
    except PackageNotFoundError:
        return "not installed"
