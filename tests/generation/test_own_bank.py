"""A bank of one's own: its scenarios and asides come up in texts, and a run keeps to the bank that it was started with."""

from __future__ import annotations

import pytest

from piiloom.corpus.store.database import Store
from piiloom.corpus.store.records import iter_records
from piiloom.foundation.errors import RunError, UsageError
from piiloom.generation.running.opening import start_run
from piiloom.generation.running.session import bank_of
from piiloom.generation.settings.configuration import RunConfig
from piiloom.generation.settings.digests import run_digest
from piiloom.taxonomy.bank_loading import load_bank
from piiloom.taxonomy.entity_types import shipped_taxonomy
from tests.generation.composed_items import loom, planned
from tests.generation.composer_settings import exported, resume, start
from tests.taxonomy.bank_example import MINE, written

ID = "health-relationship.choir-bench"
PAIRS = "health+relationship"
FRAME = """\
frames:
  - "I keep {health.medication}, {finance.amount}, {code.wallet} and {name.username} in one green tin."
"""


@pytest.fixture(scope="module")
def mine(tmp_path_factory):
    """The shipped bank with one scenario and one aside of four values more."""
    folder = tmp_path_factory.mktemp("bank")
    written(folder)
    (folder / "tin.yaml").write_text(FRAME, encoding="utf-8")
    return folder


def test_its_scenario_becomes_a_text(mine):
    bank = load_bank("en", mine, taxonomy=shipped_taxonomy())
    with loom(bank) as made:
        items = [made.weave(planned(index, bank.scenarios[ID], bank=bank)).item for index in range(12)]
    told = [item for item in items if item.spans and item.plan.scenario == ID]
    assert len(told) > 8
    for item in told:
        kin = [value for value in item.high_values() if value.entity_type == "relationship"]
        # Whose illness it is stands in the same text.
        assert all(value.subject == kin[0].text for value in item.high_values() if value.entity_type == "health")
    assert any("choir" in item.passage.text.casefold() for item in told)


def test_its_aside_becomes_a_part_of_one(mine):
    bank = load_bank("en", mine, taxonomy=shipped_taxonomy())
    tin = bank.frames[-1]
    others = [scenario for scenario in bank.scenarios.values() if scenario.id != ID]
    plans = (planned(index, others[index % len(others)], bank=bank) for index in range(60_000))
    plan = next(plan for plan in plans if tin.index in {aside.frame for aside in plan.asides})
    with loom(bank) as made:
        item = made.weave(plan).item
    assert "in one green tin" in item.passage.text.casefold()
    assert {"medication", "amount", "wallet", "username"} <= {span.subtype for span in item.spans}


def test_a_run_is_told_apart_by_what_the_bank_says_not_by_where_it_is(mine, tmp_path):
    assert run_digest(RunConfig(bank=mine)) != run_digest(RunConfig())
    (tmp_path / "moved").mkdir()
    for file in mine.iterdir():
        (tmp_path / "moved" / file.name).write_bytes(file.read_bytes())
    assert run_digest(RunConfig(bank=tmp_path / "moved")) == run_digest(RunConfig(bank=mine))
    written(tmp_path / "moved", MINE.replace("sanding a table", "sanding a chair"))
    assert run_digest(RunConfig(bank=tmp_path / "moved")) != run_digest(RunConfig(bank=mine))


@pytest.mark.long
def test_a_run_goes_on_with_its_bank_and_with_no_other(tmp_path):
    store, bank = tmp_path / "s.duckdb", written(tmp_path)
    settings = {"pairs": PAIRS, "bank": bank}
    assert start(store, samples=40, **settings).accepted == 40
    with Store.open(store) as opened:
        assert any(record.plan.scenario == ID for record in iter_records(opened))
        with pytest.raises(RunError, match="same configuration"):
            start_run(opened, RunConfig(samples=4, recipe="staged", **settings))
    first = exported(store)
    assert resume(store, samples=50).accepted == 50
    assert exported(store, first=40) == first
    written(tmp_path, MINE.replace("sanding a table", "sanding a chair"))
    with pytest.raises(RunError, match="scenario bank"):
        resume(store, samples=60)
    bank.unlink()
    with pytest.raises(UsageError, match=r"mine\.yaml"):
        resume(store, samples=60)


def test_a_bank_can_be_cut_down_to_some_scenarios_a_pair(mine):
    assert ID in bank_of(RunConfig(bank=mine)).scenarios
    # Those that ship come first.
    assert ID not in bank_of(RunConfig(bank=mine, composer={"scenarios_per_pair": 1})).scenarios
