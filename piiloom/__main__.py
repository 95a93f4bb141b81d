"""``python -m piiloom``: the same as the console script."""

from __future__ import annotations

import sys

from piiloom.cli.main import run

if __name__ == "__main__":
    sys.exit(run())
