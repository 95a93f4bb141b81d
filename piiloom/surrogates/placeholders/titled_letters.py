"""Letters after a title: which of them are all that is left of a name ("Dr. X", "Herr A.", "Mr A.B."), and which begin something else."""

from __future__ import annotations

import re
from functools import cache
from typing import Final

from piiloom.foundation.words import any_of
from piiloom.surrogates.name_words import name_words
from piiloom.surrogates.placeholders.corpus_languages import common_words

_NAME_FOLLOWS: Final = re.compile(r"\.? ?[A-Z][a-z]|\.-?[A-Z]\.")
_NAMED: Final = re.compile(r"[A-ZÀ-ÖØ-Þ][^\W\d_]+ $")  # ends in a name
_PLACEHOLDER_LETTERS: Final = frozenset("XYZ")


@cache
def _sentence() -> re.Pattern[str]:
    """Return the pattern of a sentence that begins after a letter, which else may be the start of something else: "Dr. J. Smith"."""
    return re.compile(rf"\.\s+(?:{any_of(name_words().letter_beginnings)})\b")


@cache
def _initials() -> re.Pattern[str]:
    """Return the pattern of all that is said of a name: "Herr A. sagt", "Mr A.B. said".

    What follows tells that no family name does, and whose the last dot is.
    """
    no_family = rf"(?! (?:{any_of(name_words().letter_particles)})\b)"
    following = r"(?=\.{1,2}(?:[\n\"”’»!?]|\s*$|\s+(?P<next>[A-ZÀ-Þ][\w’']*)))"
    return re.compile(rf"[A-Z](?:\.[ -]?[A-Z])*(?:\.(?=[,;:)]|{no_family} [(\[<a-zà-ÿ])|{following})")


@cache
def joined() -> re.Pattern[str]:
    """Return the pattern of what joins a further letter to one after a title: "Dr. X and Y"."""
    return re.compile(rf"(?:, | (?:{any_of(name_words().letter_joiners)}) )([A-HJ-Z])(?!\w|\.\w)(?!-\w|[’'](?!s\b)\w)")


@cache
def _next_words() -> frozenset[str]:
    """Return the words, in small letters, that begin a sentence where a family name would stand."""
    return common_words().union(name_words().letter_titles)


def end_of_initials(text: str, start: int) -> int:
    """Return where the initials at *start* end if they are all that is said of a name ("Herr A. sagt"), else 0."""
    found = _initials().match(text, start)
    if found is None:
        return 0
    following = found["next"]
    return found.end() if following is None or following.casefold() in _next_words() else 0


def is_initial(title: str, head: str, letter: str) -> bool:
    """Whether *title*, a single letter at the end of *head*, is an initial or a degree that follows a name: "House M. D."."""
    if len(title.rstrip(".")) != 1:
        return False
    before = head[: len(head) - len(title)]
    return _NAMED.search(before) is not None or (letter == "D" and _NAMED.search(before.replace(",", "")) is not None)


def stands_alone(text: str, start: int, *, form_of_address: bool) -> bool:
    """Whether the single letter at *start*, after a title, is the whole name and not an initial or an article ("the doctor A few").

    No article follows a *form_of_address* ("Ms A").
    """
    letter, after = text[start], text[start + 1 : start + 24]
    if letter in _PLACEHOLDER_LETTERS:
        return after[:1] == " " or re.match(r"\.\s", after) is not None or not _NAME_FOLLOWS.match(after)
    if _sentence().match(after):
        return True
    if _NAME_FOLLOWS.match(after) or after[:2] == ". ":
        return False
    return letter != "A" or form_of_address or not after or after[0] in ",.;:?!)'’\n" or text[start - 2] == "."
