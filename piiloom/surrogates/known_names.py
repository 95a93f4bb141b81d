"""Known names: the words in and beside names, and the people to whom known originals belong.

Labels of fields ("Nombre:") and the words of a sentence ("her maiden name is") give the part of the name after them; they are in
``data/name_labels.yaml``. Titles, particles and words that announce or follow a name, of all languages, are in
``data/words/beside_names.yaml``.

Originals are known if a placeholder contains them (``<<PATIENT:Jack Smith>>``) or if spans came with the text. "Jack Smith",
"SMITH, JACK", "Dr. Smith" and "Jack" are one person as long as only one person of the document fits.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping, Sequence
from functools import cache
from typing import Annotated, Final, Literal, NamedTuple

from pydantic import Field

from piiloom.foundation.words import any_of
from piiloom.foundation.yaml_files import FileModel, load_data
from piiloom.pii_values.names.regions import Gender

PartOfName = Literal["", "given", "family", "middle", "second", "birth"]

_LONGEST_LAST: Final = 24
_BETWEEN: Final = re.compile(r"[^\w.]+")
_TOLD_WITHIN: Final = 32  # code points before a name in which a sentence tells that it is a family name


class _LabelsFile(FileModel):
    """``name_labels.yaml``; its head says what the lists are."""

    given: list[str]
    family: list[str]
    family_beside: list[str]
    family_told: list[str]
    second: list[str]
    middle: list[str]
    being: list[str]
    birth: list[str]
    married: list[str]
    couples: list[str]


@cache
def _file() -> _LabelsFile:
    return load_data("piiloom.surrogates", "name_labels.yaml", _LabelsFile)


@cache
def labels() -> Mapping[str, PartOfName]:
    """Return the labels of fields, in small letters and without accents, with the part of a name that they announce."""
    known = _file()
    parts: tuple[tuple[PartOfName, list[str]], ...] = (
        ("given", known.given),
        ("family", known.family + known.family_beside),
        ("second", known.second),
        ("middle", known.middle),
    )
    return {word: part for part, words in parts for word in words}


@cache
def _family_told() -> re.Pattern[str]:
    known = _file()
    words, being, beside = any_of(known.family + known.family_told), any_of(known.being), any_of(known.birth + known.couples)
    return re.compile(rf"(?<!\w)(?:(?:{words})(?: (?:{being}))?\s*[:,]?|(?:{beside}))\s*\Z", re.IGNORECASE)


@cache
def _family_ends() -> frozenset[str]:
    """Return the last words of all that tells a family name: most text before a name ends in others."""
    known = _file()
    return frozenset(map(_last_word, (*known.family, *known.family_told, *known.being, *known.birth, *known.couples)))


def _last_word(text: str) -> str:
    return _BETWEEN.split(text.casefold())[-1]


def family_told(text: str, start: int) -> bool:
    """Whether the words right before *start* tell that a family name follows: "her maiden name is", "née", "les époux"."""
    last = text[max(0, start - _LONGEST_LAST) : start].rstrip(" \n\r\t\u00a0:,").rpartition(" ")[2]
    last = last.casefold() if last.isalpha() else _last_word(last)
    return last in _family_ends() and _family_told().search(text, max(0, start - _TOLD_WITHIN), start) is not None


@cache
def _birth_name() -> re.Pattern[str]:
    return re.compile(rf"[ \u00a0]?,?[ \u00a0(]{{0,2}}(?:{any_of(_file().birth + _file().married)})[ \u00a0:]{{1,2}}", re.IGNORECASE)


def birth_name_told(gap: str) -> bool:
    """Whether *gap*, which stands between two names, tells that the second is a further family name of whom the first calls: " née "."""
    return 1 < len(gap) <= _TOLD_WITHIN and _birth_name().fullmatch(gap) is not None


@cache
def _birth_name_within() -> re.Pattern[str]:
    return re.compile(rf"[ ,(](?:{any_of(_file().birth + _file().married)})[ :]{{1,2}}(?=\w)")


def birth_name_in(name: str) -> re.Match[str] | None:
    """Return what stands in *name* between a name and a further family name of the same person: "Mary Smith née Jones"; or None."""
    found = _birth_name_within().search(name)
    return found if found is not None and any(word[:1].isupper() for word in name[: found.start()].split()) else None


_WordSet = Annotated[frozenset[str], Field(strict=False)]  # YAML has lists


class NameWords(FileModel):
    """The file; its head says what the lists are."""

    titles: list[str]
    cased: list[str]
    within: _WordSet
    within_first: dict[str, list[str]]
    family_particles: _WordSet
    families: _WordSet
    between: _WordSet
    apart: list[str]
    before_families: _WordSet
    given_titles: _WordSet
    letter_joiners: list[str]
    letter_beginnings: dict[str, list[str]]
    letter_titles: list[str]
    letter_particles: list[str]
    residual_titles: list[str]
    residual_leads: list[str]
    residual_particles: list[str]
    residual_no_names: list[str]


@cache
def name_words() -> NameWords:
    """Return the words of the file; cached."""
    return load_data("piiloom.surrogates", "words/beside_names.yaml", NameWords)


NAME_PART = re.compile(r"[^\W\d_]+(?:['’-][^\W\d_]+)*")
_POSSESSIVE = re.compile(r"['’]s?$")
_ET_AL = re.compile(r",? (?:et|und|and|en|y|e) (?:al\b|autres\b|a\.|andere\b|others\b|altri\b|otros\b|outros\b)", re.IGNORECASE)
_PLURAL_END = re.compile(r"(?:(?<=[sxz])es|(?<=[cs]h)es|s)$")
_SHORTEST_NAME = 4  # letters: of shorter words, one before a title is no name
_LONGEST_FAMILY = 4  # words of a family name with its particles
_ALWAYS_FAMILY = frozenset({"de", "den", "ter", "ten", "zu", "zum", "zur", "vom", "'t"})
_PLURAL = frozenset({"the", "die"})
_SHORTEST_PLURAL = 3


@cache
def _titles() -> frozenset[str]:
    return name_words().within | name_words().families


def unaccented(text: str) -> str:
    """Return *text* case-folded and without accents."""
    if text.isascii():
        return text.casefold()
    return "".join(c for c in unicodedata.normalize("NFD", text.casefold()) if not unicodedata.combining(c))


class NamedPart(NamedTuple):
    """A word of a written name. ``[start, end)`` is its place in it."""

    start: int
    end: int
    text: str

    @property
    def key(self) -> str:
        """The word, folded."""
        return unaccented(self.text)


def parts_of(original: str, language: str = "") -> list[NamedPart]:
    """Return the words of a written name that are names, in text order; the *language* of the text may tell that "M." is a title.

    Left out are titles, "the" and "family" of a family's name and its plural -s, "et al.", a further family name after "née", and a
    possessive 's.
    """
    bare = _POSSESSIVE.sub("", original)
    for found in (birth_name_in(bare), _ET_AL.search(bare)):
        bare = bare[: found.start()] if found else bare
    words = [NamedPart(word.start(), word.end(), word.group()) for word in NAME_PART.finditer(bare)]
    first = _names_from(words, language)
    names = [word for word in words[first:] if not is_title(word.text)]
    last = names[-1] if names else None
    if last is not None and first and words[first - 1].key in _PLURAL and last is words[-1] and len(last.text) > _SHORTEST_PLURAL:
        plural = _PLURAL_END.search(last.text)
        if plural:
            names[-1] = NamedPart(last.start, last.start + plural.start(), last.text[: plural.start()])
    return names


def _names_from(words: list[NamedPart], language: str) -> int:
    """Return the number of the first of *words* that is no title, and no small word before one or before a family's name."""
    first_titles, articles, between = name_words().within_first.get(language, ()), name_words().before_families, name_words().between
    at = 0
    while at < len(words) - 1:
        word, title_follows = words[at], is_title(words[at + 1].text)
        small = word.text.islower() or (not at and (title_follows or (len(word.text) > 2 and (word.key != "les" or language == "fr"))))
        beside = word.key in articles or (at and word.key in between) or (title_follows and len(word.text) < _SHORTEST_NAME)
        if not (is_title(word.text) or word.key in first_titles or (small and beside)):
            break
        at += 1
    return at


def is_title(word: str) -> bool:
    """Whether *word* is a title, degree or word for a family, and no part of a name ("Dr", "MD", "familie")."""
    return unaccented(word) in _titles()


def has_title(original: str, language: str = "") -> bool:
    """Whether *original* has more than names, which tells that a family name stands in it ("Dr. Smith", "the Smiths", "Smith et al.").

    Some titles stand before given names ("don Luis").
    """
    words = [unaccented(word) for word in NAME_PART.findall(_POSSESSIVE.sub("", original))]
    return len(words) > len(parts_of(original, language)) and name_words().given_titles.isdisjoint(words)


def is_one_name(original: str) -> bool:
    """Whether *original* is one word that is no title."""
    words = NAME_PART.findall(_POSSESSIVE.sub("", original))
    return len(words) == 1 and len(words[0]) > 1 and not is_title(words[0])


def name_parts(original: str, language: str = "") -> tuple[list[str], list[str]]:
    """Return the given names and the family names of a written name, folded and without titles. A single name counts as both.

    Of several people it is the first one's: "John and Mary Smith" is John Smith.
    """
    people = names_within(original)
    if len(people) > 1:
        first, last = name_parts(people[0], language), name_parts(people[-1], language)
        return (first[0], last[1]) if first[0] == first[1] and last[0] != last[1] and not has_title(people[0], language) else first
    words = parts_of(original, language)
    comma = original.find(",")
    after = [word.key for word in words if comma >= 0 and word.start > comma]
    parts = [word.key for word in words if comma < 0 or word.start < comma]
    if comma >= 0 and after:
        return after, parts
    if len(parts) == 1 or is_family_alone(original, words):
        return parts, parts
    return parts[:1], parts[1:]


def names_within(original: str) -> list[str]:
    """Return the names of several people in *original*, "John and Mary Smith", and at odd places what joins them; else *original* alone.

    "Mr. and Mrs. Smith" is one, as is a name with a Spanish "y".
    """
    pieces = _apart().split(original)
    named = all(any(word.text[0].isupper() and len(word.text) > 1 for word in parts_of(piece)) for piece in pieces[::2])
    return pieces if named and not _ET_AL.search(original) else [original]


@cache
def _apart() -> re.Pattern[str]:
    return re.compile(rf"(\s+(?:{any_of(name_words().apart)})\s+)")


def is_family_alone(original: str, words: Sequence[NamedPart]) -> bool:
    """Whether the *words* that are names in *original* are one family name with its particle: "de Vries", "mevrouw Jansen-de Boer"."""
    if not 1 < len(words) <= _LONGEST_FAMILY or "," in original:
        return False
    first, particles = words[0], name_words().family_particles
    titled = words[0].start > 0 or first.text.islower()
    if first.key in particles and (titled or first.key in _ALWAYS_FAMILY):
        return all(word.key in particles or word is words[-1] for word in words)
    return len(words) == 2 and first.text.rpartition("-")[2] in particles


def form_of(original: str, language: str = "") -> str:
    """Return the form of a known name.

    "family_given" (with a comma), "full", "formal" (initial and family name), "initials", or "" for one word.
    """
    words = parts_of(original, language)
    given, family = name_parts(original, language)
    if "," in original and given != family and words[-1].start > original.index(","):
        return "family_given"
    if len(words) <= 1:
        return "initials" if words and len(words[0].text) == 1 else ""
    if given == family:
        return "family"
    if all(len(word.text) == 1 for word in words):
        return "initials"
    return "formal" if len(words[0].text) == 1 else "full"


class NameResolver:
    """Resolves the known names of one document in *language* to people. *genders* maps folded given names to genders."""

    def __init__(self, genders: Mapping[str, Gender] | None = None, language: str = "") -> None:
        self._genders = genders or {}
        self._language = language
        self._people: list[tuple[set[str], set[str]]] = []
        self._bearers: dict[str, set[int]] = {}
        self._families: dict[str, set[int]] = {}  # people by the parts of family names that came with a given name
        self._alone: dict[str, set[int]] = {}  # people by the single name that they were first mentioned with
        self._seen: dict[str, str] = {}

    def of_document(self) -> NameResolver:
        """Return an empty resolver with the same genders, for the next document."""
        return NameResolver(self._genders, self._language)

    def key_of(self, original: str) -> str:
        """Return the number of the person called *original* in this document, as text: an earlier person whom it fits, else a new one."""
        known = self._seen.get(original)
        if known is None:
            known = self._seen[original] = str(self._number(*name_parts(original, self._language)))
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
        given, family = name_parts(original, self._language)
        return self._genders.get(given[0]) if given and given != family else None

    def gender_of_word(self, original: str) -> Gender | None:
        """Return the gender of *original* where it is one word and known as a given name."""
        given, family = name_parts(original, self._language)
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
