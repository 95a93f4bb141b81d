"""What a report is about: the records of a store, of a release, or of a JSONL file that anyone has published.

A file is read as ``piiloom import`` reads it: rows that are no records are set aside, counted and named by their reasons.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass
from pathlib import Path

from piiloom.corpus.formats.base import Format, Json, ReadTally, RowReject, fault_kinds
from piiloom.corpus.formats.json_rows import RowFault, numbered_lines, parse_object
from piiloom.corpus.formats.registry import get_format
from piiloom.corpus.record import Record
from piiloom.corpus.releases.manifest import types_beside
from piiloom.corpus.store.adjudications import unreleasable_records
from piiloom.corpus.store.database import Store
from piiloom.corpus.store.own_types import types_of
from piiloom.corpus.store.reading import Sight, open_to_read
from piiloom.corpus.store.records import iter_records
from piiloom.corpus.store.releases import count_members, get_release, iter_release_records
from piiloom.corpus.store.runs import get_run
from piiloom.foundation.errors import DataError, ReleaseError, StoreError
from piiloom.taxonomy.own_types import OwnTypes, types_in_force

ALL = "all"
Tell = Callable[[Sight, Store], None]
# What rows that name no locale are counted under.
_NO_LOCALE = "not stated"


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """How the reading of a file went. ``values`` = ``exact`` + ``inside_word`` + ``missing``; ``ambiguous`` are exact ones.

    ``overlapping`` counts mentions left out in favour of a longer one; ``reasons`` why rows were refused, without positions.
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
    """Where the records came from: bare file name, and what was chosen in it. ``reading`` is there for a JSONL file.

    ``left_out`` counts the records of a store that people have rejected, or reopened and not decided on again.
    """

    file: str
    release: str | None = None
    run: str | None = None
    format: str | None = None
    reading: Reading | None = None
    left_out: int = 0

    def title(self) -> str:
        """The source in a few words."""
        if self.release is not None:
            return f"release {self.release} of {self.file}"
        without = f", without {self.left_out:,} record{'s' * (self.left_out != 1)} rejected or reopened" if self.left_out else ""
        return f"run {self.run} of {self.file}{without}" if self.run is not None else f"{self.file}{without}"

    def to_json(self) -> Json:
        """The fields as JSON values."""
        return asdict(self)


@dataclass(frozen=True, slots=True, kw_only=True)
class Corpus:
    """Records by split; one split ``ALL`` where nothing was split. There is at least one record."""

    source: Source
    splits: dict[str, list[Record]]
    types: OwnTypes = ()  # own ones that are in force where the records come from


def corpus_of_store(path: Path, *, run: str | None = None, tell: Tell | None = None) -> Corpus:
    """The records of a run (``"last"`` works), or of all runs and imports: those that a release would take, latest revisions.

    *tell* is told what is read where another process writes the store (``piiloom.corpus.store.reading``).
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
    return Corpus(source=Source(file=path.name, run=run_id, left_out=len(found) - len(records)), splits={ALL: records}, types=own)


def corpus_of_release(path: Path, name: str, *, tell: Tell | None = None) -> Corpus:
    """The records of a release by split. ``ReleaseError`` for an unknown one."""
    with open_to_read(path, tell=tell) as store:
        row = get_release(store, name)
        splits = {split: list(iter_release_records(store, name, split)) for split in count_members(store, name)}
        own = types_of(store)
    if not splits:
        raise ReleaseError(f"the release {name!r} has no records", where=str(path), remedy="Name another")
    return Corpus(source=Source(file=path.name, release=row.name, run=row.run_id), splits=splits, types=own)


def corpus_of_file(path: Path, format_name: str | None = None, types: OwnTypes | None = None) -> Corpus:
    """The records of a native or CAPID JSONL file; without *format_name* the first row tells which it is.

    *types* None: the own types that the export which the file belongs to defines, if it does.
    ``DataError`` when the file cannot be read or no row of it is a record.
    """
    file_format = get_format(format_name) if format_name is not None else _format_of(path)
    tally = ReadTally()
    records: list[Record] = []
    rejects: list[RowReject] = []
    own = types_beside(path) if types is None else types
    with types_in_force(own):
        for row in file_format.read(path, locale=_NO_LOCALE, tally=tally, blank_contexts=True):
            if isinstance(row, RowReject):
                rejects.append(row)
            else:
                records.append(row)
    if not records:
        first = f"; line {rejects[0].line}: {rejects[0].reason}" if rejects else ""
        remedy = f"It was read as {file_format.name}; name another format with --format, or correct the rows"
        raise DataError(f"none of {len(rejects)} rows is a record{first}", where=str(path), remedy=remedy)
    source = Source(file=path.name, format=file_format.name, reading=_reading(tally, rejects))
    return Corpus(source=source, splits={ALL: records}, types=own)


def latest_revisions(records: Iterable[Record]) -> list[Record]:
    """Of several revisions of a record the latest, of a record that comes twice the first; in the order they came."""
    latest: dict[str, Record] = {}
    for record in records:
        known = latest.get(record.id)
        if known is None or record.revision > known.revision:
            latest[record.id] = record
    return list(latest.values())


def _format_of(path: Path) -> Format:
    for _, line in numbered_lines(path):
        try:
            row = parse_object(line)
        except RowFault:
            break
        return get_format("capid" if "piis" in row and "spans" not in row else "native")
    return get_format("native")


def _reading(tally: ReadTally, rejects: list[RowReject]) -> Reading:
    # 'piis["flu"]: is not in the context; piis["34F"]: …': one count for each kind of fault in a row, without its texts.
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
