"""Tests that share something of the machine (a Ray that others can find): one of them at a time, in whatever process they run."""

from __future__ import annotations

import fcntl
from collections.abc import Iterator
from contextlib import contextmanager

import pytest


@contextmanager
def one_at_a_time(factory: pytest.TempPathFactory, name: str) -> Iterator[None]:
    """Hold the lock *name* in the block; waits while another worker of pytest-xdist holds it."""
    with (factory.getbasetemp().parent / f"{name}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield
