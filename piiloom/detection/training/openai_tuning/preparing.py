"""Make the files and the plan of a job from training records. Nothing is sent."""

from __future__ import annotations

import hashlib
import secrets
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from piiloom.corpus.formats.openai_finetuning import FEWEST_EXAMPLES
from piiloom.corpus.record import Record
from piiloom.corpus.split_names import TRAIN, VALIDATION
from piiloom.detection.training.openai_tuning.estimate import Estimate, TrainingPrice, estimate_from, training_price, tuning_terms
from piiloom.detection.training.openai_tuning.job_folder import ROWS
from piiloom.detection.training.openai_tuning.plan import DataFile, Part, Plan
from piiloom.detection.training.openai_tuning.tasks import Rows, Task, get_task, make_rows
from piiloom.detection.training.training_data import TrainingData
from piiloom.foundation.errors import DataError, UsageError
from piiloom.foundation.words import counted
from piiloom.taxonomy.entity_types import Taxonomy
from piiloom.taxonomy.own_types import to_json

DEFAULT_TASK: Final = "markers"
_LONGEST_SUFFIX: Final = 64
_LARGEST_SEED: Final = 2**31 - 1
_MOST_BYTES: Final = 512_000_000
_MOST_EPOCHS: Final = 50


@dataclass(frozen=True, slots=True, kw_only=True)
class JobSettings:
    """What a job is to be, as the user says it; None: the default. ``epochs`` "auto": OpenAI chooses.

    Raises ``UsageError`` for what OpenAI would refuse.
    """

    task: str = DEFAULT_TASK
    model: str | None = None
    suffix: str | None = None
    seed: int | None = None
    epochs: int | None = None
    batch_size: int | None = None
    learning_rate: float | None = None
    training_price: float | None = None

    def __post_init__(self) -> None:
        get_task(self.task)
        suffix = self.suffix
        if suffix is not None and not (0 < len(suffix) <= _LONGEST_SUFFIX and suffix.isascii() and suffix.replace("-", "a").isalnum()):
            remedy = f"Give up to {_LONGEST_SUFFIX} ASCII letters, digits and dashes"
            raise UsageError(f"{suffix!r} cannot be part of a model's name", where="--suffix", remedy=remedy)
        if self.seed is not None and not 0 <= self.seed <= _LARGEST_SEED:
            raise UsageError("OpenAI takes no such seed", where="--seed", remedy=f"Give a number from 0 to {_LARGEST_SEED:,}")
        if self.epochs is not None and not 1 <= self.epochs <= _MOST_EPOCHS:
            raise UsageError("this is no number of epochs", where="--epochs", remedy=f"Give a number from 1 to {_MOST_EPOCHS}, or auto")

    @property
    def base(self) -> str:
        """The model to be tuned."""
        return self.model or tuning_terms().model

    @property
    def price(self) -> TrainingPrice | None:
        """The price of training it; None: unknown."""
        return training_price(self.base, self.training_price)


@dataclass(frozen=True, slots=True, kw_only=True)
class Prepared:
    """The rows of a job by part, their estimate, what is left out, and notes for the user."""

    rows: Mapping[Part, Rows]
    estimate: Estimate
    left_out: list[Mapping[str, Any]]
    notes: tuple[str, ...]


def prepare(data: TrainingData, settings: JobSettings) -> Prepared:
    """Return the rows of *data* for the task. Raises ``DataError`` if OpenAI would refuse them."""
    task = get_task(settings.task)
    notes: list[str] = []
    left_out: list[Mapping[str, Any]] = []
    train = _rows(task, TRAIN, data.train, data.taxonomy, left_out)
    validation = _rows(task, VALIDATION, data.validation, data.taxonomy, left_out) if data.validation else None
    if len(train.lines) < FEWEST_EXAMPLES:
        problem = (
            f"there are {counted(len(train.lines), 'example')} to train on, and OpenAI takes no file with fewer than {FEWEST_EXAMPLES}"
        )
        raise DataError(problem, remedy="Train on more records, or take fewer off with --validation-size")
    rows: dict[Part, Rows] = {"train": train}
    if validation is not None and len(validation.lines) < FEWEST_EXAMPLES:
        notes.append(
            f"no validation file: {counted(len(validation.lines), 'example')}, and OpenAI takes none with fewer than {FEWEST_EXAMPLES}"
        )
    elif validation is not None:
        rows["validation"] = validation
    for part, one in rows.items():
        size = sum(map(len, one.lines))
        if size > _MOST_BYTES:
            problem = f"the {part} file has {size / 1e6:,.0f} MB, and OpenAI takes {_MOST_BYTES / 1e6:,.0f}"
            raise DataError(problem, remedy="Train on fewer records")
    reasons = Counter(str(one["reason"]) for one in left_out)
    notes += [f"{counted(count, 'time')}: {reason}" for reason, count in reasons.items()]
    counts = {"examples": len(train.lines), "tokens": train.tokens, "most_tokens": train.most_tokens}
    return Prepared(rows=rows, estimate=estimate_from(counts, settings.epochs, settings.price), left_out=left_out, notes=tuple(notes))


def plan_for(data: TrainingData, settings: JobSettings, prepared: Prepared, *, endpoint: str, store: Path) -> Plan:
    """Return the plan of a new job."""
    task = settings.task
    files = tuple(data_file(task, part, rows) for part, rows in prepared.rows.items())
    return Plan(
        label=f"piiloom-{secrets.token_hex(12)}",
        task=task,
        model=settings.base,
        endpoint=endpoint,
        store=str(store.absolute()),
        files=files,
        types=data.types,
        data=data.about,
        own_types=tuple(to_json(data.own_types)),
        suffix=settings.suffix or f"piiloom-{task}",
        seed=settings.seed,
        epochs=settings.epochs,
        batch_size=settings.batch_size,
        learning_rate=settings.learning_rate,
        price=settings.price,
        left_out=dict(Counter(str(one["reason"]) for one in prepared.left_out)),
    )


def _rows(task: Task, split: str, records: tuple[Record, ...], taxonomy: Taxonomy, left_out: list[Mapping[str, Any]]) -> Rows:
    rows = make_rows(task, records, taxonomy)
    left_out += ({"split": split, "row": number, "reason": reason} for number, reason in rows.left_out)
    # What the format says of single records; that OpenAI refuses or cuts is counted by rows above.
    left_out += (
        {"split": split, "record": entry.record_id, "reason": entry.reason}
        for entry in rows.loss.entries
        if entry.record_id and not _counted(entry.reason)
    )
    return rows


def _counted(reason: str) -> bool:
    return "OpenAI" in reason


def data_file(task: str, part: Part, rows: Rows) -> DataFile:
    """Return the description of the file of *rows*."""
    content = b"".join(rows.lines)
    sha256 = hashlib.sha256(content).hexdigest()
    return DataFile(
        part=part,
        path=ROWS[part],
        name=f"piiloom-{task}-{part}-{sha256[:24]}.jsonl",
        sha256=sha256,
        bytes=len(content),
        examples=len(rows.lines),
        tokens=rows.tokens,
        most_tokens=rows.most_tokens,
    )
