"""Real data and tools of ../shared: the whole sets where they lie beside the checkout, else the excerpts that are committed here."""

from __future__ import annotations

from pathlib import Path
from typing import TypeVar

import pytest

Expected = TypeVar("Expected")
_SHARED, _EXCERPTS = Path(__file__).parents[2] / "shared", Path(__file__).parent / "excerpts"
WHOLE = (_SHARED / "data").is_dir()
# For long tests, which look at whole sets.
needs_whole = pytest.mark.skipif(not WHOLE, reason="looks at the whole sets of ../shared, which are not beside this checkout")


def shared(name: str) -> Path:
    """The file or folder *name* of ../shared, such as "data/capid"; without whole sets, its excerpt (tests/excerpts/SOURCES.md)."""
    return (_SHARED if WHOLE else _EXCERPTS) / name


def of_whole(expected: Expected, of_excerpt: Expected) -> Expected:
    """*expected* where the whole sets are read, else *of_excerpt*."""
    return expected if WHOLE else of_excerpt
