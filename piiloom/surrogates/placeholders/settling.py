"""Turn verdicts into mentions; the surrounding text decides what a tag leaves open."""

from __future__ import annotations

import itertools
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Sequence
from functools import cache
from typing import Final

from piiloom.foundation.words import any_of
from piiloom.foundation.yaml_files import FileModel, load_data
from piiloom.pii_values.rewriting.calendars import in_month, month_words, year_follows
from piiloom.surrogates.documents import Mention
from piiloom.surrogates.kinds.dates import PART
from piiloom.surrogates.kinds.kind import fills_masks
from piiloom.surrogates.kinds.wording import form_precedes
from piiloom.surrogates.placeholders.grammar import grammars_file
from piiloom.surrogates.placeholders.reading import CONTACT, MASK, NUMBER, UNTOLD, Meaning, TagVerdict
from piiloom.surrogates.placeholders.scanning import TagCandidate, end_of_initials
from piiloom.surrogates.placeholders.surroundings import GUESS, LETTER, LETTER_KINDS, TagCues, join_letters
from piiloom.surrogates.placeholders.vocabulary import CueEntry
from piiloom.surrogates.time_cues import role_before

# The kinds that a placeholder for a number can turn out to be: "@NUM1 years old", "DNI NUM001".
_NUMBERS: Final = frozenset(
    "age phone fax national_id tax_id passport bank_account payment_card medical_record case_number policy_number postcode".split()
)
# What a way to reach somebody ("[CONTACT]") and an unspecified place ("[LOCATION]") can turn out to be.
# What a number in brackets can turn out to be, in rulings in which letters in brackets are names.
_FULL_STOP: Final = re.compile(r"\.(?:[ \u00a0][a-zà-ÿ(]|[,;:)])")
_INITIALS: Final = re.compile(r"[A-Z](?:\.[ -]?[A-Z])+\.?")
_FRENCH_ARTICLE: Final = re.compile(r"(?<!\w)(?:l[ae]s?[ \u00a0]|l['’]|du[ \u00a0]|aux?[ \u00a0])\Z", re.IGNORECASE)
_LONGEST_ARTICLE: Final = 8
_DAYS: Final = frozenset({"date", "birth_date"})
DAY: Final = "day"  # the form of a tag for a day, "[DAY]": a date, or the day in one
_YEARS: Final = {"year": "date", "birth_year": "birth_date"}
_REFINED: Final = _DAYS | _YEARS.keys() | {"location", "number"}


class Settling:
    """Appends the mentions of one document to *mentions*.

    Call ``place`` for each candidate in text order, then ``finish``, which corrects the kinds that depend on the whole document.
    """

    def __init__(self, text: str, cues: TagCues, mentions: list[Mention]) -> None:
        self._text = text
        self._cues = cues
        self._mentions = mentions
        self._open: list[tuple[int, TagCandidate, TagVerdict]] = []
        self._votes: defaultdict[tuple[str, str], Counter[str]] = defaultdict(Counter)
        self._told: tuple[int, CueEntry] | None = None  # the end of the last mask, and what stood beside it

    def place(self, candidate: TagCandidate, verdict: TagVerdict) -> str:
        """Append a mention for *candidate* and return ""; or return the reason if the text does not tell what it stands for."""
        meaning = verdict.meaning
        if meaning.context:
            if (told := self._told_by_text(candidate, verdict)) is None:
                return UNTOLD
            meaning = told
        elif meaning.kind in _REFINED or meaning.role == CONTACT:
            meaning = self._refined(candidate, verdict, meaning)
        else:
            meaning = self._formed(candidate, meaning)
        self._mentions.append(_mention(candidate, verdict, meaning))
        return ""

    def _told_by_text(self, candidate: TagCandidate, verdict: TagVerdict) -> Meaning | None:
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
        if meaning.kind == "person" and meaning.role != LETTER and re.fullmatch(r"([*█▇■_])\1+(?: \1+)+", candidate.literal):
            meaning = meaning._replace(form="full")  # "Dr. ***** ******"
        if meaning.context == "mention":
            meaning = self._formed(candidate, meaning)
        if cue is not None:
            self._votes[meaning.role, meaning.index][cue.kind] += 1
        return meaning

    def _cue(self, candidate: TagCandidate, meaning: Meaning) -> CueEntry | None:
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
            cue = told if _beside()["joined"].fullmatch(self._text, end, candidate.start) else cue
        if (
            cue is not None
            and cue.kind == "person"
            and _beside()["determined"].search(self._text, max(0, candidate.start - _LONGEST_ARTICLE), candidate.start)
        ):
            cue = None  # "the XXXX is not mine"
        self._told = (candidate.end, cue) if cue is not None else None
        return cue

    def _reached(self, candidate: TagCandidate, cue: CueEntry | None) -> CueEntry | None:
        """Return what tells how somebody is reached at *candidate*: *cue*, which stands right beside it, or words further before it."""
        if cue is not None and cue.sure >= GUESS and cue.kind in {"email", "phone", "fax", "address", "url", "username", "person"}:
            return cue
        told = self._cues.contact(self._text, candidate.start, candidate.end)
        return CueEntry(kind=told) if told else None

    def _refined(self, candidate: TagCandidate, verdict: TagVerdict, meaning: Meaning) -> Meaning:
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

    def _dated(self, candidate: TagCandidate, meaning: Meaning, *, told: bool) -> Meaning:
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

    def _located(self, candidate: TagCandidate, verdict: TagVerdict, meaning: Meaning) -> Meaning:
        """Recognize a street address by its original, and a town, a school … by what stands beside it."""
        if _beside()["address"].match(verdict.original):
            return meaning._replace(kind="address")
        if meaning.same == "mention" and not (meaning.index or meaning.form or verdict.original):
            cue = self._cues.around(self._text, candidate.start, candidate.end)
            if cue is not None and cue.kind in {"city", "address", "hospital", "school", "university", "employer"} and cue.sure >= 1:
                return meaning._replace(kind=cue.kind)
        return meaning

    def _formed(self, candidate: TagCandidate, meaning: Meaning) -> Meaning:
        """Add the form that the text asks for, unless the tag itself says one."""
        form = "" if meaning.form else self._cues.form(meaning.kind, self._text, candidate.start, candidate.end)
        return meaning._replace(form=form) if form else meaning

    def place_numbers(self, candidates: Sequence[TagCandidate]) -> set[int]:
        """Append mentions for those *candidates*, numbers in brackets, that are companies: "la SAS [7]". Return where they begin.

        In French rulings a number in brackets is a company beside letters in brackets and numbered tags; elsewhere it is a reference. A
        legal form before one number tells it, too. Each number is one company in a document.
        """
        numbered = re.compile(r"\[[^\W\d_][^\[\]{}]+ \{index\}\]")
        system = any(mention.role == LETTER or numbered.fullmatch(mention.rule) for mention in self._mentions)
        votes: defaultdict[str, Counter[str]] = defaultdict(Counter)
        for candidate in candidates:
            cue = self._cues.around(self._text, candidate.start, candidate.end) if system else None
            kind = cue.kind if cue is not None and cue.sure >= GUESS else ""
            if form_precedes(self._text, candidate.start) or (
                system and _FRENCH_ARTICLE.search(self._text, max(0, candidate.start - _LONGEST_ARTICLE), candidate.start)
            ):
                kind = kind or "company"  # no reference follows an article
            if kind in set(LETTER_KINDS) - {"person", "city"}:
                votes[candidate.literal][kind] += 1
        found = [candidate for candidate in candidates if candidate.literal in votes]
        for start, end, _, literal in found:
            kind = votes[literal].most_common(1)[0][0]
            self._mentions.append(Mention(start, end, kind, role=LETTER, index=literal[1:-1], rule=NUMBER))
        self._mentions.sort()
        return {candidate.start for candidate in found}

    def place_companies(self, candidates: Sequence[tuple[TagCandidate, TagVerdict]]) -> set[int]:
        """Append mentions for the letters of companies among *candidates* ("Firma A."), if the document shows that letters are names.

        It does by a letter with a full stop that ends no sentence, a letter before a legal form, or letters of people. Return where they
        begin. "Company A" alone is nobody.
        """
        text = self._text
        found = [(candidate.start, candidate.end, verdict) for candidate, verdict in candidates if verdict.meaning.kind == "company"]
        # A letter is replaced with its full stop, if that ends no sentence.
        ends = [end + (text[end - 1] != "." and _FULL_STOP.match(text, end) is not None) for _, end, _ in found]
        names = any(one.role == LETTER or one.rule.endswith("{letter}") for one in self._mentions)
        if not names and not any(text[end - 1] == "." for end in ends):
            return set()
        for (start, _, verdict), end in zip(found, ends, strict=True):
            self._mentions.append(Mention(start, end, "company", role=LETTER, index=verdict.meaning.index, rule=verdict.family))
        self._mentions.sort()
        return {start for start, _, _ in found}

    def finish(self) -> None:
        """Give every open mention the kind that most cues in the document support for its role and index."""
        for place, candidate, verdict in self._open:
            meaning = verdict.meaning
            votes = self._votes[meaning.role, meaning.index]
            # What a letter, or a party to a lawsuit, can be; on equal votes the first one wins.
            allowed = LETTER_KINDS if meaning.role in {LETTER, "letters"} else ("person", "company")
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
def _beside() -> dict[str, re.Pattern[str]]:
    """Return the patterns of a street address, of what joins two masks of one kind, and of a small word before a mask that is nobody."""
    known = grammars_file()
    streets, joiners, determiners = map("|".join, (known.streets, known.joiners, known.determiners))
    return {
        "address": re.compile(rf"(?=.*\d).*\b(?:{streets})\b", re.IGNORECASE | re.DOTALL),
        "joined": re.compile(rf",? (?:(?:{joiners}) )?|/"),
        "determined": re.compile(rf"\b(?:{determiners})\s+\Z", re.IGNORECASE),
    }


# Building named tuples with ``tuple.__new__`` takes half the time of calling their class.
_new_mention: Callable[[type[Mention], tuple[object, ...]], Mention] = tuple.__new__


def _mention(candidate: TagCandidate, verdict: TagVerdict, meaning: Meaning) -> Mention:
    kind, role, index, same, form, gender, plural, _, _, number, _, _ = meaning
    if number:
        index = f"{index} {number}"
    start, end, _, _ = candidate
    return _new_mention(Mention, (start, end, kind, role, index, same, form, gender, verdict.original, plural, verdict.family))


OWN_INDEX: Final = "+"  # begins the index of what is told apart, or joined, in this document alone
ADDRESS_PARTS: Final = frozenset({"city", "region", "postcode", "street", "address"})
_TOLD_APART: Final = ADDRESS_PARTS | {"phone", "fax", "email", "url", "age", "username"}
_DATES: Final = frozenset({"date", "birth_date"})
_PARTS_OF_DATES: Final = _DATES | {"month", "year", "birth_year", "weekday"}
_TO: Final = re.compile(r"\s?[-–]\s?")
_WITHIN_DATE: Final = re.compile(r"[\s,./-]{1,3}(?:(?:of|the|de|del|di|do|da|den|van)\s)?", re.IGNORECASE)
_MONTH_BEFORE: Final = re.compile(r"([^\W\d_]{3,})\.?\s\Z")
_MONTH_AFTER: Final = re.compile(r"(?:st|nd|rd|th|er|\.|º)?(?:\s(?:of|de|di))?\s([^\W\d_]{3,})")
_DIGIT_AFTER: Final = re.compile(r"[/.-]\d")
_BESIDE_STREET: Final = re.compile(r",?\s(?:n(?:r|o|ro|[º°])?\.?\s?)?", re.IGNORECASE)
_CLOSE: Final = 24  # code points between two placeholders that stand side by side, at most
BLANK: Final = re.compile(r"[\s,;/|?()·•-]*")
_PAIR: Final = re.compile(r"\s?,\s?")


class _JoinersFile(FileModel):
    joiners: list[str]
    beside: list[str]
    labels: list[str]


@cache
def _joined_parts() -> re.Pattern[str]:
    """Return the pattern of what joins two values of one kind that are not the same."""
    known = load_data("piiloom.surrogates", "words/side_by_side.yaml", _JoinersFile)
    joiners, beside, labels = map(any_of, (known.joiners, known.beside, known.labels))
    joined = rf"[\s,;/|&*.)-]*(?:\b(?:{joiners})\b)?\s*(?:\b(?:{labels})\b)?[\s,.:*(-]*(?:\b(?:{beside})\b\s*){{0,3}}"
    return re.compile(joined, re.IGNORECASE)


def told_by_neighbours(text: str, mentions: Sequence[Mention], _: object = None) -> Sequence[Mention]:
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
    return [
        number
        for number, (before, mention) in enumerate(itertools.pairwise(mentions), 1)
        if mention[0] <= before[1] + _CLOSE and mention[2] != "person" != before[2]
    ]


def _tell(text: str, out: list[Mention], number: int) -> None:
    before, mention = out[number - 1], out[number]
    gap = text[before.end : mention.start]
    if mention.kind == "country" and before.kind in ADDRESS_PARTS and not mention.original and BLANK.fullmatch(gap):
        out[number] = mention._replace(form="own")
    bare = before.kind == "address" and not (before.form or before.original)
    if bare and mention.kind in {"city", "region", "postcode"} and BLANK.fullmatch(gap):
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
    if mention.kind == "age" and mention.form and not before.form and _joined_parts().fullmatch(gap):
        before = out[number - 1] = before._replace(form=mention.form)  # "a [AGE] and a [AGE] boy"
    apart = before.index.startswith(OWN_INDEX)
    if mention.index or (before.index and not apart) or mention.form != before.form:
        return
    if re.fullmatch(r"[\s(\[<]*mailto:|\s*\(?=\s*", gap):  # "[EMAIL] (mailto:[EMAIL])"
        index = before.index if apart else f"{OWN_INDEX}{number}"
        out[number - 1], out[number] = before._replace(index=index), mention._replace(index=index)
    elif _joined_parts().fullmatch(gap) or re.fullmatch(r"[\s,;.|)-]*[^\W\d_][\w. ]{0,16}[:#]\s*-?", gap):
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
    digits = bool(signs) and signs <= set("/-.")
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
        if not (_unspecified(one) and _unspecified(two, first=False)) or not _joined_parts().fullmatch(text[one.end : two.start]):
            continue
        if runs and runs[-1][-1] == number - 1:
            runs[-1].append(number)
        else:
            runs.append([number - 1, number])
    for run in runs:
        index = f"{OWN_INDEX}{run[0]}"
        if len(run) == 2 and _PAIR.fullmatch(text, out[run[0]].end, out[run[1]].start):
            told = [("city", index), ("region", index)]
        else:
            told = [("city", f"{OWN_INDEX}{number}") for number in run]
        for number, (kind, index) in zip(run, told, strict=True):
            out[number] = out[number]._replace(kind=kind, index=index, same="document")


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
