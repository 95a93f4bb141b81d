"""People who are named by letters: which of a document's letters are one person.

French judgments say "Mme [B] [K]" first and "Mme [K]" or "[K]" afterwards, or "M. Jean X..." and "M. X...".
"""

from __future__ import annotations

from collections import defaultdict
from typing import Final

from piiloom.surrogates.mentions import Gender, Mention

LETTER: Final = "letter"
_DOTS: Final = "..."
_Known = defaultdict[str, dict[str, Gender | None]]


def join_letters(mentions: list[Mention]) -> None:
    """Give the mentions of a person by family letter alone the role and the index of that person, where the document has only one.

    Men and women who share a letter, and of whom no given name is known, are made two people.
    """
    alone = [n for n, one in enumerate(mentions) if one.kind == "person" and one.role == LETTER and len(one.index) == 1]
    if not alone:
        return
    wholes, titled = _known(mentions)
    genders: dict[str, set[Gender]] = defaultdict(set)
    for one in (mentions[number] for number in alone):
        if one.gender is not None:
            genders[one.index].add(one.gender)
    for number in alone:
        one = mentions[number]
        if one.index in wholes:
            mentions[number] = one._replace(index=_meant(wholes[one.index], one.gender) or one.index)
        elif one.rule.endswith(_DOTS) and one.index in titled:
            mentions[number] = one._replace(role=_meant(titled[one.index], one.gender) or one.role)
        elif len(genders[one.index]) > 1 and one.gender == "female":
            mentions[number] = one._replace(index=f"{one.index} f")


def _known(mentions: list[Mention]) -> tuple[_Known, _Known]:
    """Return by family letter the indexes of the people with a given name, and the roles of those with a title; each with its gender."""
    wholes: _Known = defaultdict(dict)
    titled: _Known = defaultdict(dict)
    for one in mentions:
        if one.kind != "person":
            continue
        if one.role == LETTER and " " in one.index:
            known = wholes[one.index[-1]]
            known[one.index] = one.gender or known.get(one.index)
        elif one.rule.endswith("{letter}") and one.role != LETTER:
            titled[one.index][one.role] = one.gender
    return wholes, titled


def _meant(known: dict[str, Gender | None], gender: Gender | None) -> str:
    """Return the only one of *known* that can be of *gender*, or ""."""
    fitting = [name for name, other in known.items() if gender is None or other in {None, gender}]
    return fitting[0] if len(fitting) == 1 else ""
