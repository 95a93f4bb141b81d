"""The exact scheme: each mention is found once at most, by place and type."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from piiloom.evaluation.inputs.documents import AnnotatedDocument, AnnotatedMention, Pair
from piiloom.evaluation.schemes.base import NO_TYPE, OVERALL, SchemeSettings
from piiloom.evaluation.schemes.registry import make_scheme
from piiloom.evaluation.scoring.counts import CountTable
from tests.evaluation import scheme_documents
from tests.evaluation.scheme_documents import Place, any_places, table_of
from tests.longer import few


def document(*places: tuple[int, int, str]) -> AnnotatedDocument:
    mentions = tuple(AnnotatedMention(text="x", entity_type=kind, start=start, end=end) for start, end, kind in places)
    return AnnotatedDocument(where="a:1", id="a", mentions=mentions)


def test_position_and_type_count() -> None:
    table = CountTable(make_scheme("exact", SchemeSettings(beta=(2,))))
    gold = document((0, 7, "name"), (12, 19, "name"), (30, 32, "age"))
    table.add(Pair(gold=gold, found=document((12, 19, "name"), (12, 19, "name"), (30, 32, "name"), (0, 6, "name"))))
    table.add(Pair(gold=document(), found=document()))
    figures = table.overall()
    assert (figures["tp"], figures["fp"], figures["fn"]) == (1, 3, 2)
    assert (figures["precision"], figures["recall"]) == (1 / 4, 1 / 3)
    assert figures["f2"] == 5 / (5 + 4 * 2 + 3)
    assert figures["f5"] == 26 / (26 + 25 * 2 + 3)
    assert {name: list(row) for name, row in table.by_type.items()} == {"age": [0, 0, 1], "name": [1, 3, 1]}


def test_what_has_no_place_is_never_found() -> None:
    without = AnnotatedDocument(where="a:1", mentions=(AnnotatedMention(text="Ann", entity_type="name"),))
    counts = make_scheme("exact", SchemeSettings()).count(without, without)
    assert list(counts["name"]) == [0, 1, 1]


def test_what_has_no_type_counts_once() -> None:
    counts = make_scheme("exact", SchemeSettings()).count(untyped := scheme_documents.document((0, 7, None)), untyped)
    assert {name: list(row) for name, row in counts.items()} == {OVERALL: [1, 0, 0], NO_TYPE: [1, 0, 0]}


def naive(gold: list[Place], found: list[Place]) -> tuple[int, int, int]:
    free, hits = list(gold), 0
    for one in found:
        if one in free:
            free.remove(one)
            hits += 1
    return hits, len(found) - hits, len(free)


@few
@given(gold=any_places(size=12), found=any_places(size=12), kept=st.integers(0, 5))
def test_counts_what_a_naive_search_counts(gold: list[Place], found: list[Place], kept: int) -> None:
    found = gold[:kept] + found
    table = table_of("exact", [scheme_documents.pair(gold, found)])
    assert tuple(table.rows[0]) == naive(gold, found)
    for kind in {kind for _, _, kind in gold + found}:
        of_type = ([one for one in side if one[2] == kind] for side in (gold, found))
        assert tuple(table.by_type[kind or NO_TYPE]) == naive(*of_type)
