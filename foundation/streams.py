"""Standard streams that the caller has closed (``piiloom … >&-``): the null device takes their place.

Otherwise the next file that is opened gets the free number, and what libraries print would go into it.
"""

from __future__ import annotations

import os
import sys
from typing import Final

_OPEN_AS: Final = (("stdin", "r"), ("stdout", "w"), ("stderr", "w"))


def open_closed_streams() -> None:
    """See that standard input, output and error are there; what is written to a closed one is lost, as its closing asked for."""
    for number, (name, mode) in enumerate(_OPEN_AS):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, os.O_RDWR)  # gets the lowest free number, which is this
        if getattr(sys, name) is None:  # Python has found it closed when it started
            setattr(sys, name, open(os.devnull, mode, encoding="utf-8", errors="backslashreplace"))  # noqa: SIM115, PTH123 - for the whole process
