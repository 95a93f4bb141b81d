"""The work behind ``piiloom compare``."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from importlib.util import find_spec
from pathlib import Path

from piiloom.cli.compare_detectors import AskedDetector, asked_detectors, detector_folder, run_detectors
from piiloom.cli.compare_options import CompareCommand
from piiloom.cli.compare_table import print_comparison
from piiloom.cli.evaluation_reading import input_options
from piiloom.cli.terminal import say, say_json
from piiloom.evaluation.calibration.calibrating import CalibrationCollector, CalibrationFigures
from piiloom.evaluation.comparison.as_json import comparison_json
from piiloom.evaluation.comparison.as_page import html_page
from piiloom.evaluation.comparison.as_text import latex_table, markdown_table
from piiloom.evaluation.comparison.comparing import Comparison, OpenPairs, Ranking, check_ranking, compare_files
from piiloom.evaluation.comparison.measured import ECE_NOTE, NOTE, Measured, measured_columns
from piiloom.evaluation.comparison.table import ComparisonTable, comparison_table
from piiloom.evaluation.cost.cost_figures import COLUMNS
from piiloom.evaluation.cost.costing import CostCollector, usage_source
from piiloom.evaluation.inputs.documents import Pair
from piiloom.evaluation.inputs.opening import open_pairs
from piiloom.evaluation.inputs.summary import InputsSummary, SideSummary
from piiloom.evaluation.pages.writing import write_plot
from piiloom.evaluation.schemes.base import Scheme, SchemeOptions
from piiloom.evaluation.schemes.capid import CapidScheme, relevance_warnings
from piiloom.evaluation.schemes.registry import BY_TYPE, make_scheme
from piiloom.evaluation.scoring.bootstrap import Resampling
from piiloom.evaluation.scoring.collector import Collector
from piiloom.foundation.errors import OutputError, UsageError
from piiloom.foundation.extras import how_to_install
from piiloom.foundation.whole_files import drafted

Extra = Mapping[str, Mapping[str, str]]

_TABLES: dict[str, Callable[[ComparisonTable], str]] = {"md": markdown_table, "tex": latex_table, "html": html_page}
FORMS = (*_TABLES, "json")


def compare_and_report(request: CompareCommand) -> None:
    """Compare and print the table; what is wrong with the request comes out before anything is read."""
    systems, form = named_systems(request.predictions or ()), request.form
    asked = asked_detectors(request.detectors or (), tuple(systems))
    if form is not None and form not in FORMS:
        raise UsageError(f"unknown form {form!r}", where="--print", remedy=f"Give one of: {', '.join(FORMS)}")
    if request.keep is not None and not asked:
        raise UsageError("there is nothing to keep", where="--keep", remedy="Name a --detector, or leave it out")
    usage = _usage_files(request.usage or (), systems)
    with detector_folder(request.keep) as folder:
        compared = run_comparison(request, systems, usage, asked, folder)
    comparison, extra = compared.comparison, compared.extra
    if request.as_json or form == "json":
        say_json(compared.to_json())
        return
    if form is not None:
        say(_in_form(compared, form).rstrip("\n"))
        return
    print_comparison(comparison, extra, compared.notes)
    for path in (*(request.table or ()), *compared.pictures):
        say(f"written: {path}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Compared:
    """A comparison, columns and notes that go beside it, how far the scores of each system can be trusted, and pictures that were drawn.

    ``inputs``: what was read for each system.
    """

    comparison: Comparison
    extra: Extra
    notes: tuple[str, ...]
    calibrations: Mapping[str, CalibrationFigures]
    pictures: tuple[Path, ...]
    inputs: Mapping[str, InputsSummary]

    def to_json(self) -> dict[str, object]:
        """Return the comparison as JSON values, with what was read."""
        inputs = {name: summary.to_json() for name, summary in self.inputs.items()}
        return {**comparison_json(self.comparison, self.extra, self.calibrations), "inputs": inputs}


def run_comparison(
    request: CompareCommand, systems: Mapping[str, Path], usage: Mapping[str, Path], asked: Sequence[AskedDetector], folder: Path
) -> Compared:
    """Compare *systems* (predictions by name) and the detectors *asked*, whose findings go to *folder*, and write tables and pictures.

    Raises ``UsageError``, ``DataError`` and ``OutputError``.
    """
    tables = request.table or ()
    for path in tables:
        _check_place(path, (request.gold, *systems.values()))
    scheme = make_scheme(request.scheme, SchemeOptions(beta=tuple(request.beta or ())))
    ranking = _ranking(request)
    check_ranking(scheme, [*systems, *(one.name for one in asked)], ranking)
    costs = {name: CostCollector(usage_source(path)) for name, path in usage.items()}
    reading = {"--input-format": request.gold_format or request.file_format, "--locale": request.locale}
    found, measured = run_detectors(asked, request.gold, folder, reading)
    systems = {**systems, **found}
    calibrations = {name: CalibrationCollector() for name in systems}
    watching: dict[str, list[Collector]] = {name: [one] for name, one in calibrations.items()}
    for name, cost in costs.items():
        watching[name].append(cost)
    inputs: dict[str, InputsSummary] = {}
    comparison = compare_files(request.gold, systems, _reader(request, scheme, systems, watching, inputs), scheme, ranking)
    gold, results = next(iter(inputs.values())).gold, {name: summary.found for name, summary in inputs.items()}
    if scheme.name == CapidScheme.name:
        comparison = replace(comparison, warnings=relevance_warnings({"the gold file": gold, **results}))
    figures = {name: calibration for name, one in calibrations.items() if (calibration := one.figures()).spans}
    extra = {**_cost_columns(costs), **measured_columns(measured, {name: one.ece for name, one in figures.items()})}
    pictures = () if request.plots is None else _drawn(request.plots, comparison, measured, figures)
    compared = Compared(
        comparison=comparison,
        extra=extra,
        notes=(*((NOTE,) if measured else ()), *((ECE_NOTE,) if figures else ()), *_left_out({"gold": gold, **results})),
        calibrations=figures,
        pictures=pictures,
        inputs=inputs,
    )
    for path in tables:
        _write(path, _in_form(compared, path.suffix[1:]))
    return compared


def _drawn(
    folder: Path, comparison: Comparison, measured: Mapping[str, Measured], figures: Mapping[str, CalibrationFigures]
) -> tuple[Path, ...]:
    if find_spec("matplotlib") is None:
        raise UsageError("plots need matplotlib", where="--plots", remedy=f"Install it: {how_to_install('report')}")
    from piiloom.evaluation.comparison.pictures import quality_plot, reliability_plot  # noqa: PLC0415 - loads matplotlib

    drawn = [quality_plot(comparison, measured)] if measured else []
    drawn += [reliability_plot(figures)] if figures else []
    return tuple(path for plot in drawn for path in write_plot(folder, plot))


def _ranking(request: CompareCommand) -> Ranking:
    return Ranking(
        by=request.by,
        lowest=request.lowest,
        cluster=request.cluster,
        resampling=Resampling(rounds=request.resamples, confidence=request.confidence, seed=request.seed),
        permutations=request.permutations,
    )


def _left_out(sides: Mapping[str, SideSummary]) -> list[str]:
    """Return a note for each of *sides* of which something was left out, or nothing was read."""
    told = {name: [*(() if side.mentions else ("no mentions",)), *side.notes()] for name, side in sides.items()}
    return [f"{name}: {', '.join(notes)}" for name, notes in told.items() if notes]


def _reader(
    request: CompareCommand,
    scheme: Scheme,
    systems: Mapping[str, Path],
    watching: Mapping[str, Sequence[Collector]],
    inputs: dict[str, InputsSummary],
) -> OpenPairs:
    """Return what reads a system beside the gold, with the collectors *watching* it; it puts what was read into *inputs*."""
    placed = scheme.needs == "places"
    options = replace(input_options(request, scheme.needs), offsets=placed, types_matter=scheme.name in BY_TYPE)
    name_of = {path: name for name, path in systems.items()}

    def read(gold: Path, found: Path) -> Iterator[Pair]:
        collectors = watching[name_of[found]]
        pairs, inputs[name_of[found]] = open_pairs(gold, found, options)
        for pair in pairs:
            for one in collectors:
                one.add(pair)
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


def _in_form(compared: Compared, form: str) -> str:
    if form == "json":
        return json.dumps(compared.to_json(), ensure_ascii=False, indent=2) + "\n"
    return _TABLES[form](comparison_table(compared.comparison, compared.extra, compared.notes))


def _check_place(path: Path, inputs: Sequence[Path]) -> None:
    if path.suffix[1:] not in FORMS:
        remedy = f"End it with one of: {', '.join(f'.{form}' for form in FORMS)}"
        raise UsageError("the name does not say which form the table is to have", where=str(path), remedy=remedy)
    if path.resolve() in {one.resolve() for one in inputs}:
        raise UsageError("the table would overwrite a file that is compared", where="--table", remedy="Name another file")
    if path.is_dir():
        raise OutputError("this is a folder", where=str(path), remedy="Name a file with --table")


def _write(path: Path, text: str) -> None:
    with drafted(path) as file:
        file.write(text.encode("utf-8", "replace"))
