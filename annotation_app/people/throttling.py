"""Slowing down who guesses passwords: waits that grow with the failures of a name, and with those of an address.

A try is counted when it begins, so that a hundred at once are not all let through; one that succeeds is taken back. Asking
again during a wait neither counts nor helps. All of it lives in memory and is bounded.
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
class Pace:
    """*free* failures cost nothing; then the wait is *first* seconds and doubles up to *longest*; forgotten after *memory* seconds."""

    free: int
    first: float = 1.0
    longest: float
    memory: float = 3600.0

    def wait(self, failures: int) -> float:
        """Seconds to wait after the last of so many failures."""
        over = failures - self.free
        return 0.0 if over <= 0 else min(self.longest, self.first * 2.0 ** min(over - 1, 32))


# Whoever knows a name can make its owner wait, but never longer than a minute; several people may share an address.
NAMES: Final = Pace(free=3, longest=60.0)
ADDRESSES: Final = Pace(free=12, longest=600.0)


class Failures:
    """Failures by key. Not for several threads: ``LoginThrottle`` holds the lock. Keeps at most *keep* keys, the latest."""

    def __init__(self, pace: Pace, clock: Ticks, *, keep: int) -> None:
        self._pace, self._clock, self._keep = pace, clock, keep
        self._seen: OrderedDict[bytes, tuple[int, float]] = OrderedDict()

    def __len__(self) -> int:
        return len(self._seen)

    def wait(self, key: bytes) -> float:
        """Seconds until *key* may try again; 0 for now."""
        count, last = self._current(key)
        return max(0.0, last + self._pace.wait(count) - self._clock())

    def add(self, key: bytes) -> None:
        """Count one failure."""
        count, _ = self._current(key)
        self._seen[key] = (count + 1, self._clock())
        self._seen.move_to_end(key)
        while len(self._seen) > self._keep:
            self._seen.popitem(last=False)

    def take_back(self, key: bytes) -> None:
        """Count one failure less."""
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
        return (0, -math.inf) if self._clock() - last > self._pace.memory else (count, last)


class LoginThrottle:
    """What stands before every check of a password. *clock* gives seconds that only grow."""

    def __init__(self, clock: Ticks = time.monotonic, *, names: Pace = NAMES, addresses: Pace = ADDRESSES, keep: int = 10_000) -> None:
        self._names = Failures(names, clock, keep=keep)
        self._addresses = Failures(addresses, clock, keep=keep)
        self._lock = threading.Lock()

    def begin(self, name: str, address: str) -> float:
        """0 when the password may be checked, and the try is counted as failed; else the seconds to wait."""
        by_name, by_address = _key(folded(name)), _key(network_of(address))
        with self._lock:
            wait = max(self._names.wait(by_name), self._addresses.wait(by_address))
            if wait <= 0:
                self._names.add(by_name)
                self._addresses.add(by_address)
            return wait

    def succeeded(self, name: str, address: str) -> None:
        """The password fitted: the name is clear again. The address only gets this try back, or one account could clear it."""
        with self._lock:
            self._names.clear(_key(folded(name)))
            self._addresses.take_back(_key(network_of(address)))


def network_of(address: str) -> str:
    """What counts as one address: an IPv4 address, or the /64 that an IPv6 host can move about in."""
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
