"""Known original names: which of them are one person, and what they tell about gender and form.

Originals are known if a placeholder contains them (``<<PATIENT:Jack Smith>>``) or if spans came with the text. "Jack Smith",
"SMITH, JACK", "Dr. Smith" and "Jack" are one person as long as only one person of the document fits.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping
from functools import cache

from piiloom.surrogates.mentions import Gender
from piiloom.surrogates.name_words import name_words

NAME_PART = re.compile(r"[^\W\d_]+(?:['’-][^\W\d_]+)*")
_POSSESSIVE = re.compile(r"['’]s?$")


@cache
def _titles() -> frozenset[str]:
    return frozenset(name_words().within)


def folded(text: str) -> str:
    """Return *text* case-folded and without accents."""
    if text.isascii():
        return text.casefold()
    return "".join(c for c in unicodedata.normalize("NFD", text.casefold()) if not unicodedata.combining(c))


def parts_of(text: str) -> list[str]:
    """Return the words of a name, without a possessive 's at its end."""
    return NAME_PART.findall(_POSSESSIVE.sub("", text))


def is_title(word: str) -> bool:
    """Whether *word* is a title or degree and no part of a name ("Dr", "MD")."""
    return folded(word) in _titles()


def has_title(original: str) -> bool:
    """Whether a title or degree is a part of *original* ("Dr. Smith")."""
    return any(is_title(word) for word in parts_of(original))


def is_one_name(original: str) -> bool:
    """Whether *original* is one word that is no title."""
    parts = parts_of(original)
    return len(parts) == 1 and len(parts[0]) > 1 and not is_title(parts[0])


def name_parts(original: str) -> tuple[list[str], list[str]]:
    """Return the given names and the family names of a written name, folded and without titles. A single name counts as both."""
    head, comma, tail = original.partition(",")
    titles = _titles()
    after = [part for part in map(folded, parts_of(tail)) if part not in titles]
    parts = [part for part in map(folded, parts_of(head)) if part not in titles]
    if comma and after:
        return after, parts
    if len(parts) == 1:
        return parts, parts
    return parts[:1], parts[1:]


def form_of(original: str) -> str:
    """Return the form of a known name.

    "family_given" (with a comma), "full", "formal" (initial and family name), "initials", or "" for one word.
    """
    given, family = name_parts(original)
    if "," in original and given != family:
        return "family_given"
    words = parts_of(original)
    names = [word for word in words if not is_title(word)]
    if len(names) <= 1:
        return "initials" if names and len(names[0]) == 1 else ""
    if all(len(word) == 1 for word in names):
        return "initials"
    return "formal" if len(names[0]) == 1 else "full"


class KnownNames:
    """Resolves the known names of one document to people. *genders* maps folded given names to genders."""

    def __init__(self, genders: Mapping[str, Gender] | None = None) -> None:
        self._genders = genders or {}
        self._people: list[tuple[set[str], set[str]]] = []
        self._bearers: dict[str, set[int]] = {}
        self._families: dict[str, set[int]] = {}  # people by the parts of family names that came with a given name
        self._alone: dict[str, set[int]] = {}  # people by the single name that they were first mentioned with
        self._seen: dict[str, str] = {}

    def of_document(self) -> KnownNames:
        """Return an empty resolver with the same genders, for the next document."""
        return KnownNames(self._genders)

    def key_of(self, original: str) -> str:
        """Return the number of the person called *original* in this document, as text: an earlier person whom it fits, else a new one."""
        known = self._seen.get(original)
        if known is None:
            known = self._seen[original] = str(self._number(*name_parts(original)))
        return known

    def _number(self, given: list[str], family: list[str]) -> int:
        single = given == family
        fits = [number for number in self._near(given, family) if _fits(given, family, *self._people[number])]
        if len(fits) == 1 or (fits and single):
            at = max(fits)
            if single:
                return at
            givens, families = self._people[at]
            self._people[at] = (set(given), set(family)) if givens == families else (givens | set(given), families | set(family))
        else:
            at = len(self._people)
            self._people.append((set(given), set(family)))
        for part in {*given, *family}:
            self._bearers.setdefault(part, set()).add(at)
        for part in family:
            (self._alone if single else self._families).setdefault(part, set()).add(at)
        return at

    def _near(self, given: list[str], family: list[str]) -> set[int]:
        """Return candidates for a name.

        For a single name: all people who have it. For a full name: people with that family name, and people known by one name only.
        """
        if given == family:
            return {number for part in given for number in self._bearers.get(part, ())}
        near = {number for part in family for number in self._families.get(part, ())}
        return near.union(*(self._alone.get(part, ()) for part in (*given, *family)))

    def gender_of(self, original: str) -> Gender | None:
        """Return the gender of the given name in *original*, or None if it is unknown or the name is a single word."""
        given, family = name_parts(original)
        return self._genders.get(given[0]) if given and given != family else None

    def gender_of_word(self, original: str) -> Gender | None:
        """Return the gender of *original* where it is one word and known as a given name."""
        given, family = name_parts(original)
        return self._genders.get(given[0]) if given and given == family else None


def _fits(given: list[str], family: list[str], givens: set[str], families: set[str]) -> bool:
    """Whether a name can be that of a person known by *givens* and *families*. An initial fits names that begin with it."""
    if given == family:
        known = givens | families
        return all(part in known or (len(part) == 1 and any(name.startswith(part) for name in known)) for part in given)
    if givens == families:
        return bool(families & {*given, *family})  # the person is known by a single name so far
    initial = any(a == b or (min(len(a), len(b)) == 1 and a[0] == b[0]) for a in given for b in givens)
    return bool(families & set(family)) and initial
