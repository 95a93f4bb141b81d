"""Triplets: round-robin over topics, no repeats, the same prefix however many are wanted, asked for only when needed."""

from __future__ import annotations

import json
import random
from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from piiloom.corpus.store.runs import load_rejects, load_shared_results
from piiloom.execution.ordering import StopSignal
from piiloom.foundation.seeding import derive_rng
from piiloom.generation.plan.supply import list_triplets, topic_order
from piiloom.generation.running.topic_catalog import TopicCatalog
from piiloom.generation.stage import ItemRejected
from piiloom.generation.stages import subtopics, topics
from piiloom.providers.errors import AuthFailed
from piiloom.taxonomy.entity_types import shipped_taxonomy
from tests.generation.scripted_provider import bench

WORDS = ["night", "shift", "shifts", "rent", "fees", "Fees", "gym"]
entries = st.lists(st.lists(st.sampled_from(WORDS), min_size=1, max_size=2).map(" ".join), max_size=5)
known_topics = st.dictionaries(st.sampled_from(["sick pay", "first homes", "team sport", "long hikes"]), entries, min_size=1)


def full(topic_names, subtopic_lists):
    return list_triplets(topic_names, subtopic_lists, 10**6)


def test_triplets_go_round_the_topics():
    found = full(["a", "b", "c"], {"a": ["one", "two", "three"], "b": [], "c": ["four", "five"]}).found
    assert found == (("a", "one"), ("c", "four"), ("a", "two"), ("c", "five"), ("a", "three"))


def test_repeats_are_dropped_with_their_code():
    subtopic_lists = {"sick pay": ["part time", "part times"], "sick": ["pay part time"], "Sick Pay": ["part time"]}
    listed = full(["sick pay", "sick", "Sick Pay"], subtopic_lists)
    assert listed.complete
    assert listed.found == (("sick pay", "part time"),)
    assert [(drop.topic, drop.subtopic, drop.code) for drop in listed.dropped] == [
        ("sick", "pay part time", "duplicate_exact"),
        ("Sick Pay", "part time", "duplicate_normalised"),
        ("sick pay", "part times", "duplicate_near"),
    ]


@given(known_topics, st.integers(0, 12), st.integers(0, 12))
@settings(deadline=None)
def test_more_wanted_begins_with_fewer_wanted(subtopic_lists, few, more):
    names = sorted(subtopic_lists)
    small, large = (list_triplets(names, subtopic_lists, wanted) for wanted in sorted((few, more)))
    assert large.found[: len(small.found)] == small.found
    assert large.dropped[: len(small.dropped)] == small.dropped


@given(known_topics, st.integers(0, 12), st.sets(st.sampled_from(["sick pay", "first homes", "team sport", "long hikes"])))
@settings(deadline=None)
def test_what_is_found_before_all_is_known_stays(subtopic_lists, wanted, unknown):
    names = sorted(subtopic_lists)
    partial = {topic: listed for topic, listed in subtopic_lists.items() if topic not in unknown}
    early, late = list_triplets(names, partial, wanted), list_triplets(names, subtopic_lists, wanted)
    assert late.found[: len(early.found)] == early.found
    assert set(early.missing) <= unknown
    # Never asks for more topics than triplets are still wanted, and always for some unless it has what it needs.
    assert len(early.missing) <= wanted - len(early.found)
    assert early.missing or early.complete or len(early.found) == wanted


@given(known_topics, st.integers(0, 12))
@settings(deadline=None)
def test_every_planned_triplet_is_found_or_dropped_once(subtopic_lists, wanted):
    names = sorted(subtopic_lists)
    listed = list_triplets(names, subtopic_lists, wanted)
    assert len(listed.found) <= wanted
    assert listed.missing == ()
    assert listed.complete or len(listed.found) == wanted
    if listed.complete:
        assert len(listed.found) + len(listed.dropped) == sum(map(len, subtopic_lists.values()))
    assert len(set(listed.found)) == len(listed.found)


def test_only_the_topics_that_are_needed_are_missing():
    assert list_triplets(["a", "b", "c"], {}, 2).missing == ("a", "b")
    assert list_triplets(["a", "b", "c"], {"a": ["x"]}, 2).missing == ("b",)
    assert list_triplets(["a", "b", "c"], {"a": []}, 2).missing == ("b", "c")
    nothing = list_triplets([], {}, 2)
    assert nothing.complete
    assert not nothing.missing


def test_the_order_of_topics_is_seeded_by_pair():
    names = [f"topic {letter}" for letter in "abcdefgh"]
    assert sorted(topic_order(names, 7, ("age", "health"))) == names
    assert topic_order(names, 7, ("age", "health")) == topic_order(names, 7, ("age", "health"))
    assert topic_order(names, 7, ("age", "health")) != topic_order(names, 8, ("age", "health"))
    assert topic_order(names, 7, ("age", "health")) != topic_order(names, 7, ("age", "belief"))


# A catalog over an author who lists what it is asked for.


def invented(call, *, repeats=0.0):
    """Topics or subtopics of random letters; a share *repeats* of them is said before, in another spelling or number."""
    rng = derive_rng("author", call.item_id)
    listed = []
    for _ in range(call.variables["count"]):
        phrase = " ".join("".join(rng.choices("abcdefghijklmnopqrstuvwxyz", k=rng.randint(5, 8))) for _ in range(2))
        if listed and rng.random() < repeats:
            old = rng.choice(listed)
            phrase = rng.choice((old, old.upper(), f"{old}s"))
        listed.append(phrase)
    return {call.stage: listed}


def all_triplets(catalog, planned):
    return [catalog.triplet(index) for index in range(planned)]


def ensured(made, planned):
    """A new catalog that has all that *planned* items need."""
    catalog = TopicCatalog(made.ctx, made.committer, made.store, made.run_id)
    assert made.do(catalog.ensure(planned, StopSignal()))
    assert catalog.is_ready(planned)
    return catalog


def test_items_are_dealt_evenly_and_independently_of_how_many_are_planned():
    dealt = {}
    for planned in (100, 900):
        with bench(lambda call: invented(call, repeats=0.2), topics_per_pair=3, subtopics_per_topic=4) as made:
            dealt[planned] = all_triplets(ensured(made, planned), planned)
    assert dealt[900][:100] == dealt[100]
    for first in (1, 77, 78, 100, 500, 900):
        counts = Counter(pair for pair, _ in dealt[900][:first])
        assert len(counts) == min(first, 78)
        assert max(counts.values()) - min(counts.values()) <= 1


def test_a_catalog_asks_only_for_what_is_missing_and_starts_over_at_the_end():
    with bench(invented, topics_per_pair=3, subtopics_per_topic=4, pairs="age+belief,health+occupation") as made:
        grown = ensured(made, 3)
        asked = len(made.provider.calls)
        assert asked == 2 + 3  # topics of both pairs; two topics of one pair, one of the other
        assert not grown.is_ready(20)
        assert made.do(grown.ensure(20, StopSignal()))
        assert len(made.provider.calls) == 2 + 6
        assert made.do(grown.ensure(48, StopSignal()))
        assert len(made.provider.calls) == 2 + 6
        # 12 triplets a pair: the plan starts over when they are used up.
        dealt = all_triplets(grown, 48)
        assert dealt[24:] == dealt[:24]
        assert len(set(dealt)) == 24


@pytest.mark.parametrize("questions", [1, 2, 4])
def test_topics_are_asked_for_the_pairs_of_the_texts_that_are_planned(questions):
    with bench(invented, topics_per_pair=3, subtopics_per_topic=4, recipe="case", questions_per_text=questions) as made:
        catalog = TopicCatalog(made.ctx, made.committer, made.store, made.run_id)
        assert not catalog.has_topics(1)
        assert made.do(catalog.ensure_topics(8, StopSignal()))
        asked = [call.item_id for call in made.provider.calls]
        assert sorted(asked) == sorted("+".join(pair) for pair in catalog.pairs[: 8 // questions])
        assert catalog.has_topics(8)
        assert not catalog.has_topics(9)
        assert not catalog.is_ready(1)
        assert made.do(catalog.ensure_subtopics(8, StopSignal()))
        assert len(made.provider.calls) == 2 * (8 // questions)
        assert catalog.is_ready(8)
        assert [catalog.triplet(text)[0] for text in range(8 // questions)] == catalog.pairs[: 8 // questions]


def test_a_pair_without_topics_rejects_its_items_and_no_others():
    def silent_on_age(call):
        return {call.stage: []} if call.item_id.startswith("age+belief") else invented(call)

    with bench(silent_on_age, pairs="age+belief,health+occupation", max_attempts=2) as made:
        catalog = ensured(made, 6)
        for index, pair in enumerate(catalog.pairs):
            if pair == ("age", "belief"):
                with pytest.raises(ItemRejected) as caught:
                    catalog.triplet(index)
                assert (caught.value.code, caught.value.stage) == ("no_topics", "topics")
            else:
                assert catalog.triplet(index)[0] == pair
        made.committer.close()
        rejects = load_rejects(made.store, made.run_id)
    assert [(row.key, row.stage, row.reason_code, row.attempts) for row in rejects] == [("age+belief", "topics", "no_topics", 2)]


def test_an_error_of_the_run_while_asking_propagates():
    with bench(lambda call: AuthFailed("wrong key")) as made, pytest.raises(AuthFailed):
        ensured(made, 10)


def test_a_stop_while_asking_is_told():
    stop = StopSignal()

    def stopping(call):
        stop.request()
        return invented(call)

    with bench(stopping) as made:
        catalog = TopicCatalog(made.ctx, made.committer, made.store, made.run_id)
        assert not made.do(catalog.ensure(200, stop))
        assert len(made.provider.calls) < 78


@pytest.mark.long
@pytest.mark.parametrize("seed", [7])
def test_the_size_of_the_literature(seed):
    """78 pairs x 10 topics x 20 subtopics: 15,600 planned triplets, each found or dropped with a reason."""
    with bench(lambda call: invented(call, repeats=0.2 if call.stage == "subtopics" else 0.0), seed=seed, concurrency=64) as made:
        catalog = TopicCatalog(made.ctx, made.committer, made.store, made.run_id)
        assert made.do(catalog.ensure(15_600, StopSignal()))
        made.committer.close()
        listed = {stage: load_shared_results(made.store, made.run_id, stage) for stage in (topics.NAME, subtopics.NAME)}
        drops = load_rejects(made.store, made.run_id)
    assert len(listed[topics.NAME]) == 78
    assert len(listed[subtopics.NAME]) == 780
    found = {(pair, triplet) for pair in shipped_taxonomy().pairs for triplet in catalog._triplets[pair].found}
    assert len(found) + len(drops) == 15_600
    assert 11_000 < len(found) < 14_000
    assert all(catalog._triplets[pair].complete for pair in shipped_taxonomy().pairs)
    assert {row.reason_code for row in drops} == {"duplicate_exact", "duplicate_normalised", "duplicate_near"}
    assert all(row.key and row.stage == "subtopics" for row in drops)
    kept = sum(len(json.loads(payload)) for payload in listed[subtopics.NAME].values())
    within = [row for row in drops if row.detail]
    assert kept + len(within) == 15_600
    rng = random.Random(seed)
    assert all(catalog.triplet(index) in found for index in rng.sample(range(15_600), 200))
