"""Records to write into the formats of tools and to read again: texts that break careless ones, and real ones."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import islice
from pathlib import Path

from piiloom.corpus.formats.base import Format, LossReport, ReadableFormat, ReadOptions, ReadTally, RowReject, WriteOptions
from piiloom.corpus.formats.capid import CapidFormat
from piiloom.corpus.formats.foreign_formats import PresidioFormat
from piiloom.corpus.record import Record, Span
from piiloom.taxonomy.entity_types import shipped_taxonomy
from tests.shared_files import shared

SHARED = shared("data")
_TEXT = 'Je m’appelle Zoé 👩‍🚀,\r\nfrom שלום\nstreet 5;\u2028cafe\u0301 "x"\\ {{PERSON}} <b>\t𝔘 end'


def marked(text: str, *values: tuple[str, str, str | None, str | None], **fields: object) -> Record:
    """A record whose spans are the first places of *values*: (text, type, subtype, relevance)."""
    places = sorted((text.index(value), value, *rest) for value, *rest in values)
    spans = tuple(
        Span(id=f"s{number}", start=at, end=at + len(value), entity_type=kind, subtype=subtype, relevance=relevance)  # type: ignore[arg-type]
        for number, (at, value, kind, subtype, relevance) in enumerate(places, start=1)
    )
    return replace(Record(id="r1", context=text, spans=spans), **fields)  # type: ignore[arg-type]


def hard_record() -> Record:
    """Emoji, right-to-left, combining marks and line breaks inside and before spans."""
    record = marked(
        _TEXT,
        ("Zoé", "name", "first_name", "high"),
        ("שלום\nstreet 5", "location", "address", "low"),
        ("cafe\u0301", "organization", None, None),
        ("𝔘", "sexual orientation", None, "high"),
        question="Why 👋?\r\nReally",
        locale="fr_FR",
    )
    first, *others = record.spans
    return replace(record, spans=(replace(first, id="first", value_id="v1", subject="self"), *others))


def written_and_read(file_format: Format, records: Sequence[Record], path: Path) -> tuple[list[Record | RowReject], LossReport]:
    """What comes back of *records*, and the loss report."""
    assert isinstance(file_format, ReadableFormat)
    report = file_format.write(iter(records), path, WriteOptions(taxonomy=shipped_taxonomy()))
    return list(file_format.read(path, ReadOptions(locale="xx", taxonomy=shipped_taxonomy()), ReadTally())), report


def real_records() -> list[Record]:
    """The rows of CAPID's samples, as far as they can be read, and those of presidio-research."""
    options = ReadOptions(skip_values=True, taxonomy=shipped_taxonomy())
    found: list[Record | RowReject] = []
    for name in ("validated_sample", "raw_pipeline_sample"):
        found += CapidFormat().read(SHARED / "capid" / f"{name}.jsonl", options, ReadTally())
    found += PresidioFormat().read(SHARED / "presidio_research" / "generated_small.json", options, ReadTally())
    records = [row for row in found if isinstance(row, Record)]
    return [replace(record, id=f"{record.id}-{number}") for number, record in enumerate(records)]


def composed_records(folder: Path, number: int) -> list[Record]:
    """Records of the composer."""
    import piiloom

    store = folder / "composed.duckdb"
    piiloom.generate(samples=number, seed=5, store=str(store))
    piiloom.release("all", store=str(store), test_size=0.1)
    piiloom.export("all", str(folder / "composed"), store=str(store))
    return list(islice(piiloom.load(str(folder / "composed"), split="train"), number))
