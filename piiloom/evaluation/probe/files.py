"""Run a probe on files; if wanted, write its errors to a file, and the trained detector to a folder."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, nullcontext, suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Self

from pydantic import field_validator, model_validator

from piiloom.corpus.formats.base import Json
from piiloom.corpus.formats.native_rows import write_rows
from piiloom.corpus.formats.registry import READABLE
from piiloom.evaluation.probe.data import read_corpus
from piiloom.foundation.errors import OutputError, UsageError
from piiloom.foundation.settings import Converted, OptionalPath, Settings, setting
from piiloom.foundation.whole_files import check_folder, write_errors

if TYPE_CHECKING:
    from piiloom.evaluation.probe.run import ProbeResult, ProbeWatch, TestResult, Trained

_ANOTHER: Final = "Name another file with --errors"


class ProbeSettings(Settings):
    """Settings of a probe. Raises ``UsageError`` for settings that contradict each other."""

    input_format: str | None = setting(
        None,
        f"Format of the files ({', '.join(READABLE)}); native or CAPID by each row when not given.",
        metavar="FORMAT",
    )
    sizes: Converted[tuple[int, ...] | None, str | Sequence[int] | None] = setting(
        None, "Train once for each of these numbers of records: a learning curve.", metavar="N,N,…", kind=str
    )
    limit: int | None = setting(None, "Train on the first N records of the shuffled data only.", flags="--limit -n", metavar="N", ge=1)
    by_type: bool = setting(False, "Also give recall and precision of each type (of the largest size).")
    errors: OptionalPath = setting(
        None, "JSONL file for missed, spurious and wrong spans, which is replaced. It contains corpus text.", metavar="FILE"
    )
    seed: int = setting(7, "Same seed and data, same order of training and same intervals.")
    out: OptionalPath = setting(
        None,
        "New folder for the detector (of the largest size): piiloom detect --detector probe --model-path DIR.",
        flags="--out -o",
        metavar="DIR",
    )
    calibrate: OptionalPath = setting(
        None, "Data on which the scores of the saved detector are calibrated; a part of TRAIN when not given.", metavar="FILE"
    )
    force: bool = setting(False, "Replace the detector in the folder of --out.")

    @field_validator("sizes", mode="before")
    @classmethod
    def _numbers(cls, given: object) -> object:
        if not isinstance(given, str):
            return given
        parts = [part.strip() for part in given.split(",")]
        if not all(re.fullmatch(r"[1-9][0-9]{0,8}", part) for part in parts):
            raise UsageError("not a list of numbers of records", where="--sizes", remedy="Write for example --sizes 250,500,1000")
        return tuple(map(int, parts))

    @model_validator(mode="after")
    def _consistent(self) -> Self:
        if self.sizes is not None and self.limit is not None:
            raise UsageError("--limit and --sizes both give the number of records to train on", remedy="Give one of them")
        if self.out is None and (self.calibrate is not None or self.force):
            raise UsageError("only what is saved is calibrated or replaced", where="--calibrate, --force", remedy="Add --out DIR")
        return self


@dataclass(frozen=True, slots=True, kw_only=True)
class Probed:
    """The result of a probe: the number of errors by kind if they were written, and the saved detector, if it was saved."""

    settings: ProbeSettings
    result: ProbeResult
    errors: Counter[str] | None
    saved: Json | None

    def to_json(self) -> dict[str, Any]:
        """Return all figures, unrounded; figures by entity type only if the settings ask for them."""
        result, saved = self.result, self.saved
        figures = {
            "train": {"file": result.corpus.file, "records": len(result.corpus.records), "left_out": dict(result.corpus.left_out)},
            "seed": result.seed,
            "trainings": [
                {
                    "records": training.records,
                    "spans": training.spans,
                    "high_share": training.high / training.spans,
                    "tests": [_test_to_json(test, by_type=self.settings.by_type) for test in training.tests],
                }
                for training in result.trainings
            ],
            "errors_file": None if self.settings.errors is None else str(self.settings.errors),
        }
        return figures if saved is None else figures | {"saved": saved}


def _test_to_json(test: TestResult, *, by_type: bool) -> dict[str, Any]:
    values: dict[str, Any] = {
        "file": test.corpus.file,
        "records": len(test.corpus.records),
        "left_out": dict(test.corpus.left_out),
        "spans": test.spans,
        "high_spans": test.high,
        "low_spans": test.low,
        **asdict(test.figures),
        "intervals": {name: [interval.low, interval.high] for name, interval in test.intervals.items()},
    }
    if by_type:
        values["by_type"] = test.by_type
    return values


def probe_files(train: Path, tests: Sequence[Path], settings: ProbeSettings, watch: ProbeWatch | None = None) -> Probed:
    """Train on the file *train* and test on the files *tests*, of which there may be none if the detector is saved.

    It needs the extra ``probe``. Bad settings or files raise ``UsageError``, ``DataError`` or ``OutputError``, before the training starts.
    """
    from piiloom.evaluation.probe.run import run_probe, save_trained
    from piiloom.evaluation.probe.scores import error_rows

    errors, out = settings.errors, settings.out
    if not tests and out is None:
        raise UsageError("there is nothing to test on", where="TEST", remedy="Name a file, or save the detector with --out DIR")
    if errors is not None and errors.resolve() in {path.resolve() for path in (train, *tests)}:
        raise UsageError("errors would overwrite a file of the probe", where="--errors", remedy="Name another file")
    if out is not None:
        check_folder(out, force=settings.force)
        if settings.calibrate is not None and settings.calibrate.resolve() == train.resolve():
            remedy = "Name another file; without one, a part of the training data is held out"
            raise UsageError("scores cannot be calibrated on the training data", where="--calibrate", remedy=remedy)
    corpora = [read_corpus(path, settings.input_format) for path in (train, *tests)]
    calibrate = None if settings.calibrate is None else read_corpus(settings.calibrate, settings.input_format)
    sizes = settings.sizes if settings.limit is None else (settings.limit,)
    last: list[Trained] = []
    kinds: Counter[str] | None = None
    with nullcontext() if errors is None else _draft_of(errors) as draft:
        on_trained = None if out is None else lambda trained: last.__setitem__(slice(None), [trained])
        result = run_probe(corpora[0], corpora[1:], sizes=sizes, seed=settings.seed, watch=watch, on_trained=on_trained)
        if errors is not None and draft is not None:
            rows = [row for test in result.trainings[-1].tests for row in error_rows(test.corpus.file, test.comparisons)]
            with write_errors(errors, "the errors", remedy=_ANOTHER):
                write_rows(rows, draft)
            kinds = Counter(str(row["kind"]) for row in rows)
    saved = None if out is None else save_trained(out, last[0], result, calibrate=calibrate, watch=watch)
    return Probed(settings=settings, result=result, errors=kinds, saved=saved)


@contextmanager
def _draft_of(path: Path) -> Iterator[Path]:
    """Give a draft for *path*, which takes its place at the end. An unwritable place raises ``OutputError`` before the training."""
    if path.is_dir():
        raise OutputError("this is a folder", where=str(path), remedy="Name a file with --errors")
    draft = path.with_name(f".{path.name}.part")
    try:
        with write_errors(path, "the errors", remedy=_ANOTHER):
            path.parent.mkdir(parents=True, exist_ok=True)
            draft.touch()
        yield draft
        with write_errors(path, "the errors", remedy=_ANOTHER):
            draft.replace(path)
    finally:
        with suppress(OSError):
            draft.unlink(missing_ok=True)
