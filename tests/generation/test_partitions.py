"""A run in partitions gives what one process gives, byte for byte, and sends no request more."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import replace

import pytest

from piiloom.corpus.store.costs import open_sends, spending
from piiloom.corpus.store.database import Store
from piiloom.corpus.store.judgements import load_judgements
from piiloom.corpus.store.runs import get_run, load_rejects
from piiloom.execution.money.budget import BudgetReached
from piiloom.execution.ordering import StopSignal
from piiloom.execution.watching.events import CallAnswered, ItemRejected, StagePassed
from piiloom.foundation.errors import RunError, UsageError
from piiloom.generation.distributed.partitioned import generate_partitioned
from piiloom.generation.running.session import call_policy
from piiloom.generation.settings.setting_checks import make_config
from piiloom.generation.stages import screen
from piiloom.providers.errors import AuthFailed
from piiloom.providers.prices import parse_prices
from tests.fakes.llm_author import Author
from tests.fakes.llm_server import LLMServer
from tests.fakes.llm_tricks import TRICKS
from tests.generation.llm_runs import QUICK, check_exact, config_for, exported, read_back, resume, set_keys, start
from tests.generation.partition_executors import HalfExecutor, LocalExecutor, partition_files, run_by, run_by_ray
from tests.longer import EXPLORE, usually

pytestmark = pytest.mark.long

SAMPLES = 48 if EXPLORE else 16
CLUMSY = {trick: 0.05 for tricks in TRICKS.values() for trick in tricks}
PRICE = "input=1000,output=2000"
COMPOSED = {"recipe": "staged", "samples": 60, "max_attempts": 1, "situation_words": (25, 25), "seed": 3}


@pytest.fixture(autouse=True)
def _keys(monkeypatch):
    set_keys(monkeypatch)


def prompts(server: LLMServer, before: Counter[str] | None = None) -> Counter[str]:
    """How often each prompt was sent."""
    return Counter(json.dumps(body, sort_keys=True) for body in server.bodies) - (before or Counter())


def told(store: Store, out) -> tuple:
    """All that a run leaves, whoever worked on it."""
    kept = read_back(store)
    check_exact(kept.records)
    calls = Counter((row.key, row.reply, row.verdict, row.fault, row.cost_usd) for row in kept.completions)
    return exported(store, out), kept.records, kept.indexes, kept.rejects, calls, kept.run.status


@pytest.mark.parametrize(
    ("name", "partitions", "returned"),
    usually([("openai", 1, False), ("anthropic", 3, False), ("compatible", 4, True)], {("anthropic", 3, False), ("compatible", 4, True)}),
)
def test_partitions_give_what_one_process_gives(name, partitions, returned, tmp_path):
    with LLMServer(Author(5, CLUMSY)) as server:
        config = config_for(name, server, samples=SAMPLES, max_attempts=2, margin=0.3)
        with Store.open(tmp_path / "one.duckdb") as store:
            whole = start(store, config)
            expected = told(store, tmp_path / "one")
        once = prompts(server)
        with Store.open(tmp_path / "many.duckdb") as store:
            executor = LocalExecutor(partitions)
            progress = run_by(executor, store, config, returned=returned)
            assert told(store, tmp_path / "many") == expected
        assert prompts(server, once) == once
    assert sorted(executor.indexes) == list(range(partitions))
    assert whole.rejected > 0  # else further rounds would not have been needed
    assert (progress.status, progress.accepted, progress.rejected, progress.reasons) == ("finished", SAMPLES, whole.rejected, whole.reasons)
    assert progress.totals.answered == progress.totals.answered_now == whole.totals.answered
    assert progress.totals.cost_usd == pytest.approx(whole.totals.cost_usd)
    assert partition_files(tmp_path) == []


def test_the_composer_in_partitions_too(tmp_path):
    config = make_config(COMPOSED)
    with Store.open(tmp_path / "one.duckdb") as store:
        whole = start(store, config)
        expected = exported(store, tmp_path / "one"), read_back(store).rejects
    with Store.open(tmp_path / "many.duckdb") as store:
        executor = LocalExecutor(4)
        progress = run_by(executor, store, config)
        assert (exported(store, tmp_path / "many"), read_back(store).rejects) == expected
    assert progress.rejected == whole.rejected > 5
    assert sorted(executor.indexes) == [0, 1, 2, 3]
    assert progress.totals.answered == whole.totals.answered


def test_judgements_come_through(tmp_path):
    with LLMServer(Author(1)) as server:
        config = config_for("openai", server, samples=16, judges=("relevance", "leak"))
        found = []
        for name in ("one", "many"):
            with Store.open(tmp_path / f"{name}.duckdb") as store:
                start(store, config) if name == "one" else run_by(LocalExecutor(2), store, config)
                found.append(load_judgements(store))
        assert found[0] == found[1] != []


@pytest.mark.parametrize(("samples", "workers"), [(3, 0), (9, 2), (40, 3)])
def test_no_more_workers_than_pay_off_and_each_gets_its_share(tmp_path, samples, workers):
    with Store.open(tmp_path / "s.duckdb") as store:
        executor = LocalExecutor(3)
        assert run_by(executor, store, make_config(COMPOSED | {"samples": samples})).accepted == samples
    assert len(executor.assignments) == workers
    worked = [index for indexes in executor.indexes.values() for index in indexes]
    assert len(worked) == len(set(worked))
    shares = [len(indexes) for indexes in executor.indexes.values()]
    assert max(shares, default=0) - min(shares, default=0) <= 1


def test_together_partitions_never_pass_the_budget(tmp_path):
    spec = parse_prices(PRICE)
    with LLMServer(Author(2)) as server, Store.open(tmp_path / "s.duckdb") as store:
        config, reached, budget = config_for("openai", server, samples=12, price=PRICE, budget_usd=9.0), 0, 9.0
        while True:
            executor = LocalExecutor(3)
            try:
                resumed = {"resumed": True, "changes": {"budget_usd": budget}} if reached else {}
                progress = run_by(executor, store, config, **resumed)
            except BudgetReached:
                bill = sum(spec.cost_usd(usage) or 0.0 for usage in server.billed_usage)
                assert bill <= budget
                assert bill == pytest.approx(spending(store, get_run(store, "last").id).cost_usd)
                assert get_run(store, "last").status == "interrupted"
                reached, budget = reached + 1, budget + 9.0
                continue
            break
        assert reached >= 2
        assert progress.accepted == 12
        calls = server.requests
        files = exported(store, tmp_path / "many")
        with Store.open(tmp_path / "one.duckdb") as whole:
            start(whole, config.model_copy(update={"budget_usd": None}))
            assert exported(whole, tmp_path / "one") == files
        assert server.requests == 2 * calls  # nothing was paid for twice over all these sessions
    assert partition_files(tmp_path) == []


def test_a_process_that_dies_costs_its_calls_in_flight_and_no_record(tmp_path):
    with LLMServer(Author(1)) as server:
        config = config_for("openai", server, samples=12, price=PRICE, budget_usd=1000.0)
        with Store.open(tmp_path / "one.duckdb") as store:
            start(store, config)
            expected = exported(store, tmp_path / "one")
        once = prompts(server)
        with Store.open(tmp_path / "many.duckdb") as store:
            executor = HalfExecutor(3, victim=1, items=3)
            progress = run_by(executor, store, config)
            assert exported(store, tmp_path / "many") == expected
        assert prompts(server, once) == once  # what the dead one had paid for was merged
    assert progress.status == "finished"
    assert len(executor.assignments) > 3
    assert executor.coordinator is not None
    assert executor.coordinator.limiter.snapshot().in_flight == 0
    assert executor.coordinator.budget.reserved_usd == 0
    assert executor.coordinator.budget.spent_usd == pytest.approx(progress.totals.cost_usd + 0.5)


def test_what_a_lost_node_had_spent_is_set_aside(tmp_path):
    with LLMServer(Author(1)) as server, Store.open(tmp_path / "many.duckdb") as store:
        progress = run_by(HalfExecutor(3, victim=1, items=3), store, config_for("openai", server, samples=12, price=PRICE), returned=True)
        spec = parse_prices(PRICE)
        bill = sum(spec.cost_usd(usage) or 0.0 for usage in server.billed_usage)
        assert progress.status == "finished"
        spent = spending(store, progress.run_id)
        assert spent.maybe_paid == 1
        # What was paid on the lost node is paid again, and counted; the half dollar was set aside for its call in flight.
        assert spent.cost_usd + spent.charged_usd == pytest.approx(bill + 0.5)
        assert spent.charged_usd > 0


def test_an_edit_of_the_last_stage_replays_the_others_in_partitions(tmp_path):
    from tests.generation.test_llm_money import edited  # the same edit

    with LLMServer(Author(1)) as server, Store.open(tmp_path / "s.duckdb") as store:
        start(store, config_for("openai", server, samples=12))
        asked, mine = server.requests, edited(tmp_path / "mine", "paraphrase", "{% block user %}", "{% block user %}\nKeep it plain.")
        progress = run_by(LocalExecutor(3), store, config_for("openai", server, samples=12, prompts=mine))
        assert {entry.schema_name for entry in server.log[asked:]} <= {"paraphrase", "span_retrieval"}
        assert progress.totals.replayed > 5 * 12
        used = store.rows("SELECT count(*) FROM call_events WHERE run_id = ? AND kind = 'used'", [progress.run_id])[0][0]
        assert used == progress.totals.replayed


def test_a_stop_keeps_what_is_done_and_another_way_goes_on(tmp_path):
    with LLMServer(Author(1), latency_s=0.005) as server:
        config = config_for("openai", server, samples=12)
        with Store.open(tmp_path / "one.duckdb") as store:
            start(store, config)
            expected = exported(store, tmp_path / "one")
        once = prompts(server)
        with Store.open(tmp_path / "many.duckdb") as store:
            stop, seen = StopSignal(), []

            def heard(event) -> None:
                seen.append(event)
                if sum(isinstance(one, StagePassed) for one in seen) > 40:
                    stop.request()

            interrupted = run_by(LocalExecutor(3), store, config, stop=stop, policy=heard_by(config, heard))
            assert interrupted.status == "interrupted"
            assert 0 < prompts(server, once).total() < once.total()
            assert resume(store).status == "finished"
            assert exported(store, tmp_path / "many") == expected
        assert prompts(server, once) == once


def heard_by(config, heard):
    return replace(call_policy(config), retry=QUICK, sink=heard)


def test_whoever_watches_sees_it_run(tmp_path):
    with LLMServer(Author(1), latency_s=0.02) as server, Store.open(tmp_path / "s.duckdb") as store:
        config, events, said = config_for("openai", server, samples=12), [], []
        progress = run_by(
            LocalExecutor(3),
            store,
            config,
            policy=heard_by(config, events.append),
            watch=lambda seen: said.append((seen.preparing, seen.accepted)),
        )
        assert sum(isinstance(event, CallAnswered) for event in events) == server.requests == progress.totals.answered
    assert any(text.startswith("topics") for text, _ in said)
    assert [accepted for text, accepted in said if not text][-12:] == list(range(1, 13))


def test_whoever_watches_is_told_of_each_reject_in_a_partition_once(tmp_path):
    with LLMServer(Author(1, {"wrong_keys": 0.03})) as server, Store.open(tmp_path / "s.duckdb") as store:
        config, events = config_for("openai", server, samples=24, max_attempts=1), []
        run_by(LocalExecutor(2), store, config, policy=heard_by(config, events.append))
        stored = {(row.stage, str(row.plan_index)) for row in load_rejects(store, get_run(store, "last").id) if row.plan_index is not None}
    told = [(event.stage, event.item_id) for event in events if isinstance(event, ItemRejected) and event.item_id.isdecimal()]
    apart = {one for one in stored if one[0] != screen.NAME}
    assert apart
    assert sorted(one for one in told if one[0] != screen.NAME) == sorted(apart)


def test_an_error_of_one_partition_ends_all_and_keeps_what_they_paid_for(tmp_path, monkeypatch):
    with LLMServer(Author(1)) as server, Store.open(tmp_path / "s.duckdb") as store:
        config = config_for("anthropic", server, samples=12)

        def locked_out(assignment) -> None:
            if assignment.partition.number == 1:
                monkeypatch.delenv("ANTHROPIC_API_KEY")
            else:
                set_keys(monkeypatch)

        with pytest.raises(AuthFailed, match="ANTHROPIC_API_KEY"):
            run_by(LocalExecutor(3, before=locked_out), store, config)
        assert get_run(store, "last").status == "interrupted"
        assert partition_files(tmp_path) == []
        set_keys(monkeypatch)
        assert resume(store).status == "finished"
        assert open_sends(store, get_run(store, "last").id) == []
        assert max(prompts(server).values()) == 1


def test_another_piiloom_on_a_node_is_refused(tmp_path):
    with LLMServer(Author(1)) as server, Store.open(tmp_path / "s.duckdb") as store:
        config = config_for("openai", server, samples=24)
        executor = LocalExecutor(2)
        start_worker = executor.start_worker

        def elsewhere(assignment, coordinator):
            return start_worker(replace(assignment, run=replace(assignment.run, config_digest="another")), coordinator)

        executor.start_worker = elsewhere
        with pytest.raises(RunError, match="another piiloom"):
            run_by(executor, store, config)
        assert server.requests == 0
        assert get_run(store, "last").status == "interrupted"
        assert partition_files(tmp_path) == []


@pytest.mark.parametrize("victim", ["worker", "coordinator"])
def test_what_dies_again_and_again_is_an_error_that_says_what_to_do(tmp_path, victim):
    with LLMServer(Author(1)) as server, Store.open(tmp_path / "s.duckdb") as store:
        executor = LocalExecutor(2)
        start_actor = getattr(executor, f"start_{victim}")

        def dead(*given, **options):
            handle = start_actor(*given, **options)
            handle.die()
            return handle

        setattr(executor, f"start_{victim}", dead)
        with pytest.raises(RunError, match="ActorDied") as caught:
            run_by(executor, store, config_for("openai", server, samples=12))
        assert "Resume the run" in (caught.value.remedy or "")
        assert get_run(store, "last").status == "interrupted"
        assert partition_files(tmp_path) == []
        assert resume(store).status == "finished"


def test_what_cannot_be_partitioned_is_refused(tmp_path):
    with LLMServer(Author(1)) as server, Store.open(tmp_path / "s.duckdb") as store:
        with pytest.raises(UsageError, match="--batch"):
            run_by_ray(store, config_for("openai", server, batch=True), 2)
        with pytest.raises(UsageError, match="needs a shared folder"):
            run_by_ray(store, config_for("openai", server, seed=8, budget_usd=5.0), 2, address="127.0.0.1:1")


def test_without_ray_one_line_says_what_to_do(tmp_path, monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "ray", None)
    assert generate_partitioned is not None
    with Store.open(tmp_path / "s.duckdb") as store, pytest.raises(UsageError, match=r"pip install -e '\.\[ray\]'"):
        run_by_ray(store, make_config({"samples": 40}), 2)
