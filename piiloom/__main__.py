"""``python -m piiloom``: the same as the console script."""

from __future__ import annotations

import sys

from piiloom.cli.entry import main

if __name__ == "__main__":
    sys.exit(main())
