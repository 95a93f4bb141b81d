"""Take in what a detector found as suggestions, while the app runs."""

from __future__ import annotations

from pathlib import Path

from piiloom.annotation_app.event_log import EventLog
from piiloom.annotation_app.worklist.pool import Pool
from piiloom.annotation_app.worklist.project_settings import SettingsStore
from piiloom.corpus.store.opening import SharedStore
from piiloom.corpus.suggesting import SuggestionReport, read_proposals, store_proposals


class SuggestionIntake:
    """Stores suggestions in the store *shared*, and orders the work list anew if it is ordered by their uncertainty."""

    def __init__(self, shared: SharedStore, log: EventLog, settings: SettingsStore, pool: Pool) -> None:
        self._shared = shared
        self._log = log
        self._settings = settings
        self._pool = pool

    def add(
        self, actor: str, path: Path, *, detector: str | None = None, model: str | None = None, rejects: Path | None = None
    ) -> SuggestionReport:
        """Store the suggestions in the native rows of *path*. Raises what ``read_proposals`` raises; then nothing is stored."""
        with self._shared.reading() as store:  # a large file takes a while, and others go on meanwhile
            proposals = read_proposals(store, path, detector, rejects)
        with self._shared.writing() as store:
            report = store_proposals(store, proposals, actor=actor, at=self._log.now(), model=model)
        if self._settings.current().by_uncertainty:
            self._pool.prioritise(actor)
        return report
