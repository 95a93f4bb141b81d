"""Only the sentence of the placeholder leaves: borders, tags, known originals, and nothing else of the document."""

from __future__ import annotations

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from piiloom.prompts.library import open_library
from piiloom.surrogates.by_model.value_requests import BY_MODEL, REACH, TEMPLATE, CallTerms, model_kinds, requests_of, sentence_of
from piiloom.surrogates.documents import Document, Mention
from piiloom.surrogates.kinds.kind import KINDS
from piiloom.surrogates.planning import Planner
from tests.longer import case_by_case, examples
from tests.surrogates.by_model.model_runs import mentions_of

TERMS = CallTerms(template=open_library().find(TEMPLATE), seed=1, language="en", country="US", attempts=3)


def sentence(text, number=0, *, known=False):
    return tuple(sentence_of(text, mentions_of(text), number, known=known))


def requests(text, mentions=None, *, scope="document"):
    found = mentions_of(text) if mentions is None else mentions
    document = Document(0, "d", text, "memory.txt", None, None if mentions is None else tuple(mentions))
    return list(requests_of(document, Planner("en", scope=scope).plan(text, found), "en"))


@case_by_case(
    ("text", "wanted"),
    [
        ("Hi. I work at <COMPANY>. It pays.", ("I work at ", "<COMPANY>", ".")),
        ("What? At <COMPANY> we laughed! Then", ("At ", "<COMPANY>", " we laughed!")),
        ("one line\nat <COMPANY>, yes\nnext", ("at ", "<COMPANY>", ", yes")),
        ("a\tat <COMPANY>\tb", ("at ", "<COMPANY>", "")),
        ("Bye.<COMPANY> is closed.So am I", ("", "<COMPANY>", " is closed.")),
        ("Dr. Who of <COMPANY> costs 3.50 a day", ("Dr. Who of ", "<COMPANY>", " costs 3.50 a day")),
        ("He said “go.” Now <COMPANY> (est. in May) left", ("Now ", "<COMPANY>", " (est.")),
        ("走吧。在 <COMPANY> 工作。好", ("在 ", "<COMPANY>", " 工作。")),
        ("<COMPANY>", ("", "<COMPANY>", "")),
    ],
)
def test_a_sentence_ends_where_it_ends_and_rather_too_early(text, wanted):
    assert sentence(text) == wanted


def test_other_placeholders_of_the_sentence_stay_as_they_are():
    assert sentence("Old. <NAME> left <COMPANY> for <SCHOOL2>. <NAME> cried.", 1) == ("<NAME> left ", "<COMPANY>", " for <SCHOOL2>.")


def test_what_was_there_is_never_shown_where_it_is_known():
    text = "Anna left Acme for Zenith."
    given = [Mention(0, 4, "person", original="Anna"), Mention(10, 14, "company", original="Acme"), Mention(19, 25, "company")]
    assert tuple(sentence_of(text, given, 1, known=True)) == ("[person] left ", "[company]", " for [company].")
    named = "I met <<PATIENT:Jo Day>> at <COMPANY>"
    found = [Mention(6, 24, "person", original="Jo Day"), Mention(28, 37, "company")]
    assert tuple(sentence_of(named, found, 1, known=False)) == ("I met [person] at ", "<COMPANY>", "")


def test_without_borders_the_reach_is_limited_and_words_are_whole():
    text = "word " * 100 + "<COMPANY>" + " term" * 100
    before, _, after = sentence(text)
    assert len(before) <= REACH
    assert len(after) <= REACH
    assert set(before.split()) == {"word"}
    assert set(after.split()) == {"term"}
    assert len(before) > REACH - 6


def test_a_mention_across_the_limit_is_left_out_whole():
    text = f"<NAME{'1' * 30}>" + "x" * (REACH - 10) + "<COMPANY>" + "y" * (REACH - 10) + f"<NAME{'2' * 30}>"
    assert sentence(text, 1) == ("x" * (REACH - 10), "<COMPANY>", "y" * (REACH - 10))


def test_kinds_are_wordy_ones_that_are_described():
    assert frozenset(model_kinds().kinds) == BY_MODEL <= set(KINDS)
    assert not BY_MODEL & {"person", "email", "date", "age", "city", "nationality", "gender", "kin", "title", "national_id"}


def test_one_value_is_one_request():
    found = requests("At <COMPANY1> and <COMPANY2>. Then <COMPANY1> again, <SCHOOL>, <EMAIL>.")
    assert [(one.kind, one.numbers, one.item_id) for one in found] == [
        ("company", (0,), "0/v1"),
        ("company", (1,), "0/v2"),
        ("school", (2,), "0/v3"),
    ]


def test_what_belongs_to_one_person_is_one_value_and_what_the_corpus_shares_is_left_to_code():
    text = "<STUDENT1> is a <JOB>. As a <JOB> one works."
    found = [Mention(0, 10, "person", "student", "1"), *(Mention(at, at + 5, "occupation", same="mention") for at in (16, 28))]
    (one,) = requests(text, found)
    assert len(one.numbers) == 2
    assert requests(text, found, scope="corpus") == []


def test_a_lone_surrogate_is_not_sent():
    assert requests("\ud800 at <COMPANY>") == []


def test_proposed_letters_suit_the_article():
    for number in range(30):
        (one,) = requests(f"It is an <COMPANY{number or ''}>.")
        assert set(one.letters(number, "en")) <= set("AEIO")
    (one,) = requests("It is a <COMPANY>.")
    assert not set(one.letters(1, "en")) & set("AEIOU")
    assert one.letters(1, "ja") == []


ENDINGS = st.sampled_from([". ", "! ", "?\n", ".\n\n", "\n", "… ", ".” ", "。", ".\t"])
PIECES = st.lists(st.sampled_from(["w", "W", "<COMPANY>", "<NAME>", "<SCHOOL1>", ",", "3.5", "(w"]), min_size=1, max_size=12)


@pytest.mark.long
@settings(max_examples=examples(300))
@given(st.lists(st.tuples(PIECES, ENDINGS), min_size=1, max_size=8))
def test_no_request_holds_anything_of_another_sentence(parts):
    """Each word carries the number of its sentence."""
    text = ""
    for number, (pieces, ending) in enumerate(parts):
        text += " ".join(f"{piece}q{number}z" if piece in {"w", "W", "(w"} else piece for piece in pieces) + ending
    blank = TERMS.template.render({**TERMS.call(requests("<COMPANY>")[0], 0, None).variables, "fault": None})
    for request in requests(text):
        own = text[: request.start].count("z")
        messages = TERMS.call(request, 0, None).render()
        words = set(re.findall(r"\w+q(\d+)z", "".join(message.content for message in messages)))
        assert len(words) <= 1, (own, text)
        if words:
            sentences = [set(re.findall(r"q(\d+)z", piece)) for piece in re.split(r"(?<=[.!?…。])|[\n\t]", text)]
            assert words in sentences
        sent = request.sentence
        assert messages[0].content == blank.system
        assert len(sent.before) <= REACH + 80
        assert "\n" not in "".join(sent)
        assert "".join(sent) in text
