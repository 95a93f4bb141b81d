"""What the processes of pytest-xdist share: something of the machine (a Ray that others can find), or what takes long to make."""

from __future__ import annotations

import fcntl
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest


@contextmanager
def one_at_a_time(factory: pytest.TempPathFactory, name: str) -> Iterator[None]:
    """Hold the lock *name* in the block; waits while another worker of pytest-xdist holds it."""
    with (factory.getbasetemp().parent / f"{name}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


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
