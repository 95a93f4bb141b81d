"""Kinds whose values are phrases: organizations, studies, occupations, personal attributes, looks and beliefs, medical conditions.

The forms are in ``data/words``. Values are assembled from parts, so that there are thousands and few name anything real. Where the type of
a span is coarse ("belief"), the original tells the kind of value.

The words beside a name distinguish a company from a person: "[naam] B.V.", "[NAME], with registered office in", "the company [NAME]".
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import cache
from typing import Final

from piiloom.foundation.seeding import mix, salt_of
from piiloom.foundation.words import any_of
from piiloom.foundation.yaml_files import FileModel, Text, load_data
from piiloom.pii_values.rewriting.values import other_score
from piiloom.surrogates.kinds.kind import Draw, Drawing, cased_like, owned_seed
from piiloom.surrogates.kinds.places import (
    FALLBACK,
    country,
    country_names,
    draw_phrase,
    in_gender,
    languages,
    nation,
    phrase_lists,
    spoken,
)

_WIDTH_BEFORE: Final = 72
_WIDTH: Final = 48  # code points after a name that may tell that it is a company's
_BEGINNING: Final = 3
_LATER: Final = r"(?![\w])(?! [A-ZÀ-Þ]{2,})"


class _CompaniesFile(FileModel):
    forms: list[str]
    doubtful: list[str]
    seats: list[str]
    before: list[str]


@cache
def _file() -> _CompaniesFile:
    return load_data("piiloom.surrogates", "companies.yaml", _CompaniesFile)


def _spelled(forms: list[str]) -> str:
    """Return the pattern of *forms*, the longest first; full stops in them are optional."""
    ordered = sorted(forms, key=lambda form: (-len(form), form))
    return "|".join(re.escape(form).replace(r"\.", r"\.?") for form in ordered)


@cache
def _beside() -> dict[str, re.Pattern[str]]:
    """Return the patterns of what stands beside the name of a company and at its end."""
    known = _file()
    form = rf"(?:(?:{_spelled(known.forms)})(?!\w)|(?:{_spelled(known.doubtful)}){_LATER})"
    before = "|".join(r"\s+".join(map(re.escape, told.split())) for told in known.before)
    forms_before = rf"(?<![\w’'-])(?:[a-zà-ÿ’']+|[A-ZÀ-Þ][a-z]{{0,2}})[ ’'](?:{_spelled(known.forms + known.doubtful)})\s+\Z"
    return {
        "before": re.compile(rf"\b(?:{before})\s+\Z", re.IGNORECASE),
        "form before": re.compile(forms_before),
        "form at end": re.compile(rf"(?<=[\w.]),? +({form})\W*$"),
        "form after": re.compile(rf",? ?({form})"),
        "after": re.compile(rf"[,)]? ?(?:{form}|(?:{any_of(known.seats)})\b)"),
    }


@cache
def beginnings() -> frozenset[str]:
    """Return the first three characters of all that may follow the name of a company and tell that it is one."""
    known = _file()
    forms = (*known.forms, *known.doubtful)
    told = (*forms, *(form.replace(".", "") for form in forms), *known.seats)
    # A form of two letters is followed by anything that ends a word.
    return frozenset((word + sign)[:_BEGINNING] for word in told for sign in (*" .,;:)\n'’\"-", ""))


def company_follows(text: str, end: int) -> bool:
    """Whether what follows a name that ends at *end* makes it a company's: a legal form, or where it has its seat."""
    return _beside()["after"].match(text, end, end + _WIDTH) is not None


@cache
def endings() -> frozenset[str]:
    """Return the last three characters of all that tells that the name of a company follows."""
    return frozenset(words[-3:] for words in _file().before)


def company_precedes(text: str, start: int) -> bool:
    """Whether what stands before a name that starts at *start* makes it a company's: "de besloten vennootschap"."""
    return _beside()["before"].search(text, max(0, start - _WIDTH_BEFORE), start) is not None


def form_precedes(text: str, start: int) -> bool:
    """Whether a legal form, and no name before it, stands right before *start*: "la SAS [7]", but not "Orange SA [7]"."""
    return text[start - 3 : start - 1] in _form_ends() and _beside()["form before"].search(text, max(0, start - _WIDTH), start) is not None


@cache
def _form_ends() -> frozenset[str]:
    """Return the last two characters of each form, with and without full stops."""
    return frozenset(spelled[-2:] for form in (*_file().forms, *_file().doubtful) for spelled in (form, form.replace(".", "")))


def legal_form_of(name: str) -> str:
    """Return the legal form at the end of *name*, with the sign before it (" B.V.", ", Inc."); "" if there is none."""
    found = _beside()["form at end"].search(name)
    return name[found.start() :] if found is not None else ""


def with_form_of(original: str, value: str) -> str:
    """Return the company name *value* with the legal form of *original*; with its own if *original* has none."""
    form = legal_form_of(original)
    return value.removesuffix(legal_form_of(value)) + form if form else value


def without_form_beside(value: str, text: str, start: int, end: int) -> str:
    """Return the company name *value* without its legal form if one stands beside it, before *start* or at *end* of *text*.

    Its full stop is not doubled.
    """
    if _beside()["form after"].match(text, end, end + _WIDTH) is None and not form_precedes(text, start):
        return value[:-1] if value[-1:] == "." == text[end : end + 1] else value
    form = legal_form_of(value)
    return value.removesuffix(form) if form else value


_Told = tuple[tuple[re.Pattern[str], str], ...]


class _CoarseTypesFile(FileModel):
    """``words/told_by_original.yaml``; ``kinds``: by kind of the type, patterns and the kind that they tell; the first found decides."""

    kinds: dict[str, list[dict[str, Text]]]
    party: str
    several_kin: str


@cache
def _words_file() -> _CoarseTypesFile:
    return load_data("piiloom.surrogates", "words/told_by_original.yaml", _CoarseTypesFile)


@cache
def _patterns() -> Mapping[str, _Told]:
    return {
        coarse: tuple((re.compile(pattern, re.IGNORECASE), kind) for entry in entries for kind, pattern in entry.items())
        for coarse, entries in _words_file().kinds.items()
    }


def told_by_original(kind: str, original: str) -> str:
    """Return the kind that *original* is of, if it tells more than the *kind* of its type; else *kind*."""
    return next((told for pattern, told in _patterns().get(kind, ()) if pattern.search(original)), kind)


def names_party(original: str) -> bool:
    """Whether a political *original* names a party, and no leaning alone ("Libertarian")."""
    return re.search(_words_file().party, original, re.IGNORECASE) is not None


def number_of_kin(original: str) -> str | None:
    """Return how many relatives *original* is, as it says it ("two"), "" if it only says that they are several; None for one."""
    found = re.match(_words_file().several_kin, original, re.IGNORECASE | re.DOTALL)
    return None if found is None else found["count"] or ""


class ReligionEntry(FileModel):
    """One religion; see the head of ``religions.yaml``."""

    noun: Text
    adjective: Text
    attributive: Text | None = None
    feminine: Text | None = None
    member: Text
    church: bool = False


class ReligionsFile(FileModel):
    """``religions.yaml``, by language."""

    religions: dict[str, list[ReligionEntry]]


_RELIGION: Final = salt_of("religion")
_RELIGION_FORMS: Final = ("noun", "adjective", "attributive", "feminine", "member")
_CHURCH: Final = "church"


@cache
def _religions(language: str) -> tuple[ReligionEntry, ...]:
    known = load_data("piiloom.surrogates", "religions.yaml", ReligionsFile).religions
    return tuple(known.get(language) or known[FALLBACK])


def religion(draw: Draw) -> str:
    """Draw a religion in the form that its place or its original asks for; without either, its name.

    Forms are noun, adjective, attributive, feminine, member, and "church", an adjective of one that has churches.
    """
    known = _religions(draw.language)
    female = draw.owner is not None and draw.owner.gender == "female"
    original = draw.original.casefold()
    form = draw.form or _religion_form(original, known)
    at = mix(draw.seed, _RELIGION) % len(known)
    if form == _CHURCH and not known[at].church:
        at %= sum(entry.church for entry in known)  # those with churches come first
    value = _religion_written(known[at], form, female=female)
    if original and value.casefold() == original:
        value = _religion_written(known[at - 1], form, female=female)
    return cased_like(draw.original, value)


def _religion_form(original: str, known: tuple[ReligionEntry, ...]) -> str:
    """Return the form that *original* (casefolded) has, if it is one of the *known*; else "noun"."""
    for entry in known:
        for form in _RELIGION_FORMS:
            written = getattr(entry, form)
            if written and original in {_religion_written(entry, form, female=female).casefold() for female in (False, True)}:
                return form
    return "noun"


def _religion_written(entry: ReligionEntry, form: str, *, female: bool) -> str:
    told = {
        "noun": entry.noun,
        "member": in_gender(entry.member, female=female),
        "attributive": entry.attributive,
        _CHURCH: entry.attributive,
        "feminine": entry.feminine,
    }
    return told.get(form) or in_gender(entry.adjective, female=female or form == "feminine")


_company = spoken("company", institution=True)
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
    if draw.original and "kin_plural" in phrase_lists(draw.language):
        number = number_of_kin(draw.original)
        if number is not None:
            return f"{number} {_kin_plural(draw)}".lstrip()
    return _kin(draw)


def political(draw: Draw) -> str:
    """Draw a party or a leaning; a leaning alone where the original names no party ("Libertarian"), if the language has words for it."""
    if draw.original and "leaning" in phrase_lists(draw.language) and not names_party(draw.original):
        return _leaning(draw)
    return _political(draw)


def nationality(draw: Draw) -> str:
    """Return the nationality of the owner's origin, in the form for their gender; without an owner, draw any."""
    owner = draw.owner
    if draw.original.casefold() in country_names(draw.language) and draw.original:
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


_BLOOD: Final = salt_of("blood_type")
_TURNS: Final = 32  # maximum draws to get a value that differs from the original
_BRITAIN: Final = frozenset({"GB", "IE"})
_FIGURES: Final = "0123456789"
_BARE: Final = re.compile(r"[0-9]+(?:[.,][0-9]+)?")
_ONE_NUMBER: Final = re.compile(rf"({_BARE.pattern})[^0-9]*")
_GROUP: Final = re.compile(r"(?<![^\W\d_])(AB|[ABO0])(?![^\W\d_])", re.IGNORECASE)


def _grammar(kind: str, draw: Draw) -> str:
    """Return the grammar for a measured *kind*: stones for weights in Britain and Ireland, metric for languages without a word file."""
    if draw.language not in languages():
        return f"metric_{kind}"
    return f"british_{kind}" if (kind, draw.language) == ("weight", "en") and draw.country in _BRITAIN else kind


def measured(kind: str) -> Drawing:
    """Return the drawing function for a measure with its unit.

    If the original is a bare number, so is the value, with as many digits and decimals.
    """
    salt = salt_of(kind)

    def drawn(draw: Draw) -> str:
        original = draw.original.strip()
        others = (value for value in _phrases(_grammar(kind, draw), draw, salt) if _figures(value) != _figures(original))
        if not _BARE.fullmatch(original):
            return cased_like(original, next(others))
        numbers = (found[1] for value in others if (found := _ONE_NUMBER.fullmatch(value)))
        alike = next((number for number in numbers if _shape(number) == _shape(original)), "")
        return re.sub("[.,]", "." if "." in original else ",", alike) or other_score(original, owned_seed(draw, salt))

    return drawn


def _phrases(kind: str, draw: Draw, salt: int) -> Iterator[str]:
    """Yield up to ``_TURNS`` values of *kind* for the owner."""
    seed = owned_seed(draw, salt)
    female = draw.owner is not None and draw.owner.gender == "female"
    for turn in range(_TURNS):
        yield draw_phrase(kind, draw, mix(seed, turn) if turn else seed, female=female)


def _shape(number: str) -> str:
    return "".join("0" if c in _FIGURES else "." for c in number)


def _figures(text: str) -> str:
    """Return only the digits of *text*, to compare measures in different formats: "178 cm" and "1,78 m" both give 178."""
    return "".join(c for c in text if c in _FIGURES)


def _blood(text: str) -> tuple[str, bool]:
    """Parse a blood type in any spelling: the group ("" if there is none; O as 0) and whether it is rhesus positive."""
    group = _GROUP.search(text)
    return ("" if group is None else group[1].upper().replace("O", "0")), "+" in text or "pos" in text.casefold()


def blood_type(draw: Draw) -> str:
    """Draw a blood type other than the original."""
    known = _blood(draw.original)
    value = next(value for value in _phrases("blood_type", draw, _BLOOD) if _blood(value) != known)
    words = _GROUP.sub("", draw.original)  # the letters of a group are capitals anyway
    return value.upper() if words.isupper() else value


def one_of_several(kind: str) -> Drawing:
    """Return the drawing function for a kind of which a person may have several: different originals give different values."""
    plain = spoken(kind, numbered=True)

    def drawn(draw: Draw) -> str:
        return plain(draw._replace(index=draw.index or draw.original.casefold()))

    return drawn
