"""Runs of the pipeline against the loopback LLM server, as the tests of this room make them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest

from piiloom.corpus.record import Record
from piiloom.corpus.releases.exporting import export_release
from piiloom.corpus.releases.freezing import create_release
from piiloom.corpus.store.database import Store
from piiloom.corpus.store.records import iter_records
from piiloom.corpus.store.runs import RejectRow, RunRow, get_run, load_rejects
from piiloom.execution.retrying import RetryPolicy
from piiloom.generation.run_session import run_to_end
from piiloom.generation.running.opening import resume_run, start_run
from piiloom.generation.running.progress import RunProgress
from piiloom.generation.running.session import call_policy
from piiloom.generation.settings.configuration import RunConfig
from piiloom.generation.settings.setting_checks import make_config
from tests.ended_calls import CompletionRow, load_completions
from tests.fakes.llm_server import LLMServer

KEY = "sk-test-LOOPBACK-0123456789-keyring"
MODELS = {"openai": "gpt-6-luna", "anthropic": "claude-haiku-5-5", "compatible": "local-model"}
PAIRS = "health+occupation,age+belief,finance+location,appearance+relationship"
# Waits so short that a test does not notice them.
QUICK = RetryPolicy(attempts=4, base_s=0.002, cap_s=0.01, patience_s=1.0, limited_s=0.0)
_ENVIRONMENT = ("OPENAI_API_KEY", "ANTHROPIC_API_KEY", "PIILOOM_COMPATIBLE_API_KEY")
_FOREIGN = ("OPENAI_BASE_URL", "ANTHROPIC_BASE_URL", "OPENAI_ORG_ID", "OPENAI_PROJECT_ID", "OPENAI_CUSTOM_HEADERS", "ANTHROPIC_AUTH_TOKEN")


def set_keys(monkeypatch: pytest.MonkeyPatch, key: str = KEY) -> None:
    """Have every provider find *key*, and nothing of the developer's own environment."""
    for name in (*_FOREIGN, "ANTHROPIC_CUSTOM_HEADERS", "PIILOOM_MODELS"):
        monkeypatch.delenv(name, raising=False)
    for name in _ENVIRONMENT:
        monkeypatch.setenv(name, key)


def config_for(name: str, server: LLMServer, **settings: Any) -> RunConfig:
    """Settings of a small run of provider *name* on *server*, in the stages of the published order."""
    url = server.anthropic_url if name == "anthropic" else server.openai_url
    chosen = {
        "samples": 12,
        "pairs": PAIRS,
        "topics_per_pair": 2,
        "subtopics_per_topic": 8,
        "max_low": 2,
        "concurrency": 8,
        "margin": 0.0,
        "recipe": "staged",
    }
    return make_config({"provider": name, "model": MODELS[name], "base_url": url, **chosen, **settings})


def start(store: Store, config: RunConfig, *, retry: RetryPolicy = QUICK, timeout_s: float | None = None) -> RunProgress:
    """A new run of *config*, to its end."""
    opened = start_run(store, config if timeout_s is None else config.model_copy(update={"timeout_s": timeout_s}))
    return run_to_end(opened, policy=replace(call_policy(opened.config), retry=retry))


def resume(store: Store, *, retry: RetryPolicy = QUICK, **changes: Any) -> RunProgress:
    """Go on with the newest run."""
    opened = resume_run(store, get_run(store, "last"), **changes)
    return run_to_end(opened, policy=replace(call_policy(opened.config), retry=retry))


@dataclass(frozen=True, slots=True, kw_only=True)
class Kept:
    """All that a store keeps of its newest run."""

    run: RunRow
    records: list[Record]
    indexes: list[int]
    rejects: list[RejectRow]
    completions: list[CompletionRow]


def read_back(store: Store) -> Kept:
    run = get_run(store, "last")
    indexes = [index for (index,) in store.rows("SELECT plan_index FROM records WHERE run_id = ? ORDER BY plan_index", [run.id])]
    return Kept(
        run=run,
        records=list(iter_records(store, run_id=run.id)),
        indexes=indexes,
        rejects=load_rejects(store, run.id),
        completions=all_completions(store, run.id),
    )


def all_completions(store: Store, run_id: str) -> list[CompletionRow]:
    """Every call that ended in order, also where one key has two, each with the last verdict on its key."""
    return load_completions(store, run_id)


def exported(store: Store, out: Path, file_format: str = "native") -> dict[str, bytes]:
    """The files of a release of the newest run, by name."""
    name = f"release-{out.name}"
    create_release(store, name, test_size=0.2, seed=1, run="last")
    export_release(store, name, file_format, out)
    return {path.name: path.read_bytes() for path in sorted(out.iterdir()) if path.name != "release.json"}


def check_exact(records: list[Record]) -> None:
    """Every span is exact, in order and apart from its neighbours; a text that discloses anything discloses what matters."""
    assert len({record.id for record in records}) == len(records)
    for record in records:
        ends = [0, *(span.end for span in record.spans)]
        assert all(span.start >= end for span, end in zip(record.spans, ends, strict=False))
        for span in record.spans:
            text = record.context[span.start : span.end]
            assert text == text.strip() != ""
            assert not _touches_a_word(record.context, span.start, span.end)
        assert record.plan is not None
        high = {span.entity_type for span in record.spans if span.relevance == "high"}
        if record.contrast_group is not None:  # each question of a text turns on what it asks
            assert high
        else:
            assert high & set(record.plan.pair) or not record.spans
            assert len(high) == 1 or set(record.plan.pair) <= high or not record.spans
        assert "[[" not in record.context
        assert record.question is not None
        assert record.question.endswith("?")


def _touches_a_word(text: str, start: int, end: int) -> bool:
    def word(at: int) -> bool:
        return 0 <= at < len(text) and text[at].isalnum()

    return (word(start - 1) and word(start)) or (word(end) and word(end - 1))
