"""Letters after a title: which of them are all that is left of a name ("Dr. X", "Herr A.", "Mr A.B."), and which begin something else."""

from __future__ import annotations

import re
from typing import Final

from piiloom.surrogates.placeholders.corpus_languages import common_words

# A single letter after a title may be the start of something else: "Dr. J. Smith", "Doctor A few days".
_SENTENCE: Final = re.compile(
    r"\.\s+(?:He|She|It|They|The|This|That|His|Her|We|I|In|On|At|A|An|There|Then|Patient|And|But|De|Het|Hij|Zij|Ele|Ela|O)\b"
)
_NAME_FOLLOWS: Final = re.compile(r"\.? ?[A-Z][a-z]|\.-?[A-Z]\.")
# All that is said of a name: "Herr A. sagt", "Mr A.B. said". What follows tells that no family name does, and whose the last dot is.
_PARTICLE: Final = r" (?:van|von|de|der|den|da|do|dos|das|du|la|le|di|del|della|dello|dei|ter|ten|zu|af|av|bin|ibn|al|el|d’|d')\b"
_INITIALS: Final = re.compile(
    rf"[A-Z](?:\.[ -]?[A-Z])*(?:\.(?=[,;:)]|(?!{_PARTICLE}) [(\[<a-zà-ÿ])|(?=\.{{1,2}}(?:[\n\"”’»!?]|\s*$|\s+(?P<next>[A-ZÀ-Þ][\w’']*))))"
)
_TITLES: Final = frozenset("mr mrs ms dr prof herr frau mme m sr sra dhr mevr".split())
_NAMED: Final = re.compile(r"[A-ZÀ-ÖØ-Þ][^\W\d_]+ $")  # ends in a name
_PLACEHOLDER_LETTERS: Final = frozenset("XYZ")


def end_of_initials(text: str, start: int) -> int:
    """Return where the initials at *start* end if they are all that is said of a name ("Herr A. sagt"), else 0."""
    found = _INITIALS.match(text, start)
    if found is None:
        return 0
    following = found["next"]
    return found.end() if following is None or following.casefold() in common_words() | _TITLES else 0


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
    if _SENTENCE.match(after):
        return True
    if _NAME_FOLLOWS.match(after) or after[:2] == ". ":
        return False
    return letter != "A" or form_of_address or not after or after[0] in ",.;:?!)'’\n" or text[start - 2] == "."
