"""The lexicons are large enough, clean and without doubles."""

from __future__ import annotations

import random
from datetime import date, timedelta

import pytest

from foundation.errors import PiiloomError, UsageError
from pii_values.dates import REFERENCE_DATE, age_on, draw_birth_date, draw_day, written_date
from pii_values.heritage import countries, heritages, profile
from pii_values.lexicons import entries, spelled
from pii_values.occupations import jobs_for, occupations
from pii_values.organisations import draw_organisation
from pii_values.places import regions
from pii_values.sampling import weighted

LOCALES = ("en_US", "en_GB", "en_CA", "en_AU", "en_IN")


@pytest.mark.parametrize(
    ("lexicon", "least"),
    [("conditions", 250), ("medications", 120), ("procedures", 100), ("disabilities", 80), ("allergies", 60), ("studies", 200)],
)
def test_lexicons_are_large(lexicon, least):
    assert len({e.text for e in entries(lexicon, "en_US")}) >= least


def test_people_are_varied():
    assert len(occupations("en_US")) >= 400
    assert len({job.title for job in occupations("en_US")}) == len(occupations("en_US"))
    assert len({name for h in heritages("en_US").items for name in h.languages.items}) >= 80
    assert len(countries()) >= 150


@pytest.mark.parametrize("locale", LOCALES)
def test_every_age_and_level_has_jobs(locale):
    for age in range(27, 101):
        for level in range(6):
            assert len(jobs_for(locale, level, age).items) >= 10


@pytest.mark.parametrize("locale", LOCALES)
def test_backgrounds_have_names_and_known_religions(locale):
    religions = {e.topic for e in entries("beliefs", locale)} - {"political", "philosophy"}
    for background in heritages(locale).items:
        assert set(background.religions.items) <= religions
        assert all(len(names.items) >= 15 for names in background.given.values())
        assert len(background.family.items) >= 15
        assert all(name.isascii() for name in background.given["female"].items + background.given["male"].items)


def test_spelling_follows_the_locale():
    assert spelled("iron-deficiency anemia", "en_GB") == "iron-deficiency anaemia"
    assert spelled("Medical Center", "en_CA") == "Medical Centre"
    assert spelled("gray eyes", "en_US") == "gray eyes"


def test_organisations_number_in_the_thousands():
    rng = random.Random(1)
    region = regions("en_US").items[0]
    for kind in ("company", "hospital", "charity", "club", "school"):
        assert len({draw_organisation(kind, "en_US", region, rng) for _ in range(1500)}) > 1000


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
    american = {written_date(day, "en_US", rng) for _ in range(200)}
    british = {written_date(day, "en_GB", rng) for _ in range(200)}
    assert {"March 14, 2019", "3/14/2019", "2019-03-14"} <= american
    assert {"14 March 2019", "14/03/2019", "14th March"} <= british
    assert {"st", "nd", "rd", "th"} <= {written_date(day + timedelta(days=d), "en_US", rng).split(",")[0][-2:] for d in range(400)}
