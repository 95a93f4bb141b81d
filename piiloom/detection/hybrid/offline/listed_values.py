"""Values behind a label ("Patient: …"), values of word lists, companies and schools by their cue words, and addresses."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from importlib.resources import files
from types import MappingProxyType
from typing import Final

import regex
import yaml

from piiloom.detection.hybrid.offline.names import LanguageCues, RuleFinding
from piiloom.detection.hybrid.phases import AskedTypes
from piiloom.patterns.engine import MatchContext
from piiloom.patterns.writing import fold_text, write_pattern
from piiloom.taxonomy.entities.catalogue_file import Entity
from piiloom.taxonomy.entities.entity_catalogue import LocaleCatalogue

LABELS: Final = "labels"
OF_LABEL: Final = 0.7
_LABEL: Final = re.compile(r"([^\n:：;；|\t•(（,，。.=]{1,48}?)\.?[ \t]*([:：=]|(?<=\s)[-–—])[ \t]*(?=[^\s/])")
_VALUE_END: Final = re.compile(r"[\n;；|\t•。।!?！？؟]|[.](?=\s|$)|\s[-–—]\s|\s{3}|[(（]|\s\S{1,20}=")
_COMMA: Final = re.compile(r"[,，、،]")
_QUOTED: Final = re.compile(r'"([^"\n]{1,80})"')
_TOKEN: Final = re.compile(r"[^\s,;，；]+")
_LONGEST: Final = 60
_LONGEST_ADDRESS: Final = 140
_SHORT: Final = 4  # a context word as short as this stands for a whole word, a longer one for the beginning of one
_WORDS_OF_A_NAME: Final = 6
_WORDS_OF_AN_UNCASED_NAME: Final = 4  # nothing else tells a name from a sentence
_WORDS: Final = 8
_ONE_TOKEN: Final = frozenset({"username", "password", "social_handle"})
_ADDRESS: Final = "address"
_CLOSING: Final = " \t.,;:，；、\"'”’»)"
_KNOWN: Final = 10_000


_Label = tuple[str, Entity | None]  # a context word, and what it announces; None: something that patterns find by its shape


class LabelReader:
    """Reads values behind labels. A value of a structured entity has the shape that the catalogue gives it."""

    def __init__(self, asked: AskedTypes) -> None:
        self._labels = _labels_of(asked)
        self._shapes = {one.id: _shapes_of(one) for one in asked.entities.values() if one.structured}
        self._known: dict[str, Entity | None] = {}

    def read(self, text: str) -> Iterator[RuleFinding]:
        """Yield the values behind labels in *text*."""
        folded = fold_text(text).text
        for match in _LABEL.finditer(text):
            entity = self._announced(match[1].strip().lower())
            if entity is None:
                continue
            at = match.end()
            if entity.id in self._shapes:
                shaped = (one.match(folded, at) for one in self._shapes[entity.id])
                start, end = next((found.span(1) for found in shaped if found), (at, at))
            else:
                start, end = _value(text, at, entity, match[2] == "=")
            if start < end and (entity.structured or _plausible(text[start:end], entity)):
                yield RuleFinding(start, end, entity.id, OF_LABEL, LABELS)

    def _announced(self, label: str) -> Entity | None:
        """The entity that *label* announces: that of the longest context word in it; None if patterns find that, or there is none."""
        if label not in self._known:
            if len(self._known) > _KNOWN:
                self._known.clear()
            self._known[label] = next((entity for phrase, entity in self._labels if _has(label, phrase)), None)
        return self._known[label]


def _labels_of(asked: AskedTypes) -> tuple[_Label, ...]:
    """The context words of a catalogue, the longest first; of equal ones, that of the entity with the higher priority first."""
    entries = [(phrase, entity) for entity in asked.catalogue.entities.values() for phrase in entity.context]
    entries.sort(key=lambda entry: (-len(entry[0]), entry[1].id not in asked.entities, -entry[1].priority, entry[1].id))
    return tuple((phrase, asked.entities.get(entity.id)) for phrase, entity in entries)


def _shapes_of(entity: Entity) -> Sequence[regex.Pattern[str]]:
    """The patterns of *entity* without the labels that the catalogue asks for."""
    return [regex.compile(write_pattern(replace(one, preceded_by=())).exact, regex.V1) for one in entity.patterns]


def _has(label: str, phrase: str) -> bool:
    """Whether *phrase* begins a word of *label*; a short one is a whole word."""
    at = label.find(phrase)
    while at >= 0:
        end = at + len(phrase)
        begins = not at or not label[at - 1].isalnum() or phrase[0] >= "\u2e80"
        whole = end == len(label) or not label[end].isalpha() or len(phrase) > _SHORT or phrase[-1] >= "\u2e80"
        if begins and whole:
            return True
        at = label.find(phrase, at + 1)
    return False


def _value(text: str, start: int, entity: Entity, assigned: bool) -> tuple[int, int]:
    """Where the value is that begins at *start*; *assigned*: behind "=", where it is one word or in quotes."""
    if quoted := _QUOTED.match(text, start):
        return quoted.span(1)
    if assigned or entity.id in _ONE_TOKEN:
        token = _TOKEN.match(text, start)
        return start, token.end() if token else start
    limit = min(len(text), start + (_LONGEST_ADDRESS if entity.id == _ADDRESS else _LONGEST))
    found = _VALUE_END.search(text, start, limit)
    end = found.start() if found else limit if limit == len(text) else max(text.rfind(" ", start, limit), start)
    if entity.id != _ADDRESS and (comma := _COMMA.search(text, start, end)):
        end = comma.start()
    while start < end and text[end - 1] in _CLOSING:
        end -= 1
    while start < end and text[start] in "\"'“«„ \t*_":
        start += 1
    return start, end


def _plausible(value: str, entity: Entity) -> bool:
    if entity.id in _ONE_TOKEN:
        return True
    words = value.split()
    if not any(map(str.isalpha, value)) or len(words) > _WORDS:
        return entity.id == _ADDRESS and any(map(str.isalpha, value))
    if entity.entity_type == "name":
        cased = value[0].upper() != value[0].lower()
        most = _WORDS_OF_A_NAME if cased else _WORDS_OF_AN_UNCASED_NAME
        return len(words) <= most and not any(map(str.isdigit, value)) and not value[0].islower()
    return entity.id != _ADDRESS or len(words) > 1


WORD_LISTS: Final = "word lists"
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
_CASED_WORD: Final = r"\p{Lu}[\p{L}\p{M}\p{Nd}'’&.\-]{0,30}"
_IN_WORD: Final = r"[\p{L}\p{M}\p{Nd}_]"
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
                yield RuleFinding(*match.span(), entity, _ORGANISATION, WORD_LISTS)

    def _scored(self, text: str, start: int, end: int, entity: str) -> RuleFinding:
        change = MatchContext(text, start, end).change(self._context.get(entity, ()), ())
        return RuleFinding(start, end, entity, min(_SCORES.get(entity, _SCORE) + change, 0.85), WORD_LISTS)

    def _whole_words(self, words: Iterable[str], *, exact: bool = False) -> regex.Pattern[str]:
        either = _either(words)
        flags = regex.V1 if exact else regex.V1 | regex.IGNORECASE
        return regex.compile(rf"(?<!{_IN_WORD})(?:{either})(?!{_IN_WORD})" if self._blanks else f"(?:{either})", flags)

    def _companies(self, cues: LanguageCues) -> tuple[str, regex.Pattern[str]] | None:
        forms = []
        if cues.company_forms:
            either = _either(cues.company_forms)
            name = rf"{_CASED_WORD}(?:[ ](?:{_CASED_WORD}|&|i|e|och|og|en|de|da|do)){{0,4}}?[ ]" if self._blanks else rf"{_HAN}{{2,14}}?"
            forms.append(rf"{name}(?:{either})(?!{_IN_WORD})" if self._blanks else rf"{name}(?:{either})")
        if cues.company_forms_first:
            forms.append(rf"(?<!{_IN_WORD})(?:{_either(cues.company_forms_first)})[ ]{_first_name(cues)}")
        return ("employer", regex.compile("|".join(forms), regex.V1)) if forms else None

    def _schools(self, cues: LanguageCues) -> tuple[str, regex.Pattern[str]] | None:
        if not cues.school_words:
            return None
        either = _either(cues.school_words)
        if not self._blanks:
            return "school", regex.compile(rf"{_HAN}{{2,12}}?(?:{either})", regex.V1)
        more = rf"(?:[ ](?:{_CASED_WORD}|d[aeo]s?|im\.?|w|i|von|van|nr[ ]\d+)){{1,6}}"
        around = rf"(?:{_CASED_WORD}[ ]){{0,4}}(?<!{_IN_WORD})(?i:{either})(?!{_IN_WORD}){more}"
        behind = rf"(?:{_CASED_WORD}[ ]){{1,4}}(?i:{either})(?!{_IN_WORD})"
        return "school", regex.compile(rf"{around}|{behind}", regex.V1)


def _first_name(cues: LanguageCues) -> str:
    """What stands behind a company's legal form: capitalised words, or two to four words of a script without capitals."""
    cased = all(word[:1].upper() != word[:1].lower() for word in cues.company_forms_first)
    return rf"{_CASED_WORD}(?:[ ]{_CASED_WORD}){{0,4}}" if cased else r"[\p{L}\p{M}]+(?:[ ][\p{L}\p{M}]+){0,3}"


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


ADDRESS_RULES: Final = "address rules"
_NUMBERED, _BARE = 0.75, 0.5  # how sure with a number in it, and without
_HOUSE: Final = r"\d{1,5}(?:[ ]?[A-Za-z](?!\p{L}|\.[ ]?\d))?(?:[/\-](?:\d{1,5}[A-Za-z]?|[IVX]{1,4}(?![\p{L}]))){0,2}"
_CASED: Final = r"(?:(?:\p{Ll}{1,4}|\p{Lu}|Dr|Prof|Gen|Cel|Eng|St[ao]?)\.[ ])?\p{Lu}[\p{L}\p{M}'’\-]{0,30}"
_UNCASED: Final = r"[\p{L}\p{M}]{2,30}"
_SMALL: Final = r"d[aeo]s?|e|van|der|den|de|het|i|im|\d{1,2}"
_BETWEEN: Final = r"(?:[ ]?[,،][ \n]?|[ ]?[-–—][ ]|[ ]|\n)"
_NUMBER_SIGN: Final = r"(?:,?[ ](?:nr\.?|n\.?º|nº|no\.?|số|رقم|नं\.?)?[ ]?)"
_LETTER: Final = r"[\p{L}\p{M}]"


class AddressRules:
    """Finds addresses by *cues*, in texts of *locale*."""

    def __init__(self, cues: LanguageCues, locale: str) -> None:
        self._expression = _han() if locale.startswith("zh") else _with_blanks(cues, locale)

    def read(self, text: str) -> Iterator[RuleFinding]:
        """Yield the addresses in *text*."""
        if self._expression is None:
            return
        for match in self._expression.finditer(text):
            start, end = match.span()
            while text[end - 1] in " .,-":
                end -= 1
            sure = _NUMBERED if any(map(str.isnumeric, text[start:end])) else _BARE
            yield RuleFinding(start, end, "address", sure, ADDRESS_RULES)


def _with_blanks(cues: LanguageCues, locale: str) -> regex.Pattern[str] | None:
    """A street, then parts of an address. Repeats are possessive, so that matching stays linear."""
    cased = locale[:2] not in {"ar", "hi"}
    name = _CASED if cased else _UNCASED
    # Several words: "Juiz de Fora", "Den Haag"; in scripts without capitals three at most, since nothing tells where a name ends.
    names = rf"{name}(?:[ ](?:(?:{_SMALL})[ ]){{0,2}}{name})" + ("{0,4}+" if cased else "{0,2}+")
    streets = []
    if cues.street_before:
        street = rf"(?:(?:{_SMALL})[ ]){{0,2}}(?:{names})"
        before = rf"(?:(?:(?i:số|no\.?)[ ])?{_HOUSE}[ ])?(?<!{_LETTER})(?i:{_either(cues.street_before)})"
        streets.append(rf"{before}[ ]?(?:{street}|{_HOUSE})(?:{_NUMBER_SIGN}{_HOUSE})?")
    if cues.street_behind:
        head = rf"(?:{name}[ ]){{0,2}}\p{{Lu}}[\p{{L}}\p{{M}}'’\-]{{0,30}}?[ ]?"
        streets.append(rf"{head}(?:{_either(cues.street_behind)})(?!{_LETTER}){_NUMBER_SIGN}{_HOUSE}")
    if not streets:
        return None
    parts = [_HOUSE]
    if cues.units:
        parts.append(rf"(?i:{_either(cues.units)})(?!{_LETTER})(?:[ .:#]{{0,2}}(?:{_HOUSE}|\p{{Lu}}(?!{_LETTER})))?")
    if cues.areas:
        parts.append(rf"(?i:{_either(cues.areas)})(?!{_LETTER})[ .]{{0,2}}(?:{names}|\d{{1,3}})")
    if locale in cues.postcodes:
        code = rf"(?<![\p{{L}}\d])(?:{cues.postcodes[locale]})(?![\p{{L}}\d])"
        parts.insert(0, rf"{code}(?:[ ](?:{names}))?")
        parts.append(rf"(?:{names}){_BETWEEN}(?:{code}|\p{{Lu}}{{2}}(?!{_LETTER}))")
    if cues.links:
        parts.append(rf"(?:{_either(cues.links)})[ ]{names}")
    if cities := cues.cities.get(locale):
        parts.append(rf"(?:{_either(cities)})(?!{_LETTER})")
    return regex.compile(rf"(?:{'|'.join(streets)})(?:{_BETWEEN}(?:{'|'.join(parts)})){{0,8}}+", regex.V1)


def _han() -> regex.Pattern[str]:
    """From large to small: province, city, district, road and number, building, unit, room."""
    han = r"[\p{Han}--[是为在于到址住位寄至往回即叫从去来和与给写]]"  # no word that leads to an address is a part of it
    large = rf"(?:{han}{{2,8}}?(?:省|自治区|特别行政区|市|地区|州|盟))"
    middle = rf"(?:{han}{{1,8}}?(?:区|县|旗|镇|乡|街道|开发区|新区))"
    road = rf"(?:{han}{{1,10}}?(?:大道|路|街|巷|胡同|弄|道|村|通|坊|径|台|湾))"
    digits = r"[\p{Nd}一二三四五六七八九十]{1,6}(?:[-–][\p{Nd}]{1,5})?"
    number = rf"(?:[ ]?第?{digits}[ ]?(?:号楼|号院|号|弄|栋|幢|座|楼|层|单元|室|房|巷|街|组|大牌))"
    more = rf"(?:{han}{{2,12}}?(?:小区|花园|大厦|公寓|广场|新村|家园|苑|城|里|园))"
    unit = r"(?:[ ,，]{0,2}#[\p{Nd}]{1,3}-[\p{Nd}]{1,5})"
    code = r"(?:[ ,，]{0,2}(?:新加坡|邮编|邮区)?[ :：(（]{0,2}[\p{Nd}]{6}(?!\p{Nd})[)）]?)"
    block = r"(?:(?:大牌|座|Blk|BLK)[ ]?[\p{Nd}]{1,4}[A-Z]?[ ,，]{0,2})"
    street = rf"(?:{large}{{0,2}}{middle}{{0,2}}{road}|{large}{middle}{{1,2}})"
    tail = rf"(?:{more}|{number}|{unit}|[ ]?[\p{{Nd}}]{{3,4}}(?![\p{{Nd}}]))"
    numbered = rf"{block}?{street}{more}?{number}{tail}{{0,6}}+{code}?"
    blocks = rf"{block}{street}(?:[ ]?[\p{{Nd}}]{{1,3}})?{tail}{{0,4}}+{code}?"
    return regex.compile(f"{numbered}|{blocks}", regex.V1)
