"""Write an evaluation to a folder: all figures, a page of the errors, the errors as JSONL, the confusion matrix, and plots.

Everything is written to a folder of drafts, ``errors.jsonl`` while the documents are read, and moved to its place when all of it is
complete; ``evaluation.json`` comes last, so a folder that has it is complete.
"""

from __future__ import annotations

import json
import shutil
from contextlib import ExitStack, suppress
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from piiloom.evaluation.bias.figures import BiasFigures
from piiloom.evaluation.gallery.collector import GalleryCollector, GalleryOptions
from piiloom.evaluation.gallery.error_log import error_log
from piiloom.evaluation.gallery.files import write_confusion, write_plots
from piiloom.evaluation.gallery.page import write_gallery
from piiloom.evaluation.pages.writing import write_plot
from piiloom.foundation.errors import UsageError
from piiloom.foundation.whole_files import check_folder, new_folders, output_errors

FIGURES, PAGE, ERRORS, CONFUSION, PLOTS = "evaluation.json", "errors.html", "errors.jsonl", "confusion.csv", "plots"
_DRAFTS = ".evaluation.part"


class EvaluationFolder:
    """The folder *out*, a context manager; ``gallery`` is the collector of the errors. Raises ``OutputError`` if *out* can't be written.

    After an error, *out* is as it was, and not there if it was not there before.
    """

    def __init__(self, out: Path, options: GalleryOptions, *, force: bool) -> None:
        check_folder(out, force=force)
        self._out = out
        self._drafts = out / _DRAFTS
        self._options = options
        self._open = ExitStack()
        self._log = ExitStack()

    def __enter__(self) -> Self:
        with ExitStack() as stack:
            with output_errors(self._out):
                stack.enter_context(new_folders([self._out]))
                shutil.rmtree(self._drafts, ignore_errors=True)  # what a killed evaluation left
                stack.callback(shutil.rmtree, self._drafts, ignore_errors=True)
            log = stack.enter_context(self._log).enter_context(error_log(self._drafts / ERRORS))
            self.gallery = GalleryCollector(self._options, log=log)
            self._open = stack.pop_all()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self._open.__exit__(kind, error, trace)

    def write(self, figures: dict[str, Any], *, title: str, bias: BiasFigures | None = None) -> list[str]:
        """Write all files, with *bias* also a plot of it, and return their names. Without matplotlib there are no plots."""
        self._log.close()
        write_confusion(self._drafts / CONFUSION, self.gallery.counts)
        names = [PAGE, ERRORS, CONFUSION]
        with suppress(UsageError):
            plots = write_plots(self._drafts / PLOTS, self.gallery.counts)
            if bias is not None:
                from piiloom.evaluation.bias.plot import bias_plot

                plots += write_plot(self._drafts / PLOTS, bias_plot(bias))
            names += [f"{PLOTS}/{path.name}" for path in plots]
        write_gallery(self._drafts / PAGE, self.gallery, title)
        with output_errors(self._out):
            text = json.dumps(figures, ensure_ascii=False, indent=2) + "\n"
            (self._drafts / FIGURES).write_bytes(text.encode("utf-8", "replace"))
            self._publish([*names, FIGURES])
        return [FIGURES, *names]

    def _publish(self, names: list[str]) -> None:
        (self._out / FIGURES).unlink(missing_ok=True)
        for name in names:
            (self._out / name).parent.mkdir(exist_ok=True)
            (self._drafts / name).replace(self._out / name)
