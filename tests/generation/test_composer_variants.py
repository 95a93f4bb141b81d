"""Runs of the composer in other locales, and with one of its parts left out."""

from __future__ import annotations

import pytest

from piiloom.corpus.store.database import Store
from piiloom.corpus.store.records import iter_records
from piiloom.taxonomy.bank_loading import load_bank
from piiloom.taxonomy.entity_types import shipped_taxonomy
from piiloom.taxonomy.locales import load_locales
from tests.generation.composer_settings import start
from tests.longer import mostly_long

OTHERS = [code for code, found in load_locales().items() if found.composer and found.language == "en" and code != "en_US"]


@pytest.mark.parametrize("locale", mostly_long(OTHERS, quick={"en_IN"}))
def test_other_locales_of_the_language_work(tmp_path, locale):
    progress = start(tmp_path / "other.duckdb", samples=30, locale=locale)
    assert (progress.status, progress.accepted) == ("finished", 30)


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    """Records that nothing was left out of."""
    found = tmp_path_factory.mktemp("whole") / "s.duckdb"
    start(found, samples=60)
    with Store.open(found) as store:
        return list(iter_records(store))


ABLATIONS = {
    "personas": {"composer": {"personas": False}},
    "distractors": {"composer": {"distractors": False}},
    "one scenario": {"composer": {"scenarios_per_pair": 1}},
    "ten draws": {"composer": {"value_draws": 10}},
    "registers": {"registers": ["plain statement"]},
}


@pytest.mark.long
@pytest.mark.parametrize("name", ABLATIONS)
def test_what_is_left_out_is_missing_from_the_output(tmp_path, whole, name):
    found = tmp_path / "less.duckdb"
    start(found, samples=60, **ABLATIONS[name])
    with Store.open(found) as store:
        less = list(iter_records(store))
    assert len(less) == 60
    assert not {record.id for record in less} & {record.id for record in whole}
    assert not {record.context for record in less} & {record.context for record in whole}
    if name == "one scenario":
        first = {scenarios[0].id for scenarios in load_bank(language="en", extra=None, taxonomy=shipped_taxonomy()).pairs.values()}
        assert {record.plan.scenario for record in less} <= first
    if name == "registers":
        assert {record.plan.register for record in less} == {"plain statement"}
    if name == "distractors":
        assert all(record.spans for record in less)
    if name == "personas":
        assert "self" in {span.subject for record in less for span in record.spans}
