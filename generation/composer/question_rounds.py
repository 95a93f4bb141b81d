"""Which questions the tellings of a story ask: each of them once before any comes again, as far as they can be asked together."""

from __future__ import annotations

import random
from collections import Counter

from piiloom.generation.composer.telling_plan import Asking, TellingPlan


def question_round(plan: TellingPlan, telling: int, number: int, rng: random.Random) -> tuple[Asking, ...]:
    """What telling *telling* (from 0) of a story asks: *number* questions, fewer where no more can be asked together; () where none can.

    The same state of *rng* gives the same rounds. Of the sets of questions that can be asked together the one comes next whose questions
    were asked least so far, so a story repeats no question in its first tellings; when one comes again, it is in its next wording.
    """
    sets = list(_sets(plan, number))
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


# Thousands of tellings of one story are no more varied than hundreds.
_PERIOD = 240


def _sets(plan: TellingPlan, number: int) -> set[tuple[int, ...]]:
    """The largest sets of up to *number* questions that can be asked together and differ in what is high."""
    found: set[tuple[int, ...]] = {(place,) for place in plan.askable}
    for _ in range(number - 1):
        larger = {tuple(sorted((*one, other))) for one in found for other in plan.partners(one)}
        if not larger:
            break
        found = larger
    return found
