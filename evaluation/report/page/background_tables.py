"""Tables of what the store knows: verdicts, agreement, rejects, costs, provenance, withheld records, leakage between splits."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from piiloom.evaluation.report.background import Background
from piiloom.evaluation.report.cells import NOTHING, Quoted, count, decimal, percent, with_share
from piiloom.evaluation.report.figures import Figures
from piiloom.evaluation.report.tables import ReportTable, Row


@dataclass(frozen=True, slots=True)
class _Shared:
    """How much of something a split shares with others."""

    shared: int
    total: int

    def __str__(self) -> str:
        return f"{count(self.shared)} of {count(self.total)} ({percent(self.shared / self.total if self.total else None)})"


def origin_table(figures: Figures) -> ReportTable:
    """Records by provider, model, last stage and prompt templates."""
    rows = tuple(
        (
            Quoted(origin.provider or "not stated"),
            Quoted(origin.model or NOTHING),
            Quoted(origin.stage or NOTHING),
            Quoted(", ".join(f"{name} {digest}" for name, digest in origin.templates) or "none"),
            count(origin.records),
        )
        for origin in figures.plan.origins
    )
    columns = ("provider", "model", "last stage", "prompt templates (sha256)", "records")
    return ReportTable(title="Records by how they were made", columns=columns, rows=rows, texts=4)


def runs_table(background: Background) -> ReportTable:
    """The runs that made the records."""
    rows = [
        (
            Quoted(run.id),
            Quoted(run.model or run.provider),
            Quoted(str(run.settings.get("recipe") or NOTHING)),
            str(run.seed),
            count(run.samples),
            count(run.records),
        )
        for run in background.runs
    ]
    if background.imported:
        rows.append((Quoted("imported"), Quoted(NOTHING), Quoted(NOTHING), NOTHING, NOTHING, count(background.imported)))
    columns = ("run", "model", "recipe", "seed", "asked for", "records here")
    return ReportTable(title="Runs", columns=columns, rows=tuple(rows), texts=3)


def rejects_table(background: Background) -> ReportTable:
    """What the runs rejected, by stage and reason."""
    totals: Counter[tuple[str, str]] = Counter()
    for run in background.runs:
        for stage, reasons in run.rejects.items():
            totals.update({(stage, reason): number for reason, number in reasons.items()})
    rows = tuple(
        (Quoted(stage), Quoted(reason), count(number))
        for (stage, reason), number in sorted(totals.items(), key=lambda item: (-item[1], item[0]))
    )
    note = "Items that these runs gave up; none of them is in the set."
    return ReportTable(title="Rejected while it was made", columns=("stage", "reason", "items"), rows=rows, note=note, texts=2)


def costs_table(background: Background) -> ReportTable:
    """What the runs' calls cost, by stage and model."""
    rows: list[Row] = []
    total = 0.0
    for each in (each for run in background.runs for each in run.costs):
        total += each.cost_usd
        tokens = (count(each.input_tokens), count(each.output_tokens))
        rows.append((Quoted(each.stage), Quoted(each.model or each.provider), count(each.replies), *tokens, f"{each.cost_usd:,.4f}"))
    if rows:
        rows.append(("all", "", "", "", "", f"{total:,.4f}"))
    unpriced = sum(each.unpriced for run in background.runs for each in run.costs)
    note = "Of whole runs, with what they rejected." + (
        f" {count(unpriced)} replies have no known price and are not in the sum." if unpriced else ""
    )
    columns = ("stage", "model", "replies", "tokens in", "tokens out", "USD")
    return ReportTable(title="Cost", columns=columns, rows=tuple(rows), note=note, texts=2)


def withheld_table(background: Background) -> ReportTable:
    """Records that the release leaves out, by reason."""
    withheld = background.release.withheld if background.release is not None else {}
    rows = tuple((Quoted(reason), count(number)) for reason, number in withheld.items())
    return ReportTable(title="Withheld from the release", columns=("reason", "records"), rows=rows)


def verdicts_table(background: Background) -> ReportTable:
    """What judges and people said."""
    names = {"relevance": "relevance, by a judge", "leak": "leak of a value by the question, by a judge"}
    rows = [
        (
            names[each.kind],
            count(each.judged),
            with_share(each.judged - each.disagree, (each.judged - each.disagree) / each.judged),
            count(each.records),
        )
        for each in background.judged
    ]
    rows += [(f"{outcome}, by people (records)", count(number), NOTHING, NOTHING) for outcome, number in background.decisions.items()]
    columns = ("judged", "number", "as planned", "records with another")
    return ReportTable(title="Verdicts", columns=columns, rows=tuple(rows))


def agreement_table(background: Background) -> ReportTable:
    """How far annotators agree."""
    agreement = background.agreement
    figures = agreement.figures if agreement is not None else ()
    rows = tuple(
        (
            each.name,
            decimal(each.value),
            f"{decimal(each.low)} to {decimal(each.high)}" if each.low is not None else NOTHING,
            count(each.over),
        )
        for each in figures
    )
    note = f"On {count(agreement.records)} records that two or more people have finished." if agreement is not None else ""
    return ReportTable(title="Agreement among annotators", columns=("figure", "value", "95% interval", "over"), rows=rows, note=note)


def leakage_tables(background: Background) -> list[ReportTable]:
    """Figures of a release about what its splits share: one table of all kinds by split, one by type, one of whatever else is told."""
    told = background.release.leakage if background.release is not None else None
    if not told:
        return []
    splits: dict[str, dict[str, str]] = {}
    types: list[tuple[str, ...]] = []
    others: list[tuple[str, ...]] = []
    for path, value in _leaves(told):
        if not isinstance(value, _Shared):
            others.append((Quoted(" · ".join(path)), Quoted(str(value))))
        elif len(path) <= 2:
            splits.setdefault(path[-1], {})[path[0]] = str(value)
        else:
            types.append((Quoted(path[0]), Quoted(" · ".join(path[1:])), str(value)))
    names = list(dict.fromkeys(name for row in splits.values() for name in row))
    rows = tuple((Quoted(kind), *(row.get(name, NOTHING) for name in names)) for kind, row in splits.items())
    made = [
        ReportTable(
            title="Shared with the other splits", columns=("what", *names), rows=rows, note="Shared, of all there are in the split."
        ),
        ReportTable(title="… by type", columns=("split", "what", "shared"), rows=tuple(types), texts=2),
        ReportTable(title="… further figures", columns=("what", "value"), rows=tuple(others), texts=2),
    ]
    return [table for table in made if table.rows]


def _leaves(node: object, path: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], object]]:
    """Yield (keys that lead there, value) for each plain value of the tree; an object with ``shared`` and ``total`` is one value."""
    if isinstance(node, Mapping):
        rest = dict(node)
        shared, total = node.get("shared"), node.get("total")
        if isinstance(shared, int) and isinstance(total, int):
            yield path, _Shared(shared, total)
            rest = {key: value for key, value in node.items() if isinstance(value, Mapping | list)}
        for key, value in rest.items():
            yield from _leaves(value, (*path, str(key).replace("_", " ")))
    elif isinstance(node, list):
        for place, value in enumerate(node, start=1):
            yield from _leaves(value, (*path, str(place)))
    else:
        yield path, node
