"""The names of people: normalized to one spelling, without invisible characters."""

from __future__ import annotations

import unicodedata
from typing import Final

from piiloom.annotation_app.people.identity import LOCAL
from piiloom.foundation.errors import UsageError

LONGEST: Final = 64
# "local" is the single user of a server without login; "piiloom" is the program itself.
_RESERVED: Final = frozenset({LOCAL.name, "piiloom"})


def tidy(text: str) -> str:
    """Return *text* in NFC with single blanks, as it would be stored. This does not check whether it is valid."""
    return " ".join(unicodedata.normalize("NFC", text).split())


def folded(name: str) -> str:
    """Return *name* for comparison. Names that differ only in letter case are equal: nobody should have to tell Ana from ANA."""
    return unicodedata.normalize("NFC", tidy(name).casefold())


def person_name(text: str, *, what: str = "name") -> str:
    """Return *text* as a valid name. *what* is what it is called in error messages.

    Raises ``UsageError`` if it is empty or too long, holds invisible characters, begins with a combining mark or is reserved.
    """
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
