"""The hints of the editor on questions, patterns and types: what is noticed, what is not."""

from __future__ import annotations

from check_stories import AGE, CODE, HEALTH, TYPES, checks, marked, mended

from piiloom.annotation_app.documents.live_checks import live_checks, oddity
from tests.longer import case_by_case


def test_a_good_document_has_no_checks() -> None:
    assert live_checks(marked("I have [asthma] and I am [34].", HEALTH, AGE), "en_US", TYPES) == []


@case_by_case(
    ("question", "code", "places"),
    [
        ("", "question.empty", []),
        (" \n", "question.empty", []),
        ("Is ASTHMA bad? My asthma?", "question.value", [(3, 9), (18, 24)]),
        ("What of my health?", "question.type_word", [(11, 17)]),
        ("Ask a@b.example?", "question.identifier", [(4, 15)]),
        ("And the kinds of asthmas?", "question.content_word", [(17, 24)]),
    ],
)
def test_questions_that_give_something_away(question: str, code: str, places: list[tuple[int, int]]) -> None:
    found = checks(marked("I have [asthma].", HEALTH, question=question))
    assert list(found) == [code]
    assert list(found[code].ranges) == places
    assert found[code].field == "question"


def test_a_question_is_held_against_the_planned_pair_where_there_is_one() -> None:
    document = marked("I have [asthma].", HEALTH, question="What about my job and my health?")
    found = live_checks(document, "en_US", TYPES, pair=("occupation", "age"))
    assert [(one.code, one.ranges) for one in found] == [("question.type_word", ((14, 17),))]


def test_records_without_a_question_are_not_told_so() -> None:
    assert checks(marked("I have [asthma].", HEALTH, question=None)) == {}


def test_low_values_may_share_words_with_the_question_but_not_stand_in_it_whole() -> None:
    assert checks(marked("I have [bad asthma].", ("health", "low", None), question="Is asthma common?")) == {}


@case_by_case(
    ("text", "kind", "place"),
    [
        ("Write to ann@mail.example now.", "email", "ann@mail.example"),
        ("My card is 4111 1111 1111 1111.", "card", "4111 1111 1111 1111"),
        ("It goes to GB29 NWBK 6016 1331 9268 19 today", "iban", "GB29 NWBK 6016 1331 9268 19"),
        ("Call (555) 555-0142 soon.", "phone", "(555) 555-0142"),
    ],
)
def test_listed_patterns_that_nobody_marked(text: str, kind: str, place: str) -> None:
    document = marked("I have [asthma]. " + text, HEALTH)
    found = checks(document)
    assert list(found) == [f"unmarked.{kind}"]
    after = mended(document, found[f"unmarked.{kind}"])
    assert [(after.context[m.start : m.end], m.entity_type, m.relevance) for m in after.marks[1:]] == [(place, "code", "low")]
    assert checks(after) == {}


def test_a_span_inside_a_pattern_is_widened() -> None:
    document = marked("Write to ann@[mail.example].", CODE)
    assert checks(document)["unmarked.email"].fix_label == "widen the span"
    after = mended(document, checks(document)["unmarked.email"])
    assert after.context[after.marks[0].start : after.marks[0].end] == "ann@mail.example"


def test_relevance_stays_away_where_nothing_is_judged() -> None:
    document = marked("Mail ann@mail.example, [Bob].", ("name", None, None))
    fix = checks(document)["unmarked.email"].fix
    assert fix is not None
    assert fix["span"]["relevance"] is None


@case_by_case(
    ("text", "label", "code", "better"),
    [
        ("ann@mail.example", AGE, "format.email", "code"),
        ("4111 1111 1111 1111", ("finance", "low", None), "format.card", "code"),
        ("4111 1111 1111 1112", CODE, "checksum.card", None),
        ("3782 822463 10006", CODE, "checksum.card", None),
        ("4111111111111112", ("code", "low", "payment_card"), "checksum.card", None),
        ("GB29 NWBK 6016 1331 9268 18", CODE, "checksum.iban", None),
        ("2019-03-14", AGE, "format.date", "datetime"),
        ("March 14, 2019", ("name", "low", None), "format.date", "datetime"),
        ("1990", AGE, "format.date", "datetime"),
        ("7:45 pm", ("code", "low", None), "format.date", "datetime"),
        ("34 years old", ("datetime", "low", None), "format.age", "age"),
        ("34yo", ("health", "low", None), "format.age", "age"),
        ("$12,400", ("age", "low", None), "format.money", "finance"),
        ("2019-02-30", ("datetime", "low", None), "format.no_such_date", None),
        ("142", AGE, "format.no_such_age", None),
        ("4711", ("name", "low", None), "format.bare_number", None),
    ],
)
def test_shapes_at_odds_with_the_type(text: str, label: tuple[str, str, str | None], code: str, better: str | None) -> None:
    document = marked(f"It is [{text}] indeed", label)
    found = checks(document)
    assert list(found) == [code]
    if better is None:
        assert found[code].fix is None
    else:
        assert mended(document, found[code]).marks[0].entity_type == better


@case_by_case(
    ("text", "entity_type"),
    [
        ("4111 1111 1111 1111", "code"), ("GB29 NWBK 6016 1331 9268 19", "code"), ("2019-03-14", "datetime"), ("34", "age"),
        ("612", "finance"), ("5'7\"", "appearance"), ("March", "name"), ("18 months", "datetime"), ("$48,500 a year", "finance"),
        ("AB12 CDEF 3456 78", "code"), ("1997", "datetime"), ("34-year-old", "age"), ("19:45", "datetime"), ("ACCT-2291-88", "code"),
    ],
)  # fmt: skip
def test_ordinary_values_are_left_in_peace(text: str, entity_type: str) -> None:
    assert oddity(text, entity_type, None, "US", TYPES) is None


def test_all_examples_of_the_taxonomy_are_left_in_peace() -> None:
    wrong = [
        (kind.name, example)
        for kind in TYPES.values()
        for subtype in kind.subtypes
        for example in subtype.examples
        if oddity(example, kind.name, subtype.name, "US", TYPES)
    ]
    assert wrong == []


def test_a_better_type_that_nobody_knows_is_not_offered() -> None:
    assert oddity("2019-03-14", "age", None, "US", {"age": TYPES["age"]}) is None
