"""Bad input of ``piiloom surrogate``: one line that names place and remedy, the right exit code, and nothing half-written."""

from __future__ import annotations

import json
import re
import stat
import zipfile

import pytest

from tests.piiloom.test_surrogate_cmd import _own_names, lines, notes, put_in, records

__all__ = ["_own_names", "notes"]

_GOOD = "version: 1\nrules:\n- tag: <STUDENT>\n  kind: person\n"


@pytest.fixture
def refused(cli, tmp_path):
    """Run, and see that it fails with *code*, one line that has all of *says*, and nothing new in the folder; gives the line."""

    def call(source, *words, code, says=(), command="run"):
        before = sorted(tmp_path.rglob("*"))
        out = ("--out", tmp_path / "out", "--workers", 1) if command == "run" and "--out" not in words else ()
        outcome = cli("surrogate", command, source, *out, *words)
        assert outcome.code == code, outcome
        line = outcome.error_line()
        assert all(part in line for part in says), line
        assert sorted(tmp_path.rglob("*")) == before
        assert outcome.out == ""
        return line

    return call


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


def test_a_catastrophic_regex_is_stopped_in_time_and_named(refused, tmp_path):
    mapping = tmp_path / "mapping.yaml"
    mapping.write_text(f"{_GOOD}- regex: '(a|aa)+$'\n  kind: city\n")
    source = tmp_path / "a.txt"
    source.write_text("a" * 200 + "!")
    line = refused(source, "--placeholders", mapping, code=1, says=("mapping.yaml:5", "more than 1 s", "simpler"))
    assert "aaa" not in line


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
    mapping.write_text(f"{_GOOD}- regex: 'AB'\n  kind: city\n- regex: 'ABCD'\n  kind: company\n- regex: 'CDEF'\n  kind: date\n")
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


def test_a_placeholder_in_a_json_key_is_reported_and_stays(cli, tmp_path):
    source = tmp_path / "a.jsonl"
    source.write_text('{"text": "Hi <NAME>."}\n{"[NAME]": 1, "text": "Hi <NAME>.", "of <ZORBLAX>": {"plain": 2}}\n')
    outcome = cli("surrogate", "run", source, "--out", tmp_path / "out", "--workers", 2)
    assert outcome.code == 0
    assert outcome.err == "warning: JSON keys that look like placeholders (keys are never replaced): 2 (first: a.jsonl:2)\n"
    mirrored = (tmp_path / "out" / "mirror" / "a.jsonl").read_text()
    assert re.fullmatch(r'\{"text": "Hi [^"<]+\."\}\n\{"\[NAME\]": 1, "text": "Hi [^"<]+\.", "of <ZORBLAX>": \{"plain": 2\}\}\n', mirrored)


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
@pytest.mark.parametrize("name", ["a.txt", "a.jsonl", "a.csv"])
def test_one_line_of_50_mb(cli, tmp_path, name):
    word = "[NAME 1] and [CITY] were lovely. " + "So was all that came of it, and there was much of it; " * 400
    text = word * (50 * 10**6 // len(word))
    source = tmp_path / name
    shapes = {"a.txt": text, "a.jsonl": json.dumps({"text": text}) + "\n", "a.csv": f'text\n"{text}"\n'}
    source.write_text(shapes[name])
    outcome = cli("surrogate", "run", source, "--out", tmp_path / "out", "--workers", 1, "--json")
    assert outcome.code == 0, outcome.err
    assert json.loads(outcome.out)["replaced"]["total"] == 2 * (len(text) // len(word))
    assert cli("surrogate", "check", tmp_path / "out", source).code == 0


@pytest.mark.parametrize(("out", "says"), [("notes", "is the input"), ("notes/deep/out", "inside the input"), (".", "inside the output")])
def test_the_output_never_touches_the_input(refused, notes, tmp_path, out, says):
    refused(notes, "--out", tmp_path / out, code=2, says=("--out", says, "Name"))


def test_the_input_under_another_name_is_the_input_all_the_same(refused, notes, tmp_path):
    (tmp_path / "link").symlink_to(notes)
    refused(notes, "--out", tmp_path / "notes" / "deep" / "..", code=2, says=("the output folder is the input",))
    refused(tmp_path / "link", "--out", notes, code=2, says=("the output folder is the input",))


@pytest.mark.parametrize("target", ["a file", "below a file", "full", "link"])
def test_an_output_that_cannot_be(refused, notes, tmp_path, target):
    taken = tmp_path / "taken"
    if target == "full":
        taken.mkdir()
        (taken / "letter.txt").write_text("dear")
    elif target == "link":
        (tmp_path / "elsewhere").mkdir()
        taken.symlink_to(tmp_path / "elsewhere")
    else:
        taken.write_text("mine")
    out = taken / "out" if target == "below a file" else taken
    refused(notes, "--out", out, code=1 if target == "below a file" else 2, says=("taken", "--out"))


@pytest.mark.parametrize(
    ("where", "says"), [("notes/v", "outside"), ("out/v", "outside"), ("taken", "never written over"), ("no/v", "no/v")]
)
def test_a_vault_that_cannot_be(refused, notes, tmp_path, where, says):
    (tmp_path / "taken").write_text("mine")
    refused(notes, "--vault", tmp_path / where, code=1 if where == "no/v" else 2, says=(says,))


def _packed(path, name, data=b"Hi [NAME].\n", *, mode=0):
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("good.txt", "Hi [NAME].\n")
        member = zipfile.ZipInfo(name)
        member.compress_type = zipfile.ZIP_DEFLATED
        member.external_attr = mode << 16
        archive.writestr(member, data)
    return path


@pytest.mark.parametrize("name", ["../up.txt", "a/../../up.txt", "/etc/passwd.txt", "..\\up.txt", "C:\\up.txt"])
def test_a_zip_that_leads_out_of_itself_is_refused(refused, tmp_path, name):
    refused(_packed(tmp_path / "a.zip", name), code=1, says=("a.zip/", "leads out of the archive", "Pack the archive again"))


def test_a_link_in_a_zip_is_refused(refused, tmp_path):
    source = _packed(tmp_path / "a.zip", "link.txt", b"/etc/passwd", mode=stat.S_IFLNK | 0o777)
    refused(source, code=1, says=("a.zip/link.txt", "symbolic link"))


def test_a_link_out_of_a_folder_is_refused(refused, notes, tmp_path):
    secret = tmp_path / "secret.txt"
    secret.write_text("[NAME]")
    (notes / "link.txt").symlink_to(secret)
    refused(notes, code=1, says=("link.txt", "leads out of the input folder"))


def test_a_zip_bomb_stops_at_the_limit(refused, tmp_path):
    source = _packed(tmp_path / "a.zip", "big.txt", b"x" * 3 * 2**20)
    refused(source, "--max-unpacked", "2", code=1, says=("a.zip/big.txt", "2,097,152 bytes", "--max-unpacked"))


def test_a_zip_bomb_is_known_by_its_ratio(refused, tmp_path):
    source = _packed(tmp_path / "a.zip", "big.txt", b"\0" * 120 * 10**6)
    refused(source, code=1, says=("a.zip/big.txt", "200 times"))


@pytest.mark.parametrize("data", [b"", b"PK\x03\x04 no zip", b"hello"])
def test_a_zip_that_is_none(refused, tmp_path, data):
    source = tmp_path / "a.zip"
    source.write_bytes(data)
    refused(source, code=1, says=("a.zip", "damaged"))


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
    assert text is None or "--format" in line


@pytest.mark.parametrize(
    ("name", "text", "words", "says"),
    [
        ("a.jsonl", '{"message": "[NAME]", "by": 1}\n', (), ("a.jsonl", "message, by", "--text-field")),
        ("a.jsonl", '{"message": "[NAME]"}\n', ("--text-field", "massage"), ("a.jsonl", "has: message", "--text-field")),
        ("a.json", '[{"message": "[NAME]"}]', (), ("a.json", "message", "--text-field")),
        ("a.csv", "message,by\n[NAME],1\n", (), ("a.csv", "message, by", "--text-field")),
        ("a.csv", "message,by\n[NAME],1\n", ("--text-field", "massage"), ("a.csv", "message, by", "--text-field")),
        ("a.csv", "message,by\n[NAME],1\n", ("--text-field", "3"), ("a.csv", "message, by", "--text-field")),
        ("a.tsv", "x\t[NAME]\n", ("--no-header", "--text-field", "text"), ("text",)),
        ("a.tsv", "x\t[NAME]\n", ("--no-header",), ("--text-field",)),
    ],
)
def test_a_missing_text_field_names_those_that_are_there(refused, tmp_path, name, text, words, says):
    source = tmp_path / name
    source.write_text(text)
    line = refused(source, *words, code=2, says=says)
    assert "[NAME]" not in line


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


@pytest.mark.parametrize("workers", ["1", "2"])
def test_a_fault_far_in_leaves_nothing_for_any_number_of_workers(cli, tmp_path, workers):
    source = tmp_path / "a.jsonl"
    source.write_text('{"text": "Hi [NAME 1]."}\n' * 5000 + '{"text": \n')
    mapping = tmp_path / "mapping.yaml"
    mapping.write_text(_GOOD)
    before = sorted(tmp_path.iterdir())
    words = ("--out", tmp_path / "out", "--workers", workers, "--placeholders", mapping, "--vault", tmp_path / "vault")
    outcome = cli("surrogate", "run", source, *words)
    assert outcome.code == 1
    assert outcome.err.splitlines()[-1].startswith("error: a.jsonl:5001: not valid JSON")
    assert sorted(tmp_path.iterdir()) == before


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (("--locale", "xx_YY"), ("--locale", "'xx_YY'", "nl_NL")),
        (("--locale", "nl"), ("--locale", "nl_NL")),
        (("--locale", "Dutch"), ("--locale", "nl_NL")),
        (("--locale", "nl-NL"), ("--locale", "nl_NL")),
        (("--leakage", "often"), ("--leakage", "'often'", "0.01")),
        (("--leakage", "0.01,1.5"), ("--leakage", "'1.5'")),
        (("--leakage", "nan"), ("--leakage", "'nan'")),
        (("--groups", "weights", "--weights", "women=2"), ("'women=2'", "female, male, Africa")),
        (("--groups", "weights", "--weights", "female=-1"), ("'female=-1'",)),
        (("--groups", "weights", "--weights", "female=inf"), ("'female=inf'",)),
        (("--groups", "weights", "--weights", "female=0,male=0"), ("all 0",)),
        (("--weights", "female=2"), ("--weights", "--groups weights")),
        (("--groups", "even"), ("--groups",)),
        (("--strategy", "random"), ("--strategy",)),
        (("--scope", "world"), ("--scope",)),
        (("--on-unknown", "guess"), ("--on-unknown",)),
        (("--keep", "2"), ("--keep",)),
        (("--seed", "x"), ("--seed",)),
        (("--max-unpacked", "0"), ("--max-unpacked",)),
        (("--delimiter", "ab"), ("--delimiter",)),
        (("--format", "docx"), ("docx", "jsonl")),
        (("--text-field", "a", "--text-field", "a"), ("--text-field", "twice")),
        (("--values", "dice"), ("--values",)),
        (("--values", "llm"), ("--provider openai",)),
        (("--values", "llm", "--provider", "openia", "--yes"), ("openai",)),
        (("--values", "llm", "--provider", "compatible", "--model", "m", "--yes"), ("--base-url",)),
        (("--provider", "openai"), ("--values llm",)),
    ],
)
def test_options_that_make_no_sense(refused, notes, words, says):
    refused(notes, *words, code=2, says=says)


@pytest.mark.parametrize("workers", ["0", "-1", "many", "1.5", "²", ""])
def test_a_number_of_workers_that_is_none(cli, notes, tmp_path, workers):
    outcome = cli("surrogate", "run", notes, "--out", tmp_path / "out", f"--workers={workers}")
    assert outcome.code == 2
    assert "--workers" in outcome.error_line()
    assert [path.name for path in tmp_path.iterdir()] == ["notes"]


@pytest.mark.parametrize("miss", ["often", "2", "0", ",", "0.1;0.2"])
def test_miss_rates_that_are_none(refused, notes, miss):
    refused(notes, "--miss", miss, command="leakage", code=2, says=("--miss", "0.01,0.05"))


@pytest.mark.parametrize("command", ["run", "leakage"])
@pytest.mark.parametrize("data", [None, b"", b"junk" * 100])
def test_names_of_a_broken_file(refused, notes, tmp_path, command, data):
    index = tmp_path / "names.idx"
    if data is not None:
        index.write_bytes(data)
    refused(notes, "--names", index, command=command, code=1, says=("names.idx",))


def test_a_language_without_words_is_a_warning(cli, notes, tmp_path):
    outcome = cli("surrogate", "run", notes, "--out", tmp_path / "out", "--locale", "pl_PL", "--workers", 1)
    assert outcome.code == 0
    assert "warning: no words are known in 'pl'" in outcome.err


@pytest.mark.parametrize(
    ("command", "target", "says"),
    [("survey", "no/mapping.yaml", "mapping.yaml"), ("leakage", "taken", "taken"), ("leakage", "taken/l", "taken")],
)
def test_results_that_cannot_be_written(refused, notes, tmp_path, command, target, says):
    (tmp_path / "taken").write_text("mine")
    refused(notes, "--out", tmp_path / target, command=command, code=1, says=(says,))
    assert (tmp_path / "taken").read_text() == "mine"


@pytest.mark.parametrize(
    "words", [["run"], ["run", "notes"], ["survey"], ["check", "out"], ["leakage"], ["frobnicate"], ["run", "a", "--frobnicate"]]
)
def test_lines_that_say_too_little_or_too_much(cli, words):
    outcome = cli("surrogate", *words)
    assert outcome.code == 2
    assert "piiloom surrogate" in outcome.error_line()
