"""``piiloom batch``: what is out is listed, ended at the provider, and kept."""

from __future__ import annotations

import asyncio
import json

import pytest

from piiloom.corpus.store.costs import spending
from piiloom.corpus.store.database import Store
from piiloom.corpus.store.runs import create_run
from piiloom.generation.settings.digests import run_digest
from tests.execution.batch_sessions import RUN, counting, impatient, is_out, sit, until
from tests.fakes.llm_batches import BatchPlan
from tests.generation.llm_runs import config_for, set_keys

BOTH = pytest.mark.parametrize("name", ["openai", "anthropic"])


@pytest.fixture
def server(monkeypatch):
    set_keys(monkeypatch)
    with counting() as running:
        # Each look-up answers one request of ten, so that a batch is half done when it is ended.
        running.batches.plan = lambda _: BatchPlan(polls=10)
        yield running


@pytest.fixture
def left(server, store_path, name):
    """A store with a run whose batch of ten requests is out, with about half of them answered."""
    store_path.parent.mkdir()
    config = config_for(name, server, samples=1)
    with Store.open(store_path) as store:
        what = {"provider": name, "model": config.model, "seed": 1, "samples": 1}
        create_run(store, **what, config=config.model_dump(mode="json"), config_digest=run_digest(config), run_id=RUN)

    async def leave(session):
        tasks = [asyncio.ensure_future(session.item(n, ["first"])) for n in range(10)]
        await until(lambda: is_out(session) and next(iter(server.batches.batches.values())).polls > 3)
        for task in tasks:
            task.cancel()

    sit(store_path, server, name, leave, policy=impatient(first_poll_s=0.02))
    return store_path


@BOTH
def test_list_shows_what_is_out(left, server, name, cli):
    outcome = cli("batch", "list", "--store", left)
    assert (outcome.code, outcome.err) == (0, "")
    titles, line = outcome.out.splitlines()
    assert titles.split()[:6] == ["batch", "run", "provider", "model", "state", "requests"]
    assert [RUN, name, "submitted", "10"] == [word for word in line.split() if word in {RUN, name, "submitted", "10"}]
    (batch,) = json.loads(cli("batch", "list", "--run", "last", "--json", "--store", left).out)["batches"]
    assert (batch["state"], batch["open"], batch["requests"]) == ("submitted", True, 10)
    assert batch["remote_id"] in server.batches.batches


@pytest.mark.long
@BOTH
def test_cancel_ends_the_batch_and_keeps_what_it_had_answered(left, server, name, cli):
    outcome = cli("batch", "cancel", "--store", left)
    assert outcome.code == 0, outcome.err
    (remote,) = server.batches.batches.values()
    answered = remote.count("ok")
    assert 0 < answered < 10
    assert remote.count("cancelled") == 10 - answered
    assert f"cancelled, {answered} of 10 requests answered and kept" in outcome.out
    with Store.open(left) as store:
        sums = spending(store, RUN)
    assert sums.answered == answered == server.batches.billed_prompts.total()
    assert sums.cost_usd > 0
    assert sums.charged_usd == 0
    again = cli("batch", "cancel", "--run", RUN, "--store", left)
    assert (again.code, again.out) == (0, f"run {RUN} has no open batch\n")
    # The run goes on with the rest: what was answered is not sent again.
    server.batches.plan = lambda _: BatchPlan(polls=1)
    assert sit(left, server, name, lambda session: session.items(range(10), ["first"])) == [[n] for n in range(10)]
    assert set(server.batches.billed_prompts.values()) == {1}


@pytest.mark.parametrize("name", ["openai"])
def test_forget_charges_what_may_have_been_paid_and_asks_nobody(left, server, name, cli):
    asked = dict(server.batches.asked)
    outcome = cli("batch", "cancel", "--forget", "--json", "--store", left)
    assert outcome.code == 0
    (batch,) = json.loads(outcome.out)["batches"]
    assert (batch["state"], batch["owed"], batch["answered"]) == ("failed", 10, 0)
    assert dict(server.batches.asked) == asked
    with Store.open(left) as store:
        assert spending(store, RUN).charged_usd == pytest.approx(batch["charged_usd"])
    assert batch["charged_usd"] > 0


@BOTH
def test_a_batch_that_the_provider_does_not_know_is_not_given_up_silently(left, server, name, cli):
    server.batches.batches.clear()
    outcome = cli("batch", "cancel", "--store", left)
    assert outcome.code == 1
    assert "--forget" in outcome.err
    (batch,) = json.loads(cli("batch", "list", "--json", "--store", left).out)["batches"]
    assert batch["open"] is True


def test_a_store_without_batches(filled, cli):
    assert "no batches in" in cli("batch", "list", "--store", filled).out
    assert cli("batch", "cancel", "--store", filled).code == 0
    assert cli("batch", "list", "--run", "nobody", "--store", filled).code == 1
