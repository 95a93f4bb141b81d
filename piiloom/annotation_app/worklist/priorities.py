"""Priorities: which records people should annotate first.

The score of a record is ``wj·J + ws·S + wr·R + wu·U``. Each part is between 0 and 1; the weights are project settings:

- J (judges): ``1 - 0.5ⁿ`` for n values where the judge disagreed with the planned label;
- S (screening): ``1 - 0.5ⁿ`` for n gates of ``screening`` that would refuse the record as it is now
  (``UnlistedGate``: text that looks like an identifier is not a span; ``QuestionLeaksGate``: the question reveals the answer);
- R (rare): ``1 - c/m`` where the record's pair has c records in the pool and the most common pair has m; 0 without a pair;
- U (random): drawn from the seed and the record's id, so that records are not annotated in the order of generation.

If the setting ``by_uncertainty`` is on, records about which detectors are least sure come first. The score is then
``Q + P / (1000 (1 + w))``: P is the score above, w the sum of the weights, and Q, rounded to 3 decimals, the greater of

- ``1 - |2s - 1|`` for the score s, among the record's suggestions, that is nearest to 0.5;
- ``1 - F1`` of the suggestions of the two detectors that agree least (equal in ends and type), if two looked at the record.

So P only orders records of one Q. A record without suggestions has Q = 0.

An admin can put records before or after all others, whatever their score: 1,000 is added or taken away (``Choice``).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Final, Literal

from piiloom.annotation_app.worklist.project_settings import DEFAULT_WEIGHTS, ProjectSettings
from piiloom.corpus.record import Record
from piiloom.corpus.store.annotation_items import pair_of
from piiloom.corpus.store.suggestions import Uncertainty
from piiloom.foundation.seeding import derive_rng
from piiloom.screening.gate import Expectations, Gate
from piiloom.screening.question_leaks import QuestionLeaksGate
from piiloom.screening.unlisted import UnlistedGate
from piiloom.taxonomy.entity_types import Taxonomy, shipped_taxonomy

# A placeholder for records without a pair. No text contains it, so their questions cannot leak its type words.
_NO_PAIR = ("\0", "\0")
RARE = "pair.rare"
Choice = Literal["first", "usual", "last"]
# The reason codes of records that somebody has put before or after all others; scores are far below the number.
_CHOSEN: Final[dict[Choice, str]] = {"first": "chosen.first", "last": "chosen.last"}
_CHOSEN_WORDS: Final = {"chosen.first": "an admin wants it first", "chosen.last": "an admin wants it last"}
_FAR: Final = {"first": 1_000.0, "usual": 0.0, "last": -1_000.0}
JUDGES = "judges"
UNSURE = "unsure"
APART = "detectors"
# From this value of R on, the reasons call a pair rare; and from this value on, they say that a detector is unsure.
_RARE_FROM = 0.5
_UNCERTAIN_FROM = 0.5
CERTAIN = Uncertainty()


@dataclass(frozen=True, slots=True, kw_only=True)
class Signals:
    """The inputs for a record's score. ``disagreements`` counts judges' disagreements; ``doubts`` are codes of screening gates."""

    record_id: str
    pair: str | None
    disagreements: int
    doubts: tuple[str, ...]
    uncertainty: Uncertainty = CERTAIN


def screening_doubts(record: Record, taxonomy: Taxonomy) -> tuple[str, ...]:
    """Return the codes of the gates that would refuse the record as it is now."""
    expected = Expectations(pair=pair_of(record) or _NO_PAIR)
    verdicts = (gate.check(record, expected) for gate in _gates(taxonomy))
    return tuple(verdict.code for verdict in verdicts if verdict is not None)


def signals_of(record: Record, taxonomy: Taxonomy, disagreements: int, uncertainty: Uncertainty = CERTAIN) -> Signals:
    """Collect the signals of *record*; *disagreements* is the number of values where its judge disagreed with the plan."""
    pair = pair_of(record)
    return Signals(
        record_id=record.id,
        pair="+".join(pair) if pair else None,
        disagreements=disagreements,
        doubts=screening_doubts(record, taxonomy),
        uncertainty=uncertainty,
    )


def scored(signals: Signals, counts: Mapping[str, int], settings: ProjectSettings) -> tuple[float, tuple[str, ...]]:
    """Return the score and its reason codes (``explained`` puts them into words). *counts* is the number of records per pair."""
    weights = {**DEFAULT_WEIGHTS, **settings.priority_weights}
    commonest = max(counts.values(), default=0)
    count = counts.get(signals.pair, 0) if signals.pair else commonest
    rare = 1 - count / commonest if commonest else 0.0
    chance = derive_rng("annotation priority", settings.seed, signals.record_id).random()
    parts = {"judges": 1 - 0.5**signals.disagreements, "screening": 1 - 0.5 ** len(signals.doubts), "rare": rare, "random": chance}
    reasons = [f"{JUDGES}:{signals.disagreements}"] if signals.disagreements else []
    reasons += signals.doubts
    reasons += [RARE] if rare >= _RARE_FROM else []
    score = sum(weights[name] * part for name, part in parts.items())
    if not settings.by_uncertainty:
        return round(score, 6), tuple(reasons)
    value = round(signals.uncertainty.value, 3)
    return round(value + score / (1000 * (1 + sum(weights.values()))), 9), (*_why_uncertain(signals.uncertainty), *reasons)


def choice_of(reasons: Iterable[str]) -> Choice:
    """Return what an admin has chosen for a record with *reasons*."""
    given = set(reasons)
    return next((choice for choice, code in _CHOSEN.items() if code in given), "usual")


def chosen(score: float, reasons: Iterable[str], choice: Choice) -> tuple[float, tuple[str, ...]]:
    """Return *score* and *reasons*, which are without a choice, as they are with *choice*."""
    return score + _FAR[choice], (*((_CHOSEN[choice],) if choice in _CHOSEN else ()), *reasons)


def without_choice(score: float, reasons: Iterable[str]) -> tuple[float, tuple[str, ...]]:
    """Return score and reasons as they were before an admin's choice."""
    given = tuple(reasons)
    return round(score - _FAR[choice_of(given)], 9), tuple(reason for reason in given if reason not in _CHOSEN_WORDS)


def _why_uncertain(found: Uncertainty) -> list[str]:
    reasons = []
    if found.nearest is not None and Uncertainty(nearest=found.nearest).value >= _UNCERTAIN_FROM:
        reasons.append(f"{UNSURE}:{found.nearest:.2f}")
    if found.apart is not None and found.apart >= _UNCERTAIN_FROM:
        reasons.append(f"{APART}:{found.apart:.2f}")
    return reasons


def explained(reason: str) -> str:
    """Return a reason code in plain words; an unknown code is returned as it is."""
    if reason in _CHOSEN_WORDS:
        return _CHOSEN_WORDS[reason]
    if reason == RARE:
        return "few records have this pair of types"
    if reason.startswith(f"{UNSURE}:"):
        return f"the score of a suggestion is {reason.partition(':')[2]}"
    if reason.startswith(f"{APART}:"):
        return f"two detectors disagree ({reason.partition(':')[2]} of 1)"
    if reason.startswith(f"{JUDGES}:"):
        count = reason.partition(":")[2]
        return (
            "a judge went against one label, or a detector found a value more"
            if count == "1"
            else f"judges and detectors went against {count} labels"
        )
    return {code: words for gate in _gates(shipped_taxonomy()) for code, words in gate.codes.items()}.get(reason, reason)


@lru_cache(maxsize=4)
def _gates(taxonomy: Taxonomy) -> tuple[Gate, ...]:
    return (UnlistedGate(), QuestionLeaksGate({name: kind.type_words for name, kind in taxonomy.types.items()}))
