"""Own types in detection: what ``generate`` draws for a type with a pattern, ``detect`` finds, from the same file."""

from __future__ import annotations

import random

import pytest

import piiloom
from piiloom.corpus.store.database import Store
from piiloom.corpus.store.records import iter_records
from piiloom.detection.registry import PatternDetector
from piiloom.foundation.errors import ConfigError
from piiloom.pii_values.kinds import draw_own
from piiloom.taxonomy.entity_types import shipped_taxonomy
from piiloom.taxonomy.own_entities import own_catalogue, without_pattern
from piiloom.taxonomy.own_types import with_own_aside
from piiloom.taxonomy.own_types_file import read_types_file
from piiloom.taxonomy.stories import LINE_VOICES
from piiloom.taxonomy.story_bank import StoryBank
from tests.taxonomy.own_types_example import BANK, MINE, TYPES, written

# Patterns with every part of the notation, by name of the type.
PATTERNS = {
    "badge": r"B-\d{6}",
    "plate": "[A-HJ-NPR-Z]{3}-[0-9]{4}",
    "gate": "(north|north east|south) gate( [1-9])?",
    "dossier": r"[A-Z]{2}\.[0-9]{2}/(19|20)[0-9]{2}",
    "hashtag": r"#[a-z]{4,8}[0-9]{0,2}",
    "crew": "Ñ[ÀÖß][0-9]{3}",
    "passport": "[A-Z]{2}[0-9]{6}",
    "day": r"[0-9]{4}-0[1-9]-[12][0-9]",
    "mail": r"[a-z]{5}@[a-z]{5}\.example",
    "account": "DE[0-9]{20}",
    "bin": "(A|AB|ABC)(1|12|123)",
}
CHECKED = {"card": ("[0-9]{8}", "luhn"), "tax": ("[0-9]{11}", "de.idnr")}
CARRIERS = ("It is {}.", "{} is mine, 3 days now", "(see {}) or not", "number {}, please; thanks", "{}")


@pytest.mark.long
def test_values_of_every_pattern_are_found_exactly(tmp_path):
    lines = [f"  - {{name: {name} of mine, pattern: '{pattern}'}}" for name, pattern in PATTERNS.items()]
    lines += [
        f"  - {{name: {name} of mine, generator: {{pattern: '{pattern}', check: {check}}}}}" for name, (pattern, check) in CHECKED.items()
    ]
    path = written(tmp_path, "types:\n" + "\n".join(lines) + "\n")
    rng = random.Random(3)
    for locale in ("en_US", "zh_CN"):
        detector = PatternDetector(own=(path,))
        for one in read_types_file(path):
            for number in range(20):
                value = draw_own(one.subtypes[0].generator, "en_US", rng)
                before, after = CARRIERS[number % len(CARRIERS)].split("{}")
                found = {(span.start, span.end, span.entity_type) for span in detector.detect(f"{before}{value}{after}", locale)}
                assert (len(before), len(before) + len(value), one.name) in found, (value, locale)


def test_values_of_several_kinds_in_one_type_are_found_and_others_are_named(tmp_path):
    path = written(tmp_path)
    assert MINE.count("- name: pet") == 1
    assert without_pattern(read_types_file(path)) == ["hobby"]
    chip = draw_own(read_types_file(path)[1].subtypes[1].generator, "en_US", random.Random(1))
    found = PatternDetector(own=(path,)).detect(f"The plate KLM-4821, the chip {chip}, a beagle.", "en_US")
    assert [(span.entity_type, span.subtype, span.validated) for span in found] == [
        ("vehicle plate", "vehicle_plate", None),
        ("pet", "pet_chip", True),
    ]


def test_a_type_named_like_a_shipped_entity_and_one_of_a_shipped_entity(tmp_path):
    text = "types:\n  - {name: xmpp address, pattern: 'X[0-9]{3}'}\n"
    text += "  - {name: giro, generator: {entity: se_bankgiro}, definition: d, examples: [a, b]}\n"
    found = piiloom.detect("Bankgiro 5050-1055 and X123.", locale="en_US", types=[written(tmp_path, text)])
    assert [(span.entity_type, span.subtype) for span in found] == [("giro", "giro"), ("xmpp address", "own_xmpp_address")]


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("x: 1\n", "mine.yaml:1: the file has neither types nor entities. Write types .docs/own-types.md"),
        ("- types\n", "mine.yaml:1: the file has neither"),
        ("types:\n  - {name: badge, pattern: 'B[0-9]'}\nlocale: universal\nentities: {}\n", "mine.yaml:4: there are types and entities"),
        ("types:\n  - {name: badge, pattern: 'B[0-9'}\n", "mine.yaml:2: types"),
    ],
)
def test_a_file_of_neither_form_is_refused_by_file_and_line(tmp_path, text, says):
    with pytest.raises(ConfigError, match=says):
        own_catalogue(written(tmp_path, text))


@pytest.mark.long
def test_generated_values_are_found_in_their_records(tmp_path):
    told = {"types": TYPES, "bank": BANK, "recipe": "staged", "pairs": "health+vehicle plate,occupation+vehicle plate"}
    piiloom.generate(samples=40, store=tmp_path / "own.duckdb", **told)
    seen = 0
    with Store.open(tmp_path / "own.duckdb") as store:
        records = list(iter_records(store))
    for record in records:
        found = {
            (span.start, span.end)
            for span in piiloom.detect(record.context, locale="en_US", types=[TYPES])
            if span.entity_type == "vehicle plate"
        }
        drawn = {(span.start, span.end) for span in record.spans if span.entity_type == "vehicle plate"}
        assert found == drawn
        seen += len(drawn)
    assert seen > 20


@pytest.mark.long
def test_an_aside_follows_a_full_stop_and_no_signature(tmp_path):
    """In stories without full stops, and behind the name that ends a mail, a sentence would run into the one before."""
    types = written(tmp_path, "types:\n  - {name: gym card, pattern: 'GYM-[0-9]{5}'}\n")
    (own,) = read_types_file(types)
    for language in ("en", "pt", "sv"):
        bank = StoryBank(language, extra=None, taxonomy=shipped_taxonomy())
        for story in (story for pair in sorted(bank.pairs) for story in bank.for_pair(pair)):
            for seed in range(6):
                told = with_own_aside(story, (own,), random.Random(seed), language)
                place = next((n for n, step in enumerate(told.steps) if any("own_aside" in one.pattern for one in step.wordings)), 0)
                if place and story.voice not in LINE_VOICES:
                    assert all(one.pattern.endswith((".", "?", "!")) for one in told.steps[place - 1].wordings)
