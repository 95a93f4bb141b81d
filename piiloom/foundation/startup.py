"""The start of a command: standard streams, and how often the cyclic garbage collector runs.

A standard stream that the caller has closed (``piiloom … >&-``) is replaced by the null device. Otherwise the next file opened would get
the free descriptor number, and output of libraries would go into it. Only piiloom's own processes call ``collect_less_often``, never a
process that imports piiloom.
"""

from __future__ import annotations

import gc
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

_OPEN_AS: Final = (("stdin", "r"), ("stdout", "w"), ("stderr", "w"))


def open_closed_streams() -> None:
    """Make sure that standard input, output and error are open; output to a stream that was closed is discarded."""
    for number, (name, mode) in enumerate(_OPEN_AS):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, os.O_RDWR)  # gets the lowest free descriptor, which is *number*
        if getattr(sys, name) is None:  # Python found it closed at startup
            setattr(sys, name, open(os.devnull, mode, encoding="utf-8", errors="backslashreplace"))  # noqa: SIM115, PTH123 - for the whole process


# New objects before a collection, and collections before one of the next generation. Python's 700 suits programs with few objects: a
# loaded bank has hundreds of thousands that stay, and a run of the composer went through them for a fifth of its time.
_THRESHOLDS = (200_000, 10, 10)


def collect_less_often() -> None:
    """Set the thresholds of the collector for a process that works on records until it ends."""
    gc.set_threshold(*_THRESHOLDS)


@contextmanager
def collecting_at(objects: int) -> Iterator[None]:
    """In the block, collect only when there are *objects* new ones: for a work that keeps very many on purpose, and makes few cycles."""
    known = gc.get_threshold()
    gc.set_threshold(max(known[0], objects) if known[0] else 0, *known[1:])  # 0: the collector is off, and stays so
    try:
        yield
    finally:
        gc.set_threshold(*known)
