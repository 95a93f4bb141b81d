"""``piiloom surrogate run``: every format of input, and what is printed."""

from __future__ import annotations

import json
import os
import pty
import re
import subprocess
import sys
import zipfile

import pytest

from piiloom.cli.surrogate_checks import worker_count
from piiloom.foundation.words import counted
from tests.piiloom.surrogate_runs import FIRST, PARTS, SECOND, TAG, _own_names, fill, lines, notes, put_in, records

__all__ = ["_own_names", "fill", "notes"]


def write_zip(path, notes):
    with zipfile.ZipFile(path, "w") as archive:
        for file in sorted(notes.rglob("*.txt")):
            archive.write(file, file.relative_to(notes))


FORMATS = {
    "txt": ("a.txt", lambda path, _: path.write_text(FIRST), (), 1),
    "jsonl": ("a.jsonl", lambda path, _: lines(path, [FIRST, SECOND]), (), 2),
    "json": ("a.json", lambda path, _: path.write_text(json.dumps([{"note": {"text": FIRST}}])), ("--text-field", "note.text"), 1),
    "csv": ("a.csv", lambda path, _: path.write_text(f'id,message\n1,"{FIRST}"\n2,{SECOND}'), ("--text-field", "message"), 2),
    "headless tsv": ("a.tsv", lambda path, _: path.write_text(f"x\t{FIRST}y\t{SECOND}"), ("--no-header", "--text-field", "2"), 2),
    "semicolons": ("a.csv", lambda path, _: path.write_text(f"n;text\n1;{SECOND}"), ("--delimiter", ";"), 1),
    "zip": ("a.zip", write_zip, (), 2),
    "xml": ("a.xml", lambda path, _: path.write_text("<r><p>Hi [NAME], call [PHONE].</p><!-- [NAME] --></r>\n"), (), 1),
    "latin": ("a.dat", lambda path, _: path.write_bytes(f"Señor {FIRST}".encode("cp1252")), ("--format", "txt", "--encoding", "cp1252"), 1),
}


@pytest.mark.parametrize("name", FORMATS)
def test_every_format_is_filled_mirrored_and_proved(cli, fill, tmp_path, notes, name):
    file, write, words, documents = FORMATS[name]
    source = tmp_path / file
    write(source, notes)
    report = fill(source, *words)
    out = tmp_path / "out"
    assert {path.name for path in out.iterdir()} == {"mirror", *PARTS}
    assert report["documents"] == len(records(out)) == documents
    assert report["out"] == str(out)
    assert report["replaced"]["total"] == len(put_in(out)) > 0
    assert not TAG.search("".join(record["context"] for record in records(out)))
    assert [path.name for path in (out / "mirror").iterdir()] == [file]
    outcome = cli("surrogate", "check", out, source)
    assert (outcome.code, outcome.err) == (0, "")
    assert outcome.out.startswith(f"{counted(documents, 'document')}, {counted(report['replaced']['total'], 'replaced range')}; ")


def test_a_folder_is_read_with_all_below_it(fill, notes, tmp_path):
    report = fill(notes)
    assert [row["file"] for row in report["files"]] == ["a.txt", "deep/b.txt"]
    filled = (tmp_path / "out" / "mirror" / "deep" / "b.txt").read_text()
    assert re.fullmatch(r"\S.* met \S.* in \S.* at \S.*\. She asked \S.*\.\n", filled)
    assert report["unknown"]["tags"] == {"<ZORBLAX>": 1}
    assert report["left_alone"]["brackets"] == {"[sic]": 1}


@pytest.mark.parametrize(
    ("words", "warnings"),
    [
        ((), []),
        (("--groups", "balanced", "--values", "local"), []),
        (("--groups", "exact"), ["warning: --groups exact is an old spelling: write --groups balanced"]),
        (("--values", "code"), ["warning: --values code is an old spelling: write --values local"]),
    ],
)
@pytest.mark.parametrize("command", ["run", "fill"])
def test_old_and_new_spellings_write_the_same_bytes(cli, fill, tmp_path, words, warnings, command):
    source = lines(tmp_path / "a.jsonl", ["[NAME 1] left [COMPANY]."] * 5)
    expected = fill(source, "--seed", 3, out="expected")
    outcome = cli("surrogate", command, source, "--out", tmp_path / "out", "--workers", 1, "--json", "--seed", 3, *words)
    assert (outcome.code, outcome.err.splitlines()[:-1]) == (0, warnings)
    assert outcome.err.splitlines()[-1].startswith("warning: --seed makes surrogates reproducible for everybody")
    assert {**json.loads(outcome.out), "out": expected["out"]} == expected
    for part in PARTS:
        assert (tmp_path / "out" / part).read_bytes() == (tmp_path / "expected" / part).read_bytes()


def test_parquet(cli, fill, tmp_path):
    arrow = pytest.importorskip("pyarrow")
    from pyarrow import parquet

    source = tmp_path / "a.parquet"
    parquet.write_table(arrow.table({"n": [1, 2], "text": [FIRST, SECOND]}), source)
    assert fill(source)["documents"] == 2
    assert cli("surrogate", "check", tmp_path / "out", source).code == 0


def test_what_run_prints_for_people(cli, notes, tmp_path):
    outcome = cli("surrogate", "run", notes, "--out", tmp_path / "out", "--workers", 1, "--leakage", "0.05")
    assert outcome.code == 0
    assert "person 5" in outcome.out
    assert "<ZORBLAX> 1" in outcome.out
    assert "[sic] 1" in outcome.out
    assert "at 5.0% misses a document leaks recognisably: consistent " in outcome.out
    assert outcome.err == "warning: places that look like placeholders of an unknown meaning: 1\n"


SPANNED = "Anna Ek left Acme Corp. Anna Ek wept."
SPANS = [
    {"start": 0, "end": 7, "type": "name", "value_id": "p"},
    {"start": 13, "end": 22, "type": "organization", "subtype": "company", "value_id": "a"},
    {"start": 24, "end": 31, "type": "name", "value_id": "p"},
]


@pytest.mark.parametrize("words", [("--spans",), ("--spans-field", "marks")])
def test_spans_are_replaced_instead_of_placeholders(cli, fill, tmp_path, words):
    field = "marks" if "marks" in words else "spans"
    source = lines(tmp_path / "gold.jsonl", [SPANNED], **{field: SPANS})
    report = fill(source, *words)
    (record,) = records(tmp_path / "out")
    first, company, second = (span["text"] for span in record["spans"])
    assert first == second
    assert record["context"] == f"{first} left {company}. {second} wept."
    assert not re.search("Anna|Acme", record["context"])
    assert report["about"]["placeholders"] == "spans"
    assert cli("surrogate", "check", tmp_path / "out", source).code == 0


def test_unknown_tags_are_kept_or_get_a_neutral_value_or_stop_the_run(cli, fill, notes, tmp_path):
    kept = fill(notes, "--on-unknown", "keep", out="kept")
    assert "<ZORBLAX>" in (tmp_path / "kept" / "mirror" / "a.txt").read_text()
    generic = fill(notes, "--on-unknown", "generic", out="generic")
    assert generic["replaced"]["total"] == kept["replaced"]["total"] + 1
    assert "<ZORBLAX>" not in (tmp_path / "generic" / "mirror" / "a.txt").read_text()
    assert generic["unknown"]["tags"] == kept["unknown"]["tags"] == {"<ZORBLAX>": 1}
    outcome = cli("surrogate", "run", notes, "--out", tmp_path / "none", "--on-unknown", "error", "--workers", 1)
    assert outcome.code == 1
    assert re.match(r"a\.txt: characters \d+ to \d+ look like a placeholder", outcome.error_line())
    assert "ZORBLAX" not in outcome.err
    assert not (tmp_path / "none").exists()


def test_an_unknown_tag_that_stops_the_run_is_named_by_file_and_line(cli, tmp_path):
    source = tmp_path / "rows.jsonl"
    rows = ("We saw [NAME] there.", "Суд установил, что <данные изъяты> и\nОСОБА_1 были там.")
    source.write_text("".join(json.dumps({"id": f"row{n}", "text": text}) + "\n" for n, text in enumerate(rows)), "utf-8")
    outcome = cli("surrogate", "run", source, "--out", tmp_path / "out", "--on-unknown", "error", "--workers", 1)
    assert outcome.code == 1
    assert outcome.error_line().startswith("rows.jsonl:2: characters 19 to 34 look like a placeholder")
    assert "1 more in this text: characters 37 to 44" in outcome.error_line()


def test_without_the_scan_nothing_is_said_of_leftovers(fill, tmp_path):
    source = lines(tmp_path / "a.jsonl", ["[NAME] called Jessica, jo@firm.com."])
    found = fill(source, out="scanned")["engine"]["looks_like_personal_information_still"]
    assert sum(found.values()) >= 1
    assert "looks_like_personal_information_still" not in fill(source, "--no-scan", out="not")["engine"]


@pytest.mark.long
def test_a_bar_on_a_terminal_does_not_disturb_the_json(notes, tmp_path):
    """Standard error is a terminal here, standard output a pipe."""
    ours, theirs = pty.openpty()
    code = "import sys\nfrom piiloom.cli.main import run\nsys.exit(run(sys.argv[1:]))"
    words = ["surrogate", "run", str(notes), "--out", str(tmp_path / "out"), "--workers", "1", "--json"]
    env = os.environ | {"TERM": "xterm-256color", "COLUMNS": "100"}
    with subprocess.Popen([sys.executable, "-c", code, *words], stdout=subprocess.PIPE, stderr=theirs, env=env) as process:
        os.close(theirs)
        out, _ = process.communicate(timeout=60)
    drawn = b""
    while chunk := _read(ours):
        drawn += chunk
    os.close(ours)
    assert process.returncode == 0
    assert json.loads(out)["documents"] == 2
    assert b"\x1b[" in drawn


def _read(terminal):
    try:
        return os.read(terminal, 65536)
    except OSError:  # Linux says so when the other end is closed
        return b""


def test_auto_takes_one_worker_for_a_small_input(tmp_path):
    (tmp_path / "small.jsonl").write_text("{}\n")
    assert worker_count("auto", tmp_path) == 1
    with (tmp_path / "large.jsonl").open("wb") as large:
        large.truncate(40 * 2**20)
    assert worker_count("auto", tmp_path) == min(5, len(os.sched_getaffinity(0)))
