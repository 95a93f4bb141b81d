"""``python -m docs.making``: write the pages that are made from the code, and say which have changed."""

from __future__ import annotations

import sys

from docs.making.pages import MADE, ROOT


def main() -> None:
    """Write each page whose text has changed."""
    for name, make in MADE.items():
        text, path = make(), ROOT / name
        if not path.exists() or path.read_text(encoding="utf-8") != text:
            path.write_text(text, encoding="utf-8")
            sys.stdout.write(f"{name}: updated\n")


if __name__ == "__main__":
    main()
