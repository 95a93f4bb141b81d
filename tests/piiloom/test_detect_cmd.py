"""``piiloom detect``: what it writes and prints, and that other commands read it."""

from __future__ import annotations

import json

import pytest

import piiloom
from piiloom.corpus.formats.registry import FORMATS
from piiloom.detection.running.request import DetectionProgress
from tests.detection.own_entities import member, only_own, own, text_of, write_texts
from tests.longer import case_by_case, mostly_long, usually

__all__ = ["only_own", "own"]
pytestmark = pytest.mark.usefixtures("only_own")


@pytest.fixture
def texts(tmp_path):
    return write_texts(tmp_path / "in.jsonl", 12)


def detected(cli, source, own, *words):
    outcome = cli("detect", source, "--types", own, *words, "--json")
    assert outcome.code == 0, outcome.err
    assert outcome.err == ""
    return json.loads(outcome.out)


def rows(path):
    return [json.loads(line) for line in path.read_text(encoding="utf-8").split("\n") if line]


def test_the_summary_in_words_and_as_json(cli, texts, own, tmp_path):
    with texts.open("a") as fh:
        fh.write("{broken\n")
    told = detected(cli, texts, own, "--out", tmp_path / "found.jsonl")
    assert (told["documents"], told["spans"], told["rejected"], told["types"]) == (12, 24, 1, {"code": 12, "name": 12})
    assert told["subtypes"] == {"test_member": 12, "test_nick": 12}
    assert told["files"] == [str(tmp_path / "found.jsonl"), str(tmp_path / "found.detect-rejects.jsonl")]
    assert told["documents_per_second"] > 0
    outcome = cli("detect", texts, "--types", own, "--out", tmp_path / "found.jsonl", "--force")
    assert outcome.code == 0
    assert "12 documents, 24 spans in 12 of them, 12 with a valid check digit or the like" in outcome.out
    assert "not read: 1 of the rows or files, with their lines and reasons in found.detect-rejects.jsonl" in outcome.out
    assert "test_member" in outcome.out


def test_import_evaluate_and_compare_take_the_rows_without_complaint(cli, texts, own, tmp_path):
    found = tmp_path / "found.jsonl"
    detected(cli, texts, own, "--out", found)
    imported = json.loads(cli("import", found, "--input-format", "native", "--store", tmp_path / "s.duckdb", "--json").out)
    assert (imported["records"], imported["rejected"], imported["ignored_fields"]) == (12, [], {})
    few = tmp_path / "few.jsonl"
    detected(cli, texts, own, "--out", few, "--threshold", 0.8)
    exact = piiloom.evaluate(found, few, resamples=0).of("exact").overall
    assert (exact["tp"], exact["fn"]) == (12, 12)
    assert cli("compare", found, found, few, "--resamples", 2).code == 0


@pytest.mark.parametrize(
    "name", mostly_long(usually(FORMATS, {"native", "capid", "csv", "brat", "parquet", "huggingface"}), {"native", "capid", "csv"})
)
def test_a_folder_in_any_format_says_what_it_does_not_keep(cli, texts, own, tmp_path, name):
    if name == "spacy":
        pytest.importorskip("spacy")
    out = tmp_path / "out"
    told = detected(cli, texts, own, "--out", out, "--format", name)
    about = json.loads((out / "release.json").read_text())
    assert about["files"].keys() == {path.name for path in out.iterdir()} - {"release.json"}
    assert about["splits"]["detected"]["spans"] == 24
    if name == "native":
        assert "loss" not in told
        assert rows(out / "detected.jsonl")[0]["spans"][0]["score"] == 0.9
    else:
        assert told["loss"]["fields"][-3:] == ["score", "detector", "validated"]
    if hasattr(FORMATS[name], "read") and name not in {"capid", "alpaca", "capid-alpaca", "chat", "openai"}:  # which keep no ids
        assert [record.id for record in piiloom.load(out)] == [f"d{number}" for number in range(12)]


def test_a_folder_of_texts_masked(cli, own, tmp_path):
    (tmp_path / "notes").mkdir()
    for number in range(3):
        (tmp_path / "notes" / f"{number}.txt").write_text(text_of(number), encoding="utf-8")
    words = ("--locale", "pl_PL", "--out", tmp_path / "found.jsonl", "--mask", "char", "--mask-char", "X")
    detected(cli, tmp_path / "notes", own, *words)
    masked = rows(tmp_path / "found.masked.jsonl")
    assert [row["id"] for row in masked] == ["0.txt", "1.txt", "2.txt"]
    assert masked[1]["text"] == text_of(1).replace(member(1), "X" * 7).replace("nick_bż", "X" * 7)


def test_the_help_lists_the_formats(cli):
    words = " ".join(cli("detect", "--help").out.replace("│", " ").split())
    *others, last = FORMATS
    assert f"{', '.join(others)} or {last}" in words


def test_engines_and_workers_change_nothing(cli, texts, own, tmp_path):
    detected(cli, texts, own, "--out", tmp_path / "a.jsonl", "--engine", "hyperscan")
    detected(cli, texts, own, "--out", tmp_path / "b.jsonl", "--engine", "regex")
    assert (tmp_path / "a.jsonl").read_bytes() == (tmp_path / "b.jsonl").read_bytes()


@pytest.mark.parametrize(
    ("words", "code", "says"),
    [
        (("--detector", "magic"), 2, ("there is no detector 'magic'", "patterns")),
        (("--engine", "magic"), 2, ("--engine", "'magic' is not one of", "hyperscan")),
        (("--locale", "xx_XX"), 2, ("--locale: unknown locale 'xx_XX'", "pl_PL")),
        (("--format", "word"), 2, ("holds native rows, not word",)),
        (("--input-format", "word"), 2, ("unknown format 'word'", "jsonl")),
        (("--input-format", "doccano"), 2, ("unknown format 'doccano'. Its files are read with json. Known",)),
        (("--threshold", "1.5"), 2, ("threshold", "between 0 and 1")),
        (("--mask", "hide"), 2, ("--mask", "'hide' is not one of", "subtype")),
        (("--mask-char", "X"), 2, ("nothing is masked", "--mask char")),
        (("--mask", "type", "--mask-char", "X"), 2, ("--mask type uses no character",)),
        (("--workers", "many"), 2, ("'many' is not a number of workers",)),
        (("--workers", "0"), 2, ("'0' is not a number of workers",)),
        (("--provider", "openai"), 2, ("asks no model", "--detector hybrid")),
        (("--budget-usd", "3"), 2, ("--budget-usd", "asks no model")),
        (("--detector", "hybrid"), 2, ("--provider",)),
        (("--text-field", "body"), 1, ("in.jsonl:1", "there is no 'body' in the row", "'text'", "--text-field")),
        (("--types", "gone.yaml"), 2, ("gone.yaml",)),
        (("--resume", "--force"), 2, ("--resume goes on, and --force begins anew",)),
        (("--lines",), 2, ("--lines", "the format is jsonl")),
    ],
)
def test_options_that_make_no_sense(cli, texts, own, tmp_path, words, code, says):
    outcome = cli("detect", texts, "--types", own, "--out", tmp_path / "found.jsonl", *words)
    assert outcome.code == code, outcome
    line = outcome.error_line()
    assert all(part in line for part in says), line
    assert [path.name for path in tmp_path.iterdir()] == ["in.jsonl"]


def _place(tmp_path, kind):
    if kind == "read-only":
        return "/proc/found.jsonl"
    if kind == "a file":
        (tmp_path / "there").write_text("mine")
        return tmp_path / "there" / "found.jsonl"
    if kind == "there":
        (tmp_path / "found.jsonl").write_text("mine")
        return tmp_path / "found.jsonl"
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "mine.txt").write_text("mine")
    return tmp_path / "full"


@pytest.mark.parametrize("kind", ["read-only", "a file", "there", "full"])
def test_places_where_nothing_can_be_written(cli, texts, own, tmp_path, kind):
    out = _place(tmp_path, kind)
    before = sorted(tmp_path.rglob("*"))
    outcome = cli("detect", texts, "--types", own, "--out", out)
    assert outcome.code == 1
    assert str(out) in outcome.error_line()
    assert sorted(tmp_path.rglob("*")) == before


@pytest.mark.parametrize(
    ("name", "content", "code", "says"),
    [
        ("a.jsonl", None, 1, ("no such file or folder",)),
        ("a.jsonl", b"", 1, ("there are no documents in it",)),
        ("a.jsonl", b"{broken\n", 1, ("a.jsonl:1", "not valid JSON")),
        ("a.jsonl", b'{"text": "caf\xe9"}\n', 1, ("a.jsonl:1", "not UTF-8")),
        ("a.csv", b"a,b\n1,2\n", 1, ("a.csv", "no column 'text'", "--text-field")),
        ("a.csv", b'text\n"open\n', 1, ("a.csv:2", "not valid CSV")),
        ("a.parquet", b"PAR1PAR1", 1, ("not a Parquet file",)),
        ("a.bin", b"\x00", 2, ("cannot be told by the file's suffix", "--input-format")),
        ("a.txt", b"caf\xe9", 1, ("a.txt:1", "not UTF-8")),
    ],
)
def test_inputs_that_cannot_be_read(cli, own, tmp_path, name, content, code, says):
    (tmp_path / "in").mkdir()
    source = tmp_path / "in" / name
    if content is not None:
        source.write_bytes(content)
    outcome = cli("detect", source, "--types", own, "--locale", "pl_PL", "--out", tmp_path / "out" / "found.jsonl")
    assert outcome.code == code, outcome
    line = outcome.error_line()
    assert all(part in line for part in says), line
    assert "caf" not in line
    assert [path.name for path in tmp_path.iterdir()] == ["in"]


def test_from_python(texts, own, tmp_path, capfd):
    one = piiloom.detect(text_of(3), locale="pl-pl", types=[own])
    assert [(text_of(3)[span.start : span.end], span.subtype, span.validated) for span in one] == [
        (member(3), "test_member", True),
        ("nick_dż", "test_nick", None),
    ]
    assert piiloom.detect(["nothing", text_of(3)], locale="pl_PL", types=[own], threshold=0.8) == [[], one[:1]]
    assert piiloom.detect([], locale="pl_PL") == []
    seen: list[DetectionProgress] = []
    report = piiloom.detect_files(texts, tmp_path / "found.jsonl", types=[own], mask="type", watch=seen.append)
    assert report.figures["spans"] == 24
    assert seen[-1].documents == 12
    with pytest.raises(piiloom.PiiloomError, match="the file exists"):
        piiloom.detect_files(texts, tmp_path / "found.jsonl", types=[own])
    assert capfd.readouterr() == ("", "")


@case_by_case(
    ("options", "says"),
    [
        ({"locale": "xx_XX"}, "unknown locale"),
        ({"locale": "pl_PL", "detector": "magic"}, "no detector"),
        ({"locale": "pl_PL", "treshold": 1}, "treshold"),
        ({"locale": "pl_PL", "threshold": "high"}, "threshold"),
        ({"locale": "pl_PL", "concurrency": 0}, "concurrency: must be at least 1"),
        ({"locale": "pl_PL", "detector": "hybrid", "provider": "openai", "model": "gpt-5.2"}, "yes: sending texts .* yes=True"),
    ],
)
def test_what_detect_cannot_do_is_said(options, says):
    with pytest.raises(piiloom.PiiloomError, match=says):
        piiloom.detect("a", **options)
