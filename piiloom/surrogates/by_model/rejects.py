"""Write ``rejects.jsonl``: each value that a model could not give, with the reason and its last reply. Code draws it instead."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from types import TracebackType
from typing import Final, Self

from piiloom.execution.calls import Lost
from piiloom.foundation.whole_files import drafted
from piiloom.surrogates.by_model.terms import STAGE
from piiloom.surrogates.by_model.value_requests import ValueRequest
from piiloom.surrogates.outputs.folder import REJECTS

_LONGEST_REPLY: Final = 2000


class RejectRows:
    """A writer of reject rows to the JSONL file *path*; a context manager."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def __enter__(self) -> Self:
        self._fh = self._path.open("w", encoding="utf-8", errors="backslashreplace", newline="\n")
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self._fh.close()

    def add(self, request: ValueRequest, lost: Lost) -> None:
        """Write the row of a value that the model could not give: document, span of the first mention, reason, and last reply."""
        row = {
            "id": request.id,
            "document": request.document,
            "start": request.start,
            "end": request.end,
            "kind": request.kind,
            "stage": STAGE,
            "reason": lost.code,
            "detail": lost.message,
            "attempts": lost.attempts,
            "last_reply": lost.last_reply[:_LONGEST_REPLY] if lost.last_reply is not None else None,
        }
        self._fh.write(json.dumps(row, ensure_ascii=False) + "\n")


def put_rejects(rows: Path, out: Path) -> Path | None:
    """Copy the file *rows* into the finished folder *out*, atomically, and return its path; None if it is empty.

    Raises ``OutputError`` if it cannot be written.
    """
    if not rows.stat().st_size:
        return None
    target = out / REJECTS
    with drafted(target, "the rejects", remedy="Free disk space there") as file, rows.open("rb") as source:
        shutil.copyfileobj(source, file)
    return target
