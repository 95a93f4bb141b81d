"""Fit the weights of taxonomy/relevance_shares.yaml, by which ``--relevance-shares published`` draws, to the published shares.

python benchmarks/relevance_shares.py     the weights by type, each with the share that all of them give
"""

from __future__ import annotations

import argparse
import math
from collections import Counter
from collections.abc import Callable, Mapping
from unittest.mock import patch

from piiloom.foundation.seeding import derive_rng
from piiloom.generation.composer.telling import StoryUntold, tell_asked
from piiloom.generation.plan.planning import make_plan_item
from piiloom.generation.settings import configuration
from piiloom.generation.settings.configuration import RunConfig
from piiloom.taxonomy.telling_plan import Asking, plan_of
from piiloom.taxonomy.text_shapes import RelevanceShares, published_shares

Shares = dict[tuple[str, bool], float]  # (type, whether its value matters): expected number
PUBLISHED = published_shares().types
LEAST = 0.004  # a share of 0.00 is one below .005
FARTHEST = 12.0  # most that a weight of a set of questions differs from 0
RECORDS, TEXTS, BANDS = 2307, 1560, {"situation_words": "20-35", "peripheral_words": "20-25"}


def share(counts: Mapping[tuple[str, bool], float], kind: str) -> float:
    """Return the share of the values of *kind* that matter."""
    return counts.get((kind, True), 0) / max(1e-9, counts.get((kind, True), 0) + counts.get((kind, False), 0))


def told_sets() -> list[list[tuple[Counter[str], Counter[tuple[str, bool]]]]]:
    """Tell each story for each set of two questions; return by story and set the types that are high, and the spans."""
    config = RunConfig(recipe="story")
    bank, taxonomy = config.stories(), config.taxonomy()
    told: list[list[tuple[Counter[str], Counter[tuple[str, bool]]]]] = []
    for story in (story for pair in config.chosen_pairs() for story in bank.for_pair(pair)):
        told.append([])
        for one in sorted(plan_of(story).sets_of_questions(2)):
            try:
                text = tell_asked(story, [Asking(question=place) for place in one], derive_rng("fit", story.id), taxonomy)
            except StoryUntold:
                continue
            asked = [story.questions[place] for place in one]
            high = Counter(story.facts[fact].entity_type for question in asked for fact in (*question.needs, *question.helps))
            told[-1].append((high, Counter((span.entity_type, span.fact in q.high) for q in text.questions for span in text.spans)))
    return told


def question_weights() -> None:
    """Fit the weight of each type in the odds of a set of questions (recipe story)."""
    told, weights, counts = told_sets(), dict.fromkeys(PUBLISHED, 0.0), Shares()
    for _ in range(300):
        counts = Shares()
        for sets in told:
            odds = [math.exp(sum(number * weights[kind] for kind, number in high.items())) for high, _ in sets]
            for (_, spans), odd in zip(sets, odds, strict=True):
                for key, number in spans.items():
                    counts[key] = counts.get(key, 0) + number * odd / sum(odds)
        for kind, known in PUBLISHED.items():
            wanted, found = max(known.high, LEAST), min(max(share(counts, kind), LEAST / 40), 1 - LEAST)
            step = 0.4 * (math.log(wanted / (1 - wanted)) - math.log(found / (1 - found)))
            weights[kind] = max(-FARTHEST, min(FARTHEST, weights[kind] + step))
    say("question", weights, counts)


def aside_weights() -> None:
    """Fit how often asides take each type, and how many values they take (recipe staged, with and without word bands)."""
    weights, more, counts = (
        {kind: known.aside for kind, known in PUBLISHED.items()},
        published_shares().more_asides,
        Counter[tuple[str, bool]](),
    )
    for number in range(14):
        counts = planned(weights, more, BANDS if number % 2 else {})
        low = {
            kind: counts[kind, True] * (1 - known.high) / known.high if known.high > 0.05 else known.spans / RECORDS * TEXTS
            for kind, known in PUBLISHED.items()
        }
        more *= (sum(low.values()) / sum(counts[kind, False] for kind in PUBLISHED)) ** 0.5
        weights = {kind: weight * (low[kind] / max(1, counts[kind, False])) ** 0.6 for kind, weight in weights.items()}
        weights = {kind: 2 * weight / max(weights.values()) for kind, weight in weights.items()}
    print(f"more_asides: {more:.1f}")
    say("aside", weights, counts)


def planned(weights: Mapping[str, float], more: float, bands: Mapping[str, str]) -> Counter[tuple[str, bool]]:
    """Plan texts under *weights* and count their values."""
    types = {kind: known.model_copy(update={"aside": weights[kind]}) for kind, known in PUBLISHED.items()}
    tried = RelevanceShares(more_asides=more, types=types)
    with patch.object(configuration, "published_shares", lambda: tried):
        config = RunConfig(recipe="staged", relevance_shares="published", **bands)
        bank, pairs, counts = config.composed_from(), config.chosen_pairs(), Counter[tuple[str, bool]]()
        for index in range(TEXTS):
            pair = pairs[index % len(pairs)]
            scenario = derive_rng("fit", index).choice(bank.for_pair(pair))
            triplet = (scenario.topic, scenario.subtopics[0])
            item = make_plan_item(index, pair, triplet, config=config, digest="fit", bank=bank)
            counts.update((value.entity_type, value.relevance == "high") for value in item.wanted)
    return counts


def say(name: str, weights: Mapping[str, float], counts: Mapping[tuple[str, bool], float]) -> None:
    """Print the fitted weights."""
    for kind, known in PUBLISHED.items():
        print(f"{kind:20} {name} {weights[kind]:5.2f}  share {share(counts, kind):.3f}  published {known.high:.2f}")


def main() -> None:
    """Fit both."""
    argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter).parse_args()
    fits: tuple[Callable[[], None], ...] = (question_weights, aside_weights)
    for fit in fits:
        fit()


if __name__ == "__main__":
    main()
