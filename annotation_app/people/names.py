"""The names of people: one spelling each, nothing in them that cannot be seen."""

from __future__ import annotations

import unicodedata
from typing import Final

from piiloom.annotation_app.people.identity import LOCAL
from piiloom.foundation.errors import UsageError

LONGEST: Final = 64
# "local" acts where nobody logs in, and "piiloom" is the program itself.
_RESERVED: Final = frozenset({LOCAL.name, "piiloom"})


def tidy(text: str) -> str:
    """*text* in NFC with single blanks, as it would be kept; says nothing about whether it will do."""
    return " ".join(unicodedata.normalize("NFC", text).split())


def folded(name: str) -> str:
    """What two names share when they differ in letter case only: nobody should have to tell Ana from ANA."""
    return unicodedata.normalize("NFC", tidy(name).casefold())


def person_name(text: str, *, what: str = "name") -> str:
    """The name that *text* stands for; ``UsageError`` when it is empty, too long, reserved or holds what cannot be seen."""
    name = tidy(text)
    if not 1 <= len(name) <= LONGEST:
        raise UsageError(f"a {what} has 1 to {LONGEST} characters", remedy="Choose another one")
    unseen = {f"U+{ord(character):04X}" for character in name if character != " " and unicodedata.category(character)[0] in "CZ"}
    if unseen:
        raise UsageError(f"the {what} holds characters that cannot be seen ({', '.join(sorted(unseen))})", remedy="Leave them out")
    if unicodedata.category(name[0])[0] == "M":
        raise UsageError(f"a {what} cannot begin with a combining mark", remedy="Put a letter before it")
    if what == "name" and folded(name) in _RESERVED:
        raise UsageError(f"the name {name!r} is reserved", remedy="Choose another one")
    return name
