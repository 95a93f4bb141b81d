"""Judging candidates by their own text: a tag with a known meaning, an unknown tag, or ordinary text.

The form decides on masks, runs of one sign, letters for names and ids of accounts. The words decide on placeholders without signs:
"Dr. X", "NAME_1", "Ort_3", "Patient A", "FIRST_NAME".
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import lru_cache
from typing import Final, TypeVar

from piiloom.surrogates.kinds.registry import KINDS
from piiloom.surrogates.placeholders.grammar import (
    HYPHEN_NUMBERED,
    IN_INITIALS,
    SIGNS,
    TITLE_WORDS,
    TITLED,
    WORD_LABEL,
    WORD_NUMBERED,
    Grammar,
    grammars_file,
    in_other_script,
    is_quoted,
    is_tag,
    numbered,
    speaks_in_other_script,
)
from piiloom.surrogates.placeholders.reading import (
    DIGITS,
    EXEMPTION,
    MASK,
    UNREAD,
    UNTOLD,
    UNTOLD_MEANING,
    Meaning,
    Reader,
    TagStatus,
    TagVerdict,
)
from piiloom.surrogates.placeholders.scanning import INITIALS, LETTERS, NUMBERED, ROLE_LETTER, Scanner, TagCandidate

T = TypeVar("T")
PAIR: Final = "letter_pair"
UNDERSCORED: Final = "underscored"
DOTTED: Final = "dotted"
LETTER_BLANK: Final = "letter_blank"
_LETTER_FAMILIES: Final = {UNDERSCORED: "{letter}._", DOTTED: "{letter}...", LETTER_BLANK: "{letter}__"}
_FREE: Final = re.compile(f"[{re.escape(SIGNS)}]")
_SPELT: Final = re.compile(r"Month ?D|[DMTY]{1,4}[-/.][DMT]{1,2}[-/.][DYJ]{2,4}$")  # "Month DD, YYYY", "YYYY-MM-DD"
_MASKED: Final = re.compile(r"[Xx]x{3,}|X{4,}")
_MASK_SURE: Final = 0.86  # four X's and more are always a mask
_CAPITAL: Final = re.compile(r"[A-Z]")
_ID: Final = re.compile(r"[A-Z0-9]+")
_LONGEST_RUN: Final = 4
_LONGEST_DOTS: Final = 5
_LONGEST_LETTERS: Final = 12
_LONGEST_SHOWN: Final = 40
_FORM_LESS: Final = 0.15  # subtracted for longer runs: MIMIC-IV writes three underscores, while longer ones are often blank forms
_SHAPELESS: Final = frozenset({"email", "url", "age", "money"})  # kinds whose values do not keep the shape of the mask
_TOLD_BESIDE: Final = frozenset({"masked_age", "masked_amount"})  # the text beside them makes them masks: "X years old", "$X"
_NAMED_SURE: Final = 0.7  # "J*** D**": two names


def mask_form(kind: str, literal: str) -> str:
    """Return the form of a value of *kind* that keeps what the mask *literal* shows: X's stand for what it hides; "" if it has no shape."""
    shaped = kind not in _SHAPELESS and (_FREE.search(literal) or _SPELT.match(literal))
    return f"mask:{_FREE.sub('X', literal)}" if shaped else ""


def mask_verdict(grammar: Grammar, literal: str) -> TagVerdict:
    """Judge a masked number, date or address: "XX/XX/2019", "***-**-1234". Its signs are X's in the form."""
    form = mask_form(grammar.kind, literal)
    family = f"{literal} ({grammar.kind})" if grammar.name in _TOLD_BESIDE else literal  # no pattern: "X" alone is nothing
    family = re.sub(r"\d+", "{digits}", family) if literal[0].isalpha() or literal[0] in SIGNS else re.sub(r"\d", "0", family)
    if not grammar.kind:
        return TagVerdict("known", family, UNTOLD_MEANING._replace(form=form), sure=grammar.upper)
    return TagVerdict("known", family, Meaning(grammar.kind, role=MASK, same="mention", form=form), sure=grammar.upper)


def run_verdict(grammar: Grammar, literal: str) -> TagVerdict:
    """Judge what only says that something was there: "____", "[REDACTED]"."""
    form = grammar.name == "blank" and len(literal) >= _LONGEST_RUN
    longest = _LONGEST_DOTS if literal[0] == "." else _LONGEST_RUN
    family = literal if len(literal) <= longest else literal[: longest - 1] + literal[-1]
    return TagVerdict("known", family, UNTOLD_MEANING, sure=grammar.upper - _FORM_LESS * form)


def letters_verdict(grammar: Grammar, literal: str) -> TagVerdict:
    """Judge groups of letters: "ABC" is somebody or something, "XXXX" a mask."""
    spaced = re.sub(r" +", " ", literal)
    once = re.sub(r"^(.+?)(?: \1)+$", r"\1", spaced) if len(spaced) > 5 else spaced
    if _MASKED.fullmatch(once):
        return TagVerdict("known", once[:_LONGEST_RUN], UNTOLD_MEANING._replace(role=MASK), sure=max(grammar.upper, _MASK_SURE))
    meaning = Meaning("person", role=LETTERS, index=once.replace(" ", "").casefold(), context="mention")
    return TagVerdict("known", once[:_LONGEST_LETTERS], meaning, sure=grammar.upper)


def lettered_verdict(grammar: Grammar, literal: str) -> TagVerdict:
    """Judge a name that is written as letters: "[L] [B]", "A.________", "X...", "B____"."""
    letters = _CAPITAL.findall(literal)
    form = "full" if grammar.name == PAIR else ""
    family = " ".join(["[{letter}]"] * len(letters)) if grammar.name == PAIR else _LETTER_FAMILIES[grammar.name]
    index = (" " if grammar.name == PAIR else ".").join(letters).casefold()
    meaning = Meaning("person", role="letter", index=index, form=form, context="document")
    return TagVerdict("known", family, meaning, sure=grammar.upper)


def company_verdict(grammar: Grammar, literal: str) -> TagVerdict:
    """Judge the letter of a company before its legal form, "K. GmbH"; it is the same company at every mention."""
    meaning = Meaning("company", role="letter", index=literal[0].casefold(), form="bare")
    return TagVerdict("known", f"{literal} (company)", meaning, sure=grammar.upper)  # no pattern: "K." alone is an initial


def initials_verdict(grammar: Grammar, literal: str) -> TagVerdict:
    """Judge the letter of a family name after initials, "L.-J. X"; those who have the same initials are one."""
    initials, letter = literal.rsplit(" ", 1)
    meaning = Meaning("person", role=INITIALS, index=f"{initials} {letter}".casefold(), form="family")
    return TagVerdict("known", f"{initials} {{letter}}", meaning, sure=grammar.upper)


def unnamed_verdict(grammar: Grammar, literal: str) -> TagVerdict:
    """Judge "N.N.", somebody of whom the name is not told, or not yet."""
    return TagVerdict("known", literal.replace(" ", ""), Meaning("person", role="nn", same="mention", form="full"), sure=grammar.upper)


def starred_verdict(grammar: Grammar, literal: str) -> TagVerdict:
    """Judge words of which only letters are left: "J*** D**" is a name, of "J***" the text around tells what it is."""
    shown = literal[:_LONGEST_SHOWN]
    if " " not in literal:
        return TagVerdict("known", shown, UNTOLD_MEANING, sure=grammar.upper)
    return TagVerdict("known", shown, Meaning("person", role="starred", index=literal.casefold(), form="full"), sure=_NAMED_SURE)


def account_verdict(grammar: Grammar, literal: str) -> TagVerdict:
    """Judge an account's id in a chat: "<@U024BE7LH>"."""
    found = _ID.search(literal)
    index = found.group().casefold() if found else ""
    return TagVerdict("known", "<@{index}>", Meaning("username", role="account", index=index, form="at"), sure=grammar.upper)


def channel_verdict(grammar: Grammar, literal: str) -> TagVerdict:
    """Judge a channel's id in a chat, "<#C024BE7LR|general>": it is listed, since what it names is seldom personal."""
    return TagVerdict("unknown", "<#{index}>" if "|" not in literal else "<#{index}|name>", sure=grammar.upper, why=UNREAD)


def listed_verdict(grammar: Grammar, literal: str) -> TagVerdict:
    """Judge what stands for something and does not say what: "(b)(6)", "EMAIL_ADDRESS(52):AVAx2…", "张某某"."""
    head, colon, _ = literal.partition(":")
    return TagVerdict("unknown", f"{head}{colon and ':…'}"[:_LONGEST_SHOWN], sure=grammar.upper, why=UNREAD)


FORM_VERDICTS: Final[dict[str, Callable[[Grammar, str], TagVerdict]]] = {
    **dict.fromkeys(("redacted", "empty_angle", "hash_run", "crossed_pair", "redacting_star", "redacting_dash"), run_verdict),
    **dict.fromkeys((LETTERS, "small_letters", "mixed_letters"), letters_verdict),
    **dict.fromkeys((PAIR, UNDERSCORED, DOTTED, LETTER_BLANK), lettered_verdict),
    **dict.fromkeys(("initials_x", "initial_x"), initials_verdict),
    "masked_number": mask_verdict,
    "letter_company": company_verdict,
    "nn": unnamed_verdict,
    **dict.fromkeys((EXEMPTION, "surrogate_token", "so_and_so"), listed_verdict),
    "starred_name": starred_verdict,
    "mention_id": account_verdict,
    "channel_id": channel_verdict,
}
_GLUED_LESS: Final = 0.14  # subtracted from the confidence of PERSON1, compared with PERSON_1
_LETTER_LESS: Final = 0.13  # subtracted from the confidence of "Dr. B", compared with "Dr. X"
_FOREIGN_TITLE: Final = 0.3  # the confidence in a title of a language that the texts are not in
_PARTY_LESS: Final = 0.1  # "Party A": contracts write so of nobody
CAPITAL_WORDS: Final = "capital_words"
CAMEL_NAME: Final = "camel_name"
BARE_WORD: Final = "bare_word"
GLUED: Final = "glued"
_LETTERED: Final = frozenset("company hospital school university bank city".split())  # "Company A": to be listed
_SHORTEST_ROLE: Final = 4


class WordJudge:
    """Classifies them by the words that *reader* knows and the titles of *scanner*. ``by_name`` are its methods by grammar."""

    def __init__(self, reader: Reader, scanner: Scanner) -> None:
        self._reader = reader
        self._scanner = scanner
        self.by_name: dict[str, Callable[[Grammar, str], TagVerdict]] = {
            TITLED: self._titled,
            NUMBERED: self._numbered,
            ROLE_LETTER: self._role_letter,
            **dict.fromkeys((CAPITAL_WORDS, TITLE_WORDS, CAMEL_NAME, BARE_WORD), self._capital_words),
            GLUED: self._glued,
            **dict.fromkeys((WORD_NUMBERED, WORD_LABEL, HYPHEN_NUMBERED), self._word_numbered),
        }

    def _titled(self, grammar: Grammar, literal: str) -> TagVerdict:
        title, letters = literal.split(" ", 1)
        told = self._scanner.title(title)
        letters = letters.rstrip(".…")
        index = letters.replace(" ", "").casefold()
        meaning = Meaning(
            "person", role=told.role, index=index, form="family", gender=told.gender, language=self._reader.foreign(told.language)
        )
        usual = len(index) > 1 or letters in "XYZ"
        sure = grammar.upper - _LETTER_LESS * (not usual) if told.language in self._reader.languages else _FOREIGN_TITLE
        return TagVerdict("known", f"{title} {{letter}}", meaning, sure=sure)

    def _numbered(self, grammar: Grammar, literal: str) -> TagVerdict:
        meaning = self._reader.read(literal)
        if meaning is None or not meaning.index:
            if "_" not in literal:
                return TagVerdict("nothing", literal)
            return TagVerdict("unknown", f"{literal.rstrip('0123456789')}{{index}}", why=UNREAD)
        glued = literal[-len(meaning.index) - 1].isalpha()
        return TagVerdict("known", numbered(literal, meaning.index), meaning, sure=(grammar.upper - _GLUED_LESS * glued) * meaning.sure)

    def _word_numbered(self, grammar: Grammar, literal: str) -> TagVerdict:
        """Judge "Ort_3" and "person_1", of which only words that are known are placeholders: programs write so as well."""
        meaning = self._reader.read(literal)
        if meaning is None or not meaning.index:
            other = in_other_script(literal) and literal[-1].isdigit()
            return (
                TagVerdict("unknown", f"{literal.rstrip('0123456789')}{{index}}", why=UNREAD) if other else TagVerdict("nothing", literal)
            )
        if grammar.name == HYPHEN_NUMBERED and meaning.kind != "person":
            return TagVerdict("nothing", literal)  # "Type-2"
        sure = grammar.upper if literal[0].isupper() else grammar.lower
        return TagVerdict("known", numbered(literal, meaning.index), meaning, sure=sure * meaning.sure)

    def _capital_words(self, grammar: Grammar, literal: str) -> TagVerdict:
        """Judge "FIRST_NAME", "First_Name" and "FirstName" without signs: filled if all words are known, listed if one is."""
        meaning = self._reader.read(literal)
        if meaning is not None:
            return TagVerdict("known", literal, meaning, sure=grammar.upper * meaning.sure)
        return TagVerdict("unknown", literal, why=UNREAD) if self._reader.speaks(literal) else TagVerdict("nothing", literal)

    @staticmethod
    def _glued(grammar: Grammar, literal: str) -> TagVerdict:
        """Judge "ФИО1", of which only words that tags have are placeholders."""
        if not speaks_in_other_script(literal):
            return TagVerdict("nothing", literal)
        return TagVerdict("unknown", f"{literal.rstrip('0123456789')}{{index}}", sure=grammar.upper, why=UNREAD)

    def _role_letter(self, grammar: Grammar, literal: str) -> TagVerdict:
        """Judge "Patient A", of which the letter is the name; nothing if the word before it names nobody ("Vitamin C")."""
        word, letter = literal.split(" ", 1)
        meaning = self._reader.read(word.casefold()) if len(word) >= _SHORTEST_ROLE else None
        if meaning is not None and meaning.kind in _LETTERED and not meaning.plural:
            told = Meaning(meaning.kind, role="letter", index=letter.rstrip(".").casefold())
            return TagVerdict("unknown", f"{word} {{letter}}", told, why=UNTOLD)
        if (
            meaning is None
            or meaning.kind != "person"
            or meaning.plural
            or (meaning.role == "name" and not word.casefold().startswith("pers"))
        ):
            return TagVerdict("nothing", literal)
        index = "".join(filter(str.isalpha, letter)).casefold()
        form = "family" if len(index) == 1 else "full"
        told = Meaning("person", role=meaning.role, index=index, form=form, gender=meaning.gender, language=meaning.language)
        family = f"{word} {{letter}}" if len(index) == 1 else f"{word} {IN_INITIALS}"
        return TagVerdict("known", family, told, sure=grammar.upper - _PARTY_LESS * bool(meaning.context))


_DATE: Final = re.compile(r"'[0-9]{2}|[0-9]{1,4}(?:[-/.][0-9]{0,4}){1,2}|[12][0-9]{3}|[0-9]{1,2}[-/.]")
_YEAR: Final = re.compile(r"[12][0-9]{3}")
_BEARS: Final = re.compile(r"\s*([^:=|]{1,40}?)\s*([:=|])\s*(\S.*?)\s*", re.DOTALL)
_HASHED: Final = re.compile(r"(.*[^\W\d_].*?)[\s_:#|=-]+((?=[0-9a-f]*[0-9])(?=[0-9a-f]*[a-f])[0-9a-f]{5,64})", re.IGNORECASE)
_CODE: Final = re.compile(r"^'|[^\w\s./'’´&()#°º-]|[a-z]\.[a-z]{2}|\.\.|\(\)|[a-z]\d*\+")
_ATTRIBUTE: Final = re.compile(r"(\w[\w-]*)\s+(?:id|num|n|index|ref|no)\s*=\s*[\"']?(\w{1,8})[\"']?\s*")
_VALUES: Final = re.compile(r"=\s*[\"']?(\w+)")
_REDACTING_ELEMENT: Final = re.compile(r"(?:anon|redact|mask|de-?id|pseudo|hid|suppress|omit|placeholder|sensitive)", re.IGNORECASE)
_CAMEL: Final = re.compile(r"(?:[A-ZÀ-Þ][a-zà-ÿ]+){2,}\d{0,3}")
_QUOTED: Final = re.compile(r"quotes|slashes|star|underscore|dash|exclam|colons")  # signs that emphasize more often than they replace
_EMPTY: Final = re.compile(r"[Xx]{2,}|([?#•*_-])\1+|[●•]|\.{4,}|[█▇■▉⬛◼]+")  # "[XXXX]", "[●]": brackets in which nothing is told
_INNER_SIGNS: Final = re.compile(r"[%@$#~_!=+|-]+")
_LETTER: Final = re.compile(r"[A-Z]\.?")
_LETTER_SIGNS: Final = re.compile(r"^([A-Z])\.?(?:\.{2,}|…|_+)$")  # "[X...]"
_ADDRESS: Final = re.compile(r"(?:https?|ftp|file|mailto|tel|xmlns|data):", re.IGNORECASE)  # "<https://example.org>"
_STAR_TYPE: Final = re.compile(r"(?<=[A-Za-z])\d+(?=\s|$)|\([^()]*\)")  # "Hospital1 12", "First Name (NamePattern2) 5"
_WORDS: Final = re.compile(r"[^\W\d_]+")
_PLAIN: Final = re.compile(r"[\w ./'’&()#-]+\+?")
_EXEMPT: Final = re.compile(  # "[(b)(6)]", "[s 47F]", "[Ex. 6]"
    r"\([bjk]\) ?\(\d\).{0,20}|[Ss](?:ec(?:tion)?)?\.? ?\d{2}[A-Z]{0,2}(?:\(\w{1,3}\))*|[Ee]x(?:emption)?\.? ?\d(?:\([A-F]\))?"
)
_MARKED: Final = re.compile(r"[^\W\d_]{3,}(?:[ _-][^\W\d_]{2,}){0,2}[ _-]?\d{1,3}[A-Za-z]?")
_MASKS: Final = (
    (re.compile(r"(?=.*[AX])(?=.*[09]|[AX]{1,3}-[AX]{1,3})[AX09]{1,3}-[AX09]{1,3}-[AX09]{1,3}"), "licence_plate"),
    (re.compile(r"0000 ?(?:AA|XX)|9999 ?AA"), "postcode"),
    (re.compile(r"00[-/]00[-/]0000|0000[-/]00[-/]00"), "date"),
)
_LONGEST_TAG: Final = (6, 48)  # words and characters; a longer text in brackets is not a tag
_LONGEST_ROUND: Final = 4  # words of "(name withheld by request)"
_SHORTEST_ROUND: Final = 2  # up to this length a tag in round brackets is taken for an abbreviation: "(F)", "(ID)"
_LONGEST_LETTER: Final = 16
_ABBREVIATED: Final = frozenset("url ip_address bank_account national_id tax_id medical_record vehicle_id id_number".split())
_ABBREVIATION_LESS: Final = 0.5  # "the account number (IBAN)": what is abbreviated stands before it, and is no cue
_REDACTING_SURE: Final = 0.5
_MOST_REMEMBERED: Final = 50_000  # verdicts
_LONGEST_REMEMBERED: Final = 80  # characters of a literal


def remember(judged: Callable[[Grammar, str], T]) -> Callable[[TagCandidate], T]:
    """Return *judged* as a function of a candidate that keeps the results of short literals."""
    known = lru_cache(_MOST_REMEMBERED)(judged)

    def judge(candidate: TagCandidate) -> T:
        return (known if len(candidate.literal) <= _LONGEST_REMEMBERED else judged)(candidate.grammar, candidate.literal)

    return judge


class Judge:
    """Classifies candidates by the words of a vocabulary. The surrounding text is examined in ``surroundings``."""

    def __init__(self, reader: Reader, scanner: Scanner) -> None:
        self._reader = reader
        self._scanner = scanner
        data = grammars_file()
        self._data = data
        self._by_name: dict[str, Callable[[Grammar, str], TagVerdict]] = {**WordJudge(reader, scanner).by_name, **FORM_VERDICTS}
        self.judge = remember(self.judge_literal)

    def judge_literal(self, grammar: Grammar, literal: str) -> TagVerdict:
        """Return the verdict on *literal*, based on its own text only. ``judge`` takes a candidate, and remembers the verdicts."""
        if grammar.kind:
            return mask_verdict(grammar, literal)
        by_name = self._by_name.get(grammar.name)
        if by_name is not None:
            return by_name(grammar, literal)
        return self._signs(grammar, literal) if grammar.shape == "signs" else run_verdict(grammar, literal)

    def _signs(self, grammar: Grammar, literal: str) -> TagVerdict:
        inner = " ".join(literal[len(grammar.open) : len(literal) - len(grammar.close)].split())
        if grammar.name == "element":
            inner = literal[literal.index(">") + 1 : literal.index("</")].strip()
        if grammar.name in {"angle", "escaped_angle"}:
            return self._angle(grammar, literal, inner)
        if grammar.name == "deid_told":
            return self._coded(grammar, literal, inner)
        if grammar.name == "stars":
            if _DATE.fullmatch(inner):
                kind = "year" if _YEAR.fullmatch(inner) or inner[0] == "'" else "date"
                return TagVerdict("known", f"[**{{{kind}}}**]", Meaning(kind, same="mention"), inner, grammar.upper)
            inner = _STAR_TYPE.sub(" ", inner) if _WORDS.search(inner) else inner
        return self._tag(grammar, literal, inner)

    def _angle(self, grammar: Grammar, literal: str, inner: str) -> TagVerdict:
        """Judge an angle tag, which may be markup. ``<PERSON id="1"/>`` is read as a tag with an index."""
        attribute = _ATTRIBUTE.fullmatch(inner.rstrip("/"))
        tag = f"{attribute.group(1)} {attribute.group(2)}" if attribute else inner.rstrip("/ ")
        name = tag.split(" ")[0].lstrip("/")
        address = _ADDRESS.match(inner)
        if self._redacts(inner, name):
            return TagVerdict("unknown", re.sub(r"\d{1,4}", "{digits}", literal[:_LONGEST_SHOWN]), why=UNREAD, markup=name)
        if address or inner.startswith("/") or self._is_markup(inner, name):
            return TagVerdict("left", f"<{(address.group() if address else name[:20]).casefold()}>", why="markup")
        return self._tag(grammar, literal, tag)._replace(markup=name)

    def _redacts(self, inner: str, name: str) -> bool:
        """Whether an element with attributes stands for what was taken out: ``<anon type="name"/>``, ``<gap reason="redacted"/>``."""
        known = self._reader.read(name) is not None
        if "=" not in inner or (known and _ATTRIBUTE.fullmatch(inner.rstrip("/ "))) or name.casefold() in self._data.markup:
            return False
        told = {name.casefold(), *map(str.casefold, _VALUES.findall(inner))}
        return known or not told.isdisjoint(self._data.redacting | self._data.removing) or any(map(_REDACTING_ELEMENT.match, told))

    def _is_markup(self, inner: str, name: str) -> bool:
        """Whether an angle tag is an HTML element, a model's special token, or has attributes ("<b>", "<unk>", "<div class=x>")."""
        low = name.casefold()
        if low in self._data.tokens or len(name) <= 1:
            return True
        if low in self._data.markup:
            bare = inner.rstrip("/ ")
            tag = bare.casefold() == low or (bare == bare.upper() and _PLAIN.fullmatch(bare) is not None)  # "<TIME OF LESSON>"
            return name != name.upper() or not tag or low not in self._data.markup_in_capitals
        return "=" in inner and not _ATTRIBUTE.fullmatch(inner.rstrip("/ "))

    def _tag(self, grammar: Grammar, literal: str, tag: str) -> TagVerdict:
        """Judge *tag*, the text between the signs of *literal*."""
        literal = " ".join(literal.split())
        tag = self._bare(tag)
        masked = next((kind for pattern, kind in _MASKS if pattern.fullmatch(tag)), "")
        if masked:
            return TagVerdict("known", literal, Meaning(masked, same="mention"), sure=grammar.lower)
        if grammar.name != "round" and _EMPTY.fullmatch(tag):
            return run_verdict(grammar, literal)
        bearing = self._hashed(grammar, literal, tag) or self._bearing(grammar, literal, tag)
        if bearing is not None:
            return bearing
        meaning = None if _CODE.search(tag) else self._reader.read(tag)
        sure = _sure(grammar, tag, meaning)
        if meaning is None or sure == 0 or (grammar.name == "round" and len(tag) <= _SHORTEST_ROUND):
            return self._unread(grammar, literal, tag)
        if grammar.name == "round" and meaning.kind in _ABBREVIATED and tag.isalpha():
            sure -= _ABBREVIATION_LESS
        if not meaning.index or meaning.role == "letter":
            return TagVerdict("known", literal, meaning, sure=sure)
        family = numbered(literal, meaning.index, meaning.number)
        return TagVerdict("known", family, meaning, sure=min(0.99, sure + 0.05))

    def _bare(self, tag: str) -> str:
        """Return *tag* without signs inside of its brackets, if it can be read then: "[%NAME%]", "[@user]", "[X...]"."""
        bare = _LETTER_SIGNS.sub(r"\1", tag) if len(tag) <= _LONGEST_LETTER else tag
        signs = _INNER_SIGNS.match(bare)
        bare = bare[signs.end() :].removesuffix(signs.group()[::-1]).strip() if signs else bare
        return bare if bare != tag and _WORDS.search(bare) and self._reader.read(bare) is not None else tag

    def _hashed(self, grammar: Grammar, literal: str, tag: str) -> TagVerdict | None:
        """Judge a tag with a hash, "PERSON_1:3fa9c2" or "PERSON_3fa9c2": equal hashes are one person or value; None if it has none."""
        parts = _HASHED.fullmatch(tag)
        meaning = self._reader.read(parts.group(1)) if parts else None
        if parts is None or meaning is None or meaning.kind == "generic" or KINDS[meaning.kind].entity_type == "code":
            return None  # of a code it may be the original
        sure = _sure(grammar, parts.group(1), meaning)
        at = literal.rindex(parts.group(2))
        before = numbered(literal[:at], meaning.index) if meaning.index else literal[:at]
        family = f"{before}{{hash}}{literal[at + len(parts.group(2)) :]}"
        return TagVerdict("known", family, meaning._replace(index=meaning.index or parts.group(2).casefold(), same="document"), sure=sure)

    def _bearing(self, grammar: Grammar, literal: str, tag: str) -> TagVerdict | None:
        """Judge a tag with two parts, or return None if it is not one.

        It contains either the original value ("PATIENT:Jack Smith", "date: 2010-01-02") or what was redacted ("REDACTED: date").
        """
        parts = _BEARS.fullmatch(tag)
        meaning = self._reader.read(parts.group(1)) if parts else None
        sure = _sure(grammar, parts.group(1), meaning) if parts else 0.0
        if parts is None or meaning is None or sure == 0 or meaning.role == "letter" or _CODE.search(parts.group(1)):
            return None
        if parts.group(2) != ":" and not _capitals(parts.group(1)):
            return None
        original = parts.group(3)
        if meaning.kind == "generic":
            told = self._reader.read(original)
            if told is None:
                return None
            return TagVerdict("known", numbered(literal, told.index) if told.index else literal, told, sure=sure)
        at = literal.rindex(original)
        before = numbered(literal[:at], meaning.index) if meaning.index else literal[:at]
        family = f"{before}{{original}}{literal[at + len(original) :]}"
        return TagVerdict("known", family, meaning._replace(context=""), original, sure)

    def _coded(self, grammar: Grammar, literal: str, inner: str) -> TagVerdict:
        """Judge "**NAME[AAA, BBB]", whose letters are codes for the words of a name, "**DATE[Jan 05 2008]" and "**AGE[in 60s]"."""
        name, _, told = inner.partition("[")
        meaning = self._reader.read(name)
        if meaning is None:
            return self._unread(grammar, literal, name)
        original = told.title() if meaning.kind == "person" else told  # one code is one name: its words are read as those of a known name
        return TagVerdict("known", f"**{name}[{{original}}]", meaning._replace(context=""), original, grammar.upper * meaning.sure)

    def _unread(self, grammar: Grammar, literal: str, tag: str) -> TagVerdict:
        """Judge a tag with unknown words: unknown if it looks redacted, else left as ordinary brackets."""
        words = _WORDS.findall(tag)
        if not words:
            if grammar.name == "square" and re.fullmatch(r"\d{4,}", tag):
                return TagVerdict("unknown", literal[:_LONGEST_SHOWN], why=DIGITS)
            digits = any(char.isdigit() for char in tag)
            return TagVerdict("left", f"{grammar.open}{{number}}{grammar.close}" if digits else literal[:_LONGEST_SHOWN])
        if grammar.name == "round":
            return self._redacting(literal, tag) or TagVerdict("left", "({text})")
        told = self._told(grammar, literal, tag, words)
        if told is not None:
            return told
        short = len(words) <= _LONGEST_TAG[0] and len(tag) <= _LONGEST_TAG[1]
        other = in_other_script(tag)
        if (short and is_tag(grammar.name, tag)) if other else self._looks_redacted(grammar, tag, words):
            index = re.search(r"(?<!\d)(\d{1,4})\W*$", literal)
            family = f"{literal[: index.start(1)]}{{index}}{literal[index.end(1) :]}" if index else literal
            return TagVerdict("unknown", family, why=UNREAD)
        status: TagStatus = "nothing" if other and is_quoted(grammar.name) else "left"
        return TagVerdict(status, literal if len(tag) <= _LONGEST_SHOWN else f"{grammar.open}{{text}}{grammar.close}")

    def _told(self, grammar: Grammar, literal: str, tag: str, words: list[str]) -> TagVerdict | None:
        """Judge brackets that are told by something else than known words: "[Mr. X]", "[my insurance]", "[name has been redacted]"."""
        title, _, letter = tag.rpartition(" ")
        if _LETTER.fullmatch(letter) and self._scanner.has_title(title):
            told = self._scanner.title(title)
            return TagVerdict("known", literal, Meaning("person", told.role, letter[0].casefold(), gender=told.gender), sure=grammar.lower)
        own = grammar.name == "square" and self._reader.is_own(tag) and words[-1].casefold() not in self._data.editorial
        short = len(words) <= _LONGEST_TAG[0] and len(tag) <= _LONGEST_TAG[1]
        said = set(tag.casefold().split())
        editorial = said - self._data.removing <= self._data.editorial and not said <= self._data.removing  # "[citation omitted]"
        if _EXEMPT.fullmatch(tag) or own or (short and not editorial and not (self._data.redacting | self._data.removing).isdisjoint(said)):
            return TagVerdict("unknown", literal[:_LONGEST_SHOWN], why=UNREAD)
        return None

    def _redacting(self, literal: str, tag: str) -> TagVerdict | None:
        """Judge what says in round brackets that something was redacted: "(anonymisé)", "(name withheld)"; None if it does not."""
        words = tag.casefold().split()
        if not self._data.redacting.intersection(words):
            return None
        meaning = self._reader.read(tag)
        if meaning is None:
            return TagVerdict("unknown", literal, why=UNREAD) if len(words) <= _LONGEST_ROUND else None
        return TagVerdict("known", literal, meaning._replace(same="mention"), sure=_REDACTING_SURE)

    def _looks_redacted(self, grammar: Grammar, tag: str, words: list[str]) -> bool:
        if len(words) > _LONGEST_TAG[0] or len(tag) > _LONGEST_TAG[1] or max(map(len, words)) == 1 or not _PLAIN.fullmatch(tag):
            return False
        if all(word.casefold() in self._data.editorial for word in words):
            return False
        capitals = _capitals(tag)
        marked = capitals or bool(_MARKED.fullmatch(tag))
        if grammar.unknown == "marked" and not marked:
            marked = _CAMEL.fullmatch(tag) is not None and self._reader.speaks(tag)
        token = grammar.unknown == "none" and capitals and tag.isidentifier() and not _QUOTED.search(grammar.name)
        token = token and self._reader.speaks(tag)
        return {"any": True, "upper": capitals, "marked": marked, "none": token}[grammar.unknown]


def _sure(grammar: Grammar, tag: str, meaning: Meaning | None) -> float:
    return 0.0 if meaning is None else meaning.sure * (grammar.upper if _capitals(tag) else grammar.lower)


def _capitals(tag: str) -> bool:
    """Whether *tag* is written in capitals; a possessive 's and the letter of an index ("18b") may be in lower case."""
    letters = re.sub(r"['’]s$|\d[a-z]\b", "", tag)
    return letters == letters.upper() and letters != letters.lower()
