"""The work behind ``piiloom train openai``."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import replace
from pathlib import Path
from typing import Final, TypeVar

from piiloom.cli.agreeing import agree_to_send
from piiloom.cli.options import DEFAULT_STORE
from piiloom.cli.terminal import say_aside
from piiloom.cli.train_openai_view import describe, print_deleted, print_estimate, print_jobs, print_standing
from piiloom.cli.train_options import DEFAULT_SEED, TuneCommand
from piiloom.cli.train_reading import read_and_tell, training_choice
from piiloom.detection.training.openai_tuning.estimate import DEFAULT_EPOCHS, PROVIDER, check_affordable
from piiloom.detection.training.openai_tuning.finishing import Standing, standing
from piiloom.detection.training.openai_tuning.insisting import Timing
from piiloom.detection.training.openai_tuning.job_folder import JobBusy, JobFolder
from piiloom.detection.training.openai_tuning.preparing import DEFAULT_TASK, JobSettings, Prepared, plan_for, prepare
from piiloom.detection.training.openai_tuning.session import TuningSession
from piiloom.detection.training.openai_tuning.tasks import get_task
from piiloom.detection.training.training_data import TrainingData
from piiloom.foundation.errors import Interrupted, ProviderError, UsageError
from piiloom.foundation.event_loops import run_in_own_loop
from piiloom.providers.factory import make_provider, make_tuning_api
from piiloom.providers.tuning_api import TuningApi

T = TypeVar("T")

_INSTEAD: Final = ("estimate", "status", "cancel", "unpause", "delete_files", "listing")
_OF_A_PLAN: Final = {
    "release": "--release",
    "train": "--train",
    "split": "--split",
    "validation": "--validation",
    "task": "--task",
    "model": "--model",
    "suffix": "--suffix",
    "seed": "--seed",
    "epochs": "--epochs",
    "batch_size": "--batch-size",
    "learning_rate": "--learning-rate",
    "training_price": "--training-price",
    "store": "--store",
}
_LISTED: Final = 20


def tune_and_report(asked: TuneCommand) -> None:
    """Do what *asked* says and print what came of it."""
    wanted = [name for name in _INSTEAD if getattr(asked, name)]
    if len(wanted) > 1:
        options = ", ".join(f"--{'list' if name == 'listing' else name.replace('_', '-')}" for name in wanted)
        raise UsageError("only one of these can be done at a time", where=options, remedy="Give one of them")
    if asked.listing:
        print_jobs(_with_api(asked, lambda api: api.list_jobs(_LISTED)), as_json=asked.as_json)
    elif asked.estimate:
        _, prepared = _prepared(asked, settings := settings_of(asked))
        print_estimate(prepared, settings, asked)
    else:
        folder = JobFolder(_out(asked))
        if wanted:
            folder.plan()  # raises where there is none
        try:
            with folder:
                _in_folder(folder, asked)
        except JobBusy:
            if not asked.status:
                raise
            say_aside("another process follows the job; this is what it has heard")
            print_standing(standing(folder), asked)


def _in_folder(folder: JobFolder, asked: TuneCommand) -> None:
    if folder.planned:
        _check_same(folder, asked)
    else:
        _plan(folder, asked)
    if standing(folder).ended and not asked.delete_files:
        _print(standing(folder), asked)
        return
    try:
        if asked.delete_files:
            print_deleted(_in_session(folder, asked, lambda session: session.delete_files()), as_json=asked.as_json)
            return
        _print(_in_session(folder, asked, _work(asked)), asked)
    except ProviderError:
        if (job_id := standing(folder).job_id) is not None:
            say_aside(f"{job_id} is not touched by this; follow it with piiloom train openai --out {folder.path}")
        raise
    except KeyboardInterrupt:
        stand = standing(folder)
        where = f"job {stand.job_id}" if stand.job_id else str(folder.path)
        goes_on = "It goes on at OpenAI. " if stand.job_id else ""
        remedy = f"{goes_on}Go on with piiloom train openai --out {folder.path}, or end it with --cancel"
        raise Interrupted("stopped", where=where, remedy=remedy) from None


def _print(stand: Standing, asked: TuneCommand) -> None:
    """Print how the job stands. Raises ``RunError`` for one that failed, where its end was wanted and not only its state."""
    failure = stand.failure
    if failure is not None and not (asked.status or asked.cancel):
        raise failure
    print_standing(stand, asked)


def _work(asked: TuneCommand) -> Callable[[TuningSession], Awaitable[Standing]]:
    if asked.status:
        return lambda session: session.look()
    if asked.cancel:
        return lambda session: session.cancel()
    if asked.unpause:
        return lambda session: session.unpause(wait=not asked.no_wait)
    return lambda session: session.run(budget_usd=asked.budget_usd, unpriced=asked.unpriced, wait=not asked.no_wait)


def settings_of(asked: TuneCommand) -> JobSettings:
    """Return the settings of a new job."""
    return JobSettings(
        task=asked.task or DEFAULT_TASK,
        model=asked.model,
        suffix=asked.suffix,
        seed=asked.seed,
        epochs=_epochs(asked.epochs),
        batch_size=asked.batch_size,
        learning_rate=asked.learning_rate,
        training_price=asked.training_price,
    )


def _epochs(text: str | None) -> int | None:
    if text is None:
        return DEFAULT_EPOCHS
    if text == "auto":
        return None
    if not (text.isascii() and text.isdigit()):
        raise UsageError(f"{text!r} is no number of epochs", where="--epochs", remedy="Give a number, or auto")
    return int(text)


def _prepared(asked: TuneCommand, settings: JobSettings) -> tuple[TrainingData, Prepared]:
    choice = training_choice(asked, DEFAULT_SEED if asked.seed is None else asked.seed)
    data = read_and_tell(replace(choice, relevance=get_task(settings.task).relevance), _store(asked))
    prepared = prepare(data, settings)
    for note in prepared.notes:
        say_aside(note)
    return data, prepared


def _plan(folder: JobFolder, asked: TuneCommand) -> None:
    """Plan a new job in *folder*, once it is agreed that its texts may be sent."""
    settings = settings_of(asked)
    provider = make_provider(PROVIDER, model=settings.base, base_url=asked.base_url)
    endpoint = provider.endpoint
    run_in_own_loop(provider.aclose)
    data, prepared = _prepared(asked, settings)
    check_affordable(prepared.estimate, asked.budget_usd, model=settings.base, unpriced=asked.unpriced)
    agree_to_send(describe(prepared, settings, endpoint), yes=asked.yes)
    plan = plan_for(data, settings, prepared, endpoint=endpoint, store=_store(asked))
    folder.write_plan(plan, {part: list(rows.lines) for part, rows in prepared.rows.items()}, prepared.left_out)


def _check_same(folder: JobFolder, asked: TuneCommand) -> None:
    """Raise ``UsageError`` if options say another job than the one in *folder*."""
    plan = folder.plan()
    files = [str(one["name"]) for one in plan.data.get("files", ())]
    given_files = [path.name for path in (*(asked.train or ()), *([asked.validation] if asked.validation else ()))]
    there: dict[str, object] = {
        "release": plan.data.get("release"),
        "train": asked.train if given_files == files else files,
        "validation": asked.validation if not asked.train or given_files == files else files,
        "splits": plan.data.get("splits"),
        "task": plan.task,
        "model": plan.model,
        "suffix": plan.suffix,
        "seed": plan.seed,
        "epochs": plan.epochs,
        "batch_size": plan.batch_size,
        "learning_rate": plan.learning_rate,
        "training_price": None if plan.price is None else plan.price.usd,
        "store": plan.store,
    }
    for name, option in _OF_A_PLAN.items():
        given = getattr(asked, name)
        if given is None:
            continue
        if name == "epochs":
            given = _epochs(given)
        if name == "store":
            given = str(given.absolute())
        if given != there[name]:
            was = there[name]
            told = ", ".join(was) if isinstance(was, list) else was
            problem = f"the folder holds another job: its {option} is {'not set' if told is None or told == '' else told}"
            raise UsageError(problem, where=str(folder.path), remedy="Leave the option out to go on with that job, or name a new folder")


def _in_session(folder: JobFolder, asked: TuneCommand, work: Callable[[TuningSession], Awaitable[T]]) -> T:
    timing = Timing() if asked.poll_s is None else Timing(first_poll_s=asked.poll_s, longest_poll_s=asked.poll_s)
    return _with_api(asked, lambda api: work(TuningSession(folder, api, timing=timing, tell=say_aside)), model=folder.plan().model)


def _with_api(asked: TuneCommand, work: Callable[[TuningApi], Awaitable[T]], model: str | None = None) -> T:
    async def whole() -> T:
        provider = make_provider(PROVIDER, model=model, base_url=asked.base_url, timeout_s=asked.timeout_s)
        api = make_tuning_api(provider)
        try:
            return await work(api)
        finally:
            await api.aclose()

    return run_in_own_loop(whole)


def _out(asked: TuneCommand) -> Path:
    if asked.out is None:
        raise UsageError("no folder is named", where="--out", remedy="Name the folder of the job, such as --out outputs/tuned")
    return asked.out


def _store(asked: TuneCommand) -> Path:
    return asked.store or DEFAULT_STORE
