"""Places that the text puts beside a placeholder: "[CITY], Germany" gets a town there, "[CITY], TX" one in Texas.

The parts of an address before it ("[STREET], [ZIP] [CITY], Germany") are of the same place.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import cache
from importlib.resources import files
from typing import Final

from piiloom.foundation.words import any_of
from piiloom.foundation.yaml_files import FileModel, load_yaml
from piiloom.surrogates.kinds.kind import ELSEWHERE, WITHIN
from piiloom.surrogates.kinds.locations import places_of
from piiloom.surrogates.mentions import Mention

_TOWNS: Final = frozenset({"city", "location"})
_OF_PLACES: Final = _TOWNS | {"address", "postcode", "region", "street"}
_BEGINS: Final = frozenset({",", "("})
_BESIDE: Final = re.compile(r"[\s,]{0,3}")


class _CountriesFile(FileModel):
    countries_named: dict[str, list[str]]


def told_by_place_names(text: str, mentions: Sequence[Mention], country: str) -> Sequence[Mention]:
    """Return *mentions* with the form of those whose country, or whose region of *country*, stands right behind them.

    All mentions of one place have one form. If there are none, they are the same object.
    """
    forms: dict[int, str] = {}
    for number, mention in enumerate(mentions):
        if mention[2] in _OF_PLACES and not mention[6] and text[mention[1] : mention[1] + 2].lstrip(" ")[:1] in _BEGINS:
            form = _form(text, mention, country)
            if form:
                forms |= dict.fromkeys(_parts_before(text, mentions, number), form)
    if not forms:
        return mentions
    shared = {_key(mentions[number]): form for number, form in forms.items()}
    shared.pop(None, None)
    told = [forms.get(number) or ("" if mention.form else shared.get(_key(mention), "")) for number, mention in enumerate(mentions)]
    return [_placed(mention, form) if form else mention for mention, form in zip(mentions, told, strict=True)]


def _parts_before(text: str, mentions: Sequence[Mention], last: int) -> Iterator[int]:
    """Yield *last* and the numbers of the parts of an address right before it."""
    yield last
    for number in range(last - 1, -1, -1):
        part = mentions[number]
        if part.kind not in _OF_PLACES or part.form or not _BESIDE.fullmatch(text, part.end, mentions[number + 1].start):
            return
        yield number


def _form(text: str, mention: Mention, country: str) -> str:
    found = _pattern(country).match(text, mention.end)
    if found is None:
        return ""
    name = found["name"]
    code = _codes().get(name)
    if code is None:
        return f"{WITHIN}{name}" if mention.kind in _TOWNS else ""
    return f"{ELSEWHERE}{code}" if code != country else ""


def _placed(mention: Mention, form: str) -> Mention:
    """Return *mention* with *form*; an unspecified place in a region is a town, and no region."""
    return mention._replace(form=form, kind="city" if mention.kind == "location" and form.startswith(WITHIN) else mention.kind)


def _key(mention: Mention) -> tuple[str, str, str, str] | None:
    """Return what the mentions of one place have in common; None if there is one mention only."""
    if mention.kind not in _OF_PLACES or (mention.same == "mention" and not mention.index and not mention.original):
        return None
    return mention.kind, mention.role, mention.index, mention.original


@cache
def _codes() -> dict[str, str]:
    read = load_yaml(files("piiloom.surrogates") / "data" / "words" / "countries_named.yaml", _CountriesFile).countries_named
    return {name: code for code, names in read.items() for name in names}


@cache
def _pattern(country: str) -> re.Pattern[str]:
    """Return the pattern of the name of a country, or of a region of *country* or its abbreviation, behind a comma or in brackets."""
    regions = {name for region in places_of(country).regions for name in (region.name, region.short) if name}
    names = sorted({*_codes(), *regions}, key=len, reverse=True)
    return re.compile(rf"(?:,\s{{1,2}}|\s?\()(?:[tT]he )?(?P<name>{any_of(names)})(?![\w-]|\.\w)")
