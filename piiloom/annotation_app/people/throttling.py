"""Login throttling: waits that grow with the failed attempts for a name and from a network address.

An attempt counts as failed when it begins, so that a hundred parallel ones are not all let through; a success takes it back. Asking again
during a wait neither counts nor shortens it. All state is in memory and bounded.
"""

from __future__ import annotations

import ipaddress
import math
import threading
import time
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass
from hashlib import sha256
from typing import Final

from piiloom.annotation_app.people.names import folded

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
NAMES: Final = Backoff(free=3, longest=60.0)
ADDRESSES: Final = Backoff(free=12, longest=600.0)


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
        self, clock: Ticks = time.monotonic, *, names: Backoff = NAMES, addresses: Backoff = ADDRESSES, keep: int = 10_000
    ) -> None:
        self._names = Failures(names, clock, keep=keep)
        self._addresses = Failures(addresses, clock, keep=keep)
        self._lock = threading.Lock()

    def begin(self, name: str, address: str) -> float:
        """Return 0 if the password may be checked; the attempt then counts as failed. Otherwise return the seconds to wait."""
        by_name, by_address = _key(folded(name)), _key(network_of(address))
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
            self._names.clear(_key(folded(name)))
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
