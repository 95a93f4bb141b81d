"""A rule that stands in for the judge where no model is asked. It writes no answers and judges nothing.

Of two variants, the one that still tells more of the highly relevant values is taken to answer better; if both tell the same share, it is a
tie. So it measures what was left in the context, not whether an answer is any good, and everything it gives is labelled: ``LABEL`` in
tables, ``NAME`` in rows.
"""

from __future__ import annotations

from typing import Final

from piiloom.evaluation.utility.cases import Case
from piiloom.evaluation.utility.disclosure import told_share
from piiloom.evaluation.utility.outcomes import PairResult

NAME: Final = "stand-in"
LABEL: Final = "stand-in (a rule, no judge): the share of highly relevant values that a variant still tells"


def kept_share(case: Case, variant: str) -> float | None:
    """Return the share of the highly relevant values that *variant* tells; None if the case has none."""
    return told_share(case.shown[variant].whole, [fact.value for fact in case.needed])


def stand_in_pair(case: Case, one: str, other: str) -> PairResult | None:
    """Return how the rule decides for *one*; None if the case has no highly relevant value."""
    mine, theirs = kept_share(case, one), kept_share(case, other)
    if mine is None or theirs is None:
        return None
    if case.shown[one] == case.shown[other]:
        return "identical"
    return "agreed" if mine == theirs else "win" if mine > theirs else "loss"
