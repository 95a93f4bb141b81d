"""Deduplication of navigation requests: a browser that reconnects sends its last request again."""

from __future__ import annotations

import threading
from collections import OrderedDict


class NavigationRequests:
    """The highest request number received from each client; keeps the *capacity* clients with the latest new requests. Thread-safe."""

    def __init__(self, capacity: int = 10_000) -> None:
        self._capacity = capacity
        self._numbers: OrderedDict[str, int] = OrderedDict()
        self._lock = threading.Lock()

    def is_new(self, client: str, number: int) -> bool:
        """Return whether *number* is higher than any number received from *client* so far, and record it."""
        with self._lock:
            if number <= self._numbers.get(client, 0):
                return False
            self._numbers[client] = number
            self._numbers.move_to_end(client)
            while len(self._numbers) > self._capacity:
                self._numbers.popitem(last=False)
        return True
