from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from piiloom.corpus.formats.base import ReadOptions, read_records
from piiloom.corpus.formats.native_rows import row_of
from piiloom.corpus.formats.registry import NativeFormat
from piiloom.corpus.record import Record, SourceReference, Span
from piiloom.foundation.errors import RunError
from piiloom.surrogates.documents import Document, Mention, Placed, Replaced
from piiloom.surrogates.outputs.report_page import OTHERS, RunTally
from piiloom.surrogates.outputs.writing import check_replaced, map_parts, record_id, record_parts, vault_lines
from piiloom.taxonomy.entity_types import shipped_taxonomy
from tests.surrogates.running_fakes import Lying, TagEngine

WHOLE = st.characters(exclude_categories=["Cs"])
TEXTS = st.lists(st.one_of(st.text(WHOLE, max_size=5), st.just("[NAME]")), max_size=6).map("".join)


def record_of(document: Document, replaced: Replaced, locale: str) -> Record:
    """Return, as an object, the record whose line ``record_parts`` writes."""
    return Record(
        id=record_id(document, replaced),
        context=replaced.text,
        locale=locale,
        spans=tuple(_span(number, place) for number, place in enumerate(replaced.placed, start=1)),
        source=SourceReference(file=document.file, line=document.line, id=document.id),
        group_keys=(f"document:{document.id}",),
    )


def _span(number: int, place: Placed) -> Span:
    return Span(
        id=f"s{number}",
        start=place.new_start,
        end=place.new_end,
        entity_type=place.entity_type,
        subtype=place.subtype,
        value_id=place.value_id or None,
    )


@given(text=TEXTS, doc_id=st.text(WHOLE, min_size=1), file=st.text(WHOLE, min_size=1), line=st.none() | st.integers(1, 9))
def test_the_line_is_the_row_of_the_record(text: str, doc_id: str, file: str, line: int | None) -> None:
    document = Document(0, doc_id, text, file, line)
    replaced = TagEngine().replaced(document)
    check_replaced(document, replaced)
    written = b"".join(record_parts(document, replaced, "nl_NL"))
    assert written == json.dumps(row_of(record_of(document, replaced, "nl_NL")), ensure_ascii=False).encode() + b"\n"
    assert json.loads(b"".join(map_parts(document, replaced))) == {
        "id": doc_id,
        "file": file,
        "line": line,
        "ranges": [list(place[:4]) for place in replaced.placed],
    }


def test_records_are_read_as_native_rows(tmp_path: Path) -> None:
    documents = [Document(number, f"d{number}", text, "a.txt") for number, text in enumerate(["[NAME] [CITY]", "", "none"])]
    replaced = [TagEngine().replaced(document) for document in documents]
    path = tmp_path / "records.jsonl"
    lines = [b"".join(record_parts(one, done, "en_US")) for one, done in zip(documents, replaced, strict=True)]
    path.write_bytes(b"".join(lines))
    assert list(read_records(NativeFormat(), path, options=ReadOptions(taxonomy=shipped_taxonomy(), blank_contexts=True))) == [
        record_of(one, done, "en_US") for one, done in zip(documents, replaced, strict=True)
    ]


def test_ids_tell_contents_and_documents_apart() -> None:
    ids = {record_of(Document(0, doc_id, "x", "f"), Replaced(text, []), "en_US").id for doc_id in "ab" for text in "xy"}
    assert len(ids) == 4


@pytest.mark.parametrize(
    "place",
    [(0, 6, 0, 0), (6, 6, 6, 6), (0, 6, 1, 4), (0, 99, 0, 3)],
)
def test_places_that_do_not_fit_are_refused(place: tuple[int, int, int, int]) -> None:
    document = Document(0, "d", "[NAME] word", "f")
    with pytest.raises(RunError, match="d: the engine gave an invalid result"):
        check_replaced(document, Replaced("Ann word", [Placed(*place, "person", "name", None, "", "")]))


def test_a_change_that_nobody_told_of_is_refused() -> None:
    document = Document(0, "d", "[NAME] word", "f")
    with pytest.raises(RunError, match="has changed"):
        check_replaced(document, Lying().replaced(document))


def test_half_a_character_is_refused() -> None:
    with pytest.raises(RunError, match="half a character"):
        record_parts(Document(0, "d", "[NAME]", "f"), TagEngine(values=("\ud800",)).replaced(Document(0, "d", "[NAME]", "f")), "en_US")


def test_the_vault_has_what_stood_there() -> None:
    document = Document(0, "d", "[NAME] and [NAME]", "f", None, (Mention(0, 6, "person", original="Jan"), Mention(11, 17, "person")))
    rows = [json.loads(line) for line in vault_lines(document, TagEngine(values=("Bo",)).replaced(document)).splitlines()]
    assert rows == [
        {"id": "d", "start": 0, "end": 6, "new_start": 0, "new_end": 2, "text": "[NAME]", "original": "Jan"},
        {"id": "d", "start": 11, "end": 17, "new_start": 7, "new_end": 9, "text": "[NAME]"},
    ]


@given(sizes=st.lists(st.integers(1, 4), min_size=1, max_size=8))
def test_tallies_add_up_the_same_for_any_chunks(sizes: list[int]) -> None:
    documents = [Document(number, "d", f"{{T{number % 3}}} {'{AB}' * (number % 4)} (x) [NAME]", "f") for number in range(sum(sizes))]
    whole, parts, at = RunTally(), RunTally(), 0
    for document in documents:
        whole.take(document, TagEngine().replaced(document))
    for size in sizes:
        chunk = RunTally()
        for document in documents[at : at + size]:
            chunk.take(document, TagEngine().replaced(document))
        parts.add(chunk)
        at += size
    assert parts == whole


def test_literals_are_bounded() -> None:
    tally, more = RunTally(), RunTally()
    more.unknown.update({f"{{{number}}}": 1 for number in range(12_000)})
    tally.add(more)
    assert len(tally.unknown) == 10_001
    assert tally.unknown[OTHERS] == 2_000
    more.take(Document(0, "d", "(" + "x" * 500 + ")", "f"), Replaced("x", [], left=[(0, 502)]))
    assert [len(literal) for literal in more.left] == [80]
