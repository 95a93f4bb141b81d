"""People who are named by letters: which of a document's letters are one person, and which part of the name each letter is.

French judgments say "Mme [B] [K]" first and "Mme [K]", "[K]" or "[B]" afterwards, or "M. Jean X..." and "M. X...". Each letter stands
for one name: "[B] [K]" and "[D] [K]" bear one family name.
"""

from __future__ import annotations

from collections import defaultdict
from typing import Final

from piiloom.surrogates.mentions import Gender, Mention
from piiloom.surrogates.name_labels import birth_name_told, family_told

LETTER: Final = "letter"
# The kinds that a letter can turn out to be. On equal votes the first one wins.
LETTER_KINDS: Final = ("person", "company", "city", "employer", "organisation", "hospital", "school")
_DOTS: Final = "..."
_Known = defaultdict[str, dict[str, Gender | None]]


def join_letters(text: str, mentions: list[Mention]) -> None:
    """Give the mentions of a person by one letter the role and the index of that person, and the form that the letter is.

    A letter after a title or "les époux" is a family name. Else it is the family name, or the given name, of somebody with two
    letters. Of several people it is the one who was named last. Men and women who share a letter, and of whom no given name is known,
    are made two people.
    """
    _join_compounds(mentions)
    alone = [n for n, one in enumerate(mentions) if one.kind == "person" and one.role == LETTER and len(one.index) == 1]
    if not alone:
        return
    families, givens, titled = _known(mentions)
    others: dict[str, tuple[str, Gender | None]] = {}  # by letter of a birth name or married name, who bears it, with their gender
    genders: dict[str, set[Gender]] = defaultdict(set)
    for number in alone:
        one = mentions[number]
        if one.gender is not None:
            genders[one.index].add(one.gender)
        before = mentions[number - 1] if number else one
        if before.role == LETTER and birth_name_told(text[before.end : one.start]):
            others[one.index] = before.index, before.gender
            mentions[number] = one._replace(index=before.index, form="birth")
    for number in alone:
        one, letter = mentions[number], mentions[number].index
        if one.form == "birth":
            continue
        couple = family_told(text, one.start)
        told = "family" if one.gender or couple else ""
        family = _meant(families[letter], one.gender, mentions, number)
        given = "" if told else _meant(givens[letter], None, mentions, number)
        bearer, gender = others.get(letter, ("", None))
        if bearer and not family and not couple and one.gender in {None, gender}:
            mentions[number] = one._replace(index=bearer, form="birth")
        elif family or given:
            mentions[number] = one._replace(index=family or given, form="family" if family else "given")
        elif one.rule.endswith(_DOTS) and len(titled[letter]) == 1:
            mentions[number] = one._replace(role=_meant(titled[letter], one.gender, mentions, number) or one.role)
        else:
            other = len(genders[letter]) > 1 and one.gender == "female"
            mentions[number] = one._replace(index=f"{letter}+f" if other else letter, form=one.form or told)


def _join_compounds(mentions: list[Mention]) -> None:
    """Give "[P]-[S]" to the person "[T] [P]-[S]" whose family name has these letters."""
    wholes = {one.index for one in mentions if one.role == LETTER and one.index.count(" ") > 1}
    for number, one in enumerate(mentions) if wholes else ():
        if one.role == LETTER and " " in one.index:
            whole = next((index for index in wholes if index.endswith(f" {one.index}")), "")
            mentions[number] = one._replace(index=whole, form="family") if whole else one


def family_letter(index: str) -> str:
    """Return the letter of the family name of who is named by the letters *index*: "l b", "b.a", "n", "n+f"."""
    return index.partition("+")[0].replace(".", " ").split(" ")[-1]


def _known(mentions: list[Mention]) -> tuple[_Known, _Known, _Known]:
    """Return by family letter, and by given letter, the indexes of the people with both, and the roles of those with a title.

    Each comes with its gender.
    """
    families: _Known = defaultdict(dict)
    givens: _Known = defaultdict(dict)
    titled: _Known = defaultdict(dict)
    for one in mentions:
        if one.kind != "person":
            continue
        if one.role == LETTER and " " in one.index:
            gender = one.gender or families[one.index[-1]].get(one.index)
            families[one.index[-1]][one.index] = givens[one.index[0]][one.index] = gender
        elif one.rule.endswith("{letter}") and one.role != LETTER:
            titled[one.index][one.role] = one.gender
    return families, givens, titled


def _meant(known: dict[str, Gender | None], gender: Gender | None, mentions: list[Mention], number: int) -> str:
    """Return the one of *known* that can be of *gender*; of several the one mentioned last before *number*, else the first; or ""."""
    fitting = [name for name, other in known.items() if gender is None or other in {None, gender}]
    if len(fitting) < 2:
        return fitting[0] if fitting else ""
    return next((mentions[at].index for at in range(number - 1, -1, -1) if mentions[at].index in fitting), fitting[0])
