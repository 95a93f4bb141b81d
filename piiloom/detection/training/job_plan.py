"""The plan of a job: the rows that training records give, their cost, and all settings; and the job's money in a store.

The plan is made before anything is sent. The rows are those of an export, in the very form in which a detector asks the tuned model. The
careful estimate is set aside in the store first, and replaced by the cost when the job has ended. The job is a run with one call.
"""

from __future__ import annotations

import hashlib
import json
import math
import secrets
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, closing
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from pydantic import BaseModel, Field

from piiloom.corpus.formats.instruction_tuning import FEWEST_EXAMPLES, MOST_TOKENS
from piiloom.corpus.record import TRAIN, VALIDATION, Record
from piiloom.corpus.store.call_events import CallEvent, EventKind, save_call_events
from piiloom.corpus.store.costs import open_sends, spending
from piiloom.corpus.store.database import Store
from piiloom.corpus.store.opening import open_to_read
from piiloom.corpus.store.runs import RunStatus, asking_run, set_run_status
from piiloom.detection.families import CAPID, MARKERS
from piiloom.detection.training.training_data import read_input, written_rows
from piiloom.detection.training.training_options import DEFAULT_EPOCHS, DEFAULT_SEED, VERIFIER_1, VERIFIER_2, JobSettings, TuningOptions
from piiloom.execution.call_entries import failure_entry
from piiloom.execution.money.budget import BudgetReached
from piiloom.foundation.errors import DataError, UsageError
from piiloom.foundation.noop import noop
from piiloom.foundation.seeding import digest
from piiloom.foundation.words import counted
from piiloom.providers.prices import MODELS_VARIABLE, load_models, shipped_models, tuned_family
from piiloom.tagging.model_folder import About
from piiloom.taxonomy.entity_types import Taxonomy
from piiloom.taxonomy.own_types import from_json, to_json

if TYPE_CHECKING:
    from piiloom.providers.openai_jobs import RemoteJob

PROVIDER: Final = "openai"
_STAGE: Final = "train_openai"
PLAN, LEFT_OUT = "job.json", "left-out.jsonl"
# For each task: its description in the estimate, and the options of ``piiloom detect`` that use the tuned model.
USES: Final[Mapping[str, tuple[str, str]]] = {
    MARKERS: ("give the text back with marks around what it finds", "--detector markers"),
    CAPID: ("list what it finds as JSON, with its relevance to the question", "--detector capid"),
    VERIFIER_1: ("judge one finding: T or F", "--detector patterns --verify 1"),
    VERIFIER_2: ("judge one finding, with a reasoning before it", "--detector patterns --verify 2"),
}
TOO_LONG: Final = f"probably more than {MOST_TOKENS:,} tokens, where OpenAI would cut the answer off"
# Four bytes a token is the usual estimate for English; the other figure is a careful one. By o200k_base, the tokenizer of the GPT-4o and
# GPT-4.1 families, rows have 4.2 to 4.4 in English, 3.4 in Dutch and Chinese, 2.9 in Polish; not one of 2,900 has fewer than 2.6.
_BYTES_A_TOKEN, _FEWEST_BYTES_A_TOKEN = 4.0, 2.5
# OpenAI's chat format adds these to a message, and to an example.
_TOKENS_A_MESSAGE, _TOKENS_AN_EXAMPLE = 3, 3
_MOST_BYTES: Final = 512_000_000
# OpenAI's guide on the epochs that it chooses: three, or more for few and fewer for many examples.
_FEWEST_SEEN, _MOST_SEEN, _MOST_EPOCHS = 100, 25_000, 25
_SCHEMA: Final = 1


class TrainingPrice(BaseModel):
    """The price of a million trained tokens in USD, its date (ISO) and its source."""

    usd: float
    dated: str
    source: str


class DataFile(BaseModel):
    """A file of rows: ``path`` within the job's folder, and its ``name`` at OpenAI, which is that of its content.

    ``tokens`` is an estimate and ``most_tokens`` a careful one; both count each example once.
    """

    part: str
    path: str
    name: str
    sha256: str
    bytes: int
    examples: int
    tokens: int
    most_tokens: int


class TuningPlan(JobSettings):
    """All decisions about a job (``job.json``). ``label`` is our own id of it, ``store`` is for its costs.

    ``data`` describes the source of the records (``training_data``), ``types`` the types of their spans.
    """

    label: str
    model: str
    endpoint: str
    store: str
    files: tuple[DataFile, ...] = Field(min_length=1)
    types: tuple[str, ...]
    data: Mapping[str, Any]
    own_types: tuple[Mapping[str, Any], ...] = ()
    price: TrainingPrice | None = None
    left_out: Mapping[str, int] = {}

    def cost_usd(self, tokens: int) -> float | None:
        """Return the cost of training on *tokens*; None if the price is unknown."""
        return None if self.price is None else round(tokens * self.price.usd * 1e-6, 9)

    @property
    def estimate(self) -> dict[str, Any]:
        """The expected tokens of all epochs, and their cost in USD (None: the price is unknown), as JSON values.

        A budget must cover "most_usd", a careful figure. "chosen": OpenAI chooses the epochs, and the number is that of its guide.
        """
        train = self.files[0]
        epochs = usual_epochs(train.examples) if self.epochs is None else self.epochs
        tokens, most = train.tokens * epochs, train.most_tokens * epochs
        counts = {"examples": train.examples, "epochs": epochs, "chosen": self.epochs is None, "tokens": tokens, "most_tokens": most}
        price = None if self.price is None else self.price.model_dump()
        return {**counts, "price": price, "usd": self.cost_usd(tokens), "most_usd": self.cost_usd(most)}

    def request(self, files: Mapping[str, str]) -> dict[str, Any]:
        """Return the arguments of ``OpenAIJobs.create`` for uploaded *files* (ids by part). OpenAI chooses the rest."""
        numbers = {"n_epochs": self.epochs, "batch_size": self.batch_size, "learning_rate_multiplier": self.learning_rate}
        chosen = {name: number for name, number in numbers.items() if number is not None}
        options = {"validation_file": files.get(VALIDATION), "suffix": self.suffix, "seed": self.seed}
        return {
            "model": self.model,
            "training_file": files[TRAIN],
            "method": {"type": "supervised", "supervised": {"hyperparameters": chosen} if chosen else {}},
            **{name: value for name, value in options.items() if value is not None},
        }

    def card(self, job: str, tuned: str | None, epochs: object, figures: Mapping[str, Any]) -> About:
        """Return the card of the model *tuned* by *job*."""
        price = None if self.price is None else self.price.model_dump()
        return About(
            family=PROVIDER,
            types=self.types,
            base={"name": self.model, "provider": PROVIDER, "endpoint": self.endpoint},
            data=self.data,
            settings={
                **self.model_dump(include={"task", "markers", "suffix", "seed", "batch_size"}),
                "model": tuned,
                "job": job,
                "n_epochs": epochs if isinstance(epochs, int) else self.epochs,
                "learning_rate_multiplier": self.learning_rate,
            },
            figures={**figures, "price": price},
            own_types=from_json(list(self.own_types)),
        )

    def use_of(self, tuned: str) -> str:
        """Return the command that uses the model *tuned*."""
        how = USES[self.task][1] + (f" --markers {self.markers}" if self.marker_set.pairs else "")
        return f"piiloom detect texts.jsonl {how} --provider openai --model {tuned} --out found.jsonl"

    def check_affordable(self, budget_usd: float | None, *, unpriced: bool) -> None:
        """Raise ``BudgetReached`` if the job could cost more than *budget_usd*, and ``UsageError`` where that cannot be known."""
        estimate, give = self.estimate, "Give it with --training-price (USD per million trained tokens)"
        if self.price is None and budget_usd is not None:
            raise UsageError(f"a budget needs a price, and that of training {self.model!r} is unknown", where="--budget-usd", remedy=give)
        if self.price is None and not unpriced:
            raise UsageError(
                f"the price of training {self.model!r} is unknown", where="--model", remedy=f"{give}, or accept it with --unpriced"
            )
        if budget_usd is None:
            return
        if estimate["chosen"]:
            raise UsageError(
                "a budget needs a number of epochs, and OpenAI is to choose it",
                where="--epochs auto",
                remedy="Give a number, such as --epochs 3",
            )
        if estimate["most_usd"] > budget_usd:
            problem = f"the budget of ${budget_usd:g} is too small: training is estimated at ${estimate['usd']:.2f}, and could cost "
            problem += f"${estimate['most_usd']:.2f} if the texts have more tokens than usual"
            raise BudgetReached(
                problem, where="--budget-usd", remedy="Raise it, or train on fewer records or for fewer --epochs; nothing was sent"
            )

    def check_same(self, asked: TuningOptions, folder: Path) -> None:
        """Raise ``UsageError`` if an option that was given differs from this job, which is in *folder*."""
        files = [str(one["name"]) for one in self.data.get("files", ())]
        same_files = files == [path.name for path in (*asked.train, *([asked.validation] if asked.validation else ()))]
        there: dict[str, object] = {
            **{name: getattr(self, name) for name in JobSettings.model_fields},
            "release": self.data.get("release"),
            "train": asked.train if same_files else files,
            "split": tuple(self.data.get("splits") or ()),
            "validation": asked.validation if not asked.train or same_files else files,
            "store": Path(self.store),
            "training_price": None if self.price is None else self.price.usd,
        }
        for name, given in asked.given().items():
            if name in there and (given.absolute() if name == "store" else given) != (was := there[name]):
                value = ", ".join(map(str, was)) if isinstance(was, list | tuple) else was
                setting = f"its {asked.option_name(name)} is {'not set' if value is None or value == '' else value}"
                raise UsageError(
                    f"the folder holds another job: {setting}",
                    where=str(folder),
                    remedy="Leave the option out to go on with that job, or name a new folder",
                )


def read_plan(path: Path) -> TuningPlan:
    """Read a plan. Raises ``DataError`` if it is damaged or was written by a newer piiloom."""
    remedy = "Restore it from a copy. Without it, look for the job with piiloom train openai --list"
    try:
        row = json.loads(path.read_text(encoding="utf-8"))
        schema = row.pop("schema")
        if isinstance(schema, int) and schema > _SCHEMA:
            raise DataError("the job was planned by a newer piiloom", where=str(path), remedy="Update piiloom")
        return TuningPlan.model_validate(row)
    except OSError as error:
        raise DataError(f"the plan of the job cannot be read ({error.strerror})", where=str(path), remedy=remedy) from error
    except (UsageError, ValueError, KeyError, TypeError, AttributeError, RecursionError):
        raise DataError("the plan of the job is damaged", where=str(path), remedy=remedy) from None


def base_model(asked: TuningOptions) -> str:
    """Return the model to be tuned."""
    return asked.model or load_models().tuning[PROVIDER].model


def usual_epochs(examples: int) -> int:
    """Return the number of epochs that OpenAI chooses for so many examples, by its guide."""
    if examples * DEFAULT_EPOCHS < _FEWEST_SEEN:
        return min(_MOST_EPOCHS, _FEWEST_SEEN // max(1, examples))
    return max(1, _MOST_SEEN // examples) if examples * DEFAULT_EPOCHS > _MOST_SEEN else DEFAULT_EPOCHS


def training_price(model: str, given: float | None = None) -> TrainingPrice | None:
    """Return the price of training *model*: *given*, or the listed one; None if it is unknown."""
    if given is not None:
        return TrainingPrice(usd=given, dated="", source="given with --training-price")
    book, family = load_models(), tuned_family(model)
    found = book.find(PROVIDER, family)
    if found is None or found.training is None:
        return None
    if found == shipped_models().find(PROVIDER, family):
        terms = book.tuning[PROVIDER]
        return TrainingPrice(usd=found.training, dated=terms.dated.isoformat(), source=terms.source)
    return TrainingPrice(usd=found.training, dated=book.dated.isoformat(), source=f"the models file that {MODELS_VARIABLE} names")


def warnings_about(model: str) -> list[str]:
    """Return what users should know before they pay for tuning *model*."""
    terms, found = load_models().tuning[PROVIDER], load_models().find(PROVIDER, tuned_family(model))
    notes = [terms.notice] if terms.notice else []
    if terms.ends is not None:
        notes.append(f"it is announced that no new jobs can be created from {terms.ends.isoformat()} on")
    if found is not None and found.shuts_down is not None:
        notes.append(f"{model} and the models tuned from it are announced to be turned off on {found.shuts_down.isoformat()}")
    return notes


def make_plan(
    asked: TuningOptions,
    *,
    endpoint: str = "",
    tell: Callable[[str], object] = noop,
    opening: Callable[[Path], AbstractContextManager[Store]] = open_to_read,
) -> tuple[TuningPlan, dict[str, bytes]]:
    """Plan a new job on the records of *asked*. Return the plan and the contents of the folder's files by name, ``job.json`` last.

    *tell* gets notes, *opening* opens the store. Raises ``DataError`` for rows that OpenAI would refuse.
    """
    data = read_input(asked, DEFAULT_SEED if asked.seed is None else asked.seed, tell=tell, opening=opening, relevance=asked.task == CAPID)
    files: list[DataFile] = []
    contents: dict[str, bytes] = {}
    left_out: list[Mapping[str, Any]] = []
    for part, records in ((TRAIN, data.train), (VALIDATION, data.validation)):
        lines = _rows(part, records, asked, data.taxonomy, left_out)
        if part == TRAIN or len(lines) >= FEWEST_EXAMPLES:
            files.append(data_file(asked.task, part, lines))
            contents[files[-1].path] = b"".join(lines)
        elif records:
            tell(f"no validation file: {counted(len(lines), 'example')}, and OpenAI takes none with fewer than {FEWEST_EXAMPLES}")
    _check_sizes(files)
    reasons = Counter(str(one["reason"]) for one in left_out)
    for reason, count in reasons.items():
        tell(f"{counted(count, 'time')}: {reason}")
    given = {name: getattr(asked, name) for name in JobSettings.model_fields}
    model = base_model(asked)
    plan = TuningPlan(
        **given | {"model": model, "suffix": asked.suffix or f"piiloom-{asked.task}"},
        label=f"piiloom-{secrets.token_hex(12)}",
        endpoint=endpoint,
        store=str(asked.store.absolute()),
        files=tuple(files),
        types=data.types,
        data=data.about,
        own_types=tuple(to_json(data.own_types)),
        price=training_price(model, asked.training_price),
        left_out=reasons,
    )
    contents[LEFT_OUT] = b"".join(json.dumps(one, ensure_ascii=False).encode() + b"\n" for one in left_out)
    return plan, contents | {PLAN: plan_file(plan)}


def plan_file(plan: TuningPlan) -> bytes:
    """Return the contents of ``job.json``."""
    return (json.dumps({"schema": _SCHEMA, **plan.model_dump(mode="json")}, ensure_ascii=False, indent=2) + "\n").encode()


def data_file(task: str, part: str, lines: Sequence[bytes]) -> DataFile:
    """Return the description of the file with these *lines*."""
    content = b"".join(lines)
    sha256 = hashlib.sha256(content).hexdigest()
    return DataFile(
        part=part,
        path=f"{part}.jsonl",
        name=f"piiloom-{task}-{part}-{sha256[:24]}.jsonl",
        sha256=sha256,
        bytes=len(content),
        examples=len(lines),
        tokens=sum(_tokens(line, _BYTES_A_TOKEN) for line in lines),
        most_tokens=sum(min(MOST_TOKENS, _tokens(line, _FEWEST_BYTES_A_TOKEN)) for line in lines),
    )


def _rows(part: str, records: Sequence[Record], asked: TuningOptions, taxonomy: Taxonomy, left_out: list[Mapping[str, Any]]) -> list[bytes]:
    """Return the rows of *records* without those that OpenAI would cut; *left_out* gets these, and the values that are in no row."""
    rows, loss = written_rows(records, asked.task, taxonomy, asked.marker_set)
    too_long = {number for number, line in enumerate(rows, start=1) if _tokens(line, _BYTES_A_TOKEN) > MOST_TOKENS}
    left_out += ({"split": part, "row": number, "reason": TOO_LONG} for number in sorted(too_long))
    # The format also counts what OpenAI refuses or cuts, by records.
    losses = [one for one in loss.entries if one.record_id and "OpenAI" not in one.reason]
    left_out += ({"split": part, "record": one.record_id, "reason": one.reason} for one in losses)
    return [line for number, line in enumerate(rows, start=1) if number not in too_long]


def _tokens(line: bytes, bytes_a_token: float) -> int:
    messages = json.loads(line)["messages"]
    size = sum(len(message["content"].encode()) for message in messages)
    return math.ceil(size / bytes_a_token) + len(messages) * _TOKENS_A_MESSAGE + _TOKENS_AN_EXAMPLE


def _check_sizes(files: Sequence[DataFile]) -> None:
    examples = files[0].examples
    if examples < FEWEST_EXAMPLES:
        raise DataError(
            f"there are {counted(examples, 'example')} to train on, and OpenAI takes no file with fewer than {FEWEST_EXAMPLES}",
            remedy="Train on more records, or take fewer off with --validation-size",
        )
    for file in files:
        if file.bytes > _MOST_BYTES:
            raise DataError(
                f"the {file.part} file has {file.bytes / 1e6:,.0f} MB, and OpenAI takes {_MOST_BYTES / 1e6:,.0f}",
                remedy="Train on fewer records",
            )


def book(plan: TuningPlan, job: RemoteJob, *, was_running: bool) -> dict[str, Any]:
    """Book the cost of *job*, which has ended; *was_running*: it was seen to train, so it may be billed.

    Return the run, the cost (None: unknown), and the amount that is charged because the server did not state the trained tokens.
    """
    tokens, succeeded = job.trained_tokens, job.status == "succeeded"
    cost = None if tokens is None else plan.cost_usd(tokens)
    charge = (plan.estimate["most_usd"] or 0.0) if tokens is None and (succeeded or was_running) else 0.0
    if succeeded:
        made = {"provider": PROVIDER, "endpoint": plan.endpoint, "model": plan.model, "finish_reason": str(job.status)}
        reply = json.dumps({"job": job.id, "fine_tuned_model": job.fine_tuned_model})
        entry = made | {"reply": reply, "input": tokens or 0, "cost_usd": cost, "charge_usd": charge}
        return {"run": write_call(plan, "reply", entry, "finished"), "cost_usd": cost, "charged_usd": charge}
    billed = was_running and tokens != 0
    message = f"the job {job.status}" + (f" ({job.error.code})" if job.error and job.error.code else "")
    failure = failure_entry(0, str(job.status), message, charge_usd=charge if cost is None else cost, maybe_billed=billed, final=True)
    run = write_call(plan, "failed", failure, "failed" if job.status == "failed" else "interrupted")
    return {"run": run, "cost_usd": cost if cost is not None or billed else 0.0, "charged_usd": charge}


def write_call(plan: TuningPlan, kind: EventKind, entry: Mapping[str, Any], status: RunStatus = "running") -> str:
    """Write *entry* to the store about the one call of the job's run: a "sent" unless one is open, else the end of the open one.

    Return the id of the run. The store is open for moments only, since a job may take hours.
    """
    key = digest(_STAGE, plan.label)
    run_settings = {"provider": PROVIDER, "model": plan.model, "endpoint": plan.endpoint, "task": plan.task, "job": plan.label}
    with closing(Store.open(Path(plan.store))) as store:
        run = asking_run(store, "train", {"train": _STAGE, **run_settings, "seed": plan.seed or 0}, key)
        tries = [one.number for one in open_sends(store, run.id)]
        if kind == "sent":
            before = spending(store, run.id)
            tries = [] if tries else [1 + before.failed + before.retries + before.answered]
        events = [
            CallEvent(key=key, kind=kind, stage=_STAGE, item_id=plan.label, attempt=1, entry={**entry, "try": number}) for number in tries
        ]
        with store.transaction():
            save_call_events(store, run.id, events)
        set_run_status(store, run.id, status)
        return run.id
