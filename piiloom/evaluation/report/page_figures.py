"""The charts of the page, and its tables of what the store knows: verdicts, agreement, rejects, costs, provenance, leakage."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from piiloom.evaluation.pages.parts import (
    NOTHING,
    Chart,
    Quoted,
    ReportTable,
    Series,
    as_decimal,
    as_percent,
    bars_from_base,
    column_chart,
    count,
    heat_map,
    stacked_bars,
    step_lines,
    with_share,
)
from piiloom.evaluation.report.counts import TENTHS
from piiloom.evaluation.report.figures import CHANCE, ReportFigures
from piiloom.evaluation.report.sources import Background
from piiloom.evaluation.report.tables import guessability_table, relevance_table, span_of_bin
from piiloom.evaluation.report.wording import Lengths

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
_MAP = 16  # types on the map of pairs
_HIGH, _LOW, _NONE = Series(name="high", kind="high"), Series(name="low", kind="low"), Series(name="not judged", kind="unjudged")


def origin_table(figures: ReportFigures) -> ReportTable:
    """Records by provider, model, last stage and prompt templates."""
    return ReportTable(
        title="Records by how they were made",
        columns=("provider", "model", "last stage", "prompt templates (sha256)", "records"),
        rows=tuple(
            (
                Quoted(origin.provider or "not stated"),
                Quoted(origin.model or NOTHING),
                Quoted(origin.stage or NOTHING),
                Quoted(", ".join(f"{name} {digest}" for name, digest in origin.templates) or "none"),
                count(origin.records),
            )
            for origin in figures.plan.origins
        ),
        texts=4,
    )


def runs_table(background: Background) -> ReportTable:
    """The runs that made the records."""
    rows = [
        (
            Quoted(run.row.id),
            Quoted(run.row.model or run.row.provider),
            Quoted(str(run.row.config.get("recipe") or NOTHING)),
            str(run.row.seed),
            count(run.row.samples),
            count(run.records),
        )
        for run in background.runs
    ]
    if background.imported:
        rows.append((Quoted("imported"), Quoted(NOTHING), Quoted(NOTHING), NOTHING, NOTHING, count(background.imported)))
    return ReportTable(title="Runs", columns=("run", "model", "recipe", "seed", "asked for", "records here"), rows=tuple(rows), texts=3)


def rejects_table(background: Background) -> ReportTable:
    """What the runs rejected, by stage and reason."""
    totals: Counter[tuple[str, str]] = Counter()
    for run in background.runs:
        for stage, reasons in run.rejects.items():
            totals.update({(stage, reason): number for reason, number in reasons.items()})
    return ReportTable(
        title="Rejected while it was made",
        columns=("stage", "reason", "items"),
        rows=tuple(
            (Quoted(stage), Quoted(reason), count(number))
            for (stage, reason), number in sorted(totals.items(), key=lambda item: (-item[1], item[0]))
        ),
        note="Items that these runs gave up; none of them is in the set.",
        texts=2,
    )


def costs_table(background: Background) -> ReportTable:
    """What the runs' calls cost, by stage and model."""
    rows: list[tuple[str, ...]] = []
    total = 0.0
    for each in (each for run in background.runs for each in run.costs):
        total += each.cost_usd
        tokens = (count(each.input_tokens), count(each.output_tokens))
        rows.append((Quoted(each.stage), Quoted(each.model or each.provider), count(each.replies), *tokens, f"{each.cost_usd:,.4f}"))
    if rows:
        rows.append(("all", "", "", "", "", f"{total:,.4f}"))
    unpriced = sum(each.unpriced for run in background.runs for each in run.costs)
    return ReportTable(
        title="Cost",
        columns=("stage", "model", "replies", "tokens in", "tokens out", "USD"),
        rows=tuple(rows),
        note="Of whole runs, with what they rejected."
        + (f" {count(unpriced)} replies have no known price and are not in the sum." if unpriced else ""),
        texts=2,
    )


def withheld_table(background: Background) -> ReportTable:
    """Records that the release leaves out, by reason."""
    withheld = background.release.withheld if background.release is not None else {}
    return ReportTable(
        title="Withheld from the release",
        columns=("reason", "records"),
        rows=tuple((Quoted(reason), count(number)) for reason, number in withheld.items()),
    )


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
    return ReportTable(title="Verdicts", columns=("judged", "number", "as planned", "records with another"), rows=tuple(rows))


def agreement_table(background: Background) -> ReportTable:
    """How far annotators agree."""
    records, figures = background.agreement or (0, ())
    return ReportTable(
        title="Agreement among annotators",
        columns=("figure", "value", "95% interval", "over"),
        rows=tuple(
            (name, as_decimal(value), f"{as_decimal(low)} to {as_decimal(high)}" if low is not None else NOTHING, count(over))
            for name, value, low, high, over in figures
        ),
        note=f"On {count(records)} records that two or more people have finished." if records else "",
    )


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
    return NOTHING if not seen or not seen["of"] else f"{count(seen['seen'])} of {count(seen['of'])} ({as_percent(seen['share'])})"


def content_charts(figures: ReportFigures) -> list[Chart]:
    """Return the charts about what is in the set, without empty ones."""
    lengths = [("contexts", figures.contexts), ("questions", figures.questions)]
    made = [
        types_chart(figures) if figures.types else None,
        pairs_chart(figures),
        *(lengths_chart(what, texts.lengths) for what, texts in lengths if texts is not None and texts.lengths.histogram),
        places_chart(figures) if figures.counts.spans else None,
        spans_chart(figures),
    ]
    return [chart for chart in made if chart is not None]


def types_chart(figures: ReportFigures) -> Chart:
    """Spans of each type by relevance."""
    series = [_HIGH, _LOW, *([_NONE] if figures.counts.unjudged else [])]
    rows = [(each.type, (each.high, each.low, each.unjudged)[: len(series)]) for each in figures.types]
    title = "Types by relevance"
    return Chart(
        name="types",
        title=title,
        note="Spans of each type. A type that is nearly always high, or never, can be guessed without reading.",
        svg=stacked_bars(f"{title}: spans of each type", rows, series, "spans"),
        table=relevance_table(figures.types),
        legend=tuple(series),
    )


def pairs_chart(figures: ReportFigures) -> Chart | None:
    """Records of each pair of types: as planned or, if nothing was planned, as both occur in the text."""
    pairs = figures.places.pairs
    planned = any(pair.planned for pair in pairs)
    numbers = {(pair.first, pair.second): pair.planned if planned else pair.together for pair in pairs}
    numbers = {pair: number for pair, number in numbers.items() if number}
    names = _most_frequent(numbers, [each.type for each in figures.types])
    if len(names) < 2:
        return None
    what = "records planned for each pair" if planned else "records whose text has both types"
    rows = tuple((Quoted(pair.first), Quoted(pair.second), count(pair.planned), count(pair.together)) for pair in pairs)
    table = ReportTable(title="pairs of types", columns=("type", "with", "planned", "in one text"), rows=rows, texts=2)
    note = f"{what.capitalize()}: {count(min(numbers.values()))} to {count(max(numbers.values()))}; {len(numbers)} pairs occur."
    if len({name for pair in numbers for name in pair}) > len(names):
        note += f" The map has the {len(names)} most frequent types."
    return Chart(
        name="pairs", title="Pairs of types", note=note, svg=heat_map(f"Pairs of types: {what}", names, numbers, "records"), table=table
    )


def lengths_chart(what: str, lengths: Lengths) -> Chart:
    """Words per text."""
    bars = [(str(each.first) if each.last is not None else f"{each.first}+", each.texts) for each in lengths.histogram]
    rows = tuple((span_of_bin(each), count(each.texts)) for each in lengths.histogram)
    title = f"Length of {what}"
    middle = f"Half have up to {count(lengths.p50)} words; 90% have {count(lengths.p5)} to {count(lengths.p95)}"
    return Chart(
        name=f"lengths-{what}",
        title=title,
        note=f"{middle}, the longest {count(lengths.longest)}.",
        svg=column_chart(f"{title} in words", bars, "words", what, edges=True),
        table=ReportTable(title=title.lower(), columns=("words", what), rows=rows),
    )


def places_chart(figures: ReportFigures) -> Chart:
    """Where high and low spans begin in the text."""
    tenths = figures.places.tenths
    by_series = [
        (_HIGH, [each["high"] for each in tenths]),
        (_LOW, [each["low"] for each in tenths]),
        (_NONE, [each["unjudged"] for each in tenths]),
    ]
    there = [(series, numbers) for series, numbers in by_series if sum(numbers)]
    names = [f"{10 * place}" for place in range(TENTHS)]
    rows = tuple((f"{10 * place}–{10 * place + 10}%", *(count(numbers[place]) for _, numbers in there)) for place in range(TENTHS))
    shares = [(series, [number / sum(numbers) for number in numbers]) for series, numbers in there]
    return Chart(
        name="places",
        title="Place in the text",
        note=(
            "Share of the high spans, and of the low ones, that begin in each tenth of their text. The further apart the lines, "
            "the more a place gives away."
        ),
        svg=step_lines("Where spans begin in their text", names, shares, "tenth of the text, from % of its length", 1 / TENTHS),
        table=ReportTable(title="places in the text", columns=("part", *(series.name for series, _ in there)), rows=rows),
        legend=tuple(series for series, _ in there),
    )


def spans_chart(figures: ReportFigures) -> Chart:
    """Spans per record."""
    sizes = dict(figures.places.per_record)
    bars = [(str(size), sizes.get(size, 0)) for size in range(max(sizes) + 1)] if max(sizes) <= 40 else _binned(sizes)
    rows = tuple((name, count(number)) for name, number in bars)
    bare = figures.counts.without_pii
    return Chart(
        name="spans",
        title="Spans a record",
        note=(
            f"Records that disclose nothing, where a detector should find nothing: {count(bare)}."
            if bare
            else "Every record discloses something."
        ),
        svg=column_chart("Spans a record", bars, "spans", "records", edges=False),
        table=ReportTable(title="spans a record", columns=("spans", "records"), rows=rows),
    )


def guess_chart(figures: ReportFigures) -> Chart | None:
    """How well relevance is guessed without reading; None if it cannot be."""
    guess = figures.guessability
    named = (
        ("type alone", guess.type),
        ("position among the spans alone", guess.position),
        ("type and position", guess.type_and_position),
        ("story or scenario, and subtype", guess.story_and_slot),
        ("word shared with the question", guess.word_overlap),
    )
    rows = [(name, each.accuracy, each.shuffled) for name, each in named if each.accuracy is not None]
    if not rows:
        return None
    return Chart(
        name="guess",
        title="What relevance is guessed from",
        note=(
            "Balanced accuracy; 0.5 is chance. The upright tick is what the same guess reaches with shuffled labels: only what lies "
            "beyond it is given away."
        ),
        svg=bars_from_base("Balanced accuracy of guessing relevance", rows, CHANCE, 1.0),
        table=guessability_table(figures),
    )


def _most_frequent(numbers: dict[tuple[str, str], int], order: Sequence[str]) -> list[str]:
    """Return the ``_MAP`` names with the largest sums, in the order of *order*, those that are not in it last."""
    sums: Counter[str] = Counter()
    for pair, number in numbers.items():
        sums.update(dict.fromkeys(pair, number))
    chosen = sorted(sums, key=lambda name: (-sums[name], name))[:_MAP]
    rank = {name: place for place, name in enumerate(order)}
    return sorted(chosen, key=lambda name: (rank.get(name, len(rank)), name))


def _binned(sizes: dict[int, int]) -> Sequence[tuple[str, int]]:
    width = -(-(max(sizes) + 1) // 20)
    totals = [0] * (max(sizes) // width + 1)
    for size, records in sizes.items():
        totals[size // width] += records
    return [(f"{place * width}–{place * width + width - 1}", total) for place, total in enumerate(totals)]
