"""A person as the rest of the app sees one, and what a role allows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal, get_args

from piiloom.foundation.errors import UsageError

Role = Literal["annotator", "adjudicator", "admin"]
# From the least to the most; each may do what those before it may.
ROLES: Final[tuple[Role, ...]] = get_args(Role)


@dataclass(frozen=True, slots=True)
class Person:
    """Who acts: ``name`` is what events say, ``display`` is what others read."""

    name: str
    display: str
    role: Role

    def may(self, role: Role) -> bool:
        """Whether this person may do what *role* may."""
        return ROLES.index(self.role) >= ROLES.index(role)


# Who acts where nobody logs in: the one who sits at this machine, and who runs the command line.
LOCAL = Person("local", "local", "admin")


def require(person: Person | None, role: Role) -> Person:
    """Give *person* back when that one may do what *role* may; ``UsageError`` otherwise, also for nobody."""
    if person is None:
        raise UsageError("nobody is logged in", remedy="Log in first")
    if not person.may(role):
        raise UsageError(f"this needs the role {role}; {person.display} is {person.role}", remedy="Ask an admin")
    return person


def as_role(word: str) -> Role:
    """Read the name of a role; ``UsageError`` lists them."""
    for role in ROLES:
        if word == role:
            return role
    raise UsageError(f"there is no role {word!r}", remedy=f"Use one of {', '.join(ROLES)}")
