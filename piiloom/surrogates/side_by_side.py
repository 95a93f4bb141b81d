"""What placeholders that stand close together tell of each other.

Nobody writes one value twice at once: "Tel. [PHONE], mobile [PHONE]", "from [CITY] to [CITY]", "a [AGE] and a [AGE] boy" are two. The
parts of an address are one place: a country beside a town is the texts' own, and "[LOCATION], [LOCATION]" is a town and its region.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Sequence
from functools import cache
from importlib.resources import files
from typing import Final

from piiloom.foundation.words import any_of
from piiloom.foundation.yaml_files import FileModel, load_yaml
from piiloom.surrogates.day_roles import role_before
from piiloom.surrogates.kinds.calendars import month_words
from piiloom.surrogates.kinds.dates import PART
from piiloom.surrogates.mentions import Mention
from piiloom.surrogates.placeholders.reading import CONTACT
from piiloom.surrogates.placeholders.settling import DAY

OWN_INDEX: Final = "+"  # begins the index of what is told apart, or joined, in this document alone
ADDRESS_PARTS: Final = frozenset({"city", "region", "postcode", "street", "address"})
_BEHIND_STREETS: Final = frozenset({"city", "region", "postcode"})
_TOLD_APART: Final = ADDRESS_PARTS | {"phone", "fax", "email", "url", "age", "username"}
_DATES: Final = frozenset({"date", "birth_date"})
_PARTS_OF_DATES: Final = _DATES | {"month", "year", "birth_year", "weekday"}
_TO: Final = re.compile(r"\s?[-–]\s?")
_SIGNS_OF_DATES: Final = frozenset("/-.")
_WITHIN_DATE: Final = re.compile(r"[\s,./-]{1,3}(?:(?:of|the|de|del|di|do|da|den|van)\s)?", re.IGNORECASE)
_MONTH_BEFORE: Final = re.compile(r"([^\W\d_]{3,})\.?\s\Z")
_MONTH_AFTER: Final = re.compile(r"(?:st|nd|rd|th|er|\.|º)?(?:\s(?:of|de|di))?\s([^\W\d_]{3,})")
_DIGIT_AFTER: Final = re.compile(r"[/.-]\d")
_BESIDE_STREET: Final = re.compile(r",?\s(?:n(?:r|o|ro|[º°])?\.?\s?)?", re.IGNORECASE)
_CLOSE: Final = 24  # code points between two placeholders that stand side by side, at most
BLANK: Final = re.compile(r"[\s,;/|?()·•-]*")
_SAME: Final = re.compile(r"[\s(\[<]*mailto:|\s*\(?=\s*")  # "[EMAIL] (mailto:[EMAIL])"
_LABELLED: Final = re.compile(r"[\s,;.|)-]*[^\W\d_][\w. ]{0,16}[:#]\s*-?")
_PAIR: Final = re.compile(r"\s?,\s?")


class _JoinersFile(FileModel):
    joiners: list[str]
    beside: list[str]
    labels: list[str]


@cache
def _joined() -> re.Pattern[str]:
    """Return the pattern of what joins two values of one kind that are not the same."""
    known = load_yaml(files("piiloom.surrogates") / "data" / "words" / "side_by_side.yaml", _JoinersFile)
    joiners, beside, labels = map(any_of, (known.joiners, known.beside, known.labels))
    joined = rf"[\s,;/|&*.)-]*(?:\b(?:{joiners})\b)?\s*(?:\b(?:{labels})\b)?[\s,.:*(-]*(?:\b(?:{beside})\b\s*){{0,3}}"
    return re.compile(joined, re.IGNORECASE)


def told_by_neighbours(text: str, mentions: Sequence[Mention]) -> Sequence[Mention]:
    """Return *mentions* with what close ones tell of each other. If they tell nothing, they are the same object."""
    close = _close(mentions)
    if not close and not any(mention[6] == DAY for mention in mentions):
        return mentions
    out = list(mentions)
    for number in close:
        _tell(text, out, number)
    _tell_places(text, out, close)
    _tell_dates(text, out, close)
    _tell_houses(text, out, close)
    return out


def _close(mentions: Sequence[Mention]) -> list[int]:
    """Return the numbers of values that stand close behind another value: a cheap check that rules out most documents."""
    found: list[int] = []
    reached = -1  # up to where the next value stands close
    for number, mention in enumerate(mentions):
        if mention[2] == "person":
            reached = -1
            continue
        if mention[0] <= reached:
            found.append(number)
        reached = mention[1] + _CLOSE
    return found


def _tell(text: str, out: list[Mention], number: int) -> None:
    before, mention = out[number - 1], out[number]
    gap = text[before.end : mention.start]
    if mention.kind == "country" and before.kind in ADDRESS_PARTS and not mention.original and BLANK.fullmatch(gap):
        out[number] = mention._replace(form="own")
    if before.kind == "address" and mention.kind in _BEHIND_STREETS and not (before.form or before.original) and BLANK.fullmatch(gap):
        out[number - 1] = before._replace(form="alone")  # the town has a tag of its own
    if mention.kind == before.kind == "money" and before.form in {"symbol", "code"} and gap in {"", " "}:
        out[number] = mention._replace(form="bare")  # "[CURRENCY_SYMBOL][AMOUNT]"
        return
    if mention.kind == before.kind == "email" and mention.role != before.role and CONTACT in {mention.role, before.role}:
        at = number if mention.role == CONTACT else number - 1
        out[at] = out[at]._replace(kind="phone")  # "[CONTACT] [EMAIL]" are two ways to reach somebody
        return
    if mention.kind != before.kind or mention.kind not in _TOLD_APART or mention.original or mention.role != before.role:
        return
    if mention.kind == "age" and mention.form and not before.form and _joined().fullmatch(gap):
        before = out[number - 1] = before._replace(form=mention.form)  # "a [AGE] and a [AGE] boy"
    apart = before.index.startswith(OWN_INDEX)
    if mention.index or (before.index and not apart) or mention.form != before.form:
        return
    if _SAME.fullmatch(gap):
        index = before.index if apart else f"{OWN_INDEX}{number}"
        out[number - 1], out[number] = before._replace(index=index), mention._replace(index=index)
    elif _joined().fullmatch(gap) or _LABELLED.fullmatch(gap):
        out[number] = mention._replace(index=f"{OWN_INDEX}{number}")


def _tell_dates(text: str, out: list[Mention], close: Sequence[int]) -> None:
    """Make parts of one date agree: "[MONTH] [DAY], [YEAR]" and "[DAY]/[MONTH]/2019" are one day, written by what stands between."""
    runs: list[list[int]] = []
    behind = set(close)
    for number, mention in enumerate(out):
        if mention.kind not in _PARTS_OF_DATES or mention.original or mention.index or mention.form not in {"", DAY}:
            continue
        run = runs[-1] if runs and runs[-1][-1] == number - 1 and number in behind else []
        if mention.form == DAY and len(run) > 1 and out[run[0]].form == DAY and text.startswith(",", out[run[0]].end):
            out[run[0]] = out[run[0]]._replace(kind="weekday", form="")  # "[DAY], [MONTH] [DAY]"
        parts = [_part_of_date(out[one]) for one in run]
        if run and _WITHIN_DATE.fullmatch(text, out[number - 1].end, mention.start) and _part_of_date(mention) not in parts:
            run.append(number)
        else:
            runs.append([number])
    for run in runs:
        _tell_date(text, out, run)
    for one, two in itertools.pairwise(runs):
        first, last = out[one[-1]], out[two[0]]
        if first.form == DAY and last.form == f"{PART}{DAY}" and _TO.fullmatch(text, first.end, last.start):
            out[one[-1]] = last._replace(start=first.start, end=first.end, form=f"{PART}start", rule=first.rule)


def _part_of_date(mention: Mention) -> str:
    """Return which part of a date *mention* is: "day", "month", "year", "weekday", or "" for all of it."""
    return mention.form if mention.kind in _DATES else mention.kind.removeprefix("birth_")


def _tell_date(text: str, out: list[Mention], run: Sequence[int]) -> None:
    first, last = out[run[0]], out[run[-1]]
    parts = {_part_of_date(out[number]) for number in run}
    before, after = _MONTH_BEFORE.search(text, max(0, first.start - _CLOSE), first.start), _MONTH_AFTER.match(text, last.end)
    named = any(month is not None and month[1].casefold() in month_words() for month in (before, after))
    signs = {text[last.end : last.end + 2][:1]} if _DIGIT_AFTER.match(text, last.end) else set()
    signs.update(text[out[one - 1].end : out[one].start] for one in run[1:])
    digits = bool(signs) and signs <= _SIGNS_OF_DATES
    if not (DAY in parts and (named or len(run) > 1 or digits)) and not ("" in parts and len(run) > 1) and not (len(run) > 1 and digits):
        return
    born = any(out[number].kind.startswith("birth") for number in run) or role_before(text, first.start, 0) == "birth"
    index = "" if born else f"{OWN_INDEX}{run[0]}"
    for number in run:
        mention, part = out[number], _part_of_date(out[number])
        form = f"{PART}{'0' * (digits and part in {DAY, 'month'})}{part}" if part else mention.form
        out[number] = mention._replace(kind="birth_date" if born else "date", role=first.role, index=index, form=form, same="document")


def _tell_houses(text: str, out: list[Mention], close: Sequence[int]) -> None:
    """Make a number beside a street the number of a house: "[STREET] [NUMBER]", "[NUMÉRO] [RUE]"."""
    for number in close:
        one, two = out[number - 1], out[number]
        if {one.kind, two.kind} == {"number", "street"} and _BESIDE_STREET.fullmatch(text, one.end, two.start):
            at = number if two.kind == "number" else number - 1
            out[at] = out[at]._replace(kind="address", form="house", role=one.role if at == number else two.role)


def _tell_places(text: str, out: list[Mention], close: Sequence[int]) -> None:
    """Make the unspecified places of a list towns, and of two with a comma between a town and its region."""
    runs: list[list[int]] = []
    for number in close:
        one, two = out[number - 1], out[number]
        if not (_unspecified(one) and _unspecified(two, first=False)) or not _joined().fullmatch(text[one.end : two.start]):
            continue
        if runs and runs[-1][-1] == number - 1:
            runs[-1].append(number)
        else:
            runs.append([number - 1, number])
    for run in runs:
        index = f"{OWN_INDEX}{run[0]}"
        if len(run) == 2 and _PAIR.fullmatch(text, out[run[0]].end, out[run[1]].start):
            for number, kind in zip(run, ("city", "region"), strict=True):
                out[number] = out[number]._replace(kind=kind, index=index, same="document")
        else:
            for number in run:
                out[number] = out[number]._replace(kind="city", index=f"{OWN_INDEX}{number}", same="document")


def _unspecified(mention: Mention, *, first: bool = True) -> bool:
    """Whether a tag says no more than that it is a place; of the *first* one the text may have told that it is a town."""
    told = mention.kind == "location" or (first and mention.kind == "city" and "city" not in mention.rule.casefold())
    return told and mention.same == "mention" and not mention.index and not mention.original and not mention.form


def address_run(text: str, mentions: Sequence[Mention], values: Sequence[int]) -> list[int]:
    """Return the numbers (of *values*) of the first two or more parts of an address that only signs separate, none if there are none."""
    run: list[int] = []
    for number in values:
        mention = mentions[number]
        if mention.kind not in ADDRESS_PARTS or mention.original:
            continue
        if run and (run[-1] != number - 1 or not BLANK.fullmatch(text, mentions[run[-1]].end, mention.start)):
            if len(run) > 1:
                break
            run = []
        run.append(number)
    return run if len(run) > 1 else []
