"""Drawn values have the surface forms that the taxonomy promises and keep apart from one another."""

from __future__ import annotations

import random
import re

import pytest
from hypothesis import given, reject, settings
from hypothesis import strategies as st

from foundation.errors import PiiloomError, UsageError
from foundation.words import content_words, count_words, whole_word
from pii_values.catalogue import KINDS
from pii_values.drawing import ValueRequest, draw_value, draw_values
from pii_values.persona import draw_persona, draw_persona_of
from taxonomy.entity_types import load_taxonomy

LOCALES = ("en_US", "en_GB", "en_CA", "en_AU", "en_IN")
SUBTYPES = [(entity_type, kind.subtype) for entity_type, kinds in KINDS.items() for kind in kinds]

# How each form of the taxonomy must look, as far as a pattern can tell.
AMOUNT = re.compile(
    r"[$£₹]\d{1,3}(,\d{2,3})*|\d+ (cm|kg|kilos|lbs|pounds)|\d\.\d\d m|\d'\d+\"|\d( |-)(ft|foot|feet)[\w -]*|\w+ (foot|feet)[\w ]*"
)
ARTICLE = re.compile(r"(?i)(a|an|the|my|his|her|their) ")
# A vowel letter with a consonant sound, or the other way round: the grammar's "a"/"an" goes by the first letter.
MISLEADING_START = re.compile(r"[Uu]ni|[Uu]s[eu]|[Uu]ti|[Uu]ro|[Ee]u|one\b|once|hono|hour|heir|[FHLMNRSX][A-Z]+\b|U[A-Z]")


def test_catalogue_and_taxonomy_know_the_same_subtypes():
    known = {(t.name, s.name) for t in load_taxonomy().types.values() for s in t.subtypes}
    assert set(SUBTYPES) == known


@pytest.mark.parametrize("locale", LOCALES)
def test_every_value_is_one_clean_line_of_one_to_six_words(locale):
    rng = random.Random(locale)
    for _ in range(60):
        persona = draw_persona(rng, locale)
        for entity_type, subtype in SUBTYPES:
            text = draw_value(persona, entity_type, subtype, rng).text
            place = f"{entity_type}.{subtype}: {text!r}"
            assert 1 <= count_words(text) <= 6, place
            assert 1 <= len(text.split()) <= 6, place
            assert text == " ".join(text.split()), place
            assert not set("[]{}<>|") & set(text), place
            assert content_words(text), place
            assert not ARTICLE.match(text), place


@pytest.mark.parametrize("locale", LOCALES)
def test_forms_fit_the_taxonomy(locale):
    rng = random.Random(locale)
    taxonomy = load_taxonomy()
    for _ in range(150):
        persona = draw_persona(rng, locale)
        for entity_type, subtype in SUBTYPES:
            form = taxonomy.subtype(entity_type, subtype).form
            text = draw_value(persona, entity_type, subtype, rng).text
            place = f"{entity_type}.{subtype}: {text!r}"
            if form == "amount":
                assert AMOUNT.fullmatch(text), place
            elif form == "number":
                assert text.isdigit(), place
            elif form == "count_noun":
                assert not MISLEADING_START.match(text), place
            elif form == "proper":
                assert text[0].isupper() or text[0].isdigit(), place


def test_values_are_the_personas_own():
    rng = random.Random(2)
    for _ in range(50):
        p = draw_persona(rng, "en_US")
        own = {
            ("age", "years"): str(p.age),
            ("occupation", "job_title"): p.occupation,
            ("name", "full_name"): f"{p.given_name} {p.family_name}",
            ("location", "city"): p.city,
            ("finance", "income"): f"${p.income:,}",
            ("belief", "religion"): p.religion,
            ("code", "email"): p.email,
            ("appearance", "hair"): p.hair,
        }
        assert {key: draw_value(p, *key, rng).text for key in own} == own
        assert draw_value(p, "relationship", "kin", rng).text in p.kin
        assert draw_value(p, "health", "condition", rng).text in p.conditions


def test_every_subtype_can_be_drawn_at_every_age():
    rng = random.Random(6)
    for locale in LOCALES:
        for age in (3, 9, 15, 17, 18, 24, 44, 67, 80, 99, 100):
            for gender in ("female", "male", "nonbinary"):
                persona = draw_persona_of(rng, locale, age=age, gender=gender)
                assert all(draw_value(persona, *key, rng).text for key in SUBTYPES)


# One request a type: two values of one subtype may share a word by nature ("green eyes", "nut allergy"). Age is always asked for.
requests = st.lists(
    st.builds(
        lambda key, named, subject: ValueRequest(entity_type=key[0], subtypes=(key[1],) if named else None, subject=subject),
        st.sampled_from([key for key in SUBTYPES if key[0] != "age"]),
        st.booleans(),
        st.sampled_from([None, None, None, "sister", "boss"]),
    ),
    min_size=1,
    max_size=6,
    unique_by=lambda r: r.entity_type,
)


@settings(max_examples=250, deadline=None)
@given(requests, st.integers(0, 2**32), st.sampled_from(LOCALES))
def test_values_keep_apart(wanted, seed, locale):
    rng = random.Random(seed)
    persona = draw_persona(rng, locale)
    try:
        values = draw_values(persona, [*wanted, ValueRequest(entity_type="age", subtypes=("years",))], rng)
    except PiiloomError:
        reject()  # allowed, but rare: see the next test
    assert [v.entity_type for v in values] == [*(r.entity_type for r in wanted), "age"]
    assert [v.subject for v in values[:-1] if v.entity_type != "name"] == [r.subject or "self" for r in wanted if r.entity_type != "name"]
    assert values[-1].text == str(persona.age)
    for i, a in enumerate(values):
        for b in values[i + 1 :]:
            assert a.text.casefold() != b.text.casefold()
            assert not content_words(a.text) & content_words(b.text)
            assert not whole_word(a.text.casefold()).search(b.text.casefold())
            assert not whole_word(b.text.casefold()).search(a.text.casefold())


def test_hardly_any_set_cannot_be_drawn():
    rng = random.Random(5)
    failed = 0
    for _ in range(3000):
        types = rng.sample(sorted({name for name, _ in SUBTYPES} - {"age"}), rng.randint(1, 6))
        wanted = [ValueRequest(entity_type=name) for name in types] + [ValueRequest(entity_type="age", subtypes=("years",))]
        try:
            draw_values(draw_persona(rng, rng.choice(LOCALES)), wanted, rng)
        except PiiloomError:
            failed += 1
    assert failed <= 3


def test_a_name_and_an_address_of_one_person_share_no_word():
    rng = random.Random(9)
    wanted = [ValueRequest(entity_type="name", subtypes=("full_name",)), ValueRequest(entity_type="code", subtypes=("email",))]
    for _ in range(40):
        persona = draw_persona(rng, "en_US")
        name, email = draw_values(persona, wanted, rng)
        assert name.text == persona.full_name
        assert not content_words(name.text) & content_words(email.text)


def test_a_second_name_is_somebody_elses():
    rng = random.Random(10)
    wanted = [ValueRequest(entity_type="name", subtypes=("full_name",))] * 2
    first, second = draw_values(draw_persona(rng, "en_US"), wanted, rng)
    assert (first.subject, second.subject) == ("self", "someone else")


def test_one_subject_is_one_person():
    rng = random.Random(12)
    wanted = [ValueRequest(entity_type="age", subtypes=(s,), subject="mother") for s in ("years", "age_group")]
    for _ in range(30):
        years, group = draw_values(draw_persona(rng, "en_US", max_age=30), wanted, rng)
        decades = "_ teens twenties thirties forties fifties sixties seventies eighties".split()
        assert group.text.endswith(decades[int(years.text) // 10])


def test_impossible_and_unknown_requests_are_refused():
    rng = random.Random(13)
    persona = draw_persona(rng, "en_US")
    with pytest.raises(PiiloomError, match=r"age\.years, age\.years"):
        draw_values(persona, [ValueRequest(entity_type="age", subtypes=("years",))] * 2, rng)
    with pytest.raises(UsageError, match="Known: occupation"):
        draw_value(persona, "shoe size", None, rng)
    with pytest.raises(UsageError, match="no subtype 'mood'"):
        draw_values(persona, [ValueRequest(entity_type="health", subtypes=("mood",))], rng)
    assert draw_values(persona, [], rng) == ()
