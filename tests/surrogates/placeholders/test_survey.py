"""Surveys: what is learnt, that parts make the whole, that they stay small."""

from __future__ import annotations

import pickle
import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from piiloom.surrogates.placeholders import Finder, Mapping, Survey, TagRule, auto_mapping
from piiloom.surrogates.placeholders.reading import TagVerdict
from piiloom.surrogates.placeholders.survey import TagTally, Tallies
from tests.surrogates.transcripts import OTHER_TAGS, transcripts


def rule(mapping: Mapping, tag: str) -> TagRule:
    return next(rule for rule in mapping.rules if rule.tag == tag)


def test_a_corpus_of_transcripts_is_learnt_whole() -> None:
    texts = [text for _, text in transcripts()]
    mapping = auto_mapping(texts)
    assert {rule.tag for rule in mapping.rules} == {"<STUDENT>", "<TUTOR>", *OTHER_TAGS}
    assert all(rule.use and rule.confidence > 0.9 for rule in mapping.rules)
    assert mapping.unknown == ()
    assert {noted.tag for noted in mapping.left_alone} == {
        "[i]",
        "({number})",
        "<b>",
        "({text})",
        "<int>",
        "<br>",
        "[...]",
        "[sic]",
        "[{number}]",
        "[]",
        "<string>",
        "<https:>",
    }
    student = rule(mapping, "<STUDENT>")
    assert (student.kind, student.role, student.same, student.documents) == ("person", "student", "document", 260)
    finder = Finder(mapping)
    for text in texts:
        found = finder.find(text)
        assert sum(text.count(tag) for tag in ("<STUDENT>", "<TUTOR>", *OTHER_TAGS)) == len(found.mentions)
        assert found.unknown == []


def test_numbered_families_are_one_rule() -> None:
    mapping = auto_mapping(["[appellant sub 1] en [appellant sub 14A] te [a-straat 1] en [b-straat 22], [NAME_1], [NAME_02], [PERSON 1's]"])
    assert [(r.tag, r.count, r.index) for r in mapping.rules] == [
        ("[NAME_{index}]", 2, ""),
        ("[appellant sub {index}]", 2, ""),
        ("[{index}-straat {number}]", 2, ""),
        ("[PERSON {index}'s]", 1, ""),
    ]


def test_a_learnt_mapping_finds_the_same_indexes() -> None:
    text = "[appellant sub 14 A] te [b-straat 22], [NAME_02], <<PATIENT:Jo>> en <<AGE:77>>, Dr. X, [**Hospital1 12**] [**2151-7-16**]"
    mapping = auto_mapping([text])
    learnt, read = Finder(mapping).find(text), Finder(Mapping(languages=mapping.languages)).find(text)
    assert [m._replace(rule="") for m in learnt.mentions] == [m._replace(rule="") for m in read.mentions]
    assert len(learnt.mentions) == 8


def test_context_raises_the_confidence_of_unsure_forms() -> None:
    plain = auto_mapping(["The (AGE) of it."])
    told = auto_mapping(["He is (AGE) years old."])
    assert not rule(plain, "(AGE)").use
    assert rule(told, "(AGE)").use


def test_acronyms_of_a_corpus_are_not_touched() -> None:
    mapping = auto_mapping(["HTN and MRI, CPAP at night, ABC of resuscitation.", "The ABCs. MRI."])
    assert [r.tag for r in mapping.rules if r.use] == []
    used = auto_mapping(["Dr. XYZ works at ABCD General Hospital.", "Presents to ABCD General Hospital with HTN."])
    assert {r.tag for r in used.rules if r.use} == {"Dr. {letter}", "ABCD"}


def test_letters_are_people_unless_a_place_is_spoken_of() -> None:
    mapping = auto_mapping(["mevrouw [X], wonende te [Z], heeft", "De heer [X] te [Z]", "over [A] gesproken"])
    assert [(r.tag, r.kind, r.use) for r in mapping.rules] == [("[X]", "person", True), ("[Z]", "city", True), ("[A]", "person", True)]
    assert rule(mapping, "[A]").confidence == 0.6  # of itself it would not be used, but the other letters are


def test_letters_that_hardly_anything_confirms_are_all_left_alone() -> None:
    mapping = auto_mapping([*["answer [A] or [B] or [C]"] * 9, "mevrouw [X] kwam"])
    assert {rule.use for rule in mapping.rules} == {False}


def test_unknown_tags_are_listed_with_examples() -> None:
    mapping = auto_mapping(["See [FLURB] and [FLURB_2] here.", "[FLURB] " + "het [bedrijfsvermogen] " * 5])
    assert [(n.tag, n.count, n.documents) for n in mapping.unknown] == [
        ("[bedrijfsvermogen]", 5, 1),
        ("[FLURB]", 2, 2),
        ("[FLURB_{index}]", 1, 1),
    ]
    assert mapping.unknown[1].examples == ("See [FLURB] and [FLURB_2] here.", "[FLURB] het [bedrijfsvermogen] het [b…")
    assert all(noted.why for noted in mapping.unknown)


_VERDICT = TagVerdict("unknown", "")


@given(st.lists(st.integers(0, 60), max_size=200), st.randoms(use_true_random=False))
def test_bounded_tallies_do_not_depend_on_the_order_of_a_corpus(tags: list[int], rng: random.Random) -> None:
    def tallied(numbers: list[int]) -> dict[str, int]:
        tallies = Tallies(8)
        for number in numbers:
            tallies.add(f"[{number}]", TagTally(_VERDICT, "square", count=1))
        return {family: tally.count for family, tally in tallies.kept().items()}

    whole = tallied(tags)
    assert tallied(rng.sample(tags, len(tags))) == whole
    assert all(count == tags.count(int(family[1:-1])) for family, count in whole.items())
    assert len(whole) == min(8, len(set(tags)))


@pytest.mark.long
def test_a_survey_stays_small() -> None:
    survey = Survey()
    for number in range(3000):
        survey.add(f"[FLURB{number}A{number}] and <<PATIENT:Jo{number}>> on [**2151-7-{number % 28}**] with [some words {number}]")
    assert len(pickle.dumps(survey.tallies)) < 1_500_000
    assert len(survey.tallies["known"].kept()) == 2
