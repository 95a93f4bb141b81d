"""Two documents with every kind of error, whose figures are counted by hand; for the tests of ``piiloom evaluate``.

Ann is found, Bob has the wrong type, Oslo is missed; of Ann Lee only "Ann" is found, "is" is spurious, 31 is found.
"""

from __future__ import annotations

import json

import pytest

from tests.evaluation.input_files import native, span

FIRST, SECOND = "Ann met Bob in Oslo.", "Ann Lee is 31."
GOLD = [
    native(
        FIRST,
        span(0, 3, relevance="high"),
        span(8, 11, relevance="low"),
        span(15, 19, "location", relevance="high"),
        id="d1",
        locale="en_US",
        meta={"group_keys": ["story:one"]},
    ),
    native(
        SECOND,
        span(0, 7, relevance="low"),
        span(11, 13, "age", relevance="high"),
        id="d2",
        locale="de_DE",
        meta={"group_keys": ["story:one"]},
    ),
]
# In another order than the gold.
FOUND = [
    native(SECOND, span(0, 3), span(8, 10), span(11, 13, "age"), id="d2"),
    native(FIRST, span(0, 3), span(8, 11, "location"), id="d1"),
]
GOLD_TABLE = [("d1", "Ann", "name"), ("d1", "Bob", "name"), ("d1", "Oslo", "location"), ("d2", "Ann Lee", "name"), ("d2", "31", "age")]
FOUND_TABLE = [("d2", "Ann", "name"), ("d2", "is", "name"), ("d2", "31", "age"), ("d1", "Ann", "name"), ("d1", "Bob", "location")]


def told(cli, *words):
    """What ``piiloom evaluate … --json`` prints: strict JSON, and nothing on standard error."""
    outcome = cli("evaluate", *words, "--json")
    assert (outcome.code, outcome.err) == (0, "")
    return json.loads(outcome.out, parse_constant=pytest.fail)


def overall(cli, *words):
    """The figures over all types."""
    return told(cli, *words, "--resamples", 0)["metrics"]["overall"]
