"""A person as the rest of the app sees one: a normalized name without invisible characters, and the rights of each role."""

from __future__ import annotations

import unicodedata
from dataclasses import dataclass
from typing import Final, Literal, get_args

from piiloom.foundation.errors import UsageError

AppRole = Literal["annotator", "adjudicator", "admin"]
# In order of rights: each role may do what the roles before it may.
ROLES: Final[tuple[AppRole, ...]] = get_args(AppRole)


@dataclass(frozen=True, slots=True)
class AppUser:
    """The acting person. ``name`` is written to events, ``display`` is shown to others."""

    name: str
    display: str
    role: AppRole

    def may(self, role: AppRole) -> bool:
        """Whether this person may do what *role* may."""
        return ROLES.index(self.role) >= ROLES.index(role)


# The acting person where nobody logs in: the single user of this machine, and the user of the command line.
LOCAL_USER = AppUser("local", "local", "admin")


def require(person: AppUser | None, role: AppRole) -> AppUser:
    """Return *person* if that person may do what *role* may. Raises ``UsageError`` otherwise, also for None."""
    if person is None:
        raise UsageError("nobody is logged in", remedy="Log in first")
    if not person.may(role):
        raise UsageError(f"this needs the role {role}; {person.display} is {person.role}", remedy="Ask an admin")
    return person


def as_role(word: str) -> AppRole:
    """Parse the name of a role. The ``UsageError`` for an unknown one lists the roles."""
    for role in ROLES:
        if word == role:
            return role
    raise UsageError(f"there is no role {word!r}", remedy=f"Use one of {', '.join(ROLES)}")


LONGEST_NAME: Final = 64
# "local" is the single user of a server without login; "piiloom" is the program itself.
_RESERVED: Final = frozenset({LOCAL_USER.name, "piiloom"})


def normalized_name(text: str) -> str:
    """Return *text* in NFC with single blanks, as it would be stored. This does not check whether it is valid."""
    return " ".join(unicodedata.normalize("NFC", text).split())


def folded_name(name: str) -> str:
    """Return *name* for comparison. Names that differ only in letter case are equal: nobody should have to tell Ana from ANA."""
    return unicodedata.normalize("NFC", normalized_name(name).casefold())


def person_name(text: str, *, what: str = "name") -> str:
    """Return *text* as a valid name. *what* is what it is called in error messages.

    Raises ``UsageError`` if it is empty or too long, holds invisible characters, begins with a combining mark or is reserved.
    """
    name = normalized_name(text)
    if not 1 <= len(name) <= LONGEST_NAME:
        raise UsageError(f"a {what} has 1 to {LONGEST_NAME} characters", remedy="Choose another one")
    unseen = {f"U+{ord(character):04X}" for character in name if character != " " and unicodedata.category(character)[0] in "CZ"}
    if unseen:
        raise UsageError(f"the {what} holds characters that cannot be seen ({', '.join(sorted(unseen))})", remedy="Leave them out")
    if unicodedata.category(name[0])[0] == "M":
        raise UsageError(f"a {what} cannot begin with a combining mark", remedy="Put a letter before it")
    if what == "name" and folded_name(name) in _RESERVED:
        raise UsageError(f"the name {name!r} is reserved", remedy="Choose another one")
    return name
