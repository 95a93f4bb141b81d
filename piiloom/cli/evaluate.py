"""``piiloom evaluate``: predictions compared with gold, in the figures of papers."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from rich.table import Table

from piiloom.cli.options import json_setting
from piiloom.cli.progress import shown
from piiloom.cli.run_summary import rate_text
from piiloom.cli.terminal import examples, harmless, say, say_json, say_table
from piiloom.evaluation.bias import bias_table
from piiloom.evaluation.cost import COLUMNS
from piiloom.evaluation.evaluating import PLOTS
from piiloom.evaluation.evaluating import run_evaluation as evaluated
from piiloom.evaluation.evaluation_figures import Evaluation, EvaluationSettings, SchemeFigures
from piiloom.evaluation.inputs.sides import SideSummary
from piiloom.evaluation.schemes.base import is_count
from piiloom.evaluation.schemes.nervaluate_modes import MODES, NervaluateScheme
from piiloom.evaluation.scoring.resampling import Interval
from piiloom.foundation.command_line import takes
from piiloom.foundation.settings import setting
from piiloom.foundation.words import counted

EPILOG = examples(
    "piiloom evaluate outputs/v1/test.jsonl predictions.jsonl --scheme capid",
    "piiloom evaluate test.jsonl predictions.jsonl --scheme exact,nervaluate,privacy --out outputs/evaluation",
    "piiloom evaluate gold.csv found.csv --scheme text --columns document=file_idx,text=entity_text "
    "--label-map types.yaml --only-types NAME_STUDENT",
    "piiloom evaluate test.jsonl predictions.jsonl --by locale --cluster story --json",
    "piiloom evaluate gold.csv found.csv --scheme text --bias NAME_STUDENT --bias-match membership",
)

_NOTHING = "–"
# What a table by type or by group shows: as many figures as fit 80 columns beside a name.
_WIDTH = 80
_LONGEST_NAME = 24
_COUNTS_SHOWN = ("tp", "fp", "fn", "gold", "predicted", "matched")
_MACRO = "macro_"
_OF_MODE = ("correct", "incorrect", "partial", "missed", "spurious", "precision", "recall", "f1")


class Evaluate(EvaluationSettings):
    """The command line of ``piiloom evaluate``."""

    gold: Path = setting(..., "The file with the correct annotations.", argument=True, metavar="GOLD")
    predictions: Path = setting(..., "The predictions for the same documents.", argument=True, metavar="PRED")
    as_json: bool = json_setting()


@takes(Evaluate)
def evaluate(asked: Evaluate) -> None:
    """Compare PRED with GOLD: figures with intervals, by type, and on request by group, bias, cost and a page of the errors.

    Both can be in any format that piiloom reads, or a table with one row per mention.
    docs/evaluation.md shows how to read the figures, docs/schemes.md defines them.
    """
    with shown(_documents(), wanted=not asked.as_json) as watch:
        evaluation = evaluated(asked.gold, asked.predictions, asked, watch)
    files = list(evaluation.files)
    if asked.as_json:
        say_json(evaluation.to_json() | {"out": None if asked.out is None else str(asked.out), "files": files})
        return
    _print(evaluation)
    if asked.out is not None:
        whole = [name for name in files if not name.startswith(f"{PLOTS}/")]
        plots = len(files) - len(whole)
        say(f"written to {asked.out}: {', '.join(whole)}" + (f" and {counted(plots, 'file')} in {PLOTS}/" if plots else ""))


def _documents() -> Callable[[int, float], str]:
    started = time.monotonic()
    return lambda done, now: f"{counted(done, 'document')} · {rate_text(done / max(now - started, 1e-6))}"


def _print(evaluation: Evaluation) -> None:
    """Print the figures of each scheme, then the other views, and notes on the files."""
    for one in evaluation.schemes:
        say_table(_headline(one))
        if one.scheme.name == NervaluateScheme.name:
            say_table(_modes(one))
        if one.by_type:
            say_table(_rows(f"{one.scheme.name} by type", "type", one.by_type, one))
        if one.groups:
            rows: dict[str, Mapping[str, float | None]] = {f"{group.name} ({group.documents:,})": group.figures for group in one.groups}
            title = f"{one.scheme.name} by {evaluation.settings.by} (documents)"
            weight = evaluation.settings.weight
            mean = {"mean" if weight == "equal" else f"mean by {weight}": one.mean}
            say_table(_rows(title, evaluation.settings.by or "", rows | mean, one))
    if evaluation.contrast is not None:
        held = evaluation.contrast
        shown = ", ".join(f"{name} {value:.4f}{_ends(held.intervals.get(name))}" for name, value in held.figures.items())
        say(f"{counted(held.groups, 'contrast group')}: {shown}")
    if evaluation.bias is not None:
        table = bias_table(evaluation.bias)
        say_table(_plain(table.title, table.columns, table.rows, texts=table.texts))
        say(table.note or "")
    if evaluation.cost is not None:
        say_table(_plain("cost", COLUMNS, [evaluation.cost.cells()], texts=0))
        say(evaluation.cost.basis)
    for note in _notes(evaluation):
        say(note)


def _headline(one: SchemeFigures) -> Table:
    """Return all figures, those with intervals first; macro means stand beside the others, modes have a table of their own."""
    macro = any(name.startswith(_MACRO) for name in one.overall)
    table = Table(title=f"scheme {one.scheme.name}")
    for title in ("figure", "value", "interval", *(("macro",) if macro else ())):
        table.add_column(title, justify="left" if title == "figure" else "right")
    first = [name for name in one.overall if name in one.scheme.headline]
    prefixes = (_MACRO, *(f"{mode}_" for mode in MODES if one.scheme.name == NervaluateScheme.name))
    for name in [*first, *(name for name in one.overall if name not in first and not name.startswith(prefixes))]:
        ends = _ends(one.intervals.get(name)).strip() or _NOTHING
        beside = (_figure(name, one.overall.get(_MACRO + name)),) if macro else ()
        table.add_row(name, _figure(name, one.overall[name]), ends, *beside)
    return table


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
    table = Table(title=harmless(title))
    for at, name in enumerate(columns):
        table.add_column(harmless(name), justify="left" if at < texts else "right")
    for row in rows:
        table.add_row(*(harmless(str(cell)) for cell in row))
    return table


def _figure(name: str, value: float | None) -> str:
    if value is None:
        return _NOTHING
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
