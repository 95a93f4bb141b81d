"""Compare files of predictions, and detectors that are run on the gold, each in its own process so that its memory is measured alone."""

from __future__ import annotations

import json
import re
import shlex
import subprocess
import sys
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final, Literal, NamedTuple

from pydantic import field_validator

from piiloom.evaluation.comparison import (
    ECE_NOTE,
    NOTE,
    Comparison,
    ComparisonTable,
    MeasuredRun,
    RankingSettings,
    check_ranking,
    compare_systems,
    comparison_table,
    html_page,
    latex_table,
    markdown_table,
    measured_columns,
)
from piiloom.evaluation.cost import COLUMNS, CostCollector, usage_costs
from piiloom.evaluation.inputs.documents import Collector, InputsSummary, Pair, SideSummary
from piiloom.evaluation.inputs.opening import READING, PairSettings, open_pairs
from piiloom.evaluation.schemes.base import FIGURES, SchemeSettings
from piiloom.evaluation.schemes.capid import CapidScheme, relevance_warnings
from piiloom.evaluation.schemes.registry import BY_TYPE, DEFAULT_SCHEME, SCHEME_HELP, make_schemes
from piiloom.evaluation.scoring.counts import CalibrationCollector, CalibrationFigures
from piiloom.evaluation.scoring.resampling import UNCERTAINTY
from piiloom.foundation.errors import DataError, OutputError, UsageError, how_to_install
from piiloom.foundation.settings import Converted, OptionalPath, setting
from piiloom.foundation.whole_files import drafted, output_errors

TableForm = Literal["md", "tex", "html", "json"]
_TABLES: Final[Mapping[str, Callable[[ComparisonTable], str]]] = {"md": markdown_table, "tex": latex_table, "html": html_page}
_FORMS: Final = (*_TABLES, "json")
_OURS: Final = ("--out", "-o", "--json", "--format", "--mask", "--to", "--resume", "--force")
_UNSAFE: Final = re.compile(r"[^\w.+-]+")


class ComparisonSettings(PairSettings, SchemeSettings, RankingSettings):
    """Settings of a comparison."""

    panels = (FIGURES, UNCERTAINTY, READING)

    detector: Converted[tuple[str, ...], Sequence[str]] = setting(
        (),
        "A detector that is run on GOLD as a further system, with options of piiloom detect; repeatable.",
        metavar="'[NAME=]DETECTOR …'",
    )
    predictions_out: OptionalPath = setting(None, "Folder in which the predictions of the detectors are kept.", metavar="DIR")
    plots: OptionalPath = setting(
        None, "Folder for plots of quality against time and cost, and of the reliability of scores.", metavar="DIR"
    )
    scheme: str = setting(DEFAULT_SCHEME, SCHEME_HELP, panel=FIGURES)
    usage: Converted[dict[str, Path], Mapping[str, str | Path] | Sequence[str]] = setting(
        {},
        "Tokens that a system took, one document per row, for its cost; repeatable.",
        metavar="NAME=FILE",
        kind=list[str],
    )
    out: Converted[tuple[Path, ...], Sequence[str | Path]] = setting(
        (), "File for the table (.md, .tex, .html or .json), which is replaced; repeatable.", flags="--out -o", metavar="FILE"
    )

    @field_validator("usage", mode="before")
    @classmethod
    def _by_name(cls, given: Any) -> Any:
        if isinstance(given, Mapping):
            return dict(given)
        parted = [(word, *word.partition("=")) for word in given]
        for word, _, equals, _ in parted:
            if not equals:
                raise UsageError(f"no system is named in {word!r}", where="--usage", remedy="Write NAME=FILE")
        return {name: file for _, name, _, file in parted}


class AskedDetector(NamedTuple):
    """One ``--detector``: the name of its system, the detector, and its options in the form of ``piiloom detect``."""

    name: str
    detector: str
    options: tuple[str, ...]


def run_comparison(
    gold: Path, predictions: Mapping[str, Path], settings: ComparisonSettings, known_detectors: Collection[str]
) -> Comparison:
    """Compare systems by their *predictions*, and the detectors ``settings.detector``; write tables and plots.

    Raises ``UsageError``, ``DataError`` and ``OutputError``.
    """
    asked = asked_detectors(settings.detector, known_detectors, taken=tuple(predictions))
    _check_places(settings, (gold, *predictions.values()), has_detectors=bool(asked))
    if strange := sorted(settings.usage.keys() - predictions.keys()):
        remedy = f"Write NAME=FILE; the systems: {', '.join(predictions)}"
        raise UsageError(f"no system is called {strange[0]!r}", where="--usage", remedy=remedy)
    (scheme,) = make_schemes((settings.scheme,), settings)
    check_ranking(scheme, [*predictions, *(one.name for one in asked)], settings)
    costs = {name: usage_costs(path) for name, path in settings.usage.items()}
    reading = {"--input-format": settings.gold_format or settings.input_format, "--locale": settings.locale}
    with _detector_folder(settings.predictions_out) as folder:
        found, measured = _run_detectors(asked, gold, folder, reading)
        systems = {**predictions, **found}
        calibrations = {name: CalibrationCollector() for name in systems}
        collectors: dict[str, list[Collector]] = {name: [one] for name, one in calibrations.items()}
        for name, cost in costs.items():
            collectors[name].append(cost)
        inputs: dict[str, InputsSummary] = {}

        def read(name: str) -> Iterator[Pair]:
            needs = scheme.needs
            matter = scheme.name in BY_TYPE
            pairs, inputs[name] = open_pairs(gold, systems[name], settings, needs, offsets=needs == "places", types_matter=matter)
            for pair in pairs:
                for one in collectors[name]:
                    one.add(pair)
                yield pair

        comparison = compare_systems({name: read(name) for name in systems}, scheme, settings)
    sides = {"gold": next(iter(inputs.values())).gold, **{name: summary.found for name, summary in inputs.items()}}
    figures = {name: calibration for name, one in calibrations.items() if (calibration := one.figures()).spans}
    comparison = replace(
        comparison,
        warnings=relevance_warnings({"the gold file" if name == "gold" else name: side for name, side in sides.items()})
        if scheme.name == CapidScheme.name
        else (),
        extra={**_cost_columns(costs), **measured_columns(measured, {name: one.ece for name, one in figures.items()})},
        notes=(*((NOTE,) if measured else ()), *((ECE_NOTE,) if figures else ()), *_left_out(sides)),
        calibrations=figures,
        inputs=inputs,
    )
    if settings.plots is not None:
        comparison = replace(comparison, pictures=_drawn(settings.plots, comparison, measured, figures))
    for path in settings.out:
        with drafted(path) as file:
            file.write(in_form(comparison, path.suffix[1:]).encode("utf-8", "replace"))
    return comparison


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


def asked_detectors(given: Sequence[str], known: Collection[str], taken: Sequence[str] = ()) -> list[AskedDetector]:
    """Read ``[NAME=]DETECTOR [options]``. Raises ``UsageError`` for a detector that is not *known*, and names that are *taken*."""
    found: list[AskedDetector] = []
    names = set(taken)
    for words in given:
        called, equals, rest = words.partition("=")
        named = bool(equals) and "--" not in called
        try:
            detector, *options = shlex.split(rest if named else words) or [""]
        except ValueError:
            raise UsageError("not a detector and its options", where=f"--detector {words}", remedy="Quote it as in a shell") from None
        if detector not in known:
            raise UsageError(f"there is no detector {detector!r}", where="--detector", remedy=f"Known: {', '.join(known)}")
        if ours := next((one for one in options if one.partition("=")[0] in _OURS), None):
            raise UsageError(f"{ours} is set by the comparison", where="--detector", remedy="Leave it out")
        name = called if named else detector
        if not name.strip() or name in names:
            raise UsageError(f"two systems are called {name!r}", where="--detector", remedy="Name them apart: NAME=DETECTOR")
        names.add(name)
        found.append(AskedDetector(name, detector, tuple(options)))
    return found


def in_form(comparison: Comparison, form: str) -> str:
    """Return the table of *comparison* in a *form*: md, tex, html or json."""
    if form == "json":
        return json.dumps(comparison.to_json(), ensure_ascii=False, indent=2) + "\n"
    return _TABLES[form](comparison_table(comparison))


def _parted(word: str) -> tuple[str | None, Path]:
    name, equals, file = word.partition("=")
    return (None, Path(word)) if not equals or Path(word).exists() else (name, Path(file))


def _check_places(settings: ComparisonSettings, inputs: Sequence[Path], *, has_detectors: bool) -> None:
    if settings.predictions_out is not None and not has_detectors:
        raise UsageError("there is nothing to keep", where="--predictions-out", remedy="Name a --detector, or leave it out")
    for path in settings.out:
        if path.suffix[1:] not in _FORMS:
            remedy = f"End it with one of: {', '.join(f'.{form}' for form in _FORMS)}"
            raise UsageError("the suffix is not one of a form of the table", where=str(path), remedy=remedy)
        if path.resolve() in {one.resolve() for one in inputs}:
            raise UsageError("the table would overwrite a file that is compared", where="--out", remedy="Name another file")
        if path.is_dir():
            raise OutputError("this is a folder", where=str(path), remedy="Name a file with --out")


@contextmanager
def _detector_folder(keep: Path | None) -> Iterator[Path]:
    """Give *keep*, which is made, or a folder that is removed again."""
    if keep is None:
        with TemporaryDirectory(prefix="piiloom-compare-") as folder:
            yield Path(folder)
        return
    with output_errors(keep):
        keep.mkdir(parents=True, exist_ok=True)
    yield keep


def _run_detectors(
    asked: Sequence[AskedDetector], gold: Path, folder: Path, reading: Mapping[str, str | None]
) -> tuple[dict[str, Path], dict[str, MeasuredRun]]:
    """Run each of *asked* on *gold*; return its predictions, in *folder*, and its time and memory, by name.

    *reading* are options of ``piiloom detect`` for *gold*, for detectors without their own. Raises ``DataError`` if a detector fails;
    its message is on standard error.
    """
    files: dict[str, Path] = {}
    measured: dict[str, MeasuredRun] = {}
    for number, one in enumerate(asked, start=1):
        out = folder / f"{number}-{_UNSAFE.sub('-', one.name)}.jsonl"
        out.unlink(missing_ok=True)  # else it would be refused, as a file of somebody's
        report = _run(one, gold, out, [word for pair in reading.items() if pair[1] and pair[0] not in one.options for word in pair])
        if report["failed"]:
            _append_failed(out)
        files[one.name] = out
        measured[one.name] = _measured(report)
    return files, measured


def _run(one: AskedDetector, gold: Path, out: Path, reading: Sequence[Any]) -> dict[str, Any]:
    command = [sys.executable, "-m", "piiloom", "detect", str(gold), "--detector", one.detector, *one.options, *reading]
    child = subprocess.run([*command, "--out", str(out), "--json", "--force"], stdout=subprocess.PIPE, check=False)  # noqa: S603 - ourselves
    if child.returncode:
        raise DataError(
            f"the detector {one.name!r} failed (exit code {child.returncode})",
            where=f"--detector {one.detector}",
            remedy="Its message is above; try it alone with piiloom detect",
        )
    report: dict[str, Any] = json.loads(child.stdout)
    return report


def _measured(report: Mapping[str, Any]) -> MeasuredRun:
    model = report["model"]
    usd = 0.0 if model is None else None if model.get("unpriced") else model["cost_usd"] + model["charged_usd"]
    documents = report["documents"] + report["failed"]
    return MeasuredRun(documents=documents, failed=report["failed"], seconds=report["seconds"], peak_bytes=report["peak_bytes"], usd=usd)


def _append_failed(out: Path) -> None:
    """Add a row without spans for each document that failed: in a comparison, all of its spans were missed."""
    with out.with_name(f"{out.stem}.detect-rejects.jsonl").open(encoding="utf-8") as rejects, out.open("a", encoding="utf-8") as rows:
        for line in rejects:
            reject = json.loads(line)
            if "id" in reject:
                rows.write(json.dumps({"id": reject["id"], "context": reject["row"], "spans": []}, ensure_ascii=False) + "\n")


def _drawn(
    folder: Path, comparison: Comparison, measured: Mapping[str, MeasuredRun], figures: Mapping[str, CalibrationFigures]
) -> tuple[Path, ...]:
    if find_spec("matplotlib") is None:
        raise UsageError("plots need matplotlib", where="--plots", remedy=f"Install it: {how_to_install('report')}")
    from piiloom.evaluation.plots import quality_plot, reliability_plot, write_plot

    drawn = [quality_plot(comparison, measured)] if measured else []
    drawn += [reliability_plot(figures)] if figures else []
    return tuple(path for plot in drawn for path in write_plot(folder, plot))


def _left_out(sides: Mapping[str, SideSummary]) -> list[str]:
    """Return a note for each of *sides* of which something was left out, or nothing was read."""
    notes = {name: [*(() if side.mentions else ("no mentions",)), *side.notes()] for name, side in sides.items()}
    return [f"{name}: {', '.join(of_side)}" for name, of_side in notes.items() if of_side]


def _cost_columns(costs: Mapping[str, CostCollector]) -> dict[str, dict[str, str]]:
    cells = {name: cost.figures().cells() for name, cost in costs.items()}
    return {title: {name: each[at] for name, each in cells.items()} for at, title in enumerate(COLUMNS)} if cells else {}
