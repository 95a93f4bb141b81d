"""Look at all pairs of documents once: count the errors, write them down, keep some documents to show."""

from __future__ import annotations

from dataclasses import dataclass

from piiloom.evaluation.gallery.alignment import rows_of
from piiloom.evaluation.gallery.counts import ErrorCounts
from piiloom.evaluation.gallery.error_log import ErrorLog
from piiloom.evaluation.gallery.kept import KeptDocument
from piiloom.evaluation.gallery.sampling import ErrorSample
from piiloom.evaluation.inputs.documents import Pair
from piiloom.foundation.errors import UsageError

DEFAULT_LIMIT = 300


@dataclass(frozen=True, slots=True, kw_only=True)
class GalleryOptions:
    """``limit``: how many documents are shown, 0 or more (``UsageError``); ``seed``: draws which ones."""

    limit: int = DEFAULT_LIMIT
    seed: int = 7

    def __post_init__(self) -> None:
        if self.limit < 0:
            raise UsageError("a gallery shows no negative number of documents", where="--gallery-limit", remedy="Give 0 or more")


class GalleryCollector:
    """A ``Collector`` of errors. It keeps counts, and the texts of a bounded number of documents (``ErrorSample``).

    *log* is told all errors of all documents.
    """

    def __init__(self, options: GalleryOptions | None = None, *, log: ErrorLog | None = None) -> None:
        self.options = options or GalleryOptions()
        self.counts = ErrorCounts()
        self._sample = ErrorSample(limit=self.options.limit, seed=self.options.seed)
        self._log = log

    def add(self, pair: Pair) -> None:
        """Take note of one pair."""
        rows = rows_of(pair)
        self.counts.add(pair, rows)
        if any(row.kind != "correct" for row in rows):
            self._sample.add(pair, rows)
            if self._log is not None:
                self._log.add(pair, rows)

    def shown(self) -> list[KeptDocument]:
        """Return the documents to show."""
        return self._sample.chosen()
