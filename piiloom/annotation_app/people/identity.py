"""A person as the rest of the app sees one, and what each role allows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal, get_args

from piiloom.foundation.errors import UsageError

Role = Literal["annotator", "adjudicator", "admin"]
# In order of rights: each role may do what the roles before it may.
ROLES: Final[tuple[Role, ...]] = get_args(Role)


@dataclass(frozen=True, slots=True)
class Person:
    """The acting person. ``name`` is written to events, ``display`` is shown to others."""

    name: str
    display: str
    role: Role

    def may(self, role: Role) -> bool:
        """Whether this person may do what *role* may."""
        return ROLES.index(self.role) >= ROLES.index(role)


# The acting person where nobody logs in: the single user of this machine, and the user of the command line.
LOCAL = Person("local", "local", "admin")


def require(person: Person | None, role: Role) -> Person:
    """Return *person* if that person may do what *role* may. Raises ``UsageError`` otherwise, also for None."""
    if person is None:
        raise UsageError("nobody is logged in", remedy="Log in first")
    if not person.may(role):
        raise UsageError(f"this needs the role {role}; {person.display} is {person.role}", remedy="Ask an admin")
    return person


def as_role(word: str) -> Role:
    """Parse the name of a role. The ``UsageError`` for an unknown one lists the roles."""
    for role in ROLES:
        if word == role:
            return role
    raise UsageError(f"there is no role {word!r}", remedy=f"Use one of {', '.join(ROLES)}")
