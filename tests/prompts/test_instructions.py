"""Instructions of training sets: all render, name the types, and ask for what the formats answer with."""

from __future__ import annotations

import hashlib

import pytest

from piiloom.corpus.formats.instruction_tuning import extracting, marking, verifying
from piiloom.corpus.markers import PRIVACYAI
from piiloom.foundation.yaml_files import data_folder
from piiloom.prompts.library import open_instructions, open_library
from piiloom.taxonomy.entity_types import shipped_taxonomy
from tests.longer import case_by_case

NAMES = open_instructions().names
ABOUT = "What a pet is called."
TYPES = [{"name": "pet name", "definition": ABOUT, "marker": "pet_name", "opens": "(", "closes": ")", "about": ABOUT}]


def test_the_formats_use_all_instructions_and_no_stage_has_one_of_their_names() -> None:
    assert NAMES == ("extract", "extract_relevant", "extract_values", "mark", "mark_relevant", "mark_signs", "verify", "verify_reasoned")
    assert not set(NAMES) & set(open_library().names)


@case_by_case("name", NAMES)
def test_an_instruction_is_a_system_message_and_its_fingerprint_is_true(name: str) -> None:
    template = open_instructions().find(name)
    rendered = template.render({"types": TYPES})
    assert rendered.system
    assert rendered.user == ""
    assert (ABOUT in rendered.system) == (not name.startswith("verify") and name != "extract_values")
    assert ("pet name" in rendered.system or "pet_name" in rendered.system) == (not name.startswith("verify") and name != "mark_signs")
    assert template.id == f"{name}.v1"
    assert template.sha256 == hashlib.sha256((data_folder("prompts") / "instructions" / f"{name}.v1.j2").read_bytes()).hexdigest()


@pytest.mark.parametrize("relevance", [True, False])
def test_relevance_is_asked_for_only_where_it_has_a_meaning(relevance: bool) -> None:
    for instruction in (
        extracting(relevance=relevance, taxonomy=shipped_taxonomy()),
        marking(relevance=relevance, taxonomy=shipped_taxonomy()),
    ):
        assert ("high" in instruction) == ("question" in instruction) == relevance
        for entity_type in shipped_taxonomy().types.values():
            assert entity_type.definition in instruction


def test_the_verifiers_are_told_how_to_answer() -> None:
    assert "Answer with one letter" in verifying(reasoned=False, taxonomy=shipped_taxonomy())
    assert '"reasoning" and "answer"' in verifying(reasoned=True, taxonomy=shipped_taxonomy())


def test_signs_are_asked_for_without_relevance() -> None:
    for relevance in (True, False):
        instruction = marking(relevance=relevance, taxonomy=shipped_taxonomy(), markers=PRIVACYAI)
        assert "question" not in instruction
        assert all(f"{pair.opens}value{pair.closes}: {pair.about}" in instruction for pair in PRIVACYAI.pairs)
