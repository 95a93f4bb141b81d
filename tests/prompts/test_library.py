"""Templates: all stages have one, all render, none renders with a variable missing."""

from __future__ import annotations

import hashlib
import json
import re

import pytest

from piiloom.detection.benchmark.carrier_writing import TEMPLATE as CARRIER
from piiloom.detection.capid_detector import REFORMULATING_TEMPLATE as REFORMULATING
from piiloom.detection.capid_detector import CapidDetector
from piiloom.detection.hybrid.hybrid_detectors import HybridDetector
from piiloom.detection.marking.marking_detector import MarkingDetector
from piiloom.detection.pattern_proposals import TEMPLATE as PROPOSAL
from piiloom.detection.verifying_detector import TEMPLATE as VERDICT
from piiloom.evaluation.utility.tasks import KINDS as UTILITY
from piiloom.foundation.errors import ConfigError
from piiloom.foundation.yaml_files import data_folder
from piiloom.generation.settings.configuration import RunConfig
from piiloom.generation.stages.pipeline import JUDGES, templates_of
from piiloom.prompts.library import PromptTemplate, open_library
from piiloom.surrogates.by_model.value_requests import TEMPLATE as SURROGATE_VALUE
from tests.longer import case_by_case
from tests.prompts.prompt_variables import VALUE, VARIABLES

LIBRARY = open_library()
NAMES = LIBRARY.names


def test_every_stage_has_its_templates_and_no_template_is_orphaned():
    judges = {name for stage in JUDGES.values() for name in stage.templates}
    detection = {*HybridDetector.templates, *CapidDetector.templates, *MarkingDetector.templates, REFORMULATING, VERDICT, CARRIER, PROPOSAL}
    stages = {*templates_of(RunConfig(recipe="staged", values="llm")), *templates_of(RunConfig(recipe="case"))}
    assert sorted({*stages, *judges, *UTILITY, *detection, SURROGATE_VALUE}) == list(NAMES)


@case_by_case("name", NAMES)
def test_a_template_renders_both_parts_and_its_fingerprint_is_true(name):
    template = LIBRARY.find(name)
    prompt = template.render(VARIABLES)
    assert "JSON" in prompt.system
    assert prompt.user
    assert re.fullmatch(rf"{name}\.v[1-9]\d*", template.id)
    assert template.sha256 == hashlib.sha256((data_folder("prompts") / "templates" / f"{template.id}.j2").read_bytes()).hexdigest()


@case_by_case("name", NAMES)
def test_the_system_prompt_is_the_same_whatever_is_asked(name):
    other = VARIABLES | {"language": "Dutch", "fault": "it has 12 words", "values": [], "facts": [], "count": 3}
    assert LIBRARY.find(name).render(VARIABLES).system == LIBRARY.find(name).render(other).system


@case_by_case("name", NAMES)
def test_a_fault_is_told_to_the_model(name):
    prompt = LIBRARY.find(name).render(VARIABLES | {"fault": "it has 12 words; 20 to 35 are wanted"})
    assert "it has 12 words; 20 to 35 are wanted" in prompt.user


@case_by_case("name", NAMES)
def test_a_missing_variable_is_an_error_that_names_template_line_and_variable(name):
    template = LIBRARY.find(name)
    for missing in template.variables:
        with pytest.raises(ConfigError, match=rf"{template.id}:\d+: .*'{missing}' is undefined"):
            template.render({key: value for key, value in VARIABLES.items() if key != missing} | told_of(missing))


def told_of(missing: str) -> dict[str, object]:
    """What has a template use *missing* at all."""
    return {"cue_level": "neutral"} if missing == "language" else {}


def test_values_reach_the_prompt_unescaped():
    value = VALUE | {"text": "<5'7\"> & co"}
    assert "[[v1|<5'7\"> & co]]" in LIBRARY.find("situation").render(VARIABLES | {"values": [value]}).user


def prompt_of(name, **changes):
    return LIBRARY.find(name).render(VARIABLES | changes).user


def test_only_the_newest_version_of_a_template_ships():
    # Records carry the version of the prompt that made them, so a changed prompt has a higher one.
    changed = {name for name in NAMES if not LIBRARY.find(name).id.endswith(".v1")}
    case = {"case_sheet", "case_questions", "case_post", "case_question", "case_audit", "case_plain"}
    assert changed == {"situation", "peripheral", "question_abstracted", "paraphrase", "utility_answer", "utility_judge_pair", *case}


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
        LIBRARY.find("haiku")


def made(body: str, system: str = "s") -> PromptTemplate:
    return PromptTemplate("t.v1", f"{{% block system %}}{system}{{% endblock %}}\n{{% block user %}}\n{body}{{% endblock %}}", where="t.v1")


def test_a_text_inside_a_json_string_stays_there():
    text = "\"}] \n {{ x }} <b>'&\u2028"
    prompt = made('{"post": {{ post | as_json }}}').render({"post": text})
    assert json.loads(prompt.user) == {"post": text}
    with pytest.raises(ConfigError, match="'post' is undefined"):
        made("{{ post | as_json }}").render({})


def test_a_system_block_with_variables_follows_them():
    template = made("u", "You write {{ language }}.")
    assert [template.render({"language": name}).system for name in ("Dutch", "Thai")] == ["You write Dutch.", "You write Thai."]


def test_an_expression_that_fails_is_named_with_its_line_and_without_the_text():
    with pytest.raises(ConfigError, match=r"t\.v1:4: cannot be rendered: TypeError") as caught:
        made("first\n{% for x in [1] %}{{ text + 1 }}{% endfor %}").render({"text": "my asthma"})
    assert "asthma" not in str(caught.value)
