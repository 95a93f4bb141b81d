"""The options that several commands share, and the opening of a store that is only read, with a note if a copy is read."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from piiloom.cli.terminal import rest_of_list, say, say_aside, say_json_list
from piiloom.corpus.store import StoreSettings
from piiloom.foundation.settings import Settings, setting

if TYPE_CHECKING:
    from piiloom.corpus.store.database import Store
    from piiloom.corpus.store.opening import Sight

WORKERS = "Workers"
RowT = TypeVar("RowT")


def json_setting(form: str = "the result as JSON") -> Any:
    """Declare the option --json, which prints the result in this *form*."""
    return setting(False, f"Print {form} and nothing else on standard output.", flags="--json")


class AsJson(Settings):
    """The form of a command's result. A base before those with the other options has its own after theirs."""

    as_json: bool = json_setting()


class StoreOptions(AsJson, StoreSettings):
    """The store of a command, and the form of its result."""


class ListOptions(StoreOptions):
    """A part of a list of the store."""

    limit: int = setting(20, "Number of rows to print; 0 prints all.", flags="--limit -n", metavar="N", ge=0)
    offset: int = setting(0, "Number of rows to skip first.", metavar="N", ge=0)

    def part_of(self, rows: Sequence[RowT]) -> Sequence[RowT]:
        """Return the part of *rows* that is to be printed."""
        return rows[self.offset : self.offset + self.limit if self.limit else None]

    def say_list(
        self, place: dict[str, Any], name: str, lines: Sequence[Any], table: Callable[[], list[str]], *, total: int, empty: str
    ) -> None:
        """Print *lines*, a part of *total*, as JSON under *name*, or as the lines of *table*; *empty* where the list has none."""
        if self.as_json:
            say_json_list({**place, "total": total, "offset": self.offset, "limit": self.limit}, name, lines)
            return
        if lines or not total:
            say("\n".join(table() if lines else [empty]))
        if more := rest_of_list(total, len(lines), offset=self.offset):
            say_aside(more)


class ConfirmedOptions(StoreOptions):
    """A change of the store that must be confirmed."""

    yes: bool = setting(False, "Confirm in advance.", flags="--yes -y")


def run_setting() -> Any:
    """Declare the option --run."""
    return setting("last", 'The run to work on, by its id or "last" (the newest).', metavar="RUN")


def run_filter_setting() -> Any:
    """Declare the option --run of a command that shows all runs when it is not given."""
    return setting(None, 'Only this run, by its id or "last"; all runs if not given.', metavar="RUN")


def config_setting() -> Any:
    """Declare the option --config."""
    return setting(None, "A run file with settings (samples: 100, pairs: all …); command-line options override it.", metavar="YAML")


@contextmanager
def store_for_reading(path: Path, *, memory_limit: str = "64MB") -> Iterator[Store]:
    """Open the store at *path* to read it, also while another process writes it or where nobody may write it."""
    with seen_store(path, memory_limit=memory_limit) as (store, _):
        yield store


@contextmanager
def seen_store(path: Path, *, memory_limit: str = "64MB") -> Iterator[tuple[Store, dict[str, Any]]]:
    """Open the store like ``store_for_reading``; also yield its place as JSON values, with the time (UTC) and holder of a copy."""
    from piiloom.corpus.store.opening import open_to_read

    seen: list[Sight] = []

    def tell(sight: Sight, store: Store) -> None:
        seen.append(sight)
        say_sight(sight, store)

    with open_to_read(path, memory_limit=memory_limit, tell=tell) as store:
        (sight,) = seen
        copied = None if sight.copied_at is None else sight.copied_at.isoformat(timespec="seconds")
        yield store, {"store": str(path), "read": {"copy_made_at": copied, "in_use_by": sight.holder}}


def say_sight(sight: Sight, store: Store) -> None:
    """Print a line on standard error if a copy is read instead of the store's file."""
    if sight.copied_at is None:
        return
    line = f"read a copy of the store made at {sight.copied_at.astimezone():%H:%M:%S}"
    if sight.version is not None:
        line += f" and brought up from schema version {sight.version}, which the file still has"
    if sight.version is None or sight.holder is not None:
        line += f"; {_holder(sight)} is using it" + _under_way(store)
    say_aside(line)


def _holder(sight: Sight) -> str:
    if sight.holder is None:
        return "another process"
    return f"process {sight.holder}" + (f" ({sight.command})" if sight.command else "")


def _under_way(store: Store) -> str:
    from piiloom.corpus.store.runs import list_runs

    running = [run.id for run in list_runs(store) if run.status == "running"]
    return f", and {'run' if len(running) == 1 else 'runs'} {', '.join(running)} stood as running" if running else ""
