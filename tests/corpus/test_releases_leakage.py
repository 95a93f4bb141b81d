"""Planted leaks: none crosses a split, and without the guards the figures are exactly those that do."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import replace

import pytest

from piiloom.corpus.record import Provenance, Record
from piiloom.corpus.releases.leakage import SeenShare, SplitLeakage, measure_leakage
from piiloom.corpus.releases.release_options import SplitSettings
from piiloom.corpus.releases.splits import Split, split_records
from piiloom.taxonomy.entity_types import shipped_taxonomy
from tests.corpus.planted_leaks import plain_record, planted

NOTHING = Counter[str]()


def crossing(split: Split, pairs: dict[str, list[tuple[str, str]]], name: str = "test") -> Counter[str]:
    """How many planted pairs of each kind have one record in the split *name* and one in another."""
    split_of = {record_id: which for which, ids in split.ids.items() for record_id in ids}
    return Counter(
        kind
        for kind, of_kind in pairs.items()
        for pair in of_kind
        for one, other in (pair, pair[::-1])
        if split_of[one] == name != split_of[other]
    )


def measured(records: list[Record], split: Split) -> dict[str, SplitLeakage]:
    by_id = {record.id: record for record in records}
    return dict(
        measure_leakage(
            {name: (by_id[record_id] for record_id in ids) for name, ids in split.ids.items()}, taxonomy=shipped_taxonomy()
        ).splits
    )


def figures(leakage: SplitLeakage) -> dict[str, int]:
    return {
        "values": leakage.values.seen,
        "open values": leakage.open_values.seen,
        "codes": leakage.by_type["code"].seen,
        "strings": leakage.strings.seen,
        "contexts near": leakage.contexts_near.seen,
        "contexts same": leakage.contexts_same.seen,
        "questions near": leakage.questions_near.seen,
        "questions same": leakage.questions_same.seen,
        "stories": leakage.stories.seen,
        "personas": leakage.personas.seen,
    }


@pytest.mark.parametrize("wanted", [SplitSettings(test_size=0.3, validation_size=0.2), SplitSettings(folds=4)])
def test_no_planted_leak_crosses_a_split(wanted: SplitSettings) -> None:
    records, pairs = planted(6)
    split = split_records(records, wanted, taxonomy=shipped_taxonomy())
    assert not split.withheld
    for name in split.ids:
        assert crossing(split, pairs, name) == NOTHING
    for leakage in measured(records, split).values():
        assert set(figures(leakage).values()) == {0}


@pytest.mark.parametrize("wanted", [SplitSettings(test_size=0.4, group_by=()), SplitSettings(folds=3, group_by=())])
def test_with_the_guards_off_exactly_the_planted_leaks_are_counted(wanted: SplitSettings) -> None:
    records, pairs = planted(6)
    split = split_records(records, wanted, taxonomy=shipped_taxonomy())
    leakages = measured(records, split)
    total = NOTHING
    for name, leakage in leakages.items():
        across = crossing(split, pairs, name)
        total += across
        # Values are marked by code words, so a copy and a twin share theirs, too; that of a text with changed values differs.
        same_value = across["copy"] + across["contrast twin"] + across["rare value"]
        same_text = across["copy"] + across["contrast twin"]
        assert figures(leakage) == {
            "values": same_value,
            "open values": same_value,
            "codes": same_value,
            "strings": same_value,
            "contexts near": same_text + across["changed values"],
            "contexts same": same_text,
            "questions near": across["near question"],
            "questions same": 0,
            "stories": across["story"],
            "personas": across["persona"],
        }
        assert leakage.records == leakage.contexts_near.of == leakage.questions_near.of == len(split.ids[name])
    assert min(total[kind] for kind in pairs) > 0


@pytest.mark.parametrize(
    ("guard", "stopped"),
    [
        ("keys", {"contrast twin", "story", "persona"}),
        ("contexts", {"copy", "changed values", "contrast twin"}),
        ("questions", {"near question"}),
        ("values", {"copy", "rare value"}),  # the records of one text are a matter of "keys" and "contexts"
        ("parents", {"parent"}),
    ],
)
def test_each_guard_stops_its_own_leaks(guard: str, stopped: set[str]) -> None:
    records, pairs = planted(8)
    crossed = crossing(split_records(records, SplitSettings(test_size=0.4, group_by=(guard,)), taxonomy=shipped_taxonomy()), pairs)  # type: ignore[arg-type]
    assert set(pairs) - set(crossed) == stopped


def test_a_paraphrase_stays_with_its_parent() -> None:
    parents = [plain_record(n) for n in range(60)]
    children = [replace(plain_record(100 + n), provenance=Provenance(stage="paraphrase", parents=(f"r{n:05d}@0",))) for n in range(60)]
    split = split_records([*parents, *children], SplitSettings(test_size=30), taxonomy=shipped_taxonomy())
    assert {int(record_id[1:]) % 100 for record_id in split.ids["test"] if record_id < "r00100"} == {
        int(record_id[1:]) % 100 for record_id in split.ids["test"] if record_id >= "r00100"
    }


def test_types_case_and_strings() -> None:
    train = [plain_record(1, values={"Leeds": "location", "Mercury": "organization"}), plain_record(2, values={"STRASSE": "location"})]
    test = [plain_record(3, values={"leeds": "location", "mercury": "belief", "straße": "location", "York": "location"}, question=None)]
    leakage = measure_leakage({"train": train, "test": test}, taxonomy=shipped_taxonomy()).splits["test"]
    assert leakage.values == SeenShare(seen=2, of=4)
    assert leakage.by_type == {"location": SeenShare(seen=2, of=3), "belief": SeenShare(seen=0, of=1)}
    assert leakage.open_values == SeenShare(seen=2, of=3)  # a belief is of a closed type
    assert leakage.strings == SeenShare(seen=3, of=4)
    assert leakage.questions_near == SeenShare(seen=0, of=0)
    assert leakage.questions_near.share is None


def test_near_texts_between_two_sets() -> None:
    known = ["one two three four five six seven", "quite another text of which nothing else is said"]
    asked = ["One two, three four five six eight", "never seen anywhere before at all", "ONE two three: four five six seven!"]
    train = [plain_record(n, values={}, context=text, question=text) for n, text in enumerate(known)]
    test = [plain_record(10 + n, values={}, context=text, question=text) for n, text in enumerate(asked)]
    leakage = measure_leakage({"train": train, "validation": train[:1], "test": test}, taxonomy=shipped_taxonomy()).splits
    for near, same in (("contexts_near", "contexts_same"), ("questions_near", "questions_same")):
        assert getattr(leakage["test"], near) == SeenShare(seen=2, of=3)
        assert getattr(leakage["test"], same) == SeenShare(seen=1, of=3)
        assert getattr(leakage["validation"], same) == SeenShare(seen=1, of=1)


def test_the_report_is_json_and_the_same_whatever_the_order() -> None:
    records, _ = planted(3, plain=40)
    split = split_records(records, SplitSettings(test_size=0.4, group_by=()), taxonomy=shipped_taxonomy())
    by_id = {record.id: record for record in records}
    one = measure_leakage({name: [by_id[i] for i in ids] for name, ids in split.ids.items()}, taxonomy=shipped_taxonomy()).to_json()
    other = measure_leakage(
        {name: [by_id[i] for i in reversed(ids)] for name, ids in reversed(split.ids.items())}, taxonomy=shipped_taxonomy()
    ).to_json()
    assert json.dumps(one) == json.dumps(other)
    assert one["test"]["against"] == "train"  # type: ignore[index]
    assert set(one["test"]["values"]) == {"seen", "of", "share"}  # type: ignore[index]


@pytest.mark.parametrize("splits", [{}, {"train": [plain_record(1)]}, {"fold1": [plain_record(1)]}])
def test_a_single_split_is_compared_with_nothing(splits: dict[str, list[Record]]) -> None:
    assert measure_leakage(splits, taxonomy=shipped_taxonomy()).to_json() == {}


def test_an_empty_split_has_no_shares() -> None:
    leakage = measure_leakage({"train": [plain_record(1)], "test": []}, taxonomy=shipped_taxonomy()).splits["test"]
    assert (leakage.records, leakage.values.share, leakage.contexts_near.share) == (0, None, None)
