"""The shapes of texts that a model writes: all their names lead somewhere, draws are even, and no two texts are alike in all lines."""

from __future__ import annotations

from collections import Counter

from piiloom.foundation.seeding import derive_rng
from piiloom.pii_values.kinds import KINDS, kinds_for
from piiloom.taxonomy import text_shapes
from piiloom.taxonomy.entity_types import shipped_taxonomy
from piiloom.taxonomy.text_shapes import catalogue_kinds, draw_identifiers, draw_shape, load_voices

FILE = text_shapes._file()
SHARES = {"none": 0.45, "kinds": 24}  # of texts of all voices: most without identifiers; fewest kinds that one in fifty is offered


def test_all_names_in_the_file_are_known():
    voices, purposes = load_voices().values(), FILE.purposes.values()
    assert {name for voice in voices for name in (*voice.scenes, *voice.always)} <= FILE.identifiers.keys()
    assert {name for voice in voices for name in voice.purposes} <= FILE.purposes.keys()
    assert {name for purpose in purposes for name in purpose.wants} <= FILE.requests.keys()
    assert {name for purpose in purposes for name in purpose.outcomes} <= FILE.outcomes.keys()
    for name, subtypes in catalogue_kinds(load_voices()["forum post"]).items():
        assert {*subtypes} < {kind.subtype for kind in KINDS[name] if kind.share}
    assert all(voice.form and voice.dates and voice.keeps[0] <= voice.keeps[1] for voice in voices)
    for entry in {entry for scene in FILE.identifiers.values() for entry in scene}:
        entity_type, subtype = entry.split("/")
        assert kinds_for(entity_type, (subtype,), shipped_taxonomy())


def test_identifiers_are_offered_evenly_and_only_those_of_the_country():
    voices = load_voices()
    names, weights = list(voices), [voice.weight for voice in voices.values()]
    rng, texts = derive_rng("identifiers"), 2000
    offered = [draw_identifiers(voices[rng.choices(names, weights)[0]], "en_US", rng) for _ in range(texts)]
    kinds = Counter(subtype for found in offered for _, subtype in found)
    assert sum(not found for found in offered) < SHARES["none"] * texts
    assert sum(count >= texts / 50 for count in kinds.values()) >= SHARES["kinds"]
    assert max(kinds.values()) < texts / 3
    assert all(len({*found}) == len(found) for found in offered)
    german = {subtype for _ in range(200) for _, subtype in draw_identifiers(voices["web form"], "de_DE", rng)}
    assert german
    assert not any(subtype.startswith("us_") for subtype in german)


def test_shapes_differ_and_their_requests_fit():
    rng = derive_rng("shapes")
    shapes = [draw_shape("forum post", 4, rng) for _ in range(300)]
    assert len({(shape.purpose, shape.mood, shape.time, shape.company, shape.requests) for shape in shapes}) > 295
    assert all(len({*shape.requests}) == 4 for shape in shapes)
    assert {shape.asked for shape in shapes} == {"those who read the forum"}
    assert {bool(shape.slips) for shape in shapes} == {True, False}
    letters = [draw_shape("letter", 2, rng, carried=("v9", "v10")) for _ in range(300)]
    for_adviser_only = {FILE.requests[name] for name in FILE.of_adviser_only}
    assert all(not for_adviser_only & {*shape.requests} for shape in letters if shape.asked == "whoever gets the text")
    assert len({shape.asked for shape in letters}) == 2
    assert not any(shape.slips for shape in letters)
    assert {shape.keeps for shape in letters} == {(1, 2)}
    assert not any(shape.opening or shape.ending for shape in letters)
    assert any(FILE.request_about_identifier in shape.requests for shape in letters)


def test_no_outcome_is_that_of_more_than_a_quarter_of_the_texts():
    voices, rng, texts = load_voices(), derive_rng("outcomes"), 2000
    names, weights = list(voices), [voice.weight for voice in voices.values()]
    drawn = Counter(draw_shape(name, 2, rng).outcome for name in rng.choices(names, weights, k=texts))
    assert drawn.keys() == {*FILE.outcomes.values()}
    assert max(drawn.values()) <= texts / 4
