"""What placeholders that stand close together tell of each other.

Nobody writes one value twice at once: "Tel. [PHONE], mobile [PHONE]", "from [CITY] to [CITY]", "a [AGE] and a [AGE] boy" are two. The
parts of an address are one place: a country beside a town is the texts' own, and "[LOCATION], [LOCATION]" is a town and its region.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache
from importlib.resources import files
from typing import Final

from piiloom.foundation.words import any_of
from piiloom.foundation.yaml_files import FileModel, load_yaml
from piiloom.surrogates.mentions import Mention
from piiloom.surrogates.placeholders.verdicts import CONTACT

OWN_INDEX: Final = "+"  # begins the index of what is told apart, or joined, in this document alone
ADDRESS_PARTS: Final = frozenset({"city", "region", "postcode", "street", "address"})
_TOLD_APART: Final = ADDRESS_PARTS | {"phone", "fax", "email", "url", "age", "username"}
_CLOSE: Final = 24  # code points between two placeholders that stand side by side, at most
_BLANK: Final = re.compile(r"[\s,;/|?()·•-]*")
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
    if not close:
        return mentions
    out = list(mentions)
    for number in close:
        _tell(text, out, number)
    _tell_places(text, out, close)
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
    if mention.kind == "country" and before.kind in ADDRESS_PARTS and not mention.original and _BLANK.fullmatch(gap):
        out[number] = mention._replace(form="own")
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
        if run and (run[-1] != number - 1 or not _BLANK.fullmatch(text, mentions[run[-1]].end, mention.start)):
            if len(run) > 1:
                break
            run = []
        run.append(number)
    return run if len(run) > 1 else []
