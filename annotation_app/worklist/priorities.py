"""Priorities: which records people should annotate first.

The score of a record is ``wj·J + ws·S + wr·R + wu·U``. Each part is between 0 and 1; the weights are project settings:

- J (judges): ``1 - 0.5ⁿ`` for n values where the judge disagreed with the planned label;
- S (screening): ``1 - 0.5ⁿ`` for n gates of ``screening`` that would refuse the record as it is now
  (``UnlistedGate``: text that looks like an identifier is not a span; ``QuestionLeaksGate``: the question reveals the answer);
- R (rare): ``1 - c/m`` where the record's pair has c records in the pool and the most common pair has m; 0 without a pair;
- U (random): drawn from the seed and the record's id, so that records are not annotated in the order of generation.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache

from piiloom.annotation_app.worklist.project_settings import DEFAULT_WEIGHTS, ProjectSettings
from piiloom.corpus.record import Record
from piiloom.corpus.store.item_facts import pair_of
from piiloom.foundation.seeding import derive_rng
from piiloom.screening.gate import Expectations, Gate
from piiloom.screening.question_leaks import QuestionLeaksGate
from piiloom.screening.unlisted import UnlistedGate
from piiloom.taxonomy.entity_types import Taxonomy, load_taxonomy

# A placeholder for records without a pair. No text contains it, so their questions cannot leak its type words.
_NO_PAIR = ("\0", "\0")
RARE = "pair.rare"
JUDGES = "judges"
# From this value of R on, the reasons call a pair rare.
_RARE_FROM = 0.5


@dataclass(frozen=True, slots=True, kw_only=True)
class Signals:
    """The inputs for a record's score. ``disagreements`` counts judges' disagreements; ``doubts`` are codes of screening gates."""

    record_id: str
    pair: str | None
    disagreements: int
    doubts: tuple[str, ...]


def screening_doubts(record: Record) -> tuple[str, ...]:
    """Return the codes of the gates that would refuse the record as it is now."""
    expected = Expectations(pair=pair_of(record) or _NO_PAIR)
    verdicts = (gate.check(record, expected) for gate in _gates(load_taxonomy()))
    return tuple(verdict.code for verdict in verdicts if verdict is not None)


def signals_of(record: Record, disagreements: int) -> Signals:
    """Collect the signals of *record*; *disagreements* is the number of values where its judge disagreed with the plan."""
    pair = pair_of(record)
    return Signals(record_id=record.id, pair="+".join(pair) if pair else None, disagreements=disagreements, doubts=screening_doubts(record))


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
    return round(sum(weights[name] * part for name, part in parts.items()), 6), tuple(reasons)


def explained(reason: str) -> str:
    """Return a reason code in plain words; an unknown code is returned as it is."""
    if reason == RARE:
        return "few records have this pair of types"
    if reason.startswith(f"{JUDGES}:"):
        count = reason.partition(":")[2]
        return "a judge went against one planned label" if count == "1" else f"judges went against {count} planned labels"
    return {code: words for gate in _gates(load_taxonomy()) for code, words in gate.codes.items()}.get(reason, reason)


@lru_cache(maxsize=4)
def _gates(taxonomy: Taxonomy) -> tuple[Gate, ...]:
    return (UnlistedGate(), QuestionLeaksGate({name: kind.type_words for name, kind in taxonomy.types.items()}))
