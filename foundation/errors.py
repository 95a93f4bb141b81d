"""The exceptions of piiloom.

::

    PiiloomError                 exit code 1
    ├── UsageError               exit code 2: the request itself cannot be met (unknown type, pair, locale, stage …)
    │   └── ConfigError          a run file, taxonomy file or bank that cannot be read (file, line, key)
    ├── DataError                input rows that cannot be read (file, line, field)
    ├── StoreError               the DuckDB store cannot be used
    │   ├── StoreLocked          another process holds it
    │   ├── StoreTooNew          written by a newer piiloom
    │   └── NotAStore            the file is something else
    ├── OutputError              nothing can be written there (disk full, read-only, folder not empty)
    ├── ReleaseError             a release that is unknown, taken or would be empty
    ├── RunError                 a run that is unknown, unfinished or cannot go on
    ├── Interrupted              Ctrl-C has ended something that can be gone on with
    └── ProviderError            raised by ``providers`` (see ``piiloom.providers.errors`` for its own tree)

A message says what went wrong, where, and what to do next. It never quotes corpus text and never holds a key.
"""

from __future__ import annotations


class PiiloomError(Exception):
    """Root of all errors that piiloom raises on purpose.

    ``where`` names the place (file, line, key, record id) and ``remedy`` the next step; both end up in ``str(error)``.
    """

    exit_code = 1

    def __init__(self, message: str, *, where: str | None = None, remedy: str | None = None) -> None:
        self.message = message
        self.where = where
        self.remedy = remedy
        super().__init__(message, where, remedy)

    def __str__(self) -> str:
        head = f"{self.where}: {self.message}" if self.where else self.message
        stop = "" if head.endswith(("?", "!")) else "."
        return f"{head}{stop} {self.remedy}" if self.remedy else head


class UsageError(PiiloomError):
    """The request itself cannot be met."""

    exit_code = 2


class ConfigError(UsageError):
    """A configuration or data file of ours or of the user's is malformed."""


class DataError(PiiloomError):
    """Input rows cannot be read."""


class StoreError(PiiloomError):
    """The store cannot be used."""


class StoreLocked(StoreError):
    """Another process holds the store."""


class StoreTooNew(StoreError):
    """The store was written by a newer piiloom."""


class NotAStore(StoreError):
    """The file is not a piiloom store."""


class OutputError(PiiloomError):
    """Nothing can be written to the named place."""


class ReleaseError(PiiloomError):
    """A release is unknown, taken, or would be empty."""


class RunError(PiiloomError):
    """A run is unknown, unfinished, or cannot go on."""


class Interrupted(PiiloomError):
    """Ctrl-C has ended something at once; the remedy says how to go on with it."""


class ProviderError(PiiloomError):
    """Root of what a provider raises; the tree is in ``piiloom.providers.errors``. ``retries`` counts those before this error."""

    retries = 0
