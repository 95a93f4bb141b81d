from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from taxonomy import bank_lint
from taxonomy.bank_lint import Finding, lint_bank
from taxonomy.entity_types import load_taxonomy
from taxonomy.scenarios import Bank, Scenario, load_bank

GOOD = Scenario(
    id="belief-health.loud-kettle",
    pair=("belief", "health"),
    uses={"belief": ("religion",), "health": ("condition",)},
    subjects={},
    topic="tea rooms",
    subtopics=("loud kettles", "quiet hours"),
    rationale={"belief": "why one", "health": "why two"},
    situation=tuple(
        f"{opening}, {{a:belief}} with {{health}}, I <drank|spilled> my tea beside a whistling kettle until the owner closed the shutters."
        for opening in ("Last Tuesday", "Around noon", "Once more", "Yesterday evening")
    ),
    draft=("Can {a:belief} with {health} stay?", "Would {health} matter there?"),
    personal=("Can I stay?", "Would it matter to me there?"),
    abstracted=("<Can|May> I stay?", "Who <opens|closes> my shutters?", "When is it quiet for me?", "What do I say?"),
    origin="mine.yaml:7",
)


def bank_of(scenario: Scenario = GOOD, *, clauses: dict[str, tuple[str, ...]] | None = None, fillers: tuple[str, ...] = ()) -> Bank:
    return Bank(scenarios={scenario.id: scenario}, clauses=clauses or {}, fillers=fillers, digest="", pairs={scenario.pair: (scenario,)})


def found(bank: Bank) -> list[Finding]:
    return [finding for finding in lint_bank(bank, load_taxonomy()) if finding.rule != "coverage"]


def test_a_good_scenario_has_no_finding() -> None:
    assert found(bank_of()) == []


@pytest.mark.parametrize(
    ("change", "rule"),
    [
        ({"id": "health-belief.loud-kettle"}, "id"),
        ({"id": "belief-health.Loud_Kettle"}, "id"),
        ({"uses": {"belief": ("mood",), "health": ("condition",)}}, "type"),
        ({"uses": {"health": ("condition",)}}, "type"),
        ({"subjects": {"age": "sister"}}, "type"),
        ({"rationale": {"health": "why"}}, "rationale"),
        ({"topic": "tea rooms in old towns"}, "label"),
        ({"subtopics": ("loud kettles",)}, "label"),
        ({"subtopics": ("loud kettles", "much too long a label")}, "label"),
        ({"situation": GOOD.situation[:3]}, "count"),
        ({"situation": (*GOOD.situation, "Once {a:belief} with {health}, I left.")}, "length"),
        ({"situation": (*GOOD.situation, GOOD.situation[0].replace("kettle", "kettle <or|and> so"))}, "opening"),
        ({"situation": (*GOOD.situation, GOOD.situation[0].replace("Last Tuesday", "One day").rstrip("."))}, "sentence"),
        ({"situation": (*GOOD.situation, GOOD.situation[0].replace("Last Tuesday", "One day {health}"))}, "pattern"),
        ({"situation": (*GOOD.situation, GOOD.situation[0].replace("Last Tuesday", "One <day"))}, "pattern"),
        ({"situation": (*GOOD.situation, GOOD.situation[0].replace("Last Tuesday", "At Jo’s"))}, "apostrophe"),
        ({"situation": (*GOOD.situation, GOOD.situation[0].replace("Last Tuesday", "At a <old|new> bar"))}, "wording"),
        ({"personal": ("Can I stay?", "<Would|would> it matter to me?")}, "wording"),
        ({"draft": ("Can I stay {age}?", "Can it {health}?")}, "pattern"),
        ({"personal": ("Can I stay with {health}?", "Would it?")}, "pattern"),
        ({"abstracted": (*GOOD.abstracted, "May I stay")}, "question"),
        ({"abstracted": (*GOOD.abstracted, "May I <stay?|go>?")}, "question"),
        ({"abstracted": (*GOOD.abstracted, "Is my <health|luck> at stake?")}, "type word"),
        ({"abstracted": (*GOOD.abstracted, "Do Beliefs count?")}, "type word"),
        ({"abstracted": (*GOOD.abstracted, GOOD.abstracted[0])}, "repeat"),
    ],
)
def test_each_breach_is_found_by_its_rule(change: dict[str, object], rule: str) -> None:
    findings = found(bank_of(replace(GOOD, **change)))
    assert rule in {finding.rule for finding in findings}
    assert all(finding.file for finding in findings)


def test_peripherals_are_held_to_their_own_lengths_and_slots() -> None:
    fine = "my cousins in {v} mail me postcards of rattling trams"
    clauses = {"location.city": (fine, "I like {v}", fine + ".", "my cousins and their dog mail me postcards"), "location.moon": (fine,)}
    findings = found(
        bank_of(clauses=clauses, fillers=("I sleep", "I have been learning to bake rye bread at home", "{v} is one two three four"))
    )
    assert [(f.scenario, f.rule) for f in findings] == [
        ("location.city", "length"),
        ("location.city", "sentence"),
        ("location.city", "pattern"),
        ("location.moon", "type"),
        ("fillers", "length"),
        ("fillers", "pattern"),
        ("location.moon", "repeat"),
    ]


def test_missing_pairs_and_clauses_are_named() -> None:
    findings = [f for f in lint_bank(bank_of(), load_taxonomy()) if f.rule == "coverage"]
    assert "belief+health" in {f.scenario for f in findings}
    assert "sexual orientation.orientation" in {f.scenario for f in findings}
    assert len(findings) == 78 + sum(len(t.subtypes) for t in load_taxonomy().types.values())


def test_a_finding_says_its_place() -> None:
    finding = found(bank_of(replace(GOOD, rationale={})))[0]
    assert str(finding) == "mine.yaml:7: belief-health.loud-kettle: the rationale must speak of both types [rationale]"


def test_the_command_counts_and_reports_a_bank_that_cannot_be_read(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert bank_lint.main([]) in {0, 1}
    assert f"{len(load_bank().scenarios)} scenarios" in capsys.readouterr().out
    assert bank_lint.main([str(tmp_path / "none.yaml")]) == 2
    assert "none.yaml: cannot be read" in capsys.readouterr().out


def test_the_shipped_bank_has_no_findings() -> None:
    assert [str(finding) for finding in lint_bank(load_bank(), load_taxonomy())] == []
