from __future__ import annotations

import pytest

from piiloom.foundation.errors import UsageError
from piiloom.taxonomy.locales import get_locale, load_locales


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


@pytest.mark.parametrize("code", ["", "en", "xx_XX", "en_UK", "../en_US"])
def test_an_unknown_locale_lists_the_known_ones(code: str) -> None:
    with pytest.raises(UsageError, match="Known: en_US, en_GB, en_CA, en_AU, en_IN, en_SG"):
        get_locale(code)
