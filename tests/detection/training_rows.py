"""Native and CAPID rows to train on."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

Row = dict[str, Any]


def row(
    number: int, *, group: str | None = None, question: str | None = "May I drive?", relevances: tuple[str | None, ...] = ("high", "low")
) -> Row:
    """A record of two spans that no other number shares words with."""
    context = f"Entry {number}: I have asthma{number} and I work as a baker{number}."
    spans = []
    for text, kind, relevance in zip((f"asthma{number}", f"baker{number}"), ("health", "occupation"), relevances, strict=True):
        start = context.index(text)
        spans.append({"start": start, "end": start + len(text), "text": text, "type": kind, "relevance": relevance})
    meta = {"group_keys": [group]} if group else {}
    asked = None if question is None else f"{question} Case {number} asks it."
    return {"id": f"r{number}", "locale": "en_US", "context": context, "question": asked, "spans": spans, "meta": meta}


def write_jsonl(path: Path, rows: Iterable[Row]) -> Path:
    """Write *rows* to *path*, and return it."""
    path.write_text("".join(json.dumps(one) + "\n" for one in rows), encoding="utf-8")
    return path
