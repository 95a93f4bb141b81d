"""Bad files for ``piiloom surrogate``: one line that names place and remedy, the right exit code, and nothing half-written."""

from __future__ import annotations

import json

import pytest

from tests.longer import EXPLORE, usually
from tests.piiloom.surrogate_runs import MAPPING, _own_names, notes, refused

__all__ = ["_own_names", "notes", "refused"]


@pytest.mark.parametrize(
    ("words", "code", "says"),
    [
        ((), 1, ("a.txt:2", "0xe9", "--encoding")),
        (("--encoding", "latin-99"), 2, ("'latin-99'", "latin-1")),
        (("--encoding", "zlib"), 2, ("'zlib'",)),
        (("--encoding", "ascii"), 1, ("a.txt:2", "ASCII", "--encoding")),
    ],
)
def test_encodings_that_do_not_fit(refused, tmp_path, words, code, says):
    source = tmp_path / "a.txt"
    source.write_bytes("one\nAndré [NAME]\n".encode("latin-1"))
    line = refused(source, *words, code=code, says=says)
    assert "Andr" not in line


@pytest.mark.parametrize("name", ["a.txt", "a.jsonl", "a.csv", "a.tsv", "a.xml"])
def test_an_empty_file_is_mirrored_and_holds_no_document(cli, tmp_path, name):
    source = tmp_path / name
    source.touch()
    outcome = cli("surrogate", "run", source, "--out", tmp_path / "out", "--workers", 1, "--json")
    assert outcome.code == 0, outcome.err
    report = json.loads(outcome.out)
    assert (report["documents"], report["replaced"]["total"]) == (0, 0)
    assert (tmp_path / "out" / "mirror" / name).read_bytes() == b""
    assert (tmp_path / "out" / "records.jsonl").read_bytes() == b""
    assert cli("surrogate", "check", tmp_path / "out", source).code == 0


def test_empty_files_beside_others_do_not_matter(cli, notes, tmp_path):
    for name in ("e.txt", "e.jsonl", "e.csv"):
        (notes / name).touch()
    outcome = cli("surrogate", "run", notes, "--out", tmp_path / "out", "--workers", 1, "--json")
    assert outcome.code == 0, outcome.err
    assert json.loads(outcome.out)["documents"] == 2


@pytest.mark.long
@pytest.mark.parametrize("name", usually(("a.txt", "a.jsonl", "a.csv", "a.xml"), {"a.csv", "a.xml"}))
def test_one_line_of_many_megabytes(cli, tmp_path, name):
    megabytes = 50 if EXPLORE else 8
    word = "[NAME 1] and [CITY] were lovely. " + "So was all that came of it, and there was much of it; " * 400
    text = word * (megabytes * 10**6 // len(word))
    source = tmp_path / name
    shapes = {
        "a.txt": text,
        "a.jsonl": json.dumps({"text": text}) + "\n",
        "a.csv": f'text\n"{text}"\n',
        "a.xml": f"<r>{text}</r>",
    }
    source.write_text(shapes[name])
    outcome = cli("surrogate", "run", source, "--out", tmp_path / "out", "--workers", 1, "--json")
    assert outcome.code == 0, outcome.err
    assert json.loads(outcome.out)["replaced"]["total"] == 2 * (len(text) // len(word))
    assert cli("surrogate", "check", tmp_path / "out", source).code == 0


@pytest.mark.parametrize("command", ["run", "survey", "leakage"])
def test_a_missing_input(refused, tmp_path, command):
    refused(tmp_path / "gone", command=command, code=2, says=("gone", "no such file or folder", "Check the path"))


def test_a_missing_input_of_check(cli, notes, tmp_path):
    assert cli("surrogate", "run", notes, "--out", tmp_path / "out", "--workers", 1).code == 0
    for folder, source, code in ((tmp_path / "out", tmp_path / "gone", 2), (tmp_path / "gone", notes, 1), (notes, notes, 1)):
        outcome = cli("surrogate", "check", folder, source)
        assert outcome.code == code
        assert "gone" in outcome.error_line() or "report.json" in outcome.error_line()
    other = cli("surrogate", "check", tmp_path / "out", notes / "a.txt")
    assert other.code == 1
    assert "other files" in other.error_line()


@pytest.mark.parametrize(("name", "text"), [("a.doc", "[NAME]"), ("folder", None)])
def test_formats_that_nobody_knows(refused, tmp_path, name, text):
    source = tmp_path / name
    if text is None:
        source.mkdir()
        (source / "a.doc").write_text("[NAME]")
    else:
        source.write_text(text)
    line = refused(source, code=2, says=(name, ".jsonl"))
    assert text is None or "--input-format" in line


@pytest.mark.parametrize(
    ("name", "text", "words", "says"),
    [
        ("a.jsonl", '{"message": "[NAME]", "by": 1}\n', (), ("a.jsonl", "message, by", "--text-field")),
        (
            "a.jsonl",
            '{"message": "[NAME]"}\n',
            ("--text-field", "massage"),
            ("a.jsonl", "no row has the field 'massage'", "has: message.", "--text-field"),
        ),
        ("a.json", '[{"message": "[NAME]"}]', (), ("a.json", "message", "--text-field")),
        ("a.csv", "message,by\n[NAME],1\n", (), ("a.csv", "message, by", "--text-field")),
        ("a.csv", "message,by\n[NAME],1\n", ("--text-field", "massage"), ("a.csv", "'massage'", "has: message, by.", "--text-field")),
        ("a.csv", "message,by\n[NAME],1\n", ("--text-field", "3"), ("a.csv", "message, by", "--text-field")),
        ("a.tsv", "message\tby\n[NAME]\t1\n", ("--text-field", "massage"), ("a.tsv", "'massage'", "has: message, by.", "--text-field")),
        ("a.tsv", "x\t[NAME]\n", ("--no-header", "--text-field", "text"), ("'text'", "number from 1 to 2")),
        ("a.tsv", "x\t[NAME]\n", ("--no-header",), ("--text-field",)),
    ],
)
@pytest.mark.parametrize("command", ["run", "survey", "leakage"])
def test_a_missing_text_field_names_those_that_are_there(refused, tmp_path, command, name, text, words, says):
    source = tmp_path / name
    source.write_text(text)
    line = refused(source, *words, command=command, code=2, says=says)
    assert "[NAME]" not in line


@pytest.mark.parametrize("name", ["a.csv", "a.jsonl"])
def test_of_many_fields_a_dozen_is_named(refused, tmp_path, name):
    fields = [f"f{number}" for number in range(1, 16)]
    source = tmp_path / name
    source.write_text(f"{','.join(fields)}\n" if name == "a.csv" else json.dumps(dict.fromkeys(fields, "[NAME]")) + "\n")
    line = refused(source, "--text-field", "massage", code=2, says=(name, "'massage'", "--text-field"))
    assert f"has: {', '.join(fields[:12])} and 3 more." in line


def test_one_of_several_text_fields_that_is_not_in_the_only_table(refused, tmp_path):
    source = tmp_path / "a.csv"
    source.write_text("message,by\n[NAME],1\n")
    refused(source, "--text-field", "message", "--text-field", "massage", code=2, says=("a.csv", "'massage'", "has: message, by."))


def test_a_file_whose_rows_have_no_text_is_named(refused, notes):
    (notes / "z.jsonl").write_text('{"text": null, "by": 1}\n')
    for command in ("run", "survey"):
        refused(notes, command=command, code=2, says=("z.jsonl: no row has a text; the first one has: text, by.", "--text-field"))


@pytest.mark.parametrize(
    ("name", "text", "place"),
    [
        ("a.jsonl", '{"text": "fine"}\n{"text": "secret [NAME]"\n{"text": "fine"}\n', "a.jsonl:2"),
        ("a.jsonl", '{"text": "fine"}\nsecret\n', "a.jsonl:2"),
        ("a.jsonl", '{"text": "fine"}\n["secret"]\n', "a.jsonl:2"),
        ("a.jsonl", '{"text": "fine"}\n{"text": "secret \\ud800"}\n', "a.jsonl:2"),
        ("a.json", '[{"text": "fine"},\n{"text": secret}]', "a.json:2"),
        ("a.json", '[{"text": "fine"},\n{"text": "secret"}', "a.json:"),
        ("a.csv", 'text\nfine\n"secret\n', "a.csv:"),
        ("a.xml", "<r>\n<p>fine</p>\n<p secret", "a.xml:"),
    ],
)
@pytest.mark.parametrize("command", ["run", "survey"])
def test_what_is_broken_is_named_by_its_line(refused, tmp_path, name, text, place, command):
    source = tmp_path / name
    source.write_text(text)
    line = refused(source, command=command, code=1, says=(place,))
    assert "secret" not in line


@pytest.mark.long
@pytest.mark.parametrize("workers", ["1", "2"])
def test_a_fault_far_in_leaves_nothing_for_any_number_of_workers(cli, tmp_path, workers):
    source = tmp_path / "a.jsonl"
    source.write_text('{"text": "Hi [NAME 1]."}\n' * 5000 + '{"text": \n')
    mapping = tmp_path / "mapping.yaml"
    mapping.write_text(MAPPING)
    before = sorted(tmp_path.iterdir())
    words = ("--out", tmp_path / "out", "--workers", workers, "--placeholders", mapping, "--vault", tmp_path / "vault")
    outcome = cli("surrogate", "run", source, *words)
    assert outcome.code == 1
    assert outcome.err.splitlines()[-1].startswith("error: a.jsonl:5001: not valid JSON")
    assert sorted(tmp_path.iterdir()) == before
