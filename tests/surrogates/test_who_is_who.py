"""Rules of who is who: writers, parts of names and couples, places that the text names."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

import pytest

from piiloom.foundation.errors import UsageError
from piiloom.surrogates.documents import Mention
from piiloom.surrogates.kinds.places import City, country_places
from piiloom.surrogates.mention_rules import RuleContext, told_by_place_names
from piiloom.surrogates.persona_assignment.groups import CODES
from piiloom.surrogates.placeholders import Finder, auto_mapping
from piiloom.surrogates.planning import Planner
from tests.longer import case_by_case
from tests.surrogates.persons_filled import filled, filled_spans, ids, words

LETTERS = [
    ("Hello, my name is [NAME]. Dr [NAME] sent me.\nSincerely, [NAME] [LOCATION] [CONTACT]\nWhat now?", "en_US"),
    ("Hi, I am [NAME] and I ask for [NAME].\nThanks in advance!\n[NAME]", "en_US"),
    ("My name is [NAME]. I met [NAME] there. It helps.\n[NAME]\n\nDoes it help?", "en_US"),
    ("Mijn naam is [naam]. Mijn buurman heet [naam].\nMet vriendelijke groet,\n[naam]", "nl_NL"),
    ("Je m'appelle [NOM]. Ma voisine est [NOM].\nCordialement,\n[NOM]", "fr_FR"),
    ("Me llamo [PERSONA]. Vi a [PERSONA] ayer.\nSaludos,\n[PERSONA]", "es_ES"),
    ("Ich heiße [NAME]. Ich kenne [NAME] gut.\nMit freundlichen Grüßen\n[NAME]", "de_DE"),
]


@case_by_case(("text", "locale"), LETTERS)
def test_who_introduces_and_signs_is_one_person(text, locale):
    for done in filled(text, locale, count=4):
        people = [(place.value_id, word) for place, word in zip(done.placed, words(done), strict=True) if place.kind == "person"]
        (first, introduced), (other, _), (last, signed) = people
        assert first == last != other
        assert introduced.startswith(signed)
        assert introduced != signed


@pytest.mark.parametrize(
    "text",
    [
        "[NAME]: I am [NAME]\n[NAME]: I am [NAME]\nThanks, [NAME]",
        "I'm [NAME]'s mother. Thanks, [NAME]",
        "Doctor: my name is [NAME]\nPatient: hello\nDoctor: what is it?\nPatient: nothing\nThanks, [NAME]",
        "We met [NAME]. Thanks, [NAME]",
    ],
)
def test_a_conversation_or_a_third_person_is_nobody_else(text):
    (done,) = filled(text)
    assert len(set(ids(done))) == len(ids(done))


@case_by_case(
    ("text", "locale", "people"),
    [
        ("Mr. [NAME] is a man. Mr. [NAME] was seen. Mrs. [NAME], his wife, spoke. Later Mrs. [NAME] left.", "en_US", "aabb"),
        ("Mr. [NAME] told Mr. [NAME] so. Then Mr. [NAME] left.", "en_US", "abc"),
        ("Mevrouw [naam] woont hier. Dat zegt mevrouw [naam]. De heer [naam] en de heer [naam] niet.", "nl_NL", "aabc"),
        ("Mme [NOM] est là. Mme [NOM] part. [NOM] reste.", "fr_FR", "aab"),
        ("Dr. [NAME] came. Dr. [NAME] left.", "en_US", "ab"),
        ("Vino la Dra. [NOMBRE]. Luego se fue la Dra. [NOMBRE].", "es_ES", "ab"),
    ],
)
def test_one_title_is_one_person_where_no_two_meet(text, locale, people):
    (done,) = filled(text, locale)
    assert [ids(done).index(one) for one in ids(done)] == [people.index(one) for one in people]


@pytest.mark.parametrize(
    ("text", "form"),
    [
        ("my [AGE] father", r"\d\d-year-old"), ("his [AGE] son", r"\d{1,2}-year-old"), ("a [AGE] and a [AGE] boy", r"\d{1,2}-year-old"),
        ("my [AGE]-year-old father", r"\d{1,2}"), ("[AGE] y.o. male", r"\d{1,2}"),
    ],
)  # fmt: skip
def test_an_age_before_a_noun_is_written_out(text, form):
    for done in filled(text, count=3):
        assert all(re.fullmatch(form, word) for word in words(done)), done.text


def test_the_age_of_a_relative_is_not_the_writers():
    for done in filled("I am [NAME], [AGE], and ask for my [AGE] father.", count=6):
        _, own, fathers = words(done)
        assert 48 <= int(fathers.partition("-")[0]) < 86
        assert ids(done)[1] != ids(done)[2]
        assert own.isdecimal()


@pytest.mark.parametrize(
    ("text", "gender"),
    [
        ("[PATIENT], [AGE] y.o. male (DOB [DATE])", "male"), ("<<PATIENT>>, <<AGE>> y.o. female (DOB <<DATE>>)", "female"),
        ("Saw [PATIENT] here, as planned by the clinic. There were no complaints. None. It is a [AGE]-year-old woman", "female"),
    ],
)  # fmt: skip
def test_the_noun_after_an_age_tells_the_gender(text, gender):
    plan = Planner("en").plan(text, Finder(auto_mapping([text])).find(text).mentions)
    assert [cluster.code for cluster in plan.clusters] == [CODES[gender]]


def test_children_are_children_and_months_are_months():
    for done in filled("[PATIENT] is a [AGE] year old boy, born [DATE OF BIRTH], seen on [DATE].", count=4):
        assert 3 <= int(words(done)[1]) <= 14
    for done in filled("[PATIENT] is an [AGE] months old girl (DOB: [DATE OF BIRTH]). Visit: [DATE]", count=4):
        assert words(done)[1] in {"8", "11", "18"}
    for done in filled("[PATIENT] is a 14 months old girl (DOB: [DATE OF BIRTH]). Visit: 3/3/2020", count=2):
        assert words(done)[1].endswith(("2019", "19")) or words(done)[1].startswith("2019") or "2018" in words(done)[1]


COARSE = [
    ("belief", "Libertarian", r"[A-Z][A-Za-z ]+"),
    ("appearance", "177cm", r".*(?:\d ?(?:cm|m|feet|ft|inch|')|'\d).*"),
    ("appearance", "45kg", r".*\d.*"),
    ("appearance", "A+", r"(?:A|B|AB|O)[ -]?.*"),
    ("education", "Bachelor's degree", r".* in .*|.*(?:BA|MA|degree).*"),
    ("datetime", "48d", r"\d+d"),
    ("datetime", "15:05:48 CET", r"\d\d:\d\d:\d\d CET"),
    ("relationship", "engaged", "married|divorced|widowed|single|separated|in a relationship"),
    ("code", "bh@outlook.com", r".*@.*\.(?:example|test|invalid|com|org|net)"), ("location", "Austin, Texas", r"[\w. ]+, [\w ]+"),
    ("location", "Hyderabad, WI 62297", r"[\w. ]+, [A-Z]{2} \d{5}"), ("location", "98 Anton Street", r"\d+ [\w ]+"),
    ("ADDRESS", "813 Oak Ave. San Jose CA 32455", r"\d+ [\w ]+ [A-Z]{2} \d{5}"), ("HOSPITAL", "BWH", "[A-Z]{2,5}"),
    ("DATE", "5th of this month", r"\d{1,2}(?:st|nd|rd|th) of this month"),
    ("TIME", "half past 3 in the afternoon", r"half past \d in the afternoon"),
    ("demographic", "Saudi Arabia", r"(?!.*(?:ian|ese|ish)$)[A-Z].*"),
    ("location", "Vancouver, BC", r"[\w. ]+, [A-Z]{2}"),
    ("location", "39 79 Argyll Road\nNoorderwijk\n, VAN\n Portugal 76970", r"\d+ [\w ]+\n[\w. ]+\n, [A-Z]{2}\n United States \d{5}"),
    ("relationship", "two children", r"two [a-z]+"), ("organization", "Acme Ltd", r".* Ltd"),
]  # fmt: skip


@case_by_case(("coarse", "original", "form"), COARSE)
def test_the_words_of_a_span_tell_its_kind_and_form(coarse, original, form):
    (value,) = filled_spans(f"This is {original} here.", [(original, coarse)])
    assert re.fullmatch(form, value), value
    assert value != original


def test_a_date_of_birth_agrees_with_the_age_whatever_its_type_is_called():
    marks = [("5/6/1982", "DATE"), ("Jo Smith", "PATIENT"), ("54", "AGE"), ("1/21/1928", "DATE")]
    _, _, age, birth = filled_spans("Admit date: 5/6/1982. Jo Smith, 54 y.o. (DOB = 1/21/1928)", marks)
    assert age == "54"
    assert birth != "1/21/1928"


@case_by_case(
    ("text", "locale", "people"),
    [
        ("Dear [FIRST_NAME] [LAST_NAME],", "en_US", 1),
        ("[LAST_NAME], [FIRST_NAME]", "en_US", 1),
        ("[FIRST_NAME] [MIDDLE_NAME] [LAST_NAME]", "en_US", 1),
        ("[FIRST_NAME] [LAST_NAME], [FIRST_NAME] [LAST_NAME]", "en_US", 2),
        ("[FIRST_NAME], [FIRST_NAME] and [FIRST_NAME]", "en_US", 3),
        ("First name: <FIRST_NAME>\nLast name: <LAST_NAME>", "en_US", 1),
        ("Prénom : [PRENOM]\nNom : [NOM]", "fr_FR", 1),
        ("Vorname: [VORNAME] Nachname: [NACHNAME]", "de_DE", 1),
        ("Primer apellido: [APELLIDO] Segundo apellido: [APELLIDO] Nombre: [NOMBRE DE PILA]", "es_ES", 1),
        ("[**First Name (STitle) 12**] [**Last Name (STitle) 34**]; Dr. [**Last Name (STitle) 34**]", "en_US", 1),
        ("[**First Name 1**] [**Last Name 2**], not [**First Name 2**] or [**Last Name 1**]", "en_US", 3),
        ("[**Known lastname 123**],[**Known firstname 44**]: Mr. [**Known lastname 199**] ... [**Known firstname 5**]", "en_US", 1),
        ("[PATIENT_FIRST_NAME] [LAST_NAME] came. [PATIENT_FIRST_NAME] left.", "en_US", 1),
    ],
)
def test_parts_of_a_name_are_one_person(text, locale, people):
    (done,) = filled(text, locale)
    assert len(set(ids(done))) == people, words(done)


def test_the_parts_are_what_they_say():
    (done,) = filled("[LAST_NAME], [FIRST_NAME] [INITIAL]. ... [FIRST_NAME] [MIDDLE_NAME] [LAST_NAME]")
    family, given, initial, *_ = words(done)
    assert family != given
    assert len(initial) == 1
    (done,) = filled("[FIRST_NAME] [MIDDLE_NAME] [LAST_NAME] came")
    assert len(set(words(done))) == 3


def test_numbers_that_count_names_are_told_from_numbers_that_count_people():
    (done,) = filled("[FIRST_NAME_1] [LAST_NAME_1] saw [FIRST_NAME_2] [LAST_NAME_2]. [FIRST_NAME_1] and [LAST_NAME_2]")
    one, same_one, two, same_two, again_one, again_two = ids(done)
    assert one == same_one == again_one != two == same_two == again_two


@pytest.mark.parametrize(
    "text",
    [
        "[appellant sub 6A] en [appellant sub 6B] (hierna tezamen en in enkelvoud: [appellant sub 6])",
        "[gedaagde 1] en [gedaagde 2], hierna gezamenlijk te noemen: [gedaagden]",
        "[eiser 1] en [eiser 2], wonende te [woonplaats]. [eisers]",
        "[vader] en [moeder], gezamenlijk: [partijen]",
    ],
)
def test_several_together_are_those_named_before(text):
    (done,) = filled(text, "nl_NL")
    first, second, *_, together = (word for word, place in zip(words(done), done.placed, strict=True) if place.kind == "person")
    last = {name.rsplit(" ", 1)[-1] for name in (first, second)}
    assert {name.rsplit(" ", 1)[-1] for name in together.split(" en ")} == last


def test_the_other_side_is_not_among_them():
    (done,) = filled("[verzoeker] tegen [gedaagde 1] en [gedaagde 2] (gezamenlijk: [gedaagden])", "nl_NL")
    names = words(done)
    assert names[3] == f"{names[1]} en {names[2]}"


@case_by_case(
    ("text", "locale", "gender"),
    [
        ("Mme [PERSONNE_1] est là", "fr_FR", "female"),
        ("Monsieur [PERSONNE_1] est là", "fr_FR", "male"),
        ("(Mme [PRENOM] [NOM])", "fr_FR", "female"),
        ("doña [PERSONA_1]", "es_ES", "female"),
        ("Frau [PERSON_1]", "de_DE", "female"),
        ("Signor [PERSONA_1]", "it_IT", "male"),
        ("fru [PERSON_1]", "sv_SE", "female"),
    ],
)
def test_a_title_tells_the_gender(text, locale, gender):
    plan = Planner(locale[:2]).plan(text, Finder(auto_mapping([text])).find(text).mentions)
    assert {cluster.code for cluster in plan.clusters} == {CODES[gender]}


def test_tags_can_be_linked():
    text = "[de man] kwam. [appellant] zei niets. [getuige 1] en [getuige 2]."
    assert len(set(ids(filled(text, "nl_NL")[0]))) == 4
    linked = ids(filled(text, "nl_NL", links=("[de man]=[appellant]", "[getuige 2]=[appellant]"))[0])
    assert linked[0] == linked[1] == linked[3] != linked[2]


@pytest.mark.parametrize("link", ["[de man]", "[de man]=[nobody]", "=[appellant]", "[de man]=[woonplaats]"])
def test_a_link_that_is_none_is_refused(link):
    with pytest.raises(UsageError, match=r"--link|tag"):
        filled("[de man], [appellant], [woonplaats]", "nl_NL", links=(link,))


def test_letters_are_filled_together():
    (done,) = filled("[X] is directeur van [Y] B.V. [Y] is gevestigd te [plaats].", "nl_NL")
    assert "[" not in done.text
    assert [place.kind for place in done.placed] == ["person", "company", "company", "city"]


@pytest.mark.parametrize("text", ["[naam 1] B.V. en [naam 1]", "[NAME_1], Inc. and [NAME_1]", "[naam 1], gevestigd te Breda. [naam 1]"])
def test_companies_get_company_names(text):
    (done,) = filled(text, "nl_NL")
    assert {place.kind for place in done.placed} == {"company"}
    assert len(set(ids(done))) == 1


def test_a_full_stop_is_not_doubled():
    for done in filled("Aan [naam 1] B.V. en [bedrijf 1].", "nl_NL", count=12):
        assert ".." not in done.text


def test_tags_can_be_linked_in_the_mapping():
    text = "[de man] kwam. [appellant] zei niets."
    mapping = auto_mapping([text])
    rules = [replace(rule, role="appellant", index="", use=True) for rule in mapping.rules]
    plan = Planner("nl").plan(text, Finder(replace(mapping, rules=tuple(rules))).find(text).mentions)
    assert plan.owners == [0, 0]
    assert plan.codes == bytes([CODES["male"]])


def test_a_legal_form_is_not_doubled():
    for done in filled("[naam 1] B.V. en [NAAM_2] N.V.", "nl_NL", count=12):
        assert done.text.count("B.V.") + done.text.count("V.O.F.") == 1


def test_the_number_of_a_party_of_a_company_and_one_person_is_that_person():
    text = (
        "4. [appellante sub 4A], gevestigd te Bladel, en [appellant sub 4B], wonend te Bladel (hierna tezamen en in enkelvoud: "
        "[appellant sub 4]). Het beroep van [appellant sub 4] en [appellant sub 5]."
    )
    (done,) = filled(text, "nl_NL")
    assert [place.kind for place in done.placed] == ["company", *["person"] * 4]
    _, one, together, again, other = ids(done)
    assert one == together == again != other


def test_what_stands_before_a_name_makes_it_a_companys():
    text = (
        "1. de besloten vennootschap met beperkte aansprakelijkheid\n[gedaagde1],\ngevestigd te [vestigingsplaats], 2. [gedaagde2]. "
        "Dat [gedaagde1] zegt."
    )
    (done,) = filled(text, "nl_NL")
    assert [place.kind for place in done.placed] == ["company", "city", "person", "company"]
    assert [place.kind for place in filled("La société [NOM] et Mme [NOM]", "fr_FR")[0].placed] == ["company", "person"]


def test_not_everybody_lives_where_they_were_born():
    towns = [words(done)[1:] for done in filled("[verdachte], geboren te [geboorteplaats], wonende te [woonplaats].", "nl_NL", count=5)]
    assert any(born != home for born, home in towns)


def _cities(country: str) -> dict[str, City]:
    return {city.name: city for city in country_places(country).cities}


@case_by_case(
    ("text", "locale", "country"),
    [
        ("I am from [CITY], Germany.", "en_US", "DE"),
        ("Ik kom uit [plaats], Frankrijk, en niet van hier.", "nl_NL", "FR"),
        ("We met in [CITY] (Brazil) then.", "en_GB", "BR"),
        ("She lives in [CITY], the Netherlands", "en_US", "NL"),
        ("Vive en [CIUDAD], Japón, con su madre.", "es_ES", "JP"),
        ("We met in [CITY], USA.", "en_GB", "US"),
    ],
)
def test_a_town_lies_in_the_country_that_stands_behind_it(text: str, locale: str, country: str) -> None:
    drawn = {words(done)[0] for done in filled(text, locale, count=20)}
    assert drawn <= set(_cities(country))
    assert len(drawn) > 3


@pytest.mark.parametrize(
    ("text", "region"), [("Born in [CITY], TX.", "Texas"), ("Born in [CITY], Ohio 44101", "Ohio"), ("From [LOCATION], CA", "California")]
)
def test_a_town_lies_in_the_region_that_stands_behind_it(text: str, region: str) -> None:
    for done in filled(text, count=20):
        assert region in {city.region.name for city in country_places("US").cities if city.name == words(done)[0]}  # Arlington is in two


def test_the_parts_of_an_address_and_all_mentions_of_one_town_are_in_one_country() -> None:
    text = "Sent to [STREET], [ZIP] [CITY], Germany. [PATIENT_CITY], Spain: [PATIENT] likes [PATIENT_CITY]."
    for done in filled(text, count=20):
        _, postcode, town, home, _, again = words(done)
        found = _cities("DE")[town]
        assert re.fullmatch(r"\d{5}", postcode)
        assert postcode.startswith(found.region.post)
        assert home in _cities("ES")
        assert again == home


def test_known_originals_stay_where_they_were() -> None:
    text = "She moved from Berlin, Germany to Lyon, France, and back to Austin, Texas."
    berlin, lyon, austin = filled_spans(
        text, [("Berlin", "location", "city"), ("Lyon", "location", "city"), ("Austin", "location", "city")]
    )
    assert berlin in _cities("DE")
    assert lyon in _cities("FR")
    assert "Texas" in {city.region.name for city in country_places("US").cities if city.name == austin}
    assert {berlin, lyon, austin}.isdisjoint({"Berlin", "Lyon", "Austin"})


@case_by_case(
    "text",
    ["[CITY], Turkey-born", "[CITY] Germany", "[CITY]. Germany", "[CITY], INside", "[CITY], germany", "[NAME], Germany", "[CITY], U.Sx"],
)
def test_what_is_no_place_behind_it_changes_nothing(text: str) -> None:
    kind = "person" if "NAME" in text else "city"
    mentions: Sequence[Mention] = [Mention(0, text.index("]") + 1, kind, same="mention")]
    assert told_by_place_names(text, mentions, RuleContext(country="US")) is mentions
