"""Kinds whose values are phrases: organizations, studies, occupations, personal attributes and beliefs, medical conditions.

The forms are in ``data/words``. Values are assembled from parts, so that there are thousands and few name anything real.
"""

from __future__ import annotations

import re
from typing import Final

from piiloom.surrogates.documents import below, mix, pick
from piiloom.surrogates.draws import Draw
from piiloom.surrogates.kinds.companies import legal_form_of
from piiloom.surrogates.kinds.kind import cased_like, salt_of
from piiloom.surrogates.kinds.masks import reshaped
from piiloom.surrogates.kinds.places import countries, country, nation, phrase, spoken, words_of
from piiloom.surrogates.kinds.told_by_original import names_party, number_of_kin

room = spoken("room")
landmark = spoken("landmark")
resort = spoken("resort")
organisation = spoken("organisation", institution=True)
employer = spoken("employer", numbered=True, institution=True)
school = spoken("school", institution=True)
language_school = spoken("language_school", institution=True)
university = spoken("university", institution=True)
hospital = spoken("hospital", institution=True)
department = spoken("department", institution=True)
bank = spoken("bank", institution=True)
charity = spoken("charity", institution=True)
club = spoken("club", institution=True)
band = spoken("band")
authority = spoken("authority", institution=True)
course = spoken("course")
degree = spoken("degree")
field = spoken("field")
occupation = spoken("occupation", numbered=True)
ethnicity = spoken("ethnicity", owned=True)
language = spoken("language")
orientation = spoken("orientation", owned=True)
condition = spoken("condition")
medication = spoken("medication")
product = spoken("product")
marital_status = spoken("marital_status", owned=True)
title = spoken("title", owned=True)

_company = spoken("company", institution=True)
_GRADE: Final = salt_of("grade")
_LONGEST: Final = 6  # digits of a score
_DIGITS: Final = "0123456789"
_NUMBER: Final = _DIGITS + ".,"
_IDLE_ZEROS: Final = re.compile(r"^(?:0+(?=[0-9])|0[.,](?=[0-9]{3}\b))")  # "094", and "0,812" where it was "1,000"
_LETTERS: Final = ("A", "A-", "B+", "B", "B-", "C+", "C", "C-", "D", "A+", "D+", "F")
_kin = spoken("kin")
_kin_plural = spoken("kin_plural")
_political = spoken("political")
_leaning = spoken("leaning")
_gender = spoken("gender", owned=True)
_nationality = spoken("nationality", owned=True)


def company(draw: Draw) -> str:
    """Draw a company; without a legal form for ``form="bare"``, as the text has one: "[X] AG"."""
    value = _company(draw)
    return value.removesuffix(legal_form_of(value)) if draw.form == "bare" else value


def kin(draw: Draw) -> str:
    """Draw a relative; several of them where the original is a plural ("two children") and the language has words for it."""
    if draw.original and "kin_plural" in words_of(draw.language):
        number = number_of_kin(draw.original)
        if number is not None:
            return f"{number} {_kin_plural(draw)}".lstrip()
    return _kin(draw)


def political(draw: Draw) -> str:
    """Draw a party or a leaning; a leaning alone where the original names no party ("Libertarian"), if the language has words for it."""
    if draw.original and "leaning" in words_of(draw.language) and not names_party(draw.original):
        return _leaning(draw)
    return _political(draw)


def nationality(draw: Draw) -> str:
    """Return the nationality of the owner's origin, in the form for their gender; without an owner, draw any."""
    owner = draw.owner
    if draw.original.casefold() in countries(draw.language) and draw.original:
        return country(draw)  # "I am from Saudi Arabia"
    if owner is not None:
        found = nation(owner.origin, draw.language, female=owner.gender == "female")
        if found is not None:
            return cased_like(draw.original, found)
    return _nationality(draw)


def gender(draw: Draw) -> str:
    """Return a word for the owner's gender (without an owner, for a drawn one); an initial if the original is a single character."""
    value = _gender(draw)
    return value[0].upper() if len(draw.original.strip()) == 1 else value


def grade(draw: Draw) -> str:
    """Draw a grade: a letter for a letter, a number on the same scale for a number, else one in a usual format of the language.

    Somebody has many grades, so an owner does not decide which it is.
    """
    original = draw.original.strip()
    seed = mix(draw.seed, _GRADE)
    if original[:1].upper() in {"A", "B", "C", "D", "F"} and len(original) <= 2:
        known = [grade for grade in _LETTERS if grade != original.upper()]
        return pick(seed, known)
    if original[:1] in _DIGITS and original:
        return other_score(original, seed)
    return phrase("grade", draw, seed)


def other_score(text: str, seed: int) -> str:
    """Return another number near *text*, with as many decimals; what follows the number is kept ("/20", "%").

    The new number is lower by 1 to a fifth, or 1 higher if *text* is 0 or 1; it begins with a zero only if *text* does, or where it is
    less than one. Numbers with more than six digits are only reshaped.
    """
    end = next((at for at, c in enumerate(text) if c not in _NUMBER), len(text))
    number, rest = text[:end].rstrip(".,"), text[len(text[:end].rstrip(".,")) :]
    digits = number.replace(".", "").replace(",", "")
    if len(digits) > _LONGEST:
        return reshaped(text, seed)
    top = {1: 10, 2: 100}.get(len(digits), 10 ** len(digits))
    value = min(int(digits), top)
    reach = max(1, value // 5)
    new = value - 1 - below(seed, reach) if value > reach else value + 1 + below(seed, reach)
    places = iter(f"{max(1, new):0{len(digits)}d}")
    written = "".join(next(places) if c in _DIGITS else c for c in number)
    return (written if number[0] == "0" else _IDLE_ZEROS.sub("", written)) + rest
