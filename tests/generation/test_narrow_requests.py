"""Narrow requests: only some types, at least one of some kinds, and how many records the stories are enough for."""

from __future__ import annotations

import pytest

from piiloom.corpus.store.database import Store
from piiloom.corpus.store.records import drawn_on, iter_records
from piiloom.foundation.errors import UsageError
from piiloom.generation.plan.supply import check_supply, supply_of
from piiloom.generation.running.opening import new_or_known_run
from piiloom.generation.settings.configuration import RunConfig
from piiloom.generation.settings.digests import plan_digest, run_digest
from piiloom.generation.settings.setting_checks import make_config
from piiloom.taxonomy.story_bank import stories_for
from tests.fakes.llm_server import LLMServer
from tests.generation.case_author import CaseAuthor
from tests.generation.composer_settings import start
from tests.generation.llm_runs import config_for, read_back, set_keys
from tests.generation.llm_runs import start as start_paid
from tests.longer import case_by_case


@pytest.mark.parametrize(
    ("settings", "types", "kinds"),
    [
        ({"recipe": "story", "samples": 60, "only_types": "health,occupation"}, {"health", "occupation"}, None),
        ({"recipe": "story", "samples": 20, "with_kinds": "email,phone"}, None, {"email", "phone"}),
        (
            {"recipe": "story", "samples": 20, "with_kinds": "case_number", "only_types": "code,datetime,finance,organization,location"},
            {"code", "datetime", "finance", "organization", "location"},
            {"case_number"},
        ),
        ({"samples": 60, "only_types": "health,sexual_orientation,finance"}, {"health", "sexual orientation", "finance"}, None),
        ({"samples": 40, "with_kinds": "email,phone"}, None, {"email", "phone"}),
    ],
)
def test_texts_of_the_composer_hold_what_was_asked_for(tmp_path, settings, types, kinds):
    path = tmp_path / "n.duckdb"
    assert start(path, **settings).accepted == settings["samples"]
    with Store.open(path) as store:
        records = list(iter_records(store))
    for record in records:
        assert types is None or {span.entity_type for span in record.spans} <= types
        assert kinds is None or kinds & {span.subtype for span in record.spans}
    assert all(record.spans for record in records) or kinds is None


@pytest.mark.parametrize(("only", "kinds"), [("health,occupation,age", ""), ("", "email,iban")])
def test_texts_of_a_model_hold_what_was_asked_for(tmp_path, monkeypatch, only, kinds):
    set_keys(monkeypatch)
    with LLMServer(CaseAuthor(7)) as server, Store.open(tmp_path / "n.duckdb") as store:
        config = config_for("openai", server, recipe="case", samples=6, only_types=only, with_kinds=kinds)
        assert start_paid(store, config).accepted == 6
        records = read_back(store).records
    for record in records:
        assert not only or {span.entity_type for span in record.spans} <= {"health", "occupation", "age"}
        assert not kinds or {"email", "iban"} & {span.subtype for span in record.spans}


@case_by_case(
    ("settings", "said"),
    [
        ({"only_types": "healt"}, "unknown type 'healt'"),
        ({"only_types": "code"}, "no story can be told within this request"),
        ({"with_kinds": "email,emial"}, "no story holds the kind 'emial'"),
        ({"with_kinds": "emial", "recipe": "staged"}, "unknown kind 'emial'"),
        ({"with_kinds": "iban", "recipe": "staged"}, "no sentence of the bank holds iban"),
        ({"with_kinds": "email", "only_types": "health,age", "recipe": "staged"}, "unknown kind 'email', or not of the types"),
        ({"only_types": "health", "recipe": "staged"}, "no pair has only these types"),
    ],
)
def test_a_request_that_nothing_can_meet_is_refused(settings, said):
    with pytest.raises(UsageError, match=said):
        make_config(settings)


def test_narrow_settings_enter_the_digests_only_where_they_are_given():
    plain, narrow = (
        make_config({"pairs": "health+occupation"}),
        make_config({"pairs": "health+occupation", "only_types": "health,occupation"}),
    )
    again = make_config({"pairs": "health+occupation", "repeat_stories": True})
    assert run_digest(plain) == run_digest(again) != run_digest(narrow)
    assert plan_digest(plain) != plan_digest(narrow)


def test_a_story_is_not_told_too_often_unless_asked(tmp_path):
    settings = {"pairs": "health+occupation", "samples": 900, "no_pii_share": 0}
    supply = supply_of(make_config(settings))
    assert supply is not None
    number = len(stories_for(("health", "occupation")))
    assert (supply.stories, supply.texts, supply.most) == (number, 450, 2 * -(-450 // number))
    assert str(supply).startswith(f"450 texts from {number} stories with ")
    with (
        pytest.raises(UsageError, match=f"about {900 * 50 // supply.most} records"),
        new_or_known_run(tmp_path / "s.duckdb", make_config(settings)),
    ):
        pass
    for enough in ({**settings, "repeat_stories": True}, {**settings, "samples": 300}, {**settings, "recipe": "staged"}):
        check_supply(make_config(enough))
    assert supply_of(RunConfig(provider="openai", recipe="case")) is None


def test_a_run_says_on_what_it_drew(tmp_path):
    path = tmp_path / "s.duckdb"
    progress = start(path, samples=24, recipe="story", pairs="health+occupation", no_pii_share=0)
    with Store.open(path) as store:
        stories, texts, questions = drawn_on(store, progress.run_id)
    assert (stories, texts) == (min(12, len(stories_for(("health", "occupation")))), 12)
    assert 20 <= questions <= 24
