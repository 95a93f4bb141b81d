"""Events: what they may hold, and that whoever watches cannot end a run."""

from __future__ import annotations

import dataclasses
import logging
import typing

import pytest

from piiloom.execution.watching import events
from piiloom.execution.watching.events import Braked, CallStarted, Event, fan_out
from piiloom.foundation.noop import noop


@pytest.mark.parametrize("kind", typing.get_args(Event), ids=lambda kind: kind.__name__)
def test_an_event_is_small_fixed_and_holds_no_text(kind):
    names = {field.name for field in dataclasses.fields(kind)}
    assert not names & {"prompt", "reply", "text", "user", "system", "message", "key", "detail"}
    made = kind(*[0] * len(names))
    assert not hasattr(made, "__dict__")
    with pytest.raises(dataclasses.FrozenInstanceError):
        setattr(made, next(iter(names)), 1)


def test_all_events_are_in_the_union():
    made = {one for one in vars(events).values() if dataclasses.is_dataclass(one)}
    assert made == set(typing.get_args(Event))


def test_fan_out_tells_all_who_listen():
    first, second = [], []
    event = Braked(2.0)
    fan_out(first.append, noop, second.append)(event)
    assert (first, second) == ([event], [event])


def test_nobody_listening_is_told_apart_so_that_no_event_is_made():
    assert fan_out() is noop
    assert fan_out(noop, noop) is noop
    noop(Braked(1.0))


def test_a_sink_that_fails_is_left_out_and_the_others_go_on(caplog):
    heard = []

    def failing(_event):
        raise ValueError("a secret prompt")

    sink = fan_out(failing, heard.append)
    with caplog.at_level(logging.WARNING):
        for number in (1, 2):
            sink(CallStarted("topics", "age+health", 0, number))
    assert [event.try_number for event in heard] == [1, 2]
    (record,) = caplog.records
    assert "failing was removed: it failed with ValueError" in record.getMessage()
    assert "secret" not in caplog.text
