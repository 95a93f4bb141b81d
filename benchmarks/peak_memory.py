"""The peak memory of a process."""

from __future__ import annotations

from piiloom.foundation.peak_memory import peak_bytes


def peak_mb() -> float:
    """Give the peak memory of this process in MiB."""
    return peak_bytes() / 2**20
