"""All that the page shows, gathered from the records, the figures and what the store knows; the template only lays it out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from markupsafe import Markup

from piiloom.evaluation.pages.cells import count, percent, visible
from piiloom.evaluation.pages.charts import Chart
from piiloom.evaluation.pages.tables import ReportTable
from piiloom.evaluation.report.background import ReleaseFacts
from piiloom.evaluation.report.figures import Figures
from piiloom.evaluation.report.page import background_tables as told
from piiloom.evaluation.report.page.again import Again, citation, how_to_make_again
from piiloom.evaluation.report.page.figure_charts import content_charts, guess_chart
from piiloom.evaluation.report.page.limits import limits, uses
from piiloom.evaluation.report.page.marked_texts import ShownRecord, shown_family
from piiloom.evaluation.report.page.search_sample import search_sample
from piiloom.evaluation.report.samples import draw_samples
from piiloom.evaluation.report.sources import NO_LOCALE, Corpus
from piiloom.evaluation.report.tables import (
    leaks_table,
    openers_table,
    plan_table,
    question_use_table,
    reading_table,
    records_table,
    splits_table,
    values_table,
    variety_table,
    wording_table,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class PageContents:
    """The contents of the page, section by section; tables and charts without data are left out."""

    title: str
    facts: tuple[tuple[str, str], ...]
    notes: str | None
    summary: str
    key_figures: tuple[tuple[str, str, str], ...]
    uses: tuple[str, ...]
    limits: tuple[str, ...]
    lead: tuple[ShownRecord, ...]
    families: tuple[tuple[ShownRecord, ...], ...]
    shown: int
    turns: bool
    seed: int
    content_charts: tuple[Chart, ...]
    content_tables: tuple[ReportTable, ...]
    guess_chart: Chart | None
    quality_tables: tuple[ReportTable, ...]
    further_tables: tuple[ReportTable, ...]
    making_tables: tuple[ReportTable, ...]
    free: bool
    sample: Markup
    sampled: int
    license: str | None
    citation: str
    again: Again
    installs: tuple[str, ...]


def page_contents(corpus: Corpus, figures: Figures) -> PageContents:
    """Gather the contents; records are drawn by the seed of *figures*."""
    background, release = corpus.background, corpus.background.release
    samples = draw_samples(corpus.splits, seed=figures.seed)
    families = tuple(shown_family(family, background.reasons) for family in samples.shown)
    sample, sampled = search_sample(samples.searched)
    title = visible(release.name if release is not None else corpus.source.title())
    version, license_name, content = (
        (release.version, release.license, release.content_sha256) if release is not None else (None, None, None)
    )
    return PageContents(
        title=title,
        facts=tuple(_facts(corpus, release)),
        notes=release.notes if release is not None else None,
        summary=_summary(figures),
        key_figures=_key_figures(corpus, figures),
        uses=tuple(uses(figures, background)),
        limits=tuple(limits(corpus.source, figures, background)),
        lead=_lead(families),
        families=families,
        shown=sum(map(len, families)),
        turns=any(piece.turns for family in families for record in family for piece in record.pieces),
        seed=figures.seed,
        content_charts=tuple(content_charts(figures)),
        content_tables=_there(
            [splits_table(figures) if figures.splits else None, records_table(figures), values_table(figures.types), plan_table(figures)]
        ),
        guess_chart=guess_chart(figures),
        quality_tables=_there([question_use_table(figures), leaks_table(figures)]),
        further_tables=_there(
            [
                *told.leakage_tables(background),
                wording_table(figures),
                variety_table(figures),
                openers_table(figures),
                told.agreement_table(background),
                told.verdicts_table(background),
            ]
        ),
        making_tables=_there(
            [
                told.origin_table(figures),
                told.runs_table(background),
                told.costs_table(background),
                told.rejects_table(background),
                told.withheld_table(background),
                reading_table(corpus.source.reading) if corpus.source.reading is not None else None,
            ]
        ),
        free=bool(background.runs) and not any(run.costs for run in background.runs),
        sample=sample,
        sampled=sampled,
        license=license_name,
        citation=citation(title, version, content, license_name),
        again=how_to_make_again(corpus, seed=figures.seed),
        installs=_installs(figures),
    )


def _facts(corpus: Corpus, release: ReleaseFacts | None) -> list[tuple[str, str]]:
    found = [("version", "not stated"), ("licence", "not stated"), ("from", corpus.source.file)]
    if release is not None:
        found[0] = ("version", release.version or "not stated")
        found[1] = ("licence", release.license or "not stated")
        if release.content_sha256:
            found.append(("content sha256", release.content_sha256))
        stated = {**release.settings, **release.filters}
        found += [(name.replace("_", " "), visible(_plain(value))) for name, value in stated.items() if value not in (None, "", [], {})]
    return [(name, visible(value)) for name, value in found]


def _plain(value: object) -> str:
    return ", ".join(map(str, value)) if isinstance(value, list | tuple) else str(value)


def _summary(figures: Figures) -> str:
    counts, use = figures.counts, figures.question_use
    asked = figures.question_leaks.questions
    parts = [f"{count(counts.records)} records: texts in which personal information of {len(figures.types)} types is marked."]
    if asked and counts.high + counts.low:
        every = "Each" if asked == counts.records else f"For {count(asked)} of them a question is asked, and each"
        parts.append(f"{every} marked value is labelled by whether it matters for the answer (high) or not (low).")
    if use.turning_share:
        whose = "All" if use.grouped_share == 1 else percent(use.grouped_share)
        parts.append(
            f"{whose} of the records share their text with another question; {percent(use.turning_share)} of the values in "
            "such texts are high for one question and low for another, so that labels cannot be known without reading the question."
        )
    producers = figures.plan.producers
    made = ", ".join(f"{count(number)} {words}" for words, number in producers.items())
    parts.append(f"All were {next(iter(producers))}." if len(producers) == 1 else f"Of the records, {made}.")
    return visible(" ".join(parts))


def _key_figures(corpus: Corpus, figures: Figures) -> tuple[tuple[str, str, str], ...]:
    """Return (figure, what it counts, detail)."""
    counts, lengths, leaks = figures.counts, figures.contexts.lengths, figures.split_leaks
    splits = (
        ", ".join(f"{name} {count(len(records))}" for name, records in corpus.splits.items()) if len(corpus.splits) > 1 else "not split"
    )
    judged = counts.high + counts.low
    planned, together = len(figures.plan.pairs), sum(pair.together > 0 for pair in figures.places.pairs)
    pairs = f"{count(planned)} pairs planned" if planned else f"{count(together)} pairs occur"
    found = [
        (count(counts.records), "records", splits),
        (count(counts.spans), "marked values", f"{counts.spans / counts.records:.1f} a record"),
        (
            percent(counts.high / judged) if judged else "–",
            "of them high",
            f"{count(counts.low)} low" + (f", {count(counts.unjudged)} not judged" if counts.unjudged else ""),
        ),
        (count(figures.contexts.texts), "different texts", f"{count(lengths.p50)} words (median)"),
        (str(len(figures.types)), "types", pairs),
        (percent(counts.without_pii_share), "disclose nothing", f"{count(counts.without_pii)} records"),
    ]
    locales = [name for name in figures.plan.locales if name != NO_LOCALE]
    if locales:
        found.append((count(len(locales)), "locale" if len(locales) == 1 else "locales", ", ".join(locales[:4])))
    if leaks is not None:
        found.append((percent(leaks.values_share), "of test values", "are in train, too"))
    return tuple((figure, what, visible(detail)) for figure, what, detail in found)


def _lead(families: Sequence[tuple[ShownRecord, ...]]) -> tuple[ShownRecord, ...]:
    """Return the family that shows best what a record is: questions that turn a label, or else one with high and low."""
    turning = [family for family in families if len(family) > 1 and any(piece.turns for piece in family[0].pieces)]
    mixed = [family for family in families if {"high", "low"} <= {piece.kind for piece in family[0].pieces}]
    marked = [family for family in families if family[0].values]
    chosen = next(iter([*turning, *mixed, *marked, *families]), ())
    return chosen[:2]


def _there(tables: Sequence[ReportTable | None]) -> tuple[ReportTable, ...]:
    return tuple(table for table in tables if table is not None and table.rows)


def _installs(figures: Figures) -> tuple[str, ...]:
    """Return what to install for the figures that are missing here."""
    install = figures.contexts.self_bleu.install
    return (f"self-BLEU was not measured: it needs an extra: {install}",) if install else ()
