"""Join placeholders that are parts of one name: "[FIRST_NAME] [LAST_NAME]", "Nombre: [NOMBRE] Apellidos: [APELLIDOS]".

Numbers of such parts often count names and not people ("[**First Name 12**] [**Last Name 34**]"): what stands together is one person
whatever the numbers, and each part alone later on is the same person.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Final, NamedTuple

from piiloom.surrogates.documents import Mention
from piiloom.surrogates.known_names import PartOfName, birth_name_told, is_one_name, labels, unaccented
from piiloom.surrogates.mention_rules import GENERAL, RuleContext

KNOWN_PATIENT: Final = "known patient"  # MIMIC's "Known lastname": whatever its number, the one patient of the document
PATIENT: Final = "patient"
_PARTS: Final[Mapping[str, PartOfName]] = {"given": "given", "family": "family", "initials": "middle"}
_FAR: Final = 40  # code points between two parts of a name, at most
_CLOSE: Final = frozenset({"", " ", "\u00a0", "  ", ", ", ",", ",  ", ". "})
_WORD: Final = re.compile(r"[^\W\d_]+")
_LABELLED: Final = re.compile(r"[^:=\n]{2,32}?\s?[\"']?\s?[:=]\s*[\"'(]?$")


class _NamePiece(NamedTuple):
    number: int
    part: PartOfName
    labelled: bool


def joined_names(text: str, mentions: Sequence[Mention], context: RuleContext) -> Sequence[Mention]:
    """Return *mentions* with the parts of each name joined: their form, role and index. The same object if there is nothing to join."""
    if not _may_join(mentions):
        return mentions
    runs = _runs(text, mentions)
    known = any(mention[3] == KNOWN_PATIENT for mention in mentions)
    if not runs and not known:
        return mentions
    out = list(mentions)
    if known:
        for number, mention in enumerate(out):
            if mention.role == KNOWN_PATIENT:
                out[number] = mention._replace(role=PATIENT, index="", same="document" if mention.same == "mention" else mention.same)
    originals: dict[int, str] = {}
    named: dict[tuple[str, str, str], tuple[str, str]] = {}
    for run in runs:
        _join(text, run, out, originals, named)
    if named:
        _name_alone(out, named, {piece.number for run in runs for piece in run})
    context.whole_names = originals
    return out


def _may_join(mentions: Sequence[Mention]) -> bool:
    """Whether two people are named close together, or MIMIC's patient is: a cheap check that rules out most documents."""
    end = -_FAR - 1
    for mention in mentions:
        if mention[2] == "person":
            if mention[0] - end <= _FAR or mention[3] == KNOWN_PATIENT:
                return True
            end = mention[1]
        else:
            end = -_FAR - 1
    return False


def _runs(text: str, mentions: Sequence[Mention]) -> list[list[_NamePiece]]:
    """Return the parts of each name that is written as several mentions."""
    found: list[list[_NamePiece]] = []
    run: list[_NamePiece] = []
    whole = _words_of_whole_names(mentions)
    for number, mention in enumerate(mentions):
        if mention[2] != "person":
            run = []
            continue
        start = mention[0]
        if run and start - mentions[number - 1][1] <= _FAR:
            gap = text[mentions[number - 1][1] : start]
            last = mentions[number - 1]
            if birth_name_told(gap) and _one_person(last, mention) and mention.index in {"", last.index}:
                piece: _NamePiece | None = _NamePiece(number, "birth", True)
            else:
                piece = _next_piece(gap, run, mentions, number, whole)
            if piece is not None:
                if len(run) == 1:
                    found.append(run)
                run.append(piece)
                continue
        run = [_NamePiece(number, *_first_part(text, mention))]
    return [run for run in found if _whole(run)]


def _first_part(text: str, mention: Mention) -> tuple[PartOfName, bool]:
    part = _PARTS.get(mention.form, "")
    if part:
        return part, False
    start = mention.start
    if start > 3 and (text[start - 1] in ":=" or text[start - 2] in ":="):
        label = _label(text[max(0, start - _FAR) : start].rpartition("\n")[2])
        if label:
            return label, True
    return "", False


def _label(head: str) -> PartOfName | None:
    """Return the part of a name that the label at the end of *head* announces, by its last words."""
    words = [unaccented(word) for word in _WORD.findall(head)] if _LABELLED.search(head) else []
    for count in (3, 2, 1):
        part = labels().get(" ".join(words[-count:])) if len(words) >= count else None
        if part:
            return part
    return None


def _words_of_whole_names(mentions: Sequence[Mention]) -> frozenset[str]:
    """Return the words (folded) of all known originals of several words."""
    names = {mention[8] for mention in mentions if mention[8] and mention[2] == "person"}
    return frozenset(unaccented(word) for name in names if not is_one_name(name) for word in _WORD.findall(name))


def _next_piece(gap: str, run: list[_NamePiece], mentions: Sequence[Mention], number: int, whole: frozenset[str]) -> _NamePiece | None:
    """Return mention *number* as the next part of the name in *run*, or None if it is somebody else's.

    *gap* is what stands between, *whole* are the words of names that are known as a whole.
    """
    mention, last = mentions[number], mentions[run[-1].number]
    label = labels().get(" ".join(unaccented(word) for word in _WORD.findall(gap))) if gap not in _CLOSE else None
    if gap not in _CLOSE and (label is None or not any(sign in gap for sign in ":=")):
        return None
    if not _one_person(last, mention) or (mention.plural and mention.form != "family"):
        return None
    part: PartOfName = label or _PARTS.get(mention.form, "")
    before = run[-1].part
    if not part:
        part = _untold(gap, before, last, mention, whole)
        if not part:
            return None
    parts = {piece.part for piece in run}
    blank = not gap.strip()
    match part:
        case "family" if "family" in parts:
            part = "second"
            fits = before == "family" and (blank or label is not None) and len(run) > 1
        case "family":
            fits = before in {"given", "middle"} or (before == "" and (blank or label is not None))
        case "given" if "given" in parts:
            part = "middle"
            fits = before in {"given", "middle"} and blank
        case "given":
            fits = before == "family" or label is not None
        case "middle":
            fits = before in {"given", "middle"}
        case _:
            fits = before == "family"
    return _NamePiece(number, part, label is not None) if fits else None


def _untold(gap: str, before: PartOfName, last: Mention, mention: Mention, whole: frozenset[str]) -> PartOfName:
    """Return the part of a name that a mention which does not tell it is, right after *last*; "" if it is somebody else."""
    if gap != " ":
        return ""
    if before == "given" and last.form == "given":
        return "family"
    one, two = last.original, mention.original
    if one and one != two and is_one_name(one) and is_one_name(two) and whole.isdisjoint((unaccented(one), unaccented(two))):
        return "family"  # detectors of words give "Tom" and "Bos" as two
    return ""


def _one_person(last: Mention, mention: Mention) -> bool:
    """Whether two tags may name one person: their roles are equal, or one of them tells no role."""
    return last.role == mention.role or last.role in GENERAL or mention.role in GENERAL


def _whole(run: list[_NamePiece]) -> bool:
    parts = [piece.part for piece in run]
    if parts[-1] == "birth":
        return True
    return any(part in {"family", "second"} for part in parts) and any(part in {"given", "", "middle"} for part in parts)


def _join(
    text: str, run: list[_NamePiece], out: list[Mention], originals: dict[int, str], named: dict[tuple[str, str, str], tuple[str, str]]
) -> None:
    """Give all parts in *run* one role and index, and each its form; note in *named* what each numbered part stands for."""
    members = [out[piece.number] for piece in run]
    role, index = _identity(run, members, named)
    if any(one.original for one in members):
        last = next(one for piece, one in zip(reversed(run), reversed(members), strict=True) if piece.part != "birth" or piece is run[0])
        whole_name = text[members[0].start : last.end]
        originals.update({piece.number: whole_name for piece in run})
    for piece, one in zip(run, members, strict=True):
        out[piece.number] = one._replace(role=role, index=index, same="document", form=_form(piece, run, one.form), plural=False)
        if one.index and one.index != index:
            named.setdefault(_key(one, piece.part), (role, index))


def _form(piece: _NamePiece, run: list[_NamePiece], told: str) -> str:
    """Return the form of a part of the name *run*; *told* is the one that its tag tells."""
    first, names = run[0], [one for one in run if one.part != "birth"]
    if not piece.part and piece is first and len(names) == 1:
        return told  # "[NAME] née [NAME]"
    if told == "initials":
        return "given_initials" if piece is first else "middle_initial"
    return piece.part or "given"


def _identity(run: list[_NamePiece], members: list[Mention], named: Mapping[tuple[str, str, str], tuple[str, str]]) -> tuple[str, str]:
    """Return role and index of the person whose name *members* are: those of the member that tells a role, or of its number."""
    told = next((one for one in members if one.role not in GENERAL and one.same != "mention"), None)
    if told is not None:
        return told.role, told.index
    numbers = [one.index for one in members if one.index]
    if numbers and len(set(numbers)) == 1:
        return members[0].role, numbers[0]
    keys = [_key(one, piece.part) for piece, one in zip(run, members, strict=True) if one.index]
    known = {named[key] for key in keys if key in named}
    if len(known) == 1 and all(key in named for key in keys):
        return known.pop()  # the same two parts stood together before
    return members[0].role, f"+{run[0].number}"


def _key(mention: Mention, part: PartOfName) -> tuple[str, str, str]:
    return mention.role, "family" if part in {"family", "second"} else "given", mention.index


def _name_alone(out: list[Mention], named: Mapping[tuple[str, str, str], tuple[str, str]], joined: set[int]) -> None:
    """Give a numbered part that stands alone to the person of whose name it is a part elsewhere; numbers count names here, not people."""
    for number, mention in enumerate(out):
        if mention.kind != "person" or not mention.index or number in joined:
            continue
        part = _PARTS.get(mention.form, "")
        if part in {"given", "family"}:
            found = named.get(_key(mention, part))
            out[number] = mention._replace(role=found[0], index=found[1]) if found else mention._replace(index=f"{part} {mention.index}")
