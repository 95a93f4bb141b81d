"""``piiloom detect`` in two worker processes, killed and gone on with: the bytes of a run that nobody killed."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path

import pytest

from tests.detection.own_entities import write_texts
from tests.longer import EXPLORE, usually

pytestmark = pytest.mark.long
COUNT = 20_000 if EXPLORE else 2_000
CHUNKS = COUNT // 250


def killed(command: list[str], notes: Path, chunks: int, *, all_of_it: bool) -> bool:
    """Start *command*, and kill it when *chunks* chunks are noted; whether it was alive then.

    *all_of_it*: its workers, too. Otherwise they must end by themselves.
    """
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True) as process:
        until = time.monotonic() + 60
        while time.monotonic() < until and process.poll() is None:
            if notes.exists() and notes.read_bytes().count(b"\n") >= chunks:
                break
            time.sleep(0.005)
        alive = process.poll() is None
        with suppress(ProcessLookupError):
            if all_of_it:
                os.killpg(process.pid, signal.SIGKILL)
            else:
                process.kill()
    until = time.monotonic() + 10
    with suppress(ProcessLookupError):
        while time.monotonic() < until:
            os.killpg(process.pid, 0)
            time.sleep(0.01)
        pytest.fail("a worker lives on")
    return alive


@pytest.mark.parametrize("target", usually(("found.jsonl", "folder"), {"found.jsonl"}))
def test_a_killed_run_ends_with_the_same_bytes(tmp_path, target):
    source = write_texts(tmp_path / "in.jsonl", COUNT)
    form = () if target.endswith(".jsonl") else ("--format", "csv")

    def words(folder: str, *more: str) -> list[str]:
        given = ("detect", source, "--out", tmp_path / folder / target, "--mask", "subtype", *form, *more)
        return [sys.executable, "-m", "piiloom", *map(str, given)]

    subprocess.run(words("whole", "--workers", "1"), check=True, capture_output=True)
    notes = tmp_path / "killed" / f".{target}.unfinished" / "chunks.jsonl"
    command = words("killed", "--workers", "2", "--resume", "--json")
    met = [killed(command, notes, chunks, all_of_it=chunks > 1) for chunks in (1, CHUNKS // 2)]
    assert any(met), "the kills came too late to tell anything"
    assert not (tmp_path / "killed" / target).exists()
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    told = json.loads(done.stdout)
    assert told["documents"] == COUNT
    assert told["kept"] >= COUNT // 2
    files, after = (_files(tmp_path / folder) for folder in ("whole", "killed"))
    assert files == after
    assert len(files) >= 2


def _files(folder: Path) -> dict[str, bytes]:
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()}
