"""The options that several commands share, declared once. Imports nothing heavy: help must be quick."""

from __future__ import annotations

from typing import Any

from piiloom.corpus.store import DEFAULT_STORE, StoreSettings, store_setting
from piiloom.foundation.settings import setting

__all__ = ["DEFAULT_STORE", "store_setting"]  # besides the names of this module

WORKERS = "Workers"


def json_setting(form: str = "the result as JSON") -> Any:
    """Declare the option --json, which prints the result in this *form*."""
    return setting(False, f"Print {form} and nothing else on standard output.", flags="--json")


class StoreOptions(StoreSettings):
    """The store of a command, and the form of its result."""

    as_json: bool = json_setting()


class ListOptions(StoreOptions):
    """A part of a list of the store."""

    limit: int = setting(20, "Number of rows to print; 0 prints all.", flags="--limit -n", metavar="N", ge=0)
    offset: int = setting(0, "Number of rows to skip first.", metavar="N", ge=0)


class ConfirmedOptions(StoreOptions):
    """A change of the store that must be confirmed."""

    yes: bool = setting(False, "Confirm in advance.", flags="--yes -y")


def run_setting() -> Any:
    """Declare the option --run."""
    return setting("last", 'The run to work on, by its id or "last" (the newest).', metavar="RUN")


def config_setting() -> Any:
    """Declare the option --config."""
    return setting(None, "A run file with settings (samples: 100, pairs: all …); command-line options override it.", metavar="YAML")
