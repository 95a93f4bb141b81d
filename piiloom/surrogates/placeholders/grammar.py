"""The grammar of placeholders: its data (``data/grammars.yaml``), and the regular expressions compiled from it.

Tags in scripts of which no vocabulary is known ("[الاسم]", "<данные изъяты>", "【氏名】") are listed, never filled.

A longer candidate is found by its most distinctive part: "555-***-****" by its stars, "Ort_3" by its number.

A tag pattern (family) covers all tags that differ only in index or contained value: "[appellant sub {index}]".
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cache
from itertools import groupby
from typing import Final, Literal, NamedTuple

from pydantic import BaseModel, ConfigDict, Field

from piiloom.foundation.words import any_of
from piiloom.foundation.yaml_files import load_data
from piiloom.pii_values.rewriting.calendars import month_words

Shape = Literal["signs", "run", "word"]
CasePolicy = Literal["any", "upper", "marked", "none"]


class _Part(BaseModel):
    model_config = ConfigDict(extra="forbid", defer_build=True)


class GrammarEntry(_Part):
    """A tag between signs, a run of one sign (between ``open`` and ``close`` if it has them), or a placeholder without signs."""

    name: str
    not_before: str = ""
    not_after: str = ""
    open: str = ""
    close: str = ""
    inner: str = ""
    sign: str = ""
    least: int = Field(1, alias="from")
    first: str = ""
    rest: str = ""
    upper: float = 0.0
    lower: float = 0.0
    sure: float = 0.0
    unknown: CasePolicy = "none"
    kind: str = ""
    needs: str = ""
    examples: tuple[str, ...]
    never: tuple[str, ...]


class GrammarsFile(_Part):
    """``grammars.yaml``; what the keys mean is told there."""

    signs: tuple[GrammarEntry, ...]
    runs: tuple[GrammarEntry, ...]
    words: tuple[GrammarEntry, ...]
    letters: tuple[str, ...]
    markup: frozenset[str]
    markup_in_capitals: frozenset[str]
    tokens: frozenset[str]
    editorial: frozenset[str]
    redacting: frozenset[str]
    removing: frozenset[str]
    other_scripts: tuple[str, ...]
    streets: tuple[str, ...]
    joiners: tuple[str, ...]
    determiners: tuple[str, ...]


class Grammar(NamedTuple):
    """One way of writing a placeholder.

    ``upper`` and ``lower`` are the confidences (0 to 1) that a tag with known words is a placeholder, if it is in capitals or not.
    ``unknown`` says which tags with unknown words are reported. ``kind`` is set if the form alone tells the kind of value.
    """

    name: str
    shape: Shape
    open: str
    close: str
    upper: float
    lower: float
    unknown: CasePolicy
    kind: str = ""


@cache
def grammars_file() -> GrammarsFile:
    """Read the data file; cached."""
    return load_data("piiloom.surrogates", "grammars.yaml", GrammarsFile)


@cache
def grammars() -> dict[str, Grammar]:
    """Return all grammars by name; cached."""
    data = grammars_file()
    found = [Grammar(s.name, "signs", s.open, s.close, s.upper, s.lower, s.unknown, s.kind) for s in data.signs]
    found += [Grammar(r.name, "run", "", "", r.sure, r.sure, "none") for r in data.runs]
    found += [Grammar(w.name, "word", "", "", w.sure, w.sure, "none", w.kind) for w in data.words]
    return {grammar.name: grammar for grammar in found}


TITLED: Final = "titled"
GrammarPatterns = tuple[re.Pattern[str], tuple[tuple[str, re.Pattern[str]], ...], re.Pattern[str] | None]


@cache
def compiled(names: tuple[str, ...] | None, known_titles: tuple[str, ...]) -> GrammarPatterns:
    """Return the patterns of the signs, of those that need a piece of text, by that piece, and of the words."""
    data = grammars_file()
    wanted = set(grammars() if names is None else names)
    signs: dict[str, list[str]] = {"": []}
    for entry in (*data.runs, *data.signs):
        if entry.name in wanted:
            signs.setdefault(entry.needs, []).append(_signs_pattern(entry))
    # Every alternative without needs begins with a literal character, so that ``re`` can skip quickly to possible starts.
    (_, always), *rarer = [(needs, re.compile("|".join(patterns) or "(?!)")) for needs, patterns in signs.items()]
    words = [w for w in data.words if w.name in wanted]
    return always, tuple(rarer), _words_pattern(words, data.letters, known_titles) if words else None


def _signs_pattern(entry: GrammarEntry) -> str:
    opening = entry.open or entry.sign
    first = re.escape(opening[:1])
    before = rf"(?<!{entry.not_before}{first})" if entry.not_before and first else ""
    after = f"(?!{entry.not_after})" if entry.not_after else ""
    least = entry.least if entry.open else entry.least - 1
    inner = rf"{re.escape(entry.sign)}{{{least},}}+" if entry.sign else entry.inner
    return rf"{first}{before}(?P<{entry.name}>{re.escape(opening[1:])}{inner}{re.escape(entry.close)}){after}"


def _words_pattern(entries: list[GrammarEntry], letters: tuple[str, ...], known_titles: tuple[str, ...]) -> re.Pattern[str]:
    """Build one expression that starts with a character set, so that ``re`` is fast; look-behinds check what comes before it.

    The pronoun "I" and words in small letters after their first letter, which are most, are passed over at once.
    """
    firsts = "".join(dict.fromkeys(entry.first for entry in entries))
    by_length = groupby(sorted(known_titles, key=len), key=len)  # what a look-behind holds has one length
    behind_title = "(?:" + "|".join(rf"(?<=\b(?:{any_of(titles)}) .)" for _, titles in by_length) + ")"
    # Letter groups after their first letter. Spaced-out ones may have one or two spaces; three or more X's are also a group.
    ends = [rf"(?<={word[0]}){word[1:].replace(' ', ' {1,2}')}" for word in sorted(letters, key=len, reverse=True)]
    groups = f"(?:{'|'.join([*ends, '(?<=X)XX+'])})"
    parts = []
    ordered = sorted(entries, key=lambda entry: entry.name != TITLED)
    # What begins with the same characters, or with an X, is tried together, or not at all.
    for first, group in groupby(ordered, key=lambda entry: "Xx" if set(entry.first) <= {"X", "x"} else entry.first):
        of_group = []
        for entry in group:
            rest = entry.rest.replace("{titles}", behind_title).replace("{letters}", groups)
            of_group.append(rf"{'' if entry.first == first else f'(?<=[{entry.first}])'}(?P<{entry.name}>{rest})")
        parts.append(rf"(?<=[{first}])(?:{'|'.join(of_group)})")
    return re.compile(rf"[{firsts}](?<!\w.)(?!(?<=I)[ ’'])(?!(?!onth ?D|xx)[a-z]{{2}})(?:{'|'.join(parts)})")


_ANY: Final = frozenset("stars angle angles triple_angle escaped_angle curly double_curly triple_curly double_square".split())


def in_other_script(text: str) -> bool:
    """Whether *text* has letters of another script than the Latin one."""
    return re.search(r"[^\W\d_A-Za-zªºÀ-ɏ\u1e00-\u1eff]", text) is not None


def speaks_in_other_script(text: str) -> bool:
    """Whether *text* has a word that tags in other scripts have."""
    low = text.casefold()
    return any(word in low for word in grammars_file().other_scripts)


def is_tag(grammar: str, tag: str) -> bool:
    """Whether *tag*, in another script and between the signs of *grammar*, stands for something.

    Angle and curly brackets seldom hold anything else. Square brackets hold insertions of editors in scripts with small letters
    ("[они]"), headings and emoji in East Asian texts ("【重要】", "[微笑]"), so that the words decide; quotes hold what somebody said.
    """
    if is_quoted(grammar):
        return tag.casefold().rstrip("0123456789_ ") in grammars_file().other_scripts
    if grammar in _ANY or speaks_in_other_script(tag):
        return True
    # East Asian letters: compiled when a tag needs it, since so large a set takes 4 ms.
    return not re.search(r"[\u2e80-\u9fff\uac00-\ud7af]", tag) and (tag.upper() == tag.lower() or tag == tag.upper())


def is_quoted(grammar: str) -> bool:
    """Whether *grammar* is one of quotes, which mostly hold what somebody said."""
    return grammar in {"guillemets", "angle_quotes", "double_angle_quotes", "corner_quotes", "white_corner_quotes"}


SIGNS: Final = "Xx*#_?•█▇■×"  # what stands for one character of a masked number
BEARERS: Final = frozenset(
    {"letters", "small_letters", "asterisks", "blank", "bars", "blocks", "squares", "questions", "hash_run", "bullets"}
)
_DATED: Final = "part_dated"  # "XX" beside the name of a month
PARTS: Final = frozenset(  # nothing by themselves
    f"part_starred starred_tail part_crossed short_crossed crossed_tail {_DATED}".split()
    + "dated_stars dated_blanks dated_questions dated_hashes".split()
)
WORD_NUMBERED: Final = "word_numbered"
WORD_LABEL: Final = "word_label"  # "Doctor_2: yes"
TITLE_WORDS: Final = "title_words"  # "Generic_School"
HYPHEN_NUMBERED: Final = "hyphen_numbered"  # "Victim-1"
_REACH: Final = 40  # characters looked at on each side
_PLACE: Final = rf"[\d{re.escape(SIGNS)}]"
_STRONG: Final = frozenset("Xx*•█▇■×")  # "_", "?" and "#" are also those of forms to fill in, and of descriptions of a format
_YEAR: Final = r"(?:19|20)\d\d"
_NUMBER: Final = "masked_number"

# What a masked value looks like, by the grammar that tells its kind; the first that fits counts. ° is a place.
_SHAPES: Final = {
    "masked_email": r"[\w.+*•-]+@[\w*•-]+(?:\.[\w*•-]+)+",
    "masked_date": r"(?:°{1,2}(?P<a>[-/.])°{1,2}(?P=a)(?:°{4}|°{2})|°{4}(?P<b>[-/.])°{2}(?P=b)°{2}"
    rf"|°{{2}}[/.]{_YEAR}|{_YEAR}/°{{2}}|°{{1,2}}\.? (?:°{{3}}|°{{2}}\.?) {_YEAR})",
    "masked_time": r"(?:°{2}:\d{2}|\d{1,2}:°{2})(?::°{2})?(?!:)",
    "masked_id": r"(?:°{3}-°{2}-°{4}|°{3}\.°{3}\.°{3}-°{2})",
    "masked_card": r"(?:°{4}-°{4}-°{4}-°{3,4}|°{4}-°{6}-°{5}|°{4} °{4} °{4} \d{3,4}|(?:[*•]{4} ){3}[*•\d]{4}|\d{4,6}[*•Xx]{6,8}\d{4})",
    "masked_phone": r"(?:(?:\+?°{1,3}[ .-]?)?(?:\(°{3}\) ?|°{3}[ .-])°{3}[ .-]°{4}|\+\d{1,3}(?:[ .-][\d*•]{2,7}){1,5})",
    _NUMBER: r"(?:[*•]{4} \d{3,4}|(?=(?:°[-.]?){6})°{2,}(?:[-.]°+)+|[A-Z]{0,2}°*\d[Xx*•]{2,}°*|[A-Z]{0,2}[Xx*•]{3,}\d{2,}°*)",
}
_EDGE: Final = rf"(?:[^\W\u2e80-\u9fff\uac00-\ud7af]|[{re.escape('*#?•@')}])"  # words of East Asian texts stand right beside numbers
_BESIDE: Final = frozenset("-/.)(+@*#?•_0123456789")  # what stands beside a part of a longer mask; also a space, beside digits or stars
_WORDS_BEFORE: Final = re.compile(r"(?<!\w)[^\W\d_]{2,}(?:_[^\W\d_]{2,}){0,2}$")
_BOLD: Final = re.compile(r"(?<![\w*])\*{2,3}(?=[^\s*])")
_NAME_BEFORE: Final = re.compile(r"(?<![\w.+*-])\w[\w.+*-]*$")

CandidatePlace = tuple[int, int, Grammar]


@cache
def _whole() -> re.Pattern[str]:
    """The expression for all shapes: compiled when a mask is met, since it takes 5 ms."""
    shapes = "|".join(f"(?P<{name}>{shape.replace('°', _PLACE)})" for name, shape in _SHAPES.items())
    return re.compile(rf"(?<!{_EDGE})(?:{shapes})(?!{_EDGE}|[-/]\w)")


@cache
def _beside_month() -> re.Pattern[str]:
    """The expression for a date with the name of a month in which the day, or more, is masked."""
    of, th = r"(?: (?:of|de|di))?", r"(?:st|nd|rd|th|er|º|\.)?"
    month, sign = rf"(?:{any_of(sorted(month_words(), key=lambda word: (-len(word), word)))})\.?", f"[{re.escape(SIGNS)}]"
    day, year = rf"(?:{sign}{{1,3}}|\d{{1,2}}){th}", rf"(?:,?{of} (?:{_YEAR}|{sign}{{4}}|\d\d{sign}{{2}}))?"
    return re.compile(rf"(?<!{_EDGE})(?:{month} {day}{year}|{day}{of} {month}{year})(?!{_EDGE}|[-/]\w)", re.IGNORECASE)


def _dated(text: str, start: int, end: int, grammar: Grammar) -> CandidatePlace | None:
    """Return "March XX, 2019" for the "XX" in it."""
    for match in _beside_month().finditer(text, max(0, start - _REACH), end + _REACH):
        if match.start() <= start and match.end() >= end:
            return match.start(), match.end(), grammars()["masked_date"]
    return None if grammar.name in PARTS else (start, end, grammar)


def _mask(text: str, start: int, end: int, grammar: Grammar) -> CandidatePlace | None:
    """Return the number, date or address that the mask is a part of, or the mask alone."""
    for match in _whole().finditer(text, max(0, start - _REACH), end + _REACH):
        if match.start() <= start and match.end() >= end and (match.end() - match.start() > end - start or grammar.name in PARTS):
            found = grammars()[match.lastgroup or _NUMBER]
            strong = _STRONG & set(match.group()) or (found.name == "masked_date" and any(map(str.isdigit, match.group())))
            sure = found.upper if strong or found.name == "masked_email" else min(found.upper, 0.55)
            return match.start(), match.end(), found._replace(upper=sure)
    return _dated(text, start, end, grammar)


def may_be_wider(text: str, start: int, end: int, name: str) -> bool:
    """Whether the candidate ``[start, end)`` of the grammar *name* may be a part of something longer; a quick test."""
    if name not in BEARERS:
        return name in WIDENERS
    after, before = text[end : end + 1], text[start - 1 : start]
    if after in _BESIDE or before in _BESIDE:
        return after != "." or before in _BESIDE or text[end + 1 : end + 2].isalnum() or text[end + 1 : end + 2] in _BESIDE
    if before == " " and (text[start - 2 : start - 1].isdigit() or text[start - 2 : start - 1] == ")"):
        return True
    if (
        before == " "
        and after in {",", " ", ".", ""}  # behind a day, or behind a year
        and text[max(0, start - 16) : start - 1].rpartition(" ")[2].strip(".").casefold() in month_words()
    ):
        return True  # "March ___, 2019"
    return after == " " and text[start] in "*•"


def _begun(text: str, start: int, end: int, grammar: Grammar) -> CandidatePlace | None:
    """Return "Ort_3" for "_3", and "j***@example.com" for "***@example.com"."""
    before = (_NAME_BEFORE if grammar.name == "starred_email" else _WORDS_BEFORE).search(text, max(0, start - _REACH), start)
    return (before.start(), end, grammar) if before else None


def _starred_name(text: str, start: int, end: int, grammar: Grammar) -> CandidatePlace | None:
    """Return "J***", unless its stars end what is bold: "**Plan B**"."""
    line = max(text.rfind("\n", 0, start) + 1, start - 4 * _REACH)
    if text.endswith("**", 0, end) and _BOLD.search(text, line, start):
        return None
    return start, end, grammar


# By grammar, what finds the whole of a candidate, with the grammar that it is of, or None if it is none after all.
WIDENERS: Final[dict[str, Callable[[str, int, int, Grammar], CandidatePlace | None]]] = {
    **dict.fromkeys(BEARERS | PARTS, _mask),
    _DATED: _dated,
    **dict.fromkeys((WORD_NUMBERED, WORD_LABEL, TITLE_WORDS, HYPHEN_NUMBERED, "starred_email"), _begun),
    "starred_name": _starred_name,
}
INDEX: Final = r"[0-9]{1,9} ?[A-Za-z]?|[A-Za-z]{1,4}"
IN_INITIALS: Final = "{initials}"
# What a token of a pattern stands for, and an example of it.
_TOKENS: Final = {
    "{index}": (f"(?P<index>{INDEX})", "1"),
    "{number}": (r"(?P<number>[0-9]{1,5} ?[A-Za-z]?)", "2"),
    "{original}": (r"(?P<original>[^\[\]<>{}\n]{1,200}?)", "abc"),
    "{date}": (r"(?P<original>[0-9/. -]{1,24}?)", "2151-7-16"),
    "{year}": (r"(?P<original>[12][0-9]{3}|'[0-9]{2})", "2151"),
    "{digits}": (r"[0-9]{1,4}", "2019"),
    "{hash}": (r"[0-9A-Fa-f]{5,64}", "3fa9c2"),
    "{letter}": (r"(?P<letter>[A-Z](?: {0,2}[A-Z]){0,11})", "X"),
    IN_INITIALS: (r"(?P<letter>[A-Z](?:\.[ -]?[A-Z]){1,11}\.?)", "J. L."),
}
_TOKEN: Final = re.compile(any_of(_TOKENS))


def numbered(literal: str, index: str, number: str = "") -> str:
    """Return *literal* with its index replaced by ``{index}`` (and its *number* by ``{number}``).

    A part that cannot be found stays unchanged. With a *number*, the index is expected at the beginning ("[a-straat 1]"); without
    one, the last occurrence of the index is taken, else one at the beginning.
    """
    if number:
        return _last(_first(literal, index), number, "{number}")
    ended = _last(literal, index, "{index}")
    return ended if ended != literal else _first(literal, index)


def _first(literal: str, index: str) -> str:
    """Replace *index* by ``{index}`` if *literal* begins with it, as in "[a-straat]"; else return *literal*."""
    found = re.match(rf"(\W*){re.escape(index)}(?=[\W_])", literal, re.IGNORECASE)
    return f"{found.group(1)}{{index}}{literal[found.end() :]}" if found else literal


def _last(literal: str, index: str, token: str) -> str:
    """Replace the last occurrence of *index* by *token*; leading zeros and separators inside it are ignored ("18b" matches "018 B")."""
    loose = r"[\s._-]{0,2}".join(map(re.escape, re.findall(r"\d+|\D", index)))
    zeros = "0*" if index[:1].isdigit() else ""
    places = [match.span() for match in re.finditer(rf"(?<![0-9]){zeros}{loose}(?!\w)", literal, re.IGNORECASE)]
    if not places:
        return literal
    start, end = places[-1]
    return f"{literal[:start]}{token}{literal[end:]}"


def has_tokens(tag: str) -> bool:
    """Whether *tag* contains a token such as ``{index}``."""
    return _TOKEN.search(tag) is not None


def sample(tag: str) -> str:
    """Return an example text that the pattern *tag* matches."""
    return _TOKEN.sub(lambda match: _TOKENS[match.group()][1], tag)


def pattern_of(tag: str) -> str:
    """Return *tag* as a regular expression whose named groups are index, number, original and letter, as far as it has them.

    ``{date}`` and ``{year}`` give the group original. A repeated token is a named group only the first time.
    """
    parts, at, seen = [], 0, set()
    for match in _TOKEN.finditer(tag):
        token = match.group()
        parts.append(re.escape(tag[at : match.start()]))
        pattern = _TOKENS[token][0]
        parts.append(f"(?:{pattern.split('>', 1)[1]}" if ">" in pattern and token in seen else pattern)
        seen.add(token)
        at = match.end()
    parts.append(re.escape(tag[at:]))
    return "".join(parts)
