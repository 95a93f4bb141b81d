"""Events about accounts, and the accounts rebuilt from the event log alone. No event holds a secret."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict, dataclass, replace
from typing import Final

from piiloom.annotation_app.people.identity import Person, Role, as_role
from piiloom.corpus.store.annotation_events import AnnotationEvent, NewEvent
from piiloom.corpus.store.annotation_project import AnnotatorRow

ACCOUNT_KINDS: Final = ("account_added", "account_changed")


@dataclass(frozen=True, slots=True, kw_only=True)
class Account:
    """An account as stored, without the password hash. ``oidc`` is an e-mail address or a subject."""

    name: str
    display: str
    role: Role
    oidc: str | None
    active: bool
    has_password: bool
    made_at: str

    @property
    def person(self) -> Person:
        """The ``Person`` who acts under this account."""
        return Person(self.name, self.display, self.role)

    @property
    def can_log_in(self) -> bool:
        """Whether the account is active and has a password or an OIDC identity."""
        return self.active and (self.has_password or self.oidc is not None)


def account_of(row: AnnotatorRow) -> Account:
    """Return the account stored in *row*."""
    return Account(
        name=row.name,
        display=row.display,
        role=as_role(row.role),
        oidc=row.oidc,
        active=row.active,
        has_password=row.password_hash is not None,
        made_at=row.made_at,
    )


def added(account: Account, by: str) -> NewEvent:
    """Return the event of a new account."""
    entry = {key: value for key, value in asdict(account).items() if key != "made_at"}
    return NewEvent(actor=by, kind="account_added", entry=entry)


def changed(before: Account, after: Account, by: str, *, password: bool = False) -> NewEvent:
    """Return the event of a change; it holds the fields that differ. *password*: also note that there is a new password."""
    old = asdict(before)
    entry = {key: value for key, value in asdict(after).items() if old[key] != value}
    if password:
        entry["has_password"] = after.has_password
    return NewEvent(actor=by, kind="account_changed", entry={"name": after.name, **entry})


def replayed(events: Iterable[AnnotationEvent]) -> list[Account]:
    """Return the accounts after *events*, oldest first. Events of other kinds are ignored."""
    known: dict[str, Account] = {}
    for event in events:
        if event.kind == "account_added":
            known[event.entry["name"]] = Account(**event.entry, made_at=event.at)
        elif event.kind == "account_changed":
            known[event.entry["name"]] = replace(known[event.entry["name"]], **event.entry)
    return sorted(known.values(), key=lambda account: (account.made_at, account.name))
