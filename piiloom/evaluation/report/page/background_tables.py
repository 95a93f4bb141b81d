"""Tables of what the store knows: verdicts, agreement, rejects, costs, provenance, withheld records, leakage between splits."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Any

from piiloom.evaluation.pages.cells import NOTHING, Quoted, count, decimal, percent, with_share
from piiloom.evaluation.pages.tables import ReportTable, Row
from piiloom.evaluation.report.background import Background
from piiloom.evaluation.report.figures import Figures

# What is told of each split, and where it stands in the figures.
_KINDS: tuple[tuple[str, tuple[str, ...]], ...] = (
    ("distinct values", ("values",)),
    ("distinct values that should seldom repeat", ("open_values",)),
    ("texts of values, whatever their type", ("strings",)),
    ("texts that nearly repeat", ("contexts", "near")),
    ("texts of the same words", ("contexts", "same")),
    ("questions that nearly repeat", ("questions", "near")),
    ("questions of the same words", ("questions", "same")),
    ("records of a shared story or scenario", ("stories",)),
    ("records of a shared persona", ("personas",)),
)


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
    names = {
        "relevance": "relevance, by a judge",
        "leak": "leak of a value by the question, by a judge",
        "unlisted": "outside of spans, by a detector",
    }
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
    """What the splits of a release share, as it was measured when it was frozen (``corpus.releases.leakage``): of all, and by type."""
    told: Mapping[str, Any] = (background.release.leakage if background.release is not None else None) or {}
    columns = [f"{split} in {held['against']}" for split, held in told.items()]
    rows = tuple((title, *(_seen(_found(held, path)) for held in told.values())) for title, path in _KINDS)
    types = dict.fromkeys(name for held in told.values() for name in held["by_type"])
    by_type = tuple((Quoted(name), *(_seen(held["by_type"].get(name)) for held in told.values())) for name in types)
    note = "Found in the other split, of all there are in this one. Stories and personas: of the records that have one."
    made = [
        ReportTable(title="Shared with the other splits", columns=("what", *columns), rows=rows, note=note),
        ReportTable(title="… distinct values by type", columns=("type", *columns), rows=by_type),
    ]
    return [table for table in made if told and table.rows]


def _found(held: Mapping[str, Any], path: tuple[str, ...]) -> Mapping[str, Any] | None:
    found: Any = held
    for key in path:
        found = found.get(key, {})
    return found or None


def _seen(seen: Mapping[str, Any] | None) -> str:
    return NOTHING if not seen or not seen["of"] else f"{count(seen['seen'])} of {count(seen['of'])} ({percent(seen['share'])})"
