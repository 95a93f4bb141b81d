"""Prompts of one's own: a folder of templates that stand in for shipped ones, checked before anything is asked."""

from __future__ import annotations

from pathlib import Path

import pytest

from piiloom.foundation.errors import ConfigError
from piiloom.prompts.library import open_library
from tests.prompts.prompt_variables import VARIABLES

GOOD = """{% block system %}Answer with JSON only, briefly.{% endblock %}
{% block user %}About {{ subtopic }}.{{ fault or '' }}{% endblock %}
"""
SHIPPED = open_library()


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "situation.j2").write_text(GOOD, encoding="utf-8")
    return tmp_path


def refused(folder: Path, name: str, source: str | bytes) -> str:
    """What is said of a folder with this file beside a good one."""
    (folder / name).write_bytes(source if isinstance(source, bytes) else source.encode())
    with pytest.raises(ConfigError) as caught:
        open_library(folder)
    assert caught.value.exit_code == 2
    assert caught.value.remedy
    assert str(folder / name) in str(caught.value)
    return str(caught.value)


def test_one_file_replaces_one_template(folder):
    library = open_library(folder)
    mine = library.find("situation")
    assert mine.render(VARIABLES).user == "About rest breaks."
    assert mine.render(VARIABLES).system == "Answer with JSON only, briefly."
    assert mine.id == "situation.own"
    assert mine.sha256 != SHIPPED.find("situation").sha256
    assert library.names == SHIPPED.names
    assert [name for name in library.names if library.find(name) is not SHIPPED.find(name)] == ["situation"]
    assert open_library() is SHIPPED


def test_a_version_may_be_named_and_the_newest_one_counts(tmp_path):
    for version in (3, 10, 9):
        (tmp_path / f"topics.v{version}.j2").write_text(GOOD.replace("subtopic", "types").replace("About", f"v{version}"), encoding="utf-8")
    template = open_library(tmp_path).find("topics")
    assert template.id == "topics.v10.own"
    assert template.render(VARIABLES).user.startswith("v10 ")


def test_an_edited_file_is_never_stale_and_an_untouched_one_is_not_compiled_again(folder):
    before = open_library(folder)
    assert open_library(folder) is before
    (folder / "situation.j2").write_text(GOOD.replace("About", "On"), encoding="utf-8")
    after = open_library(folder)
    assert after.find("situation").render(VARIABLES).user == "On rest breaks."
    assert after.find("situation").sha256 != before.find("situation").sha256
    # Whoever works with the first one goes on with what it began with.
    assert before.find("situation").render(VARIABLES).user == "About rest breaks."


def test_an_unchanged_copy_counts_as_the_shipped_template(folder):
    (folder / "question_draft.v7.j2").write_text(SHIPPED.find("question_draft").source, encoding="utf-8")
    assert open_library(folder).find("question_draft") is SHIPPED.find("question_draft")


def test_other_files_and_folders_are_left_alone(folder):
    (folder / "README.md").write_text("{{ no template }}", encoding="utf-8")
    (folder / "old.j2").mkdir()
    assert open_library(folder).find("situation").id == "situation.own"


def test_a_byte_order_mark_and_windows_line_ends_are_no_part_of_the_prompt(folder):
    (folder / "situation.j2").write_bytes(b"\xef\xbb\xbf" + GOOD.replace("\n", "\r\n").encode())
    assert open_library(folder).find("situation").render(VARIABLES).user == "About rest breaks."


def test_a_file_that_replaces_nothing_is_refused_with_the_known_names(folder):
    said = refused(folder, "sitaution.j2", GOOD)
    assert "there is no template sitaution" in said
    assert "situation, span_retrieval" in said


@pytest.mark.parametrize("name", ["Situation.j2", "situation-2.j2", "situation.vx.j2"])
def test_a_name_that_no_template_can_have_is_refused(folder, name):
    assert "is not named like a template" in refused(folder, name, GOOD)


def test_two_files_for_one_template_are_refused(folder):
    assert "situation.j2" in refused(folder, "situation.v9.j2", GOOD)


@pytest.mark.parametrize("block", ["system", "user"])
def test_a_missing_block_is_named(folder, block):
    said = refused(folder, "situation.j2", GOOD.replace(f"block {block}", "block other"))
    assert f"has no block {block}" in said
    assert f"Add {{% block {block} %}}" in said


def test_an_empty_file_has_no_blocks(folder):
    assert "has no block system" in refused(folder, "situation.j2", "")


def test_a_syntax_error_is_named_with_its_line(folder):
    said = refused(folder, "situation.j2", GOOD.replace("{{ subtopic }}", "\n\n{{ subtopic }"))
    assert f"{folder / 'situation.j2'}:4: is not a valid template" in said


@pytest.mark.parametrize("slip", ["{{ subtopic | nonsense }}", "{% block system %}twice{% endblock %}", "{% raw %}", "{% frobnicate %}"])
def test_other_slips_of_the_pen_are_named_with_their_line(folder, slip):
    assert f"{folder / 'situation.j2'}:4: is not a valid template" in refused(
        folder, "situation.j2", GOOD.replace("{{ subtopic }}", f"\n\n{slip}")
    )


@pytest.mark.parametrize("use", ["{{ subtopics }}", "{% if subtopics %}x{% endif %}", "{% for x in subtopics %}{% endfor %}"])
def test_an_unknown_variable_is_named_with_its_line_and_the_known_ones(folder, use):
    said = refused(folder, "situation.j2", GOOD.replace("{{ subtopic }}", f"\n\n{use}"))
    assert f"{folder / 'situation.j2'}:4: uses subtopics" in said
    assert "subtopic, topic, values, words" in said


def test_variables_of_the_templates_own_are_no_unknown_ones(folder):
    body = "{% set x = values | length %}{% for v in values %}{{ loop.index }}{{ v.text }}{% endfor %}{{ x }}{{ range(2) | list }}"
    (folder / "situation.j2").write_text(GOOD.replace("{{ subtopic }}", body), encoding="utf-8")
    assert open_library(folder).find("situation").render(VARIABLES).user == "About 1asthma1[0, 1]."


@pytest.mark.parametrize(
    "tag", ['{% extends "situation.v2.j2" %}', '{% include "x.j2" %}', '{% import "x.j2" as x %}', '{% from "x" import y %}']
)
def test_a_template_stands_alone(folder, tag):
    # What it borrowed could change without its fingerprint changing.
    assert f"{folder / 'situation.j2'}:2: includes another file" in refused(folder, "situation.j2", f"\n{tag}{GOOD}")


def test_a_template_of_somebody_elses_sees_nothing_but_its_variables(folder):
    reach = "{{ subtopic.__class__.__mro__[-1].__subclasses__() }}"
    (folder / "situation.j2").write_text(GOOD.replace("{{ subtopic }}", reach), encoding="utf-8")
    with pytest.raises(ConfigError, match=r"situation\.j2:2: cannot be rendered"):
        open_library(folder).find("situation").render(VARIABLES)


def test_a_slip_that_only_rendering_shows_is_named_with_its_line(folder):
    (folder / "situation.j2").write_text(GOOD.replace("{{ subtopic }}", "\n{{ words.minimum }}"), encoding="utf-8")
    with pytest.raises(ConfigError, match=r"situation\.j2:3: cannot be rendered: .*minimum.*Its variables: fault, words"):
        open_library(folder).find("situation").render(VARIABLES)


def test_bytes_that_are_not_utf8_are_refused(folder):
    assert "is not UTF-8" in refused(folder, "situation.j2", GOOD.encode() + b"\xff")


def test_a_folder_that_is_none_or_holds_nothing_is_refused(tmp_path):
    for folder, words in ((tmp_path / "none", "no such folder"), (tmp_path, "holds no template")):
        with pytest.raises(ConfigError, match=words) as caught:
            open_library(folder)
        assert str(folder) in str(caught.value)
    (tmp_path / "file").write_text("x", encoding="utf-8")
    with pytest.raises(ConfigError, match="no such folder"):
        open_library(tmp_path / "file")
