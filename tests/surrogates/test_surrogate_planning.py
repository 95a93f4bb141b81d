"""Mentions become people and values as their placeholders say."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from piiloom.surrogates.documents import Mention
from piiloom.surrogates.engine import apart
from piiloom.surrogates.known_names import form_of, name_parts
from piiloom.surrogates.numbered_values import NOBODY
from piiloom.surrogates.persona_assignment.groups import FEMALE, MALE, OPEN
from piiloom.surrogates.planning import Planner
from tests.longer import case_by_case

TAG = re.compile(r"<(\w+?)(\d*)>")


def mentions_of(text, **same):
    found = []
    for match in TAG.finditer(text):
        kind = {"STUDENT": "person", "TUTOR": "person", "NAME": "person", "EMAIL": "email", "DATE": "date", "CITY": "city"}[match.group(1)]
        role = match.group(1).lower() if match.group(1) in {"STUDENT", "TUTOR"} else ""
        how = "document" if role or kind != "person" else "mention"
        found.append(Mention(match.start(), match.end(), kind, role, match.group(2), how, **same))
    return found


def planned(text, language="en", **settings):
    return Planner(language, **settings).plan(text, mentions_of(text))


def test_a_role_is_one_person_and_a_general_tag_a_new_one_each_time():
    plan = planned("<STUDENT> met <NAME> and <NAME>; <TUTOR> saw <STUDENT>.")
    assert plan.owners == [0, 1, 2, 3, 0]


def test_numbers_tell_people_apart_and_join_them():
    plan = planned("<NAME1> met <NAME2>, and <NAME1> left. <STUDENT1> and <STUDENT2>")
    assert plan.owners == [0, 1, 0, 2, 3]


def test_what_belongs_to_somebody_goes_to_the_one_named_last_or_first():
    plan = planned("<EMAIL> <STUDENT> <EMAIL> <TUTOR> <EMAIL> <DATE>")
    assert plan.owners == [0, 0, 0, 1, 1, NOBODY]


def test_what_names_a_role_goes_to_that_role():
    text = "<STUDENT> <TUTOR> <EMAIL>"
    mentions = mentions_of(text)
    mentions[2] = mentions[2]._replace(role="student")
    assert Planner("en").plan(text, mentions).owners == [0, 1, 0]


def test_genders_are_told_by_the_text_and_by_roles():
    plan = planned("<STUDENT> said she was late. <TUTOR> waited. Then <NAME> lost his key.")
    assert [cluster.code for cluster in plan.clusters] == [FEMALE, OPEN, MALE]
    text = "<STUDENT> came"
    told = Planner("en").plan(text, [mentions_of(text)[0]._replace(gender="male")])
    assert told.codes == bytes([MALE])


def test_two_people_named_together_are_two():
    text = "<STUDENT> came"
    plan = Planner("en").plan(text, [mentions_of(text)[0]._replace(plural=True)])
    assert plan.codes == bytes([OPEN, OPEN])


def test_the_corpus_can_share_its_people():
    assert [c.corpus for c in planned("<STUDENT1> and <NAME>", scope="corpus").clusters] == [True, False]


@pytest.mark.parametrize(
    ("originals", "owners"),
    [
        (["Jack Smith", "Smith", "Jack", "SMITH, JACK", "Jessy Smith", "J. Smith"], [0, 0, 0, 0, 1, 2]),
        (["Wilson", "Wilson", "Mary Wilson"], [0, 0, 0]),
        (["Ann Lee", "Ann Poe", "Lee", "Poe"], [0, 1, 0, 1]),
        (["Roger C Kelly", "Kelly, MD", "Roger Kelly"], [0, 0, 0]),
    ],
)
def test_known_names_are_joined(originals, owners):
    mentions = [Mention(2 * i, 2 * i + 1, "person", original=name) for i, name in enumerate(originals)]
    plan = Planner("en").plan("x " * len(originals), mentions)
    assert plan.owners == owners


def test_a_known_given_name_tells_the_gender():
    mentions = [Mention(0, 1, "person", original="Jack Smith")]
    assert Planner("xx", genders={"jack": "male"}).plan("x", mentions).codes == bytes([MALE])


@case_by_case(
    ("original", "form"),
    [
        ("Jack Smith", "full"),
        ("OSCAR, JOHNNY", "family_given"),
        ("J. Smith", "formal"),
        ("J.S.", "initials"),
        ("Smith", ""),
        ("Dr. Smith", ""),
        ("Kim, MD", ""),
    ],
)
def test_forms_of_known_names(original, form):
    assert form_of(original) == form


def test_parts_of_known_names():
    assert name_parts("Müller-Lüdenscheidt, Renée") == (["renee"], ["muller-ludenscheidt"])
    assert name_parts("Dr. Ann M. Poe") == (["ann"], ["m", "poe"])


TEXTS = st.lists(st.sampled_from(["<STUDENT>", "<TUTOR>", "<NAME>", "<NAME1>", "<EMAIL>", "<DATE>", "she", "and.", "he"]), max_size=20).map(
    " ".join
)


@given(TEXTS, st.integers(0, 2**60), st.sampled_from([0.0, 0.4, 1.0]))
def test_strategies_keep_every_mention_and_never_join_people(text, seed, keep):
    plan = planned(text)
    parted = apart(plan, seed, keep)
    assert sorted(place for cluster in parted.clusters for place in cluster.places) == sorted(p for c in plan.clusters for p in c.places)
    source = {place: at for at, cluster in enumerate(plan.clusters) for place in cluster.places}
    for at, cluster in enumerate(parted.clusters):
        assert len({source[place] for place in cluster.places}) <= 1
        assert all(parted.owners[place] == at for place in cluster.places)
    if keep == 1.0 and not any(m.kind == "email" for m in plan.mentions):
        assert parted.owners == plan.owners
    if keep == 0.0:
        assert all(len(cluster.places) <= 1 for cluster in parted.clusters)


PAIRED = st.lists(
    st.builds(
        lambda index, plural, corpus: Mention(0, 1, "person", "sister", index, "corpus" if corpus else "document", plural=plural),
        st.sampled_from(["1", "1a", "1b", "1c", "2", "2a"]),
        st.booleans(),
        st.booleans(),
    ),
    max_size=8,
)


@given(PAIRED, st.sampled_from(["document", "corpus"]))
def test_there_is_a_code_for_each_person_that_is_cast(found, scope):
    mentions = [one._replace(start=2 * number, end=2 * number + 1) for number, one in enumerate(found)]
    plan = Planner("en", scope=scope).plan("x " * len(mentions), mentions)
    assert len(plan.codes) == sum(one.size for one in plan.clusters if not one.corpus)
