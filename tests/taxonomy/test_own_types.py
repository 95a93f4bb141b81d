"""The taxonomy with own types: pairs, spellings, digest, and where it is in force."""

from __future__ import annotations

import pytest

from piiloom.foundation.errors import ConfigError, DataError, UsageError
from piiloom.taxonomy.bank_loading import load_bank
from piiloom.taxonomy.entity_types import shipped_taxonomy
from piiloom.taxonomy.own_types import differences, extended, from_json, to_json
from piiloom.taxonomy.own_types_file import read_types_file
from tests.taxonomy.own_types_example import BANK, MINE, TYPES, written


@pytest.fixture
def own(tmp_path):
    return read_types_file(written(tmp_path))


def test_own_types_stand_after_those_that_ship(own):
    taxonomy, shipped = extended(own), shipped_taxonomy()
    assert list(taxonomy.types) == [*shipped.types, "vehicle plate", "pet", "hobby"]
    assert taxonomy.pairs[: len(shipped.pairs)] == shipped.pairs
    assert taxonomy.mates("vehicle plate") == ("occupation", "health", "pet")
    assert len(taxonomy.mates("pet")) == 14
    assert taxonomy.mates("hobby") == ()
    assert len(set(taxonomy.pairs)) == len(taxonomy.pairs) == 78 + 2 + 14
    assert (taxonomy.resolve("Number_Plate"), taxonomy.resolve("job")) == ("vehicle plate", "occupation")
    assert shipped.resolve("number plate") is None


def test_pairs_are_those_that_the_file_names(own):
    taxonomy = extended(own)
    assert taxonomy.parse_pairs("vehicle plate+job,health+pet") == (("occupation", "vehicle plate"), ("health", "pet"))
    with pytest.raises(UsageError, match=r"does not pair 'age' with 'vehicle plate'.*pairs with: occupation, health, pet"):
        taxonomy.parse_pairs("vehicle plate+age")
    with pytest.raises(UsageError, match="'hobby' cannot be part of a pair"):
        taxonomy.parse_pairs("hobby+age")


def test_the_digest_tells_definitions_apart(tmp_path, own):
    changed = read_types_file(written(tmp_path, MINE.replace("of a vehicle.", "of a car.")))
    assert extended(()) is shipped_taxonomy()
    assert len({extended(own).digest, extended(changed).digest, shipped_taxonomy().digest}) == 3
    assert extended(read_types_file(written(tmp_path))).digest == extended(own).digest
    assert differences(own, changed) == ["vehicle plate.definition", "vehicle plate.subtypes"]
    assert differences(own, own[:2]) == ["hobby (gone)"]
    assert differences(own[:2], own) == ["hobby (not there before)"]


def test_definitions_come_back_from_json(own):
    assert from_json(to_json(own)) == own
    for damaged in ([{"name": "x"}], {"types": []}, [1]):
        with pytest.raises(DataError, match="damaged"):
            from_json(damaged)


def test_two_files_that_get_into_each_others_way(tmp_path, own):
    other = read_types_file(written(tmp_path, MINE.replace("name: hobby", "name: numberplate").replace("[number plate]", "[]")))
    with pytest.raises(ConfigError, match="type 'numberplate': 'numberplate' means the type 'vehicle plate'"):
        extended((*own[:1], other[2]))


def test_a_model_is_told_an_own_type_with_examples(own):
    taxonomy = extended(own)
    told = "The registration of a vehicle. For example: KLM-4821; RST-0094."
    assert taxonomy.get("vehicle plate").described() == told
    assert taxonomy.get("health").described() == taxonomy.get("health").definition


def test_a_bank_may_speak_of_the_types_of_the_taxonomy_only():
    bank = load_bank("en", BANK, extended(read_types_file(TYPES)))
    assert ("health", "vehicle plate") in bank.pairs
    assert bank.frames_by_slot["pet", "value"]
    with pytest.raises(ConfigError, match=r"bank\.yaml:\d+: scenarios\[0\].* unknown type 'vehicle plate'"):
        load_bank("en", BANK, taxonomy=shipped_taxonomy())


def test_a_scenario_of_a_pair_that_the_types_file_does_not_have(tmp_path):
    bank = tmp_path / "bank.yaml"
    bank.write_text(BANK.read_text(encoding="utf-8").replace("pair: [health, pet]", "pair: [vehicle plate, pet]"), encoding="utf-8")
    with pytest.raises(ConfigError, match="the types file does not pair 'vehicle plate' with 'pet'"):
        load_bank("en", bank, extended(read_types_file(TYPES)))
