"""The requested size of a test or validation split: a count ("200"), a fraction ("0.1") or none ("0")."""

from __future__ import annotations

import math

from piiloom.corpus.record import TEST, VALIDATION
from piiloom.corpus.releases.settings import SplitSettings
from piiloom.foundation.errors import UsageError
from piiloom.foundation.words import counted

_REMEDY = "Give a number of records (200), a fraction between 0 and 1 (0.1), or 0 for no such split"


class IndivisibleError(UsageError):
    """There are too few records, or too few groups of them, for a test or validation split beside a train split.

    ``cure``: what makes more groups, where these are too few.
    """

    cure: str = ""


def parse_size(text: str, split: str) -> int | float:
    """Parse the size of *split*: ``"200"`` → 200, ``"0.1"`` → 0.1, ``"0"`` → 0.

    Raises ``UsageError``, which names the split, for anything else, also for 1.0 and 0.0.
    """
    try:
        return _checked(int(text), split)
    except ValueError:
        pass
    try:
        return _checked(float(text), split)
    except ValueError:
        raise UsageError(f"the {split} size is not a number", where=f"{split} size", remedy=_REMEDY) from None


def split_sizes(settings: SplitSettings, records: int) -> dict[str, int]:
    """Return how many of *records* the test and the validation split get, the test split first; a split of size 0 is left out.

    Raises ``UsageError`` if a size is out of range, and ``IndivisibleError`` if both together leave nothing to train on.
    """
    test, validation = size_of(settings.test_size, records, TEST), size_of(settings.validation_size, records, VALIDATION)
    if test and validation and test + validation >= records:
        raise IndivisibleError(
            f"a test split of {test} and a validation split of {validation} leave nothing to train on: there are "
            f"{counted(records, 'record')}",
            where="split sizes",
            remedy="Ask for fewer",
        )
    return {split: count for split, count in ((TEST, test), (VALIDATION, validation)) if count}


def size_of(size: float, records: int, split: str) -> int:
    """Return how many of *records* a split of *size* gets; a fraction is rounded half up and gives at least one.

    Raises ``UsageError`` if the size is negative or a fraction outside (0, 1), and ``IndivisibleError`` if it leaves nothing to train on.
    """
    _checked(size, split)
    count = size if isinstance(size, int) else max(1, math.floor(size * records + 0.5))
    if count and count >= records:
        raise IndivisibleError(
            f"a {split} split of {count} leaves nothing to train on: there are {counted(records, 'record')}",
            where=f"{split} size",
            remedy="Ask for fewer, or for 0",
        )
    return count


def _checked(size: float, split: str) -> int | float:
    if size < 0 or (isinstance(size, float) and not 0.0 < size < 1.0):
        raise UsageError(f"the {split} size is out of range", where=f"{split} size", remedy=_REMEDY)
    return size
