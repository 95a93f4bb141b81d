"""For all tests: property tests take the same examples each time, unless PIILOOM_EXPLORE is set: then they look for new ones.

A test that asks for ``browser`` is marked so (``make test-browser``).

What collecting the tests made is put aside from the garbage collector: it lives as long as the process, and each full collection
would go through 700,000 objects for nothing.
"""

from __future__ import annotations

import gc
import os
import re
import signal
from collections.abc import Iterator
from fnmatch import fnmatch
from functools import cache, partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import settings

from piiloom.foundation.startup import collect_less_often
from tests.longer import EXPLORE
from tests.one_browser import OneBrowser

# No deadline: a busy machine is no failure.
settings.register_profile("steady", derandomize=True, deadline=None, max_examples=30)
if not EXPLORE:
    settings.load_profile("steady")

_BROWSER = OneBrowser()
_KEYS: list[bytes] = []


def pytest_configure() -> None:
    """Called by pytest first. A shell that runs it in the background may have it ignore Ctrl-C, and so would all that tests start."""
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Called by pytest for each path. Files without a test that is to run are not read: reading all takes each process 14 s."""
    chosen = config.option.markexpr
    if not fnmatch(collection_path.name, "test_*.py"):
        return None
    if chosen and (collection_path.parent.name == "golden") != (chosen == "golden"):
        return True
    if any(f"not {mark}" in chosen and _is_all(mark, collection_path) for mark in ("long", "train")):
        return True
    if chosen.startswith("long"):
        return not (_has_long(collection_path) and ("and alone" not in chosen or "mark.alone" in _text(collection_path))) or None
    return None


@cache
def _text(path: Path) -> str:
    return path.read_text(encoding="utf-8")


def _has_long(path: Path) -> bool:
    return re.search(r"mark\.long|tests\.longer", _text(path)) is not None


def _is_all(mark: str, path: Path) -> bool:
    return re.search(rf"^pytestmark = \[?\s*pytest\.mark\.{mark}\b", _text(path), re.MULTILINE) is not None


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Called by pytest before it looks at the marks."""
    for item in items:
        if item.get_closest_marker("long") and not _has_long(item.path):
            raise pytest.UsageError(
                f"{item.path} has a long test, but neither pytest.mark.long nor tests.longer: `make test-long` would miss it"
            )
        if "browser" in getattr(item, "fixturenames", ()):
            item.add_marker(pytest.mark.browser)


@pytest.hookimpl(tryfirst=True)  # before pytest-xdist tells the tests in their order
def pytest_collection_finish(session: pytest.Session) -> None:
    """Called by pytest when it knows what it will run, in each of its processes."""
    _spread(session.items, int(os.environ.get("PYTEST_XDIST_WORKER_COUNT", "1")))
    gc.collect()
    gc.freeze()
    collect_less_often()


# Files whose single tests take longest (up to minutes: they wait for batches, or start a command twenty times), the slowest first.
_SLOWEST = (
    "test_pages",
    "test_ctrl_c_anywhere",
    "test_llm_kill",
    "test_kill",
    "test_partitions_ray",
    "test_surrogate_running_scale",
    "test_app_by_mouse",
    "test_app_by_keys",
    "test_batch_runs",
    "test_partitions_killed",
    "test_batch_scheduler_resumed",
    "test_surrogate_bad_input",
    "test_partitions",
    "test_one_package",
    "test_annotation_load",
)


def _spread(items: list[pytest.Item], workers: int) -> None:
    """Have each worker begin with its share of the slowest tests, so that none is left to run alone at the end.

    ``--dist worksteal`` cuts the list into as many equal parts as there are workers. Where there are four, a file's slowest tests all go
    to one, which makes once what they share, and the pages to two; those that need a Ray for themselves go to the last one in any case:
    elsewhere they would wait for one another (``one_at_a_time``).
    """
    rank = {stem: place for place, stem in enumerate(_SLOWEST)}
    by_rank = sorted((item for item in items if item.path.stem in rank), key=lambda item: rank[item.path.stem])
    with_ray = [item for item in by_rank if item.path.stem == "test_partitions_ray" or item.name.endswith("[cluster]")]
    slowest = [item for item in by_rank if item not in with_ray]
    if workers == 4:
        at_home = [number % 2 if item.path.stem == _SLOWEST[0] else 2 + rank[item.path.stem] % 2 for number, item in enumerate(slowest)]
    else:
        at_home = [number % workers for number in range(len(slowest))]
    others = [item for item in items if item.path.stem not in rank]
    part = len(items) // workers
    items.clear()
    for number in range(workers):
        mine = [item for item, home in zip(slowest, at_home, strict=True) if home == number]
        mine[:0] = with_ray if number == workers - 1 else ()
        end = part - len(mine) if number < workers - 1 else len(others)
        items += [*mine, *others[:end]]
        del others[:end]


def pytest_runtest_setup(item: pytest.Item) -> None:
    """Called by pytest before each test."""
    if item.get_closest_marker("browser") is None:
        _BROWSER.close()
    _KEYS.clear()


@pytest.fixture
def browser() -> Iterator[Any]:
    """Chromium as Playwright drives it, shared with the tests before and after; without contexts and pages at the beginning."""
    yield _BROWSER.opened()
    _BROWSER.tidied()


@pytest.fixture(autouse=True, scope="session")
def _quick_hashes() -> Iterator[None]:
    """A password's hash with the usual parameters takes 64 MiB and 0.2 s of the processor, on purpose; tests make hundreds."""
    from argon2 import PasswordHasher

    from piiloom.annotation_app.people import accounts

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(accounts, "PasswordHasher", partial(PasswordHasher, time_cost=1, memory_cost=8, parallelism=1))
        yield


@pytest.fixture(autouse=True, scope="session")
def _keys_are_those_of_the_last_time() -> Iterator[None]:
    """A run draws from a random key: names that a file's encoding has not, for example, came in one of six runs of a test.

    In each test the first key is the same, the second another, and so on; keys of other processes stay random.
    """
    from piiloom.foundation import seeding

    def token_bytes(size: int) -> bytes:
        _KEYS.append(f"key {len(_KEYS)} of a test".encode().ljust(size))
        return _KEYS[-1]

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(seeding, "secrets", SimpleNamespace(token_bytes=token_bytes))
        yield


@pytest.fixture(autouse=True, scope="session")
def _new_stores_are_copied(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Making a store's tables takes 40 ms, and tests make thousands of stores: a new one is the copy of an empty one.

    Stores of tests about the store itself, of other processes and in memory are made as ever.
    """
    from piiloom.corpus.store import database
    from piiloom.corpus.store.store_files import Settings
    from piiloom.corpus.store.upgrading import MIGRATIONS, Migrations

    empty = tmp_path_factory.mktemp("empty") / "store.duckdb"
    database.Store.open(empty).close()
    content, opened = empty.read_bytes(), database.Store._opened

    def copied(path: Path, settings: Settings, migrations: Migrations, *, is_new: bool) -> Any:
        if is_new and migrations is MIGRATIONS and "/test_store_" not in os.environ.get("PYTEST_CURRENT_TEST", ""):
            path.write_bytes(content)
        return opened(path, settings, migrations, is_new=is_new)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(database.Store, "_opened", copied)
        yield


def pytest_sessionfinish() -> None:
    """Give it back: what C extensions still hold when Python ends they call a leak."""
    _BROWSER.close()
    gc.unfreeze()
