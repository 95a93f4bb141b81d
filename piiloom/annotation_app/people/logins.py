"""Logging in: the throttle, the password check and the session, in that order.

The throttle's waits grow with the failed attempts for a name and from a network address. An attempt counts as failed when it begins, so
that a hundred parallel ones are not all let through; a success takes it back. Asking again during a wait neither counts nor shortens it.
All state of the throttle is in memory and bounded. Of the random session tokens, the store keeps only the SHA-256 hash.
"""

from __future__ import annotations

import ipaddress
import math
import secrets
import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from hashlib import sha256
from typing import Final

from piiloom.annotation_app.event_log import EventLog, StoreService, stamp
from piiloom.annotation_app.people.accounts import Accounts, AppUser, folded_name
from piiloom.corpus.store.annotation_events import NewEvent
from piiloom.corpus.store.annotation_project import (
    LoginRow,
    add_session,
    end_session,
    find_session,
    forget_sessions,
    prolong_session,
    session_known,
)
from piiloom.corpus.store.database import Store
from piiloom.corpus.store.opening import SharedStore

Ticks = Callable[[], float]


@dataclass(frozen=True, slots=True, kw_only=True)
class Backoff:
    """How waits grow. The first *free* failures cost nothing.

    Then the wait is *first* seconds and doubles with each failure, up to *longest* seconds. Failures are forgotten *memory* seconds after
    the last one.
    """

    free: int
    first: float = 1.0
    longest: float
    memory: float = 3600.0

    def wait(self, failures: int) -> float:
        """Return the seconds to wait after the last of *failures* failures."""
        over = failures - self.free
        return 0.0 if over <= 0 else min(self.longest, self.first * 2.0 ** min(over - 1, 32))


# Anyone who knows a name can make its owner wait, so that wait is at most a minute. Several people may share an address, so it has more
# free failures.
NAME_BACKOFF: Final = Backoff(free=3, longest=60.0)
ADDRESS_BACKOFF: Final = Backoff(free=12, longest=600.0)


class Failures:
    """Failure counts of the *keep* latest keys. Not thread-safe: ``LoginThrottle`` holds the lock."""

    def __init__(self, backoff: Backoff, clock: Ticks, *, keep: int) -> None:
        self._backoff, self._clock, self._keep = backoff, clock, keep
        self._seen: OrderedDict[bytes, tuple[int, float]] = OrderedDict()

    def __len__(self) -> int:
        return len(self._seen)

    def wait(self, key: bytes) -> float:
        """Return the seconds until *key* may try again; 0 if it may try now."""
        count, last = self._current(key)
        return max(0.0, last + self._backoff.wait(count) - self._clock())

    def add(self, key: bytes) -> None:
        """Count one failure."""
        count, _ = self._current(key)
        self._seen[key] = (count + 1, self._clock())
        self._seen.move_to_end(key)
        while len(self._seen) > self._keep:
            self._seen.popitem(last=False)

    def take_back(self, key: bytes) -> None:
        """Remove one failure of *key*."""
        count, last = self._current(key)
        if count > 1:
            self._seen[key] = (count - 1, last)
        else:
            self._seen.pop(key, None)

    def clear(self, key: bytes) -> None:
        """Forget the failures of *key*."""
        self._seen.pop(key, None)

    def _current(self, key: bytes) -> tuple[int, float]:
        count, last = self._seen.get(key, (0, -math.inf))
        return (0, -math.inf) if self._clock() - last > self._backoff.memory else (count, last)


class LoginThrottle:
    """The throttle in front of every password check. *clock* returns monotonic seconds."""

    def __init__(
        self, clock: Ticks = time.monotonic, *, names: Backoff = NAME_BACKOFF, addresses: Backoff = ADDRESS_BACKOFF, keep: int = 10_000
    ) -> None:
        self._names = Failures(names, clock, keep=keep)
        self._addresses = Failures(addresses, clock, keep=keep)
        self._lock = threading.Lock()

    def begin(self, name: str, address: str) -> float:
        """Return 0 if the password may be checked; the attempt then counts as failed. Otherwise return the seconds to wait."""
        by_name, by_address = _key(folded_name(name)), _key(network_of(address))
        with self._lock:
            wait = max(self._names.wait(by_name), self._addresses.wait(by_address))
            if wait <= 0:
                self._names.add(by_name)
                self._addresses.add(by_address)
            return wait

    def succeeded(self, name: str, address: str) -> None:
        """Record a success: clear the failures of the name, and take back this attempt for the address.

        The address keeps its other failures. Otherwise an attacker with one account could clear them.
        """
        with self._lock:
            self._names.clear(_key(folded_name(name)))
            self._addresses.take_back(_key(network_of(address)))


def network_of(address: str) -> str:
    """Return what counts as one address: an IPv4 address, or a /64 network, within which an IPv6 host can change its address.

    Returns "unknown" for anything else.
    """
    try:
        parsed = ipaddress.ip_address(address.split("%", 1)[0])
    except ValueError:
        return "unknown"
    if isinstance(parsed, ipaddress.IPv6Address):
        if parsed.ipv4_mapped is not None:
            return str(parsed.ipv4_mapped)
        return str(ipaddress.ip_network((parsed, 64), strict=False))
    return str(parsed)


def _key(text: str) -> bytes:
    return sha256(text.encode("utf-8", "replace")).digest()[:16]


LIFETIME: Final = timedelta(days=7)
IDLE: Final = timedelta(hours=8)
# A session in use is extended at most this often, since each extension is a commit.
_GRAIN: Final = timedelta(minutes=10)
# Longer than any of our tokens; longer input is rejected before hashing.
_LONGEST: Final = 100


@dataclass(frozen=True, slots=True, kw_only=True)
class LoginAttempt:
    """The result of a login attempt. ``token`` is the token of the new session, None if there is none.

    Without a token, ``wait`` is the number of seconds to wait; 0 means a wrong name or password.
    """

    token: str | None = field(default=None, repr=False)
    wait: float = 0.0


class LoginService(StoreService):
    """Logs people in and out, and returns the person to whom a session token belongs.

    A session ends ``LIFETIME`` after the login, or after ``IDLE`` without use.
    """

    def __init__(self, shared: SharedStore, log: EventLog, accounts: Accounts, throttle: LoginThrottle | None = None) -> None:
        super().__init__(shared, log)
        self._accounts, self._throttle = accounts, throttle or LoginThrottle()

    def log_in(self, name: str, password: str, address: str) -> LoginAttempt:
        """Try a name and password from the client *address*. After a refusal, call ``note_refusal`` once the answer is on its way."""
        wait = self._throttle.begin(name, address)
        if wait > 0:
            return LoginAttempt(wait=wait)
        row = self._accounts.authenticate(name, password)
        if row is None:
            return LoginAttempt()
        token = secrets.token_urlsafe(32)
        with self._shared.writing() as store:
            # The password may have been changed during the check. That ended all sessions, so the old password must not start a new one.
            if not self._accounts.unchanged(store, row):
                return LoginAttempt()
            now = self._log.now()
            self._start(store, token, LoginRow(annotator=row.name, made_at=now, expires_at=_session_end(now, now)), "password")
        self._throttle.succeeded(name, address)
        return LoginAttempt(token=token)

    def note_refusal(self, name: str) -> None:
        """Log a failed login for *name*, if there is such an account.

        This is not part of ``log_in``: a slower answer for known names would reveal them. An unknown name is never logged, since people
        type passwords there by mistake.
        """
        for account in self._accounts.list():
            if folded_name(account.name) == folded_name(name):
                with self._shared.writing() as store:
                    self._log.append(store, [NewEvent(actor=account.name, kind="login_refused")])

    def log_in_by_provider(self, token: str, identities: Sequence[str], made: datetime) -> AppUser | None:
        """Return the person whom an OIDC provider has confirmed, or None. The first use of a token is logged as a login.

        *token* stands for the login at the provider, *identities* are the confirmed e-mail address and subject, *made* is the time of that
        login. Its session lasts ``LIFETIME`` from then, whether it is used or not. Returns None if no account has such an identity, or the
        token was logged out or is too old.
        """
        person = self._accounts.person_of_identity(*identities)
        if person is None:
            return None
        known_as, until = _known_as(token), stamp(made + LIFETIME)
        with self._shared.writing() as store:
            if until > stamp(self._log.clock()) and not session_known(store, known_as):
                self._start(store, token, LoginRow(annotator=person.name, made_at=stamp(made), expires_at=until), "oidc")
        return self.person(token)

    def log_out(self, token: str | None) -> None:
        """End the session of *token*, if there is one."""
        annotator = self._whose(token)
        if annotator is not None and token is not None:
            with self._shared.writing() as store:
                end_session(store, _known_as(token))
                self._log.append(store, [NewEvent(actor=annotator, kind="logged_out")])

    def person(self, token: str | None) -> AppUser | None:
        """Return the person logged in with *token*, with the current role, or None; the session is extended."""
        name = self._whose(token)
        return None if name is None else self._accounts.person(name)

    def _start(self, store: Store, token: str, row: LoginRow, by: str) -> None:
        """Start a session within the transaction on *store*. The token itself is not stored."""
        forget_sessions(store, self._log.now())
        add_session(store, _known_as(token), row)
        self._log.append(store, [NewEvent(actor=row.annotator, kind="logged_in", entry={"by": by})])

    def _whose(self, token: str | None) -> str | None:
        """Return the name of the person logged in with *token*, and extend the session.

        Returns None if the token is unknown or its session has ended or expired.
        """
        if not token or len(token) > _LONGEST:
            return None
        with self._shared.reading() as store:
            row = find_session(store, _known_as(token))
        now = stamp(self._log.clock())
        if row is None or now >= row.expires_at:
            return None
        until = _session_end(row.made_at, now)
        if datetime.fromisoformat(until) - datetime.fromisoformat(row.expires_at) >= _GRAIN:
            with self._shared.writing() as store:
                prolong_session(store, _known_as(token), until)
        return row.annotator


def _session_end(made_at: str, used_at: str) -> str:
    return min(stamp(datetime.fromisoformat(made_at) + LIFETIME), stamp(datetime.fromisoformat(used_at) + IDLE))


def _known_as(token: str) -> str:
    return sha256(token.encode("utf-8", "replace")).hexdigest()
