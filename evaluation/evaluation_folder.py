"""Write an evaluation to a folder: all figures, a page of the errors, the errors as JSONL, the confusion matrix, and plots.

``errors.jsonl`` is written while the documents are read, into a draft; everything is moved to its place when all of it is complete.
"""

from __future__ import annotations

import json
from contextlib import ExitStack, suppress
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from piiloom.evaluation.bias.figures import BiasFigures
from piiloom.evaluation.gallery.collector import GalleryCollector, GalleryOptions
from piiloom.evaluation.gallery.error_log import error_log
from piiloom.evaluation.gallery.files import write_confusion, write_plots
from piiloom.evaluation.gallery.page import write_gallery
from piiloom.evaluation.pages.writing import check_folder, drafted, write_plot
from piiloom.foundation.errors import UsageError

FIGURES, PAGE, ERRORS, CONFUSION, PLOTS = "evaluation.json", "errors.html", "errors.jsonl", "confusion.csv", "plots"


class EvaluationFolder:
    """The folder *out*, a context manager; ``gallery`` is the collector of the errors. Raises ``OutputError`` if *out* can't be written."""

    def __init__(self, out: Path, options: GalleryOptions, *, force: bool) -> None:
        check_folder(out, force=force)
        self._out = out
        self._options = options
        self._open = ExitStack()

    def __enter__(self) -> Self:
        log = self._open.enter_context(error_log(self._out / ERRORS))
        self.gallery = GalleryCollector(self._options, log=log)
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self._open.__exit__(kind, error, trace)

    def write(self, figures: dict[str, Any], *, title: str, bias: BiasFigures | None = None) -> list[str]:
        """Write all files, with *bias* also a plot of it, and return their names. Without matplotlib there are no plots."""
        write_confusion(self._out / CONFUSION, self.gallery.counts)
        names = [PAGE, ERRORS, CONFUSION]
        with suppress(UsageError):
            plots = write_plots(self._out / PLOTS, self.gallery.counts)
            if bias is not None:
                from piiloom.evaluation.bias.plot import bias_plot

                plots += write_plot(self._out / PLOTS, bias_plot(bias))
            names += [f"{PLOTS}/{path.name}" for path in plots]
        write_gallery(self._out / PAGE, self.gallery, title)
        with drafted(self._out / FIGURES) as file:
            file.write((json.dumps(figures, ensure_ascii=False, indent=2) + "\n").encode("utf-8", "replace"))
        return [FIGURES, *names]
