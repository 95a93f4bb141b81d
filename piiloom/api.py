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

All of them work where an event loop is running already, as in Jupyter, and raise ``piiloom.PiiloomError``.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from piiloom.cli.options import DEFAULT_STORE
from piiloom.cli.reporting import Choice, make_report
from piiloom.cli.workspace import new_or_known_run
from piiloom.corpus.formats.base import Format, read_records
from piiloom.corpus.formats.registry import get_format
from piiloom.corpus.record import Record
from piiloom.corpus.releases.exporting import MANIFEST, ExportReport, export_release
from piiloom.corpus.releases.freezing import ANY_STATUS, create_release
from piiloom.corpus.releases.manifest import types_beside
from piiloom.corpus.releases.sizes import parse_test_size
from piiloom.corpus.store.database import Store
from piiloom.corpus.store.releases import ReleaseRow
from piiloom.evaluation.report_figures import DEFAULT_SEED
from piiloom.evaluation.report_folder import report_json
from piiloom.foundation.errors import DataError, UsageError
from piiloom.generation.configuration import make_config
from piiloom.generation.progress import RunProgress, Watch, unwatched
from piiloom.generation.sitting import sit
from piiloom.taxonomy.own_types import types_in_force
from piiloom.taxonomy.own_types_file import read_types_file

__all__ = ["export", "generate", "load", "release", "report"]

StorePath = str | Path | None


def generate(*, samples: int = 100, store: StorePath = None, watch: Watch | None = None, **settings: Any) -> RunProgress:
    """Generate until *samples* records are accepted; gives the final progress (``status``, ``accepted``, ``reasons`` …).

    *settings* are those of ``piiloom.generation.configuration.RunConfig``: provider, model, base_url, pairs, locale, seed,
    concurrency, types (a YAML file) … A run of the same settings and seed in the same store is gone on with rather than refused,
    so a notebook cell can be run again: it completes the run, adds what a larger *samples* asks for, or gives what is there.
    *watch* is called with the progress after every result. *store* None: ``outputs/piiloom.duckdb``.

    A status of "failed" (fewer records than wanted, nothing left to try) is no exception. Raises ``UsageError`` for bad
    settings, ``ProviderError`` when no provider can be reached, ``StoreError`` and ``OutputError`` for the store.
    """
    config = make_config({**settings, "samples": samples})
    with new_or_known_run(_store(store), config) as opened:
        return sit(opened.store, opened.run, opened.config, opened.provider, watch=watch or unwatched)


def release(
    name: str,
    *,
    store: StorePath = None,
    test_size: float | str = 0.1,
    seed: int = 7,
    status: str = ANY_STATUS,
    run: str | None = None,
) -> ReleaseRow:
    """Freeze the records of the store (only those of *run*, with *status*) as release *name*, split into train and test.

    *test_size* is a number of records, a fraction between 0 and 1, or 0 for no test split. Raises ``ReleaseError`` when the name
    is taken or there are no records.
    """
    size = parse_test_size(str(test_size))
    with Store.open(_store(store), create=False) as opened:
        return create_release(opened, name, test_size=size, seed=seed, run_id=run, status=status)


def export(release: str, out: str | Path, *, format: str = "native", store: StorePath = None, force: bool = False) -> ExportReport:  # noqa: A002 - the word users know
    """Write *release* as ``native`` or ``capid`` to the folder *out*, which must be new or empty unless *force*.

    Gives the files with their hashes and what the format could not express. Raises ``ReleaseError`` and ``OutputError``.
    """
    chosen = get_format(format)
    with Store.open(_store(store), create=False) as opened:
        return export_release(opened, release, chosen, Path(out), force=force)


def load(path: str | Path, *, split: str | None = None, locale: str = "en_US", types: str | Path | None = None) -> list[Record]:
    """Read the records of a native JSONL file, or of an exported folder: all its splits, or only *split*.

    A folder's format is the one that its ``release.json`` names, and so are its own types; *types* is a types file for a file
    that lies beside none. Raises ``DataError`` with file, line and field for the first
    row that is no record, and ``UsageError`` for a split that is not there.
    """
    source = Path(path)
    if not source.exists():
        raise DataError("there is no such file or folder", where=str(source), remedy="Give a native JSONL file or an exported folder")
    if not source.is_dir():
        if split is not None:
            raise UsageError("a split can be chosen in a folder only", where=str(source), remedy="Give the folder of the export")
        with types_in_force(types_beside(source) if types is None else read_types_file(Path(types))):
            return list(read_records(get_format("native"), source, locale=locale))
    file_format, files = _manifest(source)
    if split is not None and split not in files:
        raise UsageError(f"there is no split {split!r}", where=str(source), remedy=f"It has: {', '.join(files) or 'none'}")
    chosen = [name for part, name in files.items() if split in (None, part)]
    records: list[Record] = []
    for name in chosen:
        with types_in_force(types_beside(source / name) if types is None else read_types_file(Path(types))):
            records += read_records(file_format, source / name, locale=locale)
    return records


def report(
    path: StorePath = None,
    *,
    run: str | None = None,
    release: str | None = None,
    out: str | Path | None = None,
    force: bool = False,
    seed: int = DEFAULT_SEED,
) -> dict[str, Any]:
    """Measure the diversity of records and what they give away; gives the figures that ``piiloom report --json`` prints.

    *path* is a native or CAPID JSONL file when it ends in ``.jsonl``, else a store, of which *run* or *release* may be chosen.
    With *out* (a new or empty folder unless *force*) the figures, a dataset card and plots are written there too. Raises
    ``DataError`` for a file without records, ``StoreError``, ``RunError`` and ``ReleaseError`` for a store, ``OutputError``.
    """
    given = None if path is None else Path(path)
    if given is not None and given.suffix == ".jsonl":
        choice = Choice(file=given, run=run, release=release)
    else:
        choice = Choice(store=given, run=run, release=release)
    made = make_report(choice, None if out is None else Path(out), force=force, seed=seed)
    return report_json(made.source, made.figures)


def _store(path: StorePath) -> Path:
    return DEFAULT_STORE if path is None else Path(path)


def _manifest(folder: Path) -> tuple[Format, dict[str, str]]:
    """Read the format of an export and its files by split."""
    where = str(folder / MANIFEST)
    try:
        about = json.loads((folder / MANIFEST).read_text(encoding="utf-8"))
        return get_format(about["format"]), {described["split"]: name for name, described in about["files"].items()}
    except OSError as error:
        raise DataError(f"the folder is no export ({error.strerror})", where=where, remedy="Give one that piiloom export wrote") from None
    except (ValueError, KeyError, TypeError, AttributeError):
        raise DataError("the description of the export is damaged", where=where, remedy="Export the release again") from None
