"""Which wishes to go somewhere have been followed: a browser that reconnects says the last one again."""

from __future__ import annotations

import threading
from collections import OrderedDict


class Followed:
    """The highest number heard from each of the *capacity* clients heard last; for all threads."""

    def __init__(self, capacity: int = 10_000) -> None:
        self._capacity = capacity
        self._numbers: OrderedDict[str, int] = OrderedDict()
        self._lock = threading.Lock()

    def is_new(self, client: str, number: int) -> bool:
        """Whether *number* was not heard from *client* yet; from now on it was."""
        with self._lock:
            if number <= self._numbers.get(client, 0):
                return False
            self._numbers[client] = number
            self._numbers.move_to_end(client)
            while len(self._numbers) > self._capacity:
                self._numbers.popitem(last=False)
        return True
