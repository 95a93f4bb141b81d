"""What the tests about people have in common: a store in memory, a clock that is set by hand, quick hashes."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta

from argon2 import PasswordHasher

from piiloom.annotation_app.event_log import EventLog
from piiloom.annotation_app.people.accounts import Accounts, Passwords
from piiloom.annotation_app.people.logins import LoginService, LoginThrottle
from piiloom.corpus.store.annotation_events import read_events
from piiloom.corpus.store.database import MEMORY, Store
from piiloom.corpus.store.opening import SharedStore

GOOD = "correct horse battery"
QUICK = PasswordHasher(time_cost=1, memory_cost=8, parallelism=1)


class CountingHasher(PasswordHasher):
    """Counts how many hashes are computed, which is what takes the time."""

    computed = 0

    def verify(self, *words, **options):
        self.computed += 1
        return super().verify(*words, **options)


@dataclass
class VirtualClock:
    """Both kinds of time that the app reads."""

    moment: datetime = datetime(2026, 11, 22, 9, 0, tzinfo=UTC)
    ticks: float = 1000.0

    def now(self) -> datetime:
        return self.moment

    def monotonic(self) -> float:
        return self.ticks

    def pass_time(self, seconds: float) -> None:
        self.moment += timedelta(seconds=seconds)
        self.ticks += seconds


@dataclass
class House:
    """A store with accounts and a login service."""

    clock: VirtualClock = field(default_factory=VirtualClock)
    hasher: PasswordHasher = field(default_factory=lambda: QUICK)

    def __post_init__(self):
        self.shared = SharedStore(Store.open(MEMORY))
        self.log = EventLog(self.shared, self.clock.now)
        self.accounts = Accounts(self.shared, self.log, Passwords(self.hasher))
        self.logins = LoginService(self.shared, self.log, self.accounts, LoginThrottle(self.clock.monotonic))

    def events(self, *kinds):
        with self.shared.reading() as store:
            return read_events(store, kinds=kinds or None)

    def log_in(self, name, password=GOOD, address="192.0.2.7"):
        return self.logins.log_in(name, password, address)
