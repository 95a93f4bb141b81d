"""The folder of a benchmark: ``benchmark.jsonl`` (native rows), ``look_alikes.jsonl`` and ``benchmark.json`` (options and counts)."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any, Final

from piiloom.corpus.formats.native_rows import row_line, row_of
from piiloom.detection.benchmark.making import BenchmarkCounts, BenchmarkDocument, BenchmarkOptions
from piiloom.foundation.errors import DataError, OutputError
from piiloom.foundation.whole_files import drafted, output_errors

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
        about = {"schema": _SCHEMA, "options": asdict(options), "counts": counts.to_json()} | ({"carriers": carriers} if carriers else {})
        with drafted(out / ABOUT) as file:
            file.write((json.dumps(about, ensure_ascii=False, indent=1) + "\n").encode())


def _look_alikes_of(document: BenchmarkDocument) -> dict[str, Any]:
    text = document.record.context
    found = [{"start": one.start, "end": one.end, "text": text[one.start : one.end], "kind": one.what} for one in document.look_alikes]
    facts = {"domain": document.domain, "length": document.length, "form": document.form, "perturbation": document.perturbation}
    return {"id": document.record.id, **facts, "look_alikes": found}


def read_about(folder: Path) -> dict[str, Any]:
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
