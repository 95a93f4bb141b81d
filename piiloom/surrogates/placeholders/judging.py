"""Classify a candidate by its own text: a tag with a known meaning, an unknown tag, or ordinary brackets."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Final

from piiloom.surrogates.kinds.registry import KINDS
from piiloom.surrogates.placeholders.families import numbered
from piiloom.surrogates.placeholders.form_verdicts import FORM_VERDICTS, mask_verdict, run_verdict
from piiloom.surrogates.placeholders.grammar_files import Grammar, grammars_file
from piiloom.surrogates.placeholders.other_scripts import in_other_script, is_quoted, is_tag
from piiloom.surrogates.placeholders.reading import Meaning, Reader
from piiloom.surrogates.placeholders.scanning import Candidate, Scanner
from piiloom.surrogates.placeholders.verdicts import DIGITS, UNREAD, Status, Verdict
from piiloom.surrogates.placeholders.word_judging import WordJudge

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
_LONGEST_SHOWN: Final = 40
_LONGEST_ROUND: Final = 4  # words of "(name withheld by request)"
_SHORTEST_ROUND: Final = 2  # up to this length a tag in round brackets is taken for an abbreviation: "(F)", "(ID)"
_LONGEST_LETTER: Final = 16
_ABBREVIATED: Final = frozenset("url ip_address bank_account national_id tax_id medical_record vehicle_id id_number".split())
_ABBREVIATION_LESS: Final = 0.5  # "the account number (IBAN)": what is abbreviated stands before it, and is no cue
_REDACTING_SURE: Final = 0.5


class Judge:
    """Classifies candidates by the words of a vocabulary. The surrounding text is examined in ``surroundings``."""

    def __init__(self, reader: Reader, scanner: Scanner) -> None:
        self._reader = reader
        self._scanner = scanner
        data = grammars_file()
        self._data = data
        self._by_name: dict[str, Callable[[Grammar, str], Verdict]] = {**WordJudge(reader, scanner).by_name, **FORM_VERDICTS}

    def judge(self, candidate: Candidate) -> Verdict:
        """Return the verdict on *candidate*, based on its own text only."""
        grammar, literal = candidate.grammar, candidate.literal
        if grammar.kind:
            return mask_verdict(grammar, literal)
        by_name = self._by_name.get(grammar.name)
        if by_name is not None:
            return by_name(grammar, literal)
        return self._signs(grammar, literal) if grammar.shape == "signs" else run_verdict(grammar, literal)

    def _signs(self, grammar: Grammar, literal: str) -> Verdict:
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
                return Verdict("known", f"[**{{{kind}}}**]", Meaning(kind, same="mention"), inner, grammar.upper)
            inner = _STAR_TYPE.sub(" ", inner) if _WORDS.search(inner) else inner
        return self._tag(grammar, literal, inner)

    def _angle(self, grammar: Grammar, literal: str, inner: str) -> Verdict:
        """Judge an angle tag, which may be markup. ``<PERSON id="1"/>`` is read as a tag with an index."""
        attribute = _ATTRIBUTE.fullmatch(inner.rstrip("/"))
        tag = f"{attribute.group(1)} {attribute.group(2)}" if attribute else inner.rstrip("/ ")
        name = tag.split(" ")[0].lstrip("/")
        address = _ADDRESS.match(inner)
        if self._redacts(inner, name):
            return Verdict("unknown", re.sub(r"\d{1,4}", "{digits}", literal[:_LONGEST_SHOWN]), why=UNREAD, markup=name)
        if address or inner.startswith("/") or self._is_markup(inner, name):
            return Verdict("left", f"<{(address.group() if address else name[:20]).casefold()}>", why="markup")
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

    def _tag(self, grammar: Grammar, literal: str, tag: str) -> Verdict:
        """Judge *tag*, the text between the signs of *literal*."""
        literal = " ".join(literal.split())
        tag = self._bare(tag)
        masked = next((kind for pattern, kind in _MASKS if pattern.fullmatch(tag)), "")
        if masked:
            return Verdict("known", literal, Meaning(masked, same="mention"), sure=grammar.lower)
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
            return Verdict("known", literal, meaning, sure=sure)
        family = numbered(literal, meaning.index, meaning.number)
        return Verdict("known", family, meaning, sure=min(0.99, sure + 0.05))

    def _bare(self, tag: str) -> str:
        """Return *tag* without signs inside of its brackets, if it can be read then: "[%NAME%]", "[@user]", "[X...]"."""
        bare = _LETTER_SIGNS.sub(r"\1", tag) if len(tag) <= _LONGEST_LETTER else tag
        signs = _INNER_SIGNS.match(bare)
        bare = bare[signs.end() :].removesuffix(signs.group()[::-1]).strip() if signs else bare
        return bare if bare != tag and _WORDS.search(bare) and self._reader.read(bare) is not None else tag

    def _hashed(self, grammar: Grammar, literal: str, tag: str) -> Verdict | None:
        """Judge a tag with a hash, "PERSON_1:3fa9c2" or "PERSON_3fa9c2": equal hashes are one person or value; None if it has none."""
        parts = _HASHED.fullmatch(tag)
        meaning = self._reader.read(parts.group(1)) if parts else None
        if parts is None or meaning is None or meaning.kind == "generic" or KINDS[meaning.kind].entity_type == "code":
            return None  # of a code it may be the original
        sure = _sure(grammar, parts.group(1), meaning)
        at = literal.rindex(parts.group(2))
        before = numbered(literal[:at], meaning.index) if meaning.index else literal[:at]
        family = f"{before}{{hash}}{literal[at + len(parts.group(2)) :]}"
        return Verdict("known", family, meaning._replace(index=meaning.index or parts.group(2).casefold(), same="document"), sure=sure)

    def _bearing(self, grammar: Grammar, literal: str, tag: str) -> Verdict | None:
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
            return Verdict("known", numbered(literal, told.index) if told.index else literal, told, sure=sure)
        at = literal.rindex(original)
        before = numbered(literal[:at], meaning.index) if meaning.index else literal[:at]
        family = f"{before}{{original}}{literal[at + len(original) :]}"
        return Verdict("known", family, meaning._replace(context=""), original, sure)

    def _coded(self, grammar: Grammar, literal: str, inner: str) -> Verdict:
        """Judge "**NAME[AAA, BBB]", whose letters are codes for the words of a name, "**DATE[Jan 05 2008]" and "**AGE[in 60s]"."""
        name, _, told = inner.partition("[")
        meaning = self._reader.read(name)
        if meaning is None:
            return self._unread(grammar, literal, name)
        original = told.title() if meaning.kind == "person" else told  # one code is one name: its words are read as those of a known name
        return Verdict("known", f"**{name}[{{original}}]", meaning._replace(context=""), original, grammar.upper * meaning.sure)

    def _unread(self, grammar: Grammar, literal: str, tag: str) -> Verdict:
        """Judge a tag with unknown words: unknown if it looks redacted, else left as ordinary brackets."""
        words = _WORDS.findall(tag)
        if not words:
            if grammar.name == "square" and re.fullmatch(r"\d{4,}", tag):
                return Verdict("unknown", literal[:_LONGEST_SHOWN], why=DIGITS)
            digits = any(char.isdigit() for char in tag)
            return Verdict("left", f"{grammar.open}{{number}}{grammar.close}" if digits else literal[:_LONGEST_SHOWN])
        if grammar.name == "round":
            return self._redacting(literal, tag) or Verdict("left", "({text})")
        told = self._told(grammar, literal, tag, words)
        if told is not None:
            return told
        short = len(words) <= _LONGEST_TAG[0] and len(tag) <= _LONGEST_TAG[1]
        other = in_other_script(tag)
        if (short and is_tag(grammar.name, tag)) if other else self._looks_redacted(grammar, tag, words):
            index = re.search(r"(?<!\d)(\d{1,4})\W*$", literal)
            family = f"{literal[: index.start(1)]}{{index}}{literal[index.end(1) :]}" if index else literal
            return Verdict("unknown", family, why=UNREAD)
        status: Status = "nothing" if other and is_quoted(grammar.name) else "left"
        return Verdict(status, literal if len(tag) <= _LONGEST_SHOWN else f"{grammar.open}{{text}}{grammar.close}")

    def _told(self, grammar: Grammar, literal: str, tag: str, words: list[str]) -> Verdict | None:
        """Judge brackets that are told by something else than known words: "[Mr. X]", "[my insurance]", "[name has been redacted]"."""
        title, _, letter = tag.rpartition(" ")
        if _LETTER.fullmatch(letter) and self._scanner.has_title(title):
            told = self._scanner.title(title)
            return Verdict("known", literal, Meaning("person", told.role, letter[0].casefold(), gender=told.gender), sure=grammar.lower)
        own = grammar.name == "square" and self._reader.is_own(tag) and words[-1].casefold() not in self._data.editorial
        short = len(words) <= _LONGEST_TAG[0] and len(tag) <= _LONGEST_TAG[1]
        said = set(tag.casefold().split())
        editorial = said - self._data.removing <= self._data.editorial and not said <= self._data.removing  # "[citation omitted]"
        if _EXEMPT.fullmatch(tag) or own or (short and not editorial and not (self._data.redacting | self._data.removing).isdisjoint(said)):
            return Verdict("unknown", literal[:_LONGEST_SHOWN], why=UNREAD)
        return None

    def _redacting(self, literal: str, tag: str) -> Verdict | None:
        """Judge what says in round brackets that something was redacted: "(anonymisé)", "(name withheld)"; None if it does not."""
        words = tag.casefold().split()
        if not self._data.redacting.intersection(words):
            return None
        meaning = self._reader.read(tag)
        if meaning is None:
            return Verdict("unknown", literal, why=UNREAD) if len(words) <= _LONGEST_ROUND else None
        return Verdict("known", literal, meaning._replace(same="mention"), sure=_REDACTING_SURE)

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
