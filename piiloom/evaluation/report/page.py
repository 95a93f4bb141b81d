"""The page of a data set, ``index.html``: all that it shows, from the records, the figures and the store; the template only lays it out.

Its advice for users of a set: uses and limits, which follow from the figures, how to cite it and how to make it again.
"""

from __future__ import annotations

import json
import re
import shlex
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import yaml
from markupsafe import Markup

from piiloom.corpus.record import Record, Span
from piiloom.corpus.releases.release_options import RecordChoice, SplitSettings, settings_json
from piiloom.corpus.store.judgements import JudgementRow
from piiloom.corpus.store.runs import RunRow
from piiloom.evaluation.pages.parts import LABEL, ReportTable, Shown, as_decimal, as_percent, count, printable, render_page, short
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
from piiloom.evaluation.report.sources import NO_LOCALE, Background, Corpus, ReportSource, Sampled, StatedRelease, draw_samples
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
from piiloom.foundation.version import __version__

# Settings that decide what a run makes. Left out: those about how calls are sent, which may name hosts, prices or paths.
_SETTINGS = (
    *("samples", "seed", "provider", "model", "recipe", "pairs", "locale", "values", "topics_per_pair", "subtopics_per_topic"),
    *("questions_per_text", "max_low", "max_attempts", "situation_words", "peripheral_words", "question_words", "registers", "margin"),
    *("composer", "temperature", "top_p", "sampling", "on_disagreement", "judges"),
    *("screen_threshold", "on_unlisted"),
)
_OF_ONE_S_OWN = ("bank", "prompts", "types", "screen_model")
_UNQUOTABLE = re.compile(r"[{}\\]")
_STORE = "again.duckdb"
_DEFAULTS = {**settings_json(SplitSettings()), **settings_json(RecordChoice())}
_FEW_SPANS = 100
_ONE_SIDED = 0.9
_NOTICEABLE = 0.05  # of balanced accuracy beyond shuffled labels
_SMALL_SPLIT = 500
_MANY_VALUES = 0.1


def how_to_make_again(corpus: Corpus, *, seed: int) -> dict[str, Any]:
    """Return the run files and commands by which the set is made again; *seed* is that of the report.

    It ``asks_models`` if the texts come from a model that may answer otherwise the next time.
    """
    background, source = corpus.background, corpus.source
    files = [_run_file(run.row, number, len(background.runs)) for number, run in enumerate(background.runs, start=1)]
    store = ["--store", _STORE]
    lines = [["piiloom", "generate", "--config", file["name"], *store] for file in files]
    if background.imported:
        lines.append(["piiloom", "import", "FILE", *store])
    report = ["piiloom", "report"]
    if background.release is not None:
        told = background.release
        chosen = [word for name, value in _release_options(told.settings, told.filters) for word in (name, value)]
        named = [("--name", told.name), ("--version", told.version), ("--license", told.license)]
        stated = [word for name, value in named if value is not None for word in (name, value)]
        lines.append(["piiloom", "release", *stated, *chosen, *store])
        report += ["--release", told.name, *store]
    elif source.reading is not None:
        report.append(source.file)
    else:
        report += store
    lines.append([*report, "--seed", str(seed), "--out", "report"])
    return {
        "files": files,
        "commands": "\n".join(shlex.join(line) for line in lines),
        "asks_models": any(run.row.provider != "composer" for run in background.runs),
        "imported": background.imported,
    }


def citation(title: str, version: str | None, content_sha256: str | None, license_name: str | None) -> str:
    """Return a BibTeX entry. It has no year: the page knows no date."""
    key = re.sub(r"[^a-z0-9]+", "-", f"{title} {version or ''}".lower()).strip("-") or "dataset"
    rows = [
        ("title", title),
        ("version", version),
        ("note", f"Made with piiloom {__version__}" + (f"; content sha256 {content_sha256}" if content_sha256 else "")),
        ("license", license_name),
    ]
    fields = [f"  {name} = {{{_UNQUOTABLE.sub('', value)}}}" for name, value in rows if value]
    return f"@misc{{{key},\n" + ",\n".join(fields) + "\n}"


def _run_file(run: RunRow, number: int, runs: int) -> dict[str, Any]:
    """Return a run file (YAML for ``piiloom generate --config``), and the files of one's own that the run had and that are not in it."""
    kept: dict[str, Any] = {name: run.config[name] for name in _SETTINGS if _is_set(run.config.get(name))}
    kept |= {"samples": run.samples, "seed": run.seed}
    kept = {
        name: {key: each for key, each in value.items() if _is_set(each)} if isinstance(value, dict) else value
        for name, value in kept.items()
    }
    content = yaml.safe_dump(kept, sort_keys=False, allow_unicode=True, width=100, default_flow_style=None)
    own = [name for name in _OF_ONE_S_OWN if _is_set(run.config.get(name))]
    return {"name": "run.yaml" if runs == 1 else f"run{number}.yaml", "content": content, "own": own}


def _is_set(value: object) -> bool:
    return value not in (None, [], {}, ())


def _release_options(settings: Mapping[str, Any], filters: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Return the options that are not the defaults."""
    stated = {**settings, **filters}
    unused = {"run_id", *(("test_size", "validation_size") if stated.get("folds") else ())}
    told = {
        name: value
        for name, value in stated.items()
        if name not in unused and (name == "seed" or value != _DEFAULTS.get(name)) and _is_set(value)
    }
    return [("--" + name.replace("_", "-"), _as_option(value)) for name, value in told.items()]


def _as_option(value: object) -> str:
    return ",".join(map(str, value)) if isinstance(value, list | tuple) else str(value)


def uses(figures: ReportFigures, background: Background) -> list[str]:
    """Return what the set is for, and what it is not for."""
    counts, plan = figures.counts, figures.plan
    found = []
    if counts.high and counts.low and figures.questions is not None:
        found.append("For training and judging detectors that decide whether personal information matters for the question that is asked.")
    found.append(f"For detectors that find personal information of {len(figures.types)} types in text, by exact character offsets.")
    if counts.without_pii:
        found.append(f"For false alarms: texts that disclose nothing ({count(counts.without_pii)}).")
    if plan.planned:
        sizes = plan.pairs.values()
        found.append(
            f"Not for estimating how often such information occurs: pairs of types were planned, {count(min(sizes))} to "
            f"{count(max(sizes))} records each, not drawn from life."
        )
    made = [origin for origin in plan.origins if origin.provider is not None]
    if made and sum(origin.records for origin in made) == counts.records:
        found.append("Not a source on real people: all people and values were generated.")
    elif background.imported or not made:
        found.append("Where records were imported, piiloom does not know whether their people are real: treat them as if they were.")
    return found


def limits(source: ReportSource, figures: ReportFigures, background: Background) -> list[str]:
    """Return what to keep in mind, the most important first."""
    return [*_origin(figures), *_checked(source, figures, background), *_given_away(figures), *_coverage(figures)]


def _origin(figures: ReportFigures) -> Iterator[str]:
    plan, total = figures.plan, figures.counts.records
    composed = sum(origin.records for origin in plan.origins if origin.provider == "composer")
    if composed:
        whose = "All texts" if composed == total else f"{count(composed)} of {count(total)} texts"
        stories = f", from {count(plan.scenarios)} stories" if plan.scenarios else ""
        yield f"{whose} were composed from templates{stories}; no person and no language model wrote them. Their phrases recur."
    for model in sorted({origin.model or "an unnamed model" for origin in plan.origins if origin.provider not in {None, "composer"}}):
        yield f"Texts by {model} have that model's habits of wording."


def _checked(source: ReportSource, figures: ReportFigures, background: Background) -> Iterator[str]:
    checked = sum(number for outcome, number in background.decisions.items() if outcome in {"validated", "adjudicated", "agreed"})
    if source.reading is not None:
        yield "Whether people have checked the labels is not known: the file does not say."
    elif checked < figures.counts.records:
        none = (
            "No label has been checked by a person."
            if not checked
            else f"People have checked {count(checked)} of {count(figures.counts.records)} records."
        )
        yield f"{none} Labels are as planned before the text was written."
    for judged in background.judged:
        if judged.kind == "unlisted":
            yield f"A trained detector finds {count(judged.disagree)} values that no span marks, in {count(judged.records)} records."
        elif judged.disagree:
            against = f"{count(judged.disagree)} of {count(judged.judged)} labels"
            yield f"A judge of {judged.kind} disagrees with {against}, in {count(judged.records)} records."


def _given_away(figures: ReportFigures) -> Iterator[str]:
    guess, across = figures.guessability, figures.split_leaks
    for what, each in (
        ("its type alone", guess.type),
        ("its position alone", guess.position),
        ("a word shared with the question", guess.word_overlap),
    ):
        if each.accuracy is not None and each.shuffled is not None and each.accuracy - each.shuffled > _NOTICEABLE:
            yield (
                f"Relevance of a value is guessed from {what} with a balanced accuracy of {as_decimal(each.accuracy)} "
                f"({as_decimal(each.shuffled)} with shuffled labels): compare a detector with that, not with 0.5."
            )
    if across is not None and across.values_share is not None and across.values_share > _MANY_VALUES:
        yield f"{as_percent(across.values_share)} of the distinct test values occur in train, too: tell scores on unseen values apart."
    for split in figures.splits:
        if split.split != "train" and split.counts.records < _SMALL_SPLIT:
            yield f"The {split.split} split has {count(split.counts.records)} records: small differences in a score are chance."
    if figures.contexts.repeats.near:
        yield f"{as_percent(figures.contexts.repeats.near_share)} of the contexts nearly repeat another one."


def _coverage(figures: ReportFigures) -> Iterator[str]:
    locales = list(figures.plan.locales)
    if locales == [NO_LOCALE]:
        yield "Language and country of the texts are not stated."
    elif len(locales) == 1:
        yield f"One locale only: {locales[0]}."
    few = [f"{each.type} ({count(each.mentions)})" for each in figures.types if each.mentions < _FEW_SPANS]
    if few:
        yield f"Fewer than {_FEW_SPANS} spans: {', '.join(few)}."
    judged = [(each.type, each.high / (each.high + each.low)) for each in figures.types if each.high + each.low >= _FEW_SPANS]
    one_sided = [f"{name} ({as_percent(share)} high)" for name, share in judged if not 1 - _ONE_SIDED <= share <= _ONE_SIDED]
    if one_sided:
        yield f"Nearly always of one relevance: {', '.join(one_sided)}."
    if not figures.counts.without_pii:
        yield "Every text discloses something: how often a detector finds something where there is nothing cannot be measured here."
    lengths = figures.contexts.lengths
    if lengths.p5 is not None:
        yield f"Texts have {count(lengths.p5)} to {count(lengths.p95)} words (90% of them); nothing is known about longer documents."


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
