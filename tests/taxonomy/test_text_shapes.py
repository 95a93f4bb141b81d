"""The shapes of texts that a model writes: all their names lead somewhere, and draws are even."""

from __future__ import annotations

from collections import Counter

from piiloom.foundation.seeding import derive_rng
from piiloom.pii_values.kinds import KINDS, kinds_for
from piiloom.taxonomy import text_shapes
from piiloom.taxonomy.entity_types import shipped_taxonomy
from piiloom.taxonomy.text_shapes import catalogue_kinds, draw_identifiers, draw_shape, load_voices

FILE = text_shapes._file()
SHARES = {"none": 0.6, "kinds": 20}  # of texts: at most so many without identifiers; fewest kinds that one in fifty is offered


def test_all_names_in_the_file_are_known():
    voices = load_voices().values()
    assert {name for voice in voices for name in (*voice.scenes, *voice.always)} <= FILE.identifiers.keys()
    assert {name for voice in voices for name in voice.purposes} <= FILE.purposes.keys()
    for name, subtypes in catalogue_kinds(load_voices()["forum post"]).items():
        assert {*subtypes} < {kind.subtype for kind in KINDS[name] if kind.share}
    assert all(voice.form and voice.dates for voice in voices)
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


def test_shapes_have_what_their_voice_has():
    rng = derive_rng("shapes")
    posts = [draw_shape("forum post", rng) for _ in range(300)]
    assert {shape.purpose for shape in posts} == {*FILE.purposes.values()}
    assert {shape.asked for shape in posts} == {"those who read the forum"}
    assert {bool(shape.look_alike) for shape in posts} == {True, False}
    assert all(len({*shape.wants}) == 2 for shape in posts)
    assert {want for shape in posts for want in shape.wants} == {*FILE.wants}
    letters = [draw_shape("letter", rng, carried=("v9", "v10")) for _ in range(300)]
    assert {shape.purpose for shape in letters} == {FILE.purposes[name] for name in load_voices()["letter"].purposes}
    assert {shape.carried for shape in letters} == {("v9", "v10")}


def test_only_voices_whose_form_has_identifiers_carry_them():
    rng = derive_rng("carrying")
    offered = {name: {len(draw_identifiers(voice, "en_US", rng)) for _ in range(50)} for name, voice in load_voices().items()}
    casual = [name for name, voice in load_voices().items() if voice.casual]
    assert all(offered[name] == {0} for name in (*casual, "e-mail to support"))
    assert sum(min(numbers) >= 3 for numbers in offered.values()) == 10
