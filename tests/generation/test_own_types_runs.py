"""Runs with own entity types: their values, high and low, from the composer and from a model; and that a run remembers them."""

from __future__ import annotations

import re
from collections import Counter

import pytest

import piiloom
from piiloom.corpus.store.database import Store
from piiloom.corpus.store.records import iter_records
from piiloom.corpus.store.releases import keep_types, types_of
from piiloom.corpus.store.runs import get_run
from piiloom.detection.registry import PatternDetector
from piiloom.foundation.errors import StoreError, UsageError
from piiloom.foundation.seeding import derive_rng
from piiloom.generation.plan.planning import pair_order
from piiloom.generation.run_session import run_to_end
from piiloom.generation.running.opening import resume_run, start_run
from piiloom.generation.settings.configuration import RunConfig
from piiloom.generation.settings.digests import run_digest, shaping
from piiloom.generation.settings.setting_checks import make_config, read_config
from piiloom.pii_values.drawing import ValueRequest, draw_values
from piiloom.pii_values.kinds import kinds_for
from piiloom.pii_values.persona import draw_persona
from piiloom.taxonomy.entity_types import shipped_taxonomy
from piiloom.taxonomy.own_types import asides_digest, extended
from piiloom.taxonomy.own_types_file import read_types_file
from tests.fakes.llm_author import Author
from tests.fakes.llm_server import LLMServer
from tests.generation.llm_runs import check_exact, config_for, set_keys
from tests.generation.llm_runs import start as start_on_a_server
from tests.taxonomy.own_types_example import BANK, BY_MODEL, MINE, TYPES, written

OWN = {"recipe": "staged", "types": TYPES, "bank": BANK, "pairs": "health+vehicle plate,occupation+vehicle plate,health+pet"}
PLATE = re.compile(r"[A-HJ-NPR-Z]{3}-[0-9]{4}", re.IGNORECASE)


def started(path, **settings):
    with Store.open(path) as store:
        return run_to_end(start_run(store, make_config({"samples": 60, **OWN, **settings})))


def records_of(path):
    with Store.open(path, create=False) as store:
        return list(iter_records(store, run_id=get_run(store, "last").id))


def test_values_of_own_types_matter_in_some_texts_and_not_in_others(tmp_path):
    path = tmp_path / "own.duckdb"
    assert started(path).accepted == 60
    records = records_of(path)
    check_exact(records)
    labels = Counter((span.entity_type, span.relevance) for record in records for span in record.spans)
    for name in ("vehicle plate", "pet"):
        assert labels[name, "high"] >= 5
        assert labels[name, "low"] >= 2
    pets = read_types_file(TYPES)[1].subtypes[0].generator.values
    for record in records:
        for span in record.spans:
            text = span.text_in(record.context)
            if span.entity_type == "vehicle plate":
                # Copied, not typed: no register changes its case.
                assert PLATE.fullmatch(text)
                assert text == text.upper()
            elif span.entity_type == "pet":
                assert text.casefold() in pets


def test_the_same_seed_gives_the_same_records(tmp_path):
    started(tmp_path / "a.duckdb", samples=20)
    started(tmp_path / "b.duckdb", samples=20, concurrency=3)
    assert records_of(tmp_path / "a.duckdb") == records_of(tmp_path / "b.duckdb")


def test_without_own_types_nothing_of_a_run_changes():
    config = RunConfig()
    assert config.taxonomy() is shipped_taxonomy()
    assert "types" not in shaping(config)
    assert run_digest(RunConfig(types=read_types_file(TYPES))) != run_digest(config)


def test_a_run_has_its_types_with_it(tmp_path):
    path, types = tmp_path / "own.duckdb", tmp_path / "types.yaml"
    types.write_text(TYPES.read_text(encoding="utf-8").replace("pets.txt", "[greyhound, beagle, tortoise]"), encoding="utf-8")
    started(path, types=types, samples=8)
    types.unlink()
    with Store.open(path, create=False) as store:
        assert [one.name for one in types_of(store)] == ["vehicle plate", "pet"]
        assert run_to_end(resume_run(store, get_run(store, "last"), samples=12)).accepted == 12
    assert make_config(get_config(path)).types[1].subtypes[0].generator.values == ("greyhound", "beagle", "tortoise")


def get_config(path):
    with Store.open(path, create=False) as store:
        return get_run(store, "last").config


def test_a_name_means_one_thing_in_a_store(tmp_path):
    path = tmp_path / "own.duckdb"
    started(path, samples=4)
    changed = tmp_path / "types.yaml"
    changed.write_text(TYPES.read_text(encoding="utf-8").replace("pets.txt", "[greyhound, beagle]"), encoding="utf-8")
    with pytest.raises(StoreError, match=r"another definition of an own type; what differs: pet\.subtypes"):
        started(path, types=changed, samples=4)
    with Store.open(path, create=False) as store:
        assert keep_types(store, read_types_file(TYPES)) == 0
        assert keep_types(store, read_types_file(BY_MODEL)) == 1
        assert [one.name for one in types_of(store)] == ["vehicle plate", "pet", "hobby"]


def test_a_run_file_may_name_them(tmp_path):
    run = tmp_path / "run.yaml"
    run.write_text(f"types: {TYPES}\nbank: {BANK}\n", encoding="utf-8")
    config = read_config(run, {"recipe": "staged"})
    assert [one.name for one in config.types] == ["vehicle plate", "pet"]
    assert {("health", "pet"), ("health", "vehicle plate")} <= set(pair_order(config))
    for wrong in ("[{name: pet}]", "7", "{pet: cat}"):
        run.write_text(f"types: {wrong}\n", encoding="utf-8")
        with pytest.raises(UsageError, match="needs the name of a types file") as caught:
            read_config(run, {})
        assert "run.yaml:1" in str(caught.value)


def test_the_composer_says_which_scenarios_it_lacks():
    with pytest.raises(UsageError, match=r"no scenario of health\+vehicle plate, occupation\+vehicle plate.*--bank .*own-types\.md"):
        make_config({"types": TYPES, "recipe": "staged"})
    with pytest.raises(UsageError, match=r"the bank has no scenario of health\+pet\. Add some to a bank file of your own"):
        make_config({"types": TYPES, "pairs": "pet+health", "recipe": "staged"})
    # Pairs that need none can be had all the same; a model needs no scenario at all.
    assert make_config({"types": TYPES, "pairs": "health+occupation"}).chosen_pairs() == (("health", "occupation"),)
    assert len(make_config({"types": TYPES, "provider": "openai"}).chosen_pairs()) == 81


def test_the_composer_says_which_stories_it_lacks(tmp_path):
    with pytest.raises(UsageError, match=r"no story of health\+vehicle plate, occupation\+vehicle plate.*--bank .*own-types\.md"):
        make_config({"types": TYPES, "bank": BANK})
    with pytest.raises(UsageError, match=r"there is no story of health\+pet\. Add some"):
        make_config({"types": TYPES, "pairs": "pet+health"})
    assert make_config({"types": TYPES, "bank": BANK, "pairs": "pet+health"}).chosen_pairs() == (("health", "pet"),)
    types = tmp_path / "types.yaml"
    types.write_text("types: [{name: badge, definition: B., examples: [a-1, b-2], pairs: [], generator: {lexicon: [a-1, b-2]}}]", "utf-8")
    with pytest.raises(UsageError, match="there is no story that holds the type 'badge'"):
        make_config({"types": types})


def test_a_bank_without_stories_is_refused(tmp_path):
    bank = tmp_path / "mine.yaml"
    bank.write_text('frames: ["I saw {location.city} once."]\n', encoding="utf-8")
    with pytest.raises(UsageError, match=r"mine\.yaml: there is no story in it\. .*--recipe staged"):
        make_config({"bank": bank}).chosen_pairs()


def test_a_type_that_pairs_with_all_needs_some_sentence(tmp_path):
    types = tmp_path / "types.yaml"
    types.write_text(
        TYPES.read_text(encoding="utf-8").replace("pairs: [health]", "pairs: all").replace("pets.txt", "[emu, rhea]"), encoding="utf-8"
    )
    assert ("health", "pet") in make_config({"types": types, "bank": BANK, "recipe": "staged"}).chosen_pairs()
    types.write_text(
        "types: [{name: badge, definition: A badge., examples: [a-1, b-2], pairs: [], generator: {lexicon: [a-1, b-2]}}]",
        encoding="utf-8",
    )
    with pytest.raises(UsageError, match="the bank has no sentence that holds the type 'badge'"):
        make_config({"types": types, "recipe": "staged"})


def test_the_composer_invents_no_values():
    with pytest.raises(UsageError, match="the composer has no values of hobby"):
        make_config({"types": BY_MODEL})


def test_definitions_of_one_name_are_kept_apart(tmp_path):
    request = [ValueRequest(entity_type="pet", subtypes=("breed",))]
    drawn = []
    for lexicon in ("[newt, toad]", "[emu, rhea]"):
        own = read_types_file(written(tmp_path, MINE.replace("[greyhound, beagle, corn snake]", lexicon)))
        rng = derive_rng("test")
        drawn.append(draw_values(draw_persona(rng, "en_US"), request, rng, taxonomy=extended(own))[0].text)
    assert drawn[0] in {"newt", "toad"}
    assert drawn[1] in {"emu", "rhea"}
    with pytest.raises(UsageError, match="no values for type 'pet'"):
        kinds_for("pet", None, taxonomy=shipped_taxonomy())


@pytest.mark.long
def test_a_model_invents_values_and_is_told_what_the_type_is(tmp_path, monkeypatch):
    set_keys(monkeypatch)
    prompts: list[tuple[str, str]] = []

    def answer(request):
        prompts.append((request.schema_name, request.user))
        return author(request)

    author = Author(7)
    with LLMServer(answer) as server, Store.open(tmp_path / "own.duckdb") as store:
        config = config_for("openai", server, types=BY_MODEL, pairs="hobby+occupation", samples=8)
        assert start_on_a_server(store, config).accepted == 8
        records = list(iter_records(store))
    check_exact(records)
    assert {"high"} <= {span.relevance for record in records for span in record.spans if span.entity_type == "hobby"}
    asked = [prompt for name, prompt in prompts if name == "pii_value"]
    # Only values of the own type are asked for; all others are drawn.
    assert asked
    assert all("Kind of fact: hobby, more closely value: What somebody does in their free time" in prompt for prompt in asked)
    assert all("It looks like: church bell ringing; restoring typewriters; lock picking" in prompt for prompt in asked)
    (topics,) = (prompt for name, prompt in prompts if name == "topics")
    assert "to tell them from others. For example: church bell ringing; restoring typewriters; lock picking." in topics
    told = [
        prompt for name, prompt in prompts if name == "situation" and "(hobby, that is: What somebody does in their free time" in prompt
    ]
    assert told


def test_all_values_can_be_asked_of_the_model(tmp_path, monkeypatch):
    set_keys(monkeypatch)
    with LLMServer(Author(7)) as server, Store.open(tmp_path / "own.duckdb") as store:
        config = config_for("compatible", server, types=TYPES, pairs="pet+health", samples=4, values="llm")
        assert start_on_a_server(store, config).accepted == 4
        spans = [span for record in iter_records(store) for span in record.spans]
    assert "pet" in {span.entity_type for span in spans}


@pytest.mark.long
@pytest.mark.parametrize(("recipe", "locale"), [("story", "en_US"), ("story", "pt_BR"), ("story", "sv_SE"), ("staged", "en_GB")])
def test_a_type_with_a_name_and_a_pattern_comes_up_in_texts_without_a_story(tmp_path, recipe, locale):
    types, path = tmp_path / "types.yaml", tmp_path / "own.duckdb"
    types.write_text(
        "types:\n  - {name: badge number, pattern: 'B-[0-9]{6}'}\n  - {name: crew code, pattern: 'C[A-F]{7}'}\n", encoding="utf-8"
    )
    assert piiloom.generate(samples=60, store=path, types=types, recipe=recipe, locale=locale, seed=5).accepted == 60
    with Store.open(path) as store:
        records = list(iter_records(store))
    spans = [(record, span) for record in records for span in record.spans if span.entity_type in ("badge number", "crew code")]
    texts = {record.context for record, _ in spans}
    assert {span.entity_type for _, span in spans} == {"badge number", "crew code"}
    assert len(texts) >= len({record.context for record in records}) / 10
    for record, span in spans:
        assert re.fullmatch("B-[0-9]{6}|C[A-F]{7}", record.context[span.start : span.end])
        assert (span.relevance, span.subject) == ("low", "self")
    if locale != "sv_SE":  # detect finds them by the same file, wherever in a text they are
        detector = PatternDetector(own=(types,))
        for record in records:
            found = {(one.start, one.end, one.entity_type) for one in detector.detect(record.context, locale)}
            assert {(span.start, span.end, span.entity_type) for other, span in spans if other is record} <= found


def test_asides_change_the_digest_of_a_run_and_no_other(tmp_path):
    minimal, told = tmp_path / "types.yaml", make_config({"types": TYPES, "bank": BANK, "pairs": "pet+health"})
    minimal.write_text("types:\n  - {name: badge number, pattern: 'B-[0-9]{6}'}\n", encoding="utf-8")
    assert [one.name for one in make_config({"types": minimal}).aside_types()] == ["badge number"]
    assert told.aside_types() == make_config({}).aside_types() == make_config({"types": minimal, "provider": "openai"}).aside_types() == ()
    assert asides_digest(()) == {}
    assert make_config({"types": minimal}).chosen_pairs() == make_config({}).chosen_pairs()
