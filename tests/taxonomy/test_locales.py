from __future__ import annotations

import pytest
from babel.localedata import locale_identifiers

from piiloom.foundation.errors import UsageError
from piiloom.taxonomy.locales import get_locale, load_locales, resolve_locale, shipped_locales


def test_the_english_locales_are_known_and_composable() -> None:
    locales = load_locales()
    english = {code: locale for code, locale in locales.items() if locale.language == "en"}
    assert list(english) == ["en_US", "en_GB", "en_CA", "en_AU", "en_IN", "en_SG"]
    assert all(locale.composer and locale.code == code for code, locale in english.items())
    assert {code: locale.currency for code, locale in english.items()} == {
        "en_US": "USD",
        "en_GB": "GBP",
        "en_CA": "CAD",
        "en_AU": "AUD",
        "en_IN": "INR",
        "en_SG": "SGD",
    }


def test_only_the_united_states_measure_in_feet() -> None:
    assert [code for code, locale in load_locales().items() if locale.measures == "imperial"] == ["en_US"]


@pytest.mark.parametrize("code", ["en_US", "en-us", "EN_us", " en_US "])
def test_a_locale_is_found_however_its_code_is_written(code: str) -> None:
    assert get_locale(code).phone_region == "US"


@pytest.mark.parametrize("code", ["", "xx_XX", "../en_US", "de_JP"])
def test_an_unknown_locale_says_how_to_write_one(code: str) -> None:
    with pytest.raises(UsageError, match="language and a country"):
        get_locale(code)


def test_any_other_locale_is_known_from_cldr() -> None:
    told = {
        "de_DE": "German as written in Germany",
        "zh_Hans_CN": "Chinese (Simplified) as written in China (2 characters count as a word)",
        "zh_TW": "Chinese (Traditional) as written in Taiwan (2 characters count as a word)",
        "sr_RS": "Serbian (Cyrillic) as written in Serbia",
        "th_TH": "Thai as written in Thailand (5 characters count as a word)",
    }
    assert {code: get_locale(code).language_name for code in told} == told
    german, swedish = get_locale("de-DE"), get_locale("sv")
    assert (german.code, german.currency, german.date_order, german.listed, german.composer) == ("de_DE", "EUR", "dmy", False, False)
    assert (swedish.code, swedish.listed, swedish.language_name) == ("sv_SE", True, "Swedish")
    # Values take endings only where we have no word lists that avoid them, and where there are words apart.
    assert [get_locale(code).inflects for code in ("de_DE", "zh_CN", "en_IE", "pt_BR")] == [True, False, False, False]


def test_names_of_any_locale() -> None:
    found = {
        "es-es": "es_ES",
        "NL_nl": "nl_NL",
        "ja": "ja_JP",
        "zh-Hans-CN": "zh_CN",
        "fil_PH": "fil_PH",
        "en_UK": "en_GB",
        "nb-NO": "no_NO",
        "en": "en_US",
        "sv": "sv_SE",
        "no": "no_NO",
        " de_DE ": "de_DE",
        "fr_CH@euro": "fr_CH",
    }
    assert {name: resolve_locale(name) for name in found} == found


def test_refusals_name_the_nearest_locales() -> None:
    told = {
        "pt": "Choose one: pt_BR, pt_PT",
        "nl": "Choose one: nl_NL, nl_BE",
        "es": "Choose one: es_ES",
        "klingon": "as in es_ES",
        "xx_YY": "as in es_ES",
        "english": "Did you mean 'en_US'",
        "Portuguese": "Did you mean 'pt_BR' or 'pt_PT'",
        "por_BR": "Did you mean 'pt_BR'",
        "ptBR": "Did you mean 'pt_BR'[?]",
        "pt_XX": "Did you mean 'pt_BR' or 'pt_PT'",
        "": "as in es_ES",
    }
    for name, says in told.items():
        with pytest.raises(UsageError, match=says):
            resolve_locale(name)


def test_all_locales_of_cldr_are_valid() -> None:
    parts = {(name.split("_")[0], name.split("_")[-1]) for name in locale_identifiers() if "_" in name}
    names = [f"{language}_{country}" for language, country in parts if len(country) == 2]
    assert len(names) > 600
    assert [resolve_locale(name) for name in names] == [name.replace("nb_", "no_") for name in names]
    assert set(shipped_locales()) <= {*names, "no_NO"}
