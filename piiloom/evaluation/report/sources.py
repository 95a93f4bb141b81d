"""Read the records for a report from a store, a release, or any published JSONL file.

A file is read as ``piiloom import`` reads it: invalid rows are left out and counted by reason.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass, field
from pathlib import Path

from piiloom.corpus.formats.base import Json, ReadableFormat, ReadOptions, ReadTally, RowReject, fault_kinds
from piiloom.corpus.formats.native_rows import RowFault, numbered_lines, parse_object
from piiloom.corpus.formats.registry import get_readable_format
from piiloom.corpus.record import Record
from piiloom.corpus.releases.manifest import types_beside
from piiloom.corpus.store.adjudications import unreleasable_records
from piiloom.corpus.store.database import Store
from piiloom.corpus.store.opening import Sight, open_to_read
from piiloom.corpus.store.records import iter_records
from piiloom.corpus.store.releases import count_members, get_release, iter_release_records, types_of
from piiloom.corpus.store.runs import get_run
from piiloom.evaluation.report.background import Background, Wanted, read_background
from piiloom.foundation.errors import DataError, ReleaseError, StoreError
from piiloom.taxonomy.entity_types import Taxonomy
from piiloom.taxonomy.own_types import OwnTypes, extended

ALL = "all"
Tell = Callable[[Sight, Store], None]
# The locale under which rows without a locale are counted.
NO_LOCALE = "not stated"


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
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
class Source:
    """Where the records came from: the bare file name, and the release or run in it. ``reading`` is set for a JSONL file only.

    ``left_out`` counts the records of a store that were rejected in annotation, or reopened and not decided again. ``stand_ins`` are rules
    in the place of models that found spans of the file.
    """

    file: str
    release: str | None = None
    run: str | None = None
    format: str | None = None
    reading: Reading | None = None
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

    source: Source
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
    source = Source(file=path.name, run=run_id, left_out=len(found) - len(records))
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
    source = Source(file=path.name, release=row.name, run=row.run_id)
    return Corpus(source=source, splits=splits, types=own, background=background)


def corpus_of_file(path: Path, format_name: str | None = None, types: OwnTypes | None = None) -> Corpus:
    """Return the records of a file in a readable format; without *format_name* it is native or CAPID, as the first row decides.

    *types*: user-defined types; None means those defined by the export that the file belongs to, if any. Raises ``DataError`` if the
    file cannot be read or no row is a valid record.
    """
    file_format = get_readable_format(format_name) if format_name is not None else format_of(path)
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
    source = Source(file=path.name, format=file_format.name, reading=reading, stand_ins=stand_ins)
    return Corpus(source=source, splits={ALL: records}, types=own)


def latest_revisions(records: Iterable[Record]) -> list[Record]:
    """Keep the latest revision of each record (the first of equal ones), in order of first appearance."""
    latest: dict[str, Record] = {}
    for record in records:
        known = latest.get(record.id)
        if known is None or record.revision > known.revision:
            latest[record.id] = record
    return list(latest.values())


def format_of(path: Path) -> ReadableFormat:
    """Return the format of a file whose format is not named: native or CAPID, as its first row decides."""
    for _, line in numbered_lines(path):
        try:
            row = parse_object(line)
        except RowFault:
            break
        return get_readable_format("capid" if "piis" in row and "spans" not in row else "native")
    return get_readable_format("native")


def _reading(tally: ReadTally, rejects: list[RowReject]) -> Reading:
    # A reason looks like 'piis["flu"]: is not in the context; piis["34F"]: …'. Count each kind of fault once per row, without texts.
    reasons = Counter(kind for reject in rejects for kind in set(fault_kinds(reject.reason)))
    return Reading(
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
