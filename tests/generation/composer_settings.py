"""Runs of the composer as the tests of this room make them: in this process, or in one of their own.

As a script: ``start STORE [SETTINGS [OUT]]`` or ``resume STORE [SETTINGS [OUT]]``; settings are JSON, exports go to OUT.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

from piiloom.corpus.formats.base import WriteOptions
from piiloom.corpus.formats.registry import get_format
from piiloom.corpus.releases.exporting import export_release
from piiloom.corpus.releases.freezing import create_release
from piiloom.corpus.store.database import Store
from piiloom.corpus.store.records import iter_records
from piiloom.corpus.store.runs import get_run
from piiloom.foundation.noop import noop
from piiloom.generation.run_session import run_to_end
from piiloom.generation.running.opening import resume_run, start_run
from piiloom.generation.running.progress import RunProgress, Watch
from piiloom.generation.settings.setting_checks import make_config
from piiloom.taxonomy.entity_types import shipped_taxonomy
from tests.forked import Forked

ROOT = Path(__file__).parents[2]
SAMPLES = 150


def start(path: Path, *, watch: Watch = noop, **settings: Any) -> RunProgress:
    """Start a run from scenarios, if *settings* name no other recipe, in the store at *path* and go on to its end."""
    with Store.open(path) as store:
        return run_to_end(start_run(store, make_config({"samples": SAMPLES, "recipe": "staged", **settings})), watch=watch)


def resume(path: Path, *, watch: Watch = noop, **changes: Any) -> RunProgress:
    """Take the last run up again."""
    with Store.open(path, create=False) as store:
        return run_to_end(resume_run(store, get_run(store, "last"), **changes), watch=watch)


def exported(path: Path, *, file_format: str = "native", first: int | None = None) -> str:
    """The records of the last run (its *first* ones) as the lines of an export."""
    with Store.open(path, create=False) as store:
        records = list(iter_records(store, run_id=get_run(store, "last").id))[:first]
    target = path.with_suffix(".exported")
    get_format(file_format).write(records, target, WriteOptions(taxonomy=shipped_taxonomy()))
    return target.read_text(encoding="utf-8")


def export_files(path: Path, out: Path) -> None:
    """Release the last run and export it in both formats to folders in *out*."""
    with Store.open(path, create=False) as store:
        create_release(store, "r", test_size=0.2, seed=1, run="last")
        for file_format in ("native", "capid"):
            export_release(store, "r", file_format, out / file_format)


def in_a_process(*arguments: str, hash_seed: int = 0) -> subprocess.Popen[str]:
    """Run Python with *arguments* from the root of the tree; its output is piped, and its hashes differ by *hash_seed*."""
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "PYTHONHASHSEED": str(hash_seed)}
    return subprocess.Popen(
        [sys.executable, *arguments], cwd=ROOT, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )


def script(*arguments: str, hash_seed: int | None = None) -> subprocess.Popen[str] | Forked:
    """Run this file as a script in a process of its own: a fork, or a new one whose hashes differ by *hash_seed*."""
    if hash_seed is None:
        return Forked([sys.executable, "-m", "tests.generation.composer_settings", *arguments])
    return in_a_process(str(Path(__file__)), *arguments, hash_seed=hash_seed)


def finished(process: subprocess.Popen[str] | Forked, *, timeout_s: float = 120) -> tuple[int, str, str]:
    """Wait for *process*: its exit code, output and errors."""
    try:
        output, errors = process.communicate(timeout=timeout_s)
    except subprocess.TimeoutExpired:
        process.kill()
        process.communicate()
        raise
    return process.returncode, output, errors


def at_work(path: Path) -> Path:
    """The file that says that a run on the store at *path* has begun to work."""
    return path.with_name(f"{path.name}.at-work")


def main(command: str, path: str, settings: str = "{}", out: str | None = None) -> None:
    """Be the script; prints how the run ended. The file ``STORE.at-work`` appears with the first item that is done."""
    work = {"start": start, "resume": resume}[command]
    progress = work(Path(path), watch=lambda _: at_work(Path(path)).touch(), **json.loads(settings))
    if out is not None:
        export_files(Path(path), Path(out))
    sys.stdout.write(f"{progress.status} {progress.accepted} {progress.rejected}\n")


if __name__ == "__main__":
    main(*sys.argv[1:])
