"""The folders of data that people edit: they are at the top of a checkout, and inside the package in a wheel."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Final

_PACKAGE: Final = Path(__file__).parents[1]


@cache
def data_folder(name: str) -> Path:
    """Return the folder *name* of the shipped data: ``taxonomy``, ``prompts`` or ``annotation_app``.

    A wheel contains it as ``piiloom/data/<name>``. A checkout, and so an editable install, has it at the top level.
    """
    packaged = _PACKAGE / "data" / name
    return packaged if packaged.is_dir() else _PACKAGE.parent / name
