"""Names of people by the built-in names index and cue words: in scripts with capitals and without, in Chinese, and in user names.

The built-in index is read, whatever index the user has built: a text gives the same spans on every machine.

The cues of a language (words around names and addresses, endings of companies, short word lists), and the findings of rules.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from importlib.resources import files
from typing import Annotated, Final, NamedTuple

import regex
from pydantic import BaseModel, ConfigDict, Field

from piiloom.foundation.yaml_files import load_yaml
from piiloom.pii_values.names.index import builtin, plain_key

CueWords = Annotated[tuple[str, ...], Field(default=())]


class LanguageCues(BaseModel):
    """Data of one language; all words in small letters but those of ``cities`` and companies.

    Names: ``titles`` stand before one (Dr), ``behind_names`` after one (先生), ``name_cues`` are phrases before one ("my name is").
    ``particles`` join parts of a name or are such; ``connectors`` never end one (ibn). ``not_names`` look like names and are none,
    ``before_places`` stand before a name that is a place's or a house's (São, hospital). ``given`` and ``family`` are for scripts that
    the names index lacks, ``given_characters`` are what Chinese given names are made of.

    Addresses: ``street_before`` are words before a street's name (rua), ``street_behind`` endings of one (-straat) or words behind it;
    ``units`` and ``areas`` begin other parts, ``links`` stand before the city ("in"). ``postcodes`` are expressions, ``cities`` names, by
    locale.

    The rest: ``company_forms`` end a company's name, ``company_forms_first`` begin one; ``school_words`` are in a school's. ``words``:
    values by entity id.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    titles: CueWords
    behind_names: CueWords
    name_cues: CueWords
    particles: CueWords
    connectors: CueWords
    not_names: CueWords
    before_places: CueWords
    given: CueWords
    family: CueWords
    given_characters: str = ""
    street_before: CueWords
    street_behind: CueWords
    units: CueWords
    areas: CueWords
    links: CueWords
    postcodes: Annotated[dict[str, str], Field(default={})]
    cities: Annotated[dict[str, tuple[str, ...]], Field(default={})]
    company_forms: CueWords
    company_forms_first: CueWords
    school_words: CueWords
    words: Annotated[dict[str, tuple[str, ...]], Field(default={})]


@lru_cache(maxsize=32)
def language_cues(language: str) -> LanguageCues:
    """Return the cues of *language*; of one without a file, none."""
    source = files("piiloom.detection.hybrid.offline") / "data" / f"{language}.yaml"
    return load_yaml(source, LanguageCues) if source.is_file() else LanguageCues.model_validate({})


class RuleFinding(NamedTuple):
    """``text[start:end]`` is taken for the entity with this id, by the rule *finder*."""

    start: int
    end: int
    entity_id: str
    score: float
    finder: str


@dataclass(frozen=True, slots=True)
class CountryNames:
    """Names of one country in the form of ``plain_key``; family names also as they are written; both in the country's own script."""

    given: frozenset[str]
    family: frozenset[str]
    family_as_written: frozenset[str]
    given_native: frozenset[str]
    family_native: frozenset[str]

    def is_given(self, word: str) -> bool:
        """Whether *word* is a given name, with or without its accents."""
        return plain_key(word) in self.given

    def is_family(self, word: str) -> bool:
        """Whether *word* is a family name, or a part of one that has several."""
        return plain_key(word) in self.family


@lru_cache(maxsize=32)
def known_names(country: str, language: str) -> CountryNames:
    """The names of *country* (ISO 3166 alpha-2), those in the cues of *language* among them."""
    index, cues = builtin(), language_cues(language)
    given = [name for gender in ("F", "M") for name in index.first_names(country, gender)]
    family = [part for name in index.last_names(country) for part in name.split() if len(part) > 2]
    given_native = [name for gender in ("F", "M") for name in index.first_names(country, gender, script="native")]
    family_native = index.last_names(country, script="native")
    return CountryNames(
        frozenset(map(plain_key, given)),
        frozenset(map(plain_key, family)),
        frozenset(index.last_names(country)),
        frozenset((*given_native, *cues.given)),
        frozenset((*family_native, *cues.family)),
    )


FINDER: Final = "names index"
_LETTER: Final = r"[\p{L}--\p{Han}]"  # Latin names stand among Han characters without blanks
_CASED: Final = regex.compile(rf"{_LETTER}[{_LETTER}\p{{M}}]*(?:['’\-]{_LETTER}[{_LETTER}\p{{M}}]*)*", regex.V1)
_JOINS: Final = regex.compile(r"[ \u00a0]['’]?|\. ?")  # between two parts of a name; the full stop behind an initial
_BLANKS: Final = (" ", " '", " ’")
_NAMES_A_PLACE: Final = (" ", ". ")
_SETS_APART: Final = ("", "\n", ",", ";", ":", "(", "|", '"', ")")
_MOST_PARTS: Final = 6
_MOST_SYLLABLES: Final = 4
_REACH: Final = 24  # a cue stands this near before a name

# How sure: a given name beside a family name, beside another capitalised word, behind a title or cue; any word before a family name; alone.
_BOTH, _GIVEN_AND_MORE, _BEHIND_CUE, _UNKNOWN_GIVEN, _GIVEN_ALONE = 0.85, 0.7, 0.7, 0.6, 0.55


class _CasedWord(NamedTuple):
    start: int
    end: int
    word: str
    capital: bool


class CasedNames:
    """Finds names by *known* names and *cues*.

    *family_first*: family names stand first and are few (Vietnam). *most_particles*: so many times a name may have particles in it.
    """

    def __init__(self, known: CountryNames, cues: LanguageCues, *, family_first: bool = False, most_particles: int = 3) -> None:
        self._known, self._family_first, self._most_particles = known, family_first, most_particles
        self._titles = frozenset(cues.titles)
        self._particles = frozenset(cues.particles)
        self._before_places = frozenset((*cues.before_places, *cues.street_before, *cues.areas))
        self._not_names = frozenset((*cues.not_names, *self._before_places))
        self._name_cues = cues.name_cues

    def read(self, text: str) -> Iterator[RuleFinding]:
        """Yield the names in *text*."""
        parts = [_CasedWord(*one.span(), one.group(), one.group()[0].isupper()) for one in _CASED.finditer(text)]
        at = 0
        while at < len(parts):
            length, score = self._name_at(text, parts, at)
            if length:
                yield RuleFinding(parts[at].start, parts[at + length - 1].end, "person_name", score, FINDER)
            at += length or 1

    def _name_at(self, text: str, parts: Sequence[_CasedWord], at: int) -> tuple[int, float]:
        """How many parts the name has that begins with ``parts[at]``, 0 if none does, and how sure it is."""
        first = parts[at]
        if not first.capital or self._is_none(first.word) or self._of_a_place(text, parts, at):
            return 0, 0.0
        length = self._run(text, parts, at)
        words = [one.word for one in parts[at : at + length] if one.capital]
        if len(words) == 1:
            score = self._of_one(text, parts, at)
        elif self._family_first:
            score = _BOTH if first.word in self._known.family_as_written else 0.0
        else:
            end = parts[at + length - 1].end
            apart = not _opens_sentence(text, first.start) or text[end : end + 1] in _SETS_APART
            score = self._of_several(words, titled=self._titled(text, parts, at), plain=len(words) == length, apart=apart)
        return (length, score) if score else (0, 0.0)

    def _of_one(self, text: str, parts: Sequence[_CasedWord], at: int) -> float:
        """How sure it is that the word ``parts[at]`` alone is a name."""
        word, start = parts[at].word, parts[at].start
        if self._family_first and word in self._known.family_as_written:
            return 0.0
        given, family = self._known.is_given(word), self._known.is_family(word)
        if (given or family) and self._titled(text, parts, at):
            return _BEHIND_CUE
        return _GIVEN_ALONE if given and not family and len(word) > 2 and not _opens_sentence(text, start) else 0.0

    def _of_a_place(self, text: str, parts: Sequence[_CasedWord], at: int) -> bool:
        """Whether a word stands before ``parts[at]`` that makes it the name of a place or a house."""
        return (
            bool(at) and parts[at - 1].word.lower() in self._before_places and text[parts[at - 1].end : parts[at].start] in _NAMES_A_PLACE
        )

    def _of_several(self, words: Sequence[str], *, titled: bool, plain: bool, apart: bool) -> float:
        """How sure a name of several *words* is.

        *plain*: there are no particles. *apart*: its first capital is not that of a sentence, or no sentence goes on behind it.
        """
        known = self._known
        given, family = known.is_given(words[0]), known.is_family(words[0])
        others_family, others_given = any(map(known.is_family, words[1:])), any(map(known.is_given, words[1:]))
        if (given and others_family) or (family and others_given and plain):
            return _BOTH
        if given or titled:
            return _GIVEN_AND_MORE
        unknown = apart and not (family and plain) and not others_given
        return _UNKNOWN_GIVEN if unknown and (others_family or builtin().first.find(words[0]) is not None) else 0.0

    def _run(self, text: str, parts: Sequence[_CasedWord], at: int) -> int:
        """How many parts follow one another as in a name, from ``parts[at]`` on."""
        length, particles = 1, 0
        while at + length < len(parts) and length < (_MOST_SYLLABLES if self._family_first else _MOST_PARTS):
            previous, one = parts[at + length - 1], parts[at + length]
            between = text[previous.end : one.start]
            if not _JOINS.fullmatch(between) or ("." in between and len(previous.word) > 1):
                break
            # Where family names stand first, given names may be words that mean something else elsewhere ("Anh", "Bảo").
            if one.capital and (self._family_first or not self._is_none(one.word)):
                length += 1
                continue
            extent = self._particles_at(text, parts, at + length) if particles < self._most_particles else 0
            if not extent:
                break
            length += extent
            particles += 1
        return length

    def _particles_at(self, text: str, parts: Sequence[_CasedWord], at: int) -> int:
        """How many parts a particle, or two, takes with the capitalised word behind it; 0 if there is none."""
        for count in (1, 2):
            if at + count >= len(parts) or parts[at + count - 1].word.lower() not in self._particles:
                return 0
            if text[parts[at + count - 1].end : parts[at + count].start] not in _BLANKS:
                return 0
            if parts[at + count].capital and not self._is_none(parts[at + count].word):
                return count + 1
        return 0

    def _is_none(self, word: str) -> bool:
        lowered = word.lower()
        return lowered in self._not_names or lowered in self._titles

    def _titled(self, text: str, parts: Sequence[_CasedWord], at: int) -> bool:
        start = parts[at].start
        if at and parts[at - 1].word.lower() in self._titles and start - parts[at - 1].end <= 2:
            return True
        before = text[max(0, start - _REACH) : start].lower().rstrip(" ,:")
        return any(before.endswith(cue) for cue in self._name_cues)


def _opens_sentence(text: str, start: int) -> bool:
    before = text[max(0, start - 3) : start].rstrip(" \t")
    return not before or before[-1] in '.!?:\n\r…•-*"“„«('


_UNCASED: Final = regex.compile(r"[\p{L}\p{M}\u200c\u200d]+")
_MOST_UNCASED: Final = 5
_BEHIND_A_TITLE: Final = 2  # unknown words that a title takes with it
_ENDS: Final = ("", "\n", ",", "،", ";", ":", "(", ")", "।", ".", "|", "-")
_TITLED, _SEVERAL, _ALONE = 0.75, 0.7, 0.4
_NISBA: Final = "ال"
_UncasedWord = tuple[int, int, str]


class UncasedNames:
    """Finds names by *known* names and *cues*. ``connectors`` (ibn, "son of") join parts; ``not_names`` end a name.

    *fathers_names*: the father's given name stands behind one's own (Arabic).
    """

    def __init__(self, known: CountryNames, cues: LanguageCues, *, fathers_names: bool) -> None:
        self._fathers_names = fathers_names
        self._names = known.given_native | known.family_native
        self._family = known.family_native
        self._connectors = frozenset(cues.connectors)
        self._titles = frozenset(cues.titles)
        self._particles = frozenset((*cues.particles, *cues.connectors))
        self._not_names = frozenset(cues.not_names)
        self._name_cues = cues.name_cues

    def read(self, text: str) -> Iterator[RuleFinding]:
        """Yield the names in *text*."""
        parts = [(*one.span(), one.group()) for one in _UNCASED.finditer(text)]
        at = 0
        while at < len(parts):
            length, score = self._name_at(text, parts, at)
            if score >= _ALONE:
                yield RuleFinding(parts[at][0], parts[at + length - 1][1], "person_name", score, FINDER)
            at += length or 1

    def _name_at(self, text: str, parts: Sequence[_UncasedWord], at: int) -> tuple[int, float]:
        """How many parts the name has that begins with ``parts[at]``, 0 if none does, and how sure it is."""
        first = parts[at][2]
        if first in self._titles or first in self._not_names:
            return 0, 0.0
        titled, cued = self._titled(parts, text, at), self._cued(text, parts[at][0])
        length = 0
        while at + length < len(parts) and length < _MOST_UNCASED and (not length or self._adjoins(text, parts, at + length)):
            if not self._belongs(text, parts, at, length, titled):
                break
            length += 1
        while length and parts[at + length - 1][2] in self._connectors:
            length -= 1
        known = sum(parts[number][2] in self._names for number in range(at, at + length))
        if titled and length:
            return length, _TITLED
        if not known:
            return 0, 0.0
        return length, _SEVERAL if length > 1 or cued else _ALONE

    def _belongs(self, text: str, parts: Sequence[_UncasedWord], at: int, length: int, titled: bool) -> bool:
        """Whether the part behind *length* parts from ``parts[at]`` on belongs to the same name."""
        word = parts[at + length][2]
        if word in self._not_names or word in self._titles:
            return False
        if word in self._names or (length and word in self._particles) or (titled and length < _BEHIND_A_TITLE):
            return True
        if not length:  # an unknown word before a family name, a second part, or (apart from others) a given name is a given name
            following = parts[at + 1][2] if at + 1 < len(parts) and self._adjoins(text, parts, at + 1) else ""
            apart = text[max(0, parts[at][0] - 3) : parts[at][0]].rstrip(" ")[-1:] in _ENDS
            second = following in self._particles - self._connectors or (self._fathers_names and apart and following in self._names)
            return len(word) > 2 and (following in self._family or second)
        if word.startswith(_NISBA):  # "of Aleppo", "the …": a family name
            return True
        # An unknown word behind a given name is a family name if the name ends there.
        end = parts[at + length][1]
        following = parts[at + length + 1][2] if at + length + 1 < len(parts) else ""
        ends = text[end : end + 1] in _ENDS or following in self._not_names
        before = parts[at + length - 1][2]
        behind_given = before in self._names and before not in self._family
        return length <= (2 if self._fathers_names else 1) and behind_given and ends

    def _adjoins(self, text: str, parts: Sequence[_UncasedWord], at: int) -> bool:
        return text[parts[at - 1][1] : parts[at][0]] == " "

    def _titled(self, parts: Sequence[_UncasedWord], text: str, at: int) -> bool:
        """Whether a title stands before ``parts[at]``."""
        return bool(at) and parts[at - 1][2] in self._titles and text[parts[at - 1][1] : parts[at][0]].strip() in {"", ".", "/"}

    def _cued(self, text: str, start: int) -> bool:
        """Whether a cue stands before *start*."""
        before = text[max(0, start - _REACH) : start].rstrip(" :،,")
        return any(before.endswith(cue) for cue in self._name_cues)


_HAN: Final = r"\p{Han}"
_CUED, _ADDRESSED, _SET_APART, _USUAL, _IN_TWO_SCRIPTS = 0.75, 0.75, 0.6, 0.6, 0.85
_DOUBLE: Final = "欧阳 司马 上官 诸葛 司徒 夏侯 皇甫 尉迟 公孙 慕容 长孙 宇文 令狐 轩辕 端木 東方 东方".split()


class HanNames:
    """Finds names by *known* family names and *cues*."""

    def __init__(self, known: CountryNames, cues: LanguageCues) -> None:
        family = "|".join(sorted((*_DOUBLE, *map(regex.escape, known.family_native)), key=lambda name: (-len(name), name)))
        behind = "|".join(map(regex.escape, cues.behind_names))
        before = "|".join(map(regex.escape, cues.name_cues))
        none = "|".join(map(regex.escape, cues.not_names))
        not_none = f"(?!{none})" if none else ""
        person = f"{not_none}(?:{family}){_HAN}{{1,2}}"
        # Behind a cue the name ends before anything but Han, or before a form of address or a common verb.
        self._cued = regex.compile(f"(?:{before})[ :：]{{0,2}}({person}?)(?=[^{_HAN}]|$|{behind}|[的于在因将已向给和与、说来到])", regex.V1)
        self._addressed = regex.compile(f"({not_none}(?:{family}){_HAN}{{0,2}}?)(?:{behind})", regex.V1)
        self._set_apart = regex.compile(f"(?<![{_HAN}\\p{{L}}])({person})(?![{_HAN}\\p{{L}}])", regex.V1)
        latin = r"(?:\p{Lu}[\p{Ll}'’\-]+[ ]?){2,4}"
        self._both = regex.compile(f"((?:{person})[(（]{latin}[)）]|{latin}(?:{person})(?![{_HAN}]))", regex.V1)
        usual = f"[{cues.given_characters}]" if cues.given_characters else "(?!)"
        self._usual = regex.compile(f"({not_none}(?:{family}){usual}{{2}})", regex.V1)
        roles = "|".join(map(regex.escape, (*cues.words.get("relation", ()), *cues.words.get("occupation", ()), *cues.name_cues)))
        self._after_role = regex.compile(f"(?:{roles})[ :：]{{0,2}}({not_none}(?:{family}){usual}{{1,2}})", regex.V1)

    def read(self, text: str) -> Iterator[RuleFinding]:
        """Yield the names in *text*; one place may be found in several ways."""
        for expression, score in (
            (self._cued, _CUED),
            (self._both, _IN_TWO_SCRIPTS),
            (self._addressed, _ADDRESSED),
            (self._set_apart, _SET_APART),
            (self._usual, _USUAL),
            (self._after_role, _CUED),
        ):
            for match in expression.finditer(text):
                yield RuleFinding(*match.span(1), "person_name", score, FINDER)


_OF_HANDLE: Final = 0.55
_SHORTEST_NAME: Final = 4  # letters of a name that is told from any other word
_SHORTEST_BEHIND_INITIAL: Final = 5
_DOMAIN: Final = regex.compile(r"www\..*|.*\.[a-z]{2,3}")
# Small letters with a dot, an underscore or digits at the end; no part of an address, a path or a file's name.
_HANDLE: Final = regex.compile(r"(?<![\w@./:\-=])(?=[a-z._]*[._\d])[a-z]{2,20}(?:[._][a-z]{2,20}){0,2}\d{0,4}(?![\w@/:\-]|\.\w)")
_HANDLE_PART: Final = regex.compile(r"[a-z]+")


class Handles:
    """Finds user names by *known* names."""

    def __init__(self, known: CountryNames) -> None:
        self._known = known

    def read(self, text: str) -> Iterator[RuleFinding]:
        """Yield the user names in *text*."""
        for match in _HANDLE.finditer(text):
            if not _DOMAIN.fullmatch(match.group()) and any(map(self._is_name, _HANDLE_PART.findall(match.group()))):
                yield RuleFinding(*match.span(), "username", _OF_HANDLE, FINDER)

    def _is_name(self, part: str) -> bool:
        """Whether *part* is a name, or a family name behind an initial."""
        if len(part) >= _SHORTEST_NAME and (self._known.is_given(part) or self._known.is_family(part)):
            return True
        return len(part) > _SHORTEST_BEHIND_INITIAL and self._known.is_family(part[1:])
