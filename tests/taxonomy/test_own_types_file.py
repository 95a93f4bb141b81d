"""Types files: what is read of them, and every fault by file, line and key, in words of ours."""

from __future__ import annotations

import re
from types import SimpleNamespace

import pytest
from stdnum import luhn

from piiloom.foundation.errors import ConfigError
from piiloom.foundation.seeding import derive_rng
from piiloom.pii_values.kinds import kinds_for
from piiloom.taxonomy.own_types import extended, from_json, to_json
from piiloom.taxonomy.own_types_file import read_types_file, write_types_file
from tests.taxonomy.own_types_example import BY_MODEL, MINE, TYPES, written


def test_a_file_is_read_in_its_order(tmp_path):
    plate, pet, hobby = read_types_file(written(tmp_path))
    assert (plate.name, plate.pairs, plate.aliases) == ("vehicle plate", ("occupation", "health"), ("number plate",))
    (value,) = plate.subtypes
    assert (value.name, value.form, value.definition) == ("value", "code", plate.definition)
    assert (value.generator.kind, value.generator.pattern) == ("pattern", "[A-Z]{3}-[0-9]{4}")
    assert [(s.name, s.form, s.generator.kind, s.generator.check) for s in pet.subtypes] == [
        ("breed", "count_noun", "lexicon", None),
        ("chip", "code", "pattern", "luhn"),
    ]
    assert (pet.pairs, hobby.pairs, hobby.asks_model(), pet.asks_model()) == ("all", (), True, False)


def test_the_samples_of_the_guide_can_be_read():
    assert [one.name for one in read_types_file(TYPES)] == ["vehicle plate", "pet"]
    assert len(read_types_file(TYPES)[1].subtypes[0].generator.values) == 52
    assert all(one.asks_model() for one in read_types_file(BY_MODEL))


@pytest.mark.parametrize("path", [None, TYPES, BY_MODEL])
def test_what_is_written_is_read_as_the_same_types(tmp_path, path):
    own = read_types_file(path or written(tmp_path))
    write_types_file(own, tmp_path / "again.yaml")
    assert read_types_file(tmp_path / "again.yaml") == own


def test_a_lexicon_may_be_a_file_beside(tmp_path):
    (tmp_path / "animals.txt").write_text("# ours\n\ngreyhound\nbeagle\ngreyhound\n", encoding="utf-8")
    text = MINE.replace("{lexicon: [greyhound, beagle, corn snake]}", "{lexicon: animals.txt}")
    assert read_types_file(written(tmp_path, text))[1].subtypes[0].generator.values == ("greyhound", "beagle")
    (tmp_path / "animals.txt").write_text("greyhound\n[beagle]\n", encoding="utf-8")
    with pytest.raises(ConfigError, match=r"^animals\.txt:2: cannot be a value"):
        read_types_file(written(tmp_path, text))
    (tmp_path / "animals.txt").write_bytes(b"caf\xe9\n")
    with pytest.raises(ConfigError, match=r"mine\.yaml:15: types\[1\]\.subtypes\[0\]\.generator\.lexicon: the lexicon file is not UTF-8"):
        read_types_file(written(tmp_path, text))


FAULTS = [
    ("types:", "kinds:", 1, "kinds: unknown key; known: types"),
    ("name: vehicle plate", "name: health", 2, "types[0].name: 'health' means the type 'health' that ships with piiloom already"),
    ("name: vehicle plate", "name: Nationality", 2, "types[0].name: a type's name has small letters"),
    ("name: vehicle plate", "name: nationality", 2, "types[0].name: 'nationality' means the type 'demographic'"),
    ("name: vehicle plate", "name: both", 2, "types[0].name: the name 'both' is taken"),
    ("name: vehicle plate", "name: plate_number", 2, "types[0].name: a type's name has small letters"),
    ("name: pet", "name: number plate", 8, "types[1].name: 'number plate' means the type 'vehicle plate' of this file already"),
    ("name: pet", "name: vehicle plate", 8, "types[1].name: 'vehicle plate' means the type 'vehicle plate' of this file already"),
    ("[number plate]", "[SSN]", 5, "types[0].aliases[0]: 'SSN' means the type 'code' that ships with piiloom already"),
    ("[number plate]", "['--']", 5, "types[0].aliases[0]: it has no letter or digit"),
    ("definition: The registration of a vehicle.", "definition: ''", 3, "types[0].definition: the text is empty"),
    ("    definition: An animal that lives with somebody.\n", "", 8, "types[1].definition: it is missing"),
    (
        "    generator: {pattern: '[A-Z]{3}-[0-9]{4}'}",
        "    pattern: A[0-9]\n    generator: {lexicon: [a, b]}",
        7,
        "types[0].pattern: a pattern",
    ),
    ("[KLM-4821, RST-0094]", "[KLM-4821]", 4, "types[0].examples: give two examples or more"),
    ("[KLM-4821, RST-0094]", "[4821, RST-0094]", 4, "types[0].examples[0]: this is not a text; put it in quotes"),
    ("[KLM-4821, RST-0094]", "KLM-4821", 4, "types[0].examples: there should be a list of texts here"),
    ("[KLM-4821, RST-0094]", "['a|b', RST-0094]", 4, "types[0].examples[0]: cannot be a value: brackets"),
    ("[job, health]", "[job, mood]", 6, "types[0].pairs[1]: there is no type 'mood'"),
    ("[job, health]", "[code]", 6, "types[0].pairs[0]: 'code' cannot be part of a pair"),
    ("[job, health]", "[vehicle plate]", 6, "types[0].pairs[0]: it cannot pair with itself"),
    ("[job, health]", "[hobby]", 6, "types[0].pairs[0]: 'hobby' cannot be part of a pair"),
    ("'[A-Z]{3}-[0-9]{4}'", "'[A-Z]*'", 7, "types[0].generator.pattern: character 6 of the pattern: '*' has no end"),
    ("'[A-Z]{3}-[0-9]{4}'", "'KLM'", 7, "types[0].generator.pattern: the pattern has one value only"),
    ("'[A-Z]{3}-[0-9]{4}'", "'[A-Z]\\['", 7, "types[0].generator.pattern: it gives something that cannot be a value"),
    ("'[A-Z]{3}-[0-9]{4}'", "'[A-Z]', lexicon: [a b, c]", 7, "types[0].generator: give either a lexicon, a pattern or an entity"),
    ("{pattern: '[A-Z]{3}-[0-9]{4}'}", "mode", 7, "types[0].generator: say where values come from"),
    ("check: luhn", "check: lune", 19, "types[1].subtypes[1].generator.check: python-stdnum has no module 'lune'"),
    ("'9[0-9]{14}', check: luhn", "'[0-9]{3}X', check: iban", 19, "types[1].subtypes[1].generator.check: none of 20,000 values"),
    ("corn snake]}", "corn snake], check: luhn}", 15, "types[1].subtypes[0].generator.check: check works with a pattern only"),
    ("[greyhound, beagle, corn snake]", "[greyhound]", 15, "types[1].subtypes[0].generator.lexicon: a lexicon has 2 to 20,000"),
    ("[greyhound, beagle, corn snake]", "none.txt", 15, "the lexicon file cannot be read (No such file or directory)"),
    ("form: count_noun", "form: verb", 14, "types[1].subtypes[0].form: unknown form; known: noun_phrase"),
    ("- name: chip", "- name: breed", 16, "types[1].subtypes[1].name: a subtype's name has letters"),
    ("- name: chip", "- name: asked_for", 16, "types[1].subtypes[1].name"),
    ("    pairs: all\n", "    pairs: all\n    form: noun\n", 11, "types[1].form: a type with subtypes has its form there"),
    ("    pairs: []\n", "    pairs: []\n    colour: red\n", 24, "types[2].colour: unknown key; known: name, definition"),
    ("    pairs: []\n", "    pairs: []\n    type_words: [Hobby]\n", 24, "types[2].type_words[0]: a type word is one word"),
    ("generator: model", "generator: ", 24, "types[2].generator: say where values come from"),
]


@pytest.mark.parametrize(("old", "new", "line", "told"), FAULTS, ids=[told.replace(" ", "-")[:60] for *_, told in FAULTS])
def test_a_fault_is_told_by_file_line_and_key(tmp_path, old, new, line, told):
    assert old in MINE
    with pytest.raises(ConfigError) as caught:
        read_types_file(written(tmp_path, MINE.replace(old, new, 1)))
    assert told in caught.value.message
    assert caught.value.where == f"mine.yaml:{line}"
    assert caught.value.remedy
    # Nothing of pydantic's or Python's own wording.
    assert not re.search(r"Extra inputs|Input should|valid string|Errno|Traceback", str(caught.value))


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("", "document: there should be keys here: types"),
        ("[]", "document: there should be keys here: types"),
        ("types: []", "types: there should be a list of types here"),
        ("types: [pet]", "types[0]: there should be keys here"),
        ("types: {}", "types: there should be a list of types here"),
        ("types:\n- name: pet\n  name: cat\n", "key 'name' is given twice"),
        ("types: [", "not valid YAML"),
    ],
)
def test_what_is_no_types_file(tmp_path, text, told):
    with pytest.raises(ConfigError) as caught:
        read_types_file(written(tmp_path, text))
    assert told in caught.value.message


def test_a_file_that_is_not_there(tmp_path):
    with pytest.raises(ConfigError, match=r"none\.yaml: cannot be read"):
        read_types_file(tmp_path / "none.yaml")


def test_values_may_come_from_the_entity_catalogue(tmp_path):
    text = "types: [{name: giro, definition: G., examples: [123-4566, 5050-1055], pairs: [], generator: {entity: se_bankgiro}}]"
    own = read_types_file(written(tmp_path, text))
    (kind,) = kinds_for("giro", None, taxonomy=extended(own)).items
    values = {kind.draw(SimpleNamespace(locale="en_US"), derive_rng("giro", seed), 0) for seed in range(5)}
    assert len(values) == 5
    assert all(luhn.is_valid(value.replace("-", "")) for value in values)
    assert from_json(to_json(own)) == own
    assert own[0].subtypes[0].generator.count() is None
    for name in ("no_such", "person_name"):
        with pytest.raises(ConfigError, match=rf"generator\.entity: the catalogue has no entity '{name}'"):
            read_types_file(written(tmp_path, text.replace("se_bankgiro", name)))
