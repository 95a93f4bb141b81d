"""Detect in an input of any size. Equal input and settings give the same bytes for any number of workers, also if a run was killed.

Memory does not grow with the input, but for what an export format needs.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from piiloom.corpus.releases.export_drafts import new_folders
from piiloom.detection.running.progress import DetectionReport, Watch
from piiloom.detection.running.reading import DocumentReader
from piiloom.detection.running.request import DetectionRequest
from piiloom.detection.running.session import Session
from piiloom.detection.running.unfinished import UnfinishedRun, cannot_write
from piiloom.foundation.errors import Interrupted, PiiloomError, UsageError
from piiloom.foundation.noop import noop
from piiloom.providers.protocol import Provider


def run_detection(
    request: DetectionRequest, *, watch: Watch = noop, provider: Provider | None = None, agree: Callable[[], object] = noop
) -> DetectionReport:
    """Detect, and write what *request* asks for; nothing of it has its name before all is there.

    *watch* is called as documents are done. *provider* replaces that of the settings. *agree* is called when all that can be checked is
    checked, and before a text is sent to a model; if it raises, nothing is.

    Raises ``UsageError``, ``DataError`` and ``OutputError``, ``Interrupted`` after Ctrl-C, and the errors of models that hit every
    document. What was done until then is kept, and the error says how to go on.
    """
    started = time.monotonic()
    target = request.target()
    reader = DocumentReader(request.inputs)
    with ExitStack() as stack:
        try:
            stack.enter_context(new_folders([request.out.parent]))
        except OSError as error:
            raise cannot_write(request.out, error) from error
        kept = stack.enter_context(UnfinishedRun(request.out, request.about, resume=request.resume, force=request.force))
        if kept.is_published:
            told = kept.roll_forward()
            return _report(request, told["figures"], [Path(name) for name in told["files"]], told["figures"]["documents"], started)
        target.check(again=kept.is_exporting)
        run = Session(request.named_after(reader.files), reader, kept, watch, stack)
        try:
            run.detect(provider, agree)
            figures, files = run.finish(target)
        except (KeyboardInterrupt, Interrupted):
            raise Interrupted("stopped at once", remedy=run.how_to_go_on() or "Give the same command again") from None
        except PiiloomError as error:
            if (remedy := run.how_to_go_on()) and not isinstance(error, UsageError):
                error.remedy = f"{error.remedy.rstrip('.')}. {remedy}" if error.remedy else remedy
            raise
    return _report(request, figures, files, run.replayed, started, run.model)


def _report(
    request: DetectionRequest, figures: dict[str, Any], files: list[Path], kept: int, started: float, model: dict[str, Any] | None = None
) -> DetectionReport:
    return DetectionReport(out=request.out, figures=figures, files=tuple(files), kept=kept, seconds=time.monotonic() - started, model=model)
