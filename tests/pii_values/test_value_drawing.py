"""Drawn values have the surface forms that the taxonomy promises and keep apart from one another."""

from __future__ import annotations

import random
import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from stdnum import iban, imei, luhn, mac

from piiloom.foundation.errors import PiiloomError, UsageError
from piiloom.foundation.words import content_words, whole_word
from piiloom.pii_values.drawing import ValueRequest, draw_value, draw_values
from piiloom.pii_values.kinds import KINDS
from piiloom.pii_values.persona import draw_persona, draw_persona_of
from piiloom.taxonomy.entity_types import shipped_taxonomy
from piiloom.taxonomy.locales import load_locales
from tests.longer import case_by_case, examples, sampled
from tests.pii_values.value_forms import MOST_WORDS_OF_AN_ADDRESS, PATTERNS, misfit

LOCALES = ("en_US", "en_GB", "en_CA", "en_AU", "en_IN", "en_SG")
SUBTYPES = [(entity_type, kind.subtype) for entity_type, kinds in KINDS.items() for kind in kinds]
AGED = ("years", "years_old", "year_old", "age_gender")


def test_catalogue_and_taxonomy_know_the_same_subtypes():
    known = {(t.name, s.name) for t in shipped_taxonomy().types.values() for s in t.subtypes}
    assert set(SUBTYPES) == known


@pytest.mark.parametrize("people", sampled(60, 300))
@pytest.mark.parametrize("locale", LOCALES)
def test_every_value_has_the_form_of_its_subtype(locale, people):
    rng = random.Random(locale)
    taxonomy = shipped_taxonomy()
    wrong = set()
    for _ in range(people):
        persona = draw_persona(rng, locale)
        for entity_type, subtype in SUBTYPES:
            text = draw_value(persona, entity_type, subtype, rng, taxonomy=shipped_taxonomy()).text
            fault = misfit(entity_type, subtype, taxonomy.subtype(entity_type, subtype).form, text)
            if fault:
                wrong.add((entity_type, subtype, text, fault))
    assert wrong == set()


@settings(max_examples=examples(300), deadline=None)
@given(st.sampled_from(SUBTYPES), st.sampled_from(LOCALES), st.integers(0, 2**32), st.integers(3, 100), st.integers(0, 12))
def test_any_attempt_has_the_form_of_its_subtype(key, locale, seed, age, attempt):
    rng = random.Random(seed)
    persona = draw_persona(rng, locale, min_age=age, max_age=age)
    kind = next(k for k in KINDS[key[0]] if k.subtype == key[1])
    text = kind.draw(persona, rng, attempt)
    assert misfit(*key, shipped_taxonomy().subtype(*key).form, text) is None, text


IDENTIFIERS = (
    "email phone payment_card card_last_four iban bank_account_number national_id passport_number driving_licence_number "
    "licence_plate vin ipv4 mac_address url imei insurance_policy medical_record_number customer_number "
    "hotel_booking parcel_carrier device_serial loyalty_card ethereum_wallet frequent_flyer e_ticket loan_number prescription_number "
).split()


@case_by_case("locale", LOCALES)
def test_values_of_catalogue_entities_are_drawn_by_id(locale):
    rng, taxonomy = random.Random(locale), shipped_taxonomy()
    for _ in range(20):
        persona = draw_persona(rng, locale)
        drawn = {one: draw_value(persona, "code", one, rng, taxonomy) for one in IDENTIFIERS}
        assert {one: value.subtype for one, value in drawn.items()} == {one: one for one in IDENTIFIERS}
        texts = {one: value.text for one, value in drawn.items()}
        assert luhn.is_valid(re.sub("[ -]", "", texts["payment_card"]))
        assert iban.is_valid(texts["iban"])
        assert imei.is_valid(texts["imei"].replace("/", ""))
        assert mac.is_valid(":".join(re.findall("[0-9A-Fa-f]{2}", texts["mac_address"])))
        assert texts["card_last_four"].isdigit()
        born = draw_value(persona, "datetime", "date_of_birth", rng, taxonomy).text
        assert str(persona.birth_date.day) in born
        assert str(persona.birth_date.year)[2:] in born
    with pytest.raises(UsageError, match="has no subtype 'iban'"):
        draw_value(persona, "health", "iban", rng, taxonomy)


def test_examples_of_the_taxonomy_fit_as_well():
    wrong = [
        (t.name, s.name, example)
        for t in shipped_taxonomy().types.values()
        for s in t.subtypes
        if (t.name, s.name) in PATTERNS
        for example in s.examples
        if misfit(t.name, s.name, s.form, example)
    ]
    assert wrong == []


def test_values_are_the_personas_own():
    rng = random.Random(2)
    for _ in range(50):
        p = draw_persona(rng, "en_US")
        own = {
            ("age", "years"): str(p.age),
            ("occupation", "job_title"): p.occupation,
            ("name", "full_name"): f"{p.given_name} {p.family_name}",
            ("location", "city"): p.city,
            ("belief", "religion"): p.religion,
            ("code", "email"): p.email,
            ("appearance", "hair"): p.body.hair,
            ("education", "field"): p.education.field,
            ("name", "last_name"): p.family_name,
        }
        assert {key: draw_value(p, *key, rng, shipped_taxonomy()).text for key in own} == own
        assert draw_value(p, "relationship", "kin", rng, taxonomy=shipped_taxonomy()).text in p.kin
        assert draw_value(p, "health", "condition", rng, taxonomy=shipped_taxonomy()).text in p.conditions


@pytest.mark.parametrize("locale", load_locales())
def test_every_subtype_can_be_drawn_at_every_age(locale):
    rng = random.Random(6)
    for age in (3, 9, 15, 17, 18, 24, 44, 67, 80, 99, 100):
        for gender in ("female", "male", "nonbinary"):
            persona = draw_persona_of(rng, locale, age=age, gender=gender)
            for key in SUBTYPES:
                text = draw_value(persona, *key, rng, shipped_taxonomy()).text
                assert text == " ".join(text.split())
                assert 1 <= len(text.split()) <= (MOST_WORDS_OF_AN_ADDRESS if key[1] == "address" else 8)
                assert not set("[]{}<>|") & set(text), text


KIN = ValueRequest(entity_type="relationship", subtypes=("kin",))
# What a person has one of, told in a few words: there may be no second one for the same person, or none without a common word.
SCARCE = {"marital_status", "blood_type"}


def met(wanted: list[ValueRequest]) -> list[ValueRequest]:
    """*wanted* without what there may be no values for: more than two of one subtype (one, of what is scarce)."""
    kept: list[ValueRequest] = []
    for request in wanted:
        most = 1 if SCARCE.intersection(request.subtypes or ()) else 2
        if sum((other.entity_type, other.subtypes) == (request.entity_type, request.subtypes) for other in kept) < most:
            kept.append(request)
    return kept


requests = st.lists(
    st.builds(
        lambda key, named, subject: ValueRequest(entity_type=key[0], subtypes=(key[1],) if named else None, subject=subject),
        st.sampled_from([key for key in SUBTYPES if key[0] not in {"age", "name"} and key[1] not in {"asked_for", "driving_licence"}]),
        st.booleans(),
        st.sampled_from([None, None, None, "sister", "boss", "someone else", "@0", "@1"]),
    ),
    max_size=8,
).map(met)


def numbers(text: str) -> list[str]:
    return re.findall(r"\d{2,}", text)


@pytest.mark.long
@settings(max_examples=examples(300), deadline=None)
@given(requests, st.sampled_from(AGED), st.sampled_from(AGED), st.integers(0, 2**32), st.sampled_from(LOCALES))
def test_values_keep_apart(wanted, own_age, other_age, seed, locale):
    """Up to twelve: two kin words, two ages, and whatever else of whomever, several of one subtype too."""
    rng = random.Random(seed)
    persona = draw_persona(rng, locale)
    ages = [ValueRequest(entity_type="age", subtypes=(s,), subject=who) for s, who in ((own_age, None), (other_age, "@0"))]
    asked = [KIN, KIN, *ages, *wanted]
    values = draw_values(persona, asked, rng, taxonomy=shipped_taxonomy())
    assert [v.entity_type for v in values] == [r.entity_type for r in asked]
    named = {"@0": values[0].text, "@1": values[1].text, None: "self"}
    assert [v.subject for v in values] == [named.get(r.subject, r.subject) for r in asked]
    assert str(persona.age) in values[2].text or not any(c.isdigit() for c in values[2].text)
    for i, a in enumerate(values):
        for b in values[i + 1 :]:
            assert a.text.casefold() != b.text.casefold()
            assert a.entity_type == b.entity_type or not content_words(a.text) & content_words(b.text)
            assert not whole_word(a.text.casefold()).search(b.text.casefold())
            assert not whole_word(b.text.casefold()).search(a.text.casefold())
            if a.entity_type != "code" and b.entity_type != "code":
                assert not set(numbers(a.text)) & set(numbers(b.text))


def test_the_person_asked_for_is_the_persona():
    rng = random.Random(14)
    asked = [
        ValueRequest(entity_type="age", subtypes=("years",), subject="@1"),
        ValueRequest(entity_type="relationship", subtypes=("asked_for",)),
        ValueRequest(entity_type="name", subtypes=("full_name",), subject="@1"),
    ]
    for _ in range(60):
        persona = draw_persona(rng, "en_US")
        age, word, name = draw_values(persona, asked, rng, taxonomy=shipped_taxonomy())
        assert (age.text, age.subject) == (str(persona.age), word.text)
        assert (name.text, name.subject) == (persona.full_name, word.text)
        assert not (persona.gender == "male" and word.text.endswith(("sister", "mom", "wife", "daughter", "niece", "aunt")))
        assert not (persona.gender == "female" and word.text.endswith(("brother", "dad", "husband", "son", "nephew", "uncle")))


def test_the_people_of_a_kin_word_fit_it_and_chains_are_followed():
    rng = random.Random(15)
    asked = [
        ValueRequest(entity_type="age", subtypes=("years",), subject="@1"),
        KIN,
        ValueRequest(entity_type="relationship", subtypes=("kin",), subject="@1"),
        ValueRequest(entity_type="occupation", subject="@2"),
        ValueRequest(entity_type="age", subtypes=("years",)),
    ]
    for _ in range(200):
        persona = draw_persona(rng, "en_GB", min_age=25, max_age=60)
        age, kin, theirs, job, own = draw_values(persona, asked, rng, taxonomy=shipped_taxonomy())
        assert (age.subject, kin.subject, theirs.subject, job.subject) == (kin.text, "self", kin.text, theirs.text)
        if kin.text in {"mum", "dad", "mother", "father"}:
            assert 18 <= int(age.text) - int(own.text) <= 40
        if kin.text in {"son", "daughter"}:
            assert int(age.text) < int(own.text)


def test_what_only_adults_have_is_told_of_adults():
    rng = random.Random(17)
    asked = [KIN, *(ValueRequest(entity_type=t, subtypes=(s,), subject="@0") for t, s in (("age", "years"), ("occupation", "job_title")))]
    for _ in range(400):
        kin, age, _job = draw_values(draw_persona(rng, rng.choice(LOCALES)), asked, rng, taxonomy=shipped_taxonomy())
        assert int(age.text) >= 18, kin.text


@pytest.mark.parametrize("subject", ["@7", "@x", "@", "@0", "@-1"])
def test_a_reference_to_no_request_is_a_usage_error(subject):
    persona = draw_persona(random.Random(1), "en_US")
    with pytest.raises(UsageError, match="request 0"):
        draw_values(persona, [ValueRequest(entity_type="age", subject=subject), KIN], random.Random(1), taxonomy=shipped_taxonomy())


def test_two_of_one_kind_differ():
    rng = random.Random(16)
    for _ in range(150):
        persona = draw_persona(rng, rng.choice(LOCALES))
        for key in (("health", "allergy"), ("finance", "amount"), ("appearance", "eyes"), ("code", "email"), ("education", "degree")):
            pair = [ValueRequest(entity_type=key[0], subtypes=(key[1],), subject=who) for who in (None, "sister")]
            first, second = draw_values(persona, pair, rng, taxonomy=shipped_taxonomy())
            assert first.text != second.text


@pytest.mark.long
def test_hardly_any_set_cannot_be_drawn():
    rng = random.Random(5)
    failed = 0
    for _ in range(3000):
        types = rng.sample(sorted({name for name, _ in SUBTYPES} - {"age"}), rng.randint(1, 6))
        wanted = [ValueRequest(entity_type=name) for name in types] + [ValueRequest(entity_type="age", subtypes=("years",))]
        try:
            draw_values(draw_persona(rng, rng.choice(LOCALES)), wanted, rng, taxonomy=shipped_taxonomy())
        except PiiloomError:
            failed += 1
    assert failed == 0


def test_a_name_and_an_address_of_one_person_share_no_word():
    rng = random.Random(9)
    wanted = [ValueRequest(entity_type="name", subtypes=("full_name",)), ValueRequest(entity_type="code", subtypes=("email",))]
    for _ in range(40):
        persona = draw_persona(rng, "en_US")
        name, email = draw_values(persona, wanted, rng, taxonomy=shipped_taxonomy())
        assert name.text == persona.full_name
        assert not content_words(name.text) & content_words(email.text)


def test_a_second_name_is_somebody_elses():
    rng = random.Random(10)
    wanted = [ValueRequest(entity_type="name", subtypes=("full_name",))] * 2
    first, second = draw_values(draw_persona(rng, "en_US"), wanted, rng, taxonomy=shipped_taxonomy())
    assert (first.subject, second.subject) == ("self", "someone else")


def test_one_subject_is_one_person():
    rng = random.Random(12)
    wanted = [ValueRequest(entity_type="age", subtypes=(s,), subject="mother") for s in ("years", "age_group")]
    for _ in range(30):
        years, group = draw_values(draw_persona(rng, "en_US", max_age=30), wanted, rng, taxonomy=shipped_taxonomy())
        decade = int(years.text) // 10
        words = "_ teens twenties thirties forties fifties sixties seventies eighties".split()
        assert group.text.endswith((words[decade], f"{decade}0s"))


def test_impossible_and_unknown_requests_are_refused():
    rng = random.Random(13)
    persona = draw_persona(rng, "en_US")
    with pytest.raises(PiiloomError, match=r"age\.years, age\.years"):
        draw_values(persona, [ValueRequest(entity_type="age", subtypes=("years",))] * 2, rng, taxonomy=shipped_taxonomy())
    with pytest.raises(UsageError, match="Known: occupation"):
        draw_value(persona, "shoe size", None, rng, taxonomy=shipped_taxonomy())
    with pytest.raises(UsageError, match="no subtype 'mood'"):
        draw_values(persona, [ValueRequest(entity_type="health", subtypes=("mood",))], rng, taxonomy=shipped_taxonomy())
    groups = [ValueRequest(entity_type="appearance", subtypes=("blood_type",))] * 9
    with pytest.raises(PiiloomError, match="no set of values without common words") as refused:  # there are eight
        draw_values(persona, groups, rng, taxonomy=shipped_taxonomy())
    assert "fewer values of one subtype" in str(refused.value.remedy)
    assert draw_values(persona, [], rng, taxonomy=shipped_taxonomy()) == ()
