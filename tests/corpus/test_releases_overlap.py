"""A limit on shared values: drawn anew, moved or left out, measured afterwards by the leakage report."""

from __future__ import annotations

import random
from collections.abc import Container
from dataclasses import replace

import pytest

from piiloom.corpus.record import Record, with_span_values
from piiloom.corpus.releases.grouping import Member
from piiloom.corpus.releases.leakage import measure_leakage
from piiloom.corpus.releases.release_options import OverlapBy, SplitSettings
from piiloom.corpus.releases.splits import Split, split_records
from piiloom.corpus.releases.value_overlap import Limited, limit_overlap
from piiloom.foundation.errors import UsageError
from piiloom.taxonomy.entity_types import shipped_taxonomy
from tests.corpus.planted_leaks import plain_record
from tests.longer import case_by_case, mostly_long


def draw(entity_type: str, subtype: str | None, value: str, *, locale: str, rng: random.Random, avoid: Container[str]) -> str | None:
    """A draw in the layout of *value*."""
    while True:
        new = "".join(rng.choice("abcdefgh") if c.isalpha() else str(rng.randrange(10)) if c.isdigit() else c for c in value)
        if new not in avoid:
            return new


def towns(count: int = 120, of: int = 40, seed: int = 1) -> list[Record]:
    """Records that share towns (too short to keep them together), each also with a code of its own."""
    rng = random.Random(seed)
    return [plain_record(n, values={f"Townsville{rng.randrange(of)}": "location", f"code {n:04d}-XY": "code"}) for n in range(count)]


def changed(records: list[Record], split: Split) -> dict[str, list[Record]]:
    """The records of each split with their redrawn values."""
    new: dict[str, dict[tuple[int, int], str]] = {}
    for value in split.redrawn:
        new.setdefault(value.record_id, {})[value.start, value.end] = value.value
    by_id = {}
    for record in records:
        own = new.get(record.id, {})
        assert set(own) <= {(span.start, span.end) for span in record.spans}
        by_id[record.id] = with_span_values(record, [own.get((span.start, span.end)) for span in record.spans])
    return {name: [by_id[record_id] for record_id in ids] for name, ids in split.ids.items()}


def shares(records: list[Record], split: Split) -> dict[str, float]:
    return {
        name: leakage.open_values.share or 0.0
        for name, leakage in measure_leakage(changed(records, split), taxonomy=shipped_taxonomy()).splits.items()
    }


@pytest.mark.parametrize("limit", mostly_long([0, 0.1], quick={0.1}))
@pytest.mark.parametrize("by", ["redraw", "move", "withhold"])
def test_the_share_keeps_the_limit_in_every_way(by: OverlapBy, limit: float) -> None:
    records = towns()
    wanted = SplitSettings(test_size=24, validation_size=24)
    free = split_records(records, wanted, taxonomy=shipped_taxonomy())
    assert min(shares(records, free).values()) > 0.2
    split = split_records(records, replace(wanted, max_value_overlap=limit, overlap_by=by), draw=draw, taxonomy=shipped_taxonomy())
    assert max(shares(records, split).values()) <= limit
    sizes = {name: len(ids) for name, ids in split.ids.items()}
    if by == "redraw":
        assert (sizes, split.withheld) == ({"train": 72, "validation": 24, "test": 24}, ())
        assert {value.record_id for value in split.redrawn}.isdisjoint(split.ids["train"])
        assert "drawn anew" in split.notes[0]
    else:
        assert not split.redrawn
        gone = 120 - sum(sizes.values())
        assert (sizes["train"], gone) == ((72, len(split.withheld)) if by == "withhold" else (120 - sizes["test"] - sizes["validation"], 0))
        assert sizes["test"] < 24
        assert ("left out" if by == "withhold" else "moved from test to train") in " ".join(split.notes)


@pytest.mark.parametrize("by", ["redraw", "withhold"])
def test_folds_keep_the_limit_against_all_others(by: OverlapBy) -> None:
    records = towns(of=100)
    split = split_records(records, SplitSettings(folds=4, max_value_overlap=0.05, overlap_by=by), draw=draw, taxonomy=shipped_taxonomy())
    assert max(shares(records, split).values()) <= 0.05
    assert bool(split.redrawn) == (by == "redraw")


def test_no_more_changes_than_needed() -> None:
    records = towns()
    free = split_records(records, SplitSettings(test_size=24), taxonomy=shipped_taxonomy())
    values = measure_leakage(changed(records, free), taxonomy=shipped_taxonomy()).splits["test"].open_values
    split = split_records(records, SplitSettings(test_size=24, max_value_overlap=0.2), draw=draw, taxonomy=shipped_taxonomy())
    names = {(value.value) for value in split.redrawn}
    assert len(names) == values.seen - int(0.2 * values.of)
    assert split.ids == free.ids
    already = split_records(records, SplitSettings(test_size=24, max_value_overlap=1.0), draw=draw, taxonomy=shipped_taxonomy())
    assert (already.redrawn, already.notes, already.ids) == ((), (), free.ids)


def test_the_seed_of_a_release_does_not_tell_what_stood_in_the_place_of_a_value() -> None:
    records = towns()
    wanted = SplitSettings(test_size=24, max_value_overlap=0)
    one, other = (split_records(records, wanted, draw=draw, taxonomy=shipped_taxonomy()) for _ in range(2))
    assert one.ids == other.ids
    assert len(one.redrawn) == len(other.redrawn) > 10
    assert not {value.value for value in one.redrawn} & {value.value for value in other.redrawn}


def limited(test: list[Record], **given: object) -> Limited:
    """The limit 0 on *test* against a train split in which Leeds stands."""
    train = [plain_record(100 + n, values={"Leeds": "location", "Ana Torres": "name"}) for n in range(3)]
    members = [Member.of(record, taxonomy=shipped_taxonomy()) for record in (*train, *test)]
    split_of = {m.id: "train" if m.id >= "r00100" else "test" for m in members}
    wanted = SplitSettings(max_value_overlap=0)
    return limit_overlap(members, split_of, [[m.id] for m in members], wanted, **{"draw": draw, **given})  # type: ignore[arg-type]


def spare() -> Record:
    """A record that may stay in test whatever becomes of the others."""
    return plain_record(9)


def test_all_mentions_in_a_text_and_its_contrast_twins_change_alike() -> None:
    context = "In Leeds we live, and LEEDS is where I pay. w1 w2 w3 w4"
    span = plain_record(1, values={"Leeds": "location"}).spans[0]
    spans = tuple(replace(span, start=start, end=start + 5, id=f"s{start}") for start in (3, 22))
    one = replace(plain_record(1, values={}), context=context, spans=spans, group_keys=("text:1",))
    twin = replace(one, id="r00002", question="Another one about something quite different?")
    done = limited([one, twin])
    assert not done.withheld
    assert [(value.record_id, value.start, value.end) for value in done.redrawn] == [
        ("r00001", 3, 8),
        ("r00001", 22, 27),
        ("r00002", 3, 8),
        ("r00002", 22, 27),
    ]
    first, second, *others = (value.value for value in done.redrawn)
    assert others == [first, second]
    assert (second, first.casefold() == "leeds") == (first.upper(), False)


def test_a_twin_that_does_not_mark_the_value_takes_the_text_out() -> None:
    one = plain_record(1, values={"Leeds": "location"})
    twin = replace(one, id="r00002", spans=())
    done = limited([one, twin, spare()])
    assert not done.redrawn
    assert set(done.withheld) == {"r00001", "r00002"}


@pytest.mark.parametrize(
    ("value", "entity_type", "context", "question"),
    [
        ("Leeds", "location", "In Leeds we live, w1 w2 w3, and leeds is not marked here.", "What now?"),
        ("Leeds", "location", "In Leeds we live, w1 w2 w3 w4.", "Is Leeds a town?"),
        ("Ana Torres", "name", "I am Ana Torres, w1 w2 w3, and Ana is my first name.", "What now?"),
        ("Ana Torres", "name", "I am Ana Torres, w1 w2 w3 w4.", "What may Torres do?"),
    ],
)
def test_a_value_that_also_stands_unmarked_is_left_out(value: str, entity_type: str, context: str, question: str) -> None:
    done = limited([plain_record(1, values={value: entity_type}, context=context, question=question), spare()])
    assert not done.redrawn
    assert done.withheld == {"r00001": f"it has a value of type {entity_type} that is also in train"}
    assert done.notes == ["1 record left out, as their values are in two splits"]
    whole = context.split(",", maxsplit=1)[0] + " w1 w2 w3 w4."
    assert not limited([plain_record(1, values={value: entity_type}, context=whole), spare()]).withheld


def test_a_person_with_two_wordings_is_left_out() -> None:
    record = plain_record(1, values={"Ana Torres": "name", "Annie": "name"})
    spans = tuple(replace(span, value_id="v1") for span in record.spans)
    assert set(limited([replace(record, spans=spans), spare()]).withheld) == {"r00001"}
    assert not limited([record, spare()]).withheld


@case_by_case("found", [None, "", "leeds", "LEEDS", "ana torres", "w1x3"])
def test_a_value_that_cannot_be_drawn_is_left_out(found: str | None) -> None:
    record = plain_record(1, values={"Leeds": "location"})
    done = limited([record, spare()], draw=lambda *_, **__: found)
    assert (set(done.withheld), done.redrawn) == ({"r00001"}, [])
    assert set(limited([record, spare()], draw=None).withheld) == {"r00001"}


def test_the_article_before_a_value_stays_right() -> None:
    record = plain_record(1, values={"Leeds": "location"}, context="w1 w2 a Leeds man w3 w4", question=None)
    asked: list[bool] = []

    def fitting(*_: object, avoid: Container[str], **__: object) -> str:
        asked.extend(town in avoid for town in ("Exeter", "York"))
        return "York"

    done = limited([record], draw=fitting)
    assert asked[:2] == [True, False]
    assert [value.value for value in done.redrawn] == ["York"]


@pytest.mark.parametrize("by", ["move", "withhold"])
def test_a_limit_that_only_an_empty_split_keeps_is_an_error(by: OverlapBy) -> None:
    records = [plain_record(n, values={"Leeds": "location"}) for n in range(40)]
    with pytest.raises(UsageError, match="only an empty test split") as error:
        split_records(records, SplitSettings(max_value_overlap=0.1, overlap_by=by), taxonomy=shipped_taxonomy())
    assert "Raise the limit" in (error.value.remedy or "")


def test_whole_groups_move() -> None:
    records = [replace(record, group_keys=(f"story:{n // 2}",)) for n, record in enumerate(towns(80, of=200))]
    split = split_records(records, SplitSettings(test_size=30, max_value_overlap=0, overlap_by="move"), taxonomy=shipped_taxonomy())
    assert len(split.ids["test"]) < 30
    in_test = {int(record_id[1:]) for record_id in split.ids["test"]}
    assert {n ^ 1 for n in in_test} == in_test
