"""What was said about the cases: by models, by exact values that a text has, and by the rule that stands in where no model is asked.

The stand-in writes no answers and judges nothing. Of two variants, the one that still has more of the highly relevant values is taken to
answer better; if both have the same share, it is a tie. So it measures what was left in the context, not whether an answer is any good,
and everything it gives is labelled: ``LABEL`` in tables, ``NAME`` in rows.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from typing import Final, Literal, TypeVar

from piiloom.corpus.mention_search import stands_alone
from piiloom.evaluation.utility.cases import UtilityCase
from piiloom.execution.calls import Lost
from piiloom.foundation.words import content_words

K = TypeVar("K")
R = TypeVar("R")
Better = Literal["first", "second", "tie"]
# How a pair ended for its first variant. The last four are ties; the last two of these show that the judge was not sure.
PairResult = Literal["win", "loss", "agreed", "identical", "position", "split"]
TIES: Final[tuple[PairResult, ...]] = ("agreed", "identical", "position", "split")
_RESULTS: Final[Mapping[tuple[Better, Better], PairResult]] = {
    ("first", "second"): "win",
    ("second", "first"): "loss",
    ("tie", "tie"): "agreed",
    ("first", "first"): "position",
    ("second", "second"): "position",
    ("first", "tie"): "split",
    ("tie", "first"): "split",
    ("second", "tie"): "split",
    ("tie", "second"): "split",
}
NAME: Final = "stand-in"
LABEL: Final = "stand-in (a rule, no judge): the share of highly relevant values that a variant still tells"


@dataclass(frozen=True, slots=True, kw_only=True)
class PairVerdict:
    """Which of two answers is better, by its position, and why."""

    better: Better
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Grade:
    """How completely an answer answers the question: 0 to 1."""

    score: float
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Disclosed:
    """How far one protected fact can be learned from the context and from the answer, each 0 to 1."""

    context: float
    answer: float
    reason: str


@dataclass(slots=True)
class UtilityOutcomes:
    """All that was asked, by case id and variant; a ``Lost`` says why there is no usable reply.

    ``verdicts`` are by case id, the variant of the first answer, and that of the second; ``second_verdicts`` are those of a second
    judge. ``disclosures`` have an entry for each protected fact. Variants that show the same are asked about once, under the first of
    them (``UtilityCase.first_alike``).
    """

    answers: dict[tuple[str, str], str | Lost] = field(default_factory=dict)
    verdicts: dict[tuple[str, str, str], PairVerdict | Lost] = field(default_factory=dict)
    second_verdicts: dict[tuple[str, str, str], PairVerdict | Lost] = field(default_factory=dict)
    grades: dict[tuple[str, str], Grade | Lost] = field(default_factory=dict)
    disclosures: dict[tuple[str, str], tuple[Disclosed, ...] | Lost] = field(default_factory=dict)
    # How many replies were refused by the checks and asked for again.
    asked_again: int = 0

    def answer(self, case_id: str, variant: str) -> str | None:
        """Return the answer, or None if there is no usable one."""
        return usable(self.answers, (case_id, variant))

    def pair(self, case_id: str, one: str, other: str, *, second: bool = False) -> PairResult | None:
        """Return how the pair ended for *one*, by the *second* judge if asked for; None if an answer or a verdict is missing.

        Both are distinct variants or the same one.
        An answer wins only if it is found better in both orders. "position": both verdicts name the same position. "split": one names
        an answer, the other is a tie. Equal answers are not asked about.
        """
        mine, theirs = self.answer(case_id, one), self.answer(case_id, other)
        if mine is None or theirs is None:
            return None
        if mine == theirs:
            return "identical"
        verdicts = self.second_verdicts if second else self.verdicts
        forth, back = usable(verdicts, (case_id, one, other)), usable(verdicts, (case_id, other, one))
        return None if forth is None or back is None else _RESULTS[forth.better, back.better]


def usable(found: Mapping[K, R | Lost], key: K) -> R | None:
    """Return what was said under *key*; None if it was not asked, or not answered in a usable way."""
    said = found.get(key)
    return None if isinstance(said, Lost) else said


def tells(text: str, value: str) -> bool:
    """Whether *value* stands in *text* as a whole word, in any case. A blank value stands nowhere."""
    if not value.strip():
        return False
    return any(stands_alone(text, *found.span()) for found in re.finditer(re.escape(value.strip()), text, re.IGNORECASE))


def told_share(text: str, values: Collection[str]) -> float | None:
    """Return the share of *values* that *text* tells; None if there are none."""
    return sum(tells(text, value) for value in values) / len(values) if values else None


def word_overlap(text: str, original: str) -> float | None:
    """Return the share of the content words of *original* that *text* has, too; None if it has none."""
    wanted = content_words(original)
    return len(wanted & content_words(text)) / len(wanted) if wanted else None


def kept_share(case: UtilityCase, variant: str) -> float | None:
    """Return the share of the highly relevant values that *variant* tells; None if the case has none."""
    return told_share(case.shown[variant].whole, [fact.value for fact in case.needed])


def stand_in_pair(case: UtilityCase, one: str, other: str) -> PairResult | None:
    """Return how the rule decides for *one*; None if the case has no highly relevant value."""
    mine, theirs = kept_share(case, one), kept_share(case, other)
    if mine is None or theirs is None:
        return None
    if case.shown[one] == case.shown[other]:
        return "identical"
    return "agreed" if mine == theirs else "win" if mine > theirs else "loss"
