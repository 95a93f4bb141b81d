"""Mappings, placeholders and spans that are at fault, in each other, or where none should be."""

from __future__ import annotations

import json
import re

import pytest

from tests.piiloom.surrogate_runs import MAPPING, _own_names, lines, notes, put_in, records, refused

__all__ = ["_own_names", "notes", "refused"]


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("- tag: <X>\n  kind: persn\n", ("mapping.yaml:3", "'persn'", "Did you mean 'person'?")),
        (
            "- tag: <X>\n  kind: person\n- regex: 'SN(\\d+'\n  kind: student_id\n",
            ("mapping.yaml:4", "not a regular expression", "at character"),
        ),
        ("- regex: '(?P<nam>x)'\n  kind: person\n", ("mapping.yaml:2", "'nam'")),
        ("- regex: 'x*'\n  kind: person\n", ("mapping.yaml:2", "empty text")),
        ("- kind: person\n", ("mapping.yaml:2", "exactly one")),
        ("- tag: <X>\n  kind: person\n- tag: <X>\n  kind: city\n", ("mapping.yaml:4", "twice", "line 2")),
        ("- tag: <X>\n  kind: person\n  knid: city\n", ("mapping.yaml:4", "knid")),
        ("- tag: <X>\n  kind: [person\n", ("mapping.yaml:",)),
        ("- tag: <X>\n  kind: person\n  same: always\n", ("mapping.yaml:4", "same")),
    ],
)
def test_a_mapping_with_a_fault_is_named_by_its_line(refused, notes, tmp_path, text, says):
    file = tmp_path / "mapping.yaml"
    file.write_text(f"rules:\n{text}")
    refused(notes, "--placeholders", file, code=2, says=says)


@pytest.mark.parametrize("kind", ["missing", "folder", "binary", "empty"])
def test_a_mapping_that_cannot_be_read(refused, notes, tmp_path, kind):
    file = tmp_path / "mapping.yaml"
    if kind == "folder":
        file.mkdir()
    elif kind != "missing":
        file.write_bytes(b"\xff\xfe\x00" if kind == "binary" else b"")
    refused(notes, "--placeholders", file, code=2, says=("mapping.yaml",))


@pytest.mark.long
def test_a_catastrophic_regex_is_stopped_in_time_and_named(refused, tmp_path):
    mapping = tmp_path / "mapping.yaml"
    mapping.write_text(f"{MAPPING}- regex: '(a|aa)+$'\n  kind: city\n")
    source = tmp_path / "a.txt"
    source.write_text("a" * 200 + "!")
    line = refused(source, "--placeholders", mapping, code=1, says=("mapping.yaml:5", "more than 1 s", "simpler"))
    assert "aaa" not in line


@pytest.mark.parametrize(
    "text",
    [
        "Hi [NAME <CITY>] and <<NAME>> there.",
        "Hi [[NAME] and <NAME <NAME 2>> there.",
        "Hi <[NAME]>, [**[NAME]**], (<NAME>) there.",
        "Hi [NAME [PHONE]], <EMAIL[DATE]>, NAME_1_NAME_2 there.",
    ],
)
def test_placeholders_in_each_other_leave_the_rest_as_it_was(cli, tmp_path, text):
    source = lines(tmp_path / "a.jsonl", [text])
    outcome = cli("surrogate", "run", source, "--out", tmp_path / "out", "--workers", 1)
    assert outcome.code == 0, outcome.err
    (record,) = records(tmp_path / "out")
    assert record["context"].startswith("Hi ")
    assert record["context"].endswith(" there.")
    assert cli("surrogate", "check", tmp_path / "out", source).code == 0


def test_of_overlapping_rules_the_one_that_starts_first_and_is_longer_holds(cli, tmp_path):
    mapping = tmp_path / "mapping.yaml"
    mapping.write_text(f"{MAPPING}- regex: 'AB'\n  kind: city\n- regex: 'ABCD'\n  kind: company\n- regex: 'CDEF'\n  kind: date\n")
    source = tmp_path / "a.txt"
    source.write_text("We met at ABCDEF.")
    assert cli("surrogate", "run", source, "--out", tmp_path / "out", "--placeholders", mapping, "--workers", 1).code == 0
    (value,) = put_in(tmp_path / "out")
    assert (tmp_path / "out" / "mirror" / "a.txt").read_text() == f"We met at {value}EF."
    assert [span["subtype"] for record in records(tmp_path / "out") for span in record["spans"]] == ["company"]


def test_overlapping_spans_of_a_row_are_told(cli, tmp_path):
    spans = [{"start": 0, "end": 7, "type": "name"}, {"start": 5, "end": 9, "type": "name"}]
    source = lines(tmp_path / "a.jsonl", ["Anna Ek left."], spans=spans)
    outcome = cli("surrogate", "run", source, "--spans", "--out", tmp_path / "out", "--workers", 1)
    assert outcome.code == 0
    assert "given spans that overlap a longer one, left out: 1 (first: a.jsonl:1)" in outcome.err


@pytest.mark.parametrize(
    "span", [{"start": 0, "end": 99, "type": "name"}, {"start": 3, "end": 3, "type": "name"}, {"start": 0, "type": "name"}]
)
def test_a_span_that_is_none_is_named_by_its_row(refused, tmp_path, span):
    good = {"start": 0, "end": 4, "type": "name"}
    source = tmp_path / "a.jsonl"
    rows = [{"text": "Anna left.", "spans": [good]}, {"text": "Anna left.", "spans": [good, span]}]
    source.write_text("".join(json.dumps(row) + "\n" for row in rows))
    line = refused(source, "--spans", "--spans-field", "spans", code=1, says=("a.jsonl:2", "[1]"))
    assert "Anna" not in line


@pytest.mark.long
def test_a_placeholder_in_a_json_key_is_reported_and_stays(cli, tmp_path):
    source = tmp_path / "a.jsonl"
    source.write_text('{"text": "Hi <NAME>."}\n{"[NAME]": 1, "text": "Hi <NAME>.", "of <ZORBLAX>": {"plain": 2}}\n')
    outcome = cli("surrogate", "run", source, "--out", tmp_path / "out", "--workers", 2)
    assert outcome.code == 0
    said = outcome.err.removeprefix("scanning\n")
    assert said == "warning: JSON keys that look like placeholders (keys are never replaced): 2 (first: a.jsonl:2)\n"
    mirrored = (tmp_path / "out" / "mirror" / "a.jsonl").read_text()
    assert re.fullmatch(r'\{"text": "Hi [^"<]+\."\}\n\{"\[NAME\]": 1, "text": "Hi [^"<]+\.", "of <ZORBLAX>": \{"plain": 2\}\}\n', mirrored)
