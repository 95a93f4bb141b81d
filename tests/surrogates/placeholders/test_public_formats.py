"""Forms of placeholders in public corpora, and letters after titles."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Final, NamedTuple

import pytest

from piiloom.surrogates.placeholders import Finder, Mapping, auto_mapping
from piiloom.surrogates.placeholders.scanning import Scanner
from piiloom.surrogates.placeholders.surroundings import cues
from tests.longer import case_by_case

_ENGLISH = "It was late when we came to the house, and she was not there with them. "
_FRENCH = "Il est venu avec elle dans la maison, et la cour ne dit pas que les parties ont tort. "
_GERMAN = "Das Gericht hat die Klage abgewiesen, und sie ist nicht mit dem Urteil einverstanden. "


def found(text: str, before: str = _ENGLISH) -> list[tuple[str, str]]:
    text = before + text
    return [(text[m.start : m.end], m.kind) for m in Finder(auto_mapping([text] * 3)).find(text).mentions]


@case_by_case(
    ("text", "expected"),
    [
        ("@PERCENT1 of @PERSON2's class at @TIME1pm with @DR1", ["percent", "person", "time", "person"]),
        ("I asked @student2 and @tutor1 about it", ["person", "person"]),
        ("the ###NAME### of @@CITY@@ and ##AGE## or ||DATE||", ["person", "city", "age", "date"]),
        ("#Person1#: I met #Person2# there", ["person", "person"]),
        ("in [**Month\n(only) 958**], Ms. [**Known\n  lastname **], [**'26**] and [**7-/2161**]", ["month", "person", "year", "date"]),
        ("[**Unit Number 12**] and [**Job Number 3**]", ["medical_record", "employee_id"]),
        ("Mr. [*****] lives in [***].", ["person", "city"]),
        ("made on [●] between [●] Limited and its owner Mr. [•].", ["date", "company", "person"]),
        ("He lives in [town in Ohio] with [my sister] near [a large hospital]", ["city", "person", "hospital"]),
        ("(call Dr. X at XXX-XXX-XXXX)", ["person", "phone"]),
    ],
)
def test_english_formats(text: str, expected: list[str]) -> None:
    assert [kind for _, kind in found(text)] == expected


def test_letters_of_swiss_rulings() -> None:
    text = "B.A.________ klagt gegen die D._ AG und die E.________ GmbH, und Frau X._ wohnt in Z.____, O.________strasse 1."
    assert found(text, _GERMAN) == [
        ("B.A.________", "person"),
        ("D._", "company"),
        ("E.________", "company"),
        ("X._", "person"),
        ("Z.____", "city"),
        ("O.________", "city"),
    ]


def test_letters_of_french_rulings() -> None:
    text = "Mme [L] [B] et M. [T] [K] habitent à [Localité 2]. Mme [B] le dit à M. X... et Mme Marie Y..."
    full = _FRENCH + text
    mentions = Finder(auto_mapping([full] * 3)).find(full).mentions
    assert [full[m.start : m.end] for m in mentions] == ["[L] [B]", "[T] [K]", "[Localité 2]", "[B]", "X...", "Y..."]
    assert mentions[0].index == mentions[3].index == "l b"
    assert [m.gender for m in mentions[:2]] == ["female", "male"]


def test_a_man_and_a_woman_of_one_letter_are_two() -> None:
    text = _FRENCH + "M. [N] et Mme [N] ont deux enfants, et M. [N] travaille."
    assert [m.index for m in Finder(auto_mapping([text] * 3)).find(text).mentions] == ["n", "n+f", "n"]


@case_by_case("text", ["I watch House M. D. on Monday", "Samuel L. Jackson and J. R. R. Tolkien", "signed by Gregory House, M. D."])
@case_by_case("before", [_ENGLISH, _FRENCH])
def test_initials_are_no_placeholder(text: str, before: str) -> None:
    assert found(text, before) == []


def test_masks_are_typed_by_what_stands_around_them_else_reported() -> None:
    text = _ENGLISH + "On XX/XX/2019 I spoke with XXXX, paid $XXXX and called (XXXX Bank). XXXX is what they call it, not that XXXX thing."
    result = Finder(auto_mapping([text])).find(text)
    assert [(text[m.start : m.end], m.kind) for m in result.mentions][:4] == [
        ("XX/XX/2019", "date"),
        ("XXXX", "person"),
        ("XXXX", "money"),
        ("XXXX", "city"),
    ]
    assert [text[u.start - 5 : u.end] for u in result.unknown][-1:] == ["that XXXX"]


def test_of_several_masks_in_a_row_one_cue_tells_all() -> None:
    assert found("They reported it to XXXX, XXXX and XXXX yesterday.") == [("XXXX", "company")] * 3


@case_by_case(
    "tag",
    ["@CAPS1", "[FLURB]", "###FLURB###", "<FLURB>", "FLURB_2", "[**Flurb 2**]", "█████", "■■■", "(***)", "REDACTED", "[REDACTED]", "XXXX"],
)
def test_what_is_not_filled_is_listed(tag: str) -> None:
    text = f"{_ENGLISH}Then the {tag} thing."
    result = Finder(auto_mapping([text])).find(text)
    assert result.mentions == []
    assert [text[u.start : u.end] for u in result.unknown] == [tag]


@case_by_case(
    ("text", "language", "form"),
    [
        ("I’m [RELIGION].", "en", "adjective"),
        ("The [RELIGION] Church is old", "en", "church"),
        ("My religion is [RELIGION].", "en", "noun"),
        ("She is a [RELIGION].", "en", "member"),
        ("Many [RELIGION]s pray", "en", "member"),
        ("She comes from a [RELIGION] family", "en", "adjective"),
        ("She practices [RELIGION] at home", "en", "noun"),
        ("Ze is [RELIGIE]", "nl", "adjective"),
        ("de [RELIGIE] kerk", "nl", "attributive"),
        ("la iglesia [RELIGIÓN] de aquí", "es", "feminine"),
        ("Er ist [RELIGION]", "de", "adjective"),
    ],
)
def test_the_form_of_a_religion_is_told_by_the_text(text: str, language: str, form: str) -> None:
    start, end = text.index("["), text.index("]") + 1
    assert cues((language,)).form("religion", text, start, end) == form


def test_a_percentage_has_no_second_sign_and_a_number_can_be_an_age() -> None:
    text = "[PERCENT] % and [PERCENT] of them, @NUM1 years old, @NUM2 dogs"
    mentions = Finder(Mapping(languages=("en",))).find(text).mentions
    assert [(m.kind, m.form) for m in mentions] == [("percent", "bare"), ("percent", ""), ("age", ""), ("number", "")]


_FILE: Final = Path(__file__).parent / "public_forms.txt"
_PAGE: Final = Path(__file__).parents[3] / "docs/surrogate-readings.md"
_MARK: Final = re.compile(r"⟦(.*?)=([\w-]+)⟧")
_LISTED: Final = "-"


class Counts(NamedTuple):
    """Placeholders of one source, by what became of them; ``wrong``: filled with another kind, or filled or listed though none."""

    filled: int = 0
    reported: int = 0
    silent: int = 0
    wrong: int = 0


def _counted(language: str, marked: str) -> Counts:
    """Return the counts of one text, as a corpus of its own."""
    text, wanted = "", {}
    pieces = _MARK.split(marked)
    for plain, placeholder, kind in zip(pieces[::3], [*pieces[1::3], ""], [*pieces[2::3], ""], strict=True):
        text += plain
        if placeholder:
            wanted[len(text), len(text) + len(placeholder)] = kind
        text += placeholder
    found = Finder(auto_mapping([text], language)).find(text)
    told = {(one.start, one.end): one.kind for one in found.mentions} | {(one.start, one.end): _LISTED for one in found.unknown}
    right = [kind for place, kind in wanted.items() if told.get(place) == kind]
    silent = sum(place not in told for place in wanted)
    wrong = len(wanted) - len(right) - silent + sum(place not in wanted for place in told)
    return Counts(len(right) - right.count(_LISTED), right.count(_LISTED), silent, wrong)


def _table() -> dict[str, Counts]:
    lines = [line for line in _FILE.read_text("utf-8").splitlines() if not line.startswith("#")]
    rows = (line.split("|", 2) for line in lines)
    return {source: _counted(language, marked) for source, language, marked in rows}


def test_no_public_form_is_silent_or_wrong_and_the_page_has_the_counts() -> None:
    table = _table()
    assert {source: counts for source, counts in table.items() if counts.silent or counts.wrong} == {}
    page = _PAGE.read_text("utf-8").partition("| written by | filled |")[2].partition("\n\n")[0]
    rows = [[cell.strip() for cell in row.split("|")[1:-1]] for row in page.splitlines()[2:]]
    assert {source: Counts(*map(int, counts)) for source, *counts in rows} == table


SCANNER = Scanner()


def letters(text: str) -> list[str]:
    return [text[one.start : one.end] for one in SCANNER.scan(text) if one.grammar.name == "titled"]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("Dr. X and Y left.", ["X", "Y"]),
        ("Mevrouw X of Y kwam.", ["X", "Y"]),
        ("Vino la Sra. X y Y también.", ["X", "Y"]),
        ("Sig. X o Y venne.", ["X", "Y"]),
        ("Herr X och Y kom.", ["X", "Y"]),
    ],
)
def test_further_letters_are_joined(text: str, found: list[str]) -> None:
    assert letters(text) == found


@case_by_case(
    "text",
    [
        "Heute war Frau B. Sie sagt nichts.", "J’ai vu Mme B. Elle est partie.", "Habló la Sra. B. Ella no vino.",
        "Vidi la Sig.ra B. Lei era qui.", "Där var Herr B. Han gick.", "Det sade Herr B. Fru C. svarade.",
        "Llegó el Sr. B. Señora C. también.",
    ],
)  # fmt: skip
def test_a_letter_before_a_new_sentence_is_the_whole_name(text: str) -> None:
    assert letters(text)[0].rstrip(".") == "B"


@pytest.mark.parametrize("text", ["Mr. B. van Dam came.", "Frau B. Müller sagt.", "Mme B. de la Tour", "Dr. B. Smith"])
def test_an_initial_before_a_family_name_is_none(text: str) -> None:
    assert letters(text) == []
