"""The work behind ``piiloom probe``."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

from piiloom.cli.probe_progress import shown_steps
from piiloom.cli.probe_tables import print_result, to_json
from piiloom.cli.terminal import say, say_json
from piiloom.corpus.formats.json_rows import write_row
from piiloom.evaluation.probe_data import read_corpus
from piiloom.evaluation.probe_matching import error_rows
from piiloom.evaluation.probe_run import ProbeResult, run_probe
from piiloom.foundation.counting import counted
from piiloom.foundation.errors import OutputError, UsageError


def probe_and_report(
    train: Path,
    tests: Sequence[Path],
    *,
    sizes: str | None,
    limit: int | None,
    by_type: bool,
    errors: Path | None,
    seed: int,
    as_json: bool,
) -> None:
    """Probe and print the figures; what is wrong with the request or the files comes out before the training."""
    wanted = _sizes(sizes, limit)
    _refuse_overwriting(errors, train, tests)
    corpora = [read_corpus(path) for path in (train, *tests)]
    with _place_for(errors):
        with shown_steps(wanted=not as_json) as watch:
            result = run_probe(corpora[0], corpora[1:], sizes=wanted, seed=seed, watch=watch)
        written = None if errors is None else _write_errors(errors, result)
    if as_json:
        say_json(to_json(result, by_type=by_type) | {"errors_file": None if errors is None else str(errors)})
        return
    print_result(result, by_type=by_type)
    if written is not None:
        kinds = ", ".join(f"{kind.replace('_', ' ')} {count:,}" for kind, count in written.most_common())
        say(f"errors when trained on {counted(result.trainings[-1].records, 'record')}: {kinds or 'none'}; in {errors}")


def _sizes(sizes: str | None, limit: int | None) -> list[int] | None:
    if sizes is None:
        return None if limit is None else [limit]
    if limit is not None:
        raise UsageError("--limit and --sizes both say how much to train on", remedy="Give one of them")
    parts = [part.strip() for part in sizes.split(",")]
    if not all(re.fullmatch(r"[1-9][0-9]{0,8}", part) for part in parts):
        raise UsageError("not a list of numbers of records", where="--sizes", remedy="Write for example --sizes 250,500,1000")
    return [int(part) for part in parts]


def _refuse_overwriting(errors: Path | None, train: Path, tests: Sequence[Path]) -> None:
    if errors is not None and errors.resolve() in {path.resolve() for path in (train, *tests)}:
        raise UsageError("errors would overwrite a file of the probe", where="--errors", remedy="Name another file")


@contextmanager
def _place_for(path: Path | None) -> Iterator[None]:
    """Begin a draft of *path*, so that a place where nothing can be written is known before the training; remove it in the end."""
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
    """Write what the last training got wrong; the number of errors by kind."""
    rows = [row for test in result.trainings[-1].tests for row in error_rows(test.corpus.file, test.comparisons)]
    with _output_errors(path):
        with _draft(path).open("w", encoding="utf-8", newline="\n") as fh:
            for row in rows:
                write_row(row, fh)
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
