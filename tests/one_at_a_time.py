"""What the processes of pytest-xdist share: something of the machine (a Ray that others can find), or what takes long to make."""

from __future__ import annotations

import fcntl
import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest


@contextmanager
def one_at_a_time(factory: pytest.TempPathFactory, name: str) -> Iterator[None]:
    """Hold the lock *name* in the block; waits while another worker of pytest-xdist holds it."""
    with (factory.getbasetemp().parent / f"{name}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


@contextmanager
def alone_with_ray(factory: pytest.TempPathFactory) -> Iterator[None]:
    """No other Ray is on this machine in the block: ``auto`` would join it, and a process whose cluster ends under it is aborted by Ray."""
    with one_at_a_time(factory, "ray"):
        deadline = time.monotonic() + 60
        while (left := _rays()) and time.monotonic() < deadline:  # those of a process that was killed end a little after it
            time.sleep(0.1)
        assert left == [], "Ray's servers did not end"
        yield


def _rays() -> list[int]:
    """The ids of the processes by which ``auto`` finds a cluster."""
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):  # it has ended meanwhile
            if b"--gcs-address" in (folder / "cmdline").read_bytes():
                found.append(int(folder.name))
    return found


def made_once(factory: pytest.TempPathFactory, name: str, make: Callable[[Path], None]) -> Path:
    """Return a folder that *make* has filled, in whichever process of this test run came first. Nothing may be changed there."""
    if "PYTEST_XDIST_WORKER" not in os.environ:
        folder = factory.mktemp(name)
        make(folder)
        return folder
    folder = factory.getbasetemp().parent / f"made-{name}"  # the parent belongs to this test run
    with one_at_a_time(factory, f"made-{name}"):
        if not (folder / "made").exists():
            folder.mkdir()
            make(folder)
            (folder / "made").touch()
    return folder
