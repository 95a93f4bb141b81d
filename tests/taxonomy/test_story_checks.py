"""Stories that cannot be told, each with the line at which it is said."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from piiloom.foundation.errors import ConfigError
from piiloom.generation.composer.telling import tell
from piiloom.taxonomy.bank_lint import lint_files
from piiloom.taxonomy.bank_loading import load_bank
from piiloom.taxonomy.entity_types import shipped_taxonomy
from piiloom.taxonomy.stories import NO_PAIR, Counted, InRows
from piiloom.taxonomy.story_bank import load_stories, read_stories, stories_for
from tests.taxonomy.story_example import STORY, line_of, story_of, written


def test_a_good_story_has_no_finding(tmp_path: Path) -> None:
    assert [str(finding) for finding in lint_files([written(tmp_path)], shipped_taxonomy())] == []


def test_a_story_is_read_as_written(tmp_path: Path) -> None:
    story = story_of(tmp_path)
    assert (story.pair, story.origin) == (("finance", "location"), "mine.yaml:2")
    assert list(story.facts) == ["home", "old", "new", "start", "mate", "tie", "job", "for_"]
    assert story.facts["mate"].person == "friend"
    assert story.facts["for_"].source == InRows("duo", 1)
    assert isinstance(story.facts["new"].source, Counted)
    assert story.steps[2].wordings[0].tells == {"mate", "home"}
    assert story.steps[2].wordings[0].agreements == (("friend", "he"),)
    assert story.questions[1].decides("home")
    assert not story.questions[1].decides("old")


# What is said elsewhere than where it was broken: at the other end of a name.
ELSEWHERE = {
    "two facts are called 'old'": "facts:",
    "not every value of tie has the key 'she'": "Nobody knows where {tie.she}",
    "no step has the id": "said: [place]",
    "two questions": "questions:",
}


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("[location, finance]", "[finance, finance]", "two different types"),
        ("[location, finance]", "[location, money]", "unknown type 'money'"),
        ("age: [24, 49]", "age: [49, 24]", "[youngest, oldest]"),
        ("friend: {gender: female}", "home: {}", "a person and a fact"),
        ("location.city_region", "location.cities", "did you mean"),
        ("location.city_region", "city", "as type.subtype"),
        ("of: friend", "of: enemy", "is not in the cast"),
        ("name.first_name, of: friend", "name.first_name", "nothing says what its values are"),
        ("name.first_name, of: friend", "name.first_name, draw: true, any: [Jo]", "any and draw"),
        ("[1150, 1900, 25]", "[1900, 1150, 25]", "low to high"),
        ("[1150, 1900, 25]", "[0, 1000000000, 0.1]", "steps"),
        ('"${n:,}", "${n:,} a month"]}\n      new', '"$1,200"]}\n      new', "holds {n}"),
        ('"${n:,}", "${n:,} a month"]}\n      new', '"{n} {n!r}"]}\n      new', "no other slot"),
        ("of: old, times: [1.1, 1.2]", "of: old, times: [1000000]", "can grow beyond"),
        ("of: old, times: [1.1, 1.2]", "of: start, times: [1.1]", "not a fact with a number"),
        ("of: old, times: [1.1, 1.2]", "of: new, times: [1.1]", "itself"),
        ("of: old, times: [1.1, 1.2]", "of: old", "either times or plus"),
        ("{t: aunt, she: she}", "{she: she}", "no key 't'"),
        ("[baker, four years]", "[baker]", "has 2 columns"),
        ("[baker, four years]", "[baker, four <years]", "never closed"),
        ("[baker, four years]", '[baker, "four {n} years"]', "no slots"),
        ("{t: aunt, she: she}", "{t: aunt}", "not every value of tie has the key 'she'"),
        ("for_: datetime.duration", "old: datetime.duration", "two facts are called 'old'"),
        ("Our <letter|notice> came", "Our <letter|notice came", "never closed"),
        ("Somebody pushed a letter under our door.", "<A letter.|>", "no text at all"),
        ("six years|eleven years>", "six years|>", "no text at all"),
        ("on {start}, he writes", "on {day}, he writes", "not a fact of this story"),
        ("on {start}, he writes", "on <{start}|a day>, he writes", "some of the alternatives"),
        ("{friend.he} reads", "{friend.she} reads", "a person has"),
        ("{friend.he} reads", "{fiend.he} reads", "neither a fact nor"),
        ("with: [tie]", "with: [ties]", "not a fact of this story"),
        ("id: place", "id: places", "no step has the id"),
        ("needs: {start: it is", "needs: {begin: it is", "not a fact of this story"),
        ("helps: {home: the notice", "helps: {start: the notice", "needed already"),
        ("needs: {start: it is counted back from that day}", "needs: {}", "at least one fact"),
        ("tell him at the latest", "tell {mate} at the latest", "no slots"),
        ("id: leave", "id: legal", "two questions"),
        ("[location, finance]", "[]", "two different types"),
        ("text:\n", "likes: {order: {type: order, any: [A-1]}}\n    text:\n", "a look-alike is one of"),
        ("text:\n", "likes: {order: {type: order_number, of: friend}}\n    text:\n", "a list (any) or a number"),
        ("text:\n", "likes: {home: {type: placeholder, any: [Jane Doe]}}\n    text:\n", "rename one"),
    ],
)
def test_each_fault_is_told_with_its_line(tmp_path: Path, old: str, new: str, said: str) -> None:
    assert STORY.count(old) == 1
    path = written(tmp_path, STORY.replace(old, new))
    findings = [finding for finding in lint_files([path], shipped_taxonomy()) if finding.rule == "pattern"]
    line = line_of(ELSEWHERE.get(said, old))
    assert any(finding.line == line and said in finding.message for finding in findings), [str(finding) for finding in findings]
    with pytest.raises(ConfigError):
        read_stories(path, shipped_taxonomy())
    with pytest.raises(ConfigError):
        load_bank("en", path, taxonomy=shipped_taxonomy())


PLAIN = """\
stories:
  - id: plain.printer
    pair: []
    topic: printers
    subtopics: [blank pages]
    voice: forum
    likes:
      hero: {type: public_figure, any: [{t: Ada Lovelace, she: she}, {t: Alan Turing, she: he}]}
      old: {type: version_number, number: [1, 9], as: ["{n}.0", "{n}.1"]}
      new: {type: version_number, number: {of: old, plus: [1, 2]}, as: ["{n}.0"]}
    text:
      - say: ["{hero} would give up on {new} here, though {hero.she} liked {old}."]
    questions:
      - {id: back, ask: ["Is there a way back?"]}
      - {id: wait, ask: ["Is it worth the wait?"]}
"""


def test_a_plain_story_has_lookalikes_and_no_facts(tmp_path: Path) -> None:
    story = story_of(tmp_path, PLAIN)
    assert (story.pair, [*story.likes], story.steps[0].wordings[0].tells) == (NO_PAIR, ["hero", "old", "new"], frozenset())
    assert {finding.rule for finding in lint_files([tmp_path / "mine.yaml"], shipped_taxonomy())} == {"count", "values"}
    told = tell(story, random.Random(3), shipped_taxonomy(), habits=False)
    assert [kind for kind, _ in told.lookalikes] == ["public_figure", "version_number", "version_number"]
    assert (told.spans, all(text in told.text for _, text in told.lookalikes), told.questions[0].high) == ((), True, {})
    with pytest.raises(ConfigError, match="a story of a pair has facts"):
        read_stories(written(tmp_path, PLAIN.replace("[]", "[health, age]", 1)), shipped_taxonomy())


def test_numbers_that_run_in_a_ring_are_told(tmp_path: Path) -> None:
    ring = STORY.replace("[1150, 1900, 25]", "{of: new, plus: [5]}")
    findings = lint_files([written(tmp_path, ring)], shipped_taxonomy())
    assert [finding.line for finding in findings if "itself" in finding.message] == [10, 11]


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("voice: forum", "voice: forum\n    eval: __import__('os')"),
        ("[1150, 1900, 25]", "'1150 if 1 else 2'"),
        ("p: 0.5", "p: 2"),
        ("any: [March 1", "any: [2026-03-01"),
        ("times: [1.1, 1.2]", "times: [.inf]"),
    ],
)
def test_what_is_no_story_is_one_finding(tmp_path: Path, old: str, new: str) -> None:
    path = written(tmp_path, STORY.replace(old, new, 1))
    assert [finding.rule for finding in lint_files([path], shipped_taxonomy())] == ["shape"]


@pytest.mark.long
def test_own_stories_join_those_that_ship(tmp_path: Path) -> None:
    path = written(tmp_path)
    found = load_stories("en", path, taxonomy=shipped_taxonomy())
    assert "finance-location.choir-rent" in found
    assert len(found) == len(load_stories("en", extra=None, taxonomy=shipped_taxonomy())) + 1
    load_bank("en", path, taxonomy=shipped_taxonomy())  # a bank may hold nothing but stories
    written(tmp_path, name="twice.yaml")
    with pytest.raises(ConfigError, match="is taken by"):
        load_stories("en", tmp_path, taxonomy=shipped_taxonomy())


def test_a_language_without_stories_has_none() -> None:
    assert stories_for(("finance", "location"), "xx") == ()
    assert load_stories("xx", extra=None, taxonomy=shipped_taxonomy()) == {}
