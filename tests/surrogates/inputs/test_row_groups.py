"""Rows of a table that are one document (``--group-by``, ``--speaker-field``)."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from piiloom.foundation.errors import DataError, UsageError
from piiloom.surrogates.engine import EngineFactory
from piiloom.surrogates.inputs.parts import SourceSettings
from piiloom.surrogates.outputs.checking import restore_folder, verify_folder
from piiloom.surrogates.placeholders import Mapping
from piiloom.surrogates.running import SKIPPED, run_surrogates
from piiloom.surrogates.settings import EngineSettings
from tests.surrogates.inputs.reading_files import read

# The speaker's column is behind the text's, a cell has a line end, one is empty, one names the speaker by a placeholder.
TABLE = (
    "lesson,edited,role\r\n"
    '1,"Hi <STUDENT>,\nall ""OK""?",teacher\r\n'
    "1,Hi <TEACHER>,student\r\n"
    "\r\n"
    "1,,student\r\n"
    "2,I am <STUDENT>,<STUDENT>\r\n"
    "2,Hello <STUDENT>,\r\n"
    ",nobody,student\r\n"
)


def filled(tmp_path: Path, raw: bytes, name: str = "lessons.csv", **how: object) -> tuple[list[dict], bytes]:
    """Run over a table: its records and mirror, which ``verify_folder`` compared, after the restored files were found equal."""
    source, out = tmp_path / name, tmp_path / "out"
    source.write_bytes(raw)
    inputs = SourceSettings(path=source, text_fields=("edited",), **how)  # type: ignore[arg-type]
    run_surrogates(inputs, out, EngineFactory(settings=EngineSettings(seed=0), mapping=Mapping()), vault=tmp_path / "vault")
    verify_folder(out, source)
    assert restore_folder(out, tmp_path / "vault", tmp_path / "again").differing == ([] if not (out / SKIPPED).exists() else [name])
    return [json.loads(line) for line in (out / "records.jsonl").read_text("utf-8").splitlines()], (out / "mirror" / name).read_bytes()


@pytest.mark.parametrize("chunk", [1, 2**20])
def test_rows_of_a_lesson_are_one_document_and_come_back_in_their_cells(tmp_path, chunk):
    records, mirror = filled(tmp_path, TABLE.encode(), group_by="lesson", speaker_field="role", chunk_bytes=chunk)
    (student, teacher), (other,) = ([span["text"] for span in record["spans"]][: 2 - number] for number, record in enumerate(records[:2]))
    assert [record["context"] for record in records] == [
        f'teacher: Hi {student},\nall "OK"?\nstudent: Hi {teacher}\nstudent: ',
        f"{other}: I am {other}\nHello {other}",
        "student: nobody",
    ]
    assert student != other
    assert [record["meta"]["source"]["id"] for record in records] == ["1", "2", "lessons.csv:9"]
    said = TABLE.split("2,I am")
    expected = said[0].replace("<STUDENT>", student).replace("<TEACHER>", teacher) + "2,I am" + said[1].replace("<STUDENT>", other)
    assert mirror.decode() == expected


def test_all_rows_of_a_file_are_one_document_unless_a_column_has_that_name(tmp_path):
    raw = TABLE.encode()
    (one,) = filled(tmp_path, raw, group_by="file")[0]
    assert one["meta"]["source"] == {"file": "lessons.csv", "line": 2, "id": "lessons.csv"}
    assert one["context"].count("\n") == 6
    path = tmp_path / "named.tsv"
    path.write_bytes(raw.replace(b"lesson", b"file").replace(b"\r\n1,", b"\r\n0,"))
    assert [found.id for found in read(path, group_by="file", text_fields=("edited",), delimiter=",")] == ["0", "2", "named.tsv:9"]


def test_a_bad_row_inside_of_a_lesson_is_set_aside(tmp_path):
    raw = TABLE.encode().replace(b"1,,student", b"1,\xff,student")
    records, mirror = filled(tmp_path, raw, group_by="lesson", speaker_field="role", skip_bad_rows=True)
    assert len(records) == 3
    assert b"\xff" not in mirror
    assert (tmp_path / "out" / SKIPPED).read_text("utf-8").count("\n") == 1


@pytest.mark.parametrize(
    ("raw", "how", "error", "says"),
    [
        (TABLE + "1,again,student\r\n", {"group_by": "lesson"}, DataError, r"lessons\.csv:10.*not all together.*Sort"),
        ("edited\n<STUDENT\nA>\n", {"group_by": "file"}, DataError, r"from one cell into another"),
        (TABLE, {"group_by": "session"}, UsageError, r"no column 'session'.*--group-by"),
        (TABLE, {"group_by": "lesson", "speaker_field": "who"}, UsageError, r"no column 'who'.*--speaker-field"),
        (TABLE, {"speaker_field": "role"}, UsageError, r"Add --group-by"),
        (TABLE, {"group_by": "lesson", "question_field": "role"}, UsageError, r"no question"),
        ('{"edited": ""}\n', {"group_by": "lesson", "name": "lessons.jsonl"}, UsageError, r"only rows of tables"),
    ],
)
def test_groups_that_cannot_be_made_are_told(tmp_path, raw, how, error, says):
    with pytest.raises(error) as told:
        filled(tmp_path, raw.encode(), **how)
    line = f"{told.value.where}: {told.value.message}. {told.value.remedy}"
    assert re.search(says, line), line
