"""What a model says is read leniently and held against the text strictly."""

from __future__ import annotations

import pytest

from piiloom.corpus.mention_search import exact_mentions
from piiloom.detection.hybrid.hybrid_detectors import candidates_of, read_claims
from piiloom.detection.hybrid.phases import AskedTypes
from tests.detection.small_catalogue import BY_ID, engine

ASKED = AskedTypes(engine().catalogue)


def claimed(text, *entries, piece=None):
    """What comes of a reply with *entries* (type, text, before): (value, type, start), and reasons."""
    data = {"found": [dict(zip(("type", "text", "before"), entry, strict=False)) for entry in entries]}
    claims, unknown = read_claims(data, ASKED)
    candidates, missing = candidates_of(text, piece or (0, len(text)), claims)
    assert all(text[one.start : one.end] for one in candidates)
    return sorted((text[one.start : one.end], one.entity.id, one.start) for one in candidates), [
        (one.reason, one.value) for one in (*unknown, *missing)
    ]


def test_what_is_asked_are_entities_without_patterns_or_with_labels_only():
    assert set(ASKED.entities) == {"person_name", "address", "city", "condition", "occupation", "password", "pin"}


@pytest.mark.parametrize("name", ["person_name", "PERSON NAME", "Person-Name", " person  name ", "native person_name"])
def test_a_kind_is_known_by_its_names(name):
    assert ASKED.find(name) is BY_ID["person_name"]


def test_what_a_model_says_again_and_again_counts_once():
    _, reasons = claimed("Anna", *[("funk", "Fjerneke", "")] * 3, ("funk", "Fjern", ""))
    assert reasons == [("unknown_type", "Fjerneke"), ("unknown_type", "Fjern")]


def test_every_mention_of_a_value_is_found_also_beyond_the_piece_that_was_read():
    text = "Anna zna Ewę. Anna ma astmę. Annabel nie. ANNA?"
    found, reasons = claimed(text, ("person_name", "Anna", ""), piece=(0, 14))
    assert found == [("Anna", "person_name", 0), ("Anna", "person_name", 14)]
    assert reasons == []


def test_what_the_text_does_not_have_is_set_aside_with_its_reason():
    text = "Pani Katarzyna mieszka w Krakowie, tel 600700800, PESEL44051401359x."
    found, reasons = claimed(
        text,
        ("person_name", "Zbigniew", ""),
        ("person_name", "pani katarzina", ""),
        ("pin", "600 700 800", ""),
        ("pin", "44051401359", ""),
        ("dream", "Krakowie", ""),
        ("city", " ", ""),
        ("city", "w", ""),
    )
    assert found == []
    assert reasons == [
        ("unknown_type", "Krakowie"),
        ("invented", "Zbigniew"),
        ("altered", "pani katarzina"),
        ("altered", "600 700 800"),
        ("inside_word", "44051401359"),
        ("empty", " "),
        ("common_word", "w"),
    ]


def test_quotes_typography_and_case_are_forgiven():
    text = "O’Hara i «Ewa  Nowak» oraz ASTMA"
    found, reasons = claimed(text, ("person_name", "O'Hara"), ("person_name", '"Ewa Nowak"'), ("condition", "astma"))
    assert found == [("ASTMA", "condition", 27), ("Ewa  Nowak", "person_name", 10), ("O’Hara", "person_name", 0)]
    assert reasons == []


def test_numbers_count_where_the_model_saw_them():
    text = "PIN 4821 i pokój 4821, kod 4821"
    assert claimed(text, ("pin", "4821", "PIN"))[0] == [("4821", "pin", 4)]
    assert claimed(text, ("pin", "4821", "nowhere"))[0] == [("4821", "pin", at) for at in (4, 17, 27)]


def test_very_common_words_count_only_where_the_model_saw_them():
    text = "płeć: m. Mam m. in. konto"
    assert claimed(text, ("condition", "m", "płeć:"))[0] == [("m", "condition", 6)]
    assert claimed(text, ("condition", "m", "")) == ([], [("common_word", "m")])


def test_words_that_are_several_kinds_go_by_what_stands_before_them():
    text = "Pani Róża jest z miasta Róża. Róża!"
    found, _ = claimed(text, ("person_name", "Róża", "Pani"), ("city", "Róża", "z miasta"))
    assert found == [("Róża", "city", 24), ("Róża", "city", 30), ("Róża", "person_name", 5), ("Róża", "person_name", 30)]


def test_chinese_names_adjoin_other_characters():
    text = "患者张伟说张伟明天来"
    assert exact_mentions(text, "张伟") == [(2, 4), (5, 7)]
    assert claimed(text, ("person_name", "张伟"))[0] == [("张伟", "person_name", 2), ("张伟", "person_name", 5)]
    assert exact_mentions("ab张", "b") == []
