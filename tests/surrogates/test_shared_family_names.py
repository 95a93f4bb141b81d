"""Who bears one family name in the text bears one afterwards."""

from __future__ import annotations

from datetime import date

import pytest

from piiloom.surrogates.casting import share_family_names
from piiloom.surrogates.documents import Gender, Mention
from piiloom.surrogates.kinds.kind import FictitiousPerson
from piiloom.surrogates.planning import Planner
from tests.surrogates.persons_filled import filled, filled_spans


def _spans(*names: str) -> tuple[str, list[tuple[str, ...]]]:
    return " met ".join(names) + ".", [(name, "name") for name in names]


def test_relatives_keep_one_family_name_and_others_have_their_own() -> None:
    john, mary, doctor, tom, anna = filled_spans(*_spans("John Smith", "Mary Smith", "Smith, Ann", "Tom B. Smith", "Anna Lopez"))
    family = john.split(maxsplit=1)[1]
    assert mary.split(maxsplit=1)[1] == family
    assert doctor.startswith(f"{family}, ")
    assert tom.endswith(family)
    assert family not in anna
    assert len({john.split()[0], mary.split()[0], doctor.split(", ")[1], tom.split()[0]}) == 4


def test_codes_of_de_id_tell_families_too() -> None:
    for done in filled("**NAME[AAA, BBB] came with **NAME[CCC AAA]; **NAME[DDD EEE] did not.", count=10):
        first, rest = done.text.split(" came with ")
        second, third = rest.split("; ")
        family = first.split(", ")[0]
        assert second.endswith(f" {family}")
        assert family not in third


@pytest.mark.parametrize(
    ("origin", "family", "gender", "shared"),
    [("CZ", "Dvořák", "female", False), ("CZ", "Dvořák", "male", True), ("GB", "Baker", "female", True), ("CZ", "Kolářová", "male", False)],
)
def test_a_name_in_the_form_of_the_other_gender_is_not_shared(origin: str, family: str, gender: Gender, shared: bool) -> None:
    text = "Jan Novak met Eva Novak"
    mentions = (Mention(0, 9, "person", original="Jan Novak"), Mention(14, 23, "person", original="Eva Novak"))
    plan = Planner("en").plan(text, mentions)
    first: Gender = "female" if family.endswith("ová") else "male"
    people = [
        (FictitiousPerson(1, first, "Europe", origin, "US", "A", family, date(2024, 5, 1)),),
        (FictitiousPerson(2, gender, "Europe", "FR", "US", "B", "Petit", date(2024, 5, 1)),),
    ]
    share_family_names(plan, people)
    assert people[1][0].family == (family if shared else "Petit")


def test_one_word_names_are_no_family() -> None:
    one, two = filled_spans(*_spans("Kim", "Ada Kim"))
    assert one.split()[-1] == two.split()[-1]  # "Kim" may be Ada Kim, who is the only one of that name
    first, second = filled_spans(*_spans("Rosa", "Rosa Diaz"))
    assert first in second
