"""A network that fails, a model that misbehaves: every item ends as an exact record or a reject, and the counts add up."""

from __future__ import annotations

import logging
import socket
from collections import Counter
from pathlib import Path

import pytest

from piiloom.corpus.store.database import Store
from piiloom.corpus.store.runs import load_plan_items, load_rejects
from piiloom.generation.running.tracing import report_stages
from piiloom.providers.errors import AuthFailed, BudgetExceeded, ProviderUnavailable
from tests.ended_calls import CompletionRow
from tests.fakes.llm_author import Author
from tests.fakes.llm_server import DELIVERED, Fault, LLMServer, Request, Schedule, seeded_faults
from tests.fakes.llm_tricks import TRICKS, synonym
from tests.fakes.llm_wire import BAD_KEY
from tests.generation.llm_runs import KEY, QUICK, Kept, check_exact, config_for, exported, read_back, resume, set_keys, start
from tests.longer import usually

CLUMSY = {trick: 0.03 for tricks in TRICKS.values() for trick in tricks}
TRANSPORT = {"rate_limit": 0.03, "server_error": 0.02, "overloaded": 0.01, "cut": 0.02, "bad_json_body": 0.02}
UNUSABLE = {"bad_json_reply": 0.02, "refusal": 0.02, "truncation": 0.02, "fenced": 0.02}
DERIVED = ("records", "spans", "stage_results", "shared_results", "plan_items", "rejects")


@pytest.fixture(autouse=True)
def _keys(monkeypatch: pytest.MonkeyPatch) -> None:
    set_keys(monkeypatch)


def trouble(seed: int) -> Schedule:
    """All that can go wrong, each kind at least once."""
    seeded = seeded_faults(seed, {**TRANSPORT, **UNUSABLE})
    certain = {20 + 9 * number: kind for number, kind in enumerate(("timeout", *TRANSPORT, *UNUSABLE))}
    return lambda ordinal: Fault(kind=certain[ordinal], seconds=8.0) if ordinal in certain else seeded(ordinal)


def check_ledger(kept: Kept, server: LLMServer) -> None:
    """What the server saw and billed is what the store holds, and every reply has been judged."""
    unanswered = [row for row in kept.completions if row.reply is None]
    assert server.requests == sum(1 + row.retries for row in kept.completions)
    assert server.billed.total() == len(kept.completions) - len(unanswered)
    assert len({row.key for row in kept.completions}) == len(kept.completions)
    assert all(row.verdict == "accepted" or (row.verdict and row.fault) for row in kept.completions)
    kinds = Counter(_code(row) for row in kept.completions if row.verdict == "error" and row.reply is not None)
    assert kinds["refused"] == server.outcomes["refusal"]
    assert kinds["truncated"] == server.outcomes["truncation"]
    assert kinds["invalid_reply"] >= server.outcomes["bad_json_reply"]
    assert sum(kinds.values()) == kinds["refused"] + kinds["truncated"] + kinds["invalid_reply"]


def check_decided(store: Store, kept: Kept) -> None:
    """Every plan item that was begun has exactly one end, and the rejects say where and why."""
    ends = sorted(kept.indexes + [row.plan_index for row in kept.rejects if row.plan_index is not None])
    assert ends == list(range(len(ends)))
    assert [index for index, _ in load_plan_items(store, kept.run.id)] == ends
    assert all(row.stage and row.reason_code and row.detail for row in kept.rejects if row.plan_index is not None)
    lines = report_stages(store, kept.run)
    assert {line.stage: line.reasons for line in lines if line.reasons} == _by_stage(kept)
    assert sum(sum(line.replies.values()) for line in lines) == len(kept.completions)


def _by_stage(kept: Kept) -> dict[str, dict[str, int]]:
    counts: dict[str, dict[str, int]] = {}
    for row in kept.rejects:
        stage = counts.setdefault(row.stage, {})
        stage[row.reason_code] = stage.get(row.reason_code, 0) + 1
    return counts


def _code(row: CompletionRow) -> str:
    return (row.fault or "").partition(":")[0]


def all_text(store: Store) -> str:
    tables = store.rows("SELECT table_name FROM information_schema.tables WHERE table_schema = 'main'")
    return "\n".join(str(store.rows(f"FROM {table}")) for (table,) in tables)


def holding(folder: Path, words: str) -> list[Path]:
    return [path for path in folder.rglob("*") if path.is_file() and words.encode() in path.read_bytes()]


def check_all_happened(author: Author, server: LLMServer, kept: Kept) -> None:
    """Every kind of trouble came up, and the validators called it by its name."""
    assert set(server.outcomes) >= {*TRANSPORT, *UNUSABLE, "timeout"}
    for schema in ("situation", "peripheral", "paraphrase", "question_abstracted"):
        assert {trick for name, trick in author.done if name == schema} == set(TRICKS[schema])
    refused = {_code(row) for row in kept.completions if row.verdict == "refused_by_validator"}
    assert refused >= {"value_missing", "value_changed", "broken_mark", "wrong_length", "not_a_question"}
    # A whole value in a question may also be seen as a word of another value or of its type, whichever comes first.
    assert refused & {"question.value", "question.content_word", "question.type_word"}


# Both kinds of reply and both sources of values; the first tells little that the others do not.
RUNS = [("openai", "code", 40), ("anthropic", "code", 20), ("compatible", "llm", 40)]


@pytest.mark.long
@pytest.mark.parametrize(("name", "values", "wanted"), usually(RUNS, set(RUNS[1:])))
def test_every_item_ends_as_a_record_or_a_reject(name, values, wanted, tmp_path, caplog, capfd):
    caplog.set_level(logging.DEBUG)
    author = Author(3, CLUMSY, all_tricks=TRICKS)
    with LLMServer(author, schedule=trouble(5)) as server, Store.open(tmp_path / "s.duckdb") as store:
        progress = start(store, config_for(name, server, samples=wanted, concurrency=16, values=values, seed=11), timeout_s=3.0)
        kept = read_back(store)
        check_decided(store, kept)
        exported(store, tmp_path / "native")
        exported(store, tmp_path / "capid", "capid")
        assert KEY not in all_text(store)
    check_exact(kept.records)
    check_ledger(kept, server)
    assert progress.accepted == len(kept.records) == wanted
    assert progress.rejected == sum(progress.reasons.values()) == sum(row.plan_index is not None for row in kept.rejects) > 0
    assert progress.totals.answered == server.billed.total()
    assert progress.totals.retries > 0
    assert not [r for r in kept.records if "language model" in r.context or "rewritten text" in f"{r.context}{r.question}"]
    check_all_happened(author, server, kept)
    said = capfd.readouterr()
    assert KEY not in caplog.text + said.out + said.err
    assert holding(tmp_path, KEY) == []


@pytest.mark.long
def test_what_was_paid_is_never_paid_again(tmp_path):
    """All that can be recomputed from the journal is deleted; going on asks nothing and gives the same."""
    kinds = {30 + 8 * number + again: kind for number, kind in enumerate(UNUSABLE) for again in range(3)}
    server = LLMServer(Author(2, CLUMSY), schedule=lambda n: Fault(kind=kinds[n]) if n in kinds else None)
    with server, Store.open(tmp_path / "s.duckdb") as store:
        start(store, config_for("openai", server, samples=12, concurrency=1))
        before, files = read_back(store), exported(store, tmp_path / "before")
        assert {row.reason_code for row in before.rejects} >= {"refused", "truncated", "invalid_reply"}
        asked = server.requests
        store.change("DELETE FROM release_members")
        for table in DERIVED:
            store.change(f"DELETE FROM {table}")  # noqa: S608 - a constant above
        progress = resume(store, concurrency=3)
        after = read_back(store)
        assert (server.requests, progress.totals.answered_now) == (asked, 0)
        assert progress.totals.replayed == len(before.completions)
        assert exported(store, tmp_path / "after") == files
    assert after.records == before.records
    assert after.rejects == before.rejects
    assert after.completions == before.completions


@pytest.mark.long
def test_other_words_for_a_value_become_its_span(tmp_path):
    author = Author(1, {"paraphrase/synonym": 1.0}, all_tricks=["span_retrieval"])
    with LLMServer(author) as server, Store.open(tmp_path / "s.duckdb") as store:
        start(store, config_for("anthropic", server, samples=8, no_pii_share=0))
        kept = read_back(store)
    check_exact(kept.records)
    retrieved = [row for row in kept.completions if row.template == "span_retrieval.v1" and row.verdict == "accepted"]
    assert len(kept.records) == 8
    assert len(retrieved) >= 8
    assert len(author.done) == 1 + len(TRICKS["span_retrieval"])
    values = set(synonyms_of(server))
    for record in kept.records:
        assert any(span.text_in(record.context) in values for span in record.spans)


def synonyms_of(server: LLMServer) -> list[str]:
    """The author's words for every fact that span retrieval was asked about."""
    prompts = [str(body["messages"][-1]["content"]) for body in server.bodies]
    facts = [prompt.partition("\n")[0] for prompt in prompts if prompt.startswith("Fact: ")]
    return [synonym(fact.removeprefix("Fact: ").rpartition(" (")[0]) for fact in facts]


@pytest.mark.long
@pytest.mark.parametrize(
    ("reply", "code", "attempts"), [(None, "value_changed", 1), ("whole text", "not_a_value", 2), ("the", "not_a_value", 2)]
)
def test_other_words_that_nobody_finds_reject_the_item(reply, code, attempts, tmp_path):
    good, bad = Author(1), Author(1, {"paraphrase/synonym": 1.0})
    chosen: list[str] = []

    def answer(request: Request):
        if request.schema_name == "paraphrase":
            sentences = request.user.partition("\n\nWrite")[0]
            if len(chosen) < 2 and "[[" in sentences:
                chosen.append(sentences)
            return (bad if sentences in chosen else good)(request)
        if request.schema_name != "span_retrieval":
            return good(request)
        return {"span": request.user.partition("\nText:\n")[2].partition("\n")[0] if reply == "whole text" else reply}

    with LLMServer(answer) as server, Store.open(tmp_path / "s.duckdb") as store:
        start(store, config_for("compatible", server, samples=3, max_attempts=2, seed=4))
        kept = read_back(store)
        check_decided(store, kept)
    check_exact(kept.records)
    check_ledger(kept, server)
    assert {(row.stage, row.reason_code, row.attempts) for row in kept.rejects} == {("spans", code, attempts)}
    assert len(kept.rejects) == len(set(chosen))
    assert all(row.last_reply for row in kept.rejects)


@pytest.mark.long
def test_a_wrong_key_ends_the_run_at_once(tmp_path, monkeypatch, caplog):
    caplog.set_level(logging.DEBUG)
    set_keys(monkeypatch, BAD_KEY)
    with LLMServer(Author()) as server, Store.open(tmp_path / "s.duckdb") as store:
        with pytest.raises(AuthFailed, match="OPENAI_API_KEY") as error:
            start(store, config_for("openai", server, samples=2, concurrency=2, pairs="all"))
        kept = read_back(store)
        assert server.requests <= 4  # of 22 pairs that wait for topics
        assert kept.run.status == "interrupted"
        assert kept.rejects == kept.records == []
        assert BAD_KEY not in str(error.value) + repr(error.value) + all_text(store)
        set_keys(monkeypatch)
        assert resume(store).status == "finished"
        assert BAD_KEY not in caplog.text


@pytest.mark.long
def test_money_that_runs_out_ends_the_run_and_what_was_paid_stays(tmp_path):
    with LLMServer(Author(), schedule=lambda n: Fault(kind="quota") if n >= 40 else None) as server:
        config = config_for("anthropic", server, samples=8, concurrency=4)
        with Store.open(tmp_path / "s.duckdb") as store:
            with pytest.raises(BudgetExceeded):
                start(store, config)
            assert server.outcomes["quota"] <= 4  # no one goes on asking
            assert read_back(store).rejects == []
            server.schedule = lambda _: None
            assert resume(store).accepted == 8
            kept = read_back(store)
            files = exported(store, tmp_path / "stopped")
        with Store.open(tmp_path / "whole.duckdb") as store:
            start(store, config)
            assert exported(store, tmp_path / "whole") == files
    answered = [row.key for row in kept.completions if row.reply is not None]
    assert len(set(answered)) == len(answered)


def test_a_server_that_was_never_reached_ends_the_run(tmp_path):
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))  # bound, not listening: nothing answers there, and nobody else gets the port
        url = f"http://127.0.0.1:{taken.getsockname()[1]}/v1"
        with LLMServer(Author()) as server, Store.open(tmp_path / "s.duckdb") as store:
            with pytest.raises(ProviderUnavailable, match=r"127\.0\.0\.1"):
                start(store, config_for("compatible", server, samples=4, base_url=url))
            kept = read_back(store)
    assert kept.run.status == "interrupted"
    assert kept.rejects == kept.records == []
    assert {row.reply for row in kept.completions} <= {None}


@pytest.mark.long
def test_an_outage_ends_the_run_and_costs_no_item_for_good(tmp_path):
    server = LLMServer(Author(), schedule=lambda n: Fault(kind="server_error") if n >= 40 else None)
    with server, Store.open(tmp_path / "s.duckdb") as store:
        with pytest.raises(ProviderUnavailable):
            start(store, config_for("compatible", server, samples=8, concurrency=2))
        met = read_back(store)
        assert {(row.stage, row.reason_code) for row in met.rejects} <= {
            (stage, "provider_unavailable") for stage in ("situation", "peripheral", "question", "paraphrase", "spans")
        }
        assert len(met.rejects) <= 20
        with pytest.raises(ProviderUnavailable):  # still down: that costs no item
            resume(store)
        assert read_back(store).rejects == []
        assert load_rejects(store, met.run.id, lifted=True) == met.rejects
        server.schedule = lambda _: None
        progress = resume(store)
        kept = read_back(store)
    assert (progress.status, progress.accepted, kept.rejects, kept.indexes) == ("finished", 8, [], list(range(8)))
    answered = [row.key for row in kept.completions if row.reply is not None]
    assert len(set(answered)) == len(answered) == server.billed.total()
    check_exact(kept.records)


@pytest.mark.long
def test_one_call_that_never_gets_through_rejects_its_item(tmp_path):
    down = range(30, 30 + QUICK.attempts)
    server = LLMServer(Author(), schedule=lambda n: Fault(kind="rate_limit") if n in down else None)
    with server, Store.open(tmp_path / "s.duckdb") as store:
        progress = start(store, config_for("openai", server, samples=5, concurrency=1))
        kept = read_back(store)
        check_decided(store, kept)
    check_ledger(kept, server)
    assert progress.accepted == 5
    assert [row.reason_code for row in kept.rejects] == ["rate_limited"]
    assert [row.verdict for row in kept.completions if row.reply is None] == ["error"]
    assert set(server.outcomes) - DELIVERED == {"rate_limit"}
