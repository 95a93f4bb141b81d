"""Guessing is slowed, by name and by address, in bounded memory; the clock is the test's."""

from __future__ import annotations

import threading

from hypothesis import given
from hypothesis import strategies as st

from piiloom.annotation_app.people.logins import ADDRESS_BACKOFF, NAME_BACKOFF, Failures, LoginThrottle, network_of
from tests.annotation_app.people_tools import GOOD, House, VirtualClock

HERE = "192.0.2.7"


def _throttle(clock, **options):
    return LoginThrottle(clock.monotonic, **options)


def test_waits_grow_with_the_failures_of_a_name_up_to_a_minute():
    clock = VirtualClock()
    throttle = _throttle(clock)
    waits = []
    for number in range(12):
        waits.append(throttle.begin("aNA ", f"198.51.100.{number}"))
        clock.pass_time(waits[-1])
        assert waits[-1] == 0 or throttle.begin("Ana", f"198.51.100.{number}") == 0
    assert waits == [0, 0, 0, 0, 1, 2, 4, 8, 16, 32, 60, 60]


def test_waits_grow_with_the_failures_of_an_address_whatever_the_names():
    clock = VirtualClock()
    throttle = _throttle(clock)
    for number in range(ADDRESS_BACKOFF.free + 1):
        assert throttle.begin(f"name {number}", HERE) == 0
    assert throttle.begin("somebody else", HERE) == 1
    assert throttle.begin("somebody else", "192.0.2.8") == 0


def test_asking_during_a_wait_neither_counts_nor_helps():
    clock = VirtualClock()
    throttle = _throttle(clock)
    for _ in range(NAME_BACKOFF.free + 1):
        throttle.begin("Ana", HERE)
    for _ in range(50):
        assert throttle.begin("Ana", HERE) == 1
    clock.pass_time(1)
    assert throttle.begin("Ana", HERE) == 0


def test_a_success_clears_the_name_but_not_the_address():
    clock = VirtualClock()
    throttle = _throttle(clock)
    for number in range(ADDRESS_BACKOFF.free):
        throttle.begin(f"name {number}", HERE)
    assert throttle.begin("Ana", HERE) == 0
    throttle.succeeded("Ana", HERE)
    clock.pass_time(1)
    assert throttle.begin("victim", HERE) == 0
    assert throttle.begin("victim", HERE) > 0


def test_failures_are_forgotten_after_an_hour():
    clock = VirtualClock()
    throttle = _throttle(clock)
    for _ in range(NAME_BACKOFF.free + 1):
        throttle.begin("Ana", HERE)
    clock.pass_time(NAME_BACKOFF.memory + 1)
    for _ in range(NAME_BACKOFF.free + 1):
        assert throttle.begin("Ana", HERE) == 0


@given(st.lists(st.tuples(st.sampled_from("abcdef"), st.floats(0, 200)), max_size=60))
def test_memory_is_bounded_and_waits_are_too(tries):
    clock = VirtualClock()
    failures = Failures(NAME_BACKOFF, clock.monotonic, keep=3)
    for key, seconds in tries:
        failures.add(key.encode())
        assert 0 <= failures.wait(key.encode()) <= NAME_BACKOFF.longest
        clock.pass_time(seconds)
        assert len(failures) <= 3


def test_a_huge_name_is_kept_as_a_small_key():
    throttle = _throttle(VirtualClock())
    throttle.begin("x" * 1_000_000, HERE)
    assert all(len(key) == 16 for key in throttle._names._seen)


def test_many_at_once_are_not_all_let_through():
    throttle = _throttle(VirtualClock())
    through = []
    threads = [threading.Thread(target=lambda: through.append(throttle.begin("Ana", HERE) == 0)) for _ in range(40)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sum(through) == NAME_BACKOFF.free + 1


def test_what_counts_as_one_address():
    assert network_of("192.0.2.7") == "192.0.2.7" == network_of("::ffff:192.0.2.7")
    assert network_of("2001:db8::1") == network_of("2001:db8::ffff:1%eth0") == "2001:db8::/64"
    assert network_of("") == network_of("nonsense") == "unknown"


def test_the_right_password_has_to_wait_too_and_unknown_names_wait_alike():
    answers = {}
    for name in ("Ana", "Nobody"):
        house = House()
        house.accounts.add("Ana", "annotator", password=GOOD)
        answers[name] = [house.log_in(name, "wrong one").wait for _ in range(NAME_BACKOFF.free + 3)]
        assert house.log_in(name, GOOD).token is None
        house.clock.pass_time(60)
        assert (house.log_in(name, GOOD).token is not None) == (name == "Ana")
        house.shared.close()
    assert answers["Ana"] == answers["Nobody"] == [0] * (NAME_BACKOFF.free + 1) + [1, 1]


def test_a_refusal_is_noted_for_a_known_name_only_and_never_what_was_typed():
    house = House()
    house.accounts.add("Ana", "annotator", password=GOOD)
    house.logins.note_refusal("ANA")
    house.logins.note_refusal("hunter2 hunter2")
    assert [(event.actor, event.entry) for event in house.events("login_refused")] == [("Ana", {})]
    house.shared.close()
