"""Shared by the tests of the command line: the real entry point, run in this process or in one of its own."""

from __future__ import annotations

import gc
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from piiloom.cli.main import run
from piiloom.corpus.store.database import Store
from tests.piiloom.small_runs import SMALL, Cli, Outcome

KEYS = ("OPENAI_API_KEY", "ANTHROPIC_API_KEY", "PIILOOM_COMPATIBLE_API_KEY", "OPENAI_BASE_URL", "ANTHROPIC_BASE_URL")


@pytest.fixture(scope="session", autouse=True)
def _no_leftovers() -> Iterator[None]:
    """Free failed stores that only a traceback still holds: DuckDB's bindings call them leaks when Python ends."""
    yield
    gc.collect()


@pytest.fixture(autouse=True)
def _no_keys(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in KEYS:
        monkeypatch.delenv(name, raising=False)


@pytest.fixture
def cli(capfd: pytest.CaptureFixture[str]) -> Cli:
    """Run a command line in this process: ``cli("generate", "--samples", 3)``."""

    def call(*words: object) -> Outcome:
        code = run([str(word) for word in words])
        out, err = capfd.readouterr()
        return Outcome(code=code, out=out, err=err)

    return call


@pytest.fixture
def spawn() -> Cli:
    """Run a command line in a process of its own; *before* is Python code to run there first."""

    def call(*words: object, before: str = "") -> Outcome:
        code = f"import sys\n{before}\nfrom piiloom.cli.main import run\nsys.exit(run(sys.argv[1:]))"
        command = [sys.executable, "-c", code, *(str(word) for word in words)]
        done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False, env=os.environ.copy())
        return Outcome(code=done.returncode, out=done.stdout, err=done.stderr)

    return call


@pytest.fixture
def store_path(tmp_path: Path) -> Path:
    """Where a test may make a store; its folder does not exist yet."""
    return tmp_path / "work" / "test.duckdb"


@pytest.fixture(scope="session")
def filled_bytes(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """A store with one finished run of 12 records."""
    path = tmp_path_factory.mktemp("filled") / "filled.duckdb"
    assert run(["generate", "--samples", "12", *SMALL, "--quiet", "--store", str(path)]) == 0
    return path.read_bytes()


@pytest.fixture
def filled(filled_bytes: bytes, store_path: Path) -> Path:
    """A copy of its own of a store with one finished run of 12 records."""
    store_path.parent.mkdir()
    store_path.write_bytes(filled_bytes)
    return store_path


@pytest.fixture
def released(filled: Path, cli: Cli) -> Path:
    """A store with the release ``v1`` of 12 records, nothing of them in the test split."""
    assert cli("release", "--name", "v1", "--test-size", "0", "--store", filled).code == 0
    return filled


@pytest.fixture(scope="session")
def paid_bytes(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """A store with one finished run of paid calls, in which things went wrong."""
    from tests.piiloom.paid_store import make_paid_store

    path = tmp_path_factory.mktemp("paid") / "paid.duckdb"
    make_paid_store(path)
    return path.read_bytes()


@pytest.fixture
def paid(paid_bytes: bytes, store_path: Path) -> Path:
    """A copy of its own of that store."""
    store_path.parent.mkdir()
    store_path.write_bytes(paid_bytes)
    return store_path


@pytest.fixture
def empty_store(store_path: Path) -> Path:
    """A store without runs and records."""
    Store.open(store_path).close()
    return store_path
