"""Perturbed texts: the places of values move along exactly, whatever is done to the text."""

from __future__ import annotations

import random
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from piiloom.detection.benchmark.composing import ValuePlace
from piiloom.detection.benchmark.making import PERTURBATIONS, perturb
from piiloom.foundation.errors import UsageError
from tests.longer import few

# Signs that perturbations treat apart, of several scripts, some outside of the BMP; "İ" and "ß" change their length with their case.
SIGNS = st.sampled_from("aeimnuOlI 0159,.-/:;İßżóé ́日人大己मन०१مر٣🐢𠮷")
PIECES = st.lists(st.tuples(st.text(SIGNS, max_size=12), st.text(SIGNS, min_size=1, max_size=12)), max_size=5)
LOCALES = st.sampled_from(("pl_PL", "hi_IN", "ar_AE", "zh_CN"))


def composed(pieces):
    """A text of what stands between values and the values in turn, with the places of those."""
    text, places = "", []
    for number, (between, value) in enumerate(pieces):
        text += between
        places.append(ValuePlace(len(text), len(text) + len(value), f"e{number}"))
        text += value
    return text, places


@pytest.mark.parametrize("name", PERTURBATIONS)
@few
@given(PIECES, LOCALES, st.integers(0, 99))
def test_each_place_has_what_became_of_its_value(name, pieces, locale, seed):
    text, places = composed(pieces)
    rewritten = PERTURBATIONS[name](text, locale, random.Random(seed))
    assert len(rewritten) == len(text)
    changed, (moved, none) = perturb(name, text, (places, ()), locale, random.Random(seed))
    assert changed == "".join(rewritten)
    assert none == ()
    became = {place.what: "".join(rewritten[place.start : place.end]).strip() for place in places}
    assert [place.what for place in moved] == [what for what, value in became.items() if value]
    assert all(changed[place.start : place.end] == became[place.what] for place in moved)
    assert all(one.end <= other.start for one, other in pairwise(moved))


def perturbed(name, text, value, locale="pl_PL", seed=0):
    """*text* and *value*, which it has, after the perturbation."""
    start = text.index(value)
    changed, ((place,),) = perturb(name, text, ([ValuePlace(start, start + len(value), "e")],), locale, random.Random(seed))
    return changed, changed[place.start : place.end]


def test_what_each_does():
    assert perturbed("case", "Pan Żak, tel. 12", "Żak", seed=1) in {("pan żak, tel. 12", "żak"), ("PAN ŻAK, TEL. 12", "ŻAK")}
    assert perturbed("transliteration", "王小明 ma żółwia", "王小明")[1].isascii()
    assert perturbed("transliteration", "to Żaneta Gęś", "Żaneta Gęś") == ("to Zaneta Ges", "Zaneta Ges")
    assert perturbed("digits", "no 120", "120", "hi_IN") == ("no १२०", "१२०")
    assert perturbed("digits", "no 120", "120", "ar_AE") == ("no ١٢٠", "١٢٠")
    assert perturbed("digits", "no 120", "120") == ("no １２０", "１２０")


def test_a_scan_and_careless_typing_change_some_places_only():
    text = "Jan Nowak mieszka w Gdyni, ul. Polna 7, tel. 601-234-567. " * 20
    for name in ("ocr", "spacing"):
        changed, _ = perturbed(name, text, "601-234-567")
        assert changed != text
        assert len(set(text.split()) & set(changed.split())) > len(set(text.split())) / 2


def test_a_value_of_which_nothing_is_left_has_no_place():
    changed, (moved,) = perturb("transliteration", "a ́b", ([ValuePlace(2, 3, "mark")],), "pl_PL", random.Random(0))
    assert (changed, moved) == ("a b", ())


def test_an_unknown_perturbation():
    with pytest.raises(UsageError, match="no perturbation 'rain'"):
        perturb("rain", "text", (), "pl_PL", random.Random(0))
