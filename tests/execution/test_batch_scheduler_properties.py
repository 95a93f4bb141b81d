"""Whatever goes wrong in batches, each item ends, each answer is paid for once and kept, and no money stays set aside."""

from __future__ import annotations

import tempfile
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from piiloom.providers.batch_api import BatchLimits
from piiloom.providers.errors import InvalidRequest, ProviderUnavailable, ReplyRejected
from tests.execution.batch_sessions import batches, counting, entries, impatient, replies, sit
from tests.fakes.llm_batches import BatchPlan

FATES = st.sampled_from([None, None, None, "invalid", "refusal", "truncation", "bad_json_reply", "server_error"])
PLANS = st.builds(BatchPlan, polls=st.integers(1, 4), expires_after=st.sampled_from([None, None, 1, 2]))
TROUBLES = st.sampled_from([None, None, None, "rate_limit", "server_error", "lost"])
EXPECTED = {"invalid": InvalidRequest, "server_error": ProviderUnavailable}


@pytest.mark.long
@pytest.mark.parametrize("name", ["openai", "anthropic"])
@given(
    fates=st.lists(FATES, min_size=1, max_size=20),
    plans=st.lists(PLANS, max_size=5),
    troubles=st.lists(TROUBLES, max_size=12),
    most=st.integers(1, 25),
)
@settings(max_examples=3, deadline=None)
def test_every_item_ends_and_every_answer_is_paid_for_once(keys_for_all, name, fates, plans, troubles, most):
    numbers = range(len(fates))
    with tempfile.TemporaryDirectory() as folder, counting() as server:
        path = Path(folder) / "store.duckdb"
        server.batches.fate = lambda request: fates[int(request.user.split()[-1])]
        server.batches.plan = lambda nth: plans[nth] if nth < len(plans) else BatchPlan(polls=1)
        # One trouble in a row at most of those that end a run after a few.
        asked = iter(enumerate(troubles))
        server.batches.trouble = lambda *_: next(((t if n % 2 else None) for n, t in asked), None)

        async def work(session):
            found = await session.items(numbers, ["first"])
            return found, session.budget.reserved_usd, session.batches.parked

        limits = BatchLimits(requests=most, bytes=1_000_000)
        found, reserved, parked = sit(path, server, name, work, policy=impatient(sends=8), limits=limits)
        assert (reserved, parked) == (0, 0)
        for number, fate in enumerate(fates):
            if fate is None:
                assert found[number] == [number]
            else:
                assert isinstance(found[number], EXPECTED.get(fate, ReplyRejected))
        billed = server.batches.billed_prompts
        assert set(billed.values()) <= {1}
        assert len(replies(path)) == len(set(replies(path))) == billed.total()
        assert all(row.state == "collected" for row in batches(path))
        assert sum(entry["charge_usd"] for entry in entries(path, "failed")) == 0
