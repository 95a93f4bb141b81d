"""Rows and masked rows: spans in their places, never overlapping, and read again without complaint."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from piiloom.corpus.formats.base import ReadOptions, ReadTally
from piiloom.corpus.formats.native_rows import row_line
from piiloom.corpus.formats.registry import NativeFormat
from piiloom.corpus.record import Record
from piiloom.detection.detector import ScoredSpan, disjoint_spans
from piiloom.detection.running.documents import InputDocument
from piiloom.detection.running.request import WorkSettings
from piiloom.detection.running.rows import detected_record, masked_document, native_line, record_from
from piiloom.foundation.errors import RunError, UsageError
from piiloom.taxonomy.entity_types import shipped_taxonomy

TEXTS = st.text("ab Ż🐢\u2028\n<>[]_'\"1", min_size=1, max_size=40)


def scored(start: int, end: int, score: float = 0.9, **more: object) -> ScoredSpan:
    told: dict[str, object] = {"entity_type": "sexual orientation", "subtype": "test_id", "detector": "patterns", **more}
    return ScoredSpan(start=start, end=end, score=score, **told)  # type: ignore[arg-type]


@st.composite
def found(draw: st.DrawFn) -> tuple[InputDocument, list[ScoredSpan]]:
    text = draw(TEXTS)
    places = st.tuples(st.integers(0, len(text) - 1), st.integers(1, 12), st.sampled_from([0.5, 0.75, 1.0]), st.sampled_from([None, True]))
    spans = [scored(at, min(at + size, len(text)), score, validated=valid) for at, size, score, valid in draw(st.lists(places, max_size=8))]
    question = draw(st.none() | TEXTS)
    return InputDocument("d", text, "pl_PL", question, "in.jsonl", 3, draw(st.none() | st.just("d")), ("story:1",)), spans


@given(found())
def test_of_spans_that_overlap_the_surest_is_kept(case):
    _, spans = case
    kept = disjoint_spans(spans)
    assert all(one.end <= other.start for one, other in pairwise(kept))
    assert all(one in spans for one in kept)
    for span in spans:  # what is left out overlaps one that is at least as sure
        assert span in kept or any(
            one.start < span.end
            and span.start < one.end
            and one.score + 0.01 * (one.end - one.start) >= span.score + 0.01 * (span.end - span.start)
            for one in kept
        )


@given(found())
def test_a_row_is_read_again_as_the_record_that_it_is(tmp_path_factory, case):
    document, spans = case
    kept = disjoint_spans(spans)
    record = detected_record(document, kept)
    line = native_line(record, kept)
    row = orjson.loads(line)
    assert record_from(row) == record
    for said, span in zip(row["spans"], kept, strict=True):
        assert said["text"] == document.text[said["start"] : said["end"]]
        assert (said["score"], said["detector"], said.get("validated")) == (span.score, span.detector, span.validated)
    path = _file(tmp_path_factory) / "rows.jsonl"
    path.write_bytes(line)
    tally = ReadTally()
    assert list(NativeFormat().read(path, ReadOptions(blank_contexts=True, taxonomy=shipped_taxonomy()), tally)) == [record]
    assert not tally.ignored_fields


def _file(factory: pytest.TempPathFactory) -> Path:
    return factory.getbasetemp()


@pytest.mark.parametrize("style", ["type", "subtype", "numbered", "char"])
@given(case=found())
def test_masks_change_nothing_but_the_spans(style, case):
    document, spans = case
    record = detected_record(document, disjoint_spans(spans))
    row = masked_document(record, style, "█")
    text, at, new_at = str(row["text"]), 0, 0
    for span, now in zip(record.spans, row["spans"], strict=True):  # type: ignore[call-overload]
        assert text[new_at : now["start"]] == document.text[at : span.start]
        assert text[now["start"] : now["end"]] == now["text"]
        at, new_at = span.end, now["end"]
    assert text[new_at:] == document.text[at:]
    if style == "char":
        assert [(one["start"], one["end"]) for one in row["spans"]] == [(one.start, one.end) for one in record.spans]  # type: ignore[attr-defined]
    assert row_line(row)


def _masked(style: str, question: str | None = None, character: str = "X") -> Record | dict:
    text = "Anna (anna@x.pl) and Anna, born 1.1.1980"
    spans = [scored(0, 4, entity_type="name", subtype="person_name"), scored(6, 15, entity_type="code", subtype="email")]
    spans += [scored(21, 25, entity_type="name", subtype="person_name"), scored(32, 40, subtype=None)]
    record = detected_record(InputDocument("d", text, "pl_PL", question, "a", 1), spans)
    return masked_document(record, style, character)


@pytest.mark.parametrize(
    ("style", "text"),
    [
        ("type", "<NAME> (<CODE>) and <NAME>, born <SEXUAL_ORIENTATION>"),
        ("subtype", "<PERSON_NAME> (<EMAIL>) and <PERSON_NAME>, born <SEXUAL_ORIENTATION>"),
        ("numbered", "[NAME_1] ([CODE_1]) and [NAME_1], born [SEXUAL_ORIENTATION_1]"),
        ("char", "XXXX (XXXXXXXXX) and XXXX, born XXXXXXXX"),
    ],
)
def test_masks(style, text):
    row = _masked(style, "Is Anna well? Annabel is.")
    assert row["text"] == text
    assert row["question"] == f"Is {text.split(' ')[0]} well? Annabel is."


def test_masks_that_are_none():
    with pytest.raises(UsageError, match=r"mask: must be 'type', 'subtype', 'numbered' or 'char'"):
        WorkSettings.of({"mask": "hide"})
    for character in ("", "XX", "\n"):
        with pytest.raises(UsageError, match="--mask-char"):
            WorkSettings.of({"mask": "char", "mask_char": character})


@pytest.mark.parametrize(("start", "end"), [(-1, 2), (2, 2), (3, 2), (0, 6)])
def test_a_span_outside_of_its_text_is_a_fault_of_the_detector(start, end):
    with pytest.raises(RunError, match=r"a\.jsonl:4: the detector patterns gave the range .* of a text of 5 characters") as caught:
        detected_record(InputDocument("d", "abcde", "pl_PL", None, "a.jsonl", 4), [scored(start, end)])
    assert "abcde" not in str(caught.value)
