"""The manifest of a release, ``release.json``: counts, producers, files, and values lost at import.

The manifest has no time, no path and no run id. So equal releases give equal bytes on every machine with the same version of piiloom.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path

from piiloom.corpus.formats.base import Json, LossEntry, LossReport
from piiloom.corpus.record import Record
from piiloom.corpus.store.judgements import JudgedCount
from piiloom.corpus.store.releases import ReleaseRow
from piiloom.foundation.errors import DataError
from piiloom.foundation.version import __version__
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
    labels: Counter[tuple[str, str]] = field(default_factory=Counter)  # (type, relevance or "none") of spans
    subtypes: Counter[str] = field(default_factory=Counter)  # "type/subtype" of spans with a subtype
    pairs: Counter[str] = field(default_factory=Counter)
    locales: Counter[str] = field(default_factory=Counter)
    producers: Counter[str] = field(default_factory=Counter)

    def counting(self, records: Iterable[Record]) -> Iterator[Record]:
        """Yield *records* unchanged and count them."""
        for record in records:
            self.records += 1
            self.spans += len(record.spans)
            self.labels.update([(span.entity_type, span.relevance or "none") for span in record.spans])
            self.subtypes.update([f"{span.entity_type}/{span.subtype}" for span in record.spans if span.subtype is not None])
            if record.plan is not None:
                self.pairs["+".join(record.plan.pair)] += 1
            self.locales[record.locale] += 1
            self.producers[producer_of(record)] += 1
            yield record

    @property
    def types(self) -> Counter[str]:
        """Spans by type."""
        return sum((Counter({name: count}) for (name, _), count in self.labels.items()), Counter())

    @property
    def relevance(self) -> Counter[str]:
        """Spans by relevance."""
        return sum((Counter({relevance: count}) for (_, relevance), count in self.labels.items()), Counter())

    @property
    def relevance_by_type(self) -> dict[str, dict[str, int]]:
        """Spans by type and relevance, with sorted keys."""
        found: dict[str, dict[str, int]] = {}
        for (name, relevance), count in sorted(self.labels.items()):
            found.setdefault(name, {})[relevance] = count
        return found

    def to_json(self) -> Json:
        """Return all counts but those of subtypes, with sorted keys: what ``release.json`` states of a split."""
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
            "relevance_by_type": self.relevance_by_type,
        }


def producer_of(record: Record) -> str:
    """Return how the record was made, as a phrase that follows a count: "12 written through …"."""
    made = record.provenance
    if made is not None and made.provider == "composer":
        return "composed by piiloom's composer (a template-based generator, no language model)"
    if made is not None and made.provider is not None:
        return f"written through {made.provider} by {made.model or 'an unnamed model'}"
    return "imported" if record.source is not None else "of unstated origin"


def described_release(counts: Mapping[str, SplitCounts]) -> str:
    """Return a paragraph that describes the release."""
    producers = sum((split.producers for split in counts.values()), Counter[str]())
    origin = ", ".join(f"{count} {words}" for words, count in sorted(producers.items()))
    return (
        "Contexts with the spans that disclose personal information and, where a question is asked, whether each span matters "
        f"for its answer (high) or not (low). Records: {origin}. Generated people and their data are invented."
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class ManifestFacts:
    """What a release is, besides its records.

    ``statuses``: number of records by the status of their revision. ``new_values``: number of mentions drawn anew. ``own_types``: the
    user-defined types of its store. ``suggested``: number of spans that annotators made of suggestions, by detector.
    """

    row: ReleaseRow
    splits: tuple[str, ...]
    withheld: Sequence[tuple[str, str]]
    statuses: Mapping[str, int]
    judged: Sequence[JudgedCount]
    new_values: int
    own_types: OwnTypes
    suggested: Mapping[str, int] = field(default_factory=dict)


def manifest(
    facts: ManifestFacts,
    format_name: str,
    *,
    counts: Mapping[str, SplitCounts],
    files: Sequence[ExportedFile],
    loss: LossReport,
) -> Json:
    """Return the content of ``release.json``, keys in fixed order. Own types are included only if a span has the type."""
    row = facts.row
    occurring = {name for split in counts.values() for name in split.types}
    told = [one for one in facts.own_types if one.name in occurring]
    about: Json = {
        "schema": SCHEMA,
        "name": row.name,
        "version": row.version,
        "content_sha256": row.content_sha256,
        "license": row.license,
        "format": format_name,
        "description": described_release(counts),
        "piiloom": __version__,
        "frozen_by": row.piiloom,
        "schema_version": row.schema_version,
        "seed": row.seed,
        "test_size": row.test_size,
        "status": row.status_filter,
        "settings": dict(row.split_settings),
        "filters": filters_json(row),
        "notes": list(row.notes),
        "new_values": facts.new_values,
        "statuses": dict(facts.statuses),
        "judged": [asdict(one) for one in facts.judged],
        "splits": {split: count.to_json() for split, count in counts.items()},
        "files": files_to_json(files),
        "withheld": [{"record": record_id, "reason": reason} for record_id, reason in facts.withheld],
        "loss": loss.to_json(),
    }
    if row.leakage is not None:
        about["leakage"] = dict(row.leakage)
    if facts.suggested:
        about["suggested"] = dict(facts.suggested)
    return about | {OWN_TYPES: to_json(tuple(told))} if told else about


def filters_json(row: ReleaseRow) -> Json:
    """Return the filters of a release and what each left out. A run is told without its id, which differs from store to store."""
    chosen = {name: value for name, value in row.record_choice.items() if name != "run_id"}
    return {**chosen, "one_run": row.run_id is not None, "left_out": dict(row.left_out)}


def read_manifest(path: Path) -> Json:
    """Read a ``release.json``. Raises ``DataError`` if it cannot be read, is damaged, or is of a version that is not known."""
    try:
        about: object = json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        remedy = "Give a folder that piiloom export wrote"
        raise DataError(f"the folder is not an export ({error.strerror})", where=str(path), remedy=remedy) from None
    except (ValueError, RecursionError):
        about = None
    if not isinstance(about, dict):
        raise DataError("the description of the export is damaged", where=str(path), remedy="Export the release again")
    if about.get("schema", SCHEMA) != SCHEMA:
        what = f"the description of the export has version {about['schema']!r}; this piiloom knows version {SCHEMA}"
        raise DataError(what, where=str(path), remedy="Upgrade piiloom, or export the release with this one")
    return about


def types_beside(file: Path) -> OwnTypes:
    """Return the user-defined types of the export to which *file* belongs; none if no ``release.json`` beside it lists *file*.

    Raises ``DataError`` if piiloom wrote that ``release.json`` in a version that is not known.
    """
    path = file.parent / MANIFEST
    try:
        about = json.loads(path.read_text(encoding="utf-8"))
        is_listed = file.name in about["files"]
        is_ours = isinstance(about.get("piiloom"), str) and isinstance(about.get("schema"), int)
    except (OSError, ValueError, RecursionError, KeyError, TypeError, AttributeError):
        return ()
    if not is_listed:
        return ()
    if is_ours:
        read_manifest(path)
    return from_json(about.get(OWN_TYPES, []))


# Prefix of the reason that the format's reader gave.
AT_IMPORT = "lost at import"


class ImportLosses:
    """Collects the losses of records that pass through ``watching``."""

    def __init__(self) -> None:
        self.entries: list[LossEntry] = []

    def watching(self, records: Iterable[Record]) -> Iterator[Record]:
        """Yield *records* unchanged and add their losses to ``entries``."""
        for record in records:
            for value in record.source.lost if record.source is not None else ():
                self.entries.append(LossEntry(record_id=record.id, value=value.text, reason=f"{AT_IMPORT}: {value.reason}"))
            yield record
