"""Templates: all stages have one, all render, none renders with a variable missing."""

from __future__ import annotations

import hashlib

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
    "words": {"min": 20, "max": 35},
    "register": "forum post",
    "language": "English",
    "situation": "I have asthma.",
    "draft": "May someone with asthma work at night?",
    "personal": "May I work at night with it?",
    "sentences": ["I have [[v1|asthma]]."],
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
    assert template.id == f"{name}.v1"
    assert len(template.sha256) == 64


@pytest.mark.parametrize("name", template_names())
def test_a_fault_is_told_to_the_model(name):
    prompt = render(find_template(name), VARIABLES | {"fault": "it has 12 words; 20 to 35 are wanted"})
    assert "it has 12 words; 20 to 35 are wanted" in prompt.user


@pytest.mark.parametrize("name", template_names())
def test_a_missing_variable_is_an_error_that_names_the_template(name):
    without = {"language"} if name != "span_retrieval" else {"text"}
    with pytest.raises(ConfigError, match=f"{name}.v1"):
        render(find_template(name), {key: value for key, value in VARIABLES.items() if key not in without})


def test_values_reach_the_prompt_unescaped():
    value = VALUE | {"text": "<5'7\"> & co"}
    assert "[[v1|<5'7\"> & co]]" in render(find_template("situation"), VARIABLES | {"values": [value]}).user


def test_an_unknown_template_is_named_with_the_known_ones():
    with pytest.raises(ConfigError, match=r"haiku.*situation"):
        find_template("haiku")
