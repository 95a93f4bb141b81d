from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from piiloom.foundation.errors import DataError, UsageError
from piiloom.surrogates.inputs.json_rows import read_array
from piiloom.surrogates.inputs.parts import PLACEHOLDER_KEYS, FilePart, SourceFile, SourceSettings
from piiloom.surrogates.inputs.reading import PartReader
from piiloom.surrogates.inputs.source import open_source
from tests.longer import case_by_case
from tests.surrogates.inputs.reading_files import mirrored, read
from tests.surrogates.running_fakes import TagEngine, is_tag, kind_of

WHOLE = st.characters(exclude_categories=["Cs"])
TEXTS = st.lists(
    st.one_of(st.text(WHOLE, max_size=6), st.sampled_from(["[NAME]", '"', "\\", "\n", "é", "😀", "/", "\u2028"])), max_size=8
).map("".join)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(WHOLE, max_size=8),
    lambda v: st.lists(v, max_size=3) | st.dictionaries(st.text(WHOLE, max_size=4), v, max_size=3),
    max_leaves=6,
)
ROWS = st.lists(
    st.tuples(
        TEXTS, st.dictionaries(st.text(WHOLE, max_size=5).filter(lambda key: key not in {"text", "id", "spans"}), VALUES, max_size=3)
    ),
    min_size=1,
    max_size=6,
)
STYLES = st.fixed_dictionaries({"ensure_ascii": st.booleans(), "separators": st.sampled_from([(", ", ": "), (",", ":")])})


@pytest.mark.long
@given(rows=ROWS, style=STYLES, chunk=st.integers(1, 200), ends=st.sampled_from(["\n", "\r\n", "\n\n"]), last=st.booleans())
def test_json_lines_come_back_as_they_were_and_changed_only_where_told(
    tmp_path_factory: pytest.TempPathFactory, rows, style, chunk, ends, last
) -> None:
    path = tmp_path_factory.getbasetemp() / "rows.jsonl"
    lines = [json.dumps({**extra, "text": text}, **style) for text, extra in rows]
    path.write_bytes((ends.join(lines) + (ends if last else "")).encode())
    assert [one.text for one in read(path, chunk_bytes=chunk)] == [text for text, _ in rows]
    assert mirrored(path, chunk_bytes=chunk)[0] == path.read_bytes()
    data, replaced = mirrored(path, TagEngine(), chunk_bytes=chunk)
    assert [json.loads(line) for line in data.split(b"\n") if line.strip()] == [
        {**extra, "text": done.text} for (_, extra), done in zip(rows, replaced, strict=True)
    ]
    assert mirrored(path, TagEngine(), chunk_bytes=chunk + 37)[0] == data
    if style["ensure_ascii"]:
        assert data.isascii()


@pytest.mark.long
@given(rows=ROWS, indent=st.sampled_from([None, 1]), chunk=st.integers(1, 200), ensure_ascii=st.booleans())
def test_a_json_array_does_too(tmp_path_factory: pytest.TempPathFactory, rows, indent, chunk, ensure_ascii) -> None:
    path = tmp_path_factory.getbasetemp() / "rows.json"
    path.write_text(
        json.dumps([{**extra, "text": text} for text, extra in rows], indent=indent, ensure_ascii=ensure_ascii), "utf-8", newline=""
    )
    assert mirrored(path, chunk_bytes=chunk)[0] == path.read_bytes()
    data, replaced = mirrored(path, TagEngine(), chunk_bytes=chunk)
    assert json.loads(data) == [{**extra, "text": done.text} for (_, extra), done in zip(rows, replaced, strict=True)]


@given(
    bom=st.booleans(),
    body=st.sampled_from(["[]", " [ ] ", "[{}]", "[{},{}]\n", '{"text": "[NAME]"}', '[{"text": "a"} , {"text": "b"}]']),
    chunk=st.integers(1, 9),
)
def test_arrays_of_all_shapes_come_back(tmp_path_factory: pytest.TempPathFactory, bom, body, chunk) -> None:
    path = tmp_path_factory.getbasetemp() / "shape.json"
    path.write_bytes((b"\xef\xbb\xbf" if bom else b"") + body.encode())
    assert mirrored(path, chunk_bytes=chunk)[0] == path.read_bytes()


def write(path: Path, *lines: str) -> Path:
    path.write_text("\n".join(lines) + "\n", encoding="utf-8", newline="")
    return path


def test_odd_escapes_outside_of_what_is_replaced_stay(tmp_path: Path) -> None:
    path = write(tmp_path / "a.jsonl", r'{"text":"\u0041 \/ [NAME]\t\ud83d\ude00 é","n":1.50}')
    assert (
        mirrored(path, TagEngine(values=('Zoë "Z"',)))[0]
        == b'{"text":"' + r"\u0041 \/ Zoë \"Z\"\t\ud83d\ude00 é".encode() + b'","n":1.50}\n'
    )


@pytest.mark.parametrize(
    ("row", "new"),
    [
        (r'{"text": "caf\u00e9 [NAME]"}', r'{"text": "caf\u00e9 Zo\u00eb"}'),
        (r'{"text": "[NAME]", "b": "\u00e9"}', r'{"text": "Zo\u00eb", "b": "\u00e9"}'),
        ('{"text": "[NAME]", "b": "é"}', '{"text": "Zoë", "b": "é"}'),
        (r'{"text": "[NAME]\n"}', r'{"text": "Zo\u00eb\n"}'),  # the file is ASCII, and stays so
    ],
)
def test_new_signs_are_escaped_as_the_row_or_the_file_does(tmp_path: Path, row: str, new: str) -> None:
    assert mirrored(write(tmp_path / "a.jsonl", row), TagEngine(values=("Zoë",)))[0] == f"{new}\n".encode()


def test_several_fields_of_a_row_are_documents_of_their_own(tmp_path: Path) -> None:
    path = write(tmp_path / "a.jsonl", '{"id": 7, "note": {"text": "one", "x": [{"text": "no"}]}, "title": "two"}', '{"title": "three"}')
    found = read(path, text_fields=("title", "note.text"))
    assert [(one.id, one.text, one.line, one.number) for one in found] == [
        ("7#note.text", "one", 1, 0),
        ("7#title", "two", 1, 1),
        ("a.jsonl:2#title", "three", 2, 2),
    ]


@pytest.mark.parametrize(
    "row",
    [
        '{"note.text": "x"}',
        ' {\t"note" :{"text":"x"} ,\r"id": 7 }',
        r'{"no\u0074e": {"text": "x", "id": [1]}, "id": 7}',
        r'{"\"": "}", "x": "{,", "note": {"z": 1, "text": "x"}, "y": {}}',
    ],
)
def test_a_field_in_a_field_or_with_a_dot_is_found(tmp_path: Path, row: str) -> None:
    assert [one.text for one in read(write(tmp_path / "a.jsonl", row), text_fields=("note.text",))] == ["x"]


@case_by_case(
    ("line", "words"),
    [
        ('{"text": "a"', "a.jsonl:2"),
        ('{"text": "a" "b": 1}', "a.jsonl:2"),
        ('{"text": "a"} x', "more text after the object"),
        ("[1]", "not a JSON object"),
        ('{"text": "a", "text": "b"}', "twice"),
        (r'{"text": "a\ud800b"}', "lone surrogate"),
        ('{"text": "a",', "a.jsonl:2"),
        ('{"text": tru}', "a.jsonl:2"),
        *((line, "a.jsonl:2") for line in ("{", '{"a"', '{"a": 1,}', '{"a" 1}', '{"a": }', "{a: 1}", '{"\\x": 1}', '{"text": "a\tb"}')),
        ('{"text": "secret\nwords"}', "a.jsonl:2"),
        ("{" * 3 + '"a":' * 2, "a.jsonl:2"),
        ('{"a": ' + "[" * 100_000, "a.jsonl:2"),
    ],
)
def test_a_bad_row_is_named_by_its_line_and_never_quoted(tmp_path: Path, line: str, words: str) -> None:
    path = write(tmp_path / "a.jsonl", '{"text": "fine"}', line)
    with pytest.raises(DataError, match=words.replace(".", r"\.")) as caught:
        read(path)
    assert "a.jsonl:2" in str(caught.value)
    assert "secret" not in str(caught.value)


@pytest.mark.parametrize("body", ["[1]", '[{"text": "a"} {"text": "b"}]', '[{"text": "a"}', "[{},]", '[{"text": "a"}] x', '[{"a": tru}]'])
def test_a_bad_array_is_refused(tmp_path: Path, body: str) -> None:
    path = tmp_path / "a.json"
    path.write_text(f"\n{body}")
    with pytest.raises(DataError, match=r"a\.json:2"):
        read(path)


@pytest.mark.parametrize(
    ("body", "place", "words"),
    [
        ('{"text": "a"}] junk', 1, "there is more text after the object"),
        ('{"text": "a"}\n{"text": "b"}', 2, "there is more text after the object"),
        ('{"text": "a"},,', 1, "there is more text after the object"),
        ('{"text": "a"},', 1, "there is more text after the object"),
        (',{"text": "a"}', 1, "the file holds neither an array nor an object"),
        ('["text"]', 1, "an element of the array is not a JSON object"),
        ('[{"text": "a"}\n{"text": "b"}]', 2, "a comma or the end of the array is missing"),
        ('[{"text": "a"},\n,{"text": "b"}]', 2, "not valid JSON"),
        ('[{"text": "a"},\n]', 2, "not valid JSON"),
        ('[{"text": "a"}]\n]', 2, "there is more text after the array"),
        ("[] []", 1, "there is more text after the array"),
    ],
)
@pytest.mark.parametrize("chunk", [1, 1 << 20])
def test_what_is_no_single_json_value_is_refused(tmp_path: Path, body: str, place: int, words: str, chunk: int) -> None:
    path = tmp_path / "a.json"
    path.write_text(body)
    with pytest.raises(DataError, match=words) as caught:
        read(path, chunk_bytes=chunk)
    assert caught.value.where == f"a.json:{place}"
    assert caught.value.remedy


def test_an_array_is_read_strictly_without_its_cutter(tmp_path: Path) -> None:
    """A part's own reader finds what the search for cuts would find."""
    for number, body in enumerate(
        ['[{"text": "a"} {"text": "b"}]', '[{"text": "a"},,{"text": "b"}]', '[{"text": "a"},]', '[{"text": "a"}', "[] x"]
    ):
        path = tmp_path / f"{number}.json"
        path.write_text(body)
        part = FilePart(SourceFile(0, path.name, path, "json", len(body)), 0, len(body))
        with pytest.raises(DataError, match=rf"{number}\.json:1"):
            read_array(part, body, SourceSettings(path=path), meet_keys=False)


@pytest.mark.parametrize("body", ["", " \n", "[]", " [ ] \n", '{"text": "a"}\n', '[{"text": "a"} ]'])
def test_what_is_one_json_value_is_read(tmp_path: Path, body: str) -> None:
    path = tmp_path / "a.json"
    path.write_text(body)
    assert [one.text for one in read(path)] == (["a"] if "text" in body else [])
    assert mirrored(path)[0] == body.encode()


def test_rows_without_text_stay_and_are_counted(tmp_path: Path) -> None:
    path = write(tmp_path / "a.jsonl", '{"text": null}', "", '{"n": 1}', '{"text": 5}', '{"text": "x"}')
    with open_source(SourceSettings(path=path)) as source:
        part = next(source.chunks()).parts[0]
        parsed = PartReader(source.settings).read(part, note_keys=True)
    assert parsed.notes.counts["rows without text"] == 3
    assert parsed.rows == 4
    assert [found.line for found in parsed.found] == [4]


def test_placeholders_in_keys_are_told_and_left(tmp_path: Path) -> None:
    path = write(tmp_path / "a.jsonl", '{"text": "[NAME]"}', '{"[NAME]": 1, "x": [{"of [CITY]": {"[NAME]": 2}}], "text": "a"}')
    settings = SourceSettings(path=path, look_at_key=is_tag)
    with open_source(settings) as source:
        parsed = PartReader(settings).read(next(source.chunks()).parts[0], note_keys=True)
    assert parsed.notes.counts[PLACEHOLDER_KEYS] == 3
    assert parsed.notes.first[PLACEHOLDER_KEYS] == 1
    assert b'"of [CITY]": {"[NAME]": 2}' in mirrored(path, TagEngine(), look_at_key=is_tag)[0]


NATIVE = (
    '{"id": "r1", "context": "Ann met Bo Ek.", "spans": [{"start": 0, "end": 3, "text": "Ann", "type": "name", "value_id": "v1"}, '
    '{"type": "name", "subtype": "full", "start": 8, "end": 13, "text": "Bo Ek"}, {"start": 8, "end": 10, "type": "name"}]}'
)


def test_spans_become_mentions_and_are_written_anew(tmp_path: Path) -> None:
    path = write(tmp_path / "a.jsonl", NATIVE)
    (document,) = read(path, kind_of=kind_of)
    assert document.id == "r1"
    assert document.mentions is not None
    assert [(m.start, m.end, m.kind, m.index, m.original) for m in document.mentions] == [
        (0, 3, "person", "v1", "Ann"),
        (8, 13, "name.full", "", "Bo Ek"),
    ]
    row = json.loads(mirrored(path, TagEngine(values=('O "X"',)), kind_of=kind_of)[0])
    assert row["context"] == 'O "X" met O "X".'
    for span in row["spans"][:2]:
        assert row["context"][span["start"] : span["end"]] == span["text"] == 'O "X"'
    assert mirrored(path, kind_of=kind_of)[0] == path.read_bytes()


@pytest.mark.parametrize(
    ("span", "left"),
    [
        ('{"entity_type": "name", "entity_value": "Ann", "start_position": 4, "end_position": 7}', []),
        ('{"label": "name", "value": "Ann", "start_offset": 4, "end_offset": 7, "meta": "Ann"}', []),
        ('{"entity_group": "name", "word": "ann", "begin": 4, "stop": 7, "score": 0.5}', ["score"]),
        ('{"entity": "name", "start": 4, "end": 7, "note": "sure", "again": ["Ann"]}', ["note", "again"]),
    ],
)
def test_spans_of_other_tools_are_read_and_written_anew(tmp_path: Path, span: str, left: list[str]) -> None:
    path = write(tmp_path / "a.jsonl", f'{{"text": "Hi, Ann!", "spans": [ {span} ]}}')
    (document,) = read(path, kind_of=kind_of)
    assert [(m.start, m.end, m.kind, m.original) for m in document.mentions or ()] == [(4, 7, "person", "Ann")]
    row = json.loads(mirrored(path, TagEngine(values=("Josephine",)), kind_of=kind_of)[0])
    before = json.loads(span)
    assert row["text"] == "Hi, Josephine!"
    assert row["spans"] == [
        {key: value if key in left else {4: 4, 7: 13, "name": "name"}.get(value, "Josephine") for key, value in before.items()}
    ]


def test_spans_that_are_lists_are_read_and_written_anew(tmp_path: Path) -> None:
    path = write(tmp_path / "a.jsonl", '{"entities": [[0, 3, "name"] ,[ 8,13,"name","Bo Ek"]], "text": "Ann met Bo Ek.", "x": [1]}')
    (document,) = read(path, kind_of=kind_of, spans_field="entities")
    assert [m.original for m in document.mentions or ()] == ["Ann", "Bo Ek"]
    new = mirrored(path, TagEngine(values=("Be",)), kind_of=kind_of, spans_field="entities")[0].decode()
    assert new.strip() == '{"entities": [[0, 2, "name"] ,[ 7,9,"name","Be"]], "text": "Be met Be.", "x": [1]}'


def test_without_a_table_of_kinds_or_with_many_texts_spans_are_nothing(tmp_path: Path) -> None:
    path = write(tmp_path / "a.jsonl", NATIVE)
    assert read(path)[0].mentions is None
    assert read(path, kind_of=kind_of, use_spans=False)[0].mentions is None
    assert read(path, kind_of=kind_of, text_fields=("context", "id"))[0].mentions is None


@pytest.mark.parametrize(
    ("spans", "words"),
    [
        ('[{"start": 0, "end": 99, "type": "name"}]', "outside"),
        ('[{"start": 0, "end": 2, "type": "name", "text": "xx"}]', "differs"),
        ('[{"start": "0", "end": 2, "type": "name"}]', "whole numbers"),
        ('"none"', "no list"),
    ],
)
def test_spans_that_do_not_fit_are_refused(tmp_path: Path, spans: str, words: str) -> None:
    path = write(tmp_path / "a.jsonl", f'{{"text": "abc", "gold": {spans}}}')
    with pytest.raises(DataError, match=words):
        read(path, kind_of=kind_of, spans_field="gold")


def test_a_field_of_spans_that_is_empty_says_that_there_are_none(tmp_path: Path) -> None:
    path = write(tmp_path / "a.jsonl", '{"text": "[NAME]", "gold": [], "spans": []}')
    assert read(path, kind_of=kind_of, spans_field="gold")[0].mentions == ()
    assert read(path, kind_of=kind_of)[0].mentions is None


@pytest.mark.parametrize(
    "settings", [{"chunk_bytes": 0}, {"delimiter": "ab"}, {"delimiter": '"'}, {"format": "doc"}, {"text_fields": ("a", "a")}]
)
def test_settings_that_make_no_sense_are_refused(tmp_path: Path, settings: dict) -> None:
    with pytest.raises(UsageError):
        SourceSettings(path=tmp_path, **settings)
