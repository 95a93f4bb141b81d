"""Values of locales without word lists: from whom they come, and that they have the form of their kind."""

from __future__ import annotations

import random
import re

import phonenumbers

from piiloom.pii_values.any_locale import draw_resident, drawers_of, entity_drawer, faker_locale, locale_description
from piiloom.taxonomy.entities.entity_catalogue import shipped_entities
from piiloom.taxonomy.entity_types import shipped_taxonomy
from tests.longer import case_by_case

FROM = {  # (names, places) of Faker
    "de_DE": ("de_DE", "de_DE"),
    "de_LI": ("de_LI", None),
    "fr_FR": ("fr_FR", None),  # makes cities up
    "zh_CN": ("zh_CN", None),
    "zh_HK": ("zh_TW", None),  # the same script
    "ar_AE": ("ar_DZ", None),  # its own are English
    "es_PE": ("es_ES", None),
    "ca_ES": (None, None),
    "it_CH": ("it_IT", "de_CH"),
    "sr_RS": (None, None),
}


@case_by_case("locale", [*FROM, "ja_JP", "ko_KR", "th_TH", "hi_IN", "am_ET"])
def test_every_drawn_value_has_the_form_of_its_kind(locale):
    if locale in FROM:
        assert (faker_locale("person", locale), faker_locale("address", locale)) == FROM[locale]
    taxonomy, region = shipped_taxonomy(), locale.partition("_")[2]
    for kind, drawers in drawers_of(locale).items():
        assert {subtype.name for subtype in taxonomy.get(kind).subtypes} >= drawers.keys()
        for subtype, draw in drawers.items():
            for seed in range(4):
                rng = random.Random(seed)
                text = draw(draw_resident(locale, rng), rng)
                assert text == " ".join(text.split()) != "", (subtype, text)
                assert not re.search(r"[\[\]{}|<>#%\u200e\u200f]", text), (subtype, text)
                if subtype == "phone":
                    assert phonenumbers.is_valid_number(phonenumbers.parse(text, region)), text
    assert [line for line in locale_description(locale) if line.startswith("the model")]


def test_the_catalogue_gives_no_english_words_to_other_locales():
    """Its universal entities without a form of their own ("numb fingers", "recently divorced") are for texts in English."""
    assert entity_drawer("symptom", "en") is not None
    drawn = {entity.id: entity_drawer(entity.id, "de") for entity in shipped_entities()}
    assert {"symptom", "marital_status", "debt", "immigration_status", "credit_score"} <= {
        name for name, draw in drawn.items() if draw is None
    }
    assert all(drawn[name] is not None for name in ("imei", "vin", "mac_address", "iban", "medical_record_number"))
