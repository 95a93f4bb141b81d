"""For tests of what evaluation reads: files of rows, and gold and prediction scored with ``exact``."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from piiloom.evaluation.inputs.documents import AnnotatedDocument, InputsSummary, Pair
from piiloom.evaluation.inputs.opening import PairSettings, open_pairs
from piiloom.evaluation.schemes.base import SchemeSettings
from piiloom.evaluation.schemes.precision_recall import ExactScheme
from piiloom.evaluation.scoring.counts import CountTable


def lines(path: Path, rows: Iterable[object]) -> Path:
    """Write *rows* as JSON lines."""
    path.write_text("".join(f"{json.dumps(row)}\n" for row in rows), encoding="utf-8")
    return path


def native(context: str, *spans: dict[str, object], **about: object) -> dict[str, object]:
    """A native row."""
    return {**about, "context": context, "spans": list(spans)}


def span(start: int, end: int, kind: str | None = "name", **about: object) -> dict[str, object]:
    """A span of a native row, whose text is that of its range."""
    return {"start": start, "end": end, "type": kind, **about}


def read_pairs(gold: Path, found: Path, **options: Any) -> tuple[list[Pair], InputsSummary]:
    """All pairs of two files, by default with what offset schemes need."""
    how = {name: options.pop(name) for name in ("needs", "offsets", "types_matter") if name in options}
    pairs, summary = open_pairs(gold, found, PairSettings(**options), **how)
    return list(pairs), summary


def read_one(path: Path, **options: Any) -> AnnotatedDocument:
    """The only document of *path*, read as a prediction."""
    (pair,) = read_pairs(path, path, skip_values=True, **options)[0]
    return pair.found


def scored(gold: Path, found: Path, **options: Any) -> tuple[dict[str, float], InputsSummary]:
    """The figures of ``exact``, and what was read."""
    pairs, summary = read_pairs(gold, found, **options)
    table = CountTable(ExactScheme(SchemeSettings()))
    for pair in pairs:
        table.add(pair)
    return table.overall(), summary
