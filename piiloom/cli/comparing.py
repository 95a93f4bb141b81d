"""The work behind ``piiloom compare``."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

from piiloom.cli.compare_options import CompareCommand
from piiloom.cli.compare_table import print_comparison
from piiloom.cli.evaluation_reading import input_options
from piiloom.cli.terminal import say, say_json
from piiloom.evaluation.comparison.as_json import comparison_json
from piiloom.evaluation.comparison.as_page import html_page
from piiloom.evaluation.comparison.as_text import latex_table, markdown_table
from piiloom.evaluation.comparison.comparing import Comparison, OpenPairs, Ranking, compare_files
from piiloom.evaluation.comparison.table import ComparisonTable, comparison_table
from piiloom.evaluation.cost.cost_figures import COLUMNS
from piiloom.evaluation.cost.costing import CostCollector, usage_source
from piiloom.evaluation.inputs.documents import Pair
from piiloom.evaluation.inputs.opening import open_pairs
from piiloom.evaluation.schemes.base import Scheme, SchemeOptions
from piiloom.evaluation.schemes.registry import BY_TYPE, make_scheme
from piiloom.evaluation.scoring.bootstrap import Resampling
from piiloom.foundation.errors import OutputError, UsageError

Extra = Mapping[str, Mapping[str, str]]

_TABLES: dict[str, Callable[[ComparisonTable], str]] = {"md": markdown_table, "tex": latex_table, "html": html_page}
FORMS = (*_TABLES, "json")


def compare_and_report(request: CompareCommand) -> None:
    """Compare and print the table; what is wrong with the request comes out before anything is read."""
    systems, form = named_systems(request.predictions), request.form
    if form is not None and form not in FORMS:
        raise UsageError(f"unknown form {form!r}", where="--print", remedy=f"Give one of: {', '.join(FORMS)}")
    comparison, extra = run_comparison(request, systems, _usage_files(request.usage or (), systems))
    if request.as_json or form == "json":
        say_json(comparison_json(comparison, extra))
        return
    if form is not None:
        say(_in_form(comparison, form, extra).rstrip("\n"))
        return
    print_comparison(comparison, extra)
    for path in request.table or ():
        say(f"written: {path}")


def run_comparison(request: CompareCommand, systems: Mapping[str, Path], usage: Mapping[str, Path]) -> tuple[Comparison, Extra]:
    """Compare *systems* (predictions by name), and write the tables; return the figures, and what the files *usage* by name add to tables.

    Raises ``UsageError``, ``DataError`` and ``OutputError``.
    """
    tables = request.table or ()
    for path in tables:
        _check_place(path, (request.gold, *systems.values()))
    scheme = make_scheme(request.scheme, SchemeOptions(beta=tuple(request.beta or ())))
    costs = {name: CostCollector(usage_source(path)) for name, path in usage.items()}
    comparison = compare_files(request.gold, systems, _reader(request, scheme, systems, costs), scheme, _ranking(request))
    extra = _cost_columns(costs)
    for path in tables:
        _write(path, _in_form(comparison, path.suffix[1:], extra))
    return comparison, extra


def _ranking(request: CompareCommand) -> Ranking:
    return Ranking(
        by=request.by,
        lowest=request.lowest,
        cluster=request.cluster,
        resampling=Resampling(rounds=request.resamples, confidence=request.confidence, seed=request.seed),
        permutations=request.permutations,
    )


def _reader(request: CompareCommand, scheme: Scheme, systems: Mapping[str, Path], costs: Mapping[str, CostCollector]) -> OpenPairs:
    """Return what reads a system beside the gold, and lets the collector of its cost look on."""
    placed = scheme.needs == "places"
    options = replace(input_options(request, scheme.needs), offsets=placed, types_matter=scheme.name in BY_TYPE)
    name_of = {path: name for name, path in systems.items()}

    def read(gold: Path, found: Path) -> Iterator[Pair]:
        cost = costs.get(name_of[found])
        for pair in open_pairs(gold, found, options)[0]:
            if cost is not None:
                cost.add(pair)
            yield pair

    return read


def _usage_files(given: Sequence[str], systems: Mapping[str, Path]) -> dict[str, Path]:
    """Return the usage files, given as NAME=FILE, by system; raises ``UsageError`` for the name of no system."""
    files: dict[str, Path] = {}
    for word in given:
        name, equals, file = word.partition("=")
        if not equals or name not in systems:
            remedy = f"Write NAME=FILE; the systems: {', '.join(systems)}"
            raise UsageError(f"no system is called {name!r}", where="--usage", remedy=remedy)
        files[name] = Path(file)
    return files


def _cost_columns(costs: Mapping[str, CostCollector]) -> Extra:
    cells = {name: cost.figures().cells() for name, cost in costs.items()}
    return {title: {name: each[at] for name, each in cells.items()} for at, title in enumerate(COLUMNS)} if cells else {}


def named_systems(given: Sequence[str]) -> dict[str, Path]:
    """Return the files of *given* by name: that before the first "=", or else the file's, without its suffix.

    Files whose names are equal are told apart by their folders. Raises ``UsageError`` for an empty name, or one given twice.
    """
    parted = [_parted(word) for word in given]
    stems = [path.stem for name, path in parted if name is None]
    systems: dict[str, Path] = {}
    for name, path in parted:
        called = name if name is not None else path.stem if stems.count(path.stem) == 1 else str(path.with_suffix(""))
        if not called.strip():
            raise UsageError("a system without a name", where=f"={path}", remedy="Write NAME=FILE")
        if called in systems:
            raise UsageError(f"two systems are called {called!r}", remedy="Name them apart: NAME=FILE")
        systems[called] = path
    return systems


def _parted(word: str) -> tuple[str | None, Path]:
    name, equals, file = word.partition("=")
    return (None, Path(word)) if not equals or Path(word).exists() else (name, Path(file))


def _in_form(comparison: Comparison, form: str, extra: Extra) -> str:
    if form == "json":
        return json.dumps(comparison_json(comparison, extra), ensure_ascii=False, indent=2) + "\n"
    return _TABLES[form](comparison_table(comparison, extra))


def _check_place(path: Path, inputs: Sequence[Path]) -> None:
    if path.suffix[1:] not in FORMS:
        remedy = f"End it with one of: {', '.join(f'.{form}' for form in FORMS)}"
        raise UsageError("the name does not say which form the table is to have", where=str(path), remedy=remedy)
    if path.resolve() in {one.resolve() for one in inputs}:
        raise UsageError("the table would overwrite a file that is compared", where="--table", remedy="Name another file")
    if path.is_dir():
        raise OutputError("this is a folder", where=str(path), remedy="Name a file with --table")


def _write(path: Path, text: str) -> None:
    draft = path.with_name(f".{path.name}.part")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        draft.write_bytes(text.encode("utf-8", "replace"))
        draft.replace(path)
    except OSError as error:
        reason = f"the table cannot be written ({error.strerror})"
        raise OutputError(reason, where=str(path), remedy="Name another file with --table") from error
    finally:
        with suppress(OSError):
            draft.unlink(missing_ok=True)
