"""The accounts of the people who work on a store. Every change is a transaction of its own, with its event."""

from __future__ import annotations

from dataclasses import replace

from piiloom.annotation_app.event_log import EventLog
from piiloom.annotation_app.people.account_events import Account, account_of, added, changed
from piiloom.annotation_app.people.identity import LOCAL, Person, as_role
from piiloom.annotation_app.people.names import folded, person_name, tidy
from piiloom.annotation_app.people.passwords import Passwords
from piiloom.corpus.store.annotators import AnnotatorRow, add_annotator, change_annotator, find_annotator, list_annotators
from piiloom.corpus.store.database import Store
from piiloom.corpus.store.login_sessions import end_sessions
from piiloom.corpus.store.shared import SharedStore
from piiloom.foundation.errors import UsageError


class Accounts:
    """People of the store *shared*. *by* is always the name of who asks for a change; whether that one may is not asked here."""

    def __init__(self, shared: SharedStore, log: EventLog, passwords: Passwords | None = None) -> None:
        self._shared = shared
        self._log = log
        self._passwords = passwords or Passwords()

    def add(
        self, name: str, role: str, *, display: str = "", password: str | None = None, oidc: str | None = None, by: str = LOCAL.name
    ) -> Account:
        """Make an account; ``UsageError`` when the name or the OIDC identity is taken, or something is malformed."""
        name = person_name(name)
        shown = person_name(display, what="display name") if display else name
        identity = _identity(oidc)
        kept = None if password is None else self._passwords.hashed(password)
        with self._shared.writing() as store:
            rows = list_annotators(store)
            if any(folded(row.name) == folded(name) for row in rows):
                raise UsageError(f"there is an account {name!r} already", remedy="Choose another name")
            _check_identity_free(rows, identity)
            row = AnnotatorRow(name=name, display=shown, role=as_role(role), password_hash=kept, oidc=identity, made_at=self._log.now())
            add_annotator(store, row)
            self._log.append(store, [added(account_of(row), by)])
        return account_of(row)

    def change_role(self, name: str, role: str, *, by: str = LOCAL.name) -> Account:
        """Give a person another role and log that one out; ``UsageError`` when no admin would be left."""
        return self._change(name, by, role=as_role(role))

    def set_password(self, name: str, password: str, *, by: str = LOCAL.name) -> Account:
        """Give a person a new password, and log that one out."""
        return self._change(name, by, password_hash=self._passwords.hashed(password))

    def set_oidc(self, name: str, oidc: str | None, *, by: str = LOCAL.name) -> Account:
        """Let a person log in with another OIDC identity, or with none any more, and log that one out."""
        return self._change(name, by, oidc=_identity(oidc))

    def deactivate(self, name: str, *, by: str = LOCAL.name) -> Account:
        """Shut a person out; what that one did stays. ``UsageError`` when no admin would be left."""
        return self._change(name, by, active=False)

    def reactivate(self, name: str, *, by: str = LOCAL.name) -> Account:
        """Let a person in again, with the password that was valid before."""
        return self._change(name, by, active=True)

    def list(self) -> list[Account]:
        """All accounts, the oldest first."""
        with self._shared.reading() as store:
            return [account_of(row) for row in list_annotators(store)]

    def named(self, name: str) -> Account:
        """The account of this name in any letter case; ``UsageError`` lists the names there are."""
        with self._shared.reading() as store:
            return account_of(_named(list_annotators(store), name))

    def person(self, name: str) -> Person | None:
        """The person of this name, unless deactivated."""
        with self._shared.reading() as store:
            row = find_annotator(store, name)
        return account_of(row).person if row is not None and row.active else None

    def person_of_identity(self, *identities: str) -> Person | None:
        """The active person who was added with one of these OIDC identities (e-mail address, subject)."""
        wanted = {_comparable(identity) for identity in identities if identity}
        with self._shared.reading() as store:
            rows = [row for row in list_annotators(store) if row.active and row.oidc is not None and _comparable(row.oidc) in wanted]
        return account_of(rows[0]).person if len(rows) == 1 else None

    def authenticate(self, name: str, password: str) -> AnnotatorRow | None:
        """The row of the person whose name and password these are.

        Takes as long for an unknown name, a deactivated person and one without a password as for a wrong password. The row
        holds the hash that fitted: who lets the person in checks with ``unchanged`` that it still is the one.
        """
        with self._shared.reading() as store:
            rows = list_annotators(store)
        known = {folded(row.name): row for row in rows if row.active}.get(folded(name))
        kept = None if known is None else known.password_hash
        if not self._passwords.fits(kept, password) or known is None:
            return None
        return self._rehashed(known, password)

    def unchanged(self, store: Store, row: AnnotatorRow) -> bool:
        """Whether the person of *row* is active and has the same password and role, within the transaction on *store*."""
        now = find_annotator(store, row.name)
        return now is not None and now == row

    def _rehashed(self, row: AnnotatorRow, password: str) -> AnnotatorRow:
        """Keep a hash by today's parameters where it was made by older ones; the password stays what it is."""
        if row.password_hash is None or not self._passwords.outdated(row.password_hash):
            return row
        try:
            fresh = replace(row, password_hash=self._passwords.hashed(password))
        except UsageError:  # a password from before today's rules stays as it is
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
            event = changed(account_of(row), account_of(fresh), by, password="password_hash" in fields)
            self._log.append(store, [event])
        return account_of(fresh)


def _is_admin(row: AnnotatorRow) -> bool:
    return row.role == "admin" and row.active


def _named(rows: list[AnnotatorRow], name: str) -> AnnotatorRow:
    for row in rows:
        if folded(row.name) == folded(name):
            return row
    there = ", ".join(row.name for row in rows) if rows else "nobody yet"
    raise UsageError(f"there is no account {tidy(name)[:64]!r}", remedy=f"There are: {there}")


def _identity(oidc: str | None) -> str | None:
    if oidc is None:
        return None
    identity = tidy(oidc)
    if not 1 <= len(identity) <= 255 or " " in identity or not identity.isprintable():
        raise UsageError("an OIDC identity is an e-mail address or a subject of up to 255 characters", where="--oidc")
    return identity


def _comparable(identity: str) -> str:
    """E-mail addresses do not differ by letter case; subjects do."""
    return folded(identity) if "@" in identity else identity


def _check_identity_free(rows: list[AnnotatorRow], identity: str | None) -> None:
    for row in rows:
        if identity is not None and row.oidc is not None and _comparable(row.oidc) == _comparable(identity):
            raise UsageError(f"{row.name!r} logs in with this OIDC identity already", where="--oidc", remedy="Use another one")
