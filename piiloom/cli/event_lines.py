"""A run as JSON lines on standard error, one object a line: what ``--json`` shows while a run of paid calls goes on.

``progress`` comes at the start, every few seconds and at the end; ``reject``, ``failure`` (a call that was given up) and
``brake`` (the server asked everyone to wait) come as they happen. Lines never hold the text of a prompt or reply.
"""

from __future__ import annotations

import json
import sys
from typing import Any

from piiloom.execution.watching.events import Braked, CallFailed, Event, ItemRejected


def say_event(name: str, values: dict[str, Any]) -> None:
    """Print one line. The only write of it, so that lines of two threads never mix."""
    sys.stderr.write(json.dumps({"event": name, **values}, ensure_ascii=False) + "\n")
    sys.stderr.flush()


class EventLines:
    """An event sink that prints what people would look into, as it happens, for the run *run_id*."""

    def __init__(self, run_id: str) -> None:
        self._run_id = run_id

    def __call__(self, event: Event) -> None:
        """Print *event* if it is one of those."""
        match event:
            case ItemRejected(stage, item_id, code):
                say_event("reject", {"run": self._run_id, "stage": stage, "item": item_id, "code": code})
            case CallFailed(stage, item_id, attempt, code, final=True):
                say_event("failure", {"run": self._run_id, "stage": stage, "item": item_id, "attempt": attempt, "code": code})
            case Braked(seconds):
                say_event("brake", {"run": self._run_id, "seconds": seconds})
            case _:
                pass
