"""Run a probe on files; if wanted, write its errors to a file, and what it trained to a folder. Needs the extra ``probe``."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from piiloom.corpus.formats.native_rows import write_rows
from piiloom.evaluation.probe.data import read_corpus
from piiloom.evaluation.probe.matching import error_rows
from piiloom.evaluation.probe.run import DEFAULT_SEED, ProbeResult, Trained, Watch, run_probe
from piiloom.evaluation.probe.saving import Saved, save_trained
from piiloom.foundation.errors import OutputError, UsageError
from piiloom.tagging.model_folder import check_place


class Probed(NamedTuple):
    """What came of a probe: the number of errors by kind if they were written, and what was saved, if anything was."""

    result: ProbeResult
    errors: Counter[str] | None
    saved: Saved | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Saving:
    """Where what the last training gave is saved, and on which file it is calibrated (None: a part of the training data).

    ``force`` replaces what is in the folder.
    """

    folder: Path
    calibrate: Path | None = None
    force: bool = False


def probe_files(
    train: Path,
    tests: Sequence[Path],
    *,
    sizes: Sequence[int] | None = None,
    errors: Path | None = None,
    seed: int = DEFAULT_SEED,
    watch: Watch | None = None,
    file_format: str | None = None,
    saving: Saving | None = None,
) -> Probed:
    """Train on the file *train* and test on the files *tests*, of which there may be none if *saving* is given.

    *errors*: a file for the errors of the last (largest) training. *file_format*: that of all files; None: native or CAPID, row by row.
    Bad arguments or files raise ``UsageError``, ``DataError`` or ``OutputError`` before the training starts.
    """
    _refuse_overwriting(errors, train, tests)
    if saving is not None:
        check_place(saving.folder, force=saving.force)
        if saving.calibrate is not None and saving.calibrate.resolve() == train.resolve():
            remedy = "Name another file; without one, a part of the training data is held out"
            raise UsageError("scores cannot be calibrated on what was learnt", where="--calibrate", remedy=remedy)
    corpora = [read_corpus(path, file_format) for path in (train, *tests)]
    calibrate = read_corpus(saving.calibrate, file_format) if saving is not None and saving.calibrate is not None else None
    last: list[Trained] = []
    with _place_for(errors):
        on_trained = None if saving is None else lambda trained: last.__setitem__(slice(None), [trained])
        result = run_probe(corpora[0], corpora[1:], sizes=sizes, seed=seed, watch=watch, on_trained=on_trained)
        kinds = None if errors is None else _write_errors(errors, result)
    saved = None if saving is None else save_trained(saving.folder, last[0], result, calibrate=calibrate, watch=watch)
    return Probed(result, kinds, saved)


def _refuse_overwriting(errors: Path | None, train: Path, tests: Sequence[Path]) -> None:
    if errors is not None and errors.resolve() in {path.resolve() for path in (train, *tests)}:
        raise UsageError("errors would overwrite a file of the probe", where="--errors", remedy="Name another file")


@contextmanager
def _place_for(path: Path | None) -> Iterator[None]:
    """Create a draft file for *path*, so that an unwritable place raises ``OutputError`` before the training; remove it at the end."""
    if path is None:
        yield
        return
    if path.is_dir():
        raise OutputError("this is a folder", where=str(path), remedy="Name a file with --errors")
    with _output_errors(path):
        path.parent.mkdir(parents=True, exist_ok=True)
        _draft(path).touch()
    try:
        yield
    finally:
        with suppress(OSError):
            _draft(path).unlink(missing_ok=True)


def _write_errors(path: Path, result: ProbeResult) -> Counter[str]:
    """Write the errors of the last training to *path*; returns their number by kind."""
    rows = [row for test in result.trainings[-1].tests for row in error_rows(test.corpus.file, test.comparisons)]
    with _output_errors(path):
        write_rows(rows, _draft(path))
        _draft(path).replace(path)
    return Counter(str(row["kind"]) for row in rows)


def _draft(path: Path) -> Path:
    return path.with_name(f".{path.name}.part")


@contextmanager
def _output_errors(path: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        reason = f"the errors cannot be written ({error.strerror})"
        raise OutputError(reason, where=str(path), remedy="Name another file with --errors") from error
