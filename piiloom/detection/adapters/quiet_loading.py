"""Loads models from local files without network and without progress bars."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any


@contextmanager
def local_and_quiet() -> Iterator[None]:
    """Within the block, libraries of Hugging Face neither look anything up on the network nor draw progress bars."""
    from huggingface_hub import constants  # noqa: PLC0415 - comes with transformers, an extra
    from transformers.utils import logging  # noqa: PLC0415 - an extra

    told: Any = logging
    offline, bars = constants.HF_HUB_OFFLINE, told.is_progress_bar_enabled()
    constants.HF_HUB_OFFLINE = True
    told.disable_progress_bar()
    try:
        yield
    finally:
        constants.HF_HUB_OFFLINE = offline
        if bars:
            told.enable_progress_bar()
