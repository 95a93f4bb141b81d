"""Choose the questions for successive texts of a story, so that every question is used before one is repeated, if possible."""

from __future__ import annotations

import math
import random
from collections import Counter

from piiloom.taxonomy.relevance_shares import RelevanceShares
from piiloom.taxonomy.telling_plan import Asking, TellingPlan


def question_round(plan: TellingPlan, telling: int, number: int, rng: random.Random) -> tuple[Asking, ...]:
    """Return the questions for text number *telling* (from 0) of a story.

    These are *number* questions, fewer if no more can be asked together, () if none can. Each text gets the set whose questions were used
    least so far; a repeated question gets its next wording. The same state of *rng* gives the same sequence.
    """
    sets = list(plan.sets_of_questions(number))
    if not sets:
        return ()
    rng.shuffle(sets)
    asked: Counter[int] = Counter()
    used: Counter[tuple[int, ...]] = Counter()
    chosen = sets[0]
    for _ in range(telling % _PERIOD + 1):
        chosen = min(sets, key=lambda one: (max(asked[place] for place in one), sum(asked[place] for place in one), used[one]))
        used[chosen] += 1
        asked.update(chosen)
    wordings = [len(plan.story.questions[place].wordings) for place in chosen]
    return tuple(Asking(question=place, wording=(asked[place] - 1) % total) for place, total in zip(chosen, wordings, strict=True))


def weighted_questions(plan: TellingPlan, shares: RelevanceShares, number: int, rng: random.Random) -> tuple[Asking, ...]:
    """Draw *number* questions (see ``question_round``) so that over many texts each type is high as often as *shares* has it."""
    sets, story = sorted(plan.sets_of_questions(number)), plan.story
    if not sets:
        return ()
    high = [[fact for place in one for fact in (*story.questions[place].needs, *story.questions[place].helps)] for one in sets]
    weights = {name: shares.types[fact.entity_type].question for name, fact in story.facts.items() if fact.entity_type in shares.types}
    chosen = rng.choices(sets, [math.exp(sum(weights.get(fact, 0.0) for fact in facts)) for facts in high])[0]
    return tuple(Asking(question=place) for place in chosen)


# The sequence repeats after this many texts: more would not be more varied.
_PERIOD = 240
