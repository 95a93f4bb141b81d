"""The page of a data set, ``index.html``: all that it shows, from the records, the figures and the store; the template only lays it out."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Mapping, Sequence

from markupsafe import Markup

from piiloom.corpus.record import Record, Span
from piiloom.corpus.store.judgements import JudgementRow
from piiloom.evaluation.pages.rendering import Shown, render_page
from piiloom.evaluation.pages.tables import LABEL, ReportTable, as_percent, count, printable, short
from piiloom.evaluation.report.advice import citation, how_to_make_again, limits, uses
from piiloom.evaluation.report.figures import ReportFigures
from piiloom.evaluation.report.page_figures import (
    agreement_table,
    content_charts,
    costs_table,
    guess_chart,
    leakage_tables,
    origin_table,
    rejects_table,
    runs_table,
    verdicts_table,
    withheld_table,
)
from piiloom.evaluation.report.sources import NO_LOCALE, Corpus, Sampled, StatedRelease, draw_samples
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

# Longer texts are cut where they are shown, so that the page stays small.
LONGEST = 3000
_RELEVANCE = {"high": "high", "low": "low", None: "not judged"}
# Characters of texts in the page: 300 records of 100 words have 170,000.
_MOST_CHARACTERS = 500_000
_HARMFUL = {ord(character): f"\\u{ord(character):04x}" for character in "<>&'\u2028\u2029"}


def shown_family(family: Sequence[Sampled], reasons: Mapping[str, Sequence[JudgementRow]]) -> list[Shown]:
    """Return the records of one text, ready to be shown."""
    labels = defaultdict(set)
    for record, _ in family:
        for span in record.spans:
            labels[span.start, span.end].add(span.relevance)
    turning = {place for place, found in labels.items() if len(found) > 1}
    return [_shown(record, split, turning, reasons.get(record.id, ())) for record, split in family]


def shown_spans(record: Record) -> list[Span]:
    """Return the spans within the first ``LONGEST`` code points of the text."""
    return [span for span in record.spans if span.end <= LONGEST]


def _shown(record: Record, split: str, turning: set[tuple[int, int]], judgements: Sequence[JudgementRow]) -> Shown:
    plan = record.plan
    facts: list[tuple[str, str | None]] = [("locale", record.locale)]
    if plan is not None:
        facts = [("pair", " + ".join(plan.pair)), ("topic", plan.topic), ("subtopic", plan.subtopic), ("story", plan.scenario)]
        facts += [("register", plan.register), ("cues", plan.cue_level), ("locale", record.locale)]
    by_value = defaultdict(list)
    for row in judgements:
        by_value[row.judgement.value_id].append(row)
        by_value[row.judgement.span_id].append(row)
    labels = [_label(record, span, by_value) for span in shown_spans(record)]
    return {
        "id": printable(record.id),
        "split": split,
        "question": None if record.question is None else printable(record.question),
        "pieces": _pieces(record, turning),
        "cut": max(0, len(record.context) - LONGEST),  # characters of its text that are left out
        "rationale": printable(plan.rationale) if plan is not None and plan.rationale else None,
        "facts": [(name, printable(value)) for name, value in facts if value],
        "labels": labels,
        "judged": any(row["judged"] for row in labels),
    }


def _pieces(record: Record, turning: set[tuple[int, int]]) -> list[Shown]:
    """Return the text in pieces; of a marked value ``kind`` is the class of its mark, and ``label`` names type and relevance.

    A value ``turns`` if it has another relevance for another question on the same text.
    """
    text, at = printable(record.context[:LONGEST]), 0
    found: list[Shown] = []
    for span in shown_spans(record):
        if span.start > at:
            found.append({"text": text[at : span.start], "kind": ""})
        label = f"{short(printable(span.entity_type), LABEL)} · {_RELEVANCE[span.relevance]}"
        marked = {"kind": span.relevance or "unjudged", "label": label, "turns": (span.start, span.end) in turning}
        found.append({"text": text[span.start : span.end], **marked})
        at = span.end
    if at < len(text):
        found.append({"text": text[at:], "kind": ""})
    return found


def _label(record: Record, span: Span, judgements: Mapping[str, Sequence[JudgementRow]]) -> Shown:
    """Return a marked value with all that is known about it."""
    rows = judgements.get(span.id, ()) or (judgements.get(span.value_id, ()) if span.value_id else ())
    return {
        "value": printable(span.text_in(record.context)),
        "type": printable(span.entity_type),
        "subtype": printable(span.subtype or ""),
        "relevance": _RELEVANCE[span.relevance],
        "subject": printable(span.subject or ""),
        "judged": [
            {
                "kind": said.kind,
                "verdict": printable(said.verdict),
                "score": f"{said.score:.2f}",
                "agrees": said.agrees,
                "reason": printable(said.reason),
                "judge": printable(said.model or said.provider or "a judge"),
            }
            for said in (row.judgement for row in rows)
        ],
    }


def search_sample(families: Sequence[Sequence[Sampled]]) -> tuple[Markup, int]:
    """Return the JSON and the number of records in it; a text that several records share is in it once.

    ``texts``: the contexts; ``types``: names; ``records``: id, split, index of the text, question and spans; a span is start, end
    (code points), index of the type, relevance ("high", "low" or null).
    """
    texts: dict[str, int] = {}
    types: dict[str, int] = {}
    records: list[dict[str, object]] = []
    size = 0
    for record, split in (each for family in families for each in family):
        context = printable(record.context[:LONGEST])
        size += (0 if context in texts else len(context)) + len(record.question or "")
        if size > _MOST_CHARACTERS and records:
            break
        spans = [
            [span.start, span.end, types.setdefault(printable(span.entity_type), len(types)), span.relevance]
            for span in shown_spans(record)
        ]
        question = None if record.question is None else printable(record.question[:LONGEST])
        records.append(
            {
                "id": printable(record.id),
                "split": split,
                "text": texts.setdefault(context, len(texts)),
                "question": question,
                "spans": spans,
            }
        )
    data = {"texts": list(texts), "types": list(types), "records": records}
    written = json.dumps(data, ensure_ascii=False, separators=(",", ":")).translate(_HARMFUL)
    return Markup(written), len(records)  # noqa: S704 - no "<" is left


def dataset_page(corpus: Corpus, figures: ReportFigures) -> str:
    """Return the page as HTML; equal records and figures give equal text."""
    return render_page(__package__, page_contents(corpus, figures), script="page.js")


def page_contents(corpus: Corpus, figures: ReportFigures) -> Shown:
    """Return the contents of the page, section by section; tables and charts without data are left out.

    Records are drawn by the seed of *figures*.
    """
    background, release = corpus.background, corpus.background.release
    samples = draw_samples(corpus.splits, seed=figures.seed)
    families = [shown_family(family, background.reasons) for family in samples.shown]
    sample, sampled = search_sample(samples.searched)
    title = printable(release.name if release is not None else corpus.source.title())
    version, license_name, content = (
        (release.version, release.license, release.content_sha256) if release is not None else (None, None, None)
    )
    install = figures.contexts.self_bleu.install
    return {
        "title": title,
        "facts": _facts(corpus, release),
        "notes": release.notes if release is not None else None,
        "summary": _summary(figures),
        "key_figures": _key_figures(corpus, figures),
        "uses": uses(figures, background),
        "limits": limits(corpus.source, figures, background),
        "lead": _lead(families),
        "families": families,
        "shown": sum(map(len, families)),
        "turns": any(piece.get("turns") for family in families for record in family for piece in record["pieces"]),
        "seed": figures.seed,
        "content_charts": content_charts(figures),
        "content_tables": _there(splits_table(figures), records_table(figures), values_table(figures.types), plan_table(figures)),
        "guess_chart": guess_chart(figures),
        "quality_tables": _there(question_use_table(figures), leaks_table(figures)),
        "further_tables": _there(
            *leakage_tables(background),
            wording_table(figures),
            variety_table(figures),
            openers_table(figures),
            agreement_table(background),
            verdicts_table(background),
        ),
        "making_tables": _there(
            origin_table(figures),
            runs_table(background),
            costs_table(background),
            rejects_table(background),
            withheld_table(background),
            reading_table(corpus.source.reading),
        ),
        "free": bool(background.runs) and not any(run.costs for run in background.runs),
        "sample": sample,
        "sampled": sampled,
        "license": license_name,
        "citation": citation(title, version, content, license_name),
        "again": how_to_make_again(corpus, seed=figures.seed),
        "installs": [f"self-BLEU was not measured: it needs an extra: {install}"] if install else [],  # for figures that are missing
    }


def _facts(corpus: Corpus, release: StatedRelease | None) -> list[tuple[str, str]]:
    found = [("version", "not stated"), ("licence", "not stated"), ("from", corpus.source.file)]
    if release is not None:
        found[0] = ("version", release.version or "not stated")
        found[1] = ("licence", release.license or "not stated")
        if release.content_sha256:
            found.append(("content sha256", release.content_sha256))
        stated = {**release.settings, **release.filters}
        told = {name: value for name, value in stated.items() if value not in (None, "", [], {})}
        found += [
            (name.replace("_", " "), ", ".join(map(str, each)) if isinstance(each, list | tuple) else str(each))
            for name, each in told.items()
        ]
    return [(name, printable(value)) for name, value in found]


def _summary(figures: ReportFigures) -> str:
    counts, use = figures.counts, figures.question_use
    asked = figures.question_leaks.questions
    parts = [f"{count(counts.records)} records: texts in which personal information of {len(figures.types)} types is marked."]
    if asked and counts.high + counts.low:
        every = "Each" if asked == counts.records else f"For {count(asked)} of them a question is asked, and each"
        parts.append(f"{every} marked value is labelled by whether it matters for the answer (high) or not (low).")
    if use.turning_share:
        whose = "All" if use.grouped_share == 1 else as_percent(use.grouped_share)
        parts.append(
            f"{whose} of the records share their text with another question; {as_percent(use.turning_share)} of the values in "
            "such texts are high for one question and low for another, so that labels cannot be known without reading the question."
        )
    producers = figures.plan.producers
    made = ", ".join(f"{count(number)} {words}" for words, number in producers.items())
    parts.append(f"All were {next(iter(producers))}." if len(producers) == 1 else f"Of the records, {made}.")
    return printable(" ".join(parts))


def _key_figures(corpus: Corpus, figures: ReportFigures) -> tuple[tuple[str, str, str], ...]:
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
            as_percent(counts.high / judged) if judged else "–",
            "of them high",
            f"{count(counts.low)} low" + (f", {count(counts.unjudged)} not judged" if counts.unjudged else ""),
        ),
        (count(figures.contexts.texts), "different texts", f"{count(lengths.p50)} words (median)"),
        (str(len(figures.types)), "types", pairs),
        (as_percent(counts.without_pii_share), "disclose nothing", f"{count(counts.without_pii)} records"),
    ]
    locales = [name for name in figures.plan.locales if name != NO_LOCALE]
    if locales:
        found.append((count(len(locales)), "locale" if len(locales) == 1 else "locales", ", ".join(locales[:4])))
    if leaks is not None:
        found.append((as_percent(leaks.values_share), "of test values", "are in train, too"))
    return tuple((figure, what, printable(detail)) for figure, what, detail in found)


def _lead(families: Sequence[list[Shown]]) -> list[Shown]:
    """Return the family that shows best what a record is: questions that turn a label, or else one with high and low."""
    turning = [family for family in families if len(family) > 1 and any(piece.get("turns") for piece in family[0]["pieces"])]
    mixed = [family for family in families if {"high", "low"} <= {piece["kind"] for piece in family[0]["pieces"]}]
    marked = [family for family in families if family[0]["labels"]]
    chosen = next(iter([*turning, *mixed, *marked, *families]), [])
    return chosen[:2]


def _there(*tables: ReportTable) -> list[ReportTable]:
    return [table for table in tables if table.rows]
