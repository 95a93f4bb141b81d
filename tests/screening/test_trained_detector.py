"""A trained detector beside the patterns: what it finds outside of spans is refused or told, and where there is a span it is silent."""

from __future__ import annotations

from piiloom.corpus.record import Record, Span
from piiloom.screening.gates import Expectations, TrainedDetector, UnlistedGate
from tests.tagging.trained import small_model

TEXT = "I am 33 and work as a nurse in Leeds."
EXPECTED = Expectations(pair=("age", "occupation"))


def record(*marked: str, text: str = TEXT) -> Record:
    spans = [Span(id=f"s{at}", start=at, end=at + len(value), entity_type="age") for value in marked for at in [text.index(value)]]
    return Record(id="r1", context=text, locale="en_US", spans=tuple(spans), question="Is a nurse in Leeds paid well?")


def detector(threshold: float = 0.3) -> TrainedDetector:
    return TrainedDetector(model=small_model(), name="small", threshold=threshold)


def test_only_what_no_span_touches_is_unlisted():
    found = [(TEXT[one.start : one.end], one.entity_type) for one in detector().unlisted(record("33", "in Leeds"))]
    assert found == [("nurse", "occupation")]
    assert detector().unlisted(record("33", "nurse", "Leeds")) == []
    assert detector(0.9999).unlisted(record()) == []


def test_a_gate_with_it_refuses_and_one_without_does_not():
    assert UnlistedGate().check(record("33", "Leeds"), EXPECTED) is None
    verdict = UnlistedGate(detector()).check(record("33", "Leeds"), EXPECTED)
    assert verdict.code == "unlisted.detected"
    assert verdict.detail.startswith("occupation in the context at [22, 27), found by probe small, score 0.")
    assert "nurse" not in verdict.detail
    assert UnlistedGate(detector()).check(record("33", "nurse", "Leeds"), EXPECTED) is None


def test_patterns_come_first():
    text = TEXT + " Write to ann@example.org."
    assert UnlistedGate(detector()).check(record(text=text), EXPECTED).code == "unlisted.email"
