"""Save what a probe trained, calibrated, so that it can be used as a detector. Needs the extra ``probe``."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any, Final

from piiloom.corpus.releases.manifest import types_beside
from piiloom.evaluation.probe.data import ProbeCorpus
from piiloom.evaluation.probe.run import ProbeResult, ProbeStep, TestResult, Trained, Watch
from piiloom.foundation.noop import noop
from piiloom.foundation.whole_files import sha256_of
from piiloom.tagging.calibrating import Calibrated, calibrate_on, calibrate_on_held_out
from piiloom.tagging.model import TaggingModel
from piiloom.tagging.model_folder import save_model
from piiloom.tagging.training import MAX_ITERATIONS
from piiloom.taxonomy.own_types import only

_PACKAGES: Final = ("python-crfsuite", "scikit-learn", "sklearn-crfsuite")


@dataclass(frozen=True, slots=True, kw_only=True)
class Saved:
    """What was saved where; ``calibration`` are its figures, as in the folder's ``piiloom.json``."""

    folder: Path
    types: tuple[str, ...]
    records: int
    calibration: dict[str, Any]


def save_trained(
    folder: Path, trained: Trained, result: ProbeResult, *, calibrate: ProbeCorpus | None = None, watch: Watch | None = None
) -> Saved:
    """Calibrate *trained*, the last training of *result*, and write it to *folder*.

    It is calibrated on *calibrate*, or on a part of the training data, for which it is trained once more without that part.
    """
    watch = watch or noop
    if calibrate is not None:
        made = calibrate_on(calibrate.records, trained.spans, trained.relevance, seed=result.seed)
        made.figures["on"] = Path(calibrate.file).name
    else:
        made = _held_out(trained, result.seed, watch)
    types = trained.spans.entity_types
    model = TaggingModel(
        spans=trained.spans,
        relevance=trained.relevance,
        span_calibration=made.spans,
        relevance_calibration=made.relevance,
        own_types=only(types_beside(Path(result.corpus.file)), types),
    )
    tests = [_tested(test) for test in result.trainings[-1].tests]
    save_model(
        folder,
        model,
        {name: version(name) for name in _PACKAGES},
        data=_data(result.corpus, trained),
        settings={"seed": result.seed, "most_iterations": MAX_ITERATIONS},
        figures={"tests": tests, "calibration": made.figures},
    )
    return Saved(folder=folder, types=tuple(types), records=len(trained.records), calibration=made.figures)


def _held_out(trained: Trained, seed: int, watch: Watch) -> Calibrated:
    records = len(trained.records)
    return calibrate_on_held_out(
        trained.records, lambda number: watch(ProbeStep(records=records, iterations=number, calibrating=True)), seed=seed
    )


def _data(corpus: ProbeCorpus, trained: Trained) -> dict[str, Any]:
    """What it learnt from; the name of the file without its folder, so that equal data give equal bytes."""
    spans = Counter(span.entity_type for record in trained.records for span in record.spans)
    judged = Counter(span.relevance for record in trained.records for span in record.spans if span.relevance is not None)
    return {
        "file": Path(corpus.file).name,
        "sha256": sha256_of(Path(corpus.file)),
        "records": len(trained.records),
        "spans": dict(sorted(spans.items())),
        "relevance": dict(sorted(judged.items())),
    }


def _tested(test: TestResult) -> dict[str, Any]:
    about = {"file": Path(test.corpus.file).name, "records": len(test.corpus.records), "spans": test.spans}
    return about | {name: round(value, 6) for name, value in test.figures.to_json().items()}
