"""Background work that page views trigger now and then: settling what was finished some minutes ago."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import Final

from piiloom.annotation_app.adjudication.resolving import Settled
from piiloom.foundation.errors import PiiloomError

_EVERY_S: Final = 60.0
# Seconds to wait for the end: mostly there is little to settle, and then the page shows it at once.
_PATIENCE_S: Final = 0.4


class Upkeep:
    """Runs *settle* in a background thread, one at a time and at most once in *every_s* seconds. ``fault`` is its last error."""

    def __init__(self, settle: Callable[[], Settled], every_s: float = _EVERY_S) -> None:
        self._settle = settle
        self._every_s = every_s
        self._lock = threading.Lock()
        self._began: float | None = None
        self._worker: threading.Thread | None = None
        self.fault: PiiloomError | None = None

    def look_in(self) -> None:
        """Start *settle* if it is due, and wait a moment for its end."""
        with self._lock:
            busy = self._worker is not None and self._worker.is_alive()
            if not busy and (self._began is None or time.monotonic() - self._began >= self._every_s):
                self._began = time.monotonic()
                self._worker = threading.Thread(target=self._run, name="settling")
                self._worker.start()
            worker = self._worker
        if worker is not None:
            worker.join(_PATIENCE_S)

    def _run(self) -> None:
        try:
            self._settle()
        except PiiloomError as error:
            self.fault = error
        else:
            self.fault = None
