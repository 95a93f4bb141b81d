"""Names of companies and their legal forms ("B.V.", "GmbH"), beside and inside a name.

The words beside a name distinguish a company from a person: "[naam] B.V.", "[NAME], with registered office in", "the company [NAME]".
"""

from __future__ import annotations

import re
from functools import cache
from typing import Final

from piiloom.foundation.words import any_of
from piiloom.foundation.yaml_files import FileModel, load_data

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
def _pattern() -> str:
    known = _file()
    return rf"(?:(?:{_spelled(known.forms)})(?!\w)|(?:{_spelled(known.doubtful)}){_LATER})"


@cache
def _after() -> re.Pattern[str]:
    return re.compile(rf"[,)]? ?(?:{_pattern()}|(?:{any_of(_file().seats)})\b)")


@cache
def beginnings() -> frozenset[str]:
    """Return the first three characters of all that may follow the name of a company and tell that it is one."""
    known = _file()
    forms = (*known.forms, *known.doubtful)
    told = (*forms, *(form.replace(".", "") for form in forms), *known.seats)
    # A form of two letters is followed by anything that ends a word.
    return frozenset((word + sign)[:_BEGINNING] for word in told for sign in (*" .,;:)\n'’\"-", ""))


@cache
def _form_after() -> re.Pattern[str]:
    return re.compile(rf",? ?({_pattern()})")


@cache
def _at_end() -> re.Pattern[str]:
    return re.compile(rf"(?<=[\w.]),? +({_pattern()})\W*$")


def company_follows(text: str, end: int) -> bool:
    """Whether what follows a name that ends at *end* makes it a company's: a legal form, or where it has its seat."""
    return _after().match(text, end, end + _WIDTH) is not None


@cache
def _before() -> re.Pattern[str]:
    words = "|".join(r"\s+".join(map(re.escape, told.split())) for told in _file().before)
    return re.compile(rf"\b(?:{words})\s+\Z", re.IGNORECASE)


@cache
def endings() -> frozenset[str]:
    """Return the last three characters of all that tells that the name of a company follows."""
    return frozenset(words[-3:] for words in _file().before)


def company_precedes(text: str, start: int) -> bool:
    """Whether what stands before a name that starts at *start* makes it a company's: "de besloten vennootschap"."""
    return _before().search(text, max(0, start - _WIDTH_BEFORE), start) is not None


@cache
def _form_before() -> re.Pattern[str]:
    known = _file()
    return re.compile(rf"(?<![\w’'-])(?:[a-zà-ÿ’']+|[A-ZÀ-Þ][a-z]{{0,2}})[ ’'](?:{_spelled(known.forms + known.doubtful)})\s+\Z")


def form_precedes(text: str, start: int) -> bool:
    """Whether a legal form, and no name before it, stands right before *start*: "la SAS [7]", but not "Orange SA [7]"."""
    return text[start - 3 : start - 1] in _form_ends() and _form_before().search(text, max(0, start - _WIDTH), start) is not None


@cache
def _form_ends() -> frozenset[str]:
    """Return the last two characters of each form, with and without full stops."""
    return frozenset(spelled[-2:] for form in (*_file().forms, *_file().doubtful) for spelled in (form, form.replace(".", "")))


def legal_form_of(name: str) -> str:
    """Return the legal form at the end of *name*, with the sign before it (" B.V.", ", Inc."); "" if there is none."""
    found = _at_end().search(name)
    return name[found.start() :] if found is not None else ""


def with_form_of(original: str, value: str) -> str:
    """Return the company name *value* with the legal form of *original*; with its own if *original* has none."""
    form = legal_form_of(original)
    return value.removesuffix(legal_form_of(value)) + form if form else value


def without_form_beside(value: str, text: str, start: int, end: int) -> str:
    """Return the company name *value* without its legal form if one stands beside it, before *start* or at *end* of *text*.

    Its full stop is not doubled.
    """
    if _form_after().match(text, end, end + _WIDTH) is None and not form_precedes(text, start):
        return value[:-1] if value[-1:] == "." == text[end : end + 1] else value
    form = legal_form_of(value)
    return value.removesuffix(form) if form else value
