"""Letters after a title or a role that are all that is left of a name ("Dr. X", "Herr A.", "Zeuge B."), and letters that begin one."""

from __future__ import annotations

import re
from functools import cache
from typing import Final

from piiloom.foundation.words import any_of
from piiloom.surrogates.name_words import name_words
from piiloom.surrogates.placeholders.corpus_languages import BEGINNING, common_words, language_of

_UPPER: Final = "".join(filter(str.isupper, map(chr, range(0x250))))
# The word after a letter; or a bracket, which holds the family name: "M. [W]".
_NEXT: Final = re.compile(
    rf"(?P<dot>\.?)(?P<gap>\s{{0,3}}+)[\"“„«‘']?(?P<word>-?[{_UPPER}][\w’'-]*)|\.\s{{0,3}}(?:\[(?!sic\b|\.|…)|<[A-Z<]|{{)"
)
_LABEL: Final = re.compile(r"(?:_\d+)?:")
_NAMED: Final = re.compile(r"[A-ZÀ-ÖØ-Þ][^\W\d_]+ $")  # ends in a name
_PLACEHOLDER_LETTERS: Final = frozenset("XYZ")
_LONGEST_NAME: Final = 60
_GERMAN: Final = "de"


@cache
def _family() -> str:
    """Return the pattern of a family name with particles: "de la Tour", "d’Este"."""
    return rf"(?i:(?:{any_of(name_words().letter_particles)})\b[\s’']*){{1,3}}[{_UPPER}]"


@cache
def _family_follows() -> str:
    """Return the pattern of the rest of a name after the dot of its initial: " de la Tour", " et B. Dupont"."""
    return rf"\s(?:{_family()}|(?:{any_of(name_words().letter_joiners)}) [A-Z]\.? ?[{_UPPER}]\w)"


@cache
def _initials() -> re.Pattern[str]:
    """Return the pattern of all that is said of a name: "Herr A. sagt", "Mr A.B. said".

    What follows tells that no family name does, and whose the last dot is.
    """
    inside = rf"(?!{_family_follows()})\s(?:[(a-zà-ÿ–—-]|<[a-z/]|\[(?:sic\b|\.|…))"
    following = rf"(?=\.{{1,2}}(?:[\"”’»!?]|\s*$|(?P<gap>\s+)(?=[{_UPPER}])|\s*\n))"
    return re.compile(rf"[A-Z](?:\.[ \u00a0\u202f-]?[A-Z](?=\.))*+(?:\.(?=[,;:)]|{inside})|{following})")


@cache
def joined() -> re.Pattern[str]:
    """Return the pattern of what joins a further letter to one after a title: "Dr. X and Y"."""
    return re.compile(rf"(?:, | (?:{any_of(name_words().letter_joiners)}) )([A-HJ-Z])(?!\w|\.\w)(?!-\w|[’'](?!s\b)\w)")


@cache
def _next_words(language: str) -> frozenset[str]:
    """Return the words, in small letters, that begin a sentence where a family name would stand; of all languages for ""."""
    listed = name_words().letter_beginnings
    words = [word for name, of_language in listed.items() if language in {"", name} for word in of_language]
    return common_words(language).union(words, name_words().letter_titles)


def _name_follows(text: str, end: int) -> bool:
    """Whether a name goes on at *end*, right after its initial: "B. Müller", "M. [W]"; no new sentence and no label."""
    found = _NEXT.match(text, end)
    if found is None:
        return re.match(rf"\.{_family_follows()}", text[end : end + _LONGEST_NAME]) is not None
    word = found["word"]
    if word is None:
        return True
    if found["gap"].count("\n") > 1 or _LABEL.match(text, found.end()):
        return False
    if not found["dot"]:
        return text[end - 1] != "X" and found["gap"] != "" and len(word) > 1
    language = language_of(text[:BEGINNING])
    if word.casefold() not in _next_words(language):
        return True
    # "B. De Vries"; German capitals tell nothing: "B. Der Richter".
    return language != _GERMAN and re.match(_family(), text[found.start("word") :][:_LONGEST_NAME]) is not None


def end_of_initials(text: str, start: int) -> int:
    """Return where the initials at *start* end if they are all that is said of a name ("Herr A. sagt"), else 0."""
    found = _initials().match(text, start)
    if found is None or (found["gap"] is not None and _name_follows(text, found.end())):
        return 0
    return found.end()


def is_initial(title: str, head: str, letter: str) -> bool:
    """Whether *title*, a single letter at the end of *head*, is an initial or a degree that follows a name: "House M. D."."""
    if len(title.rstrip(".")) != 1:
        return False
    before = head[: len(head) - len(title)]
    return _NAMED.search(before) is not None or (letter == "D" and _NAMED.search(before.replace(",", "")) is not None)


def stands_alone(text: str, start: int, *, form_of_address: bool) -> bool:
    """Whether the single letter at *start* is the whole name and not an initial or an article ("the doctor A few").

    No article follows a *form_of_address* ("Ms A").
    """
    letter, after = text[start], text[start + 1 : start + 3]
    if _name_follows(text, start + 1):
        return False
    if letter in _PLACEHOLDER_LETTERS:
        return True
    if after == ". ":
        return False
    return letter != "A" or form_of_address or not after or after[0] in ",.;:?!)'’\n" or text[start - 2] == "."
