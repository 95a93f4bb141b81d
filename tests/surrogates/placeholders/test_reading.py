"""What tags mean: words of several languages, compounds, indexes, genders."""

from __future__ import annotations

from piiloom.surrogates.kinds.kind import KINDS
from piiloom.surrogates.placeholders.judging import Judge
from piiloom.surrogates.placeholders.reading import Meaning, Reader
from piiloom.surrogates.placeholders.scanning import Scanner
from piiloom.surrogates.placeholders.vocabulary import LANGUAGES, _words_of, fold_tag, vocabulary, vocabulary_file
from tests.longer import case_by_case
from tests.surrogates.placeholders.tag_sets import TAG_SETS

READER = Reader(vocabulary())
SCANNER = Scanner()
JUDGE = Judge(READER, SCANNER)


def read(tag: str) -> Meaning:
    meaning = READER.read(tag)
    assert meaning is not None, tag
    return meaning


@case_by_case(
    ("tag", "words", "index"),
    [
        ("NAME", ("name",), ""),
        ("NAME_1", ("name",), "1"),
        ("PERSON12", ("person",), "12"),
        ("appellant sub 18", ("appellant",), "18"),
        ("appellant sub 18B", ("appellant",), "18b"),
        ("appellant sub 18 B", ("appellant",), "18b"),
        ("taxateur B", ("taxateur",), "b"),
        ("LastName", ("last", "name"), ""),
        ("GEÏNTIMEERDE", ("geintimeerde",), ""),
        ("eiseres2", ("eiseres",), "2"),
        ("getuige II", ("getuige",), "ii"),
        ("PROFESSOR(A)", ("professor",), ""),
        ("NAME_007", ("name",), "7"),
        ("mother's name", ("mother", "name"), ""),
    ],
)
def test_a_tag_is_taken_apart(tag: str, words: tuple[str, ...], index: str) -> None:
    folded = fold_tag(tag, vocabulary().index_words)
    assert (folded.words, folded.index) == (words, index)


@case_by_case(
    ("tag", "kind", "role", "index", "form"),
    [
        ("STUDENT", "person", "student", "", ""),
        ("NAME", "person", "name", "", ""),
        ("FIRSTNAME_2", "person", "name", "2", "given"),
        ("Doctor Last Name", "person", "doctor", "", "family"),
        ("PATIENT_NAME_3", "person", "name", "3", ""),
        ("voornaam getuige 2", "person", "getuige", "2", "given"),
        ("kantoor taxateur B", "company", "taxateur", "b", ""),
        ("directeur eiseressen", "person", "directeur eiser", "", ""),
        ("appellante sub 20", "person", "appellant", "20", ""),
        ("geintimeerde", "person", "geintimeerde", "", ""),
        ("geïntimeerde", "person", "geintimeerde", "", ""),
        ("vestigingsplaats2", "city", "vestigingsplaats", "2", ""),
        ("STUDENT_ID", "student_id", "student", "", ""),
        ("patient number", "medical_record", "patient", "", ""),
        ("US_SSN", "national_id", "", "", ""),
        ("DATE_TIME", "datetime", "", "", ""),
        ("school address", "address", "school", "", ""),
        ("COMPANY_NAME", "company", "", "", ""),
        ("naam bedrijf 3", "company", "", "3", ""),
        ("EMAIL_ADDRESS_1", "email", "", "1", ""),
        ("IP_ADDRESS", "ip_address", "", "", ""),
        ("US_DRIVER_LICENSE", "driving_licence", "", "", ""),
        ("NRP", "ethnicity", "", "", ""),
        ("GPE", "location", "", "", ""),
        ("ALUNA", "person", "aluno", "", ""),
        ("DATA DE NASCIMENTO", "birth_date", "", "", ""),
        ("NOME_PACIENTE", "person", "paciente", "", ""),
        ("Beschwerdeführerin", "person", "beschwerdeführer", "", ""),
        ("NOMBRE_SUJETO_ASISTENCIA", "person", "paciente", "", ""),
        ("Age over 89", "age", "", "", ""),
    ],
)
def test_a_tag_means(tag: str, kind: str, role: str, index: str, form: str) -> None:
    meaning = read(tag)
    assert (meaning.kind, meaning.role, meaning.index, meaning.form) == (kind, role, index, form)


@case_by_case("tag", ["student", "STUDENT", "Student", "the student", "STUDENTS", "student's"])
def test_spellings_of_a_role_are_one_role(tag: str) -> None:
    assert read(tag).role == "student"


SERVICES = {
    "username": (
        "INSTAGRAM ACCOUNT",
        "SKYPE ACCOUNT",
        "SKYPE ADDRESS",
        "SKYPE CONTACT",
        "Skype number",
        "INSTAGRAM ACCOUNT NUMBER",
        "GOOGLE ACCOUNT",
        "PAYPAL ACCOUNT",
        "STEAM ID",
        "SOCIAL MEDIA PROFILE",
        "FACEBOOK PAGE",
        "YOUTUBE CHANNEL",
        "USER ACCOUNT",
        "LOGIN ACCOUNT",
        "SCHOOL ACCOUNT",
        "INSTAGRAM-KONTO",
        "Instagramkonto",
        "Instagram-tili",
        "Instagramnamn",
        "compte Instagram",
        "cuenta de Instagram",
        "conta do Instagram",
        "profilo Instagram",
        "perfil de Facebook",
        "Facebook-profiel",
        "konto Instagram",
    ),
    "bank_account": ("ACCOUNT", "BANK ACCOUNT", "ACCOUNT NUMBER", "CUSTOMER ACCOUNT", "Bankkonto", "compte bancaire", "CONTO", "conta"),
    "email": ("EMAIL ACCOUNT", "GMAIL ACCOUNT", "PAYPAL EMAIL", "APPLE ID"),
    "phone": ("WHATSAPP NUMBER", "VIBER NUMBER"),
    "url": ("INSTAGRAM LINK", "ZOOM LINK"),
    "password": ("INSTAGRAM PASSWORD",),
    "address": ("AIRBNB ADDRESS",),
    "case_number": ("AMAZON ORDER NUMBER",),
    "id_number": ("ZOOM ID",),
    "band": ("NAME OF THE BAND", "BAND NAME", "orkest", "musikgrupp"),
    "language_school": ("LANGUAGE SCHOOL", "NAME OF LANGUAGE SCHOOL", "Sprachschule", "école de langues", "szkoła językowa"),
    "resort": ("RESORT", "SKI RESORT", "NAME OF HOTEL", "station balnéaire", "hotell", "kylpylä"),
    "company": ("STUDENT'S COMPANY",),
}


def test_accounts_at_services_are_usernames_and_others_what_they_are_of() -> None:
    assert {tag: read(tag).kind for tags in SERVICES.values() for tag in tags} == {
        tag: kind for kind, tags in SERVICES.items() for tag in tags
    }
    assert read("TEACHER'S STEAM ACCOUNT")[:2] == ("username", "teacher")
    assert read("STUDENT'S ZOOM")[:2] == ("username", "student")
    assert [READER.read(tag) for tag in ("GOOGLE", "Amazon", "Profil")] == [None] * 3  # such names alone are no placeholder
    assert read("Facebook").sure < 0.7 < read("FACEBOOK").sure


def test_a_general_name_is_new_at_each_mention_and_a_role_is_one_person() -> None:
    assert [read(tag).same for tag in ("NAME", "naam", "PERSON", "NOME")] == ["mention"] * 4
    assert [read(tag).same for tag in ("STUDENT", "verdachte", "NAME_1", "réu")] == ["document"] * 4


def test_gender_is_told_by_kin_and_not_by_parties() -> None:
    assert [read(tag).gender for tag in ("dochter", "MOTHER", "filho", "ALUNA", "ex-man")] == ["female", "female", "male", "female", "male"]
    assert [read(tag).gender for tag in ("eiseres", "appellante", "verzoekster", "autora", "STUDENT")] == [None] * 5


def test_plurals_are_told() -> None:
    assert all(read(tag).plural for tag in ("appellanten", "eiseressen", "namen", "NAMES", "STUDENTS", "alunos"))
    assert not any(read(tag).plural for tag in ("appellant", "directeur eiseressen", "naam", "NAME"))


def test_a_genitive_inside_the_brackets_is_a_form() -> None:
    assert read("PERSON 1's").form == "possessive"
    assert read("PERSON 1's").index == "1"


def test_streets_by_letter() -> None:
    assert read("a-straat")[:3] == ("street", "street", "a")
    house = read("a-straat 1")
    assert (house.kind, house.role, house.index, house.number, house.form) == ("address", "street", "a", "1", "street")


@case_by_case(
    "tag",
    ["sic", "they", "...", "1", "", "is", "x-ray", "HTN", "MRI", "one finger of the monkeys paw curls", "bedrijfsvermogen", "0001", "i"],
)
def test_what_is_no_tag_is_not_read(tag: str) -> None:
    assert READER.read(tag) is None


def test_insertions_are_less_sure_than_tags() -> None:
    assert read("his wife").sure < 0.7 < read("WIFE").sure
    assert read("test").sure < 0.7 < read("TEST").sure


@case_by_case("source", TAG_SETS)
def test_the_tags_of_tools_and_corpora_are_known(source: str) -> None:
    form = "[**{}**]" if source.startswith("MIMIC") else "[{}]"
    verdicts = {tag: JUDGE.judge(next(SCANNER.scan(form.format(tag)))) for tag in TAG_SETS[source]}
    assert [tag for tag, verdict in verdicts.items() if verdict.status != "known"] == []


@case_by_case("language", LANGUAGES)
def test_no_phrase_of_a_language_has_two_meanings(language: str) -> None:
    seen: dict[str, tuple[str, ...]] = {}
    for phrase, word in _words_of(vocabulary_file(language)):
        meaning = (word.what, word.kind, word.stem, word.form)
        assert phrase
        assert seen.setdefault(phrase, meaning) == meaning, phrase


def test_all_kinds_are_known_and_the_deep_languages_have_hundreds_of_words() -> None:
    assert {word.kind for word in vocabulary().words.values()} - {""} <= set(KINDS)
    assert [len(vocabulary((language,)).words) > 500 for language in ("en", "nl", "pt")] == [True] * 3
    assert {entry for language in LANGUAGES for entry in vocabulary_file(language).ids.values()} <= set(KINDS)
    assert {cue.kind for language in LANGUAGES for cue in vocabulary_file(language).cues} <= set(KINDS)
