"""The surroundings of a placeholder: code, markup, cues to the redacted value, and letters that name people.

French judgments write "Mme [B] [K]" first and "Mme [K]", "[K]" or "[B]" afterwards, or "M. Jean X..." and "M. X...". Each letter is one
name: "[B] [K]" and "[D] [K]" have one family name.
"""

from __future__ import annotations

import re
from collections import defaultdict
from functools import cache, cached_property
from typing import Final

from piiloom.pii_values.names.regions import Gender
from piiloom.surrogates.documents import Mention
from piiloom.surrogates.known_names import birth_name_told, family_told
from piiloom.surrogates.placeholders.reading import EXEMPTION, Reader, TagVerdict
from piiloom.surrogates.placeholders.scanning import TagCandidate
from piiloom.surrogates.placeholders.vocabulary import LANGUAGES, CueEntry, vocabulary, vocabulary_file

LETTER: Final = "letter"
# The kinds that a letter can turn out to be. On equal votes the first one wins.
LETTER_KINDS: Final = ("person", "company", "city", "employer", "organisation", "hospital", "school")
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
        elif one.rule.endswith("...") and len(titled[letter]) == 1:
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


_WIDTH: Final = 48  # characters looked at on each side
GUESS: Final = 0.4  # less sure cues are guesses
_GAP: Final = r"[\s(\"“'*]*"  # what may stand between a cue and the placeholder
_BRACKET: Final = re.compile(r" ?\(")
_HOLDS_INDEX: Final = frozenset({"_", ")", "]"})
_ADDRESS_AFTER: Final = re.compile(r"\((?:[a-z]+:|[/#.]|www|\S+\.\S+\))|:\s*https?:")
_LINK_AFTER: Final = re.compile(r"\((?:[a-z]+:|[/#.]|www|\S+\.\S+\))|\[[^\]]*\]|:\s*https?:")
_CITATION: Final = re.compile(
    r"(?:\b(?:rules?|sec(?:tions?|s?\.)|(?:sub)?(?:section|paragraph|clause|part|article)s?|exemptions?|under|u\.s\.c\.|c\.f\.r\.)|§)\s*\Z",
    re.IGNORECASE,
)
# Templates have "Dear {name}", and so have programs.
_IN_PROGRAMS: Final = frozenset(
    "curly dollar_curly hash_curly curly_dollar spaced_curly dollar_word small_dollar_word".split()
    + "word_numbered capital_words title_words camel_name at_user quotes double_quotes".split()
)
_LINE: Final = 160
_PROGRAM: Final = re.compile(
    r"^\s+[rbuf]{0,2}[\"']|\b[fF][\"']|`|\.format\(|=>|\(\)|\);|[;{]\s*$|\w ?[-+]?==? ?[\w\"'({\[$]|\w\([\"'\w]"
    r"|=~|\b(?:def|return|import|const|echo|export|elif|foreach|SELECT|INSERT)\b|\b(?:my|let|var) \$?\w+ ="
)


class TagSurroundings:
    """Distinguishes, within one text, ordinary brackets and markup from placeholders."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._holds: dict[str, bool] = {}
        self._closes = "</" in text

    def is_real(self, candidate: TagCandidate, verdict: TagVerdict) -> bool:
        """Whether a tag is ordinary text after all: part of code, markup, a link, a citation or a heading."""
        name = candidate.grammar.name
        if name in _IN_PROGRAMS:
            return self._in_program(candidate)
        if verdict.status == "unknown":
            return self._is_real_unknown(candidate, verdict)
        if name == "angle":
            return self._in_markup(candidate, verdict.markup)
        if name == "square":
            return self._in_code(candidate, verdict)
        if name in {"stars", "round"}:
            return self._of_link(candidate)
        return name in {"double_star", "triple_star"} and self._is_heading(candidate)

    def _is_real_unknown(self, candidate: TagCandidate, verdict: TagVerdict) -> bool:
        """Whether a tag with unknown words is ordinary text: an index, a link, an element with an end, a citation ("Rule (b)(6)")."""
        start, end, grammar, literal = candidate
        if grammar.name == EXEMPTION:
            return _CITATION.search(self._text, max(0, start - _WIDTH), start) is not None
        if grammar.name == "angle":
            return "=" in literal and self._in_markup(candidate, verdict.markup)
        before = self._text[start - 1 : start]
        index = not literal.isupper() and before.isascii() and (before.isalnum() or before in _HOLDS_INDEX)
        return grammar.name == "square" and (index or _ADDRESS_AFTER.match(self._text, end) is not None)

    def _of_link(self, candidate: TagCandidate) -> bool:
        """Whether the tag is the text of a link, or round brackets that are its address: "[LICENSE](LICENSE)"."""
        if candidate.grammar.name == "round":
            return self._text[candidate.start - 1 : candidate.start] == "]"
        return _LINK_AFTER.match(self._text, candidate.end) is not None

    def _anywhere(self, piece: str) -> bool:
        """Whether the text contains *piece*; cached."""
        if piece not in self._holds:
            self._holds[piece] = piece in self._text
        return self._holds[piece]

    def _in_markup(self, candidate: TagCandidate, element: str) -> bool:
        """Whether the text has a closing tag for *element*, or the tag directly follows a word as in ``List<Name>``."""
        if self._closes and element and self._anywhere(f"</{element}>"):
            return True
        if candidate.literal.isupper():
            return False
        before = self._text[candidate.start - 1 : candidate.start]
        return before.isalnum() or before in {"_", "."}

    def _in_code(self, candidate: TagCandidate, verdict: TagVerdict) -> bool:
        """Whether the brackets are an index (``row[name] = 1``), a link, a capital put in, or a ticked checkbox."""
        start, end = candidate.start, candidate.end
        before = self._text[start - 1 : start]
        letter = verdict.meaning.role == "letter"
        if letter and (self._anywhere("[ ]") or self._text[end : end + 1].isalpha()):  # "[W]e hold"
            return True
        if (letter or not candidate.literal.isupper()) and (before.isalnum() or before in _HOLDS_INDEX):
            return True
        if candidate.literal.isupper() and verdict.meaning.kind == "person":
            return False
        return _LINK_AFTER.match(self._text, end) is not None or self._text.startswith(f"({candidate.literal[1:-1]})", end)

    def _in_program(self, candidate: TagCandidate) -> bool:
        """Whether the line is one of a program: "print(f'Hello {name}')", "const x = `${name}`"."""
        start = self._text.rfind("\n", max(0, candidate.start - _LINE), candidate.start) + 1 or max(0, candidate.start - _LINE)
        end = self._text.find("\n", candidate.end, candidate.end + _LINE)
        return _PROGRAM.search(self._text[start : end if end >= 0 else candidate.end + _LINE]) is not None

    def _is_heading(self, candidate: TagCandidate) -> bool:
        """Whether the tag is alone on its line."""
        line = self._text[max(0, candidate.start - _WIDTH) : candidate.start].rpartition("\n")[2]
        after = self._text[candidate.end : candidate.end + 1]
        return not line.strip(" #>-") and (not after or after in ":\r\n")


# What stands before and after a value of one kind, and the form in which it is then written; and any of what stands before.
_Forms = tuple[list[tuple[re.Pattern[str] | None, re.Pattern[str] | None, str]], re.Pattern[str]]


class TagCues:
    """The cue patterns of some languages for the text right before and right after a placeholder."""

    def __init__(self, languages: tuple[str, ...] = LANGUAGES) -> None:
        self._languages = languages
        files = [vocabulary_file(language) for language in languages]
        self._entries = [entry for file in files for entry in file.cues]
        self._form_entries: defaultdict[str, list[CueEntry]] = defaultdict(list)
        for form in (form for file in files for form in file.forms):
            self._form_entries[form.kind].append(form)
        self._forms: dict[str, _Forms] = {}
        self._contacts: defaultdict[str, list[str]] = defaultdict(list)
        for kind, words in (item for file in files for item in file.contacts.items()):
            self._contacts[kind].append(words)

    @cached_property
    def _reader(self) -> Reader:
        return Reader(vocabulary(self._languages))

    # Compiled when they are first needed, since tags that say what they are need no cues, and few kinds have forms.
    @cached_property
    def _birth(self) -> re.Pattern[str]:
        births = [f"(?:{entry.before})" for entry in self._entries if entry.kind == "birth_date" and entry.before]
        return re.compile(f"(?:{'|'.join(births)})[\\s(\"“']*$" if births else "(?!)")

    @cached_property
    def _before(self) -> re.Pattern[str]:
        return re.compile("(?:" + "|".join(f"(?P<c{n}>{e.before})" for n, e in enumerate(self._entries) if e.before) + rf"){_GAP}$")

    @cached_property
    def _after(self) -> re.Pattern[str]:
        return re.compile("|".join(rf"(?P<c{n}>(?:{e.after}))" for n, e in enumerate(self._entries) if e.after))

    @cached_property
    def _contact(self) -> re.Pattern[str]:
        kinds = (f"(?P<{kind}>{'|'.join(words)})" for kind, words in self._contacts.items())
        return re.compile(rf"\b(?:{'|'.join(kinds)})(?!\w)" if self._contacts else "(?!)", re.IGNORECASE)

    def born(self, text: str, start: int) -> bool:
        """Whether the text right before *start* speaks of a birth."""
        return self._birth.search(text[max(0, start - 30) : start]) is not None

    def contact(self, text: str, start: int, end: int) -> str:
        """Return the kind of contact that the words right after or, the last of them, before ``[start, end)`` of *text* tell; or ""."""
        after = _BRACKET.match(text, end)
        told = self._contact.match(text, after.end()) if after else None
        if told is None:
            window = text[max(0, start - _WIDTH) : start]
            window = window[max(window.rfind(sign) for sign in "])}>") + 1 :]
            told = max(self._contact.finditer(window), key=re.Match.start, default=None)
        return (told.lastgroup or "") if told else ""

    def form(self, kind: str, text: str, start: int, end: int) -> str:
        """Return the form in which a value of *kind* is written at ``[start, end)`` of *text*, "" if nothing beside it tells."""
        if kind not in self._form_entries:
            return ""
        if kind not in self._forms:
            self._forms[kind] = _forms(self._form_entries[kind])
        forms, any_before = self._forms[kind]
        head = text[max(0, start - _WIDTH) : start]
        told = any_before.search(head) is not None  # most texts have none of the words before
        for before, after, form in forms:
            if (after is None or after.match(text, end)) and (before is None or (told and before.search(head))):
                return form
        return ""

    def around(self, text: str, start: int, end: int, *, untold: bool = False) -> CueEntry | None:
        """Return the cue beside ``[start, end)`` of *text*, or None. If both sides have one, the first in the vocabulary wins.

        For what is *untold* by itself ("___"), the label of its field is one as well.
        """
        head = text[max(0, start - _WIDTH) : start]
        line = head.rfind("\n")
        before = self._before.search(head, line + 1)
        at = end
        while at < len(text) and text[at] in ' *"”’)' and at < end + 3:
            at += 1
        after = self._after.match(text, end) or (self._after.match(text, at) if at > end else None)
        found = sorted(int(match.lastgroup[1:]) for match in (before, after) if match and match.lastgroup)
        told = self._labelled(head[line + 1 :]) if untold and before is None else None
        if told is not None or not found:
            return told
        first, last = self._entries[found[0]], self._entries[found[-1]]
        return first.model_copy(update={"gender": first.gender or last.gender}) if first.kind == last.kind else first  # "Mme [L] [B], née"

    def _labelled(self, head: str) -> CueEntry | None:
        """Return what the label at the end of *head*, the beginning of a line, says of the value after it: "Attending: ___"; else None."""
        if head[-2:].strip() not in {":", "="}:
            return None
        label = re.search(r"(?:^|[\t|;,.]|  )\s*([^\W\d_][\w /.#'’-]{1,38}?)\s*[:=]\s*$", head)
        words = label.group(1).split() if label else []
        for first in range(max(0, len(words) - 4), len(words)):
            meaning = self._reader.read(" ".join(words[first:]))
            if meaning is not None and meaning.kind not in {"generic", "number"}:
                form = meaning.form or ("full" if meaning.kind == "person" else "")
                return CueEntry(kind=meaning.kind, form=form, gender=meaning.gender)
        return None


def _forms(entries: list[CueEntry]) -> _Forms:
    befores = [f"(?:{entry.before})" for entry in entries if entry.before]
    forms = [
        (
            re.compile(f"(?:{entry.before}){_GAP}$") if entry.before else None,
            re.compile(entry.after) if entry.after else None,
            entry.form,
        )
        for entry in entries
    ]
    return forms, re.compile(f"(?:{'|'.join(befores)}){_GAP}$" if befores else "(?!)")


@cache
def cues(languages: tuple[str, ...] = LANGUAGES) -> TagCues:
    """Return the cues of *languages*; cached."""
    return TagCues(languages)
