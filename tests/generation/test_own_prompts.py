"""A run with prompts of the user's own: they are what is sent, and the records say so."""

from __future__ import annotations

import pytest

from piiloom.corpus.store.database import Store
from piiloom.generation.settings.digests import run_digest
from piiloom.generation.settings.setting_checks import make_config
from piiloom.prompts.library import open_library
from tests.fakes.llm_author import Author
from tests.fakes.llm_server import LLMServer
from tests.generation.llm_runs import config_for, read_back, set_keys, start

MINE = "Write the way people on night buses do."


@pytest.fixture(autouse=True)
def _keys(monkeypatch):
    set_keys(monkeypatch)


def own_prompts(tmp_path, name):
    """A folder with the shipped template *name*, one sentence longer."""
    folder = tmp_path / "mine"
    folder.mkdir()
    source = open_library().find(name).source.replace("Answer with JSON only.", f"Answer with JSON only. {MINE}", 1)
    (folder / f"{name}.j2").write_text(source, encoding="utf-8")
    return folder


def test_only_the_stage_whose_prompt_was_replaced_sends_it_and_every_record_says_so(tmp_path):
    folder = own_prompts(tmp_path, "paraphrase")
    with LLMServer(Author(1)) as server, Store.open(tmp_path / "s.duckdb") as store:
        start(store, config_for("openai", server, samples=4, prompts=folder))
        kept = read_back(store)
        names = {body["text"]["format"]["name"]: MINE in body["instructions"] for body in server.bodies}
    assert [name for name, mine in names.items() if mine] == ["paraphrase"]
    assert {"situation", "question_abstracted"} <= set(names)
    for record in kept.records:
        assert record.provenance is not None
        used = dict(record.provenance.templates)
        assert used["paraphrase.own"] == open_library(folder).find("paraphrase").sha256
        assert used["situation.v2"] == open_library().find("situation").sha256


def test_a_prompt_of_ones_own_makes_another_configuration_wherever_it_lies(tmp_path):
    folder = own_prompts(tmp_path, "paraphrase")
    elsewhere = tmp_path / "moved"
    settings = {"provider": "openai", "model": "gpt-6-luna", "recipe": "staged"}
    shipped, mine = run_digest(make_config(settings)), run_digest(make_config(settings | {"prompts": folder}))
    assert shipped != mine
    folder.rename(elsewhere)
    assert run_digest(make_config(settings | {"prompts": elsewhere})) == mine
    (elsewhere / "paraphrase.j2").write_text(open_library().find("paraphrase").source, encoding="utf-8")
    assert run_digest(make_config(settings | {"prompts": elsewhere})) == shipped
