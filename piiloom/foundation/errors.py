"""The exceptions of piiloom.

::

    PiiloomError                 exit code 1
    ├── UsageError               exit code 2: the request itself is invalid (unknown type, pair, locale, stage …)
    │   └── ConfigError          a run file, taxonomy file or bank that cannot be read (file, line, key)
    ├── DataError                input rows that cannot be read (file, line, field)
    ├── StoreError               the DuckDB store cannot be used
    │   ├── StoreLocked          another process has it open
    │   ├── StoreTooNew          written by a newer piiloom
    │   └── NotAStore            the file is something else
    ├── OutputError              the output cannot be written (disk full, read-only, folder not empty)
    ├── ReleaseError             a release that is unknown, exists already or would be empty
    ├── RunError                 a run that is unknown, unfinished or cannot continue
    ├── Interrupted              Ctrl-C has ended something that can be resumed
    └── ProviderError            raised by ``providers`` (see ``piiloom.providers.errors`` for its own tree)

A message says what went wrong, where, and what to do next. It never quotes corpus text and never contains a key.

Optional dependencies (extras): how to install a missing one.
"""

from __future__ import annotations


class PiiloomError(Exception):
    """Base class of all errors that piiloom raises on purpose.

    ``where`` names the place (file, line, key, record id) and ``remedy`` the next step; both are part of ``str(error)``.
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

    def _render_traceback_(self) -> list[str]:
        """Return what IPython prints: the lines of cells, which are in no file, and the message. ``%debug`` has the whole stack."""
        import traceback  # noqa: PLC0415 - only a notebook wants them
        from pathlib import Path  # noqa: PLC0415

        frames = [one for one in traceback.extract_tb(self.__traceback__) if one.line and not Path(one.filename).exists()]
        return [line.rstrip() for line in traceback.format_list(frames)] + [f"{type(self).__name__}: {self}"]


class UsageError(PiiloomError):
    """The request itself is invalid."""

    exit_code = 2


class ConfigError(UsageError):
    """A configuration or data file, piiloom's own or the user's, is malformed."""


class DataError(PiiloomError):
    """Input rows cannot be read."""


class StoreError(PiiloomError):
    """The store cannot be used."""


class StoreLocked(StoreError):
    """Another process has the store open."""


class StoreTooNew(StoreError):
    """The store was written by a newer piiloom."""


class NotAStore(StoreError):
    """The file is not a piiloom store."""


class OutputError(PiiloomError):
    """The output cannot be written to the named place."""


class ReleaseError(PiiloomError):
    """A release is unknown, exists already, or would be empty."""


class RunError(PiiloomError):
    """A run is unknown, unfinished, or cannot continue."""


class Interrupted(PiiloomError):
    """Ctrl-C has ended something early; the remedy says how to resume it."""


class ProviderError(PiiloomError):
    """Base class of provider errors; see ``piiloom.providers.errors``. ``retries`` counts the retries made before this error."""

    retries = 0


def how_to_install(extra: str) -> str:
    """Return the command that installs *extra*. piiloom is on no package index, so it is installed from a clone."""
    return f"pip install -e '.[{extra}]' in a clone of piiloom"
