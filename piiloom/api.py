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

Beside these: ``import_file``, ``records``, ``report``, ``probe``, ``evaluate``, ``compare``, ``surrogate``, ``detect``,
``detect_files`` and ``train_encoder``. All of them work where an event loop is running already, as in Jupyter, print nothing, and raise
``piiloom.PiiloomError``. Every result has ``to_pandas()``. Settings are typed: a type checker finds a misspelt one, and at run time it
is a ``UsageError``. A script can be run again: what it made is gone on with or confirmed, and never replaced unasked.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Unpack

from piiloom.cli.keyword_checks import known_keywords
from piiloom.cli.reporting import Choice, make_report
from piiloom.cli.surrogate_keywords import SurrogateOptions, options_of
from piiloom.corpus.formats.native_rows import COLUMNS, flat_row_of
from piiloom.corpus.importing import ImportReport, ImportSettings, LoadSettings, import_into, load_records
from piiloom.corpus.record import Record
from piiloom.corpus.releases.again import create_or_confirm_release, export_or_confirm
from piiloom.corpus.releases.exporting import ExportReport, ExportSettings, export_formats
from piiloom.corpus.releases.release_options import ReleaseOptions
from piiloom.corpus.store import DEFAULT_STORE, StoreSettings
from piiloom.corpus.store.database import Store
from piiloom.corpus.store.reading import open_to_read
from piiloom.corpus.store.record_search import TextConditions, filter_of, search_records
from piiloom.corpus.store.releases import ReleaseRow
from piiloom.detection_api import DetectOptions, DetectorOptions, detect, detect_files
from piiloom.evaluation.report.figures import DEFAULT_SEED
from piiloom.evaluation.report.folder import report_json
from piiloom.evaluation_api import FileOrRecords, compare, evaluate, record_files
from piiloom.foundation.errors import UsageError
from piiloom.foundation.frames import Figures, Row, Rows
from piiloom.foundation.noop import noop
from piiloom.foundation.settings import Converted, setting, takes_keywords
from piiloom.generation.run_session import run_to_end
from piiloom.generation.running.opening import new_or_known_run
from piiloom.generation.running.progress import RunProgress
from piiloom.generation.settings.configuration import RunConfig
from piiloom.generation.settings.setting_checks import check
from piiloom.surrogates.progress import RunReport
from piiloom.training_api import EncoderOptions, train_encoder

__all__ = [
    "DetectOptions",
    "DetectorOptions",
    "EncoderOptions",
    "SurrogateOptions",
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

StorePath = str | Path | None


class Generation(RunConfig):
    """The keywords of ``generate``: the settings of a run, the store, and a watch."""

    store: Converted[Path, StorePath] = setting(DEFAULT_STORE, "The DuckDB file of the workspace.", flags="-")
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


class Releasing(ReleaseOptions, StoreSettings):
    """The keywords of ``release``: the options of a release, and the store."""


@takes_keywords(Releasing)
def release(name: str, asked: Releasing) -> ReleaseRow:
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
    chosen, tokenizer, seed = asked.formats(), asked.tokenizer, asked.seed
    with Store.open(asked.store, create=False) as opened:
        if asked.force:
            made = export_formats(opened, release, chosen, Path(out), splits=asked.splits, tokenizer=tokenizer, seed=seed, force=True)
        else:
            made = export_or_confirm(opened, release, chosen, Path(out), splits=asked.splits, tokenizer=tokenizer, seed=seed)
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
        found = list(search_records(store, filter_of(store, asked), limit=asked.limit, offset=asked.offset)[1])
    places = [{"run": one.run_id, "plan_index": one.plan_index, "status": one.status} for one in found]

    def rows_of(number: int, record: Record) -> list[Row]:
        return [{**flat_row_of(record), **places[number]}]

    return Rows((one.record for one in found), rows_of, (*COLUMNS, "run", "plan_index", "status"))


@known_keywords()
def report(
    path: StorePath = None,
    *,
    store: StorePath = None,
    run: str | None = None,
    release: str | None = None,
    format: str | None = None,  # noqa: A002 - the word users know
    types: str | Path | None = None,
    out: str | Path | None = None,
    force: bool = False,
    seed: int = DEFAULT_SEED,
) -> Figures:
    """Measure the diversity of records and what they give away; gives the figures that ``piiloom report --json`` prints.

    *store* is a store, of which *run* or *release* may be chosen. *path* is a native or CAPID JSONL file when it ends in ``.jsonl``, a
    file of *format* when that is given (*types* is a types file for it), else a store.
    With *out* (a new or empty folder unless *force*) the figures, a dataset card and plots are written there too. Raises
    ``DataError`` for a file without records, ``StoreError``, ``RunError`` and ``ReleaseError`` for a store, ``OutputError``.
    """
    is_file = path is not None and (Path(path).suffix == ".jsonl" or format is not None)
    if path is not None and store is not None and not is_file:
        raise UsageError("two stores are given", where="path, store", remedy="Give one of them, or a file with its format")
    file, chosen = (path, store) if is_file else (None, store or path)
    paths = {"file": file, "store": chosen, "types": types}
    given = {name: None if one is None else Path(one) for name, one in paths.items()}
    choice = Choice(**given, file_format=format, run=run, release=release)
    made = make_report(choice, None if out is None else Path(out), force=force, seed=seed)
    return Figures(report_json(made.source, made.figures))


@known_keywords()
def probe(
    train: FileOrRecords,
    *tests: FileOrRecords,
    sizes: Sequence[int] | None = None,
    by_type: bool = False,
    errors: str | Path | None = None,
    seed: int = 7,
    format: str | None = None,  # noqa: A002 - the word users know
    save: str | Path | None = None,
    calibrate: str | Path | None = None,
    force: bool = False,
) -> Figures:
    """Train the small fixed detector on *train* and test it on each of *tests*; gives the figures of ``piiloom probe --json``.

    The files are native or CAPID JSONL, or all in *format*; lists of records are as good as files. With *sizes* it is trained once for
    each of these numbers of records;
    *by_type* adds the figures of each type; missed, spurious and wrong spans go to the file *errors*, which is replaced. The detector of
    the largest size is saved to *save*, a new or empty folder unless *force*, for ``detect`` with ``detector="probe"``; its scores are
    calibrated on the file *calibrate*, or on a part of *train*. Needs the extra ``probe``; raises ``UsageError``, ``DataError`` and
    ``OutputError``.
    """
    from piiloom.evaluation.probe.as_json import result_json, saved_json  # noqa: PLC0415
    from piiloom.evaluation.probe.files import Saving, probe_files  # noqa: PLC0415 - needs an extra

    place = None if errors is None else Path(errors)
    on = None if calibrate is None else Path(calibrate)
    saving = None if save is None else Saving(folder=Path(save), calibrate=on, force=force)
    with record_files({"train": train, **{f"test-{number}": test for number, test in enumerate(tests, 1)}}) as given:
        learnt, *tested = given.values()
        result, _, saved = probe_files(learnt, tested, sizes=sizes, errors=place, seed=seed, file_format=format, saving=saving)
    return Figures(result_json(result, by_type=by_type) | ({} if saved is None else {"saved": saved_json(saved)}))


@known_keywords(SurrogateOptions)
def surrogate(source: str | Path, out: str | Path, **options: Unpack[SurrogateOptions]) -> RunReport:
    """Put surrogates where the corpus *source* (a file, or a folder of files) was redacted, and write the folder *out*.

    *options* are those of ``piiloom surrogate run``, with its defaults. Gives the run's report: ``documents``, ``replaced``, ``warnings``,
    and all figures in ``report``, as in ``report.json``. A model is asked for values with ``values="llm"`` and, since sentences
    leave this machine then, ``yes=True`` only. Raises ``UsageError``, ``DataError``, ``OutputError`` and errors of providers;
    whatever happens, nothing half-written stays.
    """
    from piiloom.cli.surrogate_running import Observer, run_corpus  # noqa: PLC0415 - few scripts want them, all would load them

    inputs, chosen, warnings = options_of(Path(source), Path(out), options)
    observer = Observer(agree=(lambda _: True) if chosen.yes else None, tell=warnings.append)
    report = run_corpus(inputs, chosen, observer)
    return replace(report, warnings=(*warnings, *report.warnings))


def _record_row(number: int, record: Record) -> list[Row]:
    del number
    return [flat_row_of(record)]


def _export_rows(number: int, report: ExportReport) -> Iterable[Row]:
    del number
    return report.frame_rows()
