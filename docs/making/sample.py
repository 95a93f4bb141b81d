"""The sample release in ``outputs/sample``: ``python -m docs.making.sample FOLDER`` writes it, with the commands that a user has."""

from __future__ import annotations

import contextlib
import io
import shutil
import sys
import tempfile
from pathlib import Path

from piiloom.cli.main import run

# The store's path is on the page, so the commands run where it is short.
_STORE = ("--store", "sample.duckdb")
_COMMANDS = (
    ("generate", "--samples", "200", "--seed", "7", *_STORE),
    ("release", "--name", "sample", "--test-size", "40", "--license", "Apache-2.0", *_STORE),
    ("export", "--release", "sample", "--format", "native", "--out", "native", *_STORE),
    ("export", "--release", "sample", "--format", "huggingface", "--out", "huggingface", *_STORE),
    ("report", "--release", "sample", "--out", "report", *_STORE),
)


def make_sample(folder: Path) -> None:
    """Write the sample to *folder*: the files that depend on no clock and no version of a library."""
    folder = folder.resolve()
    with tempfile.TemporaryDirectory() as made:
        for command in _COMMANDS:
            with contextlib.chdir(made), contextlib.redirect_stdout(io.StringIO()):
                if run(list(command)) != 0:
                    raise SystemExit(1)
        shutil.rmtree(folder, ignore_errors=True)
        shutil.copytree(Path(made, "native"), folder)
        shutil.copy(Path(made, "report", "index.html"), folder)
        # Parquet names the library's version in each file, so the card is for the rows in JSON lines.
        card = Path(made, "huggingface", "README.md").read_text(encoding="utf-8")
        (folder / "README.md").write_text(card.replace(".parquet\n", ".jsonl\n"), encoding="utf-8", newline="\n")


if __name__ == "__main__":
    make_sample(Path(sys.argv[1]))
