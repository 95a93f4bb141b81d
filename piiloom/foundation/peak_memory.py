"""The most memory that this process has had."""

from __future__ import annotations

import resource
import sys
from pathlib import Path

_STATUS = Path("/proc/self/status")


def peak_bytes() -> int:
    """Return the peak of the resident memory of this process.

    On Linux it is not ``ru_maxrss``, which begins with that of the process that started this one.
    """
    if _STATUS.exists():
        return next(int(line.split()[1]) for line in _STATUS.read_text().splitlines() if line.startswith("VmHWM")) * 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024)
