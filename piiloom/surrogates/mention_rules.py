"""Rules of who is who: each changes the mentions of a text by what the text tells of them.

General tags without a number are somebody new at each mention, unless the text says otherwise:

- A writer who introduces themselves as "my name is [NAME]" and signs "Sincerely, [NAME]" is one person. Only a text with a single
  introduction counts, as several people introduce themselves in a conversation.
- Tags after the same title are one person: "Mr. [NAME]" in a note about a patient, "mevrouw [naam]" in a judgment. Where one sentence has
  two of one title ("Mr. [NAME] told Mr. [NAME]"), all mentions of that title stay somebody new.

Places that the text puts beside a placeholder count: "[CITY], Germany" gets a town there, "[CITY], TX" one in Texas. The parts of an
address before it ("[STREET], [ZIP] [CITY], Germany") are of the same place. Words beside a name tell that it is a company's: "[naam] B.V.".

Placeholders that are parts of one name are joined: "[FIRST_NAME] [LAST_NAME]", "Nombre: [NOMBRE] Apellidos: [APELLIDOS]". Numbers of such
parts often count names and not people ("[**First Name 12**] [**Last Name 34**]"): what stands together is one person whatever the
numbers, and each part alone later on is the same person.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from itertools import pairwise
from typing import Final, NamedTuple

from piiloom.foundation.words import any_of
from piiloom.foundation.yaml_files import FileModel, load_data
from piiloom.surrogates.documents import Mention
from piiloom.surrogates.kinds.kind import ELSEWHERE, WITHIN
from piiloom.surrogates.kinds.places import country_places
from piiloom.surrogates.kinds.wording import beginnings, company_follows, company_precedes, endings, form_precedes
from piiloom.surrogates.known_names import PartOfName, birth_name_told, is_one_name, labels, unaccented
from piiloom.surrogates.persona_assignment.groups import GenderCues, title_before
from piiloom.surrogates.placeholders.settling import OWN_INDEX


@dataclass(slots=True)
class RuleContext:
    """What the rules read besides text and mentions: cues of the texts' language and their country, if places that they name count.

    ``whole_names``: by mention number, the whole name of which a known original is a part; the rule that joins names sets it.
    """

    cues: GenderCues | None = None
    country: str = ""
    whole_names: Mapping[int, str] = field(default_factory=dict)


GENERAL: Final = frozenset({"", "name"})  # roles of tags that do not say whose name it is
_BEFORE: Final = 32  # code points before a name within which it is announced
_CLOSED: Final = 60  # code points before a name within which the closing of a letter stands
_GAP: Final = re.compile(r"[ \t.,;:!*~_()'\"<>-]*")
_END: Final = re.compile(r"[ \t.,!*~_)'\"-]*(?:\n|\Z)")
_BEGINS: Final = re.compile(r"(?:\A|[.!?\n])[\s*~_(-]*\Z")
_POSSESSED: Final = re.compile(r"['’]s\b")
_TURN: Final = re.compile(r"^[ \t]*[^\s:][^:\n]{0,24}: ", re.MULTILINE)
_FEWEST_TURNS: Final = 3
# What people write beside their signature.
_SIGNED_WITH: Final = frozenset("email phone fax address location city region country occupation url age postcode street".split())


class _WritersFile(FileModel):
    introducing: list[str]
    closing: list[str]


@cache
def _announcing() -> tuple[re.Pattern[str], re.Pattern[str]]:
    """Return the patterns of the words before the name of somebody who introduces themselves, and before a signature."""
    known = load_data("piiloom.surrogates", "words/writers.yaml", _WritersFile)
    introducing, closing = "|".join(known.introducing), "|".join(known.closing)
    return (
        re.compile(rf"(?<!\w)(?:{introducing})\s*[:,]?\s*\Z", re.IGNORECASE),
        re.compile(rf"(?<!\w)(?:{closing})[\s,.;:!*~_-]*\Z", re.IGNORECASE),
    )


def general_tags_told(text: str, mentions: Sequence[Mention], context: RuleContext) -> Sequence[Mention]:
    """Return *mentions* with those by general tags that are one person: the writer's, and those after one title."""
    if "mention" not in [mention[5] for mention in mentions]:
        return mentions
    return _told_by_titles(text, _told_writers(text, mentions), context.cues)


def _told_writers(text: str, mentions: Sequence[Mention]) -> Sequence[Mention]:
    """Return *mentions* with the writer's introduction and signature as one person; the same object if there are none."""
    introduced = list(_introductions(text, mentions))
    if len(introduced) != 1:
        return mentions
    first = introduced[0]
    index = f"{OWN_INDEX}{first}"
    out = list(mentions)
    out[first] = out[first]._replace(index=index, same="document", form=out[first].form or "full")
    signed = [number for number in range(first + 1, len(out)) if _is_signature(text, mentions, number)]
    if len(signed) == 1 and len(_TURN.findall(text)) < _FEWEST_TURNS:
        last = out[signed[0]]
        out[signed[0]] = last._replace(role=out[first].role, index=index, same="document", form=last.form or "given")
    return out


def _introductions(text: str, mentions: Sequence[Mention]) -> Iterator[int]:
    """Yield the numbers of the mentions with which somebody introduces themselves."""
    for number, mention in enumerate(mentions):
        if mention[2] != "person" or not is_anybody(mention) or _POSSESSED.match(text, mention[1]):
            continue
        if _announcing()[0].search(text, max(0, mention[0] - _BEFORE), mention[0]):
            yield number


def is_anybody(mention: Mention) -> bool:
    """Whether a name is redacted by a general tag without a number, which is somebody new at each mention."""
    return mention[2] == "person" and mention[5] == "mention" and mention[3] in GENERAL and not mention[4] and not mention[8]


def _is_signature(text: str, mentions: Sequence[Mention], number: int) -> bool:
    """Whether mention *number* and what is written beside a signature end their line, after a closing or alone at the end of the text."""
    mention = mentions[number]
    if not is_anybody(mention):
        return False
    end = mention.end
    for after in mentions[number + 1 :]:
        if after.kind not in _SIGNED_WITH or not _GAP.fullmatch(text, end, after.start):
            break
        end = after.end
    last = _END.match(text, end)
    if last is None:
        return False
    if _announcing()[1].search(text, max(0, mention.start - _CLOSED), mention.start):
        return True
    alone = text.startswith("\n", last.end()) or not text[last.end() :].strip()  # a blank line follows, or nothing
    return alone and _BEGINS.search(text, 0, mention.start) is not None


_SENTENCE_ENDS: Final = (". ", "! ", "? ", "\n", ".\t")


def _told_by_titles(text: str, mentions: Sequence[Mention], cues: GenderCues | None) -> Sequence[Mention]:
    """Return *mentions* with those after one title as one person; the same object if no title stands before two of them."""
    if cues is None:
        return mentions
    titled: dict[str, list[int]] = {}
    for number, mention in enumerate(mentions):
        if mention[2] == "person" and is_anybody(mention) and not mention[9]:
            title = title_before(text, mention[0], cues)
            if title and title not in cues.professions:
                titled.setdefault(title, []).append(number)
    out: list[Mention] | None = None
    for numbers in titled.values():
        if len(numbers) < 2 or _meet(text, mentions, numbers):
            continue
        out = out or list(mentions)
        for number in numbers:
            out[number] = out[number]._replace(index=f"{OWN_INDEX}{numbers[0]}", same="document")
    return mentions if out is None else out


def _meet(text: str, mentions: Sequence[Mention], numbers: Sequence[int]) -> bool:
    """Whether two of the mentions stand in one sentence."""
    for one, two in pairwise(numbers):
        words = text[mentions[one].end : mentions[two].start].rsplit(maxsplit=1)  # without the title, whose full stop ends no sentence
        if len(words) < 2 or not any(sign in f"{words[0]} " for sign in _SENTENCE_ENDS):
            return True
    return False


_TOWNS: Final = frozenset({"city", "location"})
_OF_PLACES: Final = _TOWNS | {"address", "postcode", "region", "street"}
_GOES_ON: Final = frozenset({",", "("})
_BESIDE: Final = re.compile(r"[\s,]{0,3}")


class _CountriesFile(FileModel):
    countries_named: dict[str, list[str]]


def told_by_place_names(text: str, mentions: Sequence[Mention], context: RuleContext) -> Sequence[Mention]:
    """Return *mentions* with the form of those whose country, or whose region of *country*, stands right behind them.

    All mentions of one place have one form. If there are none, they are the same object.
    """
    if not (country := context.country):
        return mentions
    forms: dict[int, str] = {}
    for number, mention in enumerate(mentions):
        if mention[2] in _OF_PLACES and not mention[6] and text[mention[1] : mention[1] + 2].lstrip(" ")[:1] in _GOES_ON:
            form = _place_form(text, mention, country)
            if form:
                forms |= dict.fromkeys(_parts_before(text, mentions, number), form)
    if not forms:
        return mentions
    shared = {_key_of_place(mentions[number]): form for number, form in forms.items()}
    shared.pop(None, None)
    told = [
        forms.get(number) or ("" if mention.form else shared.get(_key_of_place(mention), "")) for number, mention in enumerate(mentions)
    ]
    return [_placed(mention, form) if form else mention for mention, form in zip(mentions, told, strict=True)]


def _parts_before(text: str, mentions: Sequence[Mention], last: int) -> Iterator[int]:
    """Yield *last* and the numbers of the parts of an address right before it."""
    yield last
    for number in range(last - 1, -1, -1):
        part = mentions[number]
        if part.kind not in _OF_PLACES or part.form or not _BESIDE.fullmatch(text, part.end, mentions[number + 1].start):
            return
        yield number


def _place_form(text: str, mention: Mention, country: str) -> str:
    found = _country_pattern(country).match(text, mention.end)
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


def _key_of_place(mention: Mention) -> tuple[str, str, str, str] | None:
    """Return what the mentions of one place have in common; None if there is one mention only."""
    if mention.kind not in _OF_PLACES or (mention.same == "mention" and not mention.index and not mention.original):
        return None
    return mention.kind, mention.role, mention.index, mention.original


@cache
def _codes() -> dict[str, str]:
    read = load_data("piiloom.surrogates", "words/countries_named.yaml", _CountriesFile).countries_named
    return {name: code for code, names in read.items() for name in names}


@cache
def _country_pattern(country: str) -> re.Pattern[str]:
    """Return the pattern of the name of a country, or of a region of *country* or its abbreviation, behind a comma or in brackets."""
    regions = {name for region in country_places(country).regions for name in (region.name, region.short) if name}
    names = sorted({*_codes(), *regions}, key=len, reverse=True)
    return re.compile(rf"(?:,\s{{1,2}}|\s?\()(?:[tT]he )?(?P<name>{any_of(names)})(?![\w-]|\.\w)")


_SIGNS_BEFORE_FORM = frozenset(",)")


def companies_told(text: str, mentions: Sequence[Mention], _: RuleContext) -> Sequence[Mention]:
    """Return *mentions* with those of people turned into companies that the text tells to be one, at all their places.

    If there is none, they are the same object.
    """
    told, last, found = beginnings(), endings(), []
    for number, mention in enumerate(mentions):
        if mention[2] != "person":
            continue
        start, end = mention[0], mention[1]
        # Hardly any name passes the first check, which is cheap: what follows begins like a legal form.
        if (
            (
                (text[end + 1 : end + 4] in told or (text[end : end + 1] in _SIGNS_BEFORE_FORM and text[end + 2 : end + 5] in told))
                and company_follows(text, end)
            )
            or (text[start - 4 : start - 1] in last and company_precedes(text, start))
            or form_precedes(text, start)
        ):
            found.append(number)
    if not found:
        return _of_parties(mentions)
    keys = {_key_of_company(mentions[number]) for number in found} - {None}
    alone = set(found)
    return _of_parties(
        [
            mention._replace(kind="company", form="", gender=None, plural=False)
            if mention.kind == "person" and (number in alone or _key_of_company(mention) in keys)
            else mention
            for number, mention in enumerate(mentions)
        ]
    )


def _of_parties(mentions: Sequence[Mention]) -> Sequence[Mention]:
    """Let the number of a party that is a company and one person ("[appellante sub 4A]", "[appellant sub 4B]") stand for that person.

    "Hierna tezamen en in enkelvoud: [appellant sub 4]" would be a third name otherwise.
    """
    parties = {(mention[3], mention[4][:-1]) for mention in mentions if mention[2] == "company" and mention[4][-1:].isalpha()}
    if not parties:
        return mentions
    people: dict[tuple[str, str], set[str]] = {}
    for mention in mentions:
        if mention.kind == "person" and (mention.role, mention.index[:-1]) in parties:
            people.setdefault((mention.role, mention.index[:-1]), set()).add(mention.index)
    alone = {party: next(iter(found)) for party, found in people.items() if len(found) == 1}
    return [
        mention._replace(index=alone[mention.role, mention.index])
        if mention.kind == "person" and mention.index[-1:].isdigit() and (mention.role, mention.index) in alone
        else mention
        for mention in mentions
    ]


def _key_of_company(mention: Mention) -> tuple[str, str] | None:
    """Return what the mentions of one person or company have in common; None if there is one mention only."""
    if mention.original:
        return "original", mention.original
    return (mention.role, mention.index) if mention.index or mention.same != "mention" else None


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
    told = (labels().get(" ".join(words[-count:])) for count in (3, 2, 1) if len(words) >= count)
    return next(filter(None, told), None)


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
