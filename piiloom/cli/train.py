"""``piiloom train``: detectors that learn from a release or from files, a sub-command each."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Final

from piiloom.cli.options import AsJson, json_setting, store_for_reading
from piiloom.cli.progress import asking, line_of, shown
from piiloom.cli.terminal import (
    agree_to_send,
    command_group,
    cost_line,
    count_text,
    dollars,
    examples,
    in_columns,
    say,
    say_aside,
    say_json,
    say_result,
)
from piiloom.detection.detector_settings import LOCAL_MODELS
from piiloom.detection.families import CAPID, MARKERS
from piiloom.detection.training.training_options import (
    CAPID_ALPACA,
    DATA,
    HOW,
    JOB,
    EncoderOptions,
    LoraPlace,
    LoraSettings,
    ReasoningOptions,
    SpacyPlace,
    SpacySettings,
    TrainingInput,
    TuningOptions,
)
from piiloom.foundation.command_line import takes
from piiloom.foundation.errors import Interrupted, ProviderError, RunError, UsageError
from piiloom.foundation.settings import OptionalPath, setting
from piiloom.foundation.words import counted
from piiloom.providers.model_calls import CALLS, MODEL, MONEY

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from piiloom.detection.training.job_plan import TuningPlan
    from piiloom.detection.training.training_options import TrainingHistory, TrainingProgress
    from piiloom.detection.training.tuning_job import JobFolder
    from piiloom.providers.openai_jobs import OpenAIJobs
    from piiloom.tagging.model_folder import About

train_app = command_group(
    "Train a detector on a release or on files: an encoder, a spaCy pipeline, an adapter for a language model.",
    "piiloom train encoder --release v1 --model models/MiniLM-L6 --out outputs/encoder",
    "piiloom detect texts.jsonl --detector encoder --model-path outputs/encoder --out outputs/found.jsonl",
    "piiloom train openai --release v1 --out outputs/tuned --budget-usd 20",
)

_DO: Final = "Instead of training"
_LISTED: Final = 20
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


class _Encoder(AsJson, EncoderOptions):
    panels: ClassVar[tuple[str, ...]] = (DATA, HOW)

    model: Path = setting(..., "Folder of a local encoder: config.json, tokenizer, model.safetensors.", metavar="DIR")
    out: Path = setting(..., "Folder for the trained model; it must be new or empty.", flags="--out -o", metavar="DIR")


@train_app.command("encoder", epilog=_ENCODER_EXAMPLES)
@takes(_Encoder)
def encoder(asked: _Encoder) -> None:
    """Train an encoder on a release or on files: spans of each type, and their relevance to the question.

    Needs the extra train, and a base model on this machine. piiloom detect --detector encoder --model-path DIR uses the result.
    """
    from piiloom.detection.encoder.encoder_detector import train_encoder_on

    with shown(_described, wanted=True, share=lambda one: (one.step, one.steps), lasting=_lasts) as watch:
        about, history = train_encoder_on(asked.model, asked.out, asked, watch=watch, tell=say_aside, opening=store_for_reading)
    plotted = _plotted(asked.out, history)
    told = {name: getattr(about, name) for name in ("family", "base", "data", "settings", "figures", "piiloom")}
    data = {"out": str(asked.out), "types": list(about.types), **told}
    say_result(data, *_encoder_lines(about, asked.out, plot=plotted), as_json=asked.as_json)


def _lasts(progress: TrainingProgress) -> bool:
    return progress.note is not None or progress.validation is not None


def _described(progress: TrainingProgress) -> str:
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


def _encoder_lines(about: About, out: Path, *, plot: bool) -> list[str]:
    figures, counts = about.figures, about.data["counts"]
    took = f"{counted(figures['epochs'], 'epoch')}, {figures['seconds']:,.0f} s on {about.settings['device_used']}"
    validated = "no validation records: the last epoch is kept, and scores are not calibrated"
    if figures["validation"]:
        held = f"{counted(counts['validation'], 'record')}, epoch {figures['best_epoch']}"
        validated = f"validation ({held}): {_figures(figures['validation'])}"
    return [
        f"trained on {counted(counts['train'], 'record')}, {took}",
        validated,
        f"model  {out}" + (", with plot.png" if plot else ""),
        f"next   piiloom detect INPUT --detector encoder --model-path {out} --out FOUND.jsonl",
    ]


def _plotted(out: Path, history: TrainingHistory) -> bool:
    """Draw losses and validation where matplotlib is there; it comes with the extra ``report``, and a training does not need it."""
    from piiloom.foundation.whole_files import write_folder

    with suppress(ImportError):
        from piiloom.evaluation.plots import BLUE, GREY, ORANGE, draw_plot

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


class _Spacy(AsJson, SpacyPlace, SpacySettings, TrainingInput):
    panels: ClassVar[tuple[str, ...]] = (DATA, HOW)


@train_app.command("spacy", epilog=_SPACY_EXAMPLES)
@takes(_Spacy)
def spacy(asked: _Spacy) -> None:
    """Train the entity recognizer of a spaCy pipeline on a release or on files.

    spacy.load loads the result. It learns spans and their types, no relevance. Needs piiloom's extra "spacy".
    docs/training-llm.md has more.
    """
    from piiloom.detection.training.spacy_training import train_spacy
    from piiloom.detection.training.training_data import read_input

    data = read_input(asked, asked.seed, tell=say_aside, opening=store_for_reading)
    with shown(line_of, wanted=not asked.as_json) as watch:
        report = train_spacy(data, asked, asked, watch=watch, tell=say_aside)
    figures = report.figures
    trained = f"trained on {counted(len(data.train), 'record')}, from {report.base}"
    measured = None
    if (found := figures.get("validation")) is not None:
        on = f"on {counted(len(data.validation), 'validation record')}"
        measured = f"{on}: precision {found['p']:.3f}, recall {found['r']:.3f}, F1 {found['f']:.3f}"
    say_result(
        {"out": str(report.out), "base": report.base, "notes": list(report.notes), **figures},
        f"{trained}; kept is epoch {figures['best_epoch']} of {figures['epochs']}",
        measured,
        f"{counted(round(figures['seconds']), 'second')}; the pipeline is in {report.out}",
        f"use it: piiloom detect INPUT --detector spacy --model-path {report.out} --out OUT",
        as_json=asked.as_json,
    )


class _Lora(AsJson, LoraPlace, LoraSettings, TrainingInput):
    panels: ClassVar[tuple[str, ...]] = (DATA, HOW)


@train_app.command("lora", epilog=_LORA_EXAMPLES)
@takes(_Lora)
def lora(asked: _Lora) -> None:
    """Train an adapter (LoRA) for a language model on this machine, on the rows that piiloom export writes.

    The loss is on the answers only. Needs piiloom's extra "train" and the memory for the base model: a GPU for models of some billion
    weights. docs/training-llm.md has more.
    """
    from piiloom.detection.training.lora_training import train_lora
    from piiloom.detection.training.training_data import read_input

    data = read_input(asked, asked.seed, tell=say_aside, opening=store_for_reading)
    with shown(line_of, wanted=not asked.as_json) as watch:
        report = train_lora(data, asked, asked, watch=watch, tell=say_aside)
    figures = report.figures
    losses = [f"loss {figures['loss']:.3f}"] if figures["loss"] is not None else []
    losses += [f"validation loss {loss:.3f} after epoch {epoch:g}" for epoch, loss in figures["validation_loss"]]
    detector = f"… --verify {report.task[-1]}"
    if report.task == CAPID_ALPACA:
        detector = "capid --form capid"
    elif report.task in {CAPID, MARKERS}:
        detector = report.task + (f" --markers {asked.markers}" if asked.marker_set.pairs else "")
    use = f"--provider local --model {asked.model} --adapter {report.out}"
    say_result(
        {"out": str(report.out), "base": report.base, "task": report.task, **figures},
        f"trained on {counted(figures['examples']['train'], 'example')} of the task {report.task}: {counted(figures['steps'], 'step')}",
        ", ".join(losses),
        f"{counted(round(figures['seconds']), 'second')} on {figures['device']}; the adapter is in {report.out}",
        f"use it: piiloom detect INPUT --detector {detector} {use} --out OUT",
        as_json=asked.as_json,
    )


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
    from piiloom.detection.training.job_plan import make_plan
    from piiloom.detection.training.tuning_job import JobBusy, JobFolder
    from piiloom.providers.openai_jobs import with_openai_jobs

    wanted = [name for name in ("estimate", "status", "cancel", "unpause", "delete_files", "listing") if getattr(asked, name)]
    if len(wanted) > 1:
        options = ", ".join(_Tune.option_name(name) for name in wanted)
        raise UsageError("only one of these can be done at a time", where=options, remedy="Give one of them")
    if asked.listing:
        jobs = with_openai_jobs(lambda api: api.newest_jobs(_LISTED), base_url=asked.base_url, timeout_s=asked.timeout_s)
        _print_jobs(jobs, as_json=asked.as_json)
        return
    if asked.estimate:
        _print_estimate(make_plan(asked, tell=say_aside, opening=store_for_reading)[0], as_json=asked.as_json)
        return
    if asked.out is None:
        raise UsageError("no folder is named", where="--out", remedy="Name the folder of the job, such as --out outputs/tuned")
    folder = JobFolder(asked.out)
    if wanted:
        folder.plan  # noqa: B018 - raises where there is none
    try:
        with folder:
            _work_in(folder, asked)
    except JobBusy:
        if not asked.status:
            raise
        say_aside("another process follows the job; this is what it has heard")
        _print_state(folder, asked)


def _work_in(folder: JobFolder, asked: _Tune) -> None:
    """Do what is asked with the job in *folder*, which is planned first if it is new."""
    from piiloom.providers.openai_jobs import with_openai_jobs

    _plan_in(folder, asked)
    again = f"piiloom train openai --out {folder.path}"
    try:
        if asked.delete_files or not folder.ended:
            model = folder.plan.model
            with_openai_jobs(lambda api: _work_on(folder, api, asked), base_url=asked.base_url, timeout_s=asked.timeout_s, model=model)
    except ProviderError:
        if job_id := folder.state()["job"]:
            say_aside(f"{job_id} is not touched by this; follow it with {again}")
        raise
    except KeyboardInterrupt:
        job_id = folder.state()["job"]
        remedy = f"{'It goes on at OpenAI. ' if job_id else ''}Go on with {again}, or end it with --cancel"
        raise Interrupted("stopped", where=f"job {job_id}" if job_id else str(folder.path), remedy=remedy) from None
    if not asked.delete_files:
        _print_state(folder, asked)


async def _work_on(folder: JobFolder, api: OpenAIJobs, asked: _Tune) -> None:
    from piiloom.detection.training.tuning_job import TuningJob

    job = TuningJob(folder, api, tell=say_aside, poll_s=asked.poll_s)
    if asked.delete_files:
        deleted = await job.delete_files()
        words = f"deleted: {', '.join(deleted)}" if deleted else "no file of this job is known to be there"
        say_result({"deleted": deleted}, words, as_json=asked.as_json)
    elif asked.status:
        await job.look()
    elif asked.cancel:
        await job.cancel()
    elif asked.unpause:
        await job.unpause(wait=not asked.no_wait)
    else:
        await job.run(budget_usd=asked.budget_usd, unpriced=asked.unpriced, wait=not asked.no_wait)


def _plan_in(folder: JobFolder, asked: _Tune) -> None:
    """Plan a new job in *folder*, after the user has agreed to its cost and to sending the texts; or check that the options are its own."""
    from piiloom.detection.training.job_plan import make_plan
    from piiloom.foundation.event_loops import run_in_own_loop
    from piiloom.providers.factory import make_provider

    if folder.planned:
        folder.plan.check_same(asked, folder.path)
        return
    provider = make_provider("openai", base_url=asked.base_url)
    run_in_own_loop(provider.aclose)
    plan, contents = make_plan(asked, endpoint=provider.endpoint, tell=say_aside, opening=store_for_reading)
    plan.check_affordable(asked.budget_usd, unpriced=asked.unpriced)
    files = ", ".join(f"{counted(file.examples, 'example')} ({file.part})" for file in plan.files)
    sent = f"would be sent to openai at {plan.endpoint}, to be kept there until deleted: {files}, with all texts of their records"
    agree_to_send("\n".join([sent, *_estimate_lines(plan)]), yes=asked.yes)
    folder.write(contents)


def _print_estimate(plan: TuningPlan, *, as_json: bool) -> None:
    from piiloom.detection.training.job_plan import warnings_about

    files = {file.part: {"examples": file.examples, "tokens": file.tokens} for file in plan.files}
    totals = {"left_out": sum(plan.left_out.values()), "warnings": warnings_about(plan.model)}
    data = {"task": plan.task, "model": plan.model, "files": files, "estimate": plan.estimate, **totals}
    lines = [f"{one.part}: {counted(one.examples, 'example')}, about {counted(one.tokens, 'token')}" for one in plan.files]
    say_result(data, *lines, *_estimate_lines(plan), as_json=as_json)


def _estimate_lines(plan: TuningPlan) -> list[str]:
    """Return the cost of the training, and where the price comes from."""
    from piiloom.detection.training.job_plan import USES, warnings_about

    estimate, price = plan.estimate, plan.price
    by = "as OpenAI's guide says it chooses" if estimate["chosen"] else "as told"
    epochs = f"{counted(estimate['epochs'], 'epoch')} ({by})"
    tokens = f"about {count_text(estimate['tokens'])} tokens (four bytes each)"
    lines = [f"training {plan.model} to {USES[plan.task][0]}: {epochs}, {tokens}"]
    if price is None:
        lines.append("the price of training this model is unknown")
    else:
        usual, most = dollars(estimate["usd"]), dollars(estimate["most_usd"])
        dated = f"as noted on {price.dated}: " if price.dated else ""
        lines.append(f"estimated cost: {usual}, or {most} if the texts have only 2.5 bytes a token")
        lines.append(f"at {dollars(price.usd)} per million trained tokens ({dated}{price.source})")
    return [*lines, *warnings_about(plan.model)]


def _print_state(folder: JobFolder, asked: _Tune) -> None:
    """Print the state of a job. Raises ``RunError`` for a job that failed, where its end was wanted and not only its state."""
    plan, state = folder.plan, folder.state()
    if state["status"] == "failed" and not (asked.status or asked.cancel):
        why = f": {state['fault']}" if state["fault"] else ""
        remedy = "Correct what it names, and begin another job in a new folder; files that are uploaded are not uploaded again"
        raise RunError(f"the job failed{why}", where=state["job"], remedy=remedy)
    lines = [f"{state['job'] or 'no job'}: {state['status']} ({plan.task}, {plan.model})"]
    if state["trained_tokens"] is not None:
        cost = "at an unknown price" if plan.price is None else "cost not booked yet"
        if state["cost_usd"] is not None:
            cost = f"{dollars(state['cost_usd'])} (piiloom cost --run {state['run']} --store {plan.store})"
        lines.append(f"trained on {counted(state['trained_tokens'], 'token')}: {cost}")
    elif state["charged_usd"]:
        lines.append(f"{dollars(state['charged_usd'])} set aside: the server did not say what it trained on")
    if state["fault"] is not None:
        lines.append(f"why: {state['fault']}")
    if state["status"] == "paused":
        lines.append(f"go on with: piiloom train openai --out {asked.out} --unpause")
    elif not folder.ended:
        lines.append(f"follow it with: piiloom train openai --out {asked.out}")
    if state["use"] is not None:
        lines.append(f"use it: {state['use']}")
    say_result({"out": str(asked.out), **state}, *lines, as_json=asked.as_json)


def _print_jobs(jobs: Sequence[Mapping[str, Any]], *, as_json: bool) -> None:
    rows = [("job", "status", "base", "model", "tokens", "made", "ours")]
    for job in jobs:
        tokens = "-" if job["trained_tokens"] is None else f"{job['trained_tokens']:,}"
        made = datetime.fromtimestamp(job["created_at"], UTC).strftime("%Y-%m-%d %H:%M")
        rows.append((job["id"], job["status"], job["model"], job["tuned_model"] or "-", tokens, made, job["label"] or "-"))
    lines = in_columns(rows, left=(0, 1, 2, 3, 5, 6)) if jobs else ["the account has no fine-tuning jobs"]
    say_result({"jobs": jobs}, *lines, as_json=as_json)


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
    from piiloom.detection.training.reasonings import make_training_sets

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
        spent = None if totals.unpriced else totals.spent_usd
        say(cost_line(spent, totals.answered, totals.replayed, run=written.run_id, store=asked.replies))
    for name in files:
        say(name)
