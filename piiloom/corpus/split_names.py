"""The names of splits, and their order."""

from __future__ import annotations

from collections.abc import Iterable

TRAIN, VALIDATION, TEST = "train", "validation", "test"
_FOLD = "fold"
_ORDER = (TRAIN, VALIDATION, TEST)


def fold_name(number: int) -> str:
    """Return the name of fold *number* (from 1 on): "fold1"; a name that Hugging Face datasets accepts."""
    return f"{_FOLD}{number}"


def in_order(names: Iterable[str]) -> list[str]:
    """Return the distinct *names*: train, validation, test, then the folds by number."""
    return sorted(set(names), key=_place)


def _place(name: str) -> tuple[int, int, str]:
    if name in _ORDER:
        return _ORDER.index(name), 0, name
    number = name.removeprefix(_FOLD)
    return len(_ORDER), int(number) if number.isdigit() else 0, name
