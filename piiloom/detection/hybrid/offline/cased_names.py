"""Names of people in scripts with capitals: words of the names index and what is capitalised beside them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple

import regex

from piiloom.detection.hybrid.offline.cues import LanguageCues
from piiloom.detection.hybrid.offline.finding import RuleFinding
from piiloom.detection.hybrid.offline.known_names import CountryNames

FINDER: Final = "names index"
_LETTER: Final = r"[\p{L}--\p{Han}]"  # Latin names stand among Han characters without blanks
_TOKEN: Final = regex.compile(rf"{_LETTER}[{_LETTER}\p{{M}}]*(?:['’\-]{_LETTER}[{_LETTER}\p{{M}}]*)*", regex.V1)
_JOINS: Final = regex.compile(r"[ \u00a0]['’]?|\. ?")  # between two parts of a name; the full stop behind an initial
_BLANKS: Final = (" ", " '", " ’")
_NAMES_A_PLACE: Final = (" ", ". ")
_SETS_APART: Final = ("", "\n", ",", ";", ":", "(", "|", '"', ")")
_MOST_PARTS: Final = 6
_MOST_SYLLABLES: Final = 4
_REACH: Final = 24  # a cue stands this near before a name

# How sure: a given name beside a family name, beside another capitalised word, behind a title or cue; any word before a family name; alone.
_BOTH, _GIVEN_AND_MORE, _TITLED, _UNKNOWN_GIVEN, _ALONE = 0.85, 0.7, 0.7, 0.6, 0.55


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
        parts = [_CasedWord(*one.span(), one.group(), one.group()[0].isupper()) for one in _TOKEN.finditer(text)]
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
            return _TITLED
        return _ALONE if given and not family and len(word) > 2 and not _opens_sentence(text, start) else 0.0

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
        return _UNKNOWN_GIVEN if unknown and (others_family or known.is_given_anywhere(words[0])) else 0.0

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
