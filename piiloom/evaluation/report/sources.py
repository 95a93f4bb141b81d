"""Read the records for a report from a store, a release, or any published JSONL file, and what a store knows beside the records.

A file is read as ``piiloom import`` reads it: invalid rows are left out and counted by reason.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from piiloom.corpus.formats.base import Json, ReadableFormat, ReadOptions, ReadTally, RowReject, fault_kinds
from piiloom.corpus.formats.native_rows import RowFault, numbered_lines, parse_object
from piiloom.corpus.formats.registry import get_readable_format
from piiloom.corpus.record import Record
from piiloom.corpus.releases.manifest import types_beside
from piiloom.corpus.store.annotation_events import last_decisions, unreleasable_records
from piiloom.corpus.store.costs import ReplyCosts, reply_costs
from piiloom.corpus.store.database import Store
from piiloom.corpus.store.judgements import JudgedCount, JudgementRow, judged_among, judgements_of
from piiloom.corpus.store.opening import Sight, open_to_read
from piiloom.corpus.store.records import iter_records
from piiloom.corpus.store.releases import ReleaseRow, count_members, get_release, iter_release_records, types_of, withheld_of
from piiloom.corpus.store.runs import RunRow, count_reasons, get_run, records_by_origin
from piiloom.foundation.errors import DataError, ReleaseError, StoreError
from piiloom.foundation.seeding import derive_rng
from piiloom.taxonomy.entity_types import Taxonomy
from piiloom.taxonomy.own_types import OwnTypes, extended

SHOWN = 30
SEARCHED = 300


Sampled = tuple[Record, str]  # a record and its split
# The number of records that two or more people have finished, and rows (name, value, low, high, over); None without such records.
MeasuredAgreement = tuple[int, Sequence[tuple[str, float, float | None, float | None, int]]]
MeasureAgreement = Callable[[Store, Collection[str]], MeasuredAgreement | None]
ALL = "all"
Tell = Callable[[Sight, Store], None]
# The locale under which rows without a locale are counted.
NO_LOCALE = "not stated"


@dataclass(frozen=True, slots=True, kw_only=True)
class Samples:
    """Families in seeded order: the records of one text with several questions, or a single record.

    ``searched`` holds up to ``SEARCHED`` records, ``shown`` is its beginning, of up to ``SHOWN`` records.
    """

    shown: tuple[tuple[Sampled, ...], ...]
    searched: tuple[tuple[Sampled, ...], ...]

    def shown_ids(self) -> list[str]:
        """Return the ids of the records that are shown."""
        return [record.id for family in self.shown for record, _ in family]


def draw_samples(splits: Mapping[str, Sequence[Record]], *, seed: int) -> Samples:
    """Draw from the records of all *splits*; the draw does not depend on their order within a split."""
    families: dict[tuple[str, ...], list[Sampled]] = {}
    for split, records in splits.items():
        for record in records:
            group = record.contrast_group
            key = ("record", split, record.id) if group is None else ("text", group, record.context)
            families.setdefault(key, []).append((record, split))
    ordered = [sorted(families[key], key=lambda each: each[0].id) for key in sorted(families)]
    derive_rng(seed, "page").shuffle(ordered)
    return Samples(shown=_first(ordered, SHOWN), searched=_first(ordered, SEARCHED))


def _first(families: Sequence[Sequence[Sampled]], limit: int) -> tuple[tuple[Sampled, ...], ...]:
    """Return the first whole families with up to *limit* records in total; a first one that is larger is cut."""
    taken: list[tuple[Sampled, ...]] = []
    left = limit
    for family in families:
        if len(family) > left and taken:
            break
        taken.append(tuple(family[:left]))
        left -= len(taken[-1])
    return tuple(taken)


@dataclass(frozen=True, slots=True, kw_only=True)
class StatedRelease:
    """What is stated about a release; None where nothing is.

    ``settings``: how it was made (seed, sizes …). ``filters``: which records were taken. ``leakage``: figures by split.
    ``withheld``: numbers of records left out, by reason.
    """

    name: str
    version: str | None = None
    license: str | None = None
    content_sha256: str | None = None
    notes: str | None = None
    settings: Mapping[str, Any] = field(default_factory=dict)
    filters: Mapping[str, Any] = field(default_factory=dict)
    leakage: Mapping[str, Any] | None = None
    withheld: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class RunFacts:
    """A run that made some of the records. ``records``: how many of them. ``rejects``: counts of the run by stage and reason."""

    row: RunRow
    records: int
    rejects: Mapping[str, Mapping[str, int]]
    costs: tuple[ReplyCosts, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Background:
    """All that the store knows. ``decisions``: records by what people decided. ``reasons``: judgements on the shown records, by id."""

    release: StatedRelease | None = None
    runs: tuple[RunFacts, ...] = ()
    imported: int = 0
    judged: tuple[JudgedCount, ...] = ()
    decisions: Mapping[str, int] = field(default_factory=dict)
    reasons: Mapping[str, tuple[JudgementRow, ...]] = field(default_factory=dict)
    agreement: MeasuredAgreement | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """How to read the background: *seed* draws the shown records; *agreement* measures it (a room above this one does)."""

    seed: int
    agreement: MeasureAgreement


def release_facts(store: Store, row: ReleaseRow) -> StatedRelease:
    """Return what *store* states about a release."""
    withheld = Counter(reason for _, reason in withheld_of(store, row))
    return StatedRelease(
        name=row.name,
        version=row.version,
        license=row.license,
        content_sha256=row.content_sha256,
        notes="\n".join(row.notes) or None,
        settings=row.split_settings or {"seed": row.seed, "test_size": row.test_size},
        filters=row.record_choice or {"status": row.status_filter, "run_id": row.run_id},
        leakage=row.leakage,
        withheld=dict(sorted(withheld.items())),
    )


def read_background(store: Store, splits: Mapping[str, list[Record]], wanted: Wanted, release: ReleaseRow | None = None) -> Background:
    """Read what *store* knows about the records of *splits*."""
    ids = {record.id for records in splits.values() for record in records}
    origins = records_by_origin(store, ids)
    decisions = Counter(str(outcome) for record_id, outcome in last_decisions(store).items() if record_id in ids)
    return Background(
        release=None if release is None else release_facts(store, release),
        runs=tuple(_run_facts(store, run_id, records) for run_id, records in origins.items() if run_id is not None),
        imported=origins.get(None, 0),
        judged=tuple(judged_among(store, ids)),
        decisions=dict(sorted(decisions.items())),
        reasons=judgements_of(store, draw_samples(splits, seed=wanted.seed).shown_ids()),
        agreement=wanted.agreement(store, ids),
    )


def _run_facts(store: Store, run_id: str, records: int) -> RunFacts:
    costs = tuple(reply_costs(store, run_id))
    return RunFacts(row=get_run(store, run_id), records=records, rejects=count_reasons(store, run_id), costs=costs)


@dataclass(frozen=True, slots=True, kw_only=True)
class FileReading:
    """Statistics of reading a file.

    ``values`` = ``exact`` + ``inside_word`` + ``missing``; ``ambiguous`` counts the exact ones with more than one occurrence.
    ``overlapping`` counts mentions left out in favor of a longer one. ``reasons``: why rows were refused, without positions.
    """

    rows: int
    refused: int
    reasons: dict[str, int]
    values: int
    exact: int
    ambiguous: int
    inside_word: int
    missing: int
    overlapping: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ReportSource:
    """Where the records came from: the bare file name, and the release or run in it. ``reading`` is set for a JSONL file only.

    ``left_out`` counts the records of a store that were rejected in annotation, or reopened and not decided again. ``stand_ins`` are rules
    in the place of models that found spans of the file.
    """

    file: str
    release: str | None = None
    run: str | None = None
    format: str | None = None
    reading: FileReading | None = None
    left_out: int = 0
    stand_ins: tuple[str, ...] = ()

    def title(self) -> str:
        """Return a short description of the source."""
        if self.release is not None:
            return f"release {self.release} of {self.file}"
        without = f", without {self.left_out:,} record{'s' * (self.left_out != 1)} rejected or reopened" if self.left_out else ""
        rules = f", spans by {', '.join(self.stand_ins)}, a rule in the place of a model" if self.stand_ins else ""
        return f"run {self.run} of {self.file}{without}" if self.run is not None else f"{self.file}{without}{rules}"

    def to_json(self) -> Json:
        """Return the fields as JSON values."""
        return asdict(self)


@dataclass(frozen=True, slots=True, kw_only=True)
class Corpus:
    """Records by split (a single split ``ALL`` if there are none). There is at least one record.

    ``background`` is what the store knows about them, if it was asked for it.
    """

    source: ReportSource
    splits: dict[str, list[Record]]
    types: OwnTypes = ()  # the user-defined types of the source
    background: Background = field(default_factory=Background)

    @property
    def taxonomy(self) -> Taxonomy:
        """The types that ship and those of the source."""
        return extended(self.types)


def corpus_of_store(path: Path, *, run: str | None = None, tell: Tell | None = None, wanted: Wanted | None = None) -> Corpus:
    """Return the records of a run (``"last"`` works), or of all runs and imports: the latest revisions that a release would take.

    *tell* is called with what is read if another process is writing the store (see ``piiloom.corpus.store.opening``). With *wanted*,
    the background is read, too. Raises ``StoreError`` if there are no records.
    """
    with open_to_read(path, tell=tell) as store:
        run_id = None if run is None else get_run(store, run).id
        unwanted = unreleasable_records(store)
        found = latest_revisions(iter_records(store, run_id=run_id))
        own = types_of(store)
        records = [record for record in found if record.id not in unwanted]
        if not records:
            where = str(path) if run_id is None else f"{path}, run {run_id}"
            raise StoreError("there are no records to report on", where=where, remedy="Generate or import some first")
        splits = {ALL: records}
        background = Background() if wanted is None else read_background(store, splits, wanted)
    source = ReportSource(file=path.name, run=run_id, left_out=len(found) - len(records))
    return Corpus(source=source, splits=splits, types=own, background=background)


def corpus_of_release(path: Path, name: str, *, tell: Tell | None = None, wanted: Wanted | None = None) -> Corpus:
    """Return the records of a release by split; with *wanted*, the background, too. Raises ``ReleaseError`` if it is unknown or empty."""
    with open_to_read(path, tell=tell) as store:
        row = get_release(store, name)
        splits = {split: list(iter_release_records(store, row, split)) for split in count_members(store, row)}
        own = types_of(store)
        if not splits:
            raise ReleaseError(f"the release {name!r} has no records", where=str(path), remedy="Name another")
        background = Background() if wanted is None else read_background(store, splits, wanted, row)
    source = ReportSource(file=path.name, release=row.name, run=row.run_id)
    return Corpus(source=source, splits=splits, types=own, background=background)


def corpus_of_file(path: Path, format_name: str | None = None, types: OwnTypes | None = None) -> Corpus:
    """Return the records of a file in a readable format; without *format_name* it is native or CAPID, as the first row decides.

    *types*: user-defined types; None means those defined by the export that the file belongs to, if any. Raises ``DataError`` if the
    file cannot be read or no row is a valid record.
    """
    file_format = get_readable_format(format_name) if format_name is not None else native_or_capid(path)
    tally = ReadTally()
    records: list[Record] = []
    rejects: list[RowReject] = []
    own = types_beside(path) if types is None else types
    options = ReadOptions(taxonomy=extended(own), locale=NO_LOCALE, blank_contexts=True)
    for row in file_format.read(path, options, tally):
        if isinstance(row, RowReject):
            rejects.append(row)
        else:
            records.append(row)
    if not records:
        first = f"; line {rejects[0].line}: {rejects[0].reason}" if rejects else ""
        remedy = f"It was read as {file_format.name}; name another format with --input-format, or correct the rows"
        raise DataError(f"none of {len(rejects)} rows is a record{first}", where=str(path), remedy=remedy)
    reading, stand_ins = _reading(tally, rejects), tuple(sorted(tally.stand_ins))
    source = ReportSource(file=path.name, format=file_format.name, reading=reading, stand_ins=stand_ins)
    return Corpus(source=source, splits={ALL: records}, types=own)


def latest_revisions(records: Iterable[Record]) -> list[Record]:
    """Keep the latest revision of each record (the first of equal ones), in order of first appearance."""
    latest: dict[str, Record] = {}
    for record in records:
        known = latest.get(record.id)
        if known is None or record.revision > known.revision:
            latest[record.id] = record
    return list(latest.values())


def native_or_capid(path: Path) -> ReadableFormat:
    """Return the format of a file whose format is not named: native or CAPID, as its first row decides."""
    row = first_object(path)
    return get_readable_format("capid" if "piis" in row and "spans" not in row else "native")


def first_object(path: Path) -> Json:
    """Return the first row of *path*, without keys if it is no object or there is none. Raises ``DataError`` if the file cannot be read."""
    with suppress(RowFault):
        return next((parse_object(line) for _, line in numbered_lines(path)), {})
    return {}


def _reading(tally: ReadTally, rejects: list[RowReject]) -> FileReading:
    # A reason looks like 'piis["flu"]: is not in the context; piis["34F"]: …'. Count each kind of fault once per row, without texts.
    reasons = Counter(kind for reject in rejects for kind in set(fault_kinds(reject.reason)))
    return FileReading(
        rows=tally.rows,
        refused=len(rejects),
        reasons=dict(sorted(reasons.items(), key=lambda item: (-item[1], item[0]))),
        values=tally.values,
        exact=tally.exact,
        ambiguous=tally.ambiguous,
        inside_word=tally.inside_word,
        missing=tally.missing,
        overlapping=len(tally.overlapping),
    )
