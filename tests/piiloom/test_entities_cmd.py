"""``piiloom entities``: what it lists, shows and tries, and how it refuses a file of somebody's own."""

from __future__ import annotations

import json

import pytest
from stdnum.pl import pesel

from tests.detection.own_entities import only_own

__all__ = ["only_own"]

OWN = r"""
locale: pl_PL
language: pl
against: [zamówieni]
entities:
  pl_gym_card:
    name: gym card number
    native: numer karty klubu
    domains: [CPG]
    structured: true
    type: code
    identifier: direct
    sensitivity: 2
    priority: 60
    patterns:
      - {pattern: '77-\d{6}', score: 0.4}
      - {pattern: '77\d{6}', score: 0.8, preceded_by: [karta klubu], guard: none}
    validator: stdnum:luhn
    context: [karta klubu, klub]
    generator: {masks: ['77-######']}
    source: the club's own terms
"""


@pytest.fixture
def own(tmp_path):
    path = tmp_path / "own.yaml"
    path.write_text(OWN, encoding="utf-8")
    return path


def listed(cli, *words):
    outcome = cli("entities", "list", *words, "--json")
    assert (outcome.code, outcome.err) == (0, "")
    return json.loads(outcome.out)["entities"]


def test_the_list_is_that_of_a_locale_and_domain(cli):
    found = listed(cli, "--locale", "pl_PL", "--domain", "Healthcare")
    assert {one["locale"] for one in found} == {"pl_PL"}
    assert all("Healthcare" in one["domains"] for one in found)
    assert "pl_pesel" in {one["id"] for one in found}
    assert {one["id"] for one in found} < {one["id"] for one in listed(cli, "--locale", "pl-pl")}


def test_the_list_has_more_than_three_hundred_and_one_of_somebodys_own(cli, own):
    found = {one["id"] for one in listed(cli, "--types", own)}
    assert len(found) > 300
    assert {"pl_pesel", "payment_card", "pl_gym_card"} <= found


def test_a_table_says_what_is_off_and_what_is_looked_for_on_request(cli):
    shown = cli("entities", "list", "--locale", "universal").out
    assert f"{len(listed(cli, '--locale', 'universal'))} entities" in shown
    assert "yes" in shown
    assert "request" in shown
    assert any(not one["default"] for one in listed(cli, "--locale", "universal"))


def test_one_entity_with_values_drawn_for_it(cli):
    told = json.loads(cli("entities", "show", "pl_pesel", "--json").out)
    assert (told["entity_type"], told["validator"]) == ("code", "stdnum:pl.pesel")
    assert len(told["drawn"]) == 5
    assert all(pesel.is_valid(value.replace("-", "")) for value in told["drawn"])
    shown = cli("entities", "show", "pl_pesel").out
    assert told["drawn"][0] in shown
    assert told["source"] in shown


def test_a_pattern_is_shown_with_what_holds_for_it_alone(cli, own):
    own.write_text(OWN.replace("guard: none", "guard: none, validator: none"), encoding="utf-8")
    shown = cli("entities", "show", "pl_gym_card", "--types", own).out.splitlines()
    assert r"  pattern: 77-\d{6}  (score 0.4)" in shown
    assert r"  pattern: 77\d{6}  (score 0.8, guard: none, validator: none, preceded_by: karta klubu)" in shown


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (("list", "--locale", "pl_XX"), ("unknown locale 'pl_XX'", "Did you mean")),
        (("list", "--domain", "Sport"), ("--domain", "unknown domain 'Sport'", "Healthcare")),
        (("show", "pl_pesle"), ("there is no entity 'pl_pesle'", "entities list")),
        (("test", "--locale", "pl_PL", "--id", "person_name"), ("no entity 'person_name' with patterns",)),
    ],
)
def test_names_that_nobody_knows(cli, words, says):
    outcome = cli("entities", *words)
    assert outcome.code == 2
    line = outcome.error_line()
    assert all(part in line for part in says), line


@pytest.mark.usefixtures("only_own")
def test_an_entity_of_somebodys_own_passes(cli, own):
    outcome = cli("entities", "test", "--types", own, "--locale", "pl_PL")
    assert (outcome.code, outcome.out, outcome.err) == (0, "1 of 1 entity passed\n", "")
    told = json.loads(cli("entities", "test", "--types", own, "--seed", 3, "--json").out)
    (one,) = told["entities"]
    assert (told["tried"], told["passed"]) == (1, 1)
    assert (one["positives"], one["found"], one["validated"]) == (20, 20, True)
    assert one["negatives"] == one["refused"] >= 10


@pytest.mark.usefixtures("only_own")
def test_an_entity_that_fails_is_named_with_its_line(cli, own):
    own.write_text(OWN.replace("77-######", "77-#######"), encoding="utf-8")  # a digit too many
    outcome = cli("entities", "test", "--types", own, "--explain")
    assert outcome.code == 1
    assert "own.yaml:6 pl_gym_card: 0/20 found" in outcome.out
    assert "found there: nothing" in outcome.out
    assert "0 of 1 entity passed" in outcome.out
    assert json.loads(cli("entities", "test", "--types", own, "--json").out)["passed"] == 0


@pytest.mark.usefixtures("only_own")
def test_an_entity_without_a_generator_cannot_be_tried(cli, own):
    own.write_text(OWN.replace("    generator: {masks: ['77-######']}\n", ""), encoding="utf-8")
    outcome = cli("entities", "test", "--types", own)
    assert outcome.code == 1
    assert "own.yaml:6 pl_gym_card: " in outcome.out
    assert "generator" in outcome.out
    told = json.loads(cli("entities", "test", "--types", own, "--json").out)
    assert [one["id"] for one in told["faults"]] == ["pl_gym_card"]


@pytest.mark.parametrize(
    ("right", "wrong", "line", "says"),
    [
        (r"'77-\d{6}'", r"'77-(\d{6}'", 16, "a group is written (?:…)"),
        (r"'77-\d{6}'", r"'77-[\d'", 16, "'[' is never closed"),
        (r"'77-\d{6}'", r"'(?:77-)?\d{0,6}'", 16, "the pattern matches an empty text"),
        (r"'77-\d{6}'", r"'77-\w+'", 16, r"\w is not known"),
        ("score: 0.4", "score: 1.4", 16, "score"),
        ("stdnum:luhn", "stdnum:pl.lunh", 18, "python-stdnum has no module 'pl.lunh'"),
        ("stdnum:luhn", "piiloom:lunh", 18, "there is no validator 'piiloom:lunh'"),
        ("type: code", "type: number", 11, "there is no type 'number'"),
        ("identifier: direct", "identifier: indirect", 12, "identifier"),
        ("{masks: ['77-######']}", "{masks: ['77-######'], values: [a]}", 20, "exactly one of masks, values, rule and draw"),
        ("  pl_gym_card:", "  pl_gym_card: {}\n  pl_gym_card:", 7, "pl_gym_card"),
        ("  pl_gym_card:", "  pl_pesel:", 6, "the id 'pl_pesel' is defined already in pl_PL.yaml"),
        ("entities:", "context: {pl_nothing: [nic]}\nentities:", 5, "there is no entity 'pl_nothing'"),
    ],
)
def test_a_fault_in_a_file_of_ones_own_is_told_with_its_line(cli, own, right, wrong, line, says):
    own.write_text(OWN.replace(right, wrong, 1), encoding="utf-8")
    outcome = cli("entities", "test", "--types", own, "--locale", "pl_PL", "--id", "pl_pesel" if "pl_pesel" in wrong else "pl_gym_card")
    assert outcome.code == 2, outcome
    told = outcome.error_line()
    assert f"own.yaml:{line}" in told
    assert says in told


def test_a_file_that_is_not_there(cli, tmp_path):
    outcome = cli("entities", "list", "--types", tmp_path / "gone.yaml")
    assert outcome.code == 2
    assert "gone.yaml" in outcome.error_line()
