"""``piiloom evaluate`` and ``piiloom compare``: predictions compared with gold, and systems ranked by them."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from piiloom.cli.options import AsJson, json_setting
from piiloom.cli.progress import shown
from piiloom.cli.terminal import examples, rate_text, say, say_json, say_result, say_table, table_of
from piiloom.detection.families import FAMILIES
from piiloom.evaluation.bias import bias_table
from piiloom.evaluation.comparison import Comparison, RankedSystem, difference_of, interval_of, notes_on, p_of, rank_of
from piiloom.evaluation.comparison_run import ComparisonSettings, TableForm, in_form, named_systems
from piiloom.evaluation.comparison_run import run_comparison as compared
from piiloom.evaluation.cost import COLUMNS
from piiloom.evaluation.evaluating import PLOTS, Evaluation, EvaluationSettings, SchemeFigures
from piiloom.evaluation.evaluating import run_evaluation as evaluated
from piiloom.evaluation.inputs.documents import SideSummary
from piiloom.evaluation.pages.parts import NOTHING
from piiloom.evaluation.schemes.base import is_count
from piiloom.evaluation.schemes.precision_recall import MODES, NervaluateScheme
from piiloom.evaluation.scoring.resampling import Interval
from piiloom.foundation.command_line import takes
from piiloom.foundation.settings import setting
from piiloom.foundation.words import counted

if TYPE_CHECKING:
    from rich.table import Table


EVALUATE_EXAMPLES = examples(
    "piiloom evaluate outputs/v1/test.jsonl predictions.jsonl --scheme capid",
    "piiloom evaluate test.jsonl predictions.jsonl --scheme exact,nervaluate,privacy --out outputs/evaluation",
    "piiloom evaluate gold.csv found.csv --scheme text --columns document=file_idx,text=entity_text "
    "--label-map types.yaml --only-types NAME_STUDENT",
    "piiloom evaluate test.jsonl predictions.jsonl --by locale --cluster story --json",
    "piiloom evaluate gold.csv found.csv --scheme text --bias NAME_STUDENT --bias-match membership",
)

# What a table by type or by group shows: as many figures as fit 80 columns beside a name.
_WIDTH = 80
_LONGEST_NAME = 24
_COUNTS_SHOWN = ("tp", "fp", "fn", "gold", "predicted", "matched")
_MACRO = "macro_"
_OF_MODE = ("correct", "incorrect", "partial", "missed", "spurious", "precision", "recall", "f1")


class Evaluate(AsJson, EvaluationSettings):
    """The command line of ``piiloom evaluate``."""

    gold: Path = setting(..., "The file with the correct annotations.", argument=True, metavar="GOLD")
    predictions: Path = setting(..., "The predictions for the same documents.", argument=True, metavar="PRED")


@takes(Evaluate)
def evaluate(asked: Evaluate) -> None:
    """Compare PRED with GOLD: figures with intervals, by type, and on request by group, bias, cost and a page of the errors.

    Both can be in any format that piiloom reads, or a table with one row per mention.
    docs/evaluation.md shows how to read the figures, docs/schemes.md defines them.
    """
    with shown(_documents(), wanted=not asked.as_json) as watch:
        evaluation = evaluated(asked.gold, asked.predictions, asked, watch)
    files = list(evaluation.files)
    whole = [name for name in files if not name.startswith(f"{PLOTS}/")]
    plots = f" and {counted(len(files) - len(whole), 'file')} in {PLOTS}/" if len(files) > len(whole) else ""
    written = None if asked.out is None else f"written to {asked.out}: {', '.join(whole)}{plots}"
    data = evaluation.to_json() | {"out": None if asked.out is None else str(asked.out), "files": files}
    say_result(data, *_parts(evaluation), written, as_json=asked.as_json)


def _documents() -> Callable[[int], str]:
    started = time.monotonic()
    return lambda done: f"{counted(done, 'document')} · {rate_text(done / max(time.monotonic() - started, 1e-6))}"


def _parts(evaluation: Evaluation) -> Iterator[str | Table]:
    """Yield the figures of each scheme, then the other views, and notes on the files."""
    for one in evaluation.schemes:
        yield _headline(one)
        if one.scheme.name == NervaluateScheme.name:
            yield _modes(one)
        if one.by_type:
            yield _rows(f"{one.scheme.name} by type", "type", one.by_type, one)
        if one.groups:
            rows: dict[str, Mapping[str, float | None]] = {f"{group.name} ({group.documents:,})": group.figures for group in one.groups}
            title = f"{one.scheme.name} by {evaluation.settings.by} (documents)"
            weight = evaluation.settings.weight
            mean = {"mean" if weight == "equal" else f"mean by {weight}": one.mean}
            yield _rows(title, evaluation.settings.by or "", rows | mean, one)
    if evaluation.contrast is not None:
        held = evaluation.contrast
        shown = ", ".join(f"{name} {value:.4f}{_ends(held.intervals.get(name))}" for name, value in held.figures.items())
        yield f"{counted(held.groups, 'contrast group')}: {shown}"
    if evaluation.bias is not None:
        table = bias_table(evaluation.bias)
        yield _plain(table.title, table.columns, table.rows, texts=table.texts)
        yield table.note or ""
    if evaluation.cost is not None:
        yield _plain("cost", COLUMNS, [evaluation.cost.cells()], texts=0)
        yield evaluation.cost.basis
    yield from _notes(evaluation)


def _headline(one: SchemeFigures) -> Table:
    """Return all figures, those with intervals first; macro means stand beside the others, modes have a table of their own."""
    macro = any(name.startswith(_MACRO) for name in one.overall)
    rows = []
    first = [name for name in one.overall if name in one.scheme.headline]
    prefixes = (_MACRO, *(f"{mode}_" for mode in MODES if one.scheme.name == NervaluateScheme.name))
    for name in [*first, *(name for name in one.overall if name not in first and not name.startswith(prefixes))]:
        ends = _ends(one.intervals.get(name)).strip() or NOTHING
        beside = (_figure(name, one.overall.get(_MACRO + name)),) if macro else ()
        rows.append((name, _figure(name, one.overall[name]), ends, *beside))
    return _plain(f"scheme {one.scheme.name}", ("figure", "value", "interval", *(("macro",) if macro else ())), rows, texts=1)


def _modes(one: SchemeFigures) -> Table:
    def cell(mode: str, name: str) -> str:
        return _figure(name, one.overall[name if mode == "strict" else f"{mode}_{name}"])

    rows = [(name, *(cell(mode, name) for mode in MODES)) for name in _OF_MODE]
    return _plain("nervaluate by mode", ("figure", *MODES), rows, texts=1)


def _columns(one: SchemeFigures, names: Sequence[str]) -> list[str]:
    """Return the figures that fit beside *names*: the counts, then the headline."""
    known = next(iter(one.by_type.values()), one.overall)
    wanted = [name for name in (*_COUNTS_SHOWN, *one.scheme.headline, "f5") if name in known]
    left = _WIDTH - min(_LONGEST_NAME, max(map(len, names))) - 4
    chosen = []
    for name in wanted:
        left -= 3 + max(6, *(len(part) for part in _broken(name).split("\n")))
        if left < 0:
            break
        chosen.append(name)
    return chosen


def _broken(name: str) -> str:
    return name.replace("_", "_\n")


def _rows(title: str, first: str, rows: Mapping[str, Mapping[str, float | None]], one: SchemeFigures) -> Table:
    columns = _columns(one, list(rows))
    cells = [(name, *(_figure(column, figures.get(column)) for column in columns)) for name, figures in rows.items()]
    return _plain(title, (first, *map(_broken, columns)), cells, texts=1)


def _plain(title: str, columns: Sequence[str], rows: Sequence[Sequence[object]], *, texts: int) -> Table:
    cells = [map(str, row) for row in rows]
    return table_of(title, columns, cells, right=range(texts, len(columns)))


def _figure(name: str, value: float | None) -> str:
    if value is None:
        return NOTHING
    return f"{value:,.0f}" if is_count(name) and value.is_integer() else f"{value:.4f}"


def _ends(interval: Interval | None) -> str:
    return "" if interval is None else f" {interval.low:.4f}–{interval.high:.4f}"


def _notes(evaluation: Evaluation) -> list[str]:
    inputs, settings = evaluation.inputs, evaluation.settings
    notes = [f"{counted(evaluation.documents, 'document')}, paired by {inputs.pairing}"]
    if settings.resamples and evaluation.clusters > 1:
        by = "" if settings.cluster == "document" else f" of {settings.cluster}"
        drawn = f"{counted(evaluation.clusters, 'cluster')}{by}" if by else "the documents"
        notes.append(
            f"{settings.confidence:.0%} intervals: bootstrap over {drawn} ({settings.resamples:,} resamples, seed {settings.seed})"
        )
    notes += _without_keys(evaluation) + _side("gold", inputs.gold) + _side("predictions", inputs.found)
    return [*notes, *_types(evaluation), *(f"warning: {one}" for one in evaluation.warnings)]


def _without_keys(evaluation: Evaluation) -> list[str]:
    settings, notes = evaluation.settings, []
    lone, without = evaluation.documents - evaluation.keyed, evaluation.without_group
    if settings.cluster != "document" and lone:
        notes.append(f"{counted(lone, 'document')} without a key {settings.cluster}:… drawn each by itself")
    if settings.by is not None and without:
        what = "a locale" if settings.by == "locale" else f"a key {settings.by}:…"
        notes.append(f"{counted(without, 'document')} without {what}: in no group")
    return notes


def _side(name: str, side: SideSummary) -> list[str]:
    told = ", ".join(side.notes())
    return [f"{name}: {counted(side.mentions, 'mention')}{f'; {told}' if told else ''}"]


def _types(evaluation: Evaluation) -> list[str]:
    inputs, notes = evaluation.inputs, []
    unknown = set(evaluation.settings.only_types or ()) - inputs.gold.types.keys() - inputs.found.types.keys()
    if unknown:
        notes.append(f"types of --only-types that no mention has: {', '.join(sorted(unknown))}")
    for side, types, counts in (
        ("gold", inputs.types_only_in_gold, inputs.gold.types),
        ("the predictions", inputs.types_only_in_found, inputs.found.types),
    ):
        if types:
            notes.append(f"types only in {side}: {', '.join(f'{name} {counts[name]:,}' for name in types)} (--label-map renames types)")
    if inputs.unused_map_keys:
        notes.append(f"keys of the map that no file has: {', '.join(inputs.unused_map_keys)}")
    return notes


COMPARE_EXAMPLES = examples(
    "piiloom compare outputs/v1/test.jsonl crf.jsonl bert.jsonl rules.jsonl",
    "piiloom compare test.jsonl 'Our CRF=crf.jsonl' BERT=bert.jsonl --by recall --cluster story",
    "piiloom compare test.jsonl crf.jsonl bert.jsonl --out outputs/systems.tex --out outputs/systems.html",
    "piiloom compare test.jsonl crf.jsonl bert.jsonl --format md",
    "piiloom compare test.jsonl --detector patterns --detector 'with rules=hybrid-offline' --plots outputs/plots",
)

# As many figures with intervals fit 80 columns beside rank, name and difference; more go into tables below.
_FIRST, _NEXT = 3, 4


class Compare(ComparisonSettings):
    """The command line of ``piiloom compare``."""

    gold: Path = setting(..., "The file with the correct annotations.", argument=True, metavar="GOLD")
    predictions: list[str] = setting(
        [], "Predictions for it, one file per system; the default name is the file's.", argument=True, metavar="[NAME=]FILE..."
    )
    form: TableForm | None = setting(None, "Form in which the table is printed.", flags="--format")
    as_json: bool = json_setting()


@takes(Compare)
def compare(asked: Compare) -> None:
    """Rank systems by their predictions for GOLD, with intervals and tests of the differences.

    Systems are files of predictions, or detectors that are run on GOLD, each in its own process, whose time, memory and cost are measured.

    Intervals are by bootstrap, p values by approximate randomisation, both over whole clusters of documents. Systems that do not
    differ share a rank. docs/evaluation.md explains the table.
    """
    comparison = compared(asked.gold, named_systems(asked.predictions), asked, FAMILIES)
    if asked.as_json or asked.form == "json":
        say_json(comparison.to_json())
    elif asked.form is not None:
        say(in_form(comparison, asked.form).rstrip("\n"))
    else:
        _print_comparison(comparison)
        for path in (*asked.out, *comparison.pictures):
            say(f"written: {path}")


def _print_comparison(comparison: Comparison) -> None:
    """Print the ranks, then the figures that did not fit, the extra columns and the notes."""
    names = sorted(comparison.headline, key=lambda name: name != comparison.by)
    if len(names) <= _FIRST:
        names = list(comparison.headline)
    away = [f"{difference_of(one)}\n{p_of(one)}" if one.p is not None else NOTHING for one in comparison.systems]
    ranks = _columns_of(comparison, names[:_FIRST]) | {"to best\np": away}
    _say_ranked(comparison, ranks, f"scheme {comparison.scheme}, by {comparison.by}")
    for first in range(_FIRST, len(names), _NEXT):
        _say_ranked(comparison, _columns_of(comparison, names[first : first + _NEXT]))
    if comparison.extra:
        extra = {title: [cells.get(one.name, NOTHING) for one in comparison.systems] for title, cells in comparison.extra.items()}
        _say_ranked(comparison, extra)
    for note in notes_on(comparison):
        say(note)


def _columns_of(comparison: Comparison, names: Sequence[str]) -> dict[str, list[str]]:
    """Return columns of figures, with their titles broken so that they are narrow."""
    return {name.replace("_", "_\n"): [_figure_of(comparison, one, name) for one in comparison.systems] for name in names}


def _say_ranked(comparison: Comparison, columns: Mapping[str, Sequence[str]], title: str | None = None) -> None:
    """Print a table of rank, system and *columns*, which have a cell for each system."""
    ranks = [(rank_of(one), one.name) for one in comparison.systems]
    rows = [(*rank, *cells) for rank, cells in zip(ranks, zip(*columns.values(), strict=True), strict=True)]
    say_table(table_of(title, ("rank", "system", *columns), rows, right=(0, *range(2, len(columns) + 2))))


def _figure_of(comparison: Comparison, one: RankedSystem, name: str) -> str:
    if comparison.figure(one, name) is None:
        return NOTHING
    value = f"{one.figures[name]:.4f}"
    interval = one.intervals[name]
    return f"{value}\n{interval_of(interval).strip('[]').replace(', ', '–')}" if interval else value
