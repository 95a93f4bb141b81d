"""Addresses: a street's cue word with its name and number, and what belongs to an address behind it, in scripts with blanks and in Han."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final

import regex

from piiloom.detection.hybrid.offline.cues import LanguageCues
from piiloom.detection.hybrid.offline.finding import RuleFinding

FINDER: Final = "address rules"
_NUMBERED, _BARE = 0.75, 0.5  # how sure with a number in it, and without
_HOUSE: Final = r"\d{1,5}(?:[ ]?[A-Za-z](?!\p{L}|\.[ ]?\d))?(?:[/\-](?:\d{1,5}[A-Za-z]?|[IVX]{1,4}(?![\p{L}]))){0,2}"
_CASED: Final = r"(?:(?:\p{Ll}{1,4}|\p{Lu}|Dr|Prof|Gen|Cel|Eng|St[ao]?)\.[ ])?\p{Lu}[\p{L}\p{M}'’\-]{0,30}"
_UNCASED: Final = r"[\p{L}\p{M}]{2,30}"
_SMALL: Final = r"d[aeo]s?|e|van|der|den|de|het|i|im|\d{1,2}"
_BETWEEN: Final = r"(?:[ ]?[,،][ \n]?|[ ]?[-–—][ ]|[ ]|\n)"
_NUMBER_SIGN: Final = r"(?:,?[ ](?:nr\.?|n\.?º|nº|no\.?|số|رقم|नं\.?)?[ ]?)"
_WORD: Final = r"[\p{L}\p{M}]"


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
            yield RuleFinding(start, end, "address", sure, FINDER)


def _with_blanks(cues: LanguageCues, locale: str) -> regex.Pattern[str] | None:
    """A street, then parts of an address. Repeats are possessive, so that matching stays linear."""
    cased = locale[:2] not in {"ar", "hi"}
    name = _CASED if cased else _UNCASED
    # Several words: "Juiz de Fora", "Den Haag"; in scripts without capitals three at most, since nothing tells where a name ends.
    names = rf"{name}(?:[ ](?:(?:{_SMALL})[ ]){{0,2}}{name})" + ("{0,4}+" if cased else "{0,2}+")
    streets = []
    if cues.street_before:
        street = rf"(?:(?:{_SMALL})[ ]){{0,2}}(?:{names})"
        before = rf"(?:(?:(?i:số|no\.?)[ ])?{_HOUSE}[ ])?(?<!{_WORD})(?i:{_either(cues.street_before)})"
        streets.append(rf"{before}[ ]?(?:{street}|{_HOUSE})(?:{_NUMBER_SIGN}{_HOUSE})?")
    if cues.street_behind:
        head = rf"(?:{name}[ ]){{0,2}}\p{{Lu}}[\p{{L}}\p{{M}}'’\-]{{0,30}}?[ ]?"
        streets.append(rf"{head}(?:{_either(cues.street_behind)})(?!{_WORD}){_NUMBER_SIGN}{_HOUSE}")
    if not streets:
        return None
    parts = [_HOUSE]
    if cues.units:
        parts.append(rf"(?i:{_either(cues.units)})(?!{_WORD})(?:[ .:#]{{0,2}}(?:{_HOUSE}|\p{{Lu}}(?!{_WORD})))?")
    if cues.areas:
        parts.append(rf"(?i:{_either(cues.areas)})(?!{_WORD})[ .]{{0,2}}(?:{names}|\d{{1,3}})")
    if locale in cues.postcodes:
        code = rf"(?<![\p{{L}}\d])(?:{cues.postcodes[locale]})(?![\p{{L}}\d])"
        parts.insert(0, rf"{code}(?:[ ](?:{names}))?")
        parts.append(rf"(?:{names}){_BETWEEN}(?:{code}|\p{{Lu}}{{2}}(?!{_WORD}))")
    if cues.links:
        parts.append(rf"(?:{_either(cues.links)})[ ]{names}")
    if cities := cues.cities.get(locale):
        parts.append(rf"(?:{_either(cities)})(?!{_WORD})")
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


def _either(words: Iterable[str]) -> str:
    return "|".join(regex.escape(word) for word in sorted(words, key=lambda word: (-len(word), word)))
