"""Loads models from local files without network and without progress bars."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def local_and_quiet() -> Iterator[None]:
    """Within the block, libraries of Hugging Face neither look anything up on the network nor draw progress bars."""
    from huggingface_hub import constants  # noqa: PLC0415 - comes with transformers, an extra
    from transformers.utils import logging  # noqa: PLC0415 - an extra

    offline, bars = constants.HF_HUB_OFFLINE, logging.is_progress_bar_enabled()
    constants.HF_HUB_OFFLINE = True
    logging.disable_progress_bar()
    try:
        yield
    finally:
        constants.HF_HUB_OFFLINE = offline
        if bars:
            logging.enable_progress_bar()
