"""One document out of several versions, span by span, and where versions differ as it is shown."""

from __future__ import annotations

import random
import re
from html import unescape

import pytest
from document_making import make_document
from hypothesis import given, settings
from hypothesis import strategies as st
from project_stories import added, changed, document, record, without

from piiloom.annotation_app.adjudication.versions import assembled, differing, most_common_owner, overlaps, picked_spans, span_choices
from piiloom.annotation_app.documents.document import EditedDocument, document_of
from piiloom.annotation_app.figures.spans import compared_spans
from piiloom.annotation_app.screens.showing import marked_html
from piiloom.foundation.errors import UsageError
from tests.longer import case_by_case, examples


def made_by(**marks: object) -> dict[str, EditedDocument]:
    """The first record as several people have it."""
    base = document_of(record(1))
    return {
        who: EditedDocument(context=base.context, question=base.question, marks=tuple(change(list(base.marks))))  # type: ignore[operator]
        for who, change in marks.items()
    }


def test_spans_are_chosen_one_by_one() -> None:
    held = made_by(ada=without("s4"), bob=changed("s1", entity_type="education"), cid=added(0, 2))
    among = span_choices(held, "ada")
    assert [choice.agreed for choice in among.choices] == [False, False, True, True, False]
    assert [choice.options["bob"] and choice.options["bob"].entity_type for choice in among.choices] == [
        None, "education", "health", "location", "age",
    ]  # fmt: skip
    made = assembled(among, question_from="bob", picks={0: "cid", 1: "bob", 4: None})
    assert [(m.start, m.entity_type) for m in made.marks] == [(0, "name"), (5, "education"), (16, "health"), (28, "location")]
    assert made.question == "Which forms?"
    with pytest.raises(UsageError, match="still open"):
        assembled(among, question_from="ada", picks={0: None, 1: "bob"})
    for question, picks in (("ada", {0: None, 1: "eva", 4: None}), ("eva", {0: None, 1: None, 4: None})):
        with pytest.raises(UsageError, match="no version"):
            assembled(among, question_from=question, picks=picks)
    with pytest.raises(UsageError, match="no version"):
        span_choices(held, "eva")


def test_an_agreed_span_can_be_left_out() -> None:
    held = made_by(ada=list, bob=without("s4"))
    made = assembled(span_choices(held, "ada"), question_from="ada", picks={1: None, 3: "ada"})
    assert [mark.id for mark in made.marks] == ["s1", "s3", "s4"]


def test_spans_that_overlap_are_told_and_cannot_be_had_together() -> None:
    held = {
        "ada": document("x" * 20, (0, 5, "age", "low"), (5, 9, "name", "low")),
        "bob": document("x" * 20, (2, 9, "code", "low")),
    }
    among = span_choices(held, "ada")
    assert [{who: mark and mark.start for who, mark in one.options.items()} for one in among.choices] == [
        {"ada": 0, "bob": None}, {"ada": 5, "bob": 2},
    ]  # fmt: skip
    ((one, other),) = overlaps(picked_spans(among, {0: "ada", 1: "bob"}))
    assert (one.end, other.start) == (5, 2)
    with pytest.raises(UsageError, match="overlap"):
        assembled(among, question_from="ada", picks={0: "ada", 1: "bob"})


def test_spans_follow_the_text_that_was_chosen_and_ids_stay_unique() -> None:
    held = {
        "ada": document("Hm, Ann has asthma.", (12, 18, "health", "high")),
        "bob": document("Ann has asthma.", (0, 3, "name", "low"), (8, 14, "health", "high")),
    }
    among = span_choices(held, "ada")
    assert [one.agreed for one in among.choices] == [False, True]
    made = assembled(among, question_from="ada", picks={0: "bob"})
    assert [(made.context[m.start : m.end], m.id) for m in made.marks] == [("Ann", "s0"), ("asthma", "s0-2")]


def test_spans_whose_text_is_not_there_are_named_and_those_that_read_otherwise_are_in_doubt() -> None:
    held = {
        "ada": document("Ann has asthma.", (8, 14, "health", "high")),
        "bob": document("Annabel has asthma and a cat.", (0, 7, "name", "low"), (25, 28, "other", "low")),
    }
    among = span_choices(held, "ada")
    assert {who: [mark.start for mark in marks] for who, marks in among.unfit.items()} == {"bob": [25]}
    name = among.choices[0].options["bob"]
    assert name is not None
    assert (name.start, name.end, name.doubt) == (0, 3, True)
    assert span_choices(held, "bob").unfit == {}
    assert (
        [choice.key for choice in among.choices] == ["bob-s0", "ada-s0"] == [choice.key for choice in span_choices(held, "bob").choices][:2]
    )


def test_the_way_of_most_people_comes_first() -> None:
    held = made_by(ada=without("s1"), bob=list, cid=list)
    (choice,) = [choice for choice in span_choices(held, "ada").choices if not choice.agreed]
    assert list(choice.variants.values()) == [["bob", "cid"], ["ada"]]
    assert most_common_owner({"ada": "x", "bob": "y", "cid": "y"}) == "bob"
    assert most_common_owner({"ada": "x", "bob": "y"}) == "ada"


@settings(max_examples=50, deadline=None)
@given(seed=st.integers(0, 2**32))
def test_taking_all_of_one_person_gives_that_persons_spans(seed: int) -> None:
    rng = random.Random(seed)
    held = {who: make_document(rng) for who in ("ada", "bob", "cid")}
    for who, mine in held.items():
        among = span_choices(held, who)
        made = assembled(among, question_from=who, picks={choice.number: who for choice in among.choices})
        assert (made.context, made.question, compared_spans(made.marks)) == (mine.context, mine.question, compared_spans(mine.marks))
        assert who not in among.unfit


def words(version: EditedDocument, ranges: list[tuple[int, int]]) -> list[str]:
    return [version.context[start:end] for start, end in ranges]


@case_by_case(
    ("ada", "bob", "of_ada", "of_bob"),
    [
        ("I was ill last spring.", "I was ill in March.", ["last spring"], ["in March"]),
        ("the colour of it", "the color of it", ["colour"], ["color"]),
        ("Name77 came", "Name7777 came", ["Name77"], ["Name7777"]),
        ("the union (I pay) and left", "the union and left", [" (I pay)"], [""]),
        ("a b c d", "a x y d", ["b c"], ["x y"]),
        ("a.\r\nb", "a.\nb", [""], [""]),
        ("", "new", [""], ["new"]),
        ("שלום עולם", "שלום לעולם", ["עולם"], ["לעולם"]),
        ("same", "same", [], []),
    ],
)
def test_words_that_differ(ada: str, bob: str, of_ada: list[str], of_bob: list[str]) -> None:
    held = {"ada": document(ada), "bob": document(bob)}
    found = differing(held)
    assert [part.strip() for part in words(held["ada"], found["ada"].context)] == [part.strip() for part in of_ada]
    assert [part.strip() for part in words(held["bob"], found["bob"].context)] == [part.strip() for part in of_bob]


def test_spans_that_one_lacks_are_shown_where_they_would_be() -> None:
    held = {
        "ada": document("Hm, Ann has asthma.", (12, 18, "health", "high")),
        "bob": document("Ann has asthma.", (0, 3, "name", "low"), (8, 14, "health", "high")),
    }
    found = differing(held)
    assert (found["ada"].spans, found["bob"].spans) == (set(), {"s0"})
    assert (found["ada"].lacking, found["bob"].lacking) == ([(4, 7)], [])


@settings(max_examples=examples(150), deadline=None)
@given(seed=st.integers(0, 2**32), folded=st.booleans())
def test_whatever_stands_out_the_whole_text_is_shown_once(seed: int, folded: bool) -> None:
    rng = random.Random(seed)
    held = {who: make_document(rng, 400 if folded else 14) for who in ("ada", "bob")}
    apart = differing(held)
    for who, mine in held.items():
        for start, end in (*apart[who].context, *apart[who].lacking):
            assert 0 <= start <= end <= len(mine.context)
        html = marked_html(mine, {}, apart[who], question=False, folded=folded)
        assert shown(html) == mine.context
        assert html.count("others have words here") == sum(start == end for start, end in apart[who].context)


def shown(html: str) -> str:
    """The text alone, without labels, marks of missing words and summaries; line ends as they are."""

    bare = re.sub(
        r'<span style="color[^"]*"> [^<]*</span>|<span title="others have words[^>]*>\[…\]</span>|<summary.*?</summary>', "", html
    )
    return unescape(re.sub(r"<[^>]*>", "", bare))


def test_long_stretches_that_are_alike_are_folded_and_no_span_is_cut() -> None:
    text = "word " * 2000
    held = {
        "ada": document(text, (5000, 5004, "name", "low"), (8000, 8004, "name", "low")),
        "bob": document(text, (5000, 5004, "name", "high"), (8000, 8004, "name", "low")),
    }
    html = marked_html(held["ada"], {}, differing(held)["ada"], folded=True)
    assert html.count("<details") == html.count("words that are alike") == 2
    assert html.index("<details") < html.index("differs") < html.rindex("<details") < html.index('title="name, low relevance"')
    assert shown(html) == text
    assert "<details" not in marked_html(held["ada"], {}, differing(held)["ada"])
