"""Names that are still known: which of them are one person, and what they tell of gender and form.

Where a placeholder bears its original (``<<PATIENT:Jack Smith>>``) or spans came with the text, "Jack Smith", "SMITH, JACK",
"Dr. Smith" and "Jack" are one person as long as only one person of the document fits.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping

from piiloom.surrogates.mentions import Gender, Mention

_PART = re.compile(r"[^\W\d_]+(?:['’-][^\W\d_]+)*")
_TITLES = frozenset(
    "mr mrs ms miss dr doctor prof professor sir madam rev nurse md phd rn do jr sr ii iii "
    "mevrouw meneer dhr mw drs ir sra senhor senhora dra herr frau".split()
)


def folded(text: str) -> str:
    """Lower case without accents."""
    return "".join(c for c in unicodedata.normalize("NFD", text.casefold()) if not unicodedata.combining(c))


def name_parts(original: str) -> tuple[list[str], list[str]]:
    """Given names and family names of a written name, folded; a single name counts as both."""
    head, comma, tail = original.partition(",")
    after = [part for part in map(folded, _PART.findall(tail)) if part not in _TITLES]
    parts = [part for part in map(folded, _PART.findall(head)) if part not in _TITLES]
    if comma and after:
        return after, parts
    if len(parts) == 1:
        return parts, parts
    return parts[:1], parts[1:]


def form_of(original: str) -> str:
    """How a known name stands there: "family_given" after a comma, "full", "formal" (initials and name), "initials" or "" for one word."""
    given, family = name_parts(original)
    if "," in original and given != family:
        return "family_given"
    words = _PART.findall(original)
    names = [word for word in words if folded(word) not in _TITLES]
    if len(names) <= 1:
        return "initials" if names and len(names[0]) == 1 else ""
    if all(len(word) == 1 for word in names):
        return "initials"
    return "formal" if len(names[0]) == 1 else "full"


class OriginalNames:
    """Joins the names of one document. *genders* gives the gender of a folded given name, where it has one."""

    def __init__(self, genders: Mapping[str, Gender] | None = None) -> None:
        self._genders = genders or {}
        self._people: list[tuple[set[str], set[str]]] = []
        self._bearers: dict[str, set[int]] = {}
        self._families: dict[str, set[int]] = {}  # by parts of family names that stood behind a given one
        self._alone: dict[str, set[int]] = {}  # by the one name that they were known by at first
        self._seen: dict[str, str] = {}

    def of_document(self) -> OriginalNames:
        """An empty one for the next document."""
        return OriginalNames(self._genders)

    def key_of(self, mention: Mention) -> str:
        """The number of the person, as text: the earlier one that every part of the name fits, else a new one."""
        known = self._seen.get(mention.original)
        if known is None:
            known = self._seen[mention.original] = str(self._number(*name_parts(mention.original)))
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
        """Whom a name may fit: one name alone all who bear it, a full name those of the family and those known by one name alone."""
        if given == family:
            return {number for part in given for number in self._bearers.get(part, ())}
        near = {number for part in family for number in self._families.get(part, ())}
        return near.union(*(self._alone.get(part, ()) for part in (*given, *family)))

    def gender_of(self, mention: Mention) -> Gender | None:
        """The gender that the given name tells, where it is known."""
        given, family = name_parts(mention.original)
        return self._genders.get(given[0]) if given and given != family else None


def _fits(given: list[str], family: list[str], givens: set[str], families: set[str]) -> bool:
    """Whether a name can be that of a person who was given and family names before; an initial fits what begins with it."""
    if given == family:
        known = givens | families
        return all(part in known or (len(part) == 1 and any(name.startswith(part) for name in known)) for part in given)
    if givens == families:
        return bool(families & {*given, *family})  # so far known by one name only
    initial = any(a == b or (min(len(a), len(b)) == 1 and a[0] == b[0]) for a in given for b in givens)
    return bool(families & set(family)) and initial
