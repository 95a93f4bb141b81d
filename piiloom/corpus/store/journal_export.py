"""Export of the journal of paid calls to JSON Lines, which are read back before the file gets its name.

The first line is ``{"table": "journal", "schema": 1, …}``. Each other line is a row of ``call_events``, with its ``entry`` as an object,
or of ``prompt_texts``. The latter are system prompts, to which the events refer by SHA-256.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections import Counter
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Any, BinaryIO

from piiloom.corpus.store.call_history import count_events, iter_events, load_prompts, prompt_names
from piiloom.corpus.store.database import Store
from piiloom.corpus.store.runs import list_runs
from piiloom.foundation.errors import OutputError
from piiloom.foundation.version import __version__
from piiloom.foundation.whole_files import drafted

SCHEMA = 1
_PROMPTS = "prompt_texts"


def export_journal(store: Store, out: Path, run_id: str | None) -> Counter[str]:
    """Write the journal of a run (of all runs if None) to *out*; return the number of its rows by kind.

    Raises ``OutputError`` if it cannot be written, or is not on disk as the store has it; *out* is then as it was.
    """
    with drafted(out, "the journal", remedy="Name another file with --out") as file:
        written = _write(file, _rows(store, run_id))
        found = _read_back(Path(file.name), written, out)
        _compare(found, store, run_id, out)
    return found


def _rows(store: Store, run_id: str | None) -> Iterator[dict[str, Any]]:
    runs = [run_id] if run_id else [run.id for run in list_runs(store)]
    yield {"table": "journal", "schema": SCHEMA, "piiloom": __version__, "runs": runs}
    names = prompt_names(store, run_id)
    yield from ({"table": _PROMPTS, "sha256": name, "text": text} for name, text in load_prompts(store, names).items())
    yield from ({"table": "call_events", **asdict(event)} for event in iter_events(store, run_id))


def _write(file: BinaryIO, rows: Iterator[dict[str, Any]]) -> str:
    """Write *rows* to *file*; return its SHA-256."""
    sha256 = hashlib.sha256()
    for row in rows:
        line = json.dumps(row, ensure_ascii=False).encode() + b"\n"
        sha256.update(line)
        file.write(line)
    file.flush()
    os.fsync(file.fileno())
    return sha256.hexdigest()


def _read_back(draft: Path, written: str, out: Path) -> Counter[str]:
    """Read the file again and count its rows by kind. Raises ``OutputError`` if its hash is not *written*."""
    sha256, counts = hashlib.sha256(), Counter[str]()
    with draft.open("rb") as file:
        for number, line in enumerate(file):
            sha256.update(line)
            row = json.loads(line)
            if number:
                counts[row.get("kind", _PROMPTS)] += 1
    if sha256.hexdigest() != written:
        raise OutputError("the file on disk is not what was written", where=str(out), remedy="The disk may be failing: use another one")
    return counts


def _compare(found: Counter[str], store: Store, run_id: str | None, out: Path) -> None:
    wanted = Counter(count_events(store, run_id))
    wanted[_PROMPTS] = len(load_prompts(store, prompt_names(store, run_id)))
    if found != +wanted:
        raise OutputError(
            "the file does not hold all rows of the journal", where=str(out), remedy="Nothing was written; please report this"
        )
