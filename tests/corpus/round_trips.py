"""For tests of formats that lose nothing: records written and read again, and records of real data and of the composer."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache
from pathlib import Path

from piiloom.corpus.formats.base import LossReport, ReadableFormat, ReadOptions, ReadTally, RowReject, WriteOptions
from piiloom.corpus.formats.capid import CapidFormat
from piiloom.corpus.record import Record, Span
from piiloom.corpus.store.database import MEMORY, Store
from piiloom.corpus.store.records import iter_records
from piiloom.taxonomy.entity_types import Taxonomy, shipped_taxonomy
from tests.shared_files import shared

REAL = shared("data/capid")
# Markers in the text, quotation marks, CRLF, right to left, emoji, combining marks, NUL, and no relevance.
_NASTY = "[[v1|x]] \"'=1+1'\"\r\nשלום 👩‍🚀 e\u0301\0 \ufeff"


def written_again(
    file_format: ReadableFormat, path: Path, items: Iterable[Record], taxonomy: Taxonomy | None = None
) -> list[Record | RowReject]:
    """Write *items* twice, which must give the same bytes, and read them, with the shipped types or those of *taxonomy*."""
    items, taxonomy = list(items), taxonomy or shipped_taxonomy()
    assert file_format.write(iter(items), path, WriteOptions(taxonomy=taxonomy)) == LossReport()
    first = path.read_bytes()
    path.unlink()
    file_format.write(iter(items), path, WriteOptions(taxonomy=taxonomy))
    assert path.read_bytes() == first
    tally = ReadTally()
    read = list(file_format.read(path, ReadOptions(taxonomy=taxonomy, locale="xx", blank_contexts=True), tally))
    assert (tally.rows, dict(tally.ignored_fields)) == (len(items), {})
    return read


def one_megabyte() -> Record:
    """A text of a million characters with spans at its ends and in the middle."""
    context = _NASTY * (1_000_000 // len(_NASTY) + 1)
    places = ((0, 1), (500_000, 500_003), (len(context) - 2, len(context)))
    spans = tuple(Span(id=f"s{at}", start=a, end=b, entity_type="code", relevance=None) for at, (a, b) in enumerate(places))
    return Record(id="large", context=context, question=_NASTY, spans=spans)


@cache
def real_records() -> tuple[Record, ...]:
    """Rows of CAPID as records, without the values that have no exact place."""
    options = ReadOptions(skip_values=True, taxonomy=shipped_taxonomy())
    rows = [row for path in sorted(REAL.glob("*.jsonl")) for row in CapidFormat().read(path, options, ReadTally())]
    return tuple({row.id: row for row in rows if isinstance(row, Record)}.values())


@cache
def composed_records() -> tuple[Record, ...]:
    """500 records of the composer."""
    from piiloom.generation.run_session import run_to_end
    from piiloom.generation.running.opening import start_run
    from piiloom.generation.settings.setting_checks import make_config

    with Store.open(MEMORY) as store:
        run_to_end(start_run(store, make_config({"samples": 500, "seed": 7})))
        return tuple(iter_records(store))
