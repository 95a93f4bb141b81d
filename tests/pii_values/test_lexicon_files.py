"""The lexicons are large enough, clean, without doubles, and every slot in them can be filled in every locale."""

from __future__ import annotations

import random
import re
from datetime import date, timedelta
from importlib import import_module
from importlib.metadata import version
from importlib.resources import files
from unicodedata import normalize

import pytest

from piiloom.foundation.errors import PiiloomError, UsageError
from piiloom.foundation.yaml_files import load_yaml
from piiloom.pii_values.dates import REFERENCE_DATE, age_on, draw_birth_date, draw_day, written_date
from piiloom.pii_values.heritage import FakerFile, countries, creeds, heritages, profile
from piiloom.pii_values.lexicons import Entry, Who, entries, folder, gendered, has_topic, listed, spelled, weighted
from piiloom.pii_values.occupations import draw_employer, draw_organisation, jobs_for, occupations
from piiloom.pii_values.places import draw_abroad
from piiloom.pii_values.regions import regions
from piiloom.taxonomy.locales import load_locales
from tests.longer import case_by_case, mostly_long

LOCALES = ("en_US", "en_GB", "en_CA", "en_AU", "en_IN", "en_SG")
EVERY_LOCALE = tuple(load_locales())
GENDERS = ("female", "male", "nonbinary")
# Slots that the code fills; every other slot names a topic.
GIVEN = frozenset(
    "n word more decade tens d dd nth m mm month mon year yy h H hh minute half HALF hour next_hour _part_of_day "
    "f i fw iw cm st lb amount k city region short country title field nationality home adjective other spouse children count "
    "group s f2 f3 c condition house letter sub floor flat small middle MON line post".split()
)


def lexicons(locale: str) -> list[str]:
    """The names of all lexicons of groups."""
    names = [f.name.removesuffix(".yaml") for f in (folder(locale) / "lexicons").iterdir()]
    return ["wording", *sorted(name for name in names if name != "occupations")]


SIZES = {"conditions": 350, "symptoms": 150, "medications": 180, "procedures": 120, "disabilities": 80, "allergies": 60, "studies": 200}


def test_the_copy_of_fakers_lists_is_exact():
    if version("faker") != "40.54.0":
        pytest.skip("the lists were copied from Faker 40.54.0")
    copied = load_yaml(files("piiloom.pii_values") / "data" / "faker_names.yaml", FakerFile).lists
    for locale, lists in copied.items():
        provider = import_module(f"faker.providers.person.{locale}").Provider
        for kind, text in (("first_names_female", lists.female), ("first_names_male", lists.male), ("last_names", lists.family)):
            expected = []
            for name in dict.fromkeys(theirs := getattr(provider, kind)):
                plain = re.sub("^Mc(.)", lambda found: "Mc" + found[1].upper(), re.sub("[\u0300-\u036f]", "", normalize("NFD", name)))
                if re.fullmatch("[A-Z][A-Za-z]{2,}", plain):
                    expected.append(f"{plain}:{theirs[name]!r}" if isinstance(theirs, dict) else plain)
            assert text.split() == expected, (locale, kind)


@case_by_case(("lexicon", "least"), SIZES.items())
def test_lexicons_are_large(lexicon, least):
    assert len({e.text for e in entries(lexicon, "en_US") if not e.topic.startswith("_")}) >= least


def test_words_of_health_and_family_are_many():
    talk = [e for e in entries("health_talk", "en_US") if not e.topic.startswith("_")]
    assert len({e.text for e in talk if e.topic == "shorthand"}) >= 60
    assert len({e.text for e in talk if e.topic == "state"}) >= 80
    assert len({e.text for e in entries("relationships", "en_US") if e.topic.startswith("kin_")}) >= 70


def fills(lexicon: str, slot: str, entry: Entry, locale: str) -> bool:
    """Whether something stands for *slot* whoever the entry fits."""
    other, dot, topic = slot.partition(".")
    name, wanted = (other, topic) if dot else (lexicon, slot)
    ages = range(max(3, entry.min_age), min(100, entry.max_age) + 1)
    people = [Who(locale=locale, age=age, gender=gender) for age in ages for gender in entry.genders or GENDERS]
    return slot in GIVEN or all(has_topic(name, wanted, who) for who in people)


@pytest.mark.parametrize("locale", mostly_long(EVERY_LOCALE, quick={"en_US", "pt_BR", "sv_SE"}))
def test_every_slot_can_be_filled(locale):
    holes = {
        (lexicon, entry.text, slot)
        for lexicon in lexicons(locale)
        for entry in entries(lexicon, locale)
        for slot in (entry.parts or ())[1::2]
        if not fills(lexicon, slot, entry, locale)
    }
    assert holes == set()


@case_by_case("locale", EVERY_LOCALE)
def test_titles_have_their_parts(locale):
    for job in occupations(locale):
        for slot in [part.partition("}")[0] for part in job.title.split("{")[1:]]:
            assert has_topic("job_parts", slot, Who(locale=locale)), job.title


def test_gendered_forms_are_read_apart():
    assert gendered("single <dad|mom>", "male") == "single dad"
    assert gendered("single <dad|mom>", "female") == "single mom"
    forms = {e.text: e.genders for e in entries("relationships", "en_US") if e.topic == "parent_single"}
    assert forms["single dad"] == ("male",)
    assert forms["single mom"] == ("female", "nonbinary")
    assert forms["single parent"] is None


def test_people_are_varied():
    titles = {job.title for job in occupations("en_US")}
    assert len(titles) >= 700
    assert len({name for h in heritages("en_US").items for name in h.languages.items}) >= 80
    assert len(countries("en_US")) >= 150


def test_english_names_are_ascii():
    for locale in LOCALES:
        for background in heritages(locale).items:
            assert all(name.isascii() for name in background.given["female"].items + background.given["male"].items)


def test_places_are_many():
    assert sum(len(r.cities.items) for r in regions("en_US").items) >= 300
    assert len(regions("en_US").items) == 50
    for locale in LOCALES:
        home = profile(locale).country
        assert all(draw_abroad(locale, random.Random(n))[1] != home for n in range(200))


@case_by_case("locale", EVERY_LOCALE)
def test_every_age_and_level_has_jobs(locale):
    for age in range(27, 101):
        for level in range(6):
            assert len(jobs_for(locale, level, age).items) >= 10


@case_by_case("locale", EVERY_LOCALE)
def test_backgrounds_have_names_and_known_religions(locale):
    for background in heritages(locale).items:
        assert all(creeds(locale, family).items for family in background.religions.items)
        assert all(len(names.items) >= 15 for names in background.given.values())
        assert len(background.family.items) >= 15
        assert not {name.casefold() for name in background.family.items} & set(listed("no_names", locale))


@case_by_case("locale", EVERY_LOCALE)
def test_every_creed_has_practices(locale):
    families = {family for h in heritages(locale).items for family in h.religions.items}
    used = {topic for family in families for creed in creeds(locale, family).items for topic in creed.practices}
    assert used <= {e.topic for e in entries("practices", locale)}


@case_by_case("locale", LOCALES)
def test_employers_are_many(locale):
    rng = random.Random(locale)
    names = {draw_employer("", locale, rng) for _ in range(3000)}
    assert len(names) >= 80
    assert not any(name.lower().startswith(("the ", "a ")) for name in names)


def test_every_locale_of_the_taxonomy_has_values():
    assert {code for code, locale in load_locales().items() if locale.language == "en"} == set(LOCALES)


def test_spelling_follows_the_locale():
    assert spelled("iron-deficiency anemia", "en_GB") == "iron-deficiency anaemia"
    assert spelled("Medical Center", "en_CA") == "Medical Centre"
    assert spelled("gray eyes", "en_US") == "gray eyes"
    assert spelled("mom", "en_SG") == "mum"


def test_organisations_number_in_the_thousands():
    rng = random.Random(1)
    region = regions("en_US").items[0]
    for kind in ("company", "hospital", "charity", "club", "school"):
        assert len({draw_organisation(kind, Who(locale="en_US"), region, rng) for _ in range(1500)}) > 1000


def test_unknown_places_and_locales_are_named():
    with pytest.raises(UsageError, match="no places"):
        regions("xx_YY")
    with pytest.raises(UsageError, match="no values"):
        profile("xx_YY")


def test_an_empty_choice_is_an_error_and_weights_count():
    with pytest.raises(PiiloomError, match="no value fits"):
        weighted([]).draw(random.Random(1))
    rng = random.Random(2)
    drawn = [weighted([("a", 9.0), ("b", 1.0)]).draw(rng) for _ in range(1000)]
    assert 850 < drawn.count("a") < 950


def test_dates_stay_inside_a_life():
    rng = random.Random(3)
    for age in (0, 18, 45, 90):
        for _ in range(100):
            birth = draw_birth_date(age, rng)
            assert age_on(birth) == age
            assert draw_day(birth, rng) < REFERENCE_DATE
            if age >= 18:
                assert draw_day(birth, rng) > birth


def test_dates_are_written_in_the_order_of_the_locale():
    rng = random.Random(4)
    day = date(2019, 3, 14)
    american = {written_date(day, "en_US", rng) for _ in range(400)}
    british = {written_date(day, "en_GB", rng) for _ in range(400)}
    assert {"March 14, 2019", "3/14/2019", "2019-03-14", "03/14/2019", "Mar 14", "14th of March"} <= american
    assert {"14 March 2019", "14/03/2019", "14th March", "14th of March"} <= british
    assert not {"14/03/2019", "14/3/2019"} & american
    nth = [written_date(day + timedelta(days=d), "en_US", rng) for d in range(2000)]
    assert all(any(f"{mark} of" in text for text in nth) for mark in ("st", "nd", "rd", "th"))
