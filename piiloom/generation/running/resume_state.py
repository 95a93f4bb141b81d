"""Read what earlier sessions of a run left in the store."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from functools import cached_property

from piiloom.corpus.store.database import Store
from piiloom.corpus.store.outcomes import plan_indexes
from piiloom.corpus.store.progress import RejectRow, load_rejects, load_stage_results
from piiloom.generation.running.stopping import TRANSIENT_CODES
from piiloom.generation.stages import screen
from piiloom.generation.stages.pipeline import all_item_stages


@dataclass(frozen=True, kw_only=True)
class ResumeState:
    """The plan items that were accepted, rejected, or are under way.

    ``under_way``: plan index to (last stage passed, the item as JSON). ``draws``: by plan index, how many rejects for a model's reply
    were lifted; the item is then tried again with new draws. ``key_draws``: the same for pairs and topics, by key.
    """

    accepted: frozenset[int]
    rejects: tuple[RejectRow, ...]
    under_way: dict[int, tuple[str, str]]
    draws: Counter[int] = field(default_factory=Counter)
    key_draws: Counter[str] = field(default_factory=Counter)

    @cached_property
    def decided(self) -> frozenset[int]:
        """The plan items that need no further work."""
        return self.accepted | {row.plan_index for row in self.rejects if row.plan_index is not None}

    @property
    def named_draws(self) -> dict[str, int]:
        """All retry counts by the id that calls use: the plan index as a string, or the key of a pair or topic."""
        return {str(index): count for index, count in self.draws.items()} | dict(self.key_draws)

    def passed(self, stage: str) -> dict[int, str]:
        """Return the items (as JSON) whose last passed stage is *stage*, by plan index."""
        return {index: payload for index, (done, payload) in sorted(self.under_way.items()) if done == stage}


def read_resume_state(store: Store, run_id: str) -> ResumeState:
    """Read from the store which items of a run are decided, and how far the others are."""
    rejects = tuple(row for row in load_rejects(store, run_id) if row.plan_index is not None)
    all_lifted = load_rejects(store, run_id, lifted=True)
    lifted = [row for row in all_lifted if row.plan_index is not None]
    earlier = ResumeState(accepted=frozenset(plan_indexes(store, run_id)), rejects=rejects, under_way={})
    earlier.draws.update(row.plan_index for row in lifted if row.plan_index is not None and row.reason_code not in TRANSIENT_CODES)
    earlier.key_draws.update(row.key for row in all_lifted if row.key is not None and row.reason_code not in TRANSIENT_CODES)
    # An item that screening rejected has passed all stages, so a retry starts from the beginning.
    afresh = {row.plan_index for row in lifted if row.stage == screen.NAME and row.plan_index is not None}
    for stage in all_item_stages():  # later stages overwrite earlier ones
        for index, payload in load_stage_results(store, run_id, stage.name, without=earlier.decided | afresh).items():
            earlier.under_way[index] = (stage.name, payload)
    return earlier
