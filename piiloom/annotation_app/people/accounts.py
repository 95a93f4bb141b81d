"""People and their accounts: names, the rights of each role, argon2id password hashes.

A name is normalized and has no invisible characters. Each change of an account is one transaction with its event. No event contains a
secret. A password check takes the same time for unknown names as for known ones.
"""

from __future__ import annotations

import unicodedata
from dataclasses import asdict, dataclass, replace
from typing import Final, Literal, get_args

from argon2 import PasswordHasher
from argon2.exceptions import InvalidHashError, VerificationError

from piiloom.annotation_app.event_log import EventLog, StoreService
from piiloom.corpus.store.annotation_events import NewEvent
from piiloom.corpus.store.annotation_project import (
    AnnotatorRow,
    add_annotator,
    change_annotator,
    end_sessions,
    find_annotator,
    list_annotators,
)
from piiloom.corpus.store.database import Store
from piiloom.corpus.store.opening import SharedStore
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


SHORTEST_PASSWORD: Final = 10
LONGEST_PASSWORD: Final = 1024


def checked_password(password: str) -> str:
    """Return *password* in NFC, the form that is hashed.

    Raises ``UsageError`` if it is too short or too long, has fewer than four different characters, or holds a control character.
    """
    normal = unicodedata.normalize("NFC", password)
    if not SHORTEST_PASSWORD <= len(normal) <= LONGEST_PASSWORD:
        raise UsageError(
            f"a password has {SHORTEST_PASSWORD} to {LONGEST_PASSWORD} characters", remedy="Three or four random words make a good one"
        )
    if len(set(normal)) < 4:
        raise UsageError("the password has hardly any different characters", remedy="Three or four random words make a good one")
    if any(unicodedata.category(character) in {"Cc", "Cs"} for character in normal):
        raise UsageError("the password holds a control character", remedy="Type it again")
    return normal


class Passwords:
    """Makes and checks password hashes. The default *hasher* is argon2id with the low-memory parameters of RFC 9106 (64 MiB)."""

    def __init__(self, hasher: PasswordHasher | None = None) -> None:
        self._hasher = hasher or PasswordHasher()
        # A dummy hash with the same parameters, to verify against when there is no account, so that it takes the same time.
        self._nobody = self._hasher.hash("nobody's password")

    def hashed(self, password: str) -> str:
        """Return the hash of a new password. Raises what ``checked_password`` raises."""
        return self._hasher.hash(checked_password(password))

    def fits(self, kept: str | None, password: str) -> bool:
        """Return whether *password* matches the hash *kept*. If *kept* is None, compute a hash all the same and return False."""
        try:
            normal = unicodedata.normalize("NFC", password[:LONGEST_PASSWORD])
            fits = self._hasher.verify(self._nobody if kept is None else kept, normal.encode("utf-8", "replace"))
        except (VerificationError, InvalidHashError):
            return False
        return fits and kept is not None

    def outdated(self, kept: str) -> bool:
        """Return whether *kept* was made with other parameters than new hashes."""
        return self._hasher.check_needs_rehash(kept)


@dataclass(frozen=True, slots=True, kw_only=True)
class Account:
    """An account as stored, without the password hash. ``oidc`` is an e-mail address or a subject."""

    name: str
    display: str
    role: AppRole
    oidc: str | None
    active: bool
    has_password: bool
    made_at: str

    @property
    def person(self) -> AppUser:
        """The ``AppUser`` who acts under this account."""
        return AppUser(self.name, self.display, self.role)

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


def account_added(account: Account, by: str) -> NewEvent:
    """Return the event of a new account."""
    entry = {key: value for key, value in asdict(account).items() if key != "made_at"}
    return NewEvent(actor=by, kind="account_added", entry=entry)


def account_changed(before: Account, after: Account, by: str, *, password: bool = False) -> NewEvent:
    """Return the event of a change; it holds the fields that differ. *password*: also note that there is a new password."""
    old = asdict(before)
    entry = {key: value for key, value in asdict(after).items() if old[key] != value}
    if password:
        entry["has_password"] = after.has_password
    return NewEvent(actor=by, kind="account_changed", entry={"name": after.name, **entry})


class Accounts(StoreService):
    """The accounts of the store *shared*.

    *by* is always the name of the person who asks for a change. Permissions are not checked here: the caller does that.
    """

    def __init__(self, shared: SharedStore, log: EventLog, passwords: Passwords | None = None) -> None:
        super().__init__(shared, log)
        self._passwords = passwords or Passwords()

    def add(
        self, name: str, role: str, *, display: str = "", password: str | None = None, oidc: str | None = None, by: str = LOCAL_USER.name
    ) -> Account:
        """Create an account and return it.

        *password* and *oidc* (an e-mail address or subject) are the ways to log in; both may be missing. Raises ``UsageError`` if the name
        or the OIDC identity is taken, or a value is malformed.
        """
        name = person_name(name)
        shown = person_name(display, what="display name") if display else name
        identity = _identity(oidc)
        kept = None if password is None else self._passwords.hashed(password)
        with self._shared.writing() as store:
            rows = list_annotators(store)
            if any(folded_name(row.name) == folded_name(name) for row in rows):
                raise UsageError(f"there is an account {name!r} already", remedy="Choose another name")
            _check_identity_free(rows, identity)
            row = AnnotatorRow(name=name, display=shown, role=as_role(role), password_hash=kept, oidc=identity, made_at=self._log.now())
            add_annotator(store, row)
            self._log.append(store, [account_added(account_of(row), by)])
        return account_of(row)

    def change_role(self, name: str, role: str, *, by: str = LOCAL_USER.name) -> Account:
        """Change a person's role and end that person's sessions. Raises ``UsageError`` if no admin would be left."""
        return self._change(name, by, role=as_role(role))

    def set_password(self, name: str, password: str, *, by: str = LOCAL_USER.name) -> Account:
        """Set a new password and end the person's sessions. Raises ``UsageError`` for an unsuitable password."""
        return self._change(name, by, password_hash=self._passwords.hashed(password))

    def set_oidc(self, name: str, oidc: str | None, *, by: str = LOCAL_USER.name) -> Account:
        """Set the OIDC identity with which a person logs in, None for none, and end the person's sessions."""
        return self._change(name, by, oidc=_identity(oidc))

    def deactivate(self, name: str, *, by: str = LOCAL_USER.name) -> Account:
        """Block a person from logging in; that person's work stays. Raises ``UsageError`` if no admin would be left."""
        return self._change(name, by, active=False)

    def reactivate(self, name: str, *, by: str = LOCAL_USER.name) -> Account:
        """Let a deactivated person log in again, with the previous password."""
        return self._change(name, by, active=True)

    def list(self) -> list[Account]:
        """All accounts, the oldest first."""
        with self._shared.reading() as store:
            return [account_of(row) for row in list_annotators(store)]

    def named(self, name: str) -> Account:
        """Return the account called *name* in any letter case. The ``UsageError`` for an unknown name lists the accounts."""
        with self._shared.reading() as store:
            return account_of(_named(list_annotators(store), name))

    def person(self, name: str) -> AppUser | None:
        """Return the person called *name*, or None if there is none or the account is deactivated."""
        with self._shared.reading() as store:
            row = find_annotator(store, name)
        return account_of(row).person if row is not None and row.active else None

    def person_of_identity(self, *identities: str) -> AppUser | None:
        """Return the active person with one of these OIDC identities (e-mail address, subject).

        Returns None if there is no such person, or more than one.
        """
        wanted = {_comparable(identity) for identity in identities if identity}
        with self._shared.reading() as store:
            rows = [row for row in list_annotators(store) if row.active and row.oidc is not None and _comparable(row.oidc) in wanted]
        return account_of(rows[0]).person if len(rows) == 1 else None

    def authenticate(self, name: str, password: str) -> AnnotatorRow | None:
        """Return the row of the active person with this name and password, or None.

        A wrong password, an unknown name, a deactivated person and a person without password all take the same time, so that timing reveals
        no names. The row holds the hash that matched. Before starting a session, check with ``unchanged`` that it is current.
        """
        with self._shared.reading() as store:
            rows = list_annotators(store)
        known = {folded_name(row.name): row for row in rows if row.active}.get(folded_name(name))
        kept = None if known is None else known.password_hash
        if not self._passwords.fits(kept, password) or known is None:
            return None
        return self._rehashed(known, password)

    def unchanged(self, store: Store, row: AnnotatorRow) -> bool:
        """Return whether the stored row still equals *row* (active, password, role), within the transaction on *store*."""
        now = find_annotator(store, row.name)
        return now is not None and now == row

    def _rehashed(self, row: AnnotatorRow, password: str) -> AnnotatorRow:
        """Store a new hash of the same password if the old one has outdated parameters, and return the row to use."""
        if row.password_hash is None or not self._passwords.outdated(row.password_hash):
            return row
        try:
            fresh = replace(row, password_hash=self._passwords.hashed(password))
        except UsageError:  # the password is older than today's rules: keep its hash
            return row
        with self._shared.writing() as store:
            if not self.unchanged(store, row):
                return row
            change_annotator(store, fresh)
        return fresh

    def _change(self, name: str, by: str, **fields: object) -> Account:
        with self._shared.writing() as store:
            rows = list_annotators(store)
            row = _named(rows, name)
            fresh: AnnotatorRow = replace(row, **fields)  # type: ignore[arg-type] # the keywords are fields of the row
            others = [other for other in rows if other.name != row.name]
            if row.role == "admin" and row.active and not _is_admin(fresh) and not any(map(_is_admin, others)):
                raise UsageError(f"{row.name!r} is the only admin", remedy="Make somebody else admin first")
            if fresh.oidc != row.oidc:
                _check_identity_free(others, fresh.oidc)
            change_annotator(store, fresh)
            end_sessions(store, row.name)
            event = account_changed(account_of(row), account_of(fresh), by, password="password_hash" in fields)
            self._log.append(store, [event])
        return account_of(fresh)


def _is_admin(row: AnnotatorRow) -> bool:
    return row.role == "admin" and row.active


def _named(rows: list[AnnotatorRow], name: str) -> AnnotatorRow:
    for row in rows:
        if folded_name(row.name) == folded_name(name):
            return row
    there = ", ".join(row.name for row in rows) if rows else "nobody yet"
    raise UsageError(f"there is no account {normalized_name(name)[:64]!r}", remedy=f"There are: {there}")


def _identity(oidc: str | None) -> str | None:
    if oidc is None:
        return None
    identity = normalized_name(oidc)
    if not 1 <= len(identity) <= 255 or " " in identity or not identity.isprintable():
        raise UsageError(
            "this is not an OIDC identity",
            where="--oidc",
            remedy="Give an e-mail address or a subject of up to 255 characters, without blanks",
        )
    return identity


def _comparable(identity: str) -> str:
    """Return *identity* in the form for comparison: e-mail addresses ignore letter case, subjects do not."""
    return folded_name(identity) if "@" in identity else identity


def _check_identity_free(rows: list[AnnotatorRow], identity: str | None) -> None:
    for row in rows:
        if identity is not None and row.oidc is not None and _comparable(row.oidc) == _comparable(identity):
            raise UsageError(f"{row.name!r} logs in with this OIDC identity already", where="--oidc", remedy="Use another one")
