"""Make the files and the plan of a job from training records. Nothing is sent."""

from __future__ import annotations

import hashlib
import secrets
from collections import Counter
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, Final

from piiloom.corpus.formats.instruction_tuning import FEWEST_EXAMPLES
from piiloom.corpus.record import TRAIN, VALIDATION, Record
from piiloom.corpus.store.database import Store
from piiloom.corpus.store.reading import open_to_read
from piiloom.detection.training.openai_tuning.estimate import PROVIDER, Estimate, check_affordable, estimate_from
from piiloom.detection.training.openai_tuning.job_folder import ROWS, JobFolder
from piiloom.detection.training.openai_tuning.plan import DataFile, Part, Plan
from piiloom.detection.training.openai_tuning.tasks import Rows, get_task, make_rows
from piiloom.detection.training.openai_tuning.tuning_options import JobSettings, TuningOptions
from piiloom.detection.training.training_data import TrainingData, read_input
from piiloom.detection.training.training_options import DEFAULT_SEED
from piiloom.foundation.errors import DataError, UsageError
from piiloom.foundation.event_loops import run_in_own_loop
from piiloom.foundation.noop import noop
from piiloom.foundation.words import counted
from piiloom.providers.factory import make_provider
from piiloom.taxonomy.own_types import to_json

Tell = Callable[[str], object]
Opening = Callable[[Path], AbstractContextManager[Store]]
_MOST_BYTES: Final = 512_000_000


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
    make = partial(make_rows, task, taxonomy=data.taxonomy, markers=settings.marker_set)
    train = _rows(make, TRAIN, data.train, left_out)
    validation = _rows(make, VALIDATION, data.validation, left_out) if data.validation else None
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


def prepare_asked(asked: TuningOptions, *, tell: Tell = noop, opening: Opening = open_to_read) -> tuple[TrainingData, Prepared]:
    """Read the records of *asked* and return them with their rows; *tell* gets the notes, *opening* opens the store."""
    seed = DEFAULT_SEED if asked.seed is None else asked.seed
    data = read_input(asked, seed, tell=tell, opening=opening, relevance=get_task(asked.task).relevance)
    prepared = prepare(data, asked)
    for note in prepared.notes:
        tell(note)
    return data, prepared


def plan_job(
    folder: JobFolder,
    asked: TuningOptions,
    *,
    agree: Callable[[Prepared, str], object],
    tell: Tell = noop,
    opening: Opening = open_to_read,
) -> None:
    """Plan a new job in *folder*, after *agree*, which is called with the rows and the address and raises ``UsageError`` to refuse."""
    provider = make_provider(PROVIDER, model=asked.base, base_url=asked.base_url)
    endpoint = provider.endpoint
    run_in_own_loop(provider.aclose)
    data, prepared = prepare_asked(asked, tell=tell, opening=opening)
    check_affordable(prepared.estimate, asked.budget_usd, model=asked.base, unpriced=asked.unpriced)
    agree(prepared, endpoint)
    plan = plan_for(data, asked, prepared, endpoint=endpoint, store=asked.store)
    folder.write_plan(plan, {part: list(rows.lines) for part, rows in prepared.rows.items()}, prepared.left_out)


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
        markers=settings.markers,
        suffix=settings.suffix or f"piiloom-{task}",
        seed=settings.seed,
        epochs=settings.epochs,
        batch_size=settings.batch_size,
        learning_rate=settings.learning_rate,
        price=settings.price,
        left_out=dict(Counter(str(one["reason"]) for one in prepared.left_out)),
    )


def check_same(folder: JobFolder, asked: TuningOptions) -> None:
    """Raise ``UsageError`` if an option that was given differs from the job in *folder*."""
    plan = folder.plan()
    files = [str(one["name"]) for one in plan.data.get("files", ())]
    same_files = files == [path.name for path in (*asked.train, *([asked.validation] if asked.validation else ()))]
    there: dict[str, object] = {
        "release": plan.data.get("release"),
        "train": asked.train if same_files else files,
        "split": tuple(plan.data.get("splits") or ()),
        "validation": asked.validation if not asked.train or same_files else files,
        "store": Path(plan.store),
        "task": plan.task,
        "model": plan.model,
        "markers": plan.markers,
        "suffix": plan.suffix,
        "seed": plan.seed,
        "epochs": plan.epochs,
        "batch_size": plan.batch_size,
        "learning_rate": plan.learning_rate,
        "training_price": None if plan.price is None else plan.price.usd,
    }
    for name, given in asked.given().items():
        if name in there and (given.absolute() if name == "store" else given) != (was := there[name]):
            told = ", ".join(map(str, was)) if isinstance(was, list | tuple) else was
            option = TuningOptions.option_name(name)
            problem = f"the folder holds another job: its {option} is {'not set' if told is None or told == '' else told}"
            raise UsageError(problem, where=str(folder.path), remedy="Leave the option out to go on with that job, or name a new folder")


def _rows(make: Callable[[tuple[Record, ...]], Rows], split: str, records: tuple[Record, ...], left_out: list[Mapping[str, Any]]) -> Rows:
    rows = make(records)
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
