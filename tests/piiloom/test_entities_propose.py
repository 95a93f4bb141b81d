"""``piiloom entities propose`` over real HTTP: the trial decides, slow patterns are refused, and nothing is added to the catalogue."""

from __future__ import annotations

import json
import time
from contextlib import nullcontext

import pytest

from piiloom.detection.pattern_proposals import check_speed
from piiloom.execution.calls import Fault
from piiloom.taxonomy.entities.catalogue_file import read_catalogue_file
from piiloom.taxonomy.entities.entity_catalogue import find_shipped
from tests.fakes.llm_server import LLMServer
from tests.providers.provider_calls import MODELS

DRAFTS = """
locale: pl_PL
language: pl
entities:
  pl_library_card:
    name: library card number
    native: numer karty bibliotecznej
    domains: [Media]
    structured: false
    type: code
    identifier: direct
    sensitivity: 2
    priority: 70
    context: [karta biblioteczna]
    generator: {masks: ['KB-####-@@', 'KB####@@']}
    near_misses: ['KB-123-AB']
    source: KB, four digits and two capitals; the hyphens may be left out
  pl_locker:
    name: locker code
    native: kod szafki
    domains: [CPG]
    structured: false
    type: code
    identifier: quasi
    sensitivity: 1
    priority: 40
    generator: {masks: ['%###']}
    source: four digits
"""
GOOD = {
    "patterns": [{"pattern": r"KB(?:-\d{4}-|\d{4})[A-Z]{2}", "score": 0.8, "ignore_case": False, "preceded_by": []}],
    "context": ["czytelni"],
    "near_misses": ["KB-12345-AB", "KB-1234-A"],
}
LOCKER = {
    "patterns": [{"pattern": r"\d{4}", "score": 0.9, "preceded_by": ["kod szafki", "szafka"]}],
    "context": [],
    "near_misses": ["123", "12345"],
}


def pattern(text, score=0.8):
    return GOOD | {"patterns": [{"pattern": text, "score": score}]}


# The code of the fault, a part of its text, and the reply that has it.
FAULTY = (
    ("malformed", r"\w is not known", pattern(r"KB\w{6}")),
    ("trial", "0 of 20 values were found", pattern(r"KX\d{4}")),
    ("trial", "look-alikes refused", pattern(r"KB-?\d{3,5}-?[A-Z]{1,2}")),
    ("slow", "takes more than 0.1 s", pattern(r"(?:[A-Z\d -]{1,40}[A-Z\d -]{1,40}){1,9}[A-Z\d -]{1,40}#\d")),
)


@pytest.fixture(autouse=True)
def _key(monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "sk-test-0123456789-abcdefghij")


@pytest.fixture
def propose(cli, tmp_path):
    """The command over a server that gives *replies* by the id of the draft, one after the other."""
    (tmp_path / "drafts.yaml").write_text(DRAFTS, encoding="utf-8")

    left = {}

    def answer(request):
        several = left["library" if "library card" in request.user else "locker"]
        return several.pop(0) if len(several) > 1 else several[0]

    with LLMServer(answer) as server:

        def run(replies, *more):
            left.update({name: list(several) for name, several in replies.items()})
            seen = len(server.bodies)
            model = ("--provider", "openai", "--model", MODELS["openai"], "--base-url", server.openai_url)
            place = ("--out", tmp_path / "proposed.yaml", "--replies", tmp_path / "s.duckdb")
            outcome = cli("entities", "propose", tmp_path / "drafts.yaml", *place, *model, *more)
            return outcome, [body["input"][0]["content"] for body in server.bodies[seen:]]

        yield run


@pytest.mark.long  # composes documents of the benchmark and compiles the patterns of a locale
def test_the_trial_decides_and_nothing_is_adopted(propose, cli, tmp_path):
    replies = {"library": [*(reply for _, _, reply in FAULTY), GOOD], "locker": [pattern(r"\d{4}", 0.9), LOCKER]}
    outcome, prompts = propose(replies, "--max-attempts", 6, "--json")
    assert outcome.code == 0, outcome.err
    told = json.loads(outcome.out)
    assert [(one["id"], one["proposed"]) for one in told["entities"]] == [("pl_library_card", True), ("pl_locker", True)]
    assert told["cost"]["answered"] == len(FAULTY) + 3
    faults = [prompt.rpartition("could not be used: ")[2] for prompt in prompts if "could not be used" in prompt]
    wanted = [*(part for _, part, _ in FAULTY), ""]
    assert not [part for part in wanted if not any(part in fault for fault in faults)]
    assert all(prompt.count("KB") >= 5 for prompt in prompts if "library card" in prompt)
    # The file has the form of a user's own: it is read, tried and used by name, and the catalogue is as before.
    file = tmp_path / "proposed.yaml"
    assert file.read_text(encoding="utf-8").startswith(f"# Patterns written by openai {MODELS['openai']} that passed the trial")
    entity = read_catalogue_file(file).entities[0]
    assert (entity.confirmed, entity.context, entity.near_misses) == (
        False,
        ("karta biblioteczna", "czytelni"),
        ("KB-123-AB", "KB-12345-AB", "KB-1234-A"),
    )
    tried = cli("entities", "test", "--types", file, "--id", "pl_library_card", "--id", "pl_locker", "--seed", 5)
    assert (tried.code, tried.out) == (0, "2 of 2 entities passed\n")
    assert find_shipped("pl_library_card") is None
    # The file is not replaced, and paid replies are found again.
    again, prompts = propose(replies, "--max-attempts", 6)
    assert (again.code, prompts) == (1, [])
    assert "--force" in again.error_line()
    again, prompts = propose(replies, "--max-attempts", 6, "--force")
    assert (again.code, prompts) == (0, [])
    assert "pl_library_card: 20/20 found" in again.out


@pytest.mark.long
def test_without_a_pattern_that_passes_no_file_is_written(propose, tmp_path):
    outcome, _ = propose({"library": [FAULTY[1][2]], "locker": [pattern(r"\d{4}", 0.9)]}, "--max-attempts", 1)
    assert outcome.code == 1
    assert "no proposal passed (pl_library_card: trial, pl_locker: " in outcome.error_line()
    assert not (tmp_path / "proposed.yaml").exists()
    (tmp_path / "drafts.yaml").write_text(DRAFTS.replace("    generator: {masks: ['%###']}\n", ""), encoding="utf-8")
    outcome, prompts = propose({"library": [GOOD], "locker": [GOOD]})
    assert (outcome.code, prompts) == (1, [])
    assert "pl_locker has no generator" in outcome.error_line()


@pytest.mark.parametrize(
    ("text", "slow"),
    [
        (r"(?:[a-z ]{1,40}[a-z ]{1,40}){1,9}[a-z ]{1,40}!\d", True),
        (r"(?:[\d -]{1,40}[\d -]{1,40}){1,9}[\d -]{1,40}X\d", True),
        (r"\d{11}", False),
    ],
)
def test_catastrophic_patterns_are_refused_in_time(tmp_path, text, slow):
    path = tmp_path / "slow.yaml"
    entry = f"structured: false\n    patterns: [{{pattern: '{text}', score: 0.8}}]"
    path.write_text(DRAFTS.replace("structured: false", entry, 1), encoding="utf-8")
    entity = read_catalogue_file(path).entities[0]
    start = time.process_time()
    with pytest.raises(Fault, match=r"takes more than 0\.1 s") if slow else nullcontext():
        check_speed(entity, ["123-456", "abc"])
    assert time.process_time() - start < 3
