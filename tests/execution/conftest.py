"""Keys, a server that counts, and a place for the store."""

from __future__ import annotations

import pytest

from tests.execution.batch_sessions import counting
from tests.providers.provider_calls import KEY


def set_keys(patch):
    for name in ("OPENAI_BASE_URL", "ANTHROPIC_BASE_URL", "OPENAI_ORG_ID", "OPENAI_PROJECT_ID", "PIILOOM_MODELS"):
        patch.delenv(name, raising=False)
    for name in ("OPENAI_API_KEY", "ANTHROPIC_API_KEY"):
        patch.setenv(name, KEY)


@pytest.fixture
def keys(monkeypatch):
    set_keys(monkeypatch)


@pytest.fixture(scope="module")
def keys_for_all():
    """The keys for a whole module: hypothesis wants nothing set up anew for each function that it calls many times."""
    with pytest.MonkeyPatch.context() as patch:
        set_keys(patch)
        yield


@pytest.fixture
def server(keys):
    with counting() as running:
        yield running


@pytest.fixture
def path(tmp_path):
    return tmp_path / "store.duckdb"
