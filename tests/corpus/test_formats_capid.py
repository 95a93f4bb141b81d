"""CAPID JSONL: what is marked, what is refused, and a loss report that names whatever does not come back."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import HealthCheck, assume, given, settings
from record_strategies import records

from piiloom.corpus.formats import capid as losses
from piiloom.corpus.formats.base import ReadOptions, ReadTally, RowReject, WriteOptions, read_records
from piiloom.corpus.formats.capid import CapidFormat
from piiloom.corpus.record import Record, Relevance, Span
from piiloom.taxonomy.entity_types import shipped_taxonomy
from tests.shared_files import of_whole, shared

CAPID = CapidFormat()
REAL = shared("data/capid")


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "rows.jsonl"


def row(context: str, question: str | None = "What now?", **values: tuple[str, object]) -> dict[str, object]:
    piis = {value.replace("_", " "): {"type": kind, "relevance": relevance} for value, (kind, relevance) in values.items()}
    return {"context": context, "question": question, "piis": piis}


def read(path: Path, *rows: object, tally: ReadTally | None = None) -> list[Record | RowReject]:
    path.write_text("".join(f"{json.dumps(r)}\n" for r in rows), encoding="utf-8")
    return list(CAPID.read(path, ReadOptions(locale="en_GB", taxonomy=shipped_taxonomy()), tally or ReadTally()))


def read_one(path: Path, one: object, tally: ReadTally | None = None) -> Record:
    (record,) = read(path, one, tally=tally)
    assert isinstance(record, Record)
    return record


def reason(path: Path, one: object, tally: ReadTally | None = None) -> str:
    (reject,) = read(path, one, tally=tally)
    assert isinstance(reject, RowReject)
    return reject.reason


def marked(record: Record) -> list[tuple[str, str, str | None, str | None]]:
    return [(s.text_in(record.context), s.entity_type, s.relevance, s.value_id) for s in record.spans]


def bare(record: Record) -> tuple[object, ...]:
    return record.context, record.question, [(s.start, s.end, s.entity_type, s.relevance) for s in record.spans]


def export(path: Path, *items: Record) -> list[tuple[str, str | None, str]]:
    return [(e.record_id, e.value, e.reason) for e in CAPID.write(items, path, WriteOptions(taxonomy=shipped_taxonomy())).entries]


def test_every_whole_word_mention_becomes_a_span_in_text_order(file: Path) -> None:
    tally = ReadTally()
    source = row("Asthma? In Ohio my asthma got worse; asthmatics and Ohio agree.", asthma=("health", "high"), Ohio=("location", "0"))
    record = read_one(file, {**source, "id": "x7", "situation": "…"}, tally)
    assert marked(record) == [("Ohio", "location", "low", "v1"), ("asthma", "health", "high", "v2"), ("Ohio", "location", "low", "v1")]
    assert [s.id for s in record.spans] == ["s1", "s2", "s3"]
    assert (record.locale, record.revision, record.plan, record.provenance) == ("en_GB", 0, None, None)
    assert record.source is not None
    assert (record.source.file, record.source.line, record.source.id) == ("rows.jsonl", 1, "x7")
    assert (tally.values, tally.exact, tally.ambiguous) == (2, 2, 1)
    assert tally.ignored_fields == {"situation": 1}


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ({"flu": ("health", "1")}, 'piis["flu"]: is not in the context'),
        ({"age": ("age", "1")}, 'piis["age"]: stands only inside a longer word'),
        (
            {"Dana": ("name", "0"), "age": ("age", "1"), "zebra": ("age", "0")},
            'piis["age"]: stands only inside a longer word; piis["zebra"]: is not',
        ),
        ({"Dana": ("star sign", "0")}, 'piis["Dana"].type: not one of the known types'),
        ({"Dana": ("name", "2")}, 'piis["Dana"].relevance: '),
        ({"Dana": ("name", True)}, 'piis["Dana"].relevance: '),
        ({"Dana": ("name", None)}, 'piis["Dana"].relevance: '),
        ({"": ("name", "1")}, 'piis[""]: an empty value'),
        ({"_": ("name", "1"), "Dana": ("", "1")}, 'piis[" "]: an empty value; piis["Dana"].type: '),
    ],
)
def test_a_row_that_would_leave_a_value_unmarked_is_refused_whole(file: Path, values: dict[str, tuple[str, object]], expected: str) -> None:
    found = reason(file, row("Dana manages sixteen pages.", **values))
    assert found.startswith(expected)
    assert "manages" not in found


@pytest.mark.parametrize(
    ("one", "expected"),
    [
        ({"context": None, "piis": {}}, "context: "),
        ({"context": "", "piis": {}}, "context: there is no text in it"),
        ({"context": " \n\u3000", "piis": {}}, "context: there is no text in it"),
        ({"context": "a", "question": 4, "piis": {}}, "question: "),
        ({"context": "a", "piis": [["a"]]}, "piis: "),
        ({"context": "a", "piis": {"a": "health"}}, 'piis["a"].type: '),
        (7, "not a JSON object"),
    ],
)
def test_a_malformed_row_is_refused(file: Path, one: object, expected: str) -> None:
    assert reason(file, one).startswith(expected)


def test_a_value_given_twice_is_refused_instead_of_lost(file: Path) -> None:
    entry = '"asthma": {"type": "health", "relevance": "1"}'
    file.write_text(f'{{"context": "asthma", "question": null, "piis": {{{entry}, {entry}}}}}\n', encoding="utf-8")
    (refused,) = CAPID.read(file, ReadOptions(taxonomy=shipped_taxonomy()), ReadTally())
    assert isinstance(refused, RowReject)
    assert refused.reason == "an object uses the same key twice"


def test_type_spellings_are_mapped_and_unknown_ones_counted(file: Path) -> None:
    tally = ReadTally()
    record = read_one(file, row("I am bisexual", bisexual=("sexualorientation", 1)), tally)
    assert marked(record) == [("bisexual", "sexual orientation", "high", "v1")]
    reason(file, row("I am a Leo", Leo=("star sign", 1)), tally)
    assert tally.mapped_types == {"sexualorientation": "sexual orientation"}
    assert tally.unknown_types == {"star sign": 1}


def test_of_overlapping_mentions_the_longest_stays_then_the_earliest(file: Path) -> None:
    tally = ReadTally()
    context = "Dana Whitlock, or Dana, of Lake Erie Bank"
    values = {"Dana": ("name", 0), "Dana_Whitlock": ("name", 0), "Erie_Bank": ("organization", 0), "Lake_Erie": ("location", 1)}
    record = read_one(file, row(context, **values), tally)
    assert [text for text, _, _, _ in marked(record)] == ["Dana Whitlock", "Dana", "Lake Erie"]
    assert [(o.dropped, o.kept, o.value_lost) for o in tally.overlapping] == [((0, 4), (0, 13), False), ((32, 41), (27, 36), True)]


def test_ids_tell_content_and_ordinal_and_survive_other_rows_moving(file: Path) -> None:
    one, other = row("asthma", asthma=("health", "1")), row("asthma", asthma=("health", "0"))
    first, twin, third = (r.id for r in read(file, one, one, other) if isinstance(r, Record))
    assert len({first, twin, third}) == 3
    assert [r.id for r in read(file, other, 5, one, one) if isinstance(r, Record)] == [third, first, twin]


def record_of(context: str, *spans: tuple[str, str, Relevance | None], question: str | None = "And now?") -> Record:
    at, made = 0, []
    for number, (text, kind, relevance) in enumerate(spans, start=1):
        at = context.index(text, at)
        made.append(Span(id=f"s{number}", start=at, end=at + len(text), entity_type=kind, relevance=relevance))
        at += len(text)
    return Record(id="r1", context=context, question=question, spans=tuple(made))


def test_the_written_row_lists_values_in_text_order(file: Path) -> None:
    report = CAPID.write(
        [record_of("Ohio gave me asthma.", ("Ohio", "location", "low"), ("asthma", "health", "high"))],
        file,
        WriteOptions(taxonomy=shipped_taxonomy()),
    )
    assert file.read_text(encoding="utf-8") == (
        '{"context":"Ohio gave me asthma.","question":"And now?","piis":{"Ohio":{"type":"location","relevance":"0"},'
        '"asthma":{"type":"health","relevance":"1"}}}\n'
    )
    assert report.entries == ()
    assert "provenance" in report.fields


@pytest.mark.parametrize(
    ("record", "expected"),
    [
        (record_of("flu and flu", ("flu", "health", "low"), ("flu", "health", "low")), [("flu", losses.REPEATED)]),
        (record_of("flu and flu", ("flu", "health", "low")), [("flu", losses.UNMARKED)]),
        (record_of("flu", ("flu", "health", None)), [("flu", losses.NO_RELEVANCE)]),
        (record_of("a b", (" ", "code", "low")), [(" ", losses.BLANK)]),
        (record_of("influx", ("flu", "health", "low")), [("flu", losses.NOT_WHOLE)]),
        (
            record_of("May in May", ("May", "name", "low"), ("May", "datetime", "high")),
            [("May", losses.DISAGREE), ("May", losses.REPEATED)],
        ),
        (record_of("Ann Lee saw Lee", ("Ann Lee", "name", "low"), ("Lee", "name", "low")), []),
        (record_of("Ann Lee", ("Lee", "name", "low")), []),
    ],
)
def test_what_does_not_come_back_is_in_the_loss_report(file: Path, record: Record, expected: list[tuple[str, str]]) -> None:
    assert [(value, why) for _, value, why in export(file, record)] == expected


def test_of_disagreeing_mentions_the_high_one_is_kept(file: Path) -> None:
    export(file, record_of("May in May", ("May", "name", "low"), ("May", "datetime", "high")))
    assert json.loads(file.read_text())["piis"] == {"May": {"type": "datetime", "relevance": "1"}}


@pytest.mark.long
@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
@given(record=records())
def test_a_record_comes_back_or_is_named(record: Record, tmp_path: Path) -> None:
    path = tmp_path / "rows.jsonl"
    assume(record.context.strip())
    named = export(path, record)
    (back,) = CAPID.read(path, ReadOptions(taxonomy=shipped_taxonomy()), ReadTally())
    if isinstance(back, Record) and bare(back) == bare(record):
        reasons = {why for _, _, why in named}
        assert reasons <= {losses.REPEATED}
    else:
        assert named
        assert {value for _, value, _ in named} <= {s.text_in(record.context) for s in record.spans}


@pytest.mark.parametrize(
    ("name", "unique_and_equal", "named"),
    [("validated_sample", *of_whole((176, 20), (13, 1))), ("raw_pipeline_sample", *of_whole((247, 52), (6, 1)))],
)
def test_real_data_comes_back_equal_where_values_are_unique(name: str, unique_and_equal: int, named: int, tmp_path: Path) -> None:
    source = REAL / f"{name}.jsonl"
    items = [r for r in CAPID.read(source, ReadOptions(taxonomy=shipped_taxonomy()), ReadTally()) if isinstance(r, Record)]
    path = tmp_path / "again.jsonl"
    report = {record_id for record_id, _, _ in export(path, *items)}
    again = list(read_records(CAPID, path, options=ReadOptions(taxonomy=shipped_taxonomy(), blank_contexts=True)))
    assert [bare(r) for r in again] == [bare(r) for r in items]
    assert [r.spans for r in again] == [r.spans for r in items]
    assert (len(items) - len(report), len(report)) == (unique_and_equal, named)
    assert report == {r.id for r in items if len({s.value_id for s in r.spans}) < len(r.spans)}
    CAPID.write(again, tmp_path / "twice.jsonl", WriteOptions(taxonomy=shipped_taxonomy()))
    assert (tmp_path / "twice.jsonl").read_bytes() == path.read_bytes()
