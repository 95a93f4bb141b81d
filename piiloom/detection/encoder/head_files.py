"""The file of the heads' weights: read without PyTorch."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from piiloom.foundation.errors import DataError, UsageError
from piiloom.foundation.extras import how_to_install

if TYPE_CHECKING:
    from numpy.typing import NDArray

HEADS: Final = "heads.safetensors"


def read_heads(folder: Path) -> Mapping[str, NDArray[Any]]:
    """Return the weights of the heads in *folder*, by name. Raises ``DataError`` if they cannot be read."""
    try:
        from safetensors.numpy import load_file  # noqa: PLC0415 - an extra brings it
    except ImportError:
        raise UsageError("the encoder needs the package safetensors", remedy=f"Install it: {how_to_install('train')}") from None
    try:
        weights: Mapping[str, NDArray[Any]] = load_file(folder / HEADS)
    except Exception as error:  # the library raises errors of its own
        raise damaged_heads(folder) from error
    return weights


def damaged_heads(folder: Path) -> DataError:
    """Return the error for heads that cannot be read, or do not fit the encoder."""
    return DataError(
        "the file is damaged, or of another model", where=str(folder / HEADS), remedy="Train again, or copy the whole folder again"
    )
