"""Verifier sets: as many wrong candidates as right ones, none of them right after all, and reasonings that say what the text shows."""

from __future__ import annotations

import json
import re
from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from record_strategies import records
from training_rows import record_of, rows_of, shared_records

from piiloom.corpus.formats import verifier
from piiloom.corpus.formats.base import LossReport, WriteOptions
from piiloom.corpus.formats.registry import get_format, get_readable_format
from piiloom.corpus.formats.verifier import BLANK, COUNTS, CUT, FILES, NO_TWIN, Candidate, VerifierFormat, candidates, reasoning
from piiloom.corpus.markers import unmarked
from piiloom.corpus.mention_search import stands_alone
from piiloom.corpus.record import LostValue, Record, RecordPlan, SourceReference
from piiloom.foundation.errors import UsageError
from piiloom.taxonomy.entity_types import shipped_taxonomy

VERIFIER = VerifierFormat()
TEXT = "I work as a night nurse in Dayton, Ohio. Since my severe asthma came back, the old blue house smells of wood smoke."
NURSE = record_of(
    TEXT, ("night nurse", "occupation", "low"), ("Dayton, Ohio", "location", "low"), ("severe asthma", "health", "high"), question="Can I?"
)


def many(record: Record, count: int = 120) -> list[Record]:
    """Copies that differ in nothing but their ids, which the draws depend on."""
    return [replace(record, id=f"r{number}") for number in range(count)]


def wrong_of(*items: Record) -> list[tuple[Record, Candidate]]:
    return [(record, wrong) for record in items for _, wrong in candidates(record) if wrong is not None]


def write(path: Path, *items: Record) -> tuple[list[tuple[str, str]], list[tuple[str, str, str]], LossReport]:
    """Return (asked, answer) of verifier I, (asked, reasoning, answer) of verifier II, and the losses."""
    report = VERIFIER.write(items, path, WriteOptions(taxonomy=shipped_taxonomy()))
    said = [[[str(message["content"]) for message in row["messages"]] for row in rows_of(path / name)] for name in FILES]  # type: ignore[attr-defined] # lists
    first = [(asked, answer) for _, asked, answer in said[0]]
    second = [(asked, *json.loads(answer).values()) for _, asked, answer in said[1]]
    return first, second, report


def test_each_span_gives_a_right_and_a_wrong_row_in_both_sets(tmp_path: Path) -> None:
    first, second, report = write(tmp_path / "train", NURSE)
    assert [answer for _, answer in first] == ["T", "F"] * 3
    assert [(asked, answer) for asked, _, answer in second] == first
    asked = first[4][0]
    definition = shipped_taxonomy().get("health").definition
    assert asked == f"Type: health ({definition})\nQuestion: Can I?\nText:\n" + TEXT.replace(
        "severe asthma", "<candidate>severe asthma</candidate>"
    )
    assert report.entries == ()
    assert {"relevance", "subject"} <= set(report.fields)
    counts = json.loads((tmp_path / "train" / COUNTS).read_text())
    assert (counts["rows"], counts["T"], counts["F"], sum(counts["F by kind"].values())) == (6, 3, 3, 3)


def test_equal_records_give_equal_bytes_and_other_records_other_draws(tmp_path: Path) -> None:
    for name in ("a", "b"):
        VERIFIER.write([NURSE], tmp_path / name, WriteOptions(taxonomy=shipped_taxonomy()))
    for file in (*FILES, COUNTS):
        assert (tmp_path / "a" / file).read_bytes() == (tmp_path / "b" / file).read_bytes()
    assert len({tuple(wrong for _, wrong in candidates(record)) for record in many(NURSE, 20)}) > 10


def test_the_kinds_have_about_the_stated_shares() -> None:
    kinds = Counter(wrong.kind for _, wrong in wrong_of(*many(NURSE, 500)))
    assert {kind: round(20 * count / 1500) for kind, count in kinds.items()} == {"other type": 8, "no span": 6, "boundary": 6}


def test_another_type_is_never_one_that_could_be_true_as_well() -> None:
    asked = Counter((wrong.span.entity_type, wrong.entity_type) for _, wrong in wrong_of(*many(NURSE)) if wrong.kind == "other type")
    for span_type, never in (
        ("occupation", "education organization age"),
        ("location", "organization demographic"),
        ("health", "appearance"),
    ):
        assert not {(span_type, other) for other in (*never.split(), span_type)} & asked.keys()
    assert {("health", "location"), ("location", "health"), ("occupation", "code")} <= asked.keys()


def test_two_types_exclude_each_other_both_ways_and_each_type_has_a_few_to_be_taken_for() -> None:
    names = set(shipped_taxonomy().types)
    for pair in verifier._PAIRS:
        assert len(pair) == 2
        assert pair <= names
    for name in names:
        (one,) = (right for right, _ in candidates(record_of("Xyz", ("Xyz", name, "low"))))
        assert one.right
        asked = {wrong.entity_type for _, wrong in wrong_of(*many(record_of("Xyz", ("Xyz", name, "low"))))}
        assert len(asked) >= 4
        assert all(frozenset((name, other)) not in verifier._PAIRS for other in asked)


def test_a_value_with_two_types_is_asked_for_neither() -> None:
    may = record_of("May, in May", ("May", "name", "low"), ("May", "datetime", "high"))
    asked = {wrong.entity_type for _, wrong in wrong_of(*many(may)) if wrong.kind == "other type"}
    assert asked
    assert not asked & {"name", "datetime", "age", "organization", "code"}


def test_a_stretch_of_words_is_whole_and_shares_nothing_with_a_value() -> None:
    found = {TEXT[wrong.start : wrong.end] for _, wrong in wrong_of(*many(NURSE)) if wrong.kind == "no span"}
    assert {"blue house smells", "wood smoke"} & found
    for stretch in found:
        assert re.search(rf"(?<!\w){re.escape(stretch)}(?!\w)", TEXT)
        assert not set(re.findall(r"\w+", stretch.casefold())) & {"night", "nurse", "dayton", "ohio", "severe", "asthma"}


def test_a_moved_boundary_is_off_by_one_content_word() -> None:
    found = {(wrong.span.text_in(TEXT), TEXT[wrong.start : wrong.end]) for _, wrong in wrong_of(*many(NURSE)) if wrong.kind == "boundary"}
    assert found == {
        ("night nurse", "night"),
        ("night nurse", "nurse"),
        ("Dayton, Ohio", "Dayton"),
        ("Dayton, Ohio", "Ohio"),
        ("severe asthma", "severe"),
        ("severe asthma", "asthma"),
        ("severe asthma", "severe asthma came"),
    }


def test_what_an_import_left_out_is_no_wrong_candidate() -> None:
    lost = (LostValue(text="asthma", entity_type="code", reason="overlaps"), LostValue(text="wood smoke", entity_type="health", reason="x"))
    record = replace(NURSE, source=SourceReference(file="x", lost=lost))
    found = {TEXT[wrong.start : wrong.end] for _, wrong in wrong_of(*many(record)) if wrong.kind != "other type"}
    assert not found & {"asthma", "smoke", "wood", "wood smoke"}


@pytest.mark.long
@settings(deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
@given(record=records())
def test_any_record_gives_balanced_rows_or_is_named(record: Record, tmp_path_factory: pytest.TempPathFactory) -> None:
    path = tmp_path_factory.mktemp("split") / "train"
    first, _, report = write(path, record)
    answers = Counter(answer for _, answer in first)
    assert answers["T"] == answers["F"] == len(record.spans) - sum(entry.reason in {NO_TWIN, BLANK} for entry in report.entries)
    for asked, _ in first:
        text = asked.split("\n", 1)[1].split("Text:\n", 1)[1] if record.question is None else ""
        assert not text or unmarked(text).context == record.context


@pytest.mark.long
@settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(record=records())
def test_no_wrong_candidate_is_a_span(record: Record) -> None:
    spans = {(s.start, s.end, s.entity_type) for s in record.spans}
    for _, wrong in wrong_of(record):
        assert (wrong.start, wrong.end, wrong.entity_type) not in spans
        if wrong.kind == "no span":
            assert all(wrong.end < s.start or s.end < wrong.start for s in record.spans)
        if wrong.kind != "other type":
            assert stands_alone(record.context, wrong.start, wrong.end)
        assert reasoning(record, wrong, taxonomy=shipped_taxonomy())


def test_the_reasoning_says_what_the_record_knows() -> None:
    plan = RecordPlan(
        pair=("health", "occupation"), rationale="night nurse (occupation): shifts; at night; severe asthma (health): it rules smoke out."
    )
    health = replace(NURSE.spans[2], subtype="condition", subject="self")
    record = replace(NURSE, plan=plan, spans=(*NURSE.spans[:2], health))
    rights = [next(right for right, _ in candidates(one) if right.span is health) for one in many(record, 30)]
    said = {reasoning(one, right, taxonomy=shipped_taxonomy()) for one, right in zip(many(record, 30), rights, strict=True)}
    assert len(said) == 3
    for sentence in said:
        assert "health (condition)" in sentence
        assert "the writer" in sentence
        assert "my severe asthma came back" in sentence
        assert sentence.endswith("It matters to “Can I?”: it rules smoke out.")
    low = reasoning(record, next(right for right, _ in candidates(record)), taxonomy=shipped_taxonomy())
    assert low.endswith("The answer to “Can I?” would be the same without it.")


def test_the_reasons_of_wrong_candidates_name_the_value_that_is_meant() -> None:
    by_kind: dict[str, set[str]] = {}
    for record, wrong in wrong_of(*many(NURSE)):
        by_kind.setdefault(wrong.kind, set()).add(reasoning(record, wrong, taxonomy=shipped_taxonomy()))
    assert any("“severe asthma came” is a word too long: “came” does not belong" in said for said in by_kind["boundary"])
    assert any("“asthma” leaves out “severe”. The whole mention of health is “severe asthma”." in said for said in by_kind["boundary"])
    assert all("What the text tells of" in said for said in by_kind["no span"])
    assert all(" would be: " in said for said in by_kind["other type"])
    assert min(len(said) for said in by_kind.values()) > 10


def test_a_long_text_is_cut_around_the_candidate(tmp_path: Path) -> None:
    filler = "one word after another " * 4_000
    record = record_of(f"{filler}Dana Whitlock {filler}", ("Dana Whitlock", "name", "low"))
    first, _, report = write(tmp_path / "train", record)
    assert [entry.reason for entry in report.entries] == [CUT]
    for asked, _ in first:
        text = asked.partition("Text:\n")[2]
        assert text.startswith("…")
        assert text.endswith("…")
        assert 3900 < len(text) < 4100
    assert "<candidate>Dana Whitlock</candidate>" in first[0][0]


def test_a_text_that_has_no_wrong_candidate_of_its_type_is_named(tmp_path: Path) -> None:
    first, _, report = write(tmp_path / "train", record_of("Rex", ("Rex", "pet name", "low")), record_of("a b", (" ", "code", "low")))
    assert first == []
    assert [(entry.value, entry.reason) for entry in report.entries] == [("Rex", NO_TWIN), (" ", BLANK)]


def test_the_format_writes_folders_and_cannot_be_read() -> None:
    assert get_format("verifier").suffix == ""
    with pytest.raises(UsageError, match="cannot be read"):
        get_readable_format("verifier")


@pytest.mark.long
def test_real_data_gives_balanced_sets_that_datasets_reads(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    import datasets

    first, second, report = write(tmp_path / "train", *shared_records())
    counts = json.loads((tmp_path / "train" / COUNTS).read_text())
    assert counts["T"] == counts["F"] == len(first) / 2
    assert len({said for _, said, _ in second}) > 0.9 * len(second)
    assert {entry.reason for entry in report.entries} <= {CUT}
    for name in FILES:
        loaded = datasets.load_dataset("json", data_files=str(tmp_path / "train" / name), split="train", cache_dir=str(tmp_path / "cache"))
        assert loaded.num_rows == counts["rows"]
        assert [dict(row) for row in loaded.select(range(20))] == rows_of(tmp_path / "train" / name)[:20]
