"""Runs by the recipe ``story``: contrast groups, evenly over stories and questions, the same bytes however they are made."""

from __future__ import annotations

import json
from collections import Counter, defaultdict

import pytest

from piiloom.corpus.releases.freezing import create_release
from piiloom.corpus.store.database import Store
from piiloom.corpus.store.records import iter_records
from piiloom.corpus.store.releases import get_release, release_members
from piiloom.corpus.store.runs import get_run
from piiloom.foundation.errors import UsageError
from piiloom.generation.run_session import run_to_end
from piiloom.generation.running.opening import resume_run, start_run
from piiloom.generation.running.tracing import report_stages
from piiloom.generation.settings.digests import run_digest
from piiloom.generation.settings.setting_checks import make_config
from piiloom.taxonomy.entity_types import shipped_taxonomy
from piiloom.taxonomy.locales import get_locale
from piiloom.taxonomy.story_bank import StoryBank, stories_for
from tests.generation.composer_settings import exported, finished, resume, script, start
from tests.taxonomy.story_example import STORY as EXAMPLE

STORY = {"recipe": "story", "no_pii_share": 0}
NUMBER = 312  # two texts of each pair


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    found = tmp_path_factory.mktemp("stories") / "one.duckdb"
    progress = start(found, samples=NUMBER, **STORY)
    assert (progress.status, progress.accepted) == ("finished", NUMBER)
    return found


@pytest.fixture(scope="module")
def records(path):
    with Store.open(path) as store:
        return list(iter_records(store, run_id=get_run(store, "last").id))


@pytest.fixture(scope="module")
def groups(records):
    found = defaultdict(list)
    for record in records:
        found[record.contrast_group].append(record)
    return found


@pytest.mark.long
def test_records_of_one_text_are_a_contrast_group(groups):
    assert None not in groups
    assert all(len({record.context for record in group}) == 1 for group in groups.values())
    assert len({group[0].context for group in groups.values()}) == len(groups)
    whole = [group for group in groups.values() if len(group) == 2]
    assert len(whole) >= 0.95 * len(groups)
    for one, other in whole:
        assert one.question != other.question
        assert [(s.id, s.start, s.end, s.entity_type, s.value_id) for s in one.spans] == [
            (s.id, s.start, s.end, s.entity_type, s.value_id) for s in other.spans
        ]


def test_what_is_high_depends_on_the_question(groups):
    whole = [group for group in groups.values() if len(group) == 2]
    differ = sum([s.relevance for s in one.spans] != [s.relevance for s in other.spans] for one, other in whole)
    assert differ >= 0.95 * len(whole)


def test_a_record_says_why_values_are_high(records):
    for record in records:
        high = {span.text_in(record.context) for span in record.spans if span.relevance == "high"}
        assert bool(record.plan.rationale) == bool(high)
        assert all(f"{value} (" in record.plan.rationale for value in high)


def test_pairs_stories_and_questions_are_used_evenly(records):
    pairs = Counter(record.plan.pair for record in records)
    assert set(pairs) == set(shipped_taxonomy().pairs)
    assert set(pairs.values()) == {4}
    assert set(Counter(record.plan.scenario for record in records).values()) == {2}
    assert len({(record.plan.scenario, record.question) for record in records}) == len(records)


def test_a_story_that_is_told_again_asks_other_questions(tmp_path):
    path = tmp_path / "s.duckdb"
    start(path, samples=24, pairs="health+occupation", **STORY)
    with Store.open(path) as store:
        records = list(iter_records(store))
    told = Counter(record.plan.scenario for record in records)
    assert (len(told), max(told.values())) <= (
        len(stories_for(("health", "occupation"))),
        6,
    )  # twice each, but where one text was too much like another
    assert len({(record.plan.scenario, record.question) for record in records}) >= 20


def test_every_story_of_a_pair_is_told_whatever_its_topic_is_called(tmp_path):
    bank = tmp_path / "bank.yaml"
    bank.write_text(
        EXAMPLE.replace("topic: choir rent", "topic: the rent of a hall for a choir")
        + "".join(
            EXAMPLE.removeprefix("stories:\n").replace("choir-rent", f"choir-{n}").replace("topic: choir rent", f"topic: choir rents {n}")
            for n in ("one", "two", "three", "four", "five", "six", "seven", "eight")
        )
    )
    path = tmp_path / "s.duckdb"
    start(path, samples=60, pairs="finance+location", bank=bank, **STORY)
    with Store.open(path) as store:
        told = {record.plan.scenario for record in iter_records(store)}
    assert len([name for name in told if ".choir-" in name]) == 9


def test_a_share_of_the_texts_is_without_personal_data(tmp_path):
    path = tmp_path / "plain.duckdb"
    assert start(path, samples=240, no_pii_share=0.1, recipe="story").accepted == 240
    with Store.open(path) as store:
        texts = list({record.context: record for record in iter_records(store)}.values())
    plain = [record.plan for record in texts if not record.spans]
    assert [len(texts), len(plain)] == [120, 12]
    assert all(plan.scenario.startswith("plain.") and plan.rationale is None for plan in plain)
    assert sum(bool(plan.lookalikes) for plan in plain) >= 10
    assert set(Counter(record.plan.scenario for record in texts if record.spans).values()) == {1}


def test_a_text_is_never_split_between_train_and_test(path, records, groups):
    with Store.open(path) as store:
        create_release(store, "r", test_size=60, seed=3, run="last")
        where = {record: split for record, _, split in release_members(store, get_release(store, "r"))}
    assert set(where.values()) == {"train", "test"}
    assert all(len({where[record.id] for record in group}) == 1 for group in groups.values())
    stories = {record.plan.scenario: set() for record in records}
    for record in records:
        stories[record.plan.scenario].add(where[record.id])
    assert all(len(found) == 1 for found in stories.values())


@pytest.mark.long
def test_any_concurrency_process_and_resumption_gives_the_same_bytes(tmp_path):
    whole, other, grown = (tmp_path / f"{name}.duckdb" for name in ("whole", "other", "grown"))
    start(whole, samples=60, seed=11, concurrency=1, **STORY)
    code, _, errors = finished(
        script("start", str(other), json.dumps({"samples": 60, "seed": 11, "concurrency": 32, **STORY}), hash_seed=5)
    )
    assert code == 0, errors
    start(grown, samples=21, seed=11, **STORY)
    resume(grown, samples=60)
    assert exported(whole) == exported(other) == exported(grown)


@pytest.mark.long
def test_stages_one_by_one_give_the_same_bytes(tmp_path):
    whole, alone = tmp_path / "whole.duckdb", tmp_path / "alone.duckdb"
    start(whole, samples=20, **STORY)
    with Store.open(alone) as store:
        config = make_config({"samples": 20, **STORY})
        run_to_end(start_run(store, config), stage="topics")
    for stage in ("subtopics", "story", "screen"):
        with Store.open(alone, create=False) as store:
            run_to_end(resume_run(store, get_run(store, "last")), stage=stage)
    assert exported(whole) == exported(alone)
    with Store.open(alone, create=False) as store:
        lines = report_stages(store, get_run(store, "last"))
    assert [(line.stage, line.done) for line in lines[2:]] == [("story", 20), ("screen", 20)]


@pytest.mark.parametrize("number", [1, 3])
def test_how_many_questions_a_text_is_asked(tmp_path, number):
    path = tmp_path / "s.duckdb"
    start(path, samples=30, pairs="health+occupation,age+finance", questions_per_text=number, **STORY)
    with Store.open(path) as store:
        groups = Counter(record.contrast_group for record in iter_records(store))
    assert max(groups.values()) == number


def test_stories_of_ones_own(tmp_path):
    bank = tmp_path / "bank"
    bank.mkdir()
    (bank / "own.yaml").write_text(EXAMPLE, encoding="utf-8")
    assert len(StoryBank("en", bank, taxonomy=shipped_taxonomy()).for_pair(("finance", "location"))) == 1 + len(
        StoryBank(language="en", extra=None, taxonomy=shipped_taxonomy()).for_pair(("finance", "location"))
    )
    ours, shipped = make_config({**STORY, "bank": bank}), make_config(STORY)
    assert run_digest(ours) != run_digest(shipped)


def test_what_does_not_go_together_is_refused():
    with pytest.raises(UsageError, match="only the composer can use the recipe story"):
        make_config({**STORY, "provider": "openai", "model": "m"})
    german = StoryBank(language="de", extra=None, taxonomy=shipped_taxonomy())
    with pytest.raises(UsageError, match="there are no stories in German"):
        german.tellable([("age", "belief")], everything=False, locale=get_locale("de_DE"))


def test_a_text_of_another_recipe_is_asked_one_question():
    with pytest.raises(UsageError, match="the recipe staged asks one question per text"):
        make_config({"questions_per_text": 2, "recipe": "staged"})


def test_a_run_keeps_its_recipe(path):
    with Store.open(path, create=False) as store, pytest.raises(UsageError, match="a run keeps its recipe"):
        resume_run(store, get_run(store, "last"), recipe="staged")
