"""The commands as Python functions, for notebooks and scripts.

::

    import piiloom

    progress = piiloom.generate(samples=200, seed=7, store="outputs/piiloom.duckdb")
    piiloom.release("v1", test_size=40)
    piiloom.export("v1", "outputs/v1")
    train = piiloom.load("outputs/v1", split="train")
    record = train[0]
    for span in record.spans:
        print(span.text_in(record.context), span.entity_type, span.relevance)

Beside these: ``import_file``, ``records``, ``report``, ``probe``, ``run_evaluation``, ``run_comparison``, ``surrogate``, ``detect``,
``detect_files`` and ``train_encoder``. All of them work where an event loop is running already, as in Jupyter, print nothing, and raise
``piiloom.PiiloomError``. Every result has ``to_pandas()``. Settings are typed: a type checker finds a misspelt one, and at run time it
is a ``UsageError``. A script can be run again: what it made is gone on with or confirmed, and never replaced unasked.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import asdict, fields, replace
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, ParamSpec, Protocol, overload

from piiloom.annotation_app.figures.agreement import agreement_among
from piiloom.corpus.formats.base import WriteOptions
from piiloom.corpus.formats.native_rows import COLUMNS, flat_row_of
from piiloom.corpus.formats.registry import NativeFormat
from piiloom.corpus.importing import ImportReport, ImportSettings, import_into
from piiloom.corpus.reading import LoadSettings, load_records
from piiloom.corpus.record import Record
from piiloom.corpus.releases.exporting import ExportReport, ExportSettings, export_formats, export_or_confirm
from piiloom.corpus.releases.freezing import create_or_confirm_release
from piiloom.corpus.releases.release_options import ReleaseOptions
from piiloom.corpus.store import StoreSettings
from piiloom.corpus.store.database import Store
from piiloom.corpus.store.opening import open_to_read
from piiloom.corpus.store.releases import ReleaseRow, TextConditions, search_records
from piiloom.detection.detector import ScoredSpan
from piiloom.detection.detector_settings import DetectorSettings
from piiloom.detection.families import FAMILIES
from piiloom.detection.running.request import DetectionReport, DetectionRequest, DetectionSettings, DetectionWatch
from piiloom.detection.training.training_options import EncoderOptions, TrainingProgress
from piiloom.evaluation.comparison import Comparison
from piiloom.evaluation.comparison_run import ComparisonSettings, named_systems
from piiloom.evaluation.comparison_run import run_comparison as compared
from piiloom.evaluation.evaluating import Evaluation, EvaluationSettings
from piiloom.evaluation.evaluating import run_evaluation as evaluated
from piiloom.evaluation.probe.files import ProbeSettings
from piiloom.evaluation.probe.files import probe_files as run_probe
from piiloom.evaluation.report.folder import ReportSettings, make_report
from piiloom.foundation.frames import Figures, Row, Rows
from piiloom.foundation.noop import noop
from piiloom.foundation.settings import setting, takes_keywords
from piiloom.generation.run_session import run_to_end
from piiloom.generation.running.opening import new_or_known_run
from piiloom.generation.running.progress import RunProgress
from piiloom.generation.settings.configuration import RunConfig
from piiloom.generation.settings.setting_checks import check
from piiloom.surrogates.options import SurrogateOptions
from piiloom.surrogates.running import RunReport
from piiloom.tagging.model_folder import About
from piiloom.taxonomy.entity_types import shipped_taxonomy

__all__ = [
    "compare",
    "detect",
    "detect_files",
    "evaluate",
    "export",
    "generate",
    "import_file",
    "load",
    "probe",
    "records",
    "release",
    "report",
    "surrogate",
    "train_encoder",
]

P = ParamSpec("P")
# A file, or records at hand.
FileOrRecords = str | Path | Sequence[Record]


class Generation(RunConfig, StoreSettings):
    """The keywords of ``generate``: the settings of a run, the store, and a watch."""

    watch: Callable[[RunProgress], None] | None = setting(None, "Called with the progress after every result.", flags="-")


@takes_keywords(Generation)
def generate(asked: Generation) -> RunProgress:
    """Generate until ``samples`` records (100 when not given) are accepted; return the final progress (``status``, ``accepted`` …).

    A run of the same settings and seed in the same store is continued rather than refused, so a notebook cell can be run
    again: it completes the run, adds records for a larger ``samples``, or returns the existing result. Settings of calls that are given
    (``budget_usd``, ``rpm``, ``base_url`` …) hold on such a run too, None removing a limit; those not given stay.
    *watch* is called with the progress after every result. *store* defaults to ``outputs/piiloom.duckdb``.

    A status of "failed" (fewer records than wanted, nothing left to try) is no exception. Raises ``UsageError`` for bad
    settings, ``ProviderError`` when no provider can be reached, ``StoreError`` and ``OutputError`` for the store.
    """
    with new_or_known_run(asked.store, check(asked.part(RunConfig))) as opened:
        return run_to_end(opened, watch=asked.watch or noop)


class Import(ImportSettings, StoreSettings):
    """The keywords of ``import_file``: the settings of an import, and the store."""


@takes_keywords(Import)
def import_file(path: str | Path, asked: Import) -> ImportReport:
    """Add the records of a file, or a folder of a format of folders, to the store; return a report on every row and value.

    Refused rows go to the file *rejects* with their reasons (beside the store, ``<name>.rejects.jsonl``, when not given); *locale* is
    that of rows that name none. *on_conflict* applies to rows whose id is stored with other content (``fail``, ``skip``,
    ``update`` or ``new``), *skip_values* keeps rows without the values that have no exact place. *columns* names the columns of a
    table by field (``{"context": "text"}``), *label_map* is the name of a shipped label map or a YAML file, *types* a types file.
    Raises ``DataError`` for a file that cannot be read or has no valid row, ``UsageError``,
    ``OutputError`` and ``StoreError``.
    """
    return import_into(Path(path), asked, asked.store).report


class ReleaseKeywords(ReleaseOptions, StoreSettings):
    """The keywords of ``release``: the options of a release, and the store."""


@takes_keywords(ReleaseKeywords)
def release(name: str, asked: ReleaseKeywords) -> ReleaseRow:
    """Freeze records of the store as release *name*, split into train, test and validation, or into folds.

    The options are those of ``piiloom release`` (``test_size``, ``folds``, ``status``, ``run`` …), with its defaults;
    [releases.md](releases.md) explains them. A release of that name that was made with the same settings and has the same
    records in the same splits is returned as it is, so a script can be run again. Raises ``UsageError``, and ``ReleaseError`` when one of
    that name differs or there are no records.
    """
    with Store.open(asked.store, create=False) as opened:
        return create_or_confirm_release(opened, name, **asked.part(ReleaseOptions).given())


class Export(ExportSettings, StoreSettings):
    """The keywords of ``export``: the settings of an export, and the store."""


@takes_keywords(Export)
def export(release: str, out: str | Path, asked: Export) -> ExportReport | Rows[ExportReport]:
    """Write *release* (only *splits* of it, if any are given) to the folder *out*, which must be new or empty unless *force*.

    One *format* goes into *out* and gives a report; a list of several goes into folders of their names in *out* and gives a list of
    reports. A folder that has this very export, byte for byte, is left as it is. A report has the files with their hashes and the
    losses of the format. The surrogates of the format "masked" depend on *seed*, and are others each time without it. Raises
    ``UsageError``, ``ReleaseError`` and ``OutputError``.
    """
    chosen = asked.formats()
    with Store.open(asked.store, create=False) as opened:
        given: Any = {"splits": asked.splits, "tokenizer": asked.tokenizer, "markers": asked.marker_set, "seed": asked.seed}
        if asked.force:
            made = export_formats(opened, release, chosen, Path(out), **given, force=True)
        else:
            made = export_or_confirm(opened, release, chosen, Path(out), **given)
    return made[0] if isinstance(asked.format, str) else Rows(made, _export_rows, ())


@takes_keywords(LoadSettings)
def load(path: str | Path, asked: LoadSettings) -> Rows[Record]:
    """Read the records of a file (native unless *input_format* is given), or of an exported folder: all its splits, or only *split*.

    A folder's format is the one that its ``release.json`` names, and so are its own types; *types* is a types file for a file that
    is beside no ``release.json``; *locale* is that of rows that name none; *columns* and *label_map* are those of ``import_file``. A
    folder without ``release.json`` is read as a file of *input_format*, if that is a format of folders.
    Raises ``DataError`` with file, line and field for the first
    row that is no record, and ``UsageError`` for a split that is not there or a format that a folder has not.
    """
    return Rows(load_records(Path(path), asked), _record_row, COLUMNS)


class Selection(TextConditions, StoreSettings):
    """The keywords of ``records``: the conditions of records, and the part of them to return."""

    limit: int = setting(0, "Number of records; 0 is all.", ge=0)
    offset: int = setting(0, "Number of records to skip first.", ge=0)


@takes_keywords(Selection)
def records(asked: Selection) -> Rows[Record]:
    """Return the records of the store that meet every condition given, in the order of their runs and plans; imports come last.

    The conditions are those of ``piiloom records list``, and *text* and *in_values* those of ``piiloom records search``. *limit* 0: all.
    ``to_pandas()`` has a row for each record, with its run, plan index and status. Another process may write the store meanwhile.
    Raises ``UsageError`` for a value that no record has, ``RunError``, ``ReleaseError`` and ``StoreError``.
    """
    with open_to_read(asked.store) as store:
        found = list(search_records(store, asked, limit=asked.limit, offset=asked.offset)[1])
    places = [{"run": one.run_id, "plan_index": one.plan_index, "status": one.status} for one in found]

    def rows_of(number: int, record: Record) -> list[Row]:
        return [{**flat_row_of(record), **places[number]}]

    return Rows((one.record for one in found), rows_of, (*COLUMNS, "run", "plan_index", "status"))


@takes_keywords(EvaluationSettings)
def evaluate(gold: FileOrRecords, predictions: FileOrRecords, settings: EvaluationSettings) -> Evaluation:
    """Compare *predictions* with *gold*; return all figures, unrounded.

    Both are files in any format that piiloom reads, or lists of records. evaluation.md defines all figures.
    ``evaluation.of("exact").overall["f1"]`` is one of them, next to ``by_type`` and ``intervals``; ``to_json()`` returns the output of the
    command with ``--json``. With *out* the figures, the errors and plots are written there, too. Raises ``DataError`` for files that
    cannot be read or do not belong together, ``UsageError`` and ``OutputError``.
    """
    with _files({"gold": gold, "predictions": predictions}) as paths:
        return evaluated(paths["gold"], paths["predictions"], settings)


@takes_keywords(ComparisonSettings)
def compare(
    gold: FileOrRecords, predictions: Mapping[str, FileOrRecords] | Sequence[str | Path], settings: ComparisonSettings
) -> Comparison:
    """Rank systems by their *predictions* for *gold*, and each *detector* run on it, with intervals and tests of the differences.

    *predictions*: files (or lists of records) by the name of the system, or a list of files, whose names are taken. A *detector* has
    the form of ``--detector``: "Ours=encoder --model-path DIR". ``comparison.systems`` are all systems, the best first, each with
    ``name``, ``rank``, ``figures`` and ``intervals``. Raises ``DataError``, ``UsageError`` and ``OutputError``.
    """
    by_name = predictions if isinstance(predictions, Mapping) else named_systems([str(path) for path in predictions])
    with _files({"gold": gold}) as paths, _files(by_name) as systems:
        return compared(paths["gold"], systems, settings, FAMILIES)


@contextmanager
def _files(given: Mapping[str, FileOrRecords]) -> Iterator[dict[str, Path]]:
    """Give a file for each of *given*: records are written to a temporary one in the native format."""
    with ExitStack() as stack:
        paths: dict[str, Path] = {}
        for name, one in given.items():
            if isinstance(one, str | Path):
                paths[name] = Path(one)
                continue
            folder = Path(stack.enter_context(TemporaryDirectory(prefix="piiloom-")))
            paths[name] = folder / (re.sub(r"[^\w.-]+", "_", name)[:80] + ".jsonl")
            NativeFormat().write(one, paths[name], WriteOptions(taxonomy=shipped_taxonomy()))
        yield paths


@takes_keywords(ReportSettings)
def report(settings: ReportSettings) -> Figures:
    """Measure the diversity of records and their leaks; return the figures of ``piiloom report --json``.

    *input* is a file of records; without it, the records are those of *store*, of which *run* or *release* may be chosen.
    With *out* the figures, a dataset card and plots are written there too. Raises ``DataError`` for a file without records,
    ``StoreError``, ``RunError`` and ``ReleaseError`` for a store, ``OutputError``.
    """
    return Figures(make_report(settings, agreement_among).to_json())


@takes_keywords(ProbeSettings)
def probe(train: FileOrRecords, tests: FileOrRecords | Sequence[FileOrRecords], settings: ProbeSettings) -> Figures:
    """Train the small fixed detector on *train* and test it on *tests*; return the figures of ``piiloom probe --json``.

    *tests* is a file, or a list of files; lists of records are as good as files. The detector of the largest size is saved to the folder
    *out*, for ``detect`` with ``detector="probe"``; *tests* may then be ``()``. Needs the extra ``probe``; raises ``UsageError``,
    ``DataError`` and ``OutputError``.
    """
    several: Any = tests
    if isinstance(tests, str | Path) or any(isinstance(one, Record) for one in tests[:1]):
        several = [tests]
    with _files({"train": train, **{f"test-{number}": test for number, test in enumerate(several, 1)}}) as given:
        learnt, *tested = given.values()
        return Figures(run_probe(learnt, tested, settings).to_json())


@takes_keywords(SurrogateOptions)
def surrogate(source: str | Path, out: str | Path, options: SurrogateOptions) -> RunReport:
    """Put surrogates where the corpus *source* (a file, or a folder of files) was redacted, and write the folder *out*.

    The keywords are the options of ``piiloom surrogate run``, with its defaults. Returns the run's report: ``documents``, ``replaced``,
    ``warnings``, and all figures in ``report``, as in ``report.json``. A model is asked for values with ``values="llm"`` and, since
    sentences leave this machine then, ``yes=True`` only. Raises ``UsageError``, ``DataError``, ``OutputError`` and errors of providers;
    whatever happens, nothing half-written stays.
    """
    from piiloom.surrogates.corpus_run import Observer, run_corpus  # noqa: PLC0415 - few scripts need them, all would load them

    warnings: list[str] = []
    observer = Observer(agree=(lambda _: True) if options.yes else None, tell=warnings.append)
    report = run_corpus(Path(source), Path(out), options, observer)
    return replace(report, warnings=(*warnings, *report.warnings))


class DetectKeywords(DetectorSettings):
    """The keywords of ``detect``: those options of ``piiloom detect`` that concern the detector."""

    locale: str = setting(..., "Locale of the texts.")
    question: str | None = setting(None, "Question that decides the relevance of a span.")


class DetectFilesKeywords(DetectionSettings):
    """The keywords of ``detect_files``: the options of ``piiloom detect``."""

    watch: DetectionWatch | None = setting(None, "A function that is called with the progress.", flags="-")


class _Detect(Protocol[P]):
    @overload
    def __call__(self, texts: str, *args: P.args, **keywords: P.kwargs) -> Rows[ScoredSpan]: ...
    @overload
    def __call__(self, texts: list[str] | tuple[str, ...], *args: P.args, **keywords: P.kwargs) -> Rows[Rows[ScoredSpan]]: ...


def _of_texts(keywords: Callable[P, DetectKeywords]) -> Callable[[Callable[..., object]], _Detect[P]]:
    return takes_keywords(keywords)  # type: ignore[return-value]  # one text gives spans, several give lists of spans


@_of_texts(DetectKeywords)
def detect(texts: str | list[str] | tuple[str, ...], asked: DetectKeywords) -> Rows[ScoredSpan] | Rows[Rows[ScoredSpan]]:
    """Find personal information in one text, or in each of several: spans in text order, none of which overlap.

    Keywords are the options of ``piiloom detect`` (``detector="patterns"``, ``threshold``, ``types`` …), with its defaults. *question* is
    for detectors that judge whether a span matters for it. A detector that asks a model or a service needs ``yes=True``, since texts leave
    this machine then. ``text[span.start:span.end]`` is the value. ``to_pandas()`` of the result has a row for each span; the column
    ``text`` counts several texts from 0. Raises ``UsageError`` for an unknown locale or detector, ``ConfigError`` for a fault in a file of
    entities, and errors of providers.
    """
    from piiloom.detection.running.running import detect_texts  # noqa: PLC0415 - few scripts want it, all would load it

    several = [texts] if isinstance(texts, str) else texts
    found = detect_texts(several, asked.locale, asked.question, asked)
    columns = ("value", *(one.name for one in fields(ScoredSpan)))
    rows = [Rows(spans, partial(_span_row, text), columns) for text, spans in zip(several, found, strict=True)]
    return rows[0] if isinstance(texts, str) else Rows(rows, _text_rows, ("text", *columns))


def _span_row(text: str, number: int, span: ScoredSpan) -> list[Row]:
    del number
    return [{"value": text[span.start : span.end], **asdict(span)}]


def _text_rows(number: int, spans: Rows[ScoredSpan]) -> list[Row]:
    return [{"text": number, **row} for row in spans.frame_rows()]


@takes_keywords(DetectFilesKeywords)
def detect_files(source: str | Path, out: str | Path, asked: DetectFilesKeywords) -> DetectionReport:
    """Detect in the file or folder *source* and write *out*: a ``.jsonl`` file of native rows, or a folder in any ``format``.

    Keywords are the options of ``piiloom detect``, with its defaults. ``resume=True`` continues a run that was stopped. *watch* is
    called with the progress. Gives the counts (``figures``) and the files. Raises ``UsageError``, ``DataError``, ``OutputError`` and
    errors of providers; nothing half-written gets its name.
    """
    from piiloom.detection.running.running import run_detection  # noqa: PLC0415 - as above

    request = DetectionRequest.of({**asked.part(DetectionSettings).given(), "source": source, "out": out}, noun="keyword")
    return run_detection(request, watch=asked.watch or noop, agree=request.check_agreed)


class EncoderKeywords(EncoderOptions):
    """The keywords of ``train_encoder``: the options of ``piiloom train encoder``, and a watch."""

    watch: Callable[[TrainingProgress], None] | None = setting(None, "A function that is called with the progress.", flags="-")


@takes_keywords(EncoderKeywords)
def train_encoder(model: str | Path, out: str | Path, asked: EncoderKeywords) -> About:
    """Train the local encoder in the folder *model* on a ``release`` or on files (``train``), and write a detector to the folder *out*.

    The keywords are the options of ``piiloom train encoder``, with its defaults. *watch* is called with the progress. Returns the content
    of ``piiloom.json`` in *out*: data, settings and ``figures`` (``validation`` among them). ``piiloom.detect(text, detector="encoder",
    model_path=out, locale=…)`` uses it. Needs the extra ``train``. Raises ``UsageError`` for a folder without a model or a library that
    is missing, ``DataError`` for records that cannot be learnt from, and ``OutputError`` if *out* cannot be written.
    """
    from piiloom.detection.encoder.encoder_detector import train_encoder_on  # noqa: PLC0415 - few scripts need it, all would load it

    return train_encoder_on(Path(model), Path(out), asked, watch=asked.watch or noop)[0]


def _record_row(number: int, record: Record) -> list[Row]:
    del number
    return [flat_row_of(record)]


def _export_rows(number: int, report: ExportReport) -> Iterable[Row]:
    del number
    return report.frame_rows()
