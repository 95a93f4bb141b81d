"""torch, and the device on which a model runs."""

from __future__ import annotations

from typing import Any, Final

from piiloom.foundation.errors import UsageError
from piiloom.foundation.extras import how_to_install

EXTRA: Final = "train"


def import_torch() -> Any:
    """Return the module ``torch``; raises ``UsageError`` with the command that installs it."""
    try:
        import torch  # noqa: PLC0415 - an extra, and slow
    except ImportError as error:
        raise UsageError("torch is not installed", remedy=f"Install it: {how_to_install(EXTRA)}") from error
    return torch


def chosen_device(name: str) -> str:
    """Return "cuda" or "cpu" for *name*, "auto" for what there is. Raises ``UsageError`` for "cuda" where there is none."""
    there = bool(import_torch().cuda.is_available())
    if name == "cuda" and not there:
        raise UsageError("torch finds no CUDA device here", where="--device cuda", remedy="Use --device cpu, or auto")
    return "cuda" if there and name != "cpu" else "cpu"
