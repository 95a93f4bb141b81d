"""Days of the dates that the text does not tell, in the order that it states: discharge after admission, nobody seen after their death.

What a date is the date of stands right before it ("Discharge Date: [DATE]") or in its tag (``data/words/day_words.yaml``). The day as of
which ages hold is that of the admission or visit, else the last one; without any date it is the anchor.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from datetime import date, timedelta
from functools import cache
from importlib.resources import files
from typing import Final, Literal, NamedTuple

from pydantic import BaseModel, ConfigDict

from piiloom.foundation.yaml_files import load_yaml
from piiloom.surrogates.kinds.dates import near_days
from piiloom.surrogates.mentions import Mention
from piiloom.surrogates.planning import Plan
from piiloom.surrogates.seeds import below, mix

Role = Literal["birth", "start", "end", "visit", "death", "later", "until", ""]

DAYS: Final = frozenset({"date", "datetime"})
_BEFORE: Final = 40  # code points before a date that may say what it is the date of
_STAY: Final = 21  # most days from a start to its end that are drawn
_AFTERWARDS: Final = 9  # most days from a death to what follows it
_SALT: Final = 0xDA7E
_DATING: Final = frozenset({"age", "birth_date", "birth_year"})
# Between the word and the date: signs, blanks and small words, no other word.
_GAP: Final = r"[\s:=.,(\"'*#-]{0,6}(?:(?:on|op|am|le|el|il|em|den|the|datum|date|fecha|data)\b[\s:.]{0,3}){0,2}$"
_TAG_WORD: Final = re.compile(r"[^\W\d_]+")


class _WordsFile(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)

    words: dict[Literal["birth", "start", "end", "visit", "death", "later", "until"], list[str]]


class Days(NamedTuple):
    """``by_value``: the day of each drawn date, by value number. ``present``: the day as of which ages hold."""

    by_value: Mapping[int, date]
    present: date


@cache
def _file() -> Mapping[Role, list[str]]:
    return load_yaml(files("piiloom.surrogates") / "data" / "words" / "day_words.yaml", _WordsFile).words


@cache
def _words() -> dict[str, Role]:
    return {word: role for role, words in _file().items() if role != "until" for word in words}


@cache
def _until() -> frozenset[str]:
    return frozenset(_file()["until"])


@cache
def _pattern() -> re.Pattern[str]:
    words = "|".join(re.escape(word) for word in sorted(_words(), key=lambda word: (-len(word), word)))
    return re.compile(rf"(?<!\w)({words})(?!\w)" + _GAP, re.IGNORECASE)


def role_of(text: str, mention: Mention, after: int) -> Role:
    """Return what the date at *mention* is the date of; *after* is where the mention before it ends."""
    start = mention.start
    head = text[max(after, start - _BEFORE) : start]
    found = _pattern().search(head)
    if found is not None:
        return _words()[found.group(1).casefold()]
    words = [word.casefold() for word in _TAG_WORD.findall(mention.rule)]
    for count in (3, 2, 1):
        for at in range(len(words) - count + 1):
            role = _words().get(" ".join(words[at : at + count]))
            if role and len(words) > 1 and role != "later":
                return role
    return ""


def planned_days(plan: Plan, value_seed: int, anchor: date) -> Days:
    """Return the days of all dates without an original in *plan*, near *anchor*."""
    firsts: dict[int, int] = {}
    for number, mention in enumerate(plan.mentions):
        if mention[2] in DAYS and not mention[8]:
            firsts.setdefault(plan.values[number], number)
    dating = any(mention[2] in _DATING for mention in plan.mentions)
    if not firsts or (len(firsts) == 1 and not dating):
        return Days({}, anchor)
    days = {value: near_days(mix(value_seed, value), anchor) for value in firsts}
    roles = {
        value: role_of(plan.text, plan.mentions[number], plan.mentions[number - 1].end if number else 0)
        for value, number in firsts.items()
    }
    _tell_ranges(plan, roles, firsts)
    _order_stays(days, roles, value_seed)
    _order_deaths(days, roles, value_seed)
    return Days(days, _present(days, roles))


def _tell_ranges(plan: Plan, roles: dict[int, Role], firsts: Mapping[int, int]) -> None:
    """Make start and end of two dates that a word or a dash joins ("[DATE] to [DATE]")."""
    for value, number in firsts.items():
        if roles[value] or not number:
            continue
        before = plan.values[number - 1]
        gap = plan.text[plan.mentions[number - 1].end : plan.mentions[number].start].strip().casefold()
        if before in firsts and firsts[before] == number - 1 and gap in _until() and roles[before] in {"", "start"}:
            roles[before], roles[value] = "start", "end"


def _order_stays(days: dict[int, date], roles: Mapping[int, Role], seed: int) -> None:
    """Put each end some days after the start that belongs to it: the last one before it in the text that has no end yet."""
    waiting: list[int] = []
    ends: list[int] = []
    for value, role in roles.items():
        if role == "start":
            if ends:
                _stay(days, value, ends.pop(0), seed)
            else:
                waiting.append(value)
        elif role == "end":
            if waiting:
                _stay(days, waiting.pop(), value, seed)
            else:
                ends.append(value)


def _stay(days: dict[int, date], start: int, end: int, seed: int) -> None:
    days[end] = days[start] + timedelta(days=1 + below(mix(seed, _SALT + end), _STAY))


def _order_deaths(days: dict[int, date], roles: Mapping[int, Role], seed: int) -> None:
    """Put the first death after all that does not follow it, and the rest after the death."""
    deaths = [value for value, role in roles.items() if role == "death"]
    if not deaths:
        return
    before = [days[value] for value, role in roles.items() if role not in {"death", "later", "birth"}]
    died = max([*before, days[deaths[0]]])
    if died in before:
        died += timedelta(days=below(mix(seed, _SALT), _AFTERWARDS))
    days[deaths[0]] = died
    for value, role in roles.items():
        if role == "later" and days[value] < died:
            days[value] = died + timedelta(days=1 + below(mix(seed, _SALT + value), _AFTERWARDS))


def _present(days: Mapping[int, date], roles: Mapping[int, Role]) -> date:
    for wanted in ("start", "visit"):
        found: Sequence[date] = [day for value, day in days.items() if roles[value] == wanted]
        if found:
            return found[0]
    alive = [day for value, day in days.items() if roles[value] not in {"birth", "later"}]
    return max(alive or days.values())
