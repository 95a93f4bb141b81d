"""Advice for users of a set: its uses and limits, which follow from its figures, how to cite it and how to make it again."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator, Mapping
from typing import Any

import yaml

from piiloom.corpus.releases.release_options import RecordChoice, SplitSettings, settings_json
from piiloom.evaluation.pages.tables import as_decimal, as_percent, count
from piiloom.evaluation.report.figures import ReportFigures
from piiloom.evaluation.report.sources import NO_LOCALE, Background, Corpus, ReportSource, RunFacts
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
    files = [_run_file(run, number, len(background.runs)) for number, run in enumerate(background.runs, start=1)]
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
        "asks_models": any(run.provider != "composer" for run in background.runs),
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


def _run_file(run: RunFacts, number: int, runs: int) -> dict[str, Any]:
    """Return a run file (YAML for ``piiloom generate --config``), and the files of one's own that the run had and that are not in it."""
    kept: dict[str, Any] = {name: run.settings[name] for name in _SETTINGS if _is_set(run.settings.get(name))}
    kept |= {"samples": run.samples, "seed": run.seed}
    kept = {
        name: {key: each for key, each in value.items() if _is_set(each)} if isinstance(value, dict) else value
        for name, value in kept.items()
    }
    content = yaml.safe_dump(kept, sort_keys=False, allow_unicode=True, width=100, default_flow_style=None)
    own = [name for name in _OF_ONE_S_OWN if _is_set(run.settings.get(name))]
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
