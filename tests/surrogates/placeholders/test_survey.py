"""Surveys: what is learnt, that parts make the whole, that they stay small."""

from __future__ import annotations

import pickle
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from piiloom.surrogates.placeholders import Finder, Mapping, Survey, TagRule, auto_mapping
from piiloom.surrogates.placeholders.reading import TagVerdict
from piiloom.surrogates.placeholders.scanning import ranking_of
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


@pytest.mark.parametrize("parts", [1, 2, 7])
def test_surveys_of_parts_make_the_survey_of_the_whole(parts: int) -> None:
    texts = [text for _, text in transcripts(60)] + ["[FLURB] of [X] te [Z]", "Dr. X and ABC"] * 3
    whole = auto_mapping(texts)
    size = -(-len(texts) // parts)
    ranking = ranking_of(texts)
    joined = Survey(ranking)
    for start in range(0, len(texts), size):
        part = Survey(ranking)
        for text in texts[start : start + size]:
            part.add(text)
        joined.merge(pickle.loads(pickle.dumps(part)))  # noqa: S301 - made here
    assert joined.mapping() == whole
    assert joined.documents == len(texts)


_VERDICT = TagVerdict("unknown", "")


@given(st.lists(st.integers(0, 60), max_size=200), st.lists(st.integers(0, 200), max_size=4))
def test_bounded_tallies_do_not_depend_on_how_a_corpus_is_cut(tags: list[int], cuts: list[int]) -> None:
    def tallied(numbers: list[int]) -> Tallies:
        tallies = Tallies(8)
        for number in numbers:
            tallies.add(f"[{number}]", TagTally(_VERDICT, "square", count=1, documents=1))
        return tallies

    joined = Tallies(8)
    places = sorted({0, *(min(cut, len(tags)) for cut in cuts), len(tags)})
    for start, end in pairwise(places):
        joined.merge(tallied(tags[start:end]))
    whole = tallied(tags)
    assert {family: tally.count for family, tally in joined.kept().items()} == {
        family: tally.count for family, tally in whole.kept().items()
    }
    assert (joined.total, joined.dropped) == (whole.total, whole.dropped)
    assert len(whole.kept()) <= 8


@pytest.mark.long
def test_a_survey_stays_small() -> None:
    survey = Survey()
    for number in range(3000):
        survey.add(f"[FLURB{number}A{number}] and <<PATIENT:Jo{number}>> on [**2151-7-{number % 28}**] with [some words {number}]")
    assert len(pickle.dumps(survey)) < 1_500_000
    assert len(survey.known.kept()) == 2
