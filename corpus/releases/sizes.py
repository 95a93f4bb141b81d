"""The requested size of a test split: a count ("200"), a fraction ("0.1") or none ("0")."""

from __future__ import annotations

import math

from piiloom.foundation.counting import counted
from piiloom.foundation.errors import UsageError

_REMEDY = "Give a number of records (200), a fraction between 0 and 1 (0.1), or 0 for no test split"


def parse_test_size(text: str) -> int | float:
    """Parse ``"200"`` → 200, ``"0.1"`` → 0.1, ``"0"`` → 0; raises ``UsageError`` for anything else, also for 1.0 and 0.0."""
    try:
        return _checked(int(text))
    except ValueError:
        pass
    try:
        return _checked(float(text))
    except ValueError:
        raise UsageError("the test size is not a number", where="test size", remedy=_REMEDY) from None


def size_of_test(test_size: float, records: int) -> int:
    """Return how many of *records* the test split gets; a fraction is rounded half up and gives at least one.

    Raises ``UsageError`` if the size is negative, a fraction outside (0, 1), or leaves nothing to train on.
    """
    _checked(test_size)
    count = test_size if isinstance(test_size, int) else max(1, math.floor(test_size * records + 0.5))
    if count and count >= records:
        raise UsageError(
            f"a test split of {count} leaves nothing to train on: there are {counted(records, 'record')}",
            where="test size",
            remedy="Ask for fewer, or for 0",
        )
    return count


def _checked(size: float) -> int | float:
    if size < 0 or (isinstance(size, float) and not 0.0 < size < 1.0):
        raise UsageError("the test size is out of range", where="test size", remedy=_REMEDY)
    return size
