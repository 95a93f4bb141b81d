"""The lint of stories beyond their form: what questions give away, and what comes up when they are told."""

from __future__ import annotations

from pathlib import Path

import pytest

from piiloom.generation.composer.story_lint import lint_stories, try_story
from piiloom.taxonomy.entity_types import shipped_taxonomy
from tests.taxonomy.story_example import STORY, line_of, story_of, written


def test_a_good_story_has_no_finding_and_all_of_it_comes_up(tmp_path: Path) -> None:
    assert [str(finding) for finding in lint_stories([written(tmp_path)], shipped_taxonomy())] == []
    trials = try_story(story_of(tmp_path), "en_US", taxonomy=shipped_taxonomy())
    assert set(trials.facts) == {"home", "old", "new", "start", "mate", "tie", "job", "for_"}
    assert min(trials.asked.values()) > 30
    assert not trials.spoiled


@pytest.mark.parametrize(
    ("old", "new", "rule", "said", "at"),
    [
        ("at the latest?", "in Portland, Oregon?", "leak", "a value of home", ""),
        ("with what I do?", "when I am baking, as bakers do?", "leak", "'baker', values of job", ""),
        ("I read it twice", "I wrote to rent@mill.example", "identifier", "email", ""),
        ("at the latest?", "under 415-555-0134?", "identifier", "phone", ""),
        (
            "p: 0.4\n        group: people\n        para",
            "p: 1\n        group: people\n        para",
            "trial",
            "text[4] is always told",
            "id: work\n",
        ),
        ("said: [place]", "moot: [job]", "trial", "work can be asked with no other question: with legal, job", "id: work"),
    ],
)
def test_what_comes_up_is_judged(tmp_path: Path, old: str, new: str, rule: str, said: str, at: str) -> None:
    assert STORY.count(old) == 1
    findings = lint_stories([written(tmp_path, STORY.replace(old, new))], shipped_taxonomy())
    line = line_of(at or old)
    assert any(f.rule == rule and said in f.message and f.line == line for f in findings), [str(f) for f in findings]


def test_a_question_that_makes_everything_high_is_told(tmp_path: Path) -> None:
    everything = ", ".join(f"{name}: why" for name in ("home", "old", "new", "start", "mate", "tie", "job", "for_"))
    text = STORY.replace("helps: {home: the notice is set by the state}", f"helps: {{{everything.replace('start: why, ', '')}}}")
    findings = lint_stories([written(tmp_path, text)], shipped_taxonomy())
    assert ["leave makes everything" in finding.message for finding in findings] == [True]
    assert findings[0].line == line_of("id: leave")


def test_a_story_with_faults_is_not_tried(tmp_path: Path) -> None:
    findings = lint_stories([written(tmp_path, STORY.replace("{start}, he", "{stop}, he"))], shipped_taxonomy())
    assert [finding.rule for finding in findings] == ["pattern"]
    assert [finding.rule for finding in lint_stories([tmp_path / "none.yaml"], shipped_taxonomy())] == ["shape"]
