"""A run with a trained detector: what it finds outside of spans is flagged or refused, and nothing else changes."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from piiloom.corpus.store.database import Store
from piiloom.corpus.store.judgements import load_judgements, records_judged_otherwise
from piiloom.corpus.store.records import iter_records
from piiloom.foundation.errors import DataError, UsageError
from piiloom.generation.settings.digests import plan_digest, run_digest
from piiloom.generation.settings.setting_checks import make_config
from piiloom.tagging.model_folder import CARD, SPANS
from tests.tagging.trained import save_small_model

# It has learnt from three sentences, so it finds values where there are none; that is what makes the test quick.
SMALL = ("--samples", 12, "--seed", 5, "--pairs", "health+occupation")
SCREENED = ("--screen-threshold", 0.2)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return save_small_model(tmp_path_factory.mktemp("made") / "small")


def records_in(path):
    with Store.open(path) as store:
        return list(iter_records(store)), load_judgements(store), records_judged_otherwise(store)


def test_flags_change_no_text_and_tell_where(cli, tmp_path, folder):
    plain = cli("generate", *SMALL, "--store", tmp_path / "plain.duckdb")
    flagged = cli("generate", *SMALL, "--store", tmp_path / "flagged.duckdb", "--screen-model", folder, *SCREENED)
    assert (plain.code, flagged.code) == (0, 0)
    records, none, _ = records_in(tmp_path / "plain.duckdb")
    same, told, doubted = records_in(tmp_path / "flagged.duckdb")
    assert none == []
    assert [replace(one, id="") for one in same] == [replace(one, id="") for one in records]
    assert told
    by_id = {record.id: record for record in same}
    for row in told:
        said, record = row.judgement, by_id[row.record_id]
        start, end = map(int, said.value_id.strip("[)").split(", "))
        assert 0 <= start < end <= len(record.context)
        assert not any(span.start < end and start < span.end for span in record.spans)
        assert (said.kind, said.agrees, said.provider, said.model) == ("unlisted", False, "probe", "small")
        assert said.score >= 0.2
        assert said.reason == f"{said.verdict} in the context at [{start}, {end}), found by probe small, score {said.score:.2f}"
    assert {row.record_id for row in told} == doubted
    assert f"  flagged   {len(told)} value" in flagged.out
    assert "flagged" not in plain.out


def test_what_is_found_is_rejected_on_request(cli, tmp_path, folder):
    words = ("--screen-model", folder, *SCREENED, "--on-unlisted", "reject", "--store", tmp_path / "s.duckdb", "--json")
    report = json.loads(cli("generate", *SMALL, *words).out)
    assert report["reasons"]["screen: unlisted.detected"] >= 1
    assert report["flagged"] == {"values": 0, "records": 0}
    assert records_in(tmp_path / "s.duckdb")[1] == []


def test_a_detector_is_part_of_the_digest_but_not_of_the_plan(folder):
    plain, flagging = make_config({}), make_config({"screen_model": folder})
    rejecting = make_config({"screen_model": folder, "on_unlisted": "reject"})
    surer = make_config({"screen_model": folder, "on_unlisted": "reject", "screen_threshold": 0.99})
    assert len({run_digest(config) for config in (plain, flagging, rejecting, surer)}) == 4
    assert {plan_digest(config) for config in (flagging, rejecting, surer)} == {plan_digest(plain)}


@pytest.mark.parametrize("settings", [{"screen_threshold": 0.5}, {"on_unlisted": "reject"}])
def test_settings_of_a_detector_that_is_not_there(settings):
    with pytest.raises(UsageError, match="no detector screens this run"):
        make_config(settings)


def test_a_folder_that_cannot_be_used_is_found_before_the_run(tmp_path, folder):
    with pytest.raises(UsageError, match="--screen-model") as caught:
        make_config({"screen_model": tmp_path})
    assert "piiloom probe" in caught.value.remedy
    damaged = tmp_path / "damaged"
    damaged.mkdir()
    for path in folder.iterdir():
        (damaged / path.name).write_bytes(path.read_bytes()[: None if path.name == CARD else 100])
    with pytest.raises(DataError, match=f"{SPANS}.*another SHA-256"):
        make_config({"screen_model": damaged})
