"""Replace standard streams that the caller has closed (``piiloom … >&-``) by the null device.

Otherwise the next file opened would get the free descriptor number, and output of libraries would go into it.
"""

from __future__ import annotations

import os
import sys
from typing import Final

_OPEN_AS: Final = (("stdin", "r"), ("stdout", "w"), ("stderr", "w"))


def open_closed_streams() -> None:
    """Make sure that standard input, output and error are open; output to a stream that was closed is discarded."""
    for number, (name, mode) in enumerate(_OPEN_AS):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, os.O_RDWR)  # gets the lowest free descriptor, which is *number*
        if getattr(sys, name) is None:  # Python found it closed at startup
            setattr(sys, name, open(os.devnull, mode, encoding="utf-8", errors="backslashreplace"))  # noqa: SIM115, PTH123 - for the whole process
