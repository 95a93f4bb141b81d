"""Folded texts, and the expressions of patterns for them: an exact one for ``regex``, and looser ones on bytes for prefilters.

Wherever the exact one matches, a looser one matches inside it. In looser ones, characters beyond ASCII share bytes, long repeats have no
upper end, and neighbors are checked by an ASCII word boundary only. If a label begins each match, the looser ones are the labels alone.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache, lru_cache, reduce
from operator import or_
from typing import Final, NamedTuple

import numpy as np
import regex
from numpy.typing import NDArray

from piiloom.taxonomy.entities.catalogue_file import (
    CharacterSet,
    EntityPattern,
    Node,
    Repeat,
    TemplateChoice,
    TemplateSequence,
    longest,
    parse_pattern,
)

_BEYOND_ASCII: Final = 0x80
_PLANES: Final = 0x20000  # no digit, blank or hyphen lies beyond the second plane
# Chinese signs that adjoin numbers without a blank ("电话2：138…，30岁"), which ASCII signs would seem to continue: left as they are.
_CLAUSES: Final = "，：；"
# Letters that change into ASCII ones with their case, and signs without a category of their own.
_SIGNS: Final = {
    **dict.fromkeys("‘’‚‛′´`", "'"),
    **dict.fromkeys("“”„‟″«»", '"'),
    **dict.fromkeys("−﹣⁃", "-"),
    "．": ".",
    "،": ",",
    "٫": ".",
    "٬": ",",
    "﹕": ":",
    "〔": "[",
    "〕": "]",
    "【": "[",
    "】": "]",
    "\u3000": " ",
    "\u212a": "K",
    "\u017f": "s",
    "İ": "I",
    "ı": "i",
}


class FoldedText(NamedTuple):
    """``text`` has the length of the original; ``data`` has one byte a code point: ASCII as it is, all else from 0x80 on.

    Code points that differ only by case have the same byte, and many others share it.
    """

    text: str
    data: bytes


def fold_text(text: str) -> FoldedText:
    """Fold *text*: digits of all scripts, full-width forms, blanks, hyphens and quotes to ASCII; no Chinese commas. Lengths stay."""
    if text.isascii():
        return FoldedText(text, text.encode("ascii"))
    points = np.frombuffer(text.encode("utf-32-le", "surrogatepass"), dtype="<u4")
    plain, bytes_of = _tables()
    folded = np.where(points < _PLANES, plain[np.minimum(points, _PLANES - 1)], points)
    data = np.where(folded < _PLANES, bytes_of[np.minimum(folded, _PLANES - 1)], _byte(folded)).astype(np.uint8).tobytes()
    return FoldedText(folded.astype("<u4").tobytes().decode("utf-32-le", "surrogatepass"), data)


def _byte(points: NDArray[np.uint32]) -> NDArray[np.uint32]:
    """The byte of code points beyond ASCII that have no case."""
    return (points & np.uint32(0x7F)) | np.uint32(_BEYOND_ASCII)


@cache
def _tables() -> tuple[NDArray[np.uint32], NDArray[np.uint8]]:
    """By code point: the one that it is folded to, and the byte of a folded one."""
    table = np.arange(_PLANES, dtype=np.uint32)
    bytes_of = np.where(table < _BEYOND_ASCII, table, _byte(table)).astype(np.uint8)
    for point in range(_BEYOND_ASCII, _PLANES):
        character = chr(point)
        if (lower := character.casefold()) != character:
            bytes_of[point] = ord(lower[-1]) & 0x7F | _BEYOND_ASCII
        match unicodedata.category(character):
            case "Nd":
                table[point] = ord("0") + unicodedata.decimal(character)
            case "Zs":
                table[point] = ord(" ")
            case "Pd":
                table[point] = ord("-")
    table[0xFF01:0xFF5F] = np.arange(0x21, 0x7F)
    for sign in _CLAUSES:
        table[ord(sign)] = ord(sign)
    for sign, plain in _SIGNS.items():
        table[ord(sign)] = ord(plain)
    return table, bytes_of


_LETTERS: Final = r"[\p{L}\p{M}\p{N}_]"
_NO_BLANKS: Final = r"[\p{Han}\p{Hiragana}\p{Katakana}\p{Hangul}]"
# Here begins, or has just ended, a letter, mark, digit or underscore of a script that puts blanks between its words.
_NO_WORD_BEHIND: Final = rf"(?<!{_LETTERS}(?<!{_NO_BLANKS}))"
_NO_WORD_AHEAD: Final = rf"(?!{_LETTERS}(?<!{_NO_BLANKS}))"
# What may stand between a label ("password") and its value, and how long it can be.
_LABEL_END: Final = r"""[ ]{0,2}(?:is|[:：=#.\-])?[ ]{0,2}["']?"""
# What may be between a value and the phrase that follows it ("34-letnia").
_PHRASE_GAP: Final = r"[ \-]{0,3}"
_WHOLE_WORD: Final = 3  # a word of ``unless`` as short as this is a whole word, a longer one the beginning of a word
_DIGITS: Final = frozenset("0123456789")
_ASCII: Final = frozenset(map(chr, range(128)))
_WORD_ASCII: Final = frozenset(filter(lambda c: c.isalnum() or c == "_", _ASCII))
_LONGEST_EXACT: Final = 16  # longer repeats are written without an upper end in a prefilter
_LONGEST_LEAST: Final = 64
_PROPERTIES: Final = {"L": r"\p{L}\p{M}", "Lu": r"\p{Lu}", "Ll": r"\p{Ll}", "Han": r"\p{Han}"}
# What may not stand before and behind a match that begins or ends with a digit.
_GUARDS: Final = {
    "number": (r"(?<![0-9][\-./:])(?<![$£€₹¥])", r"(?![\-./:][0-9]|,[0-9]{1,2}(?![0-9]))"),
    "dotted": (r"(?<![0-9]\.)", r"(?!\.[0-9])"),
}
LOOK_AROUND: Final = 5  # code points that boundary and guard look at before or after a match


@dataclass(frozen=True, slots=True)
class Loose:
    """An expression on bytes. ``literal_length``: it is a text of so many code points, only escaped; 0: it is none."""

    expression: bytes
    ignore_case: bool = False
    literal_length: int = 0


@dataclass(frozen=True, slots=True)
class WrittenPattern:
    """``exact`` is for ``regex``, its group 1 is the value. ``loose`` are for prefilters: one of them matches inside each match.

    ``led``: a label begins each match, and the looser ones are literals, so a prefilter tells where such a match may begin. Else it tells
    the end of a looser match, which an exact one has too; ``reach``: an exact match has at most so many code points, what is looked at
    around it included; None: there is no limit.
    """

    exact: str
    loose: tuple[Loose, ...]
    reach: int | None
    led: bool = False


def write_pattern(pattern: EntityPattern) -> WrittenPattern:
    """Write *pattern*, which ``parse_pattern`` accepts."""
    node = parse_pattern(pattern.pattern)
    fold_case = pattern.ignore_case
    first, last = _merged(_at_end(node, 1)), _merged(_at_end(node, -1))
    exact, loose = f"({_exact(node, fold_case)})", _loose(node, fold_case)
    if pattern.boundary == "word":
        exact = _bounded(exact, first, last)
        loose = (rb"\b" if _only(first, _WORD_ASCII) else b"") + loose + (rb"\b" if _only(last, _WORD_ASCII) else b"")
    if pattern.guard != "none":
        exact = _number_guard(exact, first, last, _GUARDS[pattern.guard])
    length = longest(node)
    reach = None if length is None else length + LOOK_AROUND
    if pattern.followed_by:
        stop = rf"(?![ ]{{0,2}}{_one_of(pattern.unless, whole=_WHOLE_WORD)})" if pattern.unless else ""
        exact += rf"(?={_PHRASE_GAP}{_one_of(pattern.followed_by)}{_NO_WORD_AHEAD}{stop})"
        phrases = b"|".join(_literal(phrase).expression.removeprefix(rb"\b") for phrase in pattern.followed_by)
        loose += _PHRASE_GAP.encode() + b"(?:" + phrases + b")"
    if pattern.preceded_by:
        # A label in Chinese may follow a word in Latin letters: "wifi密码".
        exact = rf"(?:{_NO_WORD_BEHIND}|(?=\p{{Han}})){_one_of(pattern.preceded_by)}{_LABEL_END}{exact}"
    if pattern.followed_by:
        # The end that a prefilter finds is that of the phrase, so it only tells whether there is a match.
        return WrittenPattern(exact, (Loose(loose, ignore_case=True),), None)
    if not pattern.preceded_by:
        return WrittenPattern(exact, (Loose(loose),), reach)
    return WrittenPattern(exact, tuple(map(_literal, pattern.preceded_by)), reach, led=True)


def _one_of(phrases: Iterable[str], *, whole: int = 0) -> str:
    """Write *phrases* as alternatives; those of at most *whole* characters are whole words."""
    return "(?i:" + "|".join(regex.escape(fold_text(one).text) + (_NO_WORD_AHEAD if len(one) <= whole else "") for one in phrases) + ")"


def _literal(phrase: str) -> Loose:
    data = fold_text(phrase.lower()).data
    # Most of a short label's places are inside words.
    begins = rb"\b" if data[:1].isalnum() and data.isascii() else b""
    return Loose(begins + b"".join(b"\\x%02x" % byte for byte in data), ignore_case=True, literal_length=len(data))


def _bounded(exact: str, first: CharacterSet, last: CharacterSet) -> str:
    """Put checks around *exact* that no word character adjoins a word character at either end."""
    before, after = _NO_WORD_BEHIND, _NO_WORD_AHEAD
    if not _only(first, _WORD_ASCII):
        before = f"(?:{before}|{_NO_WORD_AHEAD})"
    if not _only(last, _WORD_ASCII):
        after = f"(?:{after}|{_NO_WORD_BEHIND})"
    return f"{before}{exact}{after}"


def _number_guard(exact: str, first: CharacterSet, last: CharacterSet, guard: tuple[str, str]) -> str:
    before, after = guard
    if not _only(first, _DIGITS):
        before = f"(?:(?![0-9])|{before})" if _may_be(first, _DIGITS) else ""
    if not _only(last, _DIGITS):
        after = f"(?:(?<![0-9])|{after})" if _may_be(last, _DIGITS) else ""
    return f"{before}{exact}{after}"


def _only(characters: CharacterSet, members: frozenset[str]) -> bool:
    return not characters.negated and not characters.properties and characters.characters <= members


def _may_be(characters: CharacterSet, members: frozenset[str]) -> bool:
    return bool(members - characters.characters if characters.negated else members & characters.characters)


def _merged(sets: Iterable[CharacterSet]) -> CharacterSet:
    """One set of the characters of all *sets*; if one of them is negated, of any character."""
    listed = list(sets)
    if any(one.negated for one in listed):
        return CharacterSet(frozenset(), negated=True)
    characters = reduce(or_, (one.characters for one in listed), frozenset[str]())
    return CharacterSet(characters, reduce(or_, (one.properties for one in listed), frozenset[str]()))


def _at_end(node: Node, step: int) -> list[CharacterSet]:
    """The sets of which one is the first character of a match, or with the *step* -1 the last."""
    match node:
        case CharacterSet():
            return [node]
        case Repeat():
            return _at_end(node.node, step)
        case TemplateChoice():
            return [one for option in node.options for one in _at_end(option, step)]
        case TemplateSequence():
            found: list[CharacterSet] = []
            for part in node.nodes[::step]:
                found += _at_end(part, step)
                if not _may_be_empty(part):
                    break
            return found


def _may_be_empty(node: Node) -> bool:
    match node:
        case CharacterSet():
            return False
        case Repeat():
            return node.fewest == 0 or _may_be_empty(node.node)
        case TemplateChoice():
            return any(map(_may_be_empty, node.options))
        case TemplateSequence():
            return all(map(_may_be_empty, node.nodes))


def _exact(node: Node, fold_case: bool) -> str:
    match node:
        case CharacterSet():
            return _exact_set(node, fold_case)
        case Repeat():
            most = "" if node.most is None else str(node.most)
            inner = _exact(node.node, fold_case)
            return f"{inner if isinstance(node.node, CharacterSet) else f'(?:{inner})'}{{{node.fewest},{most}}}"
        case TemplateChoice():
            return "(?:" + "|".join(_exact(option, fold_case) for option in node.options) + ")"
        case TemplateSequence():
            return "".join(_exact(part, fold_case) for part in node.nodes)


def _exact_set(node: CharacterSet, fold_case: bool) -> str:
    members = _members(node, fold_case)
    if len(members) == 1 and not node.properties and not node.negated:
        return regex.escape(next(iter(members)))
    written = "".join(c if c.isalnum() or not c.isascii() else f"\\x{ord(c):02x}" for c in sorted(members))
    properties = {"Lu", "Ll"} | node.properties if fold_case and node.properties & {"Lu", "Ll"} else node.properties
    written += "".join(_PROPERTIES[name] for name in sorted(properties))
    return f"[{'^' if node.negated else ''}{written}]"


def _members(node: CharacterSet, fold_case: bool) -> frozenset[str]:
    """The characters of *node* as they are in a folded text."""
    folded = frozenset(map(_folded, node.characters))
    return _both_cases(folded) if fold_case else folded


@lru_cache(maxsize=4096)
def _folded(character: str) -> str:
    return fold_text(character).text


def _both_cases(characters: Iterable[str]) -> frozenset[str]:
    forms = (form for c in characters for form in (c, c.lower(), c.upper()))
    return frozenset(form for form in forms if len(form) == 1)


def _loose(node: Node, fold_case: bool) -> bytes:
    match node:
        case CharacterSet():
            return _loose_set(node, fold_case)
        case Repeat():
            most = b"" if node.most is None or node.most > _LONGEST_EXACT else str(node.most).encode()
            fewest = min(node.fewest, _LONGEST_LEAST)
            if most and int(most) < fewest:
                most = b""
            return b"(?:%b){%d,%b}" % (_loose(node.node, fold_case), fewest, most)
        case TemplateChoice():
            return b"(?:" + b"|".join(_loose(option, fold_case) for option in node.options) + b")"
        case TemplateSequence():
            return b"".join(_loose(part, fold_case) for part in node.nodes)


def _loose_set(node: CharacterSet, fold_case: bool) -> bytes:
    members = _members(node, fold_case)
    ascii_members = members & _ASCII
    if node.properties & {"L", "Lu", "Ll"}:
        ascii_members |= frozenset(c for c in _ASCII if c.isalpha() and _has(node.properties, c, fold_case))
    if node.negated or node.properties:
        beyond = b"\\x80-\\xff"  # any of them
    else:
        beyond = b"".join(b"\\x%02x" % byte for byte in sorted(set(fold_text("".join(members - _ASCII)).data)))
    if node.negated:
        ascii_members = _ASCII - ascii_members
    return b"[" + b"".join(b"\\x%02x" % ord(c) for c in sorted(ascii_members)) + beyond + b"]"


def _has(properties: frozenset[str], letter: str, fold_case: bool) -> bool:
    return "L" in properties or fold_case or ("Lu" in properties and letter.isupper()) or ("Ll" in properties and letter.islower())
