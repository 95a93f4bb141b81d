"""Templates: all stages have one, all render, none renders with a variable missing."""

from __future__ import annotations

import hashlib
import re

import pytest

from foundation.errors import ConfigError
from generation.pipeline import TEMPLATES
from prompts.library import find_template, render, template_names

VALUE = {"id": "v1", "text": "asthma", "type": "health", "subtype": "condition", "subject": "sister", "relevance": "high"}
VARIABLES = {
    "types": [{"name": "health", "definition": "How one is."}, {"name": "age", "definition": "How old one is."}],
    "type": {"name": "health"},
    "subtype": {"name": "condition", "definition": "An illness.", "examples": ["asthma", "gout"]},
    "count": 7,
    "topic": "night shifts",
    "subtopic": "rest breaks",
    "country": "Canada",
    "avoid": ["gout"],
    "values": [VALUE],
    "value": VALUE,
    "words": {"min": 20, "max": 35, "target": 28},
    "sentences": ["I have [[v1|asthma]]."],
    "opening": False,
    "cue_level": "implied",
    "register": "forum post",
    "language": "English",
    "situation": "I have asthma.",
    "draft": "May someone with asthma work at night?",
    "personal": "May I work at night with it?",
    "first": {"id": "v1", "text": "asthma"},
    "lead": "high",
    "text": "I have asthma.",
    "fault": None,
}


def test_every_stage_has_its_templates_and_no_template_is_orphaned():
    assert sorted(TEMPLATES) == sorted(template_names())


@pytest.mark.parametrize("name", template_names())
def test_a_template_renders_both_parts_and_its_fingerprints_are_true(name):
    template = find_template(name)
    prompt = render(template, VARIABLES)
    assert "JSON" in prompt.system
    assert prompt.user
    assert prompt.sha256 == hashlib.sha256(f"{prompt.system}\0{prompt.user}".encode()).hexdigest()
    assert re.fullmatch(rf"{name}\.v[1-9]\d*", template.id)
    assert len(template.sha256) == 64


@pytest.mark.parametrize("name", template_names())
def test_a_fault_is_told_to_the_model(name):
    prompt = render(find_template(name), VARIABLES | {"fault": "it has 12 words; 20 to 35 are wanted"})
    assert "it has 12 words; 20 to 35 are wanted" in prompt.user


@pytest.mark.parametrize("name", template_names())
def test_a_missing_variable_is_an_error_that_names_the_template(name):
    without = {"language"} if name != "span_retrieval" else {"text"}
    with pytest.raises(ConfigError, match=find_template(name).id):
        render(find_template(name), {key: value for key, value in VARIABLES.items() if key not in without})


def test_values_reach_the_prompt_unescaped():
    value = VALUE | {"text": "<5'7\"> & co"}
    assert "[[v1|<5'7\"> & co]]" in render(find_template("situation"), VARIABLES | {"values": [value]}).user


def prompt_of(name, **changes):
    return render(find_template(name), VARIABLES | changes).user


def test_only_the_newest_version_of_a_template_ships():
    # Records carry the version of the prompt that made them, so a changed prompt has a higher one.
    ids = {name: find_template(name).id for name in template_names()}
    changed = {name for name, found in ids.items() if not found.endswith(".v1")}
    assert changed == {"situation", "peripheral", "question_abstracted", "paraphrase"}


def test_texts_without_values_are_asked_to_disclose_nothing():
    nothing = "Disclose nothing personal at all"
    assert nothing in prompt_of("situation", values=[])
    assert nothing not in prompt_of("situation")
    assert "learns none" in prompt_of("question_abstracted")
    assert "learns none" not in prompt_of("question_abstracted", values=[])
    assert "be the first one that the reader meets" in prompt_of("paraphrase")
    assert "be the first one that the reader meets" not in prompt_of("paraphrase", first=None)


def test_cue_levels_and_openings_have_words_of_their_own():
    levels = [prompt_of("question_abstracted", cue_level=level) for level in ("neutral", "implied", "personal")]
    assert len(set(levels)) == 3
    assert prompt_of("peripheral", opening=True) != prompt_of("peripheral")
    assert "on behalf of somebody" in prompt_of("peripheral", opening=True)


def test_whose_fact_it_is_is_told():
    assert "(health, of the writer's sister)" in prompt_of("situation")
    assert "(health, of sister)" in prompt_of("peripheral")
    assert "(health)" in prompt_of("situation", values=[VALUE | {"subject": "self"}])


def test_an_unknown_template_is_named_with_the_known_ones():
    with pytest.raises(ConfigError, match=r"haiku.*situation"):
        find_template("haiku")
