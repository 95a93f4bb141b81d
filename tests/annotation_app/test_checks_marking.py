"""The hints of the editor on values without a mark and ends in the wrong place; all fixes can be done, and quickly."""

from __future__ import annotations

import random
from dataclasses import asdict

import pytest
from check_stories import AGE, HEALTH, TYPES, checks, marked, mended
from document_making import make_document
from hypothesis import given, settings
from hypothesis import strategies as st

from piiloom.annotation_app.documents import live_checks as check_facts
from piiloom.annotation_app.documents.document import EditedDocument, SpanMark
from piiloom.annotation_app.documents.live_checks import corrected_range, identifiers_in, live_checks, places_of_value, searchable
from piiloom.corpus.mention_search import stands_alone
from piiloom.corpus.normalising import fold
from piiloom.screening.identifiers import find_identifiers
from tests.longer import case_by_case, examples


def test_a_value_that_is_repeated_unmarked_is_marked_everywhere_by_one_step() -> None:
    document = marked("[asthma], Asthma; asthmatic asthma? asthma", HEALTH)
    found = checks(document)["unmarked.repeat"]
    assert (found.fix_label, len(found.ranges)) == ("mark all 3", 3)
    after = mended(document, found)
    assert [after.context[m.start : m.end] for m in after.marks] == ["asthma", "Asthma", "asthma", "asthma"]
    assert {(m.entity_type, m.relevance) for m in after.marks} == {("health", "high")}
    assert checks(after) == {}


def test_repeats_count_whole_words_longest_value_first_and_leave_marked_text_alone() -> None:
    labels = [("name", "low", None), ("name", "low", None), ("health", "low", None)]
    document = marked("[Ann Lee] met [Ann]. Ann Lee has [Ann Lee syndrome]; annual, I.", *labels)
    found = live_checks(document, "en_US", TYPES)
    assert [(one.code, [document.context[a:b] for a, b in one.ranges]) for one in found] == [("unmarked.repeat", ["Ann Lee"])]


def test_short_numbers_letters_and_function_words_repeat_freely() -> None:
    labels = [AGE, ("name", "low", None), ("health", "low", None)]
    assert checks(marked("I am [34], called [me], group [B]: 34 days, me, B.", *labels)) == {}


def test_ids_of_added_spans_are_new_whatever_is_there() -> None:
    document = marked("[asthma] asthma", HEALTH)
    clash = EditedDocument(context=document.context, question="Why?", marks=(SpanMark(id="u-7-13", start=0, end=6, entity_type="health"),))
    assert [m.id for m in mended(clash, checks(clash)["unmarked.repeat"]).marks] == ["u-7-13", "u-7-13-2"]


@case_by_case(
    ("text", "code", "after"),
    [
        ("I have[ asthma ]now", "span.outer_blank", "asthma"),
        ("I have [asth]ma now", "span.cuts_word", "asthma"),
        ("I have a[sthma n]ow", "span.cuts_word", "asthma now"),
        ("Hi [👩]\u200d🚀 you", "span.cuts_word", "👩\u200d🚀"),
        ("Caf[e]\u0301 bar", "span.cuts_word", "Cafe\u0301"),
        ("I have[  ]it", "span.blank", None),
    ],
)
def test_ends_that_are_no_ends(text: str, code: str, after: str | None) -> None:
    document = marked(text, HEALTH)
    found = checks(document)
    assert next(iter(found)) == code
    marks = mended(document, found[code]).marks
    assert [document.context[m.start : m.end] for m in marks] == ([] if after is None else [after])


def test_ends_are_not_moved_into_another_span() -> None:
    found = checks(marked("[asth][ma]", HEALTH, HEALTH))
    assert found["span.cuts_word"].fix is None
    assert found["span.cuts_word"].fix_label is None


@case_by_case("text", ["גר [בתל אביב]ים", "我住在[北京]市", "ใน[กรุงเทพ]ครับ", "私は[東京]に", "The [dog]'s bowl", "a [34]-year-old"])
def test_ends_inside_words_of_scripts_without_blanks_are_right(text: str) -> None:
    assert not [code for code in checks(marked(text, ("location", "low", None))) if code.startswith("span.")]


def test_a_span_in_doubt_can_be_confirmed() -> None:
    document = marked("I have [asthma].", HEALTH, doubt=True)
    found = checks(document)
    assert list(found) == ["span.doubt"]
    assert not mended(document, found["span.doubt"]).marks[0].doubt


def test_checks_come_in_text_order_after_those_of_the_question() -> None:
    document = marked("ann@mail.example and [ asthma], asthma, [2019-02-30].", HEALTH, ("datetime", "low", None), question="")
    found = live_checks(document, "en_US", TYPES)
    codes = ["question.empty", "unmarked.email", "span.outer_blank", "unmarked.repeat", "format.no_such_date"]
    assert [one.code for one in found] == codes
    assert all(set(asdict(one)) == {"code", "sentence", "field", "spans", "ranges", "fix", "fix_label"} for one in found)


@settings(max_examples=examples(150), deadline=None)
@given(seed=st.integers(0, 2**32))
def test_whatever_the_document_ranges_lie_in_it_and_fixes_can_be_done(seed: int) -> None:
    document = make_document(random.Random(seed))
    for found in live_checks(document, "en_US", TYPES):
        text = document.context if found.field == "context" else document.question or ""
        assert all(0 <= start < end <= len(text) for start, end in found.ranges)
        assert {*found.spans} <= {mark.id for mark in document.marks}
        if found.fix is not None:
            assert mended(document, found) != document


@settings(max_examples=examples(150), deadline=None)
@given(seed=st.integers(0, 2**32))
def test_tidied_ends_stay_as_they_are(seed: int) -> None:
    document = make_document(random.Random(seed))
    for mark in document.marks:
        better = corrected_range(document.context, mark.start, mark.end)
        assert better[0] == better[1] or corrected_range(document.context, *better) == better


@settings(max_examples=examples(200), deadline=None)
@given(pieces=st.lists(st.sampled_from(["a@b.example", "4111 1111 1111 1111", ". Then", "\n", " (555) 555-0142", ". 555", "St. Ann", "x"])))
def test_looking_piece_by_piece_finds_the_same_identifiers(pieces: list[str]) -> None:
    text = " ".join(pieces)
    assert sorted(identifiers_in(text, "US")) == sorted(find_identifiers(text, "US"))


def test_a_check_after_a_change_of_spans_searches_no_text_again(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = random.Random(3)
    words = ["".join(rng.choices("abcdefghijklmnopqrstuvwxyz", k=rng.randint(3, 9))) for _ in range(4000)]
    chosen = [rng.choice(words) for _ in range(20_000)]
    context, starts = " ".join(chosen), [0]
    for word in chosen:
        starts.append(starts[-1] + len(word) + 1)
    marks = tuple(
        SpanMark(id=f"s{n}", start=starts[n], end=starts[n] + len(chosen[n]), entity_type="health", relevance="low")
        for n in range(0, 20_000, 100)
    )
    searched: list[str] = []
    for name in ("fold", "find_identifiers"):
        real = getattr(check_facts, name)
        monkeypatch.setattr(check_facts, name, lambda text, *rest, real=real: searched.append(text) or real(text, *rest))
    live_checks(EditedDocument(context=context, question="Why?", marks=marks), "en_US", TYPES)
    assert context in searched
    searched.clear()
    found = live_checks(EditedDocument(context=context, question="Why?", marks=marks[1:]), "en_US", TYPES)
    assert searched == []
    assert found
    assert stands_alone(context, *found[0].ranges[0])


def test_no_value_is_searched_twice_in_a_text_however_many_there_are(monkeypatch: pytest.MonkeyPatch) -> None:
    context, searched = "as before", list[str]()
    monkeypatch.setattr(type(searchable(context)), "mentions", lambda _, value: searched.append(value) or [])
    values = [f"value {n}" for n in range(10_000)]
    for _ in range(2):
        assert {places_of_value(context, value) for value in values} == {()}
    assert searched == values


@settings(max_examples=examples(300), deadline=None)
@given(
    pieces=st.lists(
        st.sampled_from(
            [". Ö", "\n", "\r\nZoë", " \n x", "\u200b", "\u0308", "ﬁ", "ß. ", ".  A", "! é", "ﾞ", "? ﾞ", "plain words", "\n\nX", " "]
        )
    )
)
def test_folding_piece_by_piece_gives_what_folding_the_whole_gives(pieces: list[str]) -> None:
    text = "".join(pieces)
    found, whole = searchable(text).folded, fold(text)
    assert (found.text, list(found.starts), list(found.ends)) == (whole.text, list(whole.starts), list(whole.ends))
