"""The ledger of a fine-tuning job, cut short anywhere; what training costs."""

from __future__ import annotations

import tempfile
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from piiloom.detection.training.openai_tuning.estimate import estimate_from, training_price, usual_epochs
from piiloom.detection.training.openai_tuning.ledger import Ledger
from piiloom.foundation.errors import DataError
from tests.longer import case_by_case

STEPS = st.tuples(st.sampled_from(["upload train", "create", "book"]), st.sampled_from(["intent", "unknown", "refused", "done"]))


@given(st.lists(STEPS, max_size=8), st.data())
def test_a_ledger_cut_short_anywhere_keeps_its_whole_lines(steps: list[tuple[str, str]], data: st.DataObject) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "ledger.jsonl"
        ledger = Ledger(path, clock=lambda: 1.0)
        for number, (step, did) in enumerate(steps):
            getattr(ledger, did)(step, number=number)
        whole = path.read_bytes() if steps else b""
        cut = data.draw(st.integers(0, len(whole)))
        path.write_bytes(whole[:cut])
        kept = list(Ledger(path))
        assert kept == list(ledger)[: whole[:cut].count(b"\n")]
        again = Ledger(path)
        again.done("create", job="ftjob-1")
        assert list(Ledger(path)) == [*kept, {"at": again.result("create")["at"], "step": "create", "did": "done", "job": "ftjob-1"}]


def test_a_step_is_unsure_until_its_outcome_is_known(tmp_path: Path) -> None:
    times = iter(range(10))
    ledger = Ledger(tmp_path / "ledger.jsonl", clock=lambda: float(next(times)))
    assert ledger.unsure_since("create") is None
    ledger.intent("create")
    ledger.intent("upload train")
    assert ledger.unsure_since("create") == 0.0
    ledger.unknown("create")
    assert (ledger.unsure_since("create"), ledger.first_intent("create")) == (2.0, 0.0)
    ledger.refused("create")
    assert ledger.unsure_since("create") is None
    assert ledger.result("create") is None


def test_a_line_that_is_no_entry_is_told_with_its_number(tmp_path: Path) -> None:
    path = tmp_path / "ledger.jsonl"
    Ledger(path).intent("create")
    path.write_bytes(path.read_bytes() + b"nonsense\n")
    with pytest.raises(DataError, match=r"ledger\.jsonl:2"):
        Ledger(path)


@case_by_case(("examples", "epochs"), [(10, 10), (3, 25), (33, 3), (34, 3), (8_333, 3), (10_000, 2), (50_000, 1)])
def test_epochs_that_openai_chooses(examples: int, epochs: int) -> None:
    assert usual_epochs(examples) == epochs


def test_the_price_says_where_it_comes_from(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    listed = training_price("gpt-4o-2024-08-06")
    assert listed is not None
    assert (listed.usd, listed.dated) == (25.0, "2026-11-27")
    assert "2025" in listed.source
    assert training_price("gpt-6-luna") is None
    own = tmp_path / "models.yaml"
    own.write_text('dated: 2027-01-01\nmodels: {openai: {"ft:gpt-4o": {training: 20.0, input: 1.0, output: 2.0}}}\n')
    monkeypatch.setenv("PIILOOM_MODELS", str(own))
    mine = training_price("gpt-4o")
    assert mine is not None
    assert (mine.usd, mine.dated, "PIILOOM_MODELS" in mine.source) == (20.0, "2027-01-01", True)
    given_price = training_price("gpt-4o", 7.0)
    assert given_price is not None
    assert (given_price.usd, given_price.source) == (7.0, "given with --training-price")


def test_an_estimate_is_tokens_times_epochs_times_price() -> None:
    counts = {"examples": 100, "tokens": 1_000_000, "most_tokens": 1_600_000}
    found = estimate_from(counts, 2, training_price("gpt-4o-mini"))
    assert (found.usd, found.most_usd, found.chosen) == (6.0, 9.6, False)
    assert estimate_from(counts, None, None).usd is None
