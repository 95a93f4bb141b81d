"""The judges: optional stages between ``spans`` and ``screen`` that hold a finished text against its plan.

``relevance`` asks whether each value matters as planned, ``leak`` whether a value is given away. Their judgements are
stored beside the record, and what goes against the plan is flagged for annotators
(``piiloom.corpus.store.judgements.disagreements``).
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from types import MappingProxyType

from piiloom.corpus.store.judgements import JudgementKind
from piiloom.generation.stage import Stage
from piiloom.generation.stages import judge_leak, judge_relevance

JUDGES: Mapping[JudgementKind, Stage] = MappingProxyType({"relevance": judge_relevance.STAGE, "leak": judge_leak.STAGE})

# Names of the judge stages. The recipe "case" uses "judge_relevance" even if no judge is asked for.
JUDGING = frozenset(stage.name for stage in JUDGES.values())


def judge_stages(names: Collection[JudgementKind]) -> tuple[Stage, ...]:
    """Return the stages of the judges in *names*, always in the same order."""
    return tuple(stage for name, stage in JUDGES.items() if name in names)
