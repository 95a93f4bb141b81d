"""The work behind ``piiloom detect``."""

from __future__ import annotations

import os
from typing import Final

from piiloom.cli.agreeing import agree_to_send
from piiloom.cli.detect_options import DetectCommand
from piiloom.cli.detect_progress import shown_detection
from piiloom.cli.detect_view import print_detection
from piiloom.detection.hybrid.model_settings import ModelSettings
from piiloom.detection.registry import HYBRID, DetectorSettings
from piiloom.detection.running.input_settings import InputSettings
from piiloom.detection.running.masking import BLOCK, Mask
from piiloom.detection.running.progress import DetectionReport, Watch
from piiloom.detection.running.request import DetectionRequest
from piiloom.detection.running.running import run_detection
from piiloom.detection.running.worker import WorkSettings
from piiloom.foundation.errors import UsageError
from piiloom.foundation.noop import noop
from piiloom.patterns.prefilters import BACKENDS

_MODEL_ONLY: Final = {"provider": "--provider", "model": "--model", "base_url": "--base-url", "budget_usd": "--budget-usd"}


def detect_and_report(asked: DetectCommand) -> None:
    """Detect and print what came of it; what is wrong with the request is found before anything is read, sent or written."""
    with shown_detection(wanted=not asked.as_json) as watch:
        report = detect_files(asked, watch)
    print_detection(report, asked)


def detect_files(asked: DetectCommand, watch: Watch = noop) -> DetectionReport:
    """Do what *asked* says; see ``run_detection``."""
    request = request_of(asked)

    def agree() -> None:
        model = request.work.detector.model
        if model is not None:
            place = f" at {model.base_url}" if model.base_url else ""
            words = f"the texts of {asked.source} would be sent to {model.provider}{place}, model {model.name}"
            agree_to_send(f"{words}; replies are kept in {model.store}", yes=asked.yes)

    return run_detection(request, watch=watch, agree=agree)


def request_of(asked: DetectCommand) -> DetectionRequest:
    """Return the request. Raises ``UsageError`` for what makes no sense."""
    inputs = InputSettings(
        path=asked.source,
        format=asked.input_format,
        lines=asked.lines,
        text_field=asked.text_field,
        id_field=asked.id_field,
        question_field=asked.question_field,
        locale_field=asked.locale_field,
        locale=asked.locale,
    )
    return DetectionRequest(
        inputs=inputs,
        work=WorkSettings(detector=settings_of(asked), mask=_mask(asked)),
        out=asked.out,
        format=asked.file_format,
        tokenizer=asked.tokenizer,
        workers=_worker_count(asked.workers),
        resume=asked.resume,
        force=asked.force,
    )


def settings_of(asked: DetectCommand) -> DetectorSettings:
    """Return the settings of the detector. Raises ``UsageError`` for what makes no sense."""
    if asked.engine not in BACKENDS:
        raise UsageError(f"there is no engine {asked.engine!r}", where="--engine", remedy=f"Choose one of {', '.join(BACKENDS)}")
    if asked.detector != HYBRID:
        for field, option in _MODEL_ONLY.items():
            if getattr(asked, field) is not None:
                raise UsageError(
                    f"the detector {asked.detector!r} asks no model", where=option, remedy=f"Use --detector {HYBRID}, or leave it out"
                )
    return DetectorSettings(
        detector=asked.detector,
        threshold=asked.threshold,
        own=tuple(asked.types or ()),
        unconfirmed=asked.unconfirmed,
        also=tuple(asked.also or ()),
        engine=next(name for name in BACKENDS if name == asked.engine),
        phases=asked.phases,
        model=_model(asked) if asked.detector == HYBRID and asked.provider is not None else None,
    )


def _model(asked: DetectCommand) -> ModelSettings:
    settings = ModelSettings(
        provider=asked.provider or "",
        store=asked.store,
        model=asked.model,
        base_url=asked.base_url,
        price=asked.price,
        concurrency=asked.concurrency,
        rpm=asked.rpm,
        tpm=asked.tpm,
        budget_usd=asked.budget_usd,
        unpriced=asked.unpriced,
        timeout_s=asked.timeout_s,
        attempts=asked.attempts,
        batch=asked.batch,
        prompts=asked.prompts,
    )
    settings.spec()
    return settings


def _mask(asked: DetectCommand) -> Mask | None:
    if asked.mask is None:
        if asked.mask_char is not None:
            raise UsageError("nothing is masked", where="--mask-char", remedy="Add --mask char, or leave it out")
        return None
    if asked.mask_char is not None and asked.mask != "char":
        raise UsageError(f"--mask {asked.mask} uses no character", where="--mask-char", remedy="Use --mask char, or leave it out")
    return Mask.named(asked.mask, BLOCK if asked.mask_char is None else asked.mask_char)


def _worker_count(text: str) -> int:
    if text == "auto":
        return len(os.sched_getaffinity(0))
    if not (text.isascii() and text.isdigit() and int(text)):
        raise UsageError(f"{text!r} is not a number of workers", where="--workers", remedy="Give a number from 1 on, or auto")
    return int(text)
