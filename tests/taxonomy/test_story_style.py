"""The style of stories: each breach by its rule and line."""

from __future__ import annotations

from pathlib import Path

import pytest

from piiloom.taxonomy.bank_lint import lint_files
from piiloom.taxonomy.entity_types import shipped_taxonomy
from tests.taxonomy.story_example import STORY, line_of, written


@pytest.mark.parametrize(
    ("old", "new", "rule", "at"),
    [
        ("finance-location.choir-rent", "location-finance.choir-rent", "id", ""),
        ("voice: forum", "voice: epic", "voice", ""),
        ('"Dayton, Ohio", "Boise, Idaho"', '"Dayton, Ohio"', "values", ""),
        ("[1150, 1900, 25]", "[1150, 1200, 25]", "values", ""),
        ('["${n:,}", "${n:,} a month"]}\n      new', '["{words}"]}\n      new', "values", '["${n:,}", "${n:,} a month"]}\n      new'),
        ('          - "Somebody pushed a letter under our door."\n', "", "count", "Our <letter|notice>"),
        ("{^:tie} of mine or not, somebody has to carry", "Well, somebody has to carry", "needs", "My {tie} sings"),
        ("        with: [tie]\n", "", "order", "Nobody knows where"),
        ("{friend.he} reads", "{tie.she} reads", "order", ""),
        ("Where would {tie.she}", "{tie.she} comes. Where would {tie.she}", "capital", ""),
        ("{^:tie} of mine", "{tie} of mine", "capital", ""),
        ("I'm {a:job}", "I'm a {job}", "article", ""),
        ("for {for_}", "for {a:for_}", "article", ""),
        ("{^:tie} of mine or", "The {tie} of the the aunt or", "wording", ""),
        ("carry the chairs", "carry the chairs of a baker", "unmarked", ""),
        ("I read it twice", "I read it in July", "disclosure", ""),
        ("I read it twice", "my wife read it twice", "disclosure", ""),
        ("I read it twice", "I owed them $80", "disclosure", ""),
        ("Is he even allowed", "Okay? Is he even allowed", "question", ""),
        ("for that much more?", "for that much more.", "question", ""),
        ("a quarrel?", f"a quarrel {'on and ' * 12}on?", "length", ""),
        ("at the latest?", "about my finances?", "type word", ""),
        ("at the latest?", "before July?", "disclosure", ""),
        ("I read it twice.", "I read it twice. This is in {home}.", "tell", ""),
        ("Our <letter|notice> came and", "You asked what came. A letter, and", "tell", "Our <letter|notice>"),
        (
            '["${n:,}", "${n:,} a month"]}\n      new',
            '["${n:,}", "${n:,}.00"]}\n      new',
            "tell",
            '["${n:,}", "${n:,} a month"]}\n      new',
        ),
        ("March 1, June", "3/1/2027, June", "tell", ""),
    ],
)
def test_each_breach_is_found_by_its_rule_and_line(tmp_path: Path, old: str, new: str, rule: str, at: str) -> None:
    assert STORY.count(old) == 1
    findings = lint_files([written(tmp_path, STORY.replace(old, new))], shipped_taxonomy())
    line = line_of(at or old) - (rule in {"count", "needs"})  # of the key above the first wording
    assert (rule, line) in {(f.rule, f.line) for f in findings}, [str(f) for f in findings]


def test_a_weekday_alone_gives_nothing_away(tmp_path: Path) -> None:
    text = STORY.replace("I read it twice", "I read it on Friday, 2 of us did")
    assert lint_files([written(tmp_path, text)], shipped_taxonomy()) == []


def test_an_english_article_is_for_english(tmp_path: Path) -> None:
    findings = lint_files([written(tmp_path, STORY.replace("{friend.he}", "{friend.han}"))], shipped_taxonomy(), "sv")
    assert ("article", line_of("{a:job}")) in {(finding.rule, finding.line) for finding in findings}


def test_two_stories_share_no_sentence_question_or_opening(tmp_path: Path) -> None:
    second = STORY.replace("choir-rent", "choir-hall").removeprefix("stories:\n")
    rules = {(f.rule, f.message.split(" stands")[0]) for f in lint_files([written(tmp_path, STORY + second)], shipped_taxonomy())}
    assert rules == {("repeat", "this sentence"), ("repeat", "this question"), ("repeat", "an opening with the same 3 words")}
    written(tmp_path, "stories:\n" + second, "other.yaml")
    across = lint_files([written(tmp_path), tmp_path / "other.yaml"], shipped_taxonomy())
    assert {f.file for f in across} == {"other.yaml"}


def test_few_facts_types_and_questions_are_counted(tmp_path: Path) -> None:
    text = """\
stories:
  - id: finance-location.small
    pair: [finance, location]
    topic: small
    subtopics: [small]
    voice: forum
    cast: {writer: {}}
    facts:
      home: {type: location.city, any: [Dayton, Boise, Tulsa, Fresno, Tampa]}
      unsaid: {type: location.city, any: [Akron, Salem, Provo, Boston, Denver]}
    text:
      - say: ["I am in {home} now.", "Here in {home} it rains."]
    questions:
      - {id: wet, ask: ["How wet does it get?"], needs: {home: rain is local}}
"""
    rules = [finding.rule for finding in lint_files([written(tmp_path, text)], shipped_taxonomy())]
    assert sorted(rules) == ["count", "count", "count", "needs", "pair", "untold"]
