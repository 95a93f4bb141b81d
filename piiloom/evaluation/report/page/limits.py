"""Limits and uses of the set: sentences that follow from its figures. What is not known is said to be unknown."""

from __future__ import annotations

from collections.abc import Iterator

from piiloom.evaluation.pages.cells import count, decimal, percent
from piiloom.evaluation.report.background import Background
from piiloom.evaluation.report.figures import Figures
from piiloom.evaluation.report.sources import NO_LOCALE, Source

_FEW_SPANS = 100
_ONE_SIDED = 0.9
_NOTICEABLE = 0.05  # of balanced accuracy beyond shuffled labels
_SMALL_SPLIT = 500
_MANY_VALUES = 0.1


def uses(figures: Figures, background: Background) -> list[str]:
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


def limits(source: Source, figures: Figures, background: Background) -> list[str]:
    """Return what to keep in mind, the most important first."""
    return [*_origin(figures), *_checked(source, figures, background), *_given_away(figures), *_coverage(figures)]


def _origin(figures: Figures) -> Iterator[str]:
    plan, total = figures.plan, figures.counts.records
    composed = sum(origin.records for origin in plan.origins if origin.provider == "composer")
    if composed:
        whose = "All texts" if composed == total else f"{count(composed)} of {count(total)} texts"
        stories = f", from {count(plan.scenarios)} stories" if plan.scenarios else ""
        yield f"{whose} were composed from templates{stories}; no person and no language model wrote them. Their phrases recur."
    for model in sorted({origin.model or "an unnamed model" for origin in plan.origins if origin.provider not in {None, "composer"}}):
        yield f"Texts by {model} have that model's habits of wording."


def _checked(source: Source, figures: Figures, background: Background) -> Iterator[str]:
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


def _given_away(figures: Figures) -> Iterator[str]:
    guess, across = figures.guessability, figures.split_leaks
    for what, each in (
        ("its type alone", guess.type),
        ("its position alone", guess.position),
        ("a word shared with the question", guess.word_overlap),
    ):
        if each.accuracy is not None and each.shuffled is not None and each.accuracy - each.shuffled > _NOTICEABLE:
            yield (
                f"Relevance of a value is guessed from {what} with a balanced accuracy of {decimal(each.accuracy)} "
                f"({decimal(each.shuffled)} with shuffled labels): compare a detector with that, not with 0.5."
            )
    if across is not None and across.values_share is not None and across.values_share > _MANY_VALUES:
        yield f"{percent(across.values_share)} of the distinct test values occur in train, too: tell scores on unseen values apart."
    for split in figures.splits:
        if split.split != "train" and split.counts.records < _SMALL_SPLIT:
            yield f"The {split.split} split has {count(split.counts.records)} records: small differences in a score are chance."
    if figures.contexts.repeats.near:
        yield f"{percent(figures.contexts.repeats.near_share)} of the contexts nearly repeat another one."


def _coverage(figures: Figures) -> Iterator[str]:
    locales = list(figures.plan.locales)
    if locales == [NO_LOCALE]:
        yield "Language and country of the texts are not stated."
    elif len(locales) == 1:
        yield f"One locale only: {locales[0]}."
    few = [f"{each.type} ({count(each.mentions)})" for each in figures.types if each.mentions < _FEW_SPANS]
    if few:
        yield f"Fewer than {_FEW_SPANS} spans: {', '.join(few)}."
    judged = [(each.type, each.high / (each.high + each.low)) for each in figures.types if each.high + each.low >= _FEW_SPANS]
    one_sided = [f"{name} ({percent(share)} high)" for name, share in judged if not 1 - _ONE_SIDED <= share <= _ONE_SIDED]
    if one_sided:
        yield f"Nearly always of one relevance: {', '.join(one_sided)}."
    if not figures.counts.without_pii:
        yield "Every text discloses something: how often a detector finds something where there is nothing cannot be measured here."
    lengths = figures.contexts.lengths
    if lengths.p5 is not None:
        yield f"Texts have {count(lengths.p5)} to {count(lengths.p95)} words (90% of them); nothing is known about longer documents."
