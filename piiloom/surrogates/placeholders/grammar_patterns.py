"""The grammars as regular expressions: one of those that begin with a sign, few for rare ones, one of those that are words."""

from __future__ import annotations

import re
from functools import cache
from itertools import groupby
from typing import Final

from piiloom.surrogates.placeholders.grammar_files import RunEntry, SignsEntry, WordsEntry, grammars, grammars_file

TITLED: Final = "titled"
Patterns = tuple[re.Pattern[str], tuple[tuple[str, re.Pattern[str]], ...], re.Pattern[str] | None]


@cache
def compiled(names: tuple[str, ...] | None, known_titles: tuple[str, ...]) -> Patterns:
    """Return the patterns of the signs, of those that need a piece of text, by that piece, and of the words."""
    data = grammars_file()
    wanted = set(grammars() if names is None else names)
    signs: dict[str, list[str]] = {"": []}
    for run in data.runs:
        if run.name in wanted:
            signs.setdefault(run.needs, []).append(_run_pattern(run))
    for sign in data.signs:
        if sign.name in wanted:
            signs.setdefault(sign.needs, []).append(_signs_pattern(sign))
    # Every alternative without needs begins with a literal character, so that ``re`` can skip quickly to possible starts.
    (_, always), *rarer = [(needs, re.compile("|".join(patterns) or "(?!)")) for needs, patterns in signs.items()]
    words = [w for w in data.words if w.name in wanted]
    return always, tuple(rarer), _words_pattern(words, data.letters, known_titles) if words else None


def _signs_pattern(entry: SignsEntry) -> str:
    after = f"(?!{entry.not_after})" if entry.not_after else ""
    if not entry.open:
        return rf"(?P<{entry.name}>{entry.inner}{re.escape(entry.close)}){after}"
    first = re.escape(entry.open[0])
    before = rf"(?<!{entry.not_before}{first})" if entry.not_before else ""
    return rf"{first}{before}(?P<{entry.name}>{re.escape(entry.open[1:])}{entry.inner}{re.escape(entry.close)}){after}"


def _run_pattern(entry: RunEntry) -> str:
    sign = re.escape(entry.sign)
    before = f"(?<!{entry.not_before}{sign})" if entry.not_before else ""
    after = f"(?!{entry.not_after})" if entry.not_after else ""
    if entry.open:
        return rf"{re.escape(entry.open)}(?P<{entry.name}>{sign}{{{entry.least},}}+{re.escape(entry.close)}){after}"
    return rf"{sign}{before}(?P<{entry.name}>{sign}{{{entry.least - 1},}}+){after}"


def _words_pattern(entries: list[WordsEntry], letters: tuple[str, ...], known_titles: tuple[str, ...]) -> re.Pattern[str]:
    """Build one expression that starts with a character set, so that ``re`` is fast; look-behinds check what comes before it.

    The pronoun "I" and words in small letters after their first letter, which are most, are passed over at once.
    """
    firsts = "".join(dict.fromkeys(entry.first for entry in entries))
    behind_title = "(?<= .)(?:" + "|".join(rf"(?<=\b{re.escape(title)} .)" for title in sorted(known_titles)) + ")"
    # Letter groups after their first letter. Spaced-out ones may have one or two spaces; three or more X's are also a group.
    ends = [rf"(?<={word[0]}){word[1:].replace(' ', ' {1,2}')}" for word in sorted(letters, key=len, reverse=True)]
    groups = f"(?:{'|'.join([*ends, '(?<=X)XX+'])})"
    parts = []
    ordered = sorted(entries, key=lambda entry: entry.name != TITLED)
    for crossed, group in groupby(ordered, key=lambda entry: set(entry.first) <= {"X", "x"}):
        of_group = []
        for entry in group:
            rest = entry.rest.replace("{titles}", behind_title).replace("{letters}", groups)
            of_group.append(rf"(?<=[{entry.first}])(?P<{entry.name}>{rest})")
        # What begins with an X is tried together, or not at all.
        parts.append(rf"(?<=[Xx])(?:{'|'.join(of_group)})" if crossed else "|".join(of_group))
    return re.compile(rf"[{firsts}](?<!\w.)(?!(?<=I)[ ’'])(?!(?!onth ?D|xx)[a-z]{{2}})(?:{'|'.join(parts)})")
