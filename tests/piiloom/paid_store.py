"""A store with a run of paid calls in which things went wrong: made once, copied for each test."""

from __future__ import annotations

from pathlib import Path

import pytest

from piiloom.corpus.store.database import Store
from tests.fakes.llm_author import Author
from tests.fakes.llm_faults import seeded_faults
from tests.fakes.llm_server import LLMServer
from tests.generation.llm_runs import config_for, set_keys, start

FAULTS = {"rate_limit": 0.05, "server_error": 0.03, "refusal": 0.02}
TRICKS = {"leak": 0.35, "dropped": 0.15}


def make_paid_store(path: Path) -> None:
    """One finished run of OpenAI calls over the loopback server, with retries, refused replies and rejects."""
    with pytest.MonkeyPatch.context() as patch, LLMServer(Author(7, TRICKS), seeded_faults(3, FAULTS)) as server:
        set_keys(patch)
        config = config_for("openai", server, samples=6, pairs="health+occupation,age+belief", max_attempts=2, subtopics_per_topic=4)
        with Store.open(path) as store:
            start(store, config)
