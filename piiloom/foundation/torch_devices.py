"""PyTorch, and the device on which a model runs. PyTorch comes with an extra and is slow to import, so it is imported when asked for."""

from __future__ import annotations

from typing import Any, Final

from piiloom.foundation.errors import UsageError, how_to_install

EXTRA: Final = "train"
DEVICES: Final = ("auto", "cpu", "cuda")


def import_torch() -> Any:
    """Return the module ``torch``; raises ``UsageError`` with the command that installs it."""
    try:
        import torch  # noqa: PLC0415 - an extra, and slow
    except ImportError as error:
        raise UsageError("torch is not installed", remedy=f"Install it: {how_to_install(EXTRA)}") from error
    return torch


def chosen_device(name: str) -> str:
    """Return "cpu" or "cuda" for one of ``DEVICES``, "auto" for what there is.

    Raises ``UsageError`` for another name, and for CUDA where there is none.
    """
    if name not in DEVICES:
        raise UsageError(f"there is no device {name!r}", where="--device", remedy=f"Choose one of {', '.join(DEVICES)}")
    if name == "cpu":
        return name
    there = bool(import_torch().cuda.is_available())
    if name == "cuda" and not there:
        raise UsageError("torch finds no CUDA device here", where="--device cuda", remedy="Use --device cpu, or install torch for CUDA")
    return "cuda" if there else "cpu"
