"""The alignment of gold and predicted mentions: each kind of error by hand, and what holds for any mentions."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from piiloom.evaluation.gallery.counts import KINDS, MEANING, Row, aligned_rows
from piiloom.evaluation.inputs.documents import AnnotatedMention, Pair
from tests.evaluation.gallery_pairs import mention, pair_of
from tests.longer import case_by_case, few

TEXT = "Ann Lee of Leeds met Bob Ray."


def m(start: int, end: int, entity_type: str | None = "name", **labels: str) -> AnnotatedMention:
    return mention(TEXT, start, end, entity_type, **labels)


ANN_LEE, ANN, LEE, LEEDS = m(0, 7), m(0, 3), m(4, 7), m(11, 16, "place")


def told(gold: list[AnnotatedMention], found: list[AnnotatedMention], text: str | None = TEXT) -> list[tuple[str, list[str], list[str]]]:
    """The rows as (kind, gold texts, predicted texts)."""
    return [(row.kind, [one.text for one in row.gold], [one.text for one in row.found]) for row in aligned_rows(pair_of(text, gold, found))]


@case_by_case(
    ("gold", "found", "expected"),
    [
        ([ANN_LEE], [ANN_LEE], [("correct", ["Ann Lee"], ["Ann Lee"])]),
        ([ANN_LEE], [], [("missed", ["Ann Lee"], [])]),
        ([], [LEEDS], [("spurious", [], ["Leeds"])]),
        ([LEEDS], [replace(LEEDS, entity_type="name")], [("wrong type", ["Leeds"], ["Leeds"])]),
        ([LEEDS], [replace(LEEDS, entity_type=None)], [("wrong type", ["Leeds"], ["Leeds"])]),
        ([ANN], [ANN_LEE], [("too long", ["Ann"], ["Ann Lee"])]),
        ([ANN_LEE], [ANN], [("too short", ["Ann Lee"], ["Ann"])]),
        ([ANN_LEE], [m(4, 10)], [("shifted", ["Ann Lee"], ["Lee of"])]),
        ([ANN_LEE], [LEE, ANN], [("split", ["Ann Lee"], ["Ann", "Lee"])]),
        ([LEE, ANN], [ANN_LEE], [("merged", ["Ann", "Lee"], ["Ann Lee"])]),
        # The longest overlap is the aligned one and stands first, the others follow in the order of the text.
        ([m(0, 16)], [m(8, 10), ANN, LEEDS], [("split", ["Ann Lee of Leeds"], ["Leeds", "Ann", "of"])]),
        # A mention that is found as it is, is not also split: what else is predicted there is spurious.
        ([ANN_LEE], [ANN_LEE, ANN], [("spurious", [], ["Ann"]), ("correct", ["Ann Lee"], ["Ann Lee"])]),
        ([ANN_LEE], [ANN_LEE, ANN_LEE], [("correct", ["Ann Lee"], ["Ann Lee"]), ("spurious", [], ["Ann Lee"])]),
        ([ANN_LEE, ANN_LEE], [ANN_LEE], [("correct", ["Ann Lee"], ["Ann Lee"]), ("missed", ["Ann Lee"], [])]),
        # Touching is not overlapping.
        ([m(0, 4)], [m(4, 7)], [("missed", ["Ann "], []), ("spurious", [], ["Lee"])]),
    ],
)
def test_each_kind(gold, found, expected):
    assert told(gold, found) == expected


def one_row(gold: list[AnnotatedMention], found: list[AnnotatedMention]) -> Row:
    (row,) = aligned_rows(pair_of(TEXT, gold, found))
    return row


def test_relevance_is_wrong_only_where_both_sides_state_it():
    high, low = m(0, 7, relevance="high"), m(0, 7, relevance="low")
    assert one_row([high], [low]).kind == "wrong relevance"
    assert one_row([high], [ANN_LEE]).kind == "correct"
    assert one_row([ANN_LEE], [low]).kind == "correct"


def test_of_several_errors_the_type_comes_first_then_the_boundary():
    row = one_row([m(0, 7, relevance="high")], [m(0, 3, "place", relevance="low")])
    assert (row.kind, row.also) == ("wrong type", ("too short", "wrong relevance"))
    row = one_row([m(0, 7, relevance="high")], [m(0, 3, relevance="low")])
    assert (row.kind, row.also) == ("too short", ("wrong relevance",))


def test_files_without_types_have_no_wrong_type():
    assert one_row([m(0, 7, None)], [m(0, 7, None)]).kind == "correct"


def test_at_one_place_equal_labels_are_aligned_first():
    high, low, place = m(0, 7, relevance="high"), m(0, 7, relevance="low"), m(0, 7, "place")
    rows = aligned_rows(pair_of(TEXT, [place, high], [low, place, high]))
    assert [(row.kind, row.gold or row.found) for row in rows] == [("correct", (high,)), ("spurious", (low,)), ("correct", (place,))]


def test_the_longest_overlap_is_aligned_and_at_a_tie_the_closest():
    # "Ann Lee of" shares 7 code points with "Ann Lee", "Ann" 3.
    assert told([ANN_LEE], [ANN, m(0, 10)]) == [("split", ["Ann Lee"], ["Ann Lee of", "Ann"])]
    # Both share "Lee"; "Lee of" is closer to it than "Lee of Leeds".
    assert told([LEE], [m(4, 16), m(4, 10)]) == [("split", ["Lee"], ["Lee of", "Lee of Leeds"])]
    # What begins in one and ends in the next goes to the one of which it has more; both are aligned one to one.
    assert told([ANN, m(8, 16)], [m(0, 10), LEEDS]) == [("too long", ["Ann"], ["Ann Lee of"]), ("wrong type", ["of Leeds"], ["Leeds"])]


@case_by_case(
    ("gold", "found", "expected"),
    [
        # A value that the text does not hold; one that it holds, though the file gives no place, is spurious.
        ([], [AnnotatedMention(text="Bath", entity_type="place")], [("not in the text", [], ["Bath"])]),
        ([], [AnnotatedMention(text="", entity_type="place")], [("not in the text", [], [""])]),
        ([], [AnnotatedMention(text="Leeds", entity_type="place")], [("spurious", [], ["Leeds"])]),
        # The same string, of which one side has no place.
        ([LEEDS], [AnnotatedMention(text="Leeds", entity_type="place")], [("correct", ["Leeds"], ["Leeds"])]),
        ([AnnotatedMention(text="Leeds", entity_type="name")], [LEEDS], [("wrong type", ["Leeds"], ["Leeds"])]),
        (
            [AnnotatedMention(text="Leeds", entity_type="place")],
            [AnnotatedMention(text="Leed", entity_type="place")],
            [("spurious", [], ["Leed"]), ("missed", ["Leeds"], [])],
        ),
    ],
)
def test_mentions_without_a_place(gold, found, expected):
    assert told(gold, found) == expected


def test_tables_of_entities_have_no_text_to_be_absent_from():
    here, there = AnnotatedMention(text="Leeds", entity_type="place"), AnnotatedMention(text="Bath", entity_type="place")
    assert told([here, here], [here, there], text=None) == [
        ("spurious", [], ["Bath"]),
        ("correct", ["Leeds"], ["Leeds"]),
        ("missed", ["Leeds"], []),
    ]


def test_every_kind_has_a_meaning():
    assert set(MEANING) == set(KINDS)


@st.composite
def mentions(draw: st.DrawFn) -> list[AnnotatedMention]:
    """Mentions of TEXT: overlapping, repeated, empty, without a place, of few types."""
    found = []
    for _ in range(draw(st.integers(0, 6))):
        start, end = sorted((draw(st.integers(0, 12)), draw(st.integers(0, 12))))
        labels = {"entity_type": draw(st.sampled_from(["a", "b", None])), "relevance": draw(st.sampled_from(["high", "low", None]))}
        placed = draw(st.integers(0, 4)) > 0
        found.append(AnnotatedMention(text=TEXT[start:end], start=start if placed else None, end=end if placed else None, **labels))
    return found


@few
@given(mentions(), mentions(), st.randoms())
def test_each_mention_is_in_one_row_whatever_their_order(gold, found, rng):
    rows = aligned_rows(pair_of(TEXT, gold, found))
    assert Counter(one for row in rows for one in row.gold) == Counter(gold)
    assert Counter(one for row in rows for one in row.found) == Counter(found)
    for row in rows:
        assert min(len(row.gold), len(row.found)) <= 1
        assert (not row.found) == (row.kind == "missed")
        assert (not row.gold) == (row.kind in {"spurious", "not in the text"})
    rng.shuffle(gold)
    rng.shuffle(found)
    assert aligned_rows(pair_of(TEXT, gold, found)) == rows


@few
@given(mentions())
def test_against_itself_all_is_correct_and_against_nothing_all_is_missed(gold):
    assert {row.kind for row in aligned_rows(pair_of(TEXT, gold, gold))} <= {"correct"}
    assert [row.kind for row in aligned_rows(pair_of(TEXT, gold, []))] == ["missed"] * len(gold)


@few
@given(mentions(), mentions())
def test_where_each_overlaps_one_at_most_changing_sides_turns_the_kinds(gold, found):
    turned = {"missed": "spurious", "spurious": "missed", "too long": "too short", "too short": "too long"}
    gold, found = apart(gold), apart(found)
    pair = pair_of(TEXT, gold, found)
    there, back = aligned_rows(pair), aligned_rows(Pair(gold=pair.found, found=pair.gold))
    if all(len(row.gold) < 2 and len(row.found) < 2 for row in there):
        assert Counter(turned.get(row.kind, row.kind) for row in there) == Counter(row.kind for row in back)


def apart(found: list[AnnotatedMention]) -> list[AnnotatedMention]:
    """Those with a place that overlap none before them."""
    kept: list[AnnotatedMention] = []
    for one in sorted((one for one in found if one.place and one.text), key=lambda one: (one.start, one.end)):
        if not kept or kept[-1].end <= one.start:
            kept.append(one)
    return kept
