"""The folder of a benchmark: ``benchmark.jsonl`` (native rows), ``look_alikes.jsonl`` and ``benchmark.json`` (options and counts)."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, Final

from piiloom.corpus.formats.base import ReadOptions, read_records
from piiloom.corpus.formats.native_rows import row_line, row_of
from piiloom.corpus.formats.registry import NativeFormat
from piiloom.corpus.record import Record
from piiloom.detection.benchmark.benchmark_options import BenchmarkOptions
from piiloom.detection.benchmark.making import BenchmarkCounts, BenchmarkDocument, make_benchmark
from piiloom.detection.benchmark.own_carriers import read_own_carriers
from piiloom.foundation.errors import DataError, OutputError, UsageError
from piiloom.foundation.noop import noop
from piiloom.foundation.whole_files import drafted, output_errors
from piiloom.taxonomy.entity_types import shipped_taxonomy

ROWS: Final = "benchmark.jsonl"
LOOK_ALIKES: Final = "look_alikes.jsonl"
ABOUT: Final = "benchmark.json"
_SCHEMA: Final = 1


def write_benchmark(
    out: Path,
    documents: Iterator[BenchmarkDocument],
    options: BenchmarkOptions,
    counts: BenchmarkCounts,
    *,
    force: bool,
    carriers: Mapping[str, Any] | None = None,
) -> None:
    """Write *documents* into the folder *out*; ``benchmark.json`` comes last, so a folder that has it is complete.

    *carriers* tells of carriers that are not those that ship.

    Raises ``OutputError`` if the folder has files that would be replaced (unless *force*) or cannot be written.
    """
    with output_errors(out):
        if not force and any((out / name).exists() for name in (ROWS, LOOK_ALIKES, ABOUT)):
            raise OutputError("there is a benchmark already", where=str(out), remedy="Give another folder, or --force to replace it")
        with drafted(out / ROWS) as rows, drafted(out / LOOK_ALIKES) as look_alikes:
            (out / ABOUT).unlink(missing_ok=True)
            for document in documents:
                rows.write(row_line(row_of(document.record)))
                look_alikes.write(row_line(_look_alikes_of(document)))
        about = {"schema": _SCHEMA, "options": options.part(BenchmarkOptions).model_dump(), "counts": counts.to_json()} | (
            {"carriers": carriers} if carriers else {}
        )
        with drafted(out / ABOUT) as file:
            file.write((json.dumps(about, ensure_ascii=False, indent=1) + "\n").encode())


def make_folder(
    out: Path,
    options: BenchmarkOptions,
    *,
    carriers: Path | None = None,
    with_shipped: bool = False,
    force: bool = False,
    watch: Callable[[tuple[int, int]], object] = noop,
) -> dict[str, Any]:
    """Make a benchmark in the folder *out*, and return its counts.

    The carriers are those that ship, or those in the folder *carriers* (*with_shipped*: both). Of these, domains and lengths that are not
    named are left out where there are none. *watch* gets the numbers of the documents that are done and of all.

    Raises ``UsageError`` for a named locale, domain or length without a carrier, and the errors of ``write_benchmark`` and
    ``read_own_carriers``.
    """
    own = None
    if carriers is not None:
        own = read_own_carriers(carriers, with_shipped=with_shipped, locales=options.locales)
        named = options.model_fields_set
        if "locales" not in named:
            options = options.model_copy(update={"locales": tuple(own.by_locale)})
        own.require(options.locales, options.domains if "domains" in named else (), options.lengths if "lengths" in named else ())
    elif with_shipped:
        raise UsageError("there are no other carriers", where="--with-shipped", remedy="Add --carriers DIR, or leave it out")
    counts, about = BenchmarkCounts(), own.to_json() if own else None
    made = make_benchmark(options, counts, lambda done, total: watch((done, total)), own.by_locale if own else None)
    write_benchmark(out, made, options, counts, force=force, carriers=about)
    return counts.to_json() | ({"carriers": about} if about else {})


def benchmark_document(folder: Path, document_id: str) -> Record:
    """Return a document of the benchmark in *folder*. Raises ``UsageError`` if there is none of that id."""
    read_benchmark(folder)
    options = ReadOptions(taxonomy=shipped_taxonomy(), blank_contexts=True)  # the documents have types that ship
    found = next((one for one in read_records(NativeFormat(), folder / ROWS, options) if one.id == document_id), None)
    if found is None:
        raise UsageError(f"there is no document {document_id!r}", where=str(folder / ROWS), remedy="Its lines begin with their ids")
    return found


def _look_alikes_of(document: BenchmarkDocument) -> dict[str, Any]:
    text = document.record.context
    found = [{"start": one.start, "end": one.end, "text": text[one.start : one.end], "kind": one.what} for one in document.look_alikes]
    facts = {"domain": document.domain, "length": document.length, "form": document.form, "perturbation": document.perturbation}
    return {"id": document.record.id, **facts, "look_alikes": found}


def read_benchmark(folder: Path) -> dict[str, Any]:
    """Return what ``benchmark.json`` in *folder* says; raises ``DataError`` if it is missing or not ours."""
    path = folder / ABOUT
    try:
        about: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
        ours = about["schema"] == _SCHEMA and isinstance(about["counts"], dict)
    except (OSError, ValueError, KeyError, TypeError):
        ours = False
    if not ours:
        raise DataError("is not the folder of a benchmark", where=str(folder), remedy="piiloom benchmark make writes one")
    return about
