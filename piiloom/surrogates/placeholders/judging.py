"""Judging candidates by their own text: a tag with a known meaning, an unknown tag, or ordinary text.

The form decides on masks, runs of one sign, letters for names and ids of accounts. The words decide on placeholders without signs:
"Dr. X", "NAME_1", "Ort_3", "Patient A", "FIRST_NAME".
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import lru_cache
from typing import Final, TypeVar

from piiloom.surrogates.kinds.kind import KINDS
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

PAIR: Final = "letter_pair"
DOTTED: Final = "dotted"
_LETTER_FAMILIES: Final = {"underscored": "{letter}._", DOTTED: "{letter}...", "letter_blank": "{letter}__"}
_FREE: Final = re.compile(f"[{re.escape(SIGNS)}]")
_LONGEST_RUN: Final = 4
_LONGEST_SHOWN: Final = 40


def mask_form(kind: str, literal: str) -> str:
    """Return the form of a value of *kind* that keeps what the mask *literal* shows: X's stand for what it hides; "" if it has no shape."""
    spelt = re.match(r"Month ?D|[DMTY]{1,4}[-/.][DMT]{1,2}[-/.][DYJ]{2,4}$", literal)  # "Month DD, YYYY", "YYYY-MM-DD"
    shaped = kind not in {"email", "url", "age", "money"} and (spelt or _FREE.search(literal))
    return f"mask:{_FREE.sub('X', literal)}" if shaped else ""


def mask_verdict(grammar: Grammar, literal: str) -> TagVerdict:
    """Judge a masked number, date or address: "XX/XX/2019", "***-**-1234". Its signs are X's in the form."""
    form = mask_form(grammar.kind, literal)
    # "X years old", "$X": the text beside them makes them masks; no pattern, since "X" alone is nothing.
    family = f"{literal} ({grammar.kind})" if grammar.name in {"masked_age", "masked_amount"} else literal
    family = re.sub(r"\d+", "{digits}", family) if literal[0].isalpha() or literal[0] in SIGNS else re.sub(r"\d", "0", family)
    meaning = Meaning(grammar.kind, role=MASK, same="mention") if grammar.kind else UNTOLD_MEANING
    return TagVerdict("known", family, meaning._replace(form=form), sure=grammar.upper)


def run_verdict(grammar: Grammar, literal: str) -> TagVerdict:
    """Judge what only says that something was there: "____", "[REDACTED]"."""
    form = grammar.name == "blank" and len(literal) >= _LONGEST_RUN
    longest = 5 if literal[0] == "." else _LONGEST_RUN
    family = literal if len(literal) <= longest else literal[: longest - 1] + literal[-1]
    # MIMIC-IV writes three underscores, while longer runs are often blank forms.
    return TagVerdict("known", family, UNTOLD_MEANING, sure=grammar.upper - 0.15 * form)


def letters_verdict(grammar: Grammar, literal: str) -> TagVerdict:
    """Judge groups of letters: "ABC" is somebody or something, "XXXX" a mask."""
    spaced = re.sub(r" +", " ", literal)
    once = re.sub(r"^(.+?)(?: \1)+$", r"\1", spaced) if len(spaced) > 5 else spaced
    if re.fullmatch(r"[Xx]x{3,}|X{4,}", once):
        return TagVerdict("known", once[:_LONGEST_RUN], UNTOLD_MEANING._replace(role=MASK), sure=max(grammar.upper, 0.86))
    meaning = Meaning("person", role=LETTERS, index=once.replace(" ", "").casefold(), context="mention")
    return TagVerdict("known", once[:12], meaning, sure=grammar.upper)


def lettered_verdict(grammar: Grammar, literal: str) -> TagVerdict:
    """Judge a name that is written as letters: "[L] [B]", "A.________", "X...", "B____"."""
    letters = re.findall(r"[A-Z]", literal)
    form = "full" if grammar.name == PAIR else ""
    family = " ".join(["[{letter}]"] * len(letters)) if grammar.name == PAIR else _LETTER_FAMILIES[grammar.name]
    index = (" " if grammar.name == PAIR else ".").join(letters).casefold()
    meaning = Meaning("person", role="letter", index=index, form=form, context="document")
    return TagVerdict("known", family, meaning, sure=grammar.upper)


# By grammar: what the literal stands for, the part of it that is the index, and how it becomes its family.
_NAMED: Final[dict[str, tuple[Meaning, str, tuple[str, str]]]] = {
    # The letter of a company before its legal form, the same company at every mention; no pattern: "K." alone is an initial.
    "letter_company": (Meaning("company", role="letter", form="bare"), r"\A.", (r"\Z", " (company)")),
    # The letter of a family name after initials; those who have the same initials are one.
    **dict.fromkeys(("initials_x", "initial_x"), (Meaning("person", role=INITIALS, form="family"), r"(?s).+", (r" \S+\Z", " {letter}"))),
    # Somebody of whom the name is not told, or not yet.
    "nn": (Meaning("person", role="nn", same="mention", form="full"), "", (" ", "")),
    # An account's id in a chat.
    "mention_id": (Meaning("username", role="account", form="at"), "[A-Z0-9]+", (r"(?s).+", "<@{index}>")),
}


def named_verdict(grammar: Grammar, literal: str) -> TagVerdict:
    """Judge whom or what the form alone tells: "K. GmbH", "L.-J. X", "N.N.", "<@U024BE7LH>"."""
    meaning, index, family = _NAMED[grammar.name]
    found = re.search(index, literal)
    return TagVerdict("known", re.sub(*family, literal), meaning._replace(index=found[0].casefold() if found else ""), sure=grammar.upper)


def starred_verdict(grammar: Grammar, literal: str) -> TagVerdict:
    """Judge words of which only letters are left: "J*** D**" is a name, of "J***" the text around tells what it is."""
    name = Meaning("person", role="starred", index=literal.casefold(), form="full")
    meaning, sure = (name, 0.7) if " " in literal else (UNTOLD_MEANING, grammar.upper)
    return TagVerdict("known", literal[:_LONGEST_SHOWN], meaning, sure=sure)


def channel_verdict(grammar: Grammar, literal: str) -> TagVerdict:
    """Judge a channel's id in a chat, "<#C024BE7LR|general>": it is listed, since what it names is seldom personal."""
    return TagVerdict("unknown", "<#{index}>" if "|" not in literal else "<#{index}|name>", sure=grammar.upper, why=UNREAD)


def listed_verdict(grammar: Grammar, literal: str) -> TagVerdict:
    """Judge what stands for something and does not say what: "(b)(6)", "EMAIL_ADDRESS(52):AVAx2…", "张某某"."""
    head, colon, _ = literal.partition(":")
    return TagVerdict("unknown", f"{head}{colon and ':…'}"[:_LONGEST_SHOWN], sure=grammar.upper, why=UNREAD)


_FORM_VERDICTS: Final[dict[str, Callable[[Grammar, str], TagVerdict]]] = {
    **dict.fromkeys(("redacted", "empty_angle", "hash_run", "crossed_pair", "redacting_star", "redacting_dash"), run_verdict),
    **dict.fromkeys((LETTERS, "small_letters", "mixed_letters"), letters_verdict),
    **dict.fromkeys((PAIR, *_LETTER_FAMILIES), lettered_verdict),
    **dict.fromkeys(_NAMED, named_verdict),
    "masked_number": mask_verdict,
    **dict.fromkeys((EXEMPTION, "surrogate_token", "so_and_so"), listed_verdict),
    "starred_name": starred_verdict,
    "channel_id": channel_verdict,
}
_CODE: Final = re.compile(r"^'|[^\w\s./'’´&()#°º-]|[a-z]\.[a-z]{2}|\.\.|\(\)|[a-z]\d*\+")
_ATTRIBUTE: Final = re.compile(r"(\w[\w-]*)\s+(?:id|num|n|index|ref|no)\s*=\s*[\"']?(\w{1,8})[\"']?\s*")
_REDACTING_ELEMENT: Final = re.compile(r"(?:anon|redact|mask|de-?id|pseudo|hid|suppress|omit|placeholder|sensitive)", re.IGNORECASE)
_WORDS: Final = re.compile(r"[^\W\d_]+")
_PLAIN: Final = re.compile(r"[\w ./'’&()#-]+\+?")
_EXEMPT: Final = re.compile(  # "[(b)(6)]", "[s 47F]", "[Ex. 6]"
    r"\([bjk]\) ?\(\d\).{0,20}|[Ss](?:ec(?:tion)?)?\.? ?\d{2}[A-Z]{0,2}(?:\(\w{1,3}\))*|[Ee]x(?:emption)?\.? ?\d(?:\([A-F]\))?"
)
_MASKS: Final = (
    (re.compile(r"(?=.*[AX])(?=.*[09]|[AX]{1,3}-[AX]{1,3})[AX09]{1,3}-[AX09]{1,3}-[AX09]{1,3}"), "licence_plate"),
    (re.compile(r"0000 ?(?:AA|XX)|9999 ?AA"), "postcode"),
    (re.compile(r"00[-/]00[-/]0000|0000[-/]00[-/]00"), "date"),
)
_LONGEST_TAG: Final = (6, 48)  # words and characters; a longer text in brackets is not a tag
_ABBREVIATED: Final = frozenset("url ip_address bank_account national_id tax_id medical_record vehicle_id id_number".split())
T = TypeVar("T")


def remember(judged: Callable[[Grammar, str], T]) -> Callable[[TagCandidate], T]:
    """Return *judged* as a function of a candidate that keeps the results of short literals."""
    known = lru_cache(50_000)(judged)
    return lambda candidate: (known if len(candidate.literal) <= 80 else judged)(candidate.grammar, candidate.literal)


class Judge:
    """Classifies candidates by the words that *reader* knows and the titles of *scanner*.

    The surrounding text is examined in ``surroundings``.
    """

    def __init__(self, reader: Reader, scanner: Scanner) -> None:
        self._reader = reader
        self._titles = scanner.titles
        self._data = grammars_file()
        self._by_name: dict[str, Callable[[Grammar, str], TagVerdict]] = {
            TITLED: self._titled,
            NUMBERED: self._numbered,
            ROLE_LETTER: self._role_letter,
            **dict.fromkeys(("capital_words", TITLE_WORDS, "camel_name", "bare_word"), self._capital_words),
            "glued": self._glued,
            **dict.fromkeys((WORD_NUMBERED, WORD_LABEL, HYPHEN_NUMBERED), self._word_numbered),
            **_FORM_VERDICTS,
        }
        self.judge = remember(self.judge_literal)

    def judge_literal(self, grammar: Grammar, literal: str) -> TagVerdict:
        """Return the verdict on *literal*, based on its own text only. ``judge`` takes a candidate, and remembers the verdicts."""
        other = self._signs if grammar.shape == "signs" else run_verdict
        return (mask_verdict if grammar.kind else self._by_name.get(grammar.name, other))(grammar, literal)

    def _titled(self, grammar: Grammar, literal: str) -> TagVerdict:
        title, letters = literal.split(" ", 1)
        told = self._titles[title]
        letters = letters.rstrip(".…")
        index = letters.replace(" ", "").casefold()
        meaning = Meaning(
            "person", role=told.role, index=index, form="family", gender=told.gender, language=self._reader.foreign(told.language)
        )
        less = 0.0 if len(index) > 1 or letters in "XYZ" else 0.13  # "Dr. B" is less sure than "Dr. X"
        sure = grammar.upper - less if told.language in self._reader.languages else 0.3
        return TagVerdict("known", f"{title} {{letter}}", meaning, sure=sure)

    def _numbered(self, grammar: Grammar, literal: str) -> TagVerdict:
        meaning = self._reader.read(literal)
        if meaning is None or not meaning.index:
            return _numbered_unread(literal, is_tag="_" in literal)
        less = 0.14 if literal[-len(meaning.index) - 1].isalpha() else 0.0  # PERSON1 is less sure than PERSON_1
        return TagVerdict("known", numbered(literal, meaning.index), meaning, sure=(grammar.upper - less) * meaning.sure)

    def _word_numbered(self, grammar: Grammar, literal: str) -> TagVerdict:
        """Judge "Ort_3" and "person_1", of which only words that are known are placeholders: programs write so as well."""
        meaning = self._reader.read(literal)
        if meaning is None or not meaning.index:
            return _numbered_unread(literal, is_tag=in_other_script(literal) and literal[-1].isdigit())
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
        return _numbered_unread(literal, is_tag=speaks_in_other_script(literal), sure=grammar.upper)

    def _role_letter(self, grammar: Grammar, literal: str) -> TagVerdict:
        """Judge "Patient A", of which the letter is the name; nothing if the word before it names nobody ("Vitamin C")."""
        word, letter = literal.split(" ", 1)
        meaning = self._reader.read(word.casefold()) if len(word) > 3 else None
        if meaning is None or meaning.plural:
            return TagVerdict("nothing", literal)
        if meaning.kind in {"company", "hospital", "school", "university", "bank", "city"}:
            told = Meaning(meaning.kind, role="letter", index=letter.rstrip(".").casefold())
            return TagVerdict("unknown", f"{word} {{letter}}", told, why=UNTOLD)
        if meaning.kind != "person" or (meaning.role == "name" and not word.casefold().startswith("pers")):
            return TagVerdict("nothing", literal)
        index = "".join(filter(str.isalpha, letter)).casefold()
        form, family = ("family", f"{word} {{letter}}") if len(index) == 1 else ("full", f"{word} {IN_INITIALS}")
        told = Meaning("person", role=meaning.role, index=index, form=form, gender=meaning.gender, language=meaning.language)
        return TagVerdict("known", family, told, sure=grammar.upper - 0.1 * bool(meaning.context))  # contracts write "Party A" of nobody

    def _signs(self, grammar: Grammar, literal: str) -> TagVerdict:
        inner = " ".join(literal[len(grammar.open) : len(literal) - len(grammar.close)].split())
        if grammar.name == "element":
            inner = literal[literal.index(">") + 1 : literal.index("</")].strip()
        if grammar.name in {"angle", "escaped_angle"}:
            return self._angle(grammar, literal, inner)
        if grammar.name == "deid_told":
            return self._coded(grammar, literal, inner)
        if grammar.name == "stars":
            if re.fullmatch(r"'[0-9]{2}|[0-9]{1,4}(?:[-/.][0-9]{0,4}){1,2}|[12][0-9]{3}|[0-9]{1,2}[-/.]", inner):
                kind = "year" if re.fullmatch(r"[12][0-9]{3}", inner) or inner[0] == "'" else "date"
                return TagVerdict("known", f"[**{{{kind}}}**]", Meaning(kind, same="mention"), inner, grammar.upper)
            # What follows a type is left out, as in "Hospital1 12" and "First Name (NamePattern2) 5".
            inner = re.sub(r"(?<=[A-Za-z])\d+(?=\s|$)|\([^()]*\)", " ", inner) if _WORDS.search(inner) else inner
        return self._tag(grammar, literal, inner)

    def _angle(self, grammar: Grammar, literal: str, inner: str) -> TagVerdict:
        """Judge an angle tag, which may be markup. ``<PERSON id="1"/>`` is read as a tag with an index."""
        attribute = _ATTRIBUTE.fullmatch(inner.rstrip("/"))
        tag = f"{attribute.group(1)} {attribute.group(2)}" if attribute else inner.rstrip("/ ")
        name = tag.split(" ")[0].lstrip("/")
        address = re.match(r"(?i)(?:https?|ftp|file|mailto|tel|xmlns|data):", inner)
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
        told = {name.casefold(), *map(str.casefold, re.findall(r"=\s*[\"']?(\w+)", inner))}
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
        if grammar.name != "round" and re.fullmatch(r"[Xx]{2,}|([?#•*_-])\1+|[●•]|\.{4,}|[█▇■▉⬛◼]+", tag):  # "[XXXX]", "[●]"
            return run_verdict(grammar, literal)
        bearing = self._hashed(grammar, literal, tag) or self._bearing(grammar, literal, tag)
        if bearing is not None:
            return bearing
        meaning = None if _CODE.search(tag) else self._reader.read(tag)
        sure = _sure(grammar, tag, meaning)
        if meaning is None or sure == 0 or (grammar.name == "round" and len(tag) <= 2):  # "(F)", "(ID)"
            return self._unread(grammar, literal, tag)
        if grammar.name == "round" and meaning.kind in _ABBREVIATED and tag.isalpha():
            sure -= 0.5  # "the account number (IBAN)": what is abbreviated stands before it, and is no cue
        if not meaning.index or meaning.role == "letter":
            return TagVerdict("known", literal, meaning, sure=sure)
        family = numbered(literal, meaning.index, meaning.number)
        return TagVerdict("known", family, meaning, sure=min(0.99, sure + 0.05))

    def _bare(self, tag: str) -> str:
        """Return *tag* without signs inside of its brackets, if it can be read then: "[%NAME%]", "[@user]", "[X...]"."""
        bare = re.sub(r"^([A-Z])\.?(?:\.{2,}|…|_+)$", r"\1", tag) if len(tag) <= 16 else tag  # "[X...]"
        signs = re.match(r"[%@$#~_!=+|-]+", bare)
        bare = bare[signs.end() :].removesuffix(signs.group()[::-1]).strip() if signs else bare
        return bare if bare != tag and _WORDS.search(bare) and self._reader.read(bare) is not None else tag

    def _hashed(self, grammar: Grammar, literal: str, tag: str) -> TagVerdict | None:
        """Judge a tag with a hash, "PERSON_1:3fa9c2" or "PERSON_3fa9c2": equal hashes are one person or value; None if it has none."""
        parts = re.fullmatch(r"(?i)(.*[^\W\d_].*?)[\s_:#|=-]+((?=[0-9a-f]*[0-9])(?=[0-9a-f]*[a-f])[0-9a-f]{5,64})", tag)
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
        parts = re.fullmatch(r"(?s)\s*([^:=|]{1,40}?)\s*([:=|])\s*(\S.*?)\s*", tag)
        meaning = self._reader.read(parts.group(1)) if parts else None
        sure = _sure(grammar, parts.group(1), meaning) if parts else 0.0
        if parts is None or meaning is None or sure == 0 or meaning.role == "letter" or _CODE.search(parts.group(1)):
            return None
        if parts.group(2) != ":" and not _capitals(parts.group(1)):
            return None
        original = parts.group(3)
        if meaning.kind == "generic":
            told = self._reader.read(original)
            return TagVerdict("known", numbered(literal, told.index) if told.index else literal, told, sure=sure) if told else None
        at = literal.rindex(original)
        before = numbered(literal[:at], meaning.index) if meaning.index else literal[:at]
        family = f"{before}{{original}}{literal[at + len(original) :]}"
        return TagVerdict("known", family, meaning._replace(context=""), original, sure)

    def _coded(self, grammar: Grammar, literal: str, inner: str) -> TagVerdict:
        """Judge "**NAME[AAA, BBB]", whose letters are codes for the words of a name, "**DATE[Jan 05 2008]" and "**AGE[in 60s]"."""
        name, _, told = inner.partition("[")
        if (meaning := self._reader.read(name)) is None:
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
        if (told := self._told(grammar, literal, tag, words)) is not None:
            return told
        short = len(words) <= _LONGEST_TAG[0] and len(tag) <= _LONGEST_TAG[1]
        other = in_other_script(tag)
        if (short and is_tag(grammar.name, tag)) if other else self._looks_redacted(grammar, tag, words):
            return TagVerdict("unknown", re.sub(r"(?<!\d)\d{1,4}(?=\W*$)", "{index}", literal), why=UNREAD)
        status: TagStatus = "nothing" if other and is_quoted(grammar.name) else "left"
        return TagVerdict(status, literal if len(tag) <= _LONGEST_SHOWN else f"{grammar.open}{{text}}{grammar.close}")

    def _told(self, grammar: Grammar, literal: str, tag: str, words: list[str]) -> TagVerdict | None:
        """Judge brackets that are told by something else than known words: "[Mr. X]", "[my insurance]", "[name has been redacted]"."""
        title, _, letter = tag.rpartition(" ")
        told = self._titles.get(title)
        if told is not None and re.fullmatch(r"[A-Z]\.?", letter):
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
            return TagVerdict("unknown", literal, why=UNREAD) if len(words) <= 4 else None
        return TagVerdict("known", literal, meaning._replace(same="mention"), sure=0.5)

    def _looks_redacted(self, grammar: Grammar, tag: str, words: list[str]) -> bool:
        if len(words) > _LONGEST_TAG[0] or len(tag) > _LONGEST_TAG[1] or max(map(len, words)) == 1 or not _PLAIN.fullmatch(tag):
            return False
        if all(word.casefold() in self._data.editorial for word in words):
            return False
        capitals = _capitals(tag)
        marked = capitals or bool(re.fullmatch(r"[^\W\d_]{3,}(?:[ _-][^\W\d_]{2,}){0,2}[ _-]?\d{1,3}[A-Za-z]?", tag))
        if grammar.unknown == "marked" and not marked:
            marked = re.fullmatch(r"(?:[A-ZÀ-Þ][a-zà-ÿ]+){2,}\d{0,3}", tag) is not None and self._reader.speaks(tag)
        emphasized = re.search("quotes|slashes|star|underscore|dash|exclam|colons", grammar.name)
        token = grammar.unknown == "none" and capitals and not emphasized and tag.isidentifier() and self._reader.speaks(tag)
        return {"any": True, "upper": capitals, "marked": marked, "none": token}[grammar.unknown]


def _numbered_unread(literal: str, *, is_tag: bool, sure: float = 0.0) -> TagVerdict:
    """Judge a word with a number that cannot be read; it is listed if it is a tag."""
    return (
        TagVerdict("unknown", f"{literal.rstrip('0123456789')}{{index}}", sure=sure, why=UNREAD)
        if is_tag
        else TagVerdict("nothing", literal)
    )


def _sure(grammar: Grammar, tag: str, meaning: Meaning | None) -> float:
    return 0.0 if meaning is None else meaning.sure * (grammar.upper if _capitals(tag) else grammar.lower)


def _capitals(tag: str) -> bool:
    """Whether *tag* is written in capitals; a possessive 's and the letter of an index ("18b") may be in lower case."""
    letters = re.sub(r"['’]s$|\d[a-z]\b", "", tag)
    return letters == letters.upper() and letters != letters.lower()
