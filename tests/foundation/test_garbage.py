from __future__ import annotations

import gc

import pytest

from piiloom.foundation.startup import collecting_at


@pytest.fixture(autouse=True)
def _thresholds():
    known = gc.get_threshold()
    yield
    gc.set_threshold(*known)


@pytest.mark.parametrize(("before", "within"), [((700, 10, 10), (5000, 10, 10)), ((9000, 5, 5), (9000, 5, 5)), ((0, 10, 10), (0, 10, 10))])
def test_a_work_collects_rarely_and_others_as_before(before: tuple[int, int, int], within: tuple[int, int, int]) -> None:
    gc.set_threshold(*before)
    with collecting_at(5000):
        assert gc.get_threshold() == within
    assert gc.get_threshold() == before
