"""``piiloom.detect`` and ``piiloom.detect_files``, which ``piiloom.api`` offers."""

from __future__ import annotations

from dataclasses import asdict, fields
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypedDict, Unpack, overload

from piiloom.cli.detect_options import DetectCommand
from piiloom.cli.keyword_checks import checked_keywords, known_keywords
from piiloom.foundation.errors import UsageError
from piiloom.foundation.frames import Row, Rows
from piiloom.foundation.noop import noop

if TYPE_CHECKING:
    from piiloom.detection.detector import ScoredSpan
    from piiloom.detection.running.progress import DetectionReport, Watch

_PATHS = ("store", "prompts", "label_map", "examples", "base", "adapter")
_COMMAND = "piiloom detect"


class DetectorOptions(TypedDict, total=False):
    """Which detector, and how: options of ``piiloom detect``, named as there; its ``--help`` says what each does.

    ``types`` are your own files of types or entities. A detector that asks a model needs ``yes=True``, since texts leave this machine then.
    """

    detector: str
    threshold: float
    types: list[str | Path] | None
    unconfirmed: bool
    also: list[str] | None
    engine: str
    phases: int
    model_path: str | None
    label_map: str | Path | None
    device: str | None
    batch_size: int | None
    endpoint: str | None
    region: str | None
    examples: str | Path | None
    shots: int | None
    verify: int | None
    base: str | Path | None
    adapter: str | Path | None
    provider: str | None
    model: str | None
    base_url: str | None
    store: str | Path
    budget_usd: float | None
    price: str | None
    unpriced: bool
    concurrency: int
    rpm: float | None
    tpm: float | None
    timeout_s: float
    attempts: int
    batch: bool
    prompts: str | Path | None
    yes: bool


class DetectOptions(DetectorOptions, total=False):
    """The options of ``piiloom detect``, named as there; its ``--help`` says what each does.

    ``file_format`` is ``--format``. ``types`` are your own files of types or entities. A detector that asks a model needs ``yes=True``,
    since texts leave this machine then.
    """

    locale: str | None
    locale_field: str | None
    text_field: str | None
    id_field: str | None
    question_field: str | None
    input_format: str | None
    lines: bool
    file_format: str | None
    tokenizer: str
    mask: str | None
    mask_char: str | None
    force: bool
    workers: str
    resume: bool


@overload
def detect(texts: str, *, locale: str, question: str | None = None, **options: Unpack[DetectorOptions]) -> Rows[ScoredSpan]: ...


@overload
def detect(
    texts: list[str] | tuple[str, ...], *, locale: str, question: str | None = None, **options: Unpack[DetectorOptions]
) -> Rows[Rows[ScoredSpan]]: ...


@known_keywords(DetectorOptions)
def detect(
    texts: str | list[str] | tuple[str, ...], *, locale: str, question: str | None = None, **options: Unpack[DetectorOptions]
) -> Rows[ScoredSpan] | Rows[Rows[ScoredSpan]]:
    """Find personal information in one text, or in each of several: spans in text order, none of which overlap.

    *options* are those of ``piiloom detect`` (``detector="patterns"``, ``threshold``, ``types`` …), with its defaults. *question* is for
    detectors that judge whether a span matters for it. ``text[span.start:span.end]`` is what was found. ``to_pandas()`` of the result has
    a row for each span; the column ``text`` counts several texts from 0. Raises ``UsageError`` for an
    unknown locale or detector, ``ConfigError`` for a fault in a file of entities, and errors of providers.
    """
    from piiloom.cli.detecting import detector_settings  # noqa: PLC0415 - few scripts want them, all would load them
    from piiloom.detection.detector import ScoredSpan  # noqa: PLC0415
    from piiloom.detection.running.few_texts import detect_texts  # noqa: PLC0415

    command = _command(DetectorOptions, options, source=Path(), out=Path(), locale=locale)
    settings = detector_settings(command)
    if settings.sends and not command.yes:
        raise UsageError("sending texts to a provider or a service must be confirmed", where="yes", remedy="Give yes=True")
    several = [texts] if isinstance(texts, str) else texts
    found = detect_texts(several, locale, question, settings)
    columns = ("value", *(one.name for one in fields(ScoredSpan)))
    rows = [Rows(spans, partial(_span_row, text), columns) for text, spans in zip(several, found, strict=True)]
    return rows[0] if isinstance(texts, str) else Rows(rows, _text_rows, ("text", *columns))


def _span_row(text: str, number: int, span: ScoredSpan) -> list[Row]:
    del number
    return [{"value": text[span.start : span.end], **asdict(span)}]


def _text_rows(number: int, spans: Rows[ScoredSpan]) -> list[Row]:
    return [{"text": number, **row} for row in spans.frame_rows()]


@known_keywords(DetectOptions)
def detect_files(source: str | Path, out: str | Path, *, watch: Watch | None = None, **options: Unpack[DetectOptions]) -> DetectionReport:
    """Detect in the file or folder *source* and write *out*: a ``.jsonl`` file of native rows, or a folder in any ``file_format``.

    *options* are those of ``piiloom detect``, with its defaults. With ``resume=True`` a run that was stopped is gone on with. *watch* is
    called with the progress. Gives the counts (``figures``) and the files. Raises ``UsageError``, ``DataError``, ``OutputError`` and
    errors of providers; nothing half-written gets its name.
    """
    from piiloom.cli.detecting import detect_files as detect_as_asked  # noqa: PLC0415 - as above

    return detect_as_asked(_command(DetectOptions, options, source=Path(source), out=Path(out)), watch or noop)


def _command(keywords: type, options: Any, **more: Any) -> DetectCommand:
    values = checked_keywords(keywords, (DetectCommand,), options, command=_COMMAND)
    values |= {name: Path(values[name]) for name in _PATHS if values[name] is not None}
    values["types"] = [Path(path) for path in values["types"] or ()]
    return DetectCommand(**{**values, **more})
