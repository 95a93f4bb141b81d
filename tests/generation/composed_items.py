"""Items that the composer makes, stage by stage, outside a run."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any

from piiloom.corpus.store.runs import create_run
from piiloom.execution.calls import Calls
from piiloom.execution.committing import GroupCommitter
from piiloom.generation.composer.provider import ComposerProvider
from piiloom.generation.item import Item, PlanItem
from piiloom.generation.plan.planning import make_plan_item
from piiloom.generation.running.item_runner import Outcome, advance
from piiloom.generation.settings.configuration import RunConfig
from piiloom.generation.stage import StageContext
from piiloom.generation.stages.pipeline import RECIPES
from piiloom.taxonomy.entity_types import shipped_taxonomy
from piiloom.taxonomy.scenarios import Bank, Scenario
from tests.generation.scripted_provider import memory_store


def planned(index: int, scenario: Scenario, *, bank: Bank, cue_level: str | None = None, **settings: Any) -> PlanItem:
    """Plan item *index* of a run with *settings*, on *scenario* (or another of its pair with the same topic and subtopic)."""
    place = (scenario.topic, scenario.subtopics[index % len(scenario.subtopics)])
    plan = make_plan_item(index, scenario.pair, place, config=RunConfig(recipe="staged", **settings), digest="composed items", bank=bank)
    return plan if cue_level is None else replace(plan, cue_level=cue_level)


@dataclass(slots=True, kw_only=True)
class Loom:
    """The composer over a bank, and a ledger for what it has refused."""

    calls: Calls
    bank: Bank

    def weave(self, plan: PlanItem, **settings: Any) -> Outcome:
        """Take a new item with *plan* through all item stages, as far as it gets."""
        ctx = StageContext(config=RunConfig(recipe="staged", locale=plan.locale, **settings), calls=self.calls, bank=self.bank)
        return asyncio.run(advance(Outcome(item=Item(plan=plan)), ctx, RECIPES["staged"]))


@contextmanager
def loom(bank: Bank, **options: Any) -> Iterator[Loom]:
    """A loom over *bank*; *options* are those of the composer."""
    store = memory_store()
    run = create_run(store, provider="composer", model=None, seed=7, samples=1, config={}, config_digest="d")
    committer = GroupCommitter(store, run.id)
    committer.start()
    try:
        yield Loom(calls=Calls(ComposerProvider(bank, **options, taxonomy=shipped_taxonomy()), committer, run.id), bank=bank)
    finally:
        committer.close()
