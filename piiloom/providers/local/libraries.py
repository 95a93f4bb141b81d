"""The libraries that a local model needs, which come with an extra and are slow to import."""

from __future__ import annotations

import importlib
import warnings
from typing import Any, Final

from piiloom.foundation.errors import UsageError
from piiloom.foundation.extras import how_to_install

EXTRA: Final = "train"
# They tell each other's users, and so ours, what will be called otherwise one day.
_TALKATIVE: Final = ("transformers", "peft", "trl", "accelerate")


def library(name: str) -> Any:
    """Return the module *name*, imported now. Raises ``UsageError`` with the command that installs it if it is missing."""
    for other in _TALKATIVE:
        warnings.filterwarnings("ignore", category=FutureWarning, module=rf"{other}\b")
    try:
        return importlib.import_module(name)
    except ImportError as error:
        top = name.partition(".")[0]
        if error.name is not None and error.name.partition(".")[0] != top:
            top = f"{top} (it lacks {error.name})"
        raise UsageError(f"a local model needs the library {top}, which is not installed", remedy=how_to_install_it()) from error


def how_to_install_it() -> str:
    """Return the remedy for a missing library."""
    return f"Install it: {how_to_install(EXTRA)}"


def out_of_memory(error: BaseException) -> bool:
    """Whether *error* says that the memory of a GPU or of the machine is not enough; some libraries say so by a plain ``RuntimeError``."""
    if isinstance(error, MemoryError | library("torch").OutOfMemoryError):
        return True
    said = str(error).casefold() if isinstance(error, RuntimeError) else ""
    return "out of memory" in said or "can't allocate memory" in said or "alloc_failed" in said
