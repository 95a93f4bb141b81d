"""Refusals that do not depend on the number of calls in flight are told from those that do."""

from __future__ import annotations

import random

from piiloom.execution.limits.adaptive import UnrelatedRefusals


class Calls:
    """Calls that end one after the other, each as *refused* says."""

    def __init__(self) -> None:
        self.unrelated, self.started, self.rng = UnrelatedRefusals(), 0, random.Random(1)

    def end(self, count, share, now=0.0):
        """End *count* new calls of which *share* is refused; gives the limit to restore, if it was asked for one."""
        for _ in range(count):
            self.started += 1
            self.unrelated.ended(self.started, refused=self.rng.random() < share, started=self.started)
            restored = self.unrelated.restored(now)
            if restored is not None:
                return restored
        return None

    def cut(self, before, after, now=0.0, in_flight=0):
        self.unrelated.cut(before, after, now, started=self.started, in_flight=in_flight)


def test_a_share_that_stays_restores_the_limit_and_is_tolerated():
    calls = Calls()
    calls.cut(64.0, 60.0)
    assert calls.end(60, 0.2) is None
    calls.cut(60.0, 30.0, now=1.0)
    assert calls.end(60, 0.2, now=2.0) == 64.0
    assert calls.unrelated.tolerates(3.0)
    assert not calls.unrelated.tolerates(200.0)


def test_a_share_that_falls_with_the_limit_is_the_limits():
    calls = Calls()
    calls.cut(64.0, 60.0)
    calls.end(60, 0.7)
    calls.cut(60.0, 16.0, now=1.0)
    assert calls.end(200, 0.02, now=2.0) is None
    assert not calls.unrelated.tolerates(2.0)


def test_a_server_that_refuses_most_calls_is_not_tolerated():
    calls = Calls()
    calls.cut(64.0, 60.0)
    calls.end(60, 0.9)
    calls.cut(60.0, 16.0, now=1.0)
    assert calls.end(200, 0.9, now=2.0) is None


def test_only_calls_that_start_after_the_earlier_ones_have_ended_count_as_fewer():
    """While 40 calls of before the cut are still worked on, the server is as full as before, whatever the limit says."""
    calls = Calls()
    calls.end(40, 0.0)
    calls.cut(48.0, 8.0, in_flight=40)
    assert calls.end(100, 0.4) is None
    for number in range(1, 41):
        calls.unrelated.ended(number, refused=False, started=calls.started)
    assert calls.end(100, 0.0) is None
    assert not calls.unrelated.tolerates(0.0)


def test_ends_that_say_nothing_count_as_neither():
    calls = Calls()
    calls.cut(64.0, 16.0, in_flight=1)
    for _ in range(100):
        calls.started += 1
        calls.unrelated.ended(calls.started, refused=None, started=calls.started)
    assert calls.unrelated.restored(0.0) is None
