"""Values that are words of a list (relatives, occupations, conditions …), companies by their legal form, schools by their kind, cities."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache
from importlib.resources import files
from types import MappingProxyType
from typing import Final

import regex
import yaml

from piiloom.detection.hybrid.offline.cues import LanguageCues
from piiloom.detection.hybrid.offline.finding import RuleFinding
from piiloom.patterns.engine import MatchContext
from piiloom.taxonomy.entities.entity_catalogue import LocaleCatalogue

FINDER: Final = "word lists"
# How sure a listed word is that has no context word of its entity near it; the rest is left to those.
_SCORES: Final[Mapping[str, float]] = MappingProxyType({"occupation": 0.3, "nationality": 0.35, "belief": 0.4, "city": 0.45})
_SCORE: Final = 0.5
_ORGANISATION: Final = 0.65
_SHORTEST: Final = 4  # letters of a word from a lexicon; shorter ones mean too much else
_SLOT_OR_CHOICE: Final = regex.compile(r"[{}]")
_CHOICE: Final = regex.compile(r"<([^<>|]*)\|([^<>|]*)>")
# Lexicons of pii_values, and the entity whose values their entries are.
_LEXICONS: Final[Mapping[str, str]] = MappingProxyType(
    {"conditions": "condition", "medications": "medication", "occupations": "occupation", "relationships": "relation"}
)
_TOPICS: Final[Mapping[str, str]] = MappingProxyType({"relationships": "kin_"})  # of other topics are whole phrases
_CASED: Final = r"\p{Lu}[\p{L}\p{M}\p{Nd}'’&.\-]{0,30}"
_WORD: Final = r"[\p{L}\p{M}\p{Nd}_]"
_HAN: Final = r"[\p{Han}--[的了在与为向对给由是我你他她也到及去从]]"  # no words that lead to a name


class WordLists:
    """Finds listed values in texts of a catalogue's locale."""

    def __init__(self, cues: LanguageCues, catalogue: LocaleCatalogue) -> None:
        locale = catalogue.locale
        language = locale[:2]
        self._context = {entity.id: entity.context for entity in catalogue.entities.values()}
        self._blanks = language != "zh"
        lists = {entity: {*words, *_lexicon(language).get(entity, ())} for entity, words in cues.words.items()}
        lists |= {entity: set(words) for entity, words in _lexicon(language).items() if entity not in lists}
        self._entity_of = {_key(word): entity for entity, words in sorted(lists.items()) for word in words}
        self._listed = self._whole_words(self._entity_of) if self._entity_of else None
        cities = cues.cities.get(locale, ())
        self._cities = self._whole_words(cities, exact=True) if cities else None
        self._organisations = [one for one in (self._companies(cues), self._schools(cues)) if one is not None]

    def read(self, text: str) -> Iterator[RuleFinding]:
        """Yield the listed values in *text*."""
        if self._listed is not None:
            for match in self._listed.finditer(text):
                entity = self._entity_of[_key(match.group())]
                yield self._scored(text, match.start(), match.end(), entity)
        if self._cities is not None:
            for match in self._cities.finditer(text):
                yield self._scored(text, match.start(), match.end(), "city")
        for entity, expression in self._organisations:
            for match in expression.finditer(text):
                yield RuleFinding(*match.span(), entity, _ORGANISATION, FINDER)

    def _scored(self, text: str, start: int, end: int, entity: str) -> RuleFinding:
        change = MatchContext(text, start, end).change(self._context.get(entity, ()), ())
        return RuleFinding(start, end, entity, min(_SCORES.get(entity, _SCORE) + change, 0.85), FINDER)

    def _whole_words(self, words: Iterable[str], *, exact: bool = False) -> regex.Pattern[str]:
        either = _either(words)
        flags = regex.V1 if exact else regex.V1 | regex.IGNORECASE
        return regex.compile(rf"(?<!{_WORD})(?:{either})(?!{_WORD})" if self._blanks else f"(?:{either})", flags)

    def _companies(self, cues: LanguageCues) -> tuple[str, regex.Pattern[str]] | None:
        forms = []
        if cues.company_forms:
            either = _either(cues.company_forms)
            name = rf"{_CASED}(?:[ ](?:{_CASED}|&|i|e|och|og|en|de|da|do)){{0,4}}?[ ]" if self._blanks else rf"{_HAN}{{2,14}}?"
            forms.append(rf"{name}(?:{either})(?!{_WORD})" if self._blanks else rf"{name}(?:{either})")
        if cues.company_forms_first:
            forms.append(rf"(?<!{_WORD})(?:{_either(cues.company_forms_first)})[ ]{_first_name(cues)}")
        return ("employer", regex.compile("|".join(forms), regex.V1)) if forms else None

    def _schools(self, cues: LanguageCues) -> tuple[str, regex.Pattern[str]] | None:
        if not cues.school_words:
            return None
        either = _either(cues.school_words)
        if not self._blanks:
            return "school", regex.compile(rf"{_HAN}{{2,12}}?(?:{either})", regex.V1)
        around = (
            rf"(?:{_CASED}[ ]){{0,4}}(?<!{_WORD})(?i:{either})(?!{_WORD})(?:[ ](?:{_CASED}|d[aeo]s?|im\.?|w|i|von|van|nr[ ]\d+)){{1,6}}"
        )
        behind = rf"(?:{_CASED}[ ]){{1,4}}(?i:{either})(?!{_WORD})"
        return "school", regex.compile(rf"{around}|{behind}", regex.V1)


def _first_name(cues: LanguageCues) -> str:
    """What stands behind a company's legal form: capitalised words, or two to four words of a script without capitals."""
    cased = all(word[:1].upper() != word[:1].lower() for word in cues.company_forms_first)
    return rf"{_CASED}(?:[ ]{_CASED}){{0,4}}" if cased else r"[\p{L}\p{M}]+(?:[ ][\p{L}\p{M}]+){0,3}"


def _key(word: str) -> str:
    return word.casefold()


def _either(words: Iterable[str]) -> str:
    return "|".join(regex.escape(word) for word in sorted(words, key=lambda word: (-len(word), word)))


@lru_cache(maxsize=16)
def _lexicon(language: str) -> Mapping[str, tuple[str, ...]]:
    """Entries of the lexicons of *language*, by entity; those with slots are left out, of two forms both are in."""
    folder = files("piiloom.pii_values") / "data" / language / "lexicons"
    found = {}
    for name, entity in _LEXICONS.items():
        source = folder / f"{name}.yaml"
        if source.is_file():
            groups = yaml.safe_load(source.read_text("utf-8")).get("groups", ())
            found[entity] = tuple(
                word
                for group in groups
                if not group["topic" if "topic" in group else "field"].startswith("_")
                for entry in group["entries"]
                for word in _forms(entry)
            )
    return found


def _forms(entry: str) -> list[str]:
    if _SLOT_OR_CHOICE.search(entry):
        return []
    forms = {_CHOICE.sub(r"\1", entry), _CHOICE.sub(r"\2", entry)}
    return sorted(form.lower() for form in forms if len(form) >= _SHORTEST)
