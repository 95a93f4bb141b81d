"""Turn verdicts into mentions; the surrounding text decides what a tag leaves open."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Sequence
from functools import cache
from typing import Final

from piiloom.surrogates.kinds.calendars import in_month, year_follows
from piiloom.surrogates.kinds.companies import form_precedes
from piiloom.surrogates.kinds.registry import fills_masks
from piiloom.surrogates.mentions import Mention
from piiloom.surrogates.placeholders.grammar import grammars_file
from piiloom.surrogates.placeholders.reading import CONTACT, MASK, NUMBER, UNTOLD, Meaning, Verdict
from piiloom.surrogates.placeholders.scanning import Candidate, end_of_initials
from piiloom.surrogates.placeholders.surroundings import GUESS, LETTER, LETTER_KINDS, Cue, Cues, join_letters

_PARTY: Final = ("person", "company")  # the kinds that a party to a lawsuit can turn out to be; on equal votes the first one wins
_LETTER_ROLES: Final = frozenset({LETTER, "letters"})

# The kinds that a placeholder for a number can turn out to be: "@NUM1 years old", "DNI NUM001".
_NUMBERS: Final = frozenset(
    "age phone fax national_id tax_id passport bank_account payment_card medical_record case_number policy_number postcode".split()
)
# What a way to reach somebody ("[CONTACT]") and an unspecified place ("[LOCATION]") can turn out to be.
_REACHED: Final = frozenset({"email", "phone", "fax", "address", "url", "username", "person"})
_PLACED: Final = frozenset({"city", "address", "hospital", "school", "university", "employer"})
# What a number in brackets can turn out to be, in rulings in which letters in brackets are names.
_NAMED_BY_NUMBER: Final = frozenset(LETTER_KINDS) - {"person", "city"}
_NUMBERED: Final = re.compile(r"\[[^\W\d_][^\[\]{}]+ \{index\}\]")
_STARRED_WORDS: Final = re.compile(r"([*█▇■_])\1+(?: \1+)+")
_FULL_STOP: Final = re.compile(r"\.(?:[ \u00a0][a-zà-ÿ(]|[,;:)])")
_INITIALS: Final = re.compile(r"[A-Z](?:\.[ -]?[A-Z])+\.?")
_FRENCH_ARTICLE: Final = re.compile(r"(?<!\w)(?:l[ae]s?[ \u00a0]|l['’]|du[ \u00a0]|aux?[ \u00a0])\Z", re.IGNORECASE)
_LONGEST_ARTICLE: Final = 8
_DAYS: Final = frozenset({"date", "birth_date"})
DAY: Final = "day"  # the form of a tag for a day, "[DAY]": a date, or the day in one
_YEARS: Final = {"year": "date", "birth_year": "birth_date"}
_REFINED: Final = _DAYS | _YEARS.keys() | {"location", "number"}

_Key = tuple[str, str]


class Settling:
    """Appends the mentions of one document to *mentions*.

    Call ``place`` for each candidate in text order, then ``finish``, which corrects the kinds that depend on the whole document.
    """

    def __init__(self, text: str, cues: Cues, mentions: list[Mention]) -> None:
        self._text = text
        self._cues = cues
        self._mentions = mentions
        self._open: list[tuple[int, Candidate, Verdict]] = []
        self._votes: dict[_Key, Counter[str]] = {}
        self._told: tuple[int, Cue] | None = None  # the end of the last mask, and what stood beside it

    def place(self, candidate: Candidate, verdict: Verdict) -> str:
        """Append a mention for *candidate* and return ""; or return the reason if the text does not tell what it stands for."""
        meaning = verdict.meaning
        if meaning.context:
            told = self._told_by_text(candidate, verdict)
            if told is None:
                return UNTOLD
            meaning = told
        elif meaning.kind in _REFINED or meaning.role == CONTACT:
            meaning = self._refined(candidate, verdict, meaning)
        elif self._cues.has_forms(meaning.kind):
            meaning = self._formed(candidate, meaning)
        self._mentions.append(_mention(candidate, verdict, meaning))
        return ""

    def _told_by_text(self, candidate: Candidate, verdict: Verdict) -> Meaning | None:
        """Return the meaning of a tag that the text decides, for this mention or by votes for the document; None: it does not."""
        meaning = verdict.meaning
        cue = self._cue(candidate, meaning)
        if meaning.context == "mention":
            if cue is None and meaning.kind == "generic":
                return None
            if cue is not None:
                kept = meaning.form if meaning.kind != "generic" or fills_masks(cue.kind) else ""
                meaning = meaning._replace(kind=cue.kind, form=cue.form or kept, gender=cue.gender or meaning.gender)
        if cue is None or meaning.context == "document":
            self._open.append((len(self._mentions), candidate, verdict))
        if meaning.context == "document" and cue is not None and cue.kind == meaning.kind == "person":
            meaning = meaning._replace(gender=meaning.gender or cue.gender)
        if meaning.kind == "person" and meaning.role != LETTER and _STARRED_WORDS.fullmatch(candidate.literal):
            meaning = meaning._replace(form="full")  # "Dr. ***** ******"
        if meaning.context == "mention":
            meaning = self._formed(candidate, meaning)
        if cue is not None:
            self._votes.setdefault((meaning.role, meaning.index), Counter())[cue.kind] += 1
        return meaning

    def _cue(self, candidate: Candidate, meaning: Meaning) -> Cue | None:
        """Return what stands beside *candidate*, or what stood beside the one that it is joined to: "XXXX, XXXX and XXXX".

        Guesses count only for masks, which say nothing themselves and stand for everything.
        """
        cue = self._cues.around(self._text, candidate.start, candidate.end, untold=meaning.kind == "generic")
        if meaning.role == CONTACT:
            return self._reached(candidate, cue)
        if meaning.role != MASK and cue is not None and cue.sure < GUESS:
            cue = None
        if meaning.kind != "generic":
            return cue
        if (cue is None or cue.sure < GUESS) and self._told is not None:
            end, told = self._told
            cue = told if _joined().fullmatch(self._text, end, candidate.start) else cue
        if (
            cue is not None
            and cue.kind == "person"
            and _determined().search(self._text, max(0, candidate.start - _LONGEST_ARTICLE), candidate.start)
        ):
            cue = None  # "the XXXX is not mine"
        self._told = (candidate.end, cue) if cue is not None else None
        return cue

    def _reached(self, candidate: Candidate, cue: Cue | None) -> Cue | None:
        """Return what tells how somebody is reached at *candidate*: *cue*, which stands right beside it, or words further before it."""
        if cue is not None and cue.sure >= GUESS and cue.kind in _REACHED:
            return cue
        told = self._cues.contact(self._text, candidate.start, candidate.end)
        return Cue(told, "", None, 1) if told else None

    def _refined(self, candidate: Candidate, verdict: Verdict, meaning: Meaning) -> Meaning:
        """Refine *meaning*: a birth date, a date before its year, a location that is an address or a school, what a number is."""
        ranged = self._text[candidate.end : candidate.end + 1] in {"-", "."}  # "[YEAR]-2019"
        if meaning.kind in _YEARS and not (ranged or verdict.original) and year_follows().match(self._text, candidate.end):
            meaning = meaning._replace(kind=_YEARS[meaning.kind])  # "born on [YEAR OF BIRTH] 1981" hides the day and the month
        if meaning.kind in _DAYS:
            meaning = self._dated(candidate, meaning, told=bool(verdict.original))
        elif meaning.kind == "location":
            meaning = self._located(candidate, verdict, meaning)
        elif meaning.role == CONTACT:
            cue = self._reached(candidate, self._cues.around(self._text, candidate.start, candidate.end))
            meaning = meaning if cue is None else meaning._replace(kind=cue.kind)
        elif meaning.kind == "number":
            cue = self._cues.around(self._text, candidate.start, candidate.end)
            if cue is not None and cue.kind in _NUMBERS:
                meaning = meaning._replace(kind=cue.kind)
        return self._formed(candidate, meaning)

    def _dated(self, candidate: Candidate, meaning: Meaning, *, told: bool) -> Meaning:
        """Recognize a birth date, and what of a date the text does not have itself; not *told*: its original is unknown."""
        if meaning.kind == "date" and self._cues.born(self._text, candidate.start):
            meaning = meaning._replace(kind="birth_date", same="document")
        if told or meaning.form == DAY or not year_follows().match(self._text, candidate.end):
            return meaning
        sign = self._text[candidate.end]
        if sign in "-/.":
            return meaning._replace(form="day_slash_month" if sign == "/" else f"mask:XX{sign}XX")
        inside = in_month().search(self._text, max(0, candidate.start - _LONGEST_ARTICLE), candidate.start)
        return meaning._replace(form="month" if inside and meaning.kind == "date" else "day_and_month")

    def _located(self, candidate: Candidate, verdict: Verdict, meaning: Meaning) -> Meaning:
        """Recognize a street address by its original, and a town, a school … by what stands beside it."""
        if _address().match(verdict.original):
            return meaning._replace(kind="address")
        if meaning.same == "mention" and not (meaning.index or meaning.form or verdict.original):
            cue = self._cues.around(self._text, candidate.start, candidate.end)
            if cue is not None and cue.kind in _PLACED and cue.sure >= 1:
                return meaning._replace(kind=cue.kind)
        return meaning

    def _formed(self, candidate: Candidate, meaning: Meaning) -> Meaning:
        """Add the form that the text asks for, unless the tag itself says one."""
        if meaning.form:
            return meaning
        form = self._cues.form(meaning.kind, self._text, candidate.start, candidate.end)
        return meaning._replace(form=form) if form else meaning

    def place_numbers(self, candidates: Sequence[Candidate]) -> set[int]:
        """Append mentions for those *candidates*, numbers in brackets, that are companies: "la SAS [7]". Return where they begin.

        In French rulings a number in brackets is a company beside letters in brackets and numbered tags; elsewhere it is a reference. A
        legal form before one number tells it, too. Each number is one company in a document.
        """
        system = any(mention.role == LETTER or _NUMBERED.fullmatch(mention.rule) for mention in self._mentions)
        votes: dict[str, Counter[str]] = {}
        for candidate in candidates:
            cue = self._cues.around(self._text, candidate.start, candidate.end) if system else None
            kind = cue.kind if cue is not None and cue.sure >= GUESS else ""
            if form_precedes(self._text, candidate.start) or (
                system and _FRENCH_ARTICLE.search(self._text, max(0, candidate.start - _LONGEST_ARTICLE), candidate.start)
            ):
                kind = kind or "company"  # no reference follows an article
            if kind in _NAMED_BY_NUMBER:
                votes.setdefault(candidate.literal, Counter())[kind] += 1
        found = [candidate for candidate in candidates if candidate.literal in votes]
        for start, end, _, literal in found:
            kind = votes[literal].most_common(1)[0][0]
            self._mentions.append(Mention(start, end, kind, role=LETTER, index=literal[1:-1], rule=NUMBER))
        self._mentions.sort()
        return {candidate.start for candidate in found}

    def place_companies(self, candidates: Sequence[tuple[Candidate, Verdict]]) -> set[int]:
        """Append mentions for the letters of companies among *candidates* ("Firma A."), if the document shows that letters are names.

        It does by a letter with a full stop that ends no sentence, a letter before a legal form, or letters of people. Return where they
        begin. "Company A" alone is nobody.
        """
        found = [(*self._lettered(candidate), verdict) for candidate, verdict in candidates if verdict.meaning.kind == "company"]
        names = any(one.role == LETTER or one.rule.endswith("{letter}") for one in self._mentions)
        if not names and not any(dotted for _, _, dotted, _ in found):
            return set()
        for start, end, _, verdict in found:
            self._mentions.append(Mention(start, end, "company", role=LETTER, index=verdict.meaning.index, rule=verdict.family))
        self._mentions.sort()
        return {start for start, _, _, _ in found}

    def _lettered(self, candidate: Candidate) -> tuple[int, int, bool]:
        """Return the place of a letter, with its full stop if that ends no sentence, and whether it has one."""
        start, end = candidate.start, candidate.end
        if self._text[end - 1] == ".":
            return start, end, True
        dotted = _FULL_STOP.match(self._text, end) is not None
        return start, end + dotted, dotted

    def finish(self) -> None:
        """Give every open mention the kind that most cues in the document support for its role and index."""
        for place, candidate, verdict in self._open:
            meaning = verdict.meaning
            votes = self._votes.get((meaning.role, meaning.index))
            if not votes:
                continue
            allowed = LETTER_KINDS if meaning.role in _LETTER_ROLES else _PARTY
            kind = max((meaning.kind, *allowed), key=lambda name: votes[name])
            if kind != meaning.kind and votes[kind]:
                changed = self._formed(candidate, meaning._replace(kind=kind, plural=False, gender=None, form=""))
                self._mentions[place] = _mention(candidate, verdict, changed)
        join_letters(self._text, self._mentions)
        self._place_initials()

    def _place_initials(self) -> None:
        """Append mentions for the initials that are a person after a title, "Mr. A.B.", at their other places in the document."""
        text, mentions = self._text, self._mentions
        titled = {
            text[one.start : one.end].rstrip("."): one for one in mentions if one.kind == "person" and _INITIALS.match(text, one.start)
        }
        taken = {one.start for one in mentions}
        for initials, one in titled.items():
            for found in re.finditer(rf"(?<![\w.]){re.escape(initials)}", text):
                start, end = found.start(), end_of_initials(text, found.start())
                if start not in taken and end and text[start:end].rstrip(".") == initials:
                    mentions.append(one._replace(start=start, end=end))
        if len(mentions) > len(taken):
            mentions.sort()


@cache
def _address() -> re.Pattern[str]:
    """Return the pattern of a street address: a digit and a word for a street."""
    return re.compile(rf"(?=.*\d).*\b(?:{'|'.join(grammars_file().streets)})\b", re.IGNORECASE | re.DOTALL)


@cache
def _joined() -> re.Pattern[str]:
    """Return the pattern of what joins two masks of one kind."""
    return re.compile(rf",? (?:(?:{'|'.join(grammars_file().joiners)}) )?|/")


@cache
def _determined() -> re.Pattern[str]:
    """Return the pattern of a small word before a mask that is nobody."""
    return re.compile(rf"\b(?:{'|'.join(grammars_file().determiners)})\s+\Z", re.IGNORECASE)


# Building named tuples with ``tuple.__new__`` takes half the time of calling their class.
_new_mention: Callable[[type[Mention], tuple[object, ...]], Mention] = tuple.__new__


def _mention(candidate: Candidate, verdict: Verdict, meaning: Meaning) -> Mention:
    kind, role, index, same, form, gender, plural, _, _, number, _, _ = meaning
    if number:
        index = f"{index} {number}"
    start, end, _, _ = candidate
    return _new_mention(Mention, (start, end, kind, role, index, same, form, gender, verdict.original, plural, verdict.family))
