"""``piiloom train``: detectors that learn from a release or from files, a sub-command each."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Final

import typer

from piiloom.cli.options import json_setting
from piiloom.cli.progress import AskingProgress, asking, shown
from piiloom.cli.terminal import agree_to_send, examples, in_columns, say, say_aside, say_json
from piiloom.detection.detector_settings import LOCAL_MODELS
from piiloom.detection.encoder.encoder_settings import EncoderOptions
from piiloom.detection.families import CAPID, MARKERS
from piiloom.detection.spacy_pipeline.spacy_settings import SpacyPlace, SpacySettings
from piiloom.detection.training.lora.lora_settings import CAPID_ALPACA, LoraPlace, LoraSettings
from piiloom.detection.training.openai_tuning.tuning_options import JOB, TuningOptions
from piiloom.detection.training.training_options import DATA, HOW, ReasoningOptions, TrainingInput
from piiloom.foundation.command_line import takes
from piiloom.foundation.errors import Interrupted, ProviderError, UsageError
from piiloom.foundation.settings import OptionalPath, setting
from piiloom.foundation.words import counted
from piiloom.providers.model_calls import CALLS, MODEL, MONEY

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from piiloom.detection.encoder.training_history import History, TrainingProgress
    from piiloom.detection.training.openai_tuning.estimate import Estimate
    from piiloom.detection.training.openai_tuning.finishing import Standing
    from piiloom.detection.training.openai_tuning.job_folder import JobFolder
    from piiloom.detection.training.openai_tuning.preparing import Prepared
    from piiloom.detection.training.openai_tuning.session import TuningSession
    from piiloom.providers.tuning_api import RemoteJob
    from piiloom.tagging.model_card import About

train_app = typer.Typer(
    help="Train a detector on a release or on files: an encoder, a spaCy pipeline, an adapter for a language model.",
    epilog=examples(
        "piiloom train encoder --release v1 --model models/MiniLM-L6 --out outputs/encoder",
        "piiloom detect texts.jsonl --detector encoder --model-path outputs/encoder --out outputs/found.jsonl",
        "piiloom train openai --release v1 --out outputs/tuned --budget-usd 20",
    ),
    no_args_is_help=True,
    pretty_exceptions_enable=False,
)

_INSTEAD: Final = ("estimate", "status", "cancel", "unpause", "delete_files", "listing")
_DO: Final = "Instead of training"
_LISTED: Final = 20
_TITLES: Final = ("job", "status", "base", "model", "tokens", "made", "ours")
_ENCODER_EXAMPLES: Final = examples(
    "piiloom train encoder --release v1 --model models/MiniLM-L6 --out outputs/encoder",
    "piiloom train encoder --release v1 --model models/MiniLM-L6 --out outputs/encoder --resume",
    "piiloom train encoder --train train.jsonl --validation dev.jsonl --model models/MiniLM-L6 --out outputs/encoder --onnx",
    "piiloom train encoder --train capid.jsonl --skip-values --no-relevance --model models/MiniLM-L6 --out outputs/spans-only",
)
_SPACY_EXAMPLES: Final = examples(
    "piiloom train spacy --release v1 --out outputs/pipeline",
    "piiloom train spacy --release v1 --model en_core_web_lg --out outputs/pipeline",
    "piiloom train spacy --train outputs/v1/train.jsonl --out outputs/pipeline --resume",
)
_LORA_EXAMPLES: Final = examples(
    "piiloom train lora --release v1 --model models/llama --out outputs/capid-adapter",
    "piiloom train lora --train outputs/v1/train.jsonl --model models/llama --task markers --out outputs/markers-adapter",
    "piiloom train lora --release v1 --model models/llama --out outputs/capid-adapter --resume",
)
_OPENAI_EXAMPLES: Final = examples(
    "piiloom train openai --release v1 --estimate",
    "piiloom train openai --release v1 --out outputs/tuned --budget-usd 20",
    "piiloom train openai --out outputs/tuned                 (again: goes on where it was)",
    "piiloom train openai --out outputs/tuned --status --json",
    "piiloom train openai --out outputs/tuned --cancel",
    "piiloom train openai --train train.jsonl --task capid --epochs 2 --out outputs/tuned-capid",
    "piiloom train openai --list",
)
_VERIFIER_EXAMPLES: Final = examples(
    "piiloom train verifier-data --release v1 --provider openai --budget-usd 5 --out outputs/verifier",
    "piiloom train verifier-data --train train.jsonl --predictions found.jsonl --out outputs/verifier",
    "piiloom train verifier-data --train train.jsonl --provider compatible --model qwen3 --base-url http://localhost:11434/v1 --out v",
)


class _Encoder(EncoderOptions):
    panels: ClassVar[tuple[str, ...]] = (DATA, HOW)

    model: Path = setting(..., "Folder of a local encoder: config.json, tokenizer, model.safetensors.", metavar="DIR")
    out: Path = setting(..., "Folder for the trained model; it must be new or empty.", flags="--out -o", metavar="DIR")
    as_json: bool = json_setting()


@train_app.command("encoder", epilog=_ENCODER_EXAMPLES)
@takes(_Encoder)
def encoder(asked: _Encoder) -> None:
    """Train an encoder on a release or on files: spans of each type, and their relevance to the question.

    Needs the extra train, and a base model on this machine. piiloom detect --detector encoder --model-path DIR uses the result.
    """
    from piiloom.cli.options import store_for_reading
    from piiloom.detection.encoder.encoder_training import train_encoder_on

    with shown(_described, wanted=True, share=_share, lasting=_lasts) as watch:
        about, history = train_encoder_on(asked.model, asked.out, asked, watch=watch, tell=say_aside, opening=store_for_reading)
    plotted = _plotted(asked.out, history)
    if asked.as_json:
        told = {name: getattr(about, name) for name in ("family", "base", "data", "settings", "figures", "piiloom")}
        say_json({"out": str(asked.out), "types": list(about.types), **told})
        return
    _print_encoder(about, asked.out, plot=plotted)


def _share(progress: TrainingProgress) -> tuple[float, float | None]:
    return progress.step, progress.steps


def _lasts(progress: TrainingProgress) -> bool:
    return progress.note is not None or progress.validation is not None


def _described(progress: TrainingProgress, now: float) -> str:
    del now
    if progress.note is not None:
        return progress.note
    place = f"step {progress.step:,} of {progress.steps:,}, loss {progress.loss:.3f}"
    if progress.validation is not None:
        return f"{place}; validation: {_figures(progress.validation)}"
    left = f"{progress.eta_s:.0f} s" if progress.eta_s < 120 else f"{progress.eta_s / 60:.0f} min"
    return f"epoch {progress.epoch} of {progress.epochs}, {place}, {left} left"


def _figures(figures: Mapping[str, Any]) -> str:
    names = {
        "span_f1_exact": "F1 exact",
        "span_f1_typed": "with type",
        "relevance_balanced": "relevance",
        "contrast_consistent": "contrasts",
    }
    return ", ".join(f"{label} {figures[name]:.3f}" for name, label in names.items() if name in figures)


def _print_encoder(about: About, out: Path, *, plot: bool) -> None:
    figures = about.figures
    counts = about.data["counts"]
    took = f"{counted(figures['epochs'], 'epoch')}, {figures['seconds']:,.0f} s on {about.settings['device_used']}"
    say(f"trained on {counted(counts['train'], 'record')}, {took}")
    if figures["validation"]:
        say(f"validation ({counted(counts['validation'], 'record')}, epoch {figures['best_epoch']}): {_figures(figures['validation'])}")
    else:
        say("no validation records: the last epoch is kept, and scores are not calibrated")
    say(f"model  {out}" + (", with plot.png" if plot else ""))
    say(f"next   piiloom detect INPUT --detector encoder --model-path {out} --out FOUND.jsonl")


def _plotted(out: Path, history: History) -> bool:
    """Draw losses and validation where matplotlib is there; it comes with the extra ``report``, and a training does not need it."""
    from piiloom.foundation.whole_files import write_folder

    with suppress(ImportError):
        from piiloom.evaluation.pages.plots import BLUE, GREY, ORANGE, draw_plot

        measures = (("span_f1_typed", "span F1 (exact, with type)", BLUE), ("relevance_balanced", "relevance (balanced accuracy)", ORANGE))

        def fill(figure: Figure) -> None:
            losses, validation = figure.subplots(1, 2)
            losses.plot([step for step, _ in history.losses], [loss for _, loss in history.losses], color=GREY)
            losses.set(title="training loss (running mean)", xlabel="step", ylim=(0, None))
            epochs = range(1, len(history.validations) + 1)
            for name, label, colour in measures:
                if history.validations and name in history.validations[0]:
                    validation.plot(epochs, [figures[name] for figures in history.validations], "o-", color=colour, label=label)
            validation.set(title="validation", xlabel="epoch", ylim=(0, 1))
            if history.validations:
                validation.axvline(history.best_epoch, color=GREY, linewidth=1, linestyle="dotted")
                validation.legend(loc="lower right", frameon=False)

        plot = draw_plot("plot", "losses and validation of the training", 3.4, fill)
        write_folder(out, {"plot.svg": plot.svg, "plot.png": plot.png})
        return True
    say_aside("no plot of the losses: it needs matplotlib (the extra report)")
    return False


def _line(progress: AskingProgress, now: float) -> str:
    del now
    return progress.line()


class _Spacy(SpacyPlace, SpacySettings, TrainingInput):
    panels: ClassVar[tuple[str, ...]] = (DATA, HOW)

    as_json: bool = json_setting()


@train_app.command("spacy", epilog=_SPACY_EXAMPLES)
@takes(_Spacy)
def spacy(asked: _Spacy) -> None:
    """Train the entity recognizer of a spaCy pipeline on a release or on files.

    spacy.load loads the result. It learns spans and their types, no relevance. Needs piiloom's extra "spacy".
    docs/training-llm.md has more.
    """
    from piiloom.cli.options import store_for_reading
    from piiloom.detection.spacy_pipeline.spacy_training import train_spacy
    from piiloom.detection.training.training_data import read_input

    data = read_input(asked, asked.seed, tell=say_aside, opening=store_for_reading)
    with shown(_line, wanted=not asked.as_json) as watch:
        report = train_spacy(data, asked, asked, watch=watch, tell=say_aside)
    figures = report.figures
    if asked.as_json:
        say_json({"out": str(report.out), "base": report.base, "notes": list(report.notes), **figures})
        return
    trained = f"trained on {counted(len(data.train), 'record')}, from {report.base}"
    say(f"{trained}; kept is epoch {figures['best_epoch']} of {figures['epochs']}")
    if (found := figures.get("validation")) is not None:
        measured = f"precision {found['p']:.3f}, recall {found['r']:.3f}, F1 {found['f']:.3f}"
        say(f"on {counted(len(data.validation), 'validation record')}: {measured}")
    say(f"{counted(round(figures['seconds']), 'second')}; the pipeline is in {report.out}")
    say(f"use it: piiloom detect INPUT --detector spacy --model-path {report.out} --out OUT")


class _Lora(LoraPlace, LoraSettings, TrainingInput):
    panels: ClassVar[tuple[str, ...]] = (DATA, HOW)

    as_json: bool = json_setting()


@train_app.command("lora", epilog=_LORA_EXAMPLES)
@takes(_Lora)
def lora(asked: _Lora) -> None:
    """Train an adapter (LoRA) for a language model on this machine, on the rows that piiloom export writes.

    The loss is on the answers only. Needs piiloom's extra "train" and the memory for the base model: a GPU for models of some billion
    weights. docs/training-llm.md has more.
    """
    from piiloom.cli.options import store_for_reading
    from piiloom.detection.training.lora.lora_training import train_lora
    from piiloom.detection.training.training_data import read_input

    data = read_input(asked, asked.seed, tell=say_aside, opening=store_for_reading)
    with shown(_line, wanted=not asked.as_json) as watch:
        report = train_lora(data, asked, asked, watch=watch, tell=say_aside)
    figures = report.figures
    if asked.as_json:
        say_json({"out": str(report.out), "base": report.base, "task": report.task, **figures})
        return
    seen = figures["examples"]
    say(f"trained on {counted(seen['train'], 'example')} of the task {report.task}: {counted(figures['steps'], 'step')}")
    losses = [f"loss {figures['loss']:.3f}"] if figures["loss"] is not None else []
    losses += [f"validation loss {loss:.3f} after epoch {epoch:g}" for epoch, loss in figures["validation_loss"]]
    say(", ".join(losses))
    say(f"{counted(round(figures['seconds']), 'second')} on {figures['device']}; the adapter is in {report.out}")
    use = f"--provider local --model {asked.model} --adapter {report.out}"
    if report.task == CAPID_ALPACA:
        say(f"use it: piiloom detect INPUT --detector capid --form capid {use} --out OUT")
    elif report.task in {CAPID, MARKERS}:
        markers = f"--markers {asked.markers} " if asked.marker_set.pairs else ""
        say(f"use it: piiloom detect INPUT --detector {report.task} {markers}{use} --out OUT")
    else:
        say(f"use it: piiloom detect INPUT --detector … --verify {report.task[-1]} {use} --out OUT")


class _Tune(TuningOptions):
    panels: ClassVar[tuple[str, ...]] = (DATA, JOB, CALLS, MONEY, _DO)

    out: OptionalPath = setting(
        None, "Folder of the job: new, or that of a job to continue, which needs no data.", flags="--out -o", metavar="DIR"
    )
    no_wait: bool = setting(False, "Make the job and leave; look later with --status.")
    estimate: bool = setting(False, "Estimate the cost; send and write nothing, no key needed.", panel=_DO)
    status: bool = setting(False, "Ask for the status of the job in --out.", panel=_DO)
    cancel: bool = setting(False, "Cancel the job in --out.", panel=_DO)
    unpause: bool = setting(False, "Continue the paused job in --out, and follow it.", panel=_DO)
    delete_files: bool = setting(False, "Delete the files that were uploaded for the job in --out.", panel=_DO)
    listing: bool = setting(False, "List the newest jobs of the account.", flags="--list", panel=_DO)
    as_json: bool = json_setting()


@train_app.command("openai", epilog=_OPENAI_EXAMPLES)
@takes(_Tune)
def openai(asked: _Tune) -> None:
    """Fine-tune a model at OpenAI on the rows that an export writes: upload, job, events, and the command that uses the model.

    All is kept in the folder --out. Give the same command again after a kill or Ctrl-C: nothing is uploaded or paid for twice. Costs are
    estimated first, a --budget-usd holds before anything is sent, and what was paid is booked for piiloom cost. OpenAI is ending this
    service in January 2027 (docs/openai-tuning.md).
    """
    from piiloom.cli.options import store_for_reading
    from piiloom.detection.training.openai_tuning.finishing import standing
    from piiloom.detection.training.openai_tuning.job_folder import JobBusy, JobFolder
    from piiloom.detection.training.openai_tuning.preparing import prepare_asked
    from piiloom.detection.training.openai_tuning.session import with_api

    wanted = [name for name in _INSTEAD if getattr(asked, name)]
    if len(wanted) > 1:
        options = ", ".join(_Tune.option_name(name) for name in wanted)
        raise UsageError("only one of these can be done at a time", where=options, remedy="Give one of them")
    if asked.listing:
        _print_jobs(with_api(asked, lambda api: api.list_jobs(_LISTED)), as_json=asked.as_json)
        return
    if asked.estimate:
        _print_estimate(prepare_asked(asked, tell=say_aside, opening=store_for_reading)[1], asked)
        return
    if asked.out is None:
        raise UsageError("no folder is named", where="--out", remedy="Name the folder of the job, such as --out outputs/tuned")
    folder = JobFolder(asked.out)
    if wanted:
        folder.plan()  # raises where there is none
    try:
        with folder:
            _in_folder(folder, asked)
    except JobBusy:
        if not asked.status:
            raise
        say_aside("another process follows the job; this is what it has heard")
        _print_standing(standing(folder), asked)


def _in_folder(folder: JobFolder, asked: _Tune) -> None:
    from piiloom.cli.options import store_for_reading
    from piiloom.detection.training.openai_tuning.finishing import standing
    from piiloom.detection.training.openai_tuning.preparing import check_same, plan_job
    from piiloom.detection.training.openai_tuning.session import in_session

    if folder.planned:
        check_same(folder, asked)
    else:

        def agree(prepared: Prepared, endpoint: str) -> None:
            agree_to_send(_sent(prepared, asked, endpoint), yes=asked.yes)

        plan_job(folder, asked, agree=agree, tell=say_aside, opening=store_for_reading)
    if standing(folder).ended and not asked.delete_files:
        _print_end(standing(folder), asked)
        return
    try:
        if asked.delete_files:
            _print_deleted(in_session(folder, asked, lambda session: session.delete_files(), say_aside), as_json=asked.as_json)
            return
        _print_end(in_session(folder, asked, _work(asked), say_aside), asked)
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


def _work(asked: _Tune) -> Callable[[TuningSession], Awaitable[Standing]]:
    if asked.status:
        return lambda session: session.look()
    if asked.cancel:
        return lambda session: session.cancel()
    if asked.unpause:
        return lambda session: session.unpause(wait=not asked.no_wait)
    return lambda session: session.run(budget_usd=asked.budget_usd, unpriced=asked.unpriced, wait=not asked.no_wait)


def _sent(prepared: Prepared, asked: _Tune, endpoint: str) -> str:
    """Return the description of the data that would be sent, a line each."""
    files = ", ".join(f"{counted(len(rows.lines), 'example')} ({part})" for part, rows in prepared.rows.items())
    line = f"would be sent to openai at {endpoint}, to be kept there until deleted: {files}, with all texts of their records"
    return "\n".join([line, *_estimate_lines(prepared.estimate, asked)])


def _print_estimate(prepared: Prepared, asked: _Tune) -> None:
    from piiloom.detection.training.openai_tuning.estimate import warnings_about

    estimate = prepared.estimate
    if asked.as_json:
        files = {part: {"examples": len(rows.lines), "tokens": rows.tokens} for part, rows in prepared.rows.items()}
        told = {"task": asked.task, "model": asked.base, "files": files, "estimate": estimate.to_json()}
        say_json(told | {"left_out": len(prepared.left_out), "warnings": warnings_about(asked.base)})
        return
    for part, rows in prepared.rows.items():
        say(f"{part}: {counted(len(rows.lines), 'example')}, about {counted(rows.tokens, 'token')}")
    for line in _estimate_lines(estimate, asked):
        say(line)


def _estimate_lines(estimate: Estimate, asked: _Tune) -> list[str]:
    """Return the cost of the training, and where the price comes from."""
    from piiloom.cli.run_summary import count_text, dollars
    from piiloom.detection.training.openai_tuning.estimate import warnings_about
    from piiloom.detection.training.openai_tuning.tasks import get_task

    by = "as OpenAI's guide says it chooses" if estimate.chosen else "as told"
    tokens = f"{count_text(estimate.tokens)} tokens (four bytes each)"
    epochs = f"{estimate.epochs} epoch{'' if estimate.epochs == 1 else 's'} ({by})"
    lines = [f"training {asked.base} to {get_task(asked.task).about}: {epochs}, about {tokens}"]
    if estimate.usd is None or estimate.most_usd is None or estimate.price is None:
        lines.append("the price of training this model is unknown")
    else:
        price = estimate.price
        dated = f"as noted on {price.dated}: " if price.dated else ""
        lines.append(f"estimated cost: {dollars(estimate.usd)}, or {dollars(estimate.most_usd)} if the texts have only 2.5 bytes a token")
        lines.append(f"at {dollars(price.usd)} per million trained tokens ({dated}{price.source})")
    return [*lines, *warnings_about(asked.base)]


def _print_end(standing: Standing, asked: _Tune) -> None:
    """Print the state of a job. Raises ``RunError`` for a job that failed, where its end was wanted and not only its state."""
    failure = standing.failure
    if failure is not None and not (asked.status or asked.cancel):
        raise failure
    _print_standing(standing, asked)


def _print_standing(standing: Standing, asked: _Tune) -> None:
    from piiloom.cli.run_summary import dollars

    if asked.as_json:
        say_json({"out": str(asked.out), **standing.to_json()})
        return
    say(f"{standing.job_id or 'no job'}: {standing.status} ({standing.plan.task}, {standing.plan.model})")
    if standing.trained_tokens is not None:
        if standing.cost_usd is not None:
            cost = f"{dollars(standing.cost_usd)} (piiloom cost --run {standing.run_id} --store {standing.plan.store})"
        else:
            cost = "at an unknown price" if standing.plan.price is None else "cost not booked yet"
        say(f"trained on {counted(standing.trained_tokens, 'token')}: {cost}")
    elif standing.charged_usd:
        say(f"{dollars(standing.charged_usd)} set aside: the server did not say what it trained on")
    if standing.fault is not None:
        say(f"why: {standing.fault}")
    if standing.status == "paused":
        say(f"go on with: piiloom train openai --out {asked.out} --unpause")
    elif not standing.ended:
        say(f"follow it with: piiloom train openai --out {asked.out}")
    if standing.use is not None:
        say(f"use it: {standing.use}")


def _print_deleted(files: Sequence[str], *, as_json: bool) -> None:
    if as_json:
        say_json({"deleted": list(files)})
    else:
        say(f"deleted: {', '.join(files)}" if files else "no file of this job is known to be there")


def _print_jobs(jobs: Sequence[RemoteJob], *, as_json: bool) -> None:
    if as_json:
        say_json({"jobs": [asdict(job) for job in jobs]})
        return
    if not jobs:
        say("the account has no fine-tuning jobs")
        return
    rows = [
        (
            job.id,
            job.status,
            job.model,
            job.tuned_model or "-",
            "-" if job.trained_tokens is None else f"{job.trained_tokens:,}",
            datetime.fromtimestamp(job.created_at, UTC).strftime("%Y-%m-%d %H:%M"),
            job.label or "-",
        )
        for job in jobs
    ]
    for line in in_columns([_TITLES, *rows], left=(0, 1, 2, 3, 5, 6)):
        say(line)


class _Verifier(ReasoningOptions):
    panels: ClassVar[tuple[str, ...]] = (DATA, MODEL, LOCAL_MODELS, CALLS, MONEY)

    out: Path = setting(..., "Folder for the training sets; it must be new or empty.", flags="--out -o", metavar="DIR")
    force: bool = setting(False, "Replace the files of a folder that is not empty.")
    yes: bool = setting(False, "Send the texts to the provider without asking.", flags="--yes -y")
    as_json: bool = json_setting()


@train_app.command("verifier-data", epilog=_VERIFIER_EXAMPLES)
@takes(_Verifier)
def verifier_data(asked: _Verifier) -> None:
    """Make training sets for verifiers I and II, with reasonings that a model writes, or rules without --provider.

    Each span gives a right candidate and a wrong one; with --predictions each finding of a detector gives one. The model judges all,
    without knowing which are right, until its verdict is right. A stopped or killed run goes on with the same command.
    docs/asking-models.md describes the files.
    """
    from piiloom.cli.options import store_for_reading
    from piiloom.cli.run_summary import dollars
    from piiloom.detection.verifying.reasoned_files import make_training_sets

    counts, files, written = make_training_sets(
        asked.out,
        asked,
        force=asked.force,
        agree=partial(agree_to_send, yes=asked.yes),
        watching=partial(asking, asked.replies),
        tell=say_aside,
        opening=store_for_reading,
    )
    totals = written.totals
    if asked.as_json:
        cost = {"run": written.run_id or None, "usd": None if totals.unpriced else totals.spent_usd}
        cost |= {"answered": totals.answered, "replayed": totals.replayed}
        say_json({"out": str(asked.out), **counts, "cost": cost, "files": files})
        return
    for split, told in counts["splits"].items():
        say(f"{split}: {counted(told['rows'], 'row')} in each set, {told['T']:,} T and {told['F']:,} F")
        say(f"  reasonings: {', '.join(f'{name} {count:,}' for name, count in told['reasonings'].items())}")
        if asked.provider is not None:
            say(f"  right at try: {', '.join(f'{number}: {count:,}' for number, count in told['right at try'].items()) or 'none'}")
        if told["wrong candidates taken for right"]:
            fate = "dropped" if asked.default == "drop" else "answered T"
            say(f"  wrong candidates that the model always took for right: {told['wrong candidates taken for right']:,}, {fate}")
        if (found := told.get("findings")) is not None:
            say(f"  findings: {', '.join(f'{name} {count:,}' for name, count in found.items())}")
        if told["spans without rows"]:
            say(f"  spans without rows (no wrong candidate beside them): {told['spans without rows']:,}")
    if asked.provider is not None:
        price = "unknown" if totals.unpriced else dollars(totals.spent_usd)
        replies = f"{counted(totals.answered, 'reply')}, {totals.replayed:,} more from the store"
        say(f"cost: {price} for {replies}; piiloom cost --run {written.run_id} --store {asked.replies}")
    for name in files:
        say(name)
