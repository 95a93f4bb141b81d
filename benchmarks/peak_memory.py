"""The peak memory of a process."""

from __future__ import annotations

import resource
from pathlib import Path


def peak_mb() -> float:
    """Give the peak memory of this process: not ``ru_maxrss``, which on Linux begins with that of the process that started it."""
    status = Path("/proc/self/status")
    if status.exists():
        return next(int(line.split()[1]) for line in status.read_text().splitlines() if line.startswith("VmHWM")) / 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
