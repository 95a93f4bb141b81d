"""The work behind ``piiloom detect``."""

from __future__ import annotations

import os
from typing import Final

from piiloom.cli.agreeing import agree_to_send
from piiloom.cli.detect_options import ANNOTATION, FILES, DetectCommand
from piiloom.cli.detect_progress import shown_detection
from piiloom.cli.detect_view import print_detection
from piiloom.cli.settings_from import settings_of
from piiloom.cli.terminal import say_aside
from piiloom.detection.asking.model_settings import ModelSettings
from piiloom.detection.detector_settings import LocalModel, Prompting, Service
from piiloom.detection.families import FAMILIES
from piiloom.detection.registry import OWN_THRESHOLD, DetectorSettings
from piiloom.detection.running.input_settings import InputSettings
from piiloom.detection.running.masking import BLOCK, Mask
from piiloom.detection.running.progress import DetectionReport, Watch
from piiloom.detection.running.request import DetectionRequest
from piiloom.detection.running.running import run_detection
from piiloom.detection.running.worker import WorkSettings
from piiloom.foundation.errors import UsageError
from piiloom.foundation.noop import noop
from piiloom.patterns.prefilters import BACKENDS
from piiloom.providers.factory import LOCAL
from piiloom.taxonomy.own_entities import without_pattern

_MODEL_ONLY: Final = {"model": "--model", "base_url": "--base-url", "budget_usd": "--budget-usd", "adapter": "--adapter"}
_BATCH: Final = 16
_SHOTS: Final = 8


def detect_and_report(asked: DetectCommand) -> None:
    """Detect and print what came of it; what is wrong with the request is found before anything is read, sent or written."""
    if asked.to != FILES:
        raise UsageError(f"{asked.to!r} is no place to write to", where="--to", remedy=f"Choose {FILES} or {ANNOTATION}")
    for option, value in (("--release", asked.release), ("--record", asked.record)):
        if value:
            raise UsageError(f"it says nothing without --to {ANNOTATION}", where=option, remedy="Add that, or leave it out")
    with shown_detection(wanted=not asked.as_json) as watch:
        report = detect_files(asked, watch)
    print_detection(report, asked)
    settings = detector_settings(asked)
    if settings.family.catalogue and (lacking := without_pattern(settings.own_types)):
        say_aside(f"not looked for, since no pattern says how their values look: {', '.join(lacking)}")


def detect_files(asked: DetectCommand, watch: Watch = noop) -> DetectionReport:
    """Do what *asked* says; see ``run_detection``."""
    request = request_of(asked)

    def agree() -> None:
        settings = request.work.detector
        model = settings.model
        if model is not None and settings.sends:
            place = f" at {model.base_url}" if model.base_url else ""
            words = f"the texts of {asked.read_from} would be sent to {model.provider}{place}, model {model.name}"
            agree_to_send(f"{words}; replies are kept in {model.store}", yes=asked.yes)
        service = request.work.detector.service
        if service is not None:
            place = f" at {service.endpoint}" if service.endpoint else ""
            agree_to_send(f"the texts of {asked.source} would be sent to {asked.detector}{place}, which bills for them", yes=asked.yes)

    return run_detection(request, watch=watch, agree=agree)


def request_of(asked: DetectCommand) -> DetectionRequest:
    """Return the request. Raises ``UsageError`` for what makes no sense."""
    inputs = InputSettings(
        path=asked.read_from,
        format=asked.input_format,
        lines=asked.lines,
        text_field=asked.text_field,
        id_field=asked.id_field,
        question_field=asked.question_field,
        locale_field=asked.locale_field,
        locale=asked.locale,
        any_locale=asked.detector in FAMILIES and not FAMILIES[asked.detector].catalogue,
    )
    return DetectionRequest(
        inputs=inputs,
        work=WorkSettings(detector=detector_settings(asked), mask=_mask(asked)),
        out=asked.written_to,
        format=asked.file_format,
        tokenizer=asked.tokenizer,
        workers=_worker_count(asked.workers),
        resume=asked.resume,
        force=asked.force,
    )


def detector_settings(asked: DetectCommand) -> DetectorSettings:
    """Return the settings of the detector. Raises ``UsageError`` for what makes no sense."""
    if asked.engine not in BACKENDS:
        raise UsageError(f"there is no engine {asked.engine!r}", where="--engine", remedy=f"Choose one of {', '.join(BACKENDS)}")
    return DetectorSettings(
        detector=asked.detector,
        threshold=OWN_THRESHOLD if asked.threshold is None else asked.threshold,
        own=tuple(asked.types or ()),
        unconfirmed=asked.unconfirmed,
        also=tuple(asked.also or ()),
        engine=next(name for name in BACKENDS if name == asked.engine),
        phases=asked.phases,
        model=_model(asked),
        local=_local(asked),
        service=_service(asked),
        prompting=_prompting(asked),
        verify=asked.verify,
    )


def _local(asked: DetectCommand) -> LocalModel | None:
    family = FAMILIES.get(asked.detector)
    if asked.model_path is None and (asked.label_map is None or family is None or "local" not in family.may):
        if asked.base is None:
            _refuse_alone(asked, "--model-path or --base", device="--device", batch_size="--batch-size")
        return None
    return LocalModel(
        path=asked.model_path or "", label_map=asked.label_map, device=asked.device or "auto", batch_size=asked.batch_size or _BATCH
    )


def _service(asked: DetectCommand) -> Service | None:
    family = FAMILIES.get(asked.detector)
    if asked.endpoint is None and asked.region is None and (family is None or "service" not in family.takes):
        return None
    return Service(
        endpoint=asked.endpoint,
        region=asked.region,
        label_map=asked.label_map,
        rpm=asked.rpm,
        concurrency=asked.concurrency,
        timeout_s=asked.timeout_s,
    )


def _prompting(asked: DetectCommand) -> Prompting | None:
    if asked.examples is None:
        _refuse_alone(asked, "--examples", shots="--shots")
        return None
    return Prompting(examples=asked.examples, shots=_SHOTS if asked.shots is None else asked.shots)


def _refuse_alone(asked: DetectCommand, needed: str, **options: str) -> None:
    """Raise ``UsageError`` if one of *options* (field: option) is given, which say nothing without *needed*."""
    for field, option in options.items():
        if getattr(asked, field) is not None:
            raise UsageError(f"it says nothing without {needed}", where=option, remedy=f"Add {needed}, or leave it out")


def _model(asked: DetectCommand) -> ModelSettings | None:
    provider = asked.provider or (LOCAL if asked.base is not None else None)
    if provider is None:
        for field, option in _MODEL_ONLY.items():
            if getattr(asked, field) is not None:
                remedy = "Name the model's --provider, or leave it out"
                raise UsageError(f"the detector {asked.detector!r} asks no model", where=option, remedy=remedy)
        return None
    device, batch_size = asked.device or "auto", asked.batch_size or _BATCH
    settings = settings_of(ModelSettings, asked, provider=provider, device=device, batch_size=batch_size)
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
