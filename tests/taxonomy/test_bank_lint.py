from __future__ import annotations

from pathlib import Path

import pytest

from piiloom.taxonomy import bank_lint
from piiloom.taxonomy.bank_lint import Finding, lint_files, lint_shipped, missing_from
from piiloom.taxonomy.bank_loading import bank_languages, limited, load_bank
from piiloom.taxonomy.entity_types import shipped_taxonomy
from tests.taxonomy.bank_example import MINE, written


def found(path: Path) -> list[Finding]:
    return lint_files([path], shipped_taxonomy())


def test_a_good_bank_has_no_finding(tmp_path: Path) -> None:
    assert [str(finding) for finding in found(written(tmp_path))] == []


@pytest.mark.parametrize(
    ("old", "new", "rule", "line"),
    [
        ("health-relationship.choir-bench", "relationship-health.choir-bench", "id", 2),
        ("health-relationship.choir-bench", "health-relationship.Choir_Bench", "id", 2),
        ("Choir Seats", "Choir seats in old towns", "pattern", 8),
        ("warm halls", "much too long a label", "pattern", 8),
        ("Could|May> I <sit|stay> with <mine|them>", "Could|May> people <sit|stay> with <her|them>", "person", 31),
        ('        - "At the choir my {relationship} hides {health} from the rest."\n', "", "count", 12),
        ("At the choir my", "Since {health} came", "pattern", 15),
        ("The bench is hard", "Nobody there has <ever|once> found the bench hard", "opening", 18),
        ("from a chair.", "from a chair", "sentence", 14),
        ("from a chair.", "from a chair?", "question", 14),
        ("At the choir", "At Jo’s choir", "apostrophe", 15),
        ("At the choir my", "At a <old|new> choir my", "wording", 15),
        ("Nobody there has", "nobody there has", "wording", 18),
        ("I asked the conductor", "I asked my mother", "disclosure", 24),
        ("a concert soon", "a concert in July", "disclosure", 26),
        ("a cushion on it", "a cushion for $5", "disclosure", 23),
        ("I offered to bring a chair, but the hall forbids loose furniture.", "I did.", "length", 27),
        ("<Who|What> decides <this|that> in the end?", "<Who|What> decides <this|that> in the end", "sentence", 29),
        ("<Who|What> decides <this|that> in the end?", "Who decides this? Is it <me|us|them|you>?", "question", 29),
        ("<Who|What> decides <this|that> in the end?", "<Who|What> decides on my health in the <very |>end?", "type word", 29),
        ("<Who|What> decides <this|that> in the end?", "Who decides this or that in the end?", "variants", 29),
        ("<Is|Was> a cushion <fine|allowed> for <her|him>?", "<Can|May> a singer <rest|lean> in the <row|hall>?", "repeat", 30),
        ("These days I <live|stay> in {location.city}.", "these days I <live|stay> in {location.city}.", "wording", 33),
    ],
)
def test_each_breach_is_found_by_its_rule_and_line(tmp_path: Path, old: str, new: str, rule: str, line: int) -> None:
    assert MINE.count(old) == 1
    findings = found(written(tmp_path, MINE.replace(old, new)))
    assert (rule, line) in {(finding.rule, finding.line) for finding in findings}, [str(finding) for finding in findings]


def test_a_file_that_cannot_be_read_is_one_finding(tmp_path: Path) -> None:
    assert [(f.rule, f.file) for f in found(tmp_path / "none.yaml")] == [("shape", "none.yaml")]
    assert [f.rule for f in found(written(tmp_path, "colour: red"))] == ["shape"]


def test_missing_pairs_and_frames_are_named() -> None:
    findings = list(missing_from(limited(load_bank(language="en", extra=None, taxonomy=shipped_taxonomy()), 5), shipped_taxonomy()))
    assert {f.entry for f in findings} >= {"+".join(pair) for pair in shipped_taxonomy().pairs}
    assert {f.rule for f in findings} == {"coverage"}


def test_a_finding_says_its_place(tmp_path: Path) -> None:
    finding = found(written(tmp_path, MINE.replace("from a chair.", "from a chair")))[0]
    assert str(finding) == "mine.yaml:14: scenarios[0].tells.both[1]: does not end as a sentence [sentence]"


def test_the_command_counts_and_tells_by_its_exit_code(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert bank_lint.main([str(written(tmp_path))]) == 0
    assert capsys.readouterr().out == "0 findings {}\n"
    assert bank_lint.main([str(tmp_path / "none.yaml")]) == 1
    assert "none.yaml" in capsys.readouterr().out


# English takes a quarter of a minute, and `doctor` lints it in test_doctor_cmd.py.
@pytest.mark.parametrize("language", sorted(set(bank_languages()) - {"en"}))
def test_the_shipped_banks_have_no_findings(language: str) -> None:
    assert [str(finding) for finding in lint_shipped(language)] == []
