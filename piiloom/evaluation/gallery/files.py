"""``confusion.csv`` and the plots."""

from __future__ import annotations

import csv
import io
from pathlib import Path

from piiloom.evaluation.gallery.breakdown import matrix
from piiloom.evaluation.gallery.counts import ErrorCounts
from piiloom.evaluation.pages.writing import write_plot
from piiloom.foundation.errors import UsageError
from piiloom.foundation.extras import how_to_install
from piiloom.foundation.whole_files import drafted

_MOST_TYPES = 500


def write_confusion(path: Path, counts: ErrorCounts) -> None:
    """Write the matrix: gold types by rows, predicted ones by columns; the row spurious and the column missed come last.

    Beyond 500 types the rarest are "others". Raises ``OutputError`` if it cannot be written.
    """
    held = matrix(counts, _MOST_TYPES)
    made = io.StringIO(newline="")
    writer = csv.writer(made, lineterminator="\n")
    writer.writerow(["gold", *held.columns])
    writer.writerows([name, *(cell.number for cell in cells)] for name, cells in held.rows)
    with drafted(path) as file:
        file.write(made.getvalue().encode())


def write_plots(folder: Path, counts: ErrorCounts) -> list[Path]:
    """Write each plot to *folder* as PNG and SVG, and return the files.

    Raises ``UsageError`` if matplotlib is missing, ``OutputError`` if one cannot be written.
    """
    try:
        from piiloom.evaluation.gallery.plots import all_plots
    except ImportError as error:
        raise UsageError("plots need matplotlib, which is not installed", remedy=f"Install it: {how_to_install('report')}") from error
    return [path for plot in all_plots(counts) for path in write_plot(folder, plot)]
