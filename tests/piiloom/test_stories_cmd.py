"""``piiloom stories``: check and show; ``doctor --bank`` with stories."""

from __future__ import annotations

import json

import pytest

from tests.taxonomy.story_example import STORY, written


def test_check_says_that_nothing_is_wrong(cli, tmp_path):
    outcome = cli("stories", "check", written(tmp_path))
    assert (outcome.code, outcome.out, outcome.err) == (0, "no findings\n", "")


def test_check_tells_each_finding_in_a_line(cli, tmp_path):
    path = written(tmp_path, STORY.replace("{start}, he", "{stop}, he"))
    outcome = cli("stories", "check", path)
    assert outcome.code == 1
    assert outcome.out.splitlines()[0].startswith("mine.yaml:28: stories[0].text[1].say[0]: {stop} is not a fact of this story")
    assert outcome.out.splitlines()[-1] == "1 finding"
    found = json.loads(cli("stories", "check", path, "--json").out)["findings"]
    assert [(one["rule"], one["line"]) for one in found] == [("pattern", 28)]


def test_show_prints_texts_with_their_questions(cli, tmp_path):
    outcome = cli("stories", "show", "--bank", written(tmp_path), "-n", 2, "--seed", 3)
    assert (outcome.code, outcome.err) == (0, "")
    assert outcome.out.startswith("finance-location.choir-rent (forum), text 1 of seed 3\n")
    assert outcome.out.count("  → ") == 4
    assert "     H  " in outcome.out
    assert "     l  " in outcome.out
    assert outcome.out == cli("stories", "show", "--bank", written(tmp_path), "-n", 2, "--seed", 3).out


def test_show_gives_programs_exact_offsets(cli, tmp_path):
    written(tmp_path)
    rows = json.loads(cli("stories", "show", "finance-location.choir-rent", "--bank", tmp_path, "-n", 5, "--json").out)
    assert len(rows) == 5
    for row in rows:
        assert [row["text"][span["start"] : span["end"]] for span in row["spans"]] == [span["text"] for span in row["spans"]]
        assert len(row["questions"]) == 2


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("check", "none.yaml"), "there is no none.yaml"),
        (("show", "--bank", "none.yaml"), "there is no none.yaml"),
        (("show", "a-b.c", "--bank", "mine.yaml"), "There are 1, such as finance-location.choir-rent"),
        (("show", "--bank", "empty.yaml"), "there are no stories"),
        (("show", "--language", "xx"), "the composer does not write 'xx'"),
        (("check", "mine.yaml", "--language", "xx"), "the composer does not write 'xx'"),
    ],
)
def test_what_cannot_be_is_refused_in_one_line(cli, tmp_path, monkeypatch, words, said):
    written(tmp_path)
    written(tmp_path, "stories: []\n", "empty.yaml")
    monkeypatch.chdir(tmp_path)
    outcome = cli("stories", *words)
    assert (outcome.code, outcome.out) == (2, "")
    assert said in outcome.err
    assert outcome.err.count("\n") == 1


@pytest.mark.long
def test_doctor_lints_stories_of_a_bank(cli, tmp_path):
    assert cli("doctor", "--bank", written(tmp_path)).code == 0
    bad = cli("doctor", "--bank", written(tmp_path, STORY.replace("with what I do?", "as bakers do?")), "--json")
    found = json.loads(bad.out)
    assert (bad.code, found["usable"]) == (0, True)
    assert [finding["rule"] for finding in found["findings"]] == ["leak"]
