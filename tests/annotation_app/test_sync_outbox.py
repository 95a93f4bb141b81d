"""What a browser sends is read as it is, or refused when our editor would never send it."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from piiloom.annotation_app.sync.service import Sent, parse_outbox
from piiloom.foundation.errors import UsageError
from tests.longer import case_by_case

GOOD: dict[str, Any] = {"sequence": 3, "record": "r1", "base": 0, "operation": {"op": "undo"}}
json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5) | st.characters(categories=["Cs"]),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(["client", "operations", "sequence", "record", "base"]), inner)
    ),
    max_leaves=8,
)


def outbox(*items: object, client: object = "tab") -> dict[str, object]:
    return {"client": client, "operations": list(items)}


def test_an_outbox_is_read_as_it_is() -> None:
    assert parse_outbox(outbox()) == []
    odd = {**GOOD, "sequence": 2**53 - 1, "operation": ["whatever", {"half": "\ud800"}]}
    assert parse_outbox(outbox(GOOD, odd)) == [
        Sent(client="tab", sequence=3, record_id="r1", base=0, operation={"op": "undo"}),
        Sent(client="tab", sequence=2**53 - 1, record_id="r1", base=0, operation=odd["operation"]),
    ]
    more = {**GOOD, "client": 7, "record_id": None, "later": "\ud800"}  # keys that an operation need not have are ignored
    assert parse_outbox({**outbox(more), "attempt": 1}) == parse_outbox(outbox(GOOD))


def nested(depth: int) -> object:
    value: object = 1
    for _ in range(depth):
        value = [value]
    return value


@case_by_case(
    "value",
    [
        None,
        [],
        {},
        {"client": "tab"},
        {"client": "tab", "operations": {}},
        outbox(None),
        outbox(3),
        outbox({}),
        outbox(GOOD, client=""),
        outbox(GOOD, client=7),
        outbox(GOOD, client="x" * 201),
        outbox(GOOD, client="\ud800"),
        outbox({**GOOD, "record": None}),
        outbox({**GOOD, "sequence": -1}),
        outbox({**GOOD, "sequence": 1.0}),
        outbox({**GOOD, "sequence": True}),
        outbox({**GOOD, "base": 2**63}),
        outbox({**GOOD, "operation": "x" * 5_000_000}),
        outbox({**GOOD, "operation": float("nan")}),
        outbox({**GOOD, "operation": nested(100_000)}),
        outbox({**GOOD, "operation": {1, 2}}),
    ],
)
def test_what_our_editor_never_sends_is_refused(value: object) -> None:
    with pytest.raises(UsageError, match="Reload the page"):
        parse_outbox(value)


@given(json_values)
def test_nothing_breaks_it(value: object) -> None:
    try:
        parse_outbox(value)
    except UsageError as error:
        assert "never sends" in str(error)  # noqa: PT017 - either outcome is right
