"""What ``piiloom train openai`` prints."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from datetime import UTC, datetime

from piiloom.cli.run_summary import count_text, dollars
from piiloom.cli.terminal import in_columns, say, say_json
from piiloom.cli.train_options import TuneCommand
from piiloom.detection.training.openai_tuning.estimate import Estimate, TrainingPrice, warnings_about
from piiloom.detection.training.openai_tuning.finishing import Standing
from piiloom.detection.training.openai_tuning.preparing import JobSettings, Prepared
from piiloom.detection.training.openai_tuning.tasks import get_task
from piiloom.foundation.words import counted
from piiloom.providers.tuning_api import RemoteJob

_TITLES = ("job", "status", "base", "model", "tokens", "made", "ours")


def describe(prepared: Prepared, settings: JobSettings, endpoint: str) -> str:
    """Say what would be sent, for agreement; a line each."""
    files = ", ".join(f"{counted(len(rows.lines), 'example')} ({part})" for part, rows in prepared.rows.items())
    lines = [f"would be sent to openai at {endpoint}, to be kept there until deleted: {files}, with all texts of their records"]
    lines += estimate_lines(prepared.estimate, settings)
    return "\n".join(lines)


def print_estimate(prepared: Prepared, settings: JobSettings, asked: TuneCommand) -> None:
    """Print what a job would cost."""
    estimate = prepared.estimate
    if asked.as_json:
        files = {part: {"examples": len(rows.lines), "tokens": rows.tokens} for part, rows in prepared.rows.items()}
        told = {"task": settings.task, "model": settings.base, "files": files, "estimate": estimate.to_json()}
        say_json(told | {"left_out": len(prepared.left_out), "warnings": warnings_about(settings.base)})
        return
    for part, rows in prepared.rows.items():
        say(f"{part}: {counted(len(rows.lines), 'example')}, about {counted(rows.tokens, 'token')}")
    for line in estimate_lines(estimate, settings):
        say(line)


def estimate_lines(estimate: Estimate, settings: JobSettings) -> list[str]:
    """Say what training costs, and how that is known."""
    by = "as OpenAI's guide says it chooses" if estimate.chosen else "as told"
    tokens = f"{count_text(estimate.tokens)} tokens (four bytes each)"
    epochs = f"{estimate.epochs} epoch{'' if estimate.epochs == 1 else 's'} ({by})"
    lines = [f"training {settings.base} to {get_task(settings.task).about}: {epochs}, about {tokens}"]
    if estimate.usd is None or estimate.most_usd is None or estimate.price is None:
        lines.append("the price of training this model is unknown")
    else:
        lines.append(f"estimated cost: {dollars(estimate.usd)}, or {dollars(estimate.most_usd)} if the texts have only 2.5 bytes a token")
        lines.append(f"at {_price(estimate.price)}")
    return [*lines, *warnings_about(settings.base)]


def _price(price: TrainingPrice) -> str:
    dated = f"as noted on {price.dated}: " if price.dated else ""
    return f"{dollars(price.usd)} per million trained tokens ({dated}{price.source})"


def print_standing(standing: Standing, asked: TuneCommand) -> None:
    """Print how a job stands."""
    if asked.as_json:
        say_json({"out": str(asked.out), **standing.to_json()})
        return
    say(f"{standing.job_id or 'no job'}: {standing.status} ({standing.plan.task}, {standing.plan.model})")
    if standing.trained_tokens is not None:
        say(f"trained on {counted(standing.trained_tokens, 'token')}: {_cost(standing)}")
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


def _cost(standing: Standing) -> str:
    if standing.cost_usd is None:
        return "at an unknown price" if standing.plan.price is None else "cost not booked yet"
    return f"{dollars(standing.cost_usd)} (piiloom cost --run {standing.run_id} --store {standing.plan.store})"


def print_deleted(files: Sequence[str], *, as_json: bool) -> None:
    """Print which files were deleted."""
    if as_json:
        say_json({"deleted": list(files)})
    else:
        say(f"deleted: {', '.join(files)}" if files else "no file of this job is known to be there")


def print_jobs(jobs: Sequence[RemoteJob], *, as_json: bool) -> None:
    """Print the jobs of an account."""
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
