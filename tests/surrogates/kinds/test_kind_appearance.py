"""What is seen and measured of a body: the measures of each language, other values than the original, one for each owner."""

from __future__ import annotations

import re

import pytest
from kind_draws import draw, owned

from piiloom.surrogates.kinds.kind import KINDS
from piiloom.surrogates.kinds.places import FALLBACK, languages
from piiloom.surrogates.placeholders.reading import kind_of_span
from piiloom.taxonomy.entity_types import shipped_taxonomy
from tests.longer import case_by_case

SUBTYPES = tuple(subtype.name for subtype in shipped_taxonomy().types["appearance"].subtypes)
WORDED = ("hair", "eyes", "body_mark", "build", "feature", "look")
HOMES = dict(pair.split(":") for pair in "en:US nl:NL pt:BR de:DE fr:FR es:ES it:IT sv:SE no:NO da:DK fi:FI pl:PL".split())
OTHERS = [language for language in HOMES if language != FALLBACK]

FEET = r"[56](?:'(?:[2-9]|1|10|11)\"?| ft (?:\d|10|11)| feet (?:[2-9]|10|11) inches)"
METRES = r"1[.,]\d\d m|1\d\d cm"
HEIGHTS = {
    "en": f"{FEET}|{METRES}",
    "nl": r"1\d\d cm|1,\d\d m(?:eter)?|1 meter \d\d",
    "pt": r"1\d\d cm|1,\d\d ?m|1m\d\d",
    "de": r"1\d\d cm|1,\d\d m|1,\d\d Meter|1 Meter \d\d",
    "fr": r"1\d\d cm|1,\d\d m|1 ?m ?\d\d|1 mètre \d\d",
    "es": r"1\d\d cm|1[.,]\d\d m|1,\d\d metros",
    "it": r"1\d\d cm|1,\d\d m|1,\d\d metri|1 metro e \d\d",
    "sv": r"1\d\d cm|1,\d\d m(?:eter)?|1\d\d centimeter",
    **dict.fromkeys(("no", "da", "fi", "pl"), r"1\d\d cm|1,\d\d m"),
}
KILOS = {"nl": "kilo", "pt": "quilos", "de": "Kilo|Kilogramm", "fr": "kilos", "es": "kilos", "it": "chili", "sv": "kilo"}
KILOS |= {"no": "kilo", "da": "kilo", "fi": "kiloa", "pl": "kilogramów"}
RHESUS = dict(pair.split(":") for pair in "en:ive nl:ief pt:ivo de:iv fr:if es:ivo it:ivo sv:iv no:iv da:iv fi:iivinen pl:".split())


def values_of(name: str, language: str, count: int = 400, country: str = "") -> list[str]:
    return [KINDS[name].draw(owned(seed, country or HOMES[language], language=language)) for seed in range(count)]


def test_each_subtype_has_a_kind_and_each_of_the_languages_words() -> None:
    assert sorted(languages()) == sorted(HOMES)
    for name in SUBTYPES:
        kind = KINDS[name]
        assert (kind.entity_type, kind.subtype, kind.owner) == ("appearance", name, "person")
        assert kind_of_span("appearance", name) == name
    assert kind_of_span("appearance", None) == kind_of_span("appearance", "nose") == "appearance"
    assert KINDS["appearance"][1:4] == ("appearance", None, "person")


@case_by_case(
    ("label", "kind"),
    [
        ("HEIGHT", "height"),
        ("WEIGHT", "weight"),
        ("HAIR_COLOR", "hair"),
        ("EYECOLOR", "eyes"),
        ("eye colour", "eyes"),
        ("BLOOD_TYPE", "blood_type"),
        ("TATTOO", "body_mark"),
        ("APPEARANCE", "appearance"),
        ("physical description", "appearance"),
    ],
)
def test_labels_of_other_corpora(label: str, kind: str) -> None:
    assert kind_of_span(label, None) == kind


@case_by_case("language", HOMES)
def test_heights_and_weights_are_in_the_measures_of_the_language(language: str) -> None:
    heights, weights = values_of("height", language), values_of("weight", language)
    unit = (
        r"(?:4[89]|[5-9]\d|1\d\d|2[0-4]\d) (?:lbs?|pounds)|\d\d kg" if language == "en" else rf"\d\d(?:,5)? kg|\d\d (?:{KILOS[language]})"
    )
    assert [one for one in heights if not re.fullmatch(HEIGHTS[language], one)] == []
    assert [one for one in weights if not re.fullmatch(unit, one)] == []
    metric = sum(bool(re.fullmatch(METRES, one)) for one in heights), sum(one.endswith("kg") for one in weights)
    if language == "en":
        assert all(0 < count < 150 for count in metric)
    assert len(set(heights)) > 60
    assert len(set(weights)) > 60


def test_the_english_of_britain_weighs_in_stones_and_languages_without_words_measure_in_metres() -> None:
    stones = values_of("weight", "en", country="GB")
    stone = r"\d\d? (?:stone \d\d?|st \d\d? lb|and a half stone)|\d\d kg"
    assert [one for one in stones if not re.fullmatch(stone, one)] == []
    assert not any(re.search("stone|st ", one) for one in values_of("weight", "en"))
    for language in ("cs", "ja"):
        assert all(re.fullmatch(METRES, one) for one in values_of("height", language, country="DK"))
        assert all(re.fullmatch(r"\d\d kg", one) for one in values_of("weight", language, country="DK"))


@case_by_case("language", HOMES)
def test_blood_groups(language: str) -> None:
    zero = "0" if language in {"de", "it", "sv", "no", "da", "fi", "pl"} else "O"
    word = rf"(?:posit|negat|néga|dodatni|ujemny)\w*{RHESUS[language]}"
    shape = rf"(?:{zero}|A|B|AB)(?:[+-]|[ -](?:Rh[ -]|rhesus |Rhesus |rhésus |fator Rh )?{word}| Rh[+-])"
    values = values_of("blood_type", language)
    assert [one for one in values if not re.fullmatch(shape, one)] == []
    assert len(set(values)) >= 24
    groups = {(re.match("AB|.", one)[0], "+" in one or "pos" in one) for one in values}  # type: ignore[index]
    assert len(groups) == 8


@pytest.mark.parametrize(
    ("original", "forbidden"),
    [
        ("O negative", r"O\b(?!.*(?:\+|pos))"),
        ("o neg", r"O\b(?!.*(?:\+|pos))"),
        ("AB+", r"AB\b.*(?:\+|pos)|AB\+"),
        ("0 Rh-", r"[0O]\b(?!.*(?:\+|pos))"),
        ("type A Rh positive", r"A\b.*(?:\+|pos)"),
    ],
)
def test_no_other_spelling_of_the_same_blood_group_comes_out(original: str, forbidden: str) -> None:
    for language, country in HOMES.items():
        for seed in range(300):
            value = KINDS["blood_type"].draw(owned(seed, country, language=language, original=original))
            assert not re.match(forbidden, value, re.IGNORECASE), (original, value)


@pytest.mark.parametrize(
    ("name", "original", "shape"),
    [
        ("height", "178", r"1\d\d"),
        ("height", "1.78", r"1\.\d\d"),
        ("height", "1,78", r"1,\d\d"),
        ("weight", "64", r"\d\d"),
        ("weight", "182", r"\d{2,3}"),
    ],
)
def test_a_bare_number_stays_one(name: str, original: str, shape: str) -> None:
    for seed in range(200):
        for made in (owned(seed, "US", original=original), draw(seed, "NL", original=original)):
            value = KINDS[name].draw(made)
            assert re.fullmatch(shape, value), value
            assert value.replace(",", ".") != original.replace(",", ".")


def test_one_height_is_not_another_spelling_of_the_original() -> None:
    for seed in range(2000):
        assert re.sub(r"\D", "", KINDS["height"].draw(owned(seed, "NL", original="178 cm"))) != "178"
        assert re.sub(r"\D", "", KINDS["height"].draw(owned(seed, "US", original="5 ft 7"))) != "57"


@case_by_case("name", [*SUBTYPES, "appearance"])
def test_one_owner_one_value_and_many_owners_many(name: str) -> None:
    drawn = KINDS[name].draw
    for language, country in HOMES.items():
        seen = set()
        for seed in range(120):
            one = owned(seed, country, language=language)
            seen.add(drawn(one))
            assert drawn(one) == drawn(one._replace(seed=one.seed + 1, shift=3)), (name, language)
        assert len(seen) >= 20, (name, language)


@pytest.mark.parametrize("name", ["body_mark", "feature", "look", "appearance"])
def test_somebody_has_several_marks(name: str) -> None:
    one = owned(7, "US")
    drawn = {mark: KINDS[name].draw(one._replace(original=mark)) for mark in ("swallow tattoo", "chin scar", "nose ring", "mole")}
    assert len(set(drawn.values())) >= 3
    assert KINDS[name].draw(one._replace(original="Chin Scar", seed=one.seed + 1)) == drawn["chin scar"]
    assert len({KINDS[name].draw(one._replace(index=str(index))) for index in range(30)}) > 8


@case_by_case("name", [*SUBTYPES, "appearance"])
def test_the_original_never_comes_out_and_its_capitals_are_kept(name: str) -> None:
    for language, country in HOMES.items():
        for seed in range(150):
            made = owned(seed, country, language=language)
            first = KINDS[name].draw(made)
            again = KINDS[name].draw(made._replace(original=first))
            assert again.casefold() != first.casefold()
            if sum(map(str.isalpha, first)) > 2:  # "AB+" is written in capitals anyway
                loud = KINDS[name].draw(made._replace(original=first.upper()))
                assert loud == loud.upper() != first.upper(), (name, language)


@case_by_case("name", WORDED)
def test_no_english_in_other_languages(name: str) -> None:
    english = set(" ".join(values_of(name, FALLBACK, 2000)).casefold().split())
    shared = {"dreadlocks", "septum", "tattoo", "piercing", "blond", "petite"}
    for language in OTHERS:
        values = values_of(name, language, 800)
        assert not {one for one in values if set(one.casefold().split()) <= english - shared}, (name, language)


@case_by_case("language", HOMES)
def test_phrases_are_without_article_and_punctuation(language: str) -> None:
    articles = "a an the de het een o os as um uma der die das ein eine le la les un une des el los las una il lo gli en ett".split()
    for name in (*WORDED, "appearance"):
        for value in values_of(name, language):
            assert value.split()[0].casefold() not in articles, value
            assert re.fullmatch(r"[^\W\d_]+(?:[-' ][^\W\d_]+)*", value), value
            assert "  " not in value


@pytest.mark.parametrize(
    ("language", "male", "female"),
    [("fr", "grand", "grande"), ("es", "alto", "alta"), ("pt", "alto", "alta"), ("it", "alto", "alta"), ("en", "bald", "long-haired")],
)
def test_adjectives_agree_with_their_owner(language: str, male: str, female: str) -> None:
    men = {word for seed in range(0, 800, 2) for word in KINDS["look"].draw(owned(seed, HOMES[language])).split()}
    women = {word for seed in range(1, 800, 2) for word in KINDS["look"].draw(owned(seed, HOMES[language])).split()}
    assert (male in men, female in women, female in men, male in women) == (True, True, False, False)
