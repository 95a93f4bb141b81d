"""The folder of a benchmark: ``benchmark.jsonl`` (native rows), ``look_alikes.jsonl`` and ``benchmark.json`` (options and counts)."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import asdict
from pathlib import Path
from typing import Any, Final

from piiloom.corpus.formats.json_rows import row_line
from piiloom.corpus.formats.native_rows import row_of
from piiloom.detection.benchmark.making import BenchmarkCounts, BenchmarkDocument, BenchmarkOptions
from piiloom.foundation.errors import DataError, OutputError

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
    names = (ROWS, LOOK_ALIKES, ABOUT)
    drafts = {name: out / f".{name}.part" for name in names}
    try:
        if not force and any((out / name).exists() for name in names):
            raise OutputError("there is a benchmark already", where=str(out), remedy="Give another folder, or --force to replace it")
        out.mkdir(parents=True, exist_ok=True)
        (out / ABOUT).unlink(missing_ok=True)
        with drafts[ROWS].open("wb") as rows, drafts[LOOK_ALIKES].open("wb") as look_alikes:
            for document in documents:
                rows.write(row_line(row_of(document.record)))
                look_alikes.write(row_line(_look_alikes_of(document)))
        about = {"schema": _SCHEMA, "options": asdict(options), "counts": counts.to_json()} | ({"carriers": carriers} if carriers else {})
        drafts[ABOUT].write_text(json.dumps(about, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")
        for name in names:
            drafts[name].replace(out / name)
    except OSError as error:
        raise OutputError(f"cannot be written: {error.strerror}", where=str(out), remedy="Check the path and the disk") from error
    finally:
        for draft in drafts.values():
            with suppress(OSError):
                draft.unlink()


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
