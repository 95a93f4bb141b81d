"""Run a probe on files and optionally write its errors to a file. Needs the extra ``probe``."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

from piiloom.corpus.formats.json_rows import write_rows
from piiloom.evaluation.probe.data import read_corpus
from piiloom.evaluation.probe.matching import error_rows
from piiloom.evaluation.probe.run import DEFAULT_SEED, ProbeResult, Watch, run_probe
from piiloom.foundation.errors import OutputError, UsageError


def probe_files(
    train: Path,
    tests: Sequence[Path],
    *,
    sizes: Sequence[int] | None = None,
    errors: Path | None = None,
    seed: int = DEFAULT_SEED,
    watch: Watch | None = None,
    file_format: str | None = None,
) -> tuple[ProbeResult, Counter[str] | None]:
    """Train on the file *train* and test on the files *tests*; returns the result, and error counts by kind if *errors* is given.

    *errors*: a file for the errors of the last (largest) training. *file_format*: that of all files; None: native or CAPID, row by row.
    Bad arguments or files raise ``UsageError``, ``DataError`` or
    ``OutputError`` before the training starts.
    """
    _refuse_overwriting(errors, train, tests)
    corpora = [read_corpus(path, file_format) for path in (train, *tests)]
    with _place_for(errors):
        result = run_probe(corpora[0], corpora[1:], sizes=sizes, seed=seed, watch=watch)
        return result, None if errors is None else _write_errors(errors, result)


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
