"""What the tests of ``piiloom surrogate`` have in common: a small input, runs over it, and what they leave."""

from __future__ import annotations

import json
import re

import pytest

FIRST = "Dear [NAME 1], on [DATE] <STUDENT> wrote to [EMAIL]. [NAME 1] said a<b [sic] <ZORBLAX>.\n"
SECOND = "<TUTOR> met <STUDENT> in [CITY] at [COMPANY]. She asked [PHONE].\n"
TAG = re.compile(r"[<\[](?:NAME \d|DATE|STUDENT|EMAIL|TUTOR|CITY|COMPANY|PHONE)[>\]]")
PARTS = ("records.jsonl", "map.jsonl", "report.json", "report.html")
MAPPING = "version: 1\nrules:\n- tag: <STUDENT>\n  kind: person\n"


@pytest.fixture(autouse=True)
def _own_names(monkeypatch, tmp_path):
    """The index of names that ships, whatever this machine's user has built."""
    monkeypatch.delenv("PIILOOM_NAMES", raising=False)
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "no-data"))


@pytest.fixture
def notes(tmp_path):
    folder = tmp_path / "notes"
    (folder / "deep").mkdir(parents=True)
    (folder / "a.txt").write_text(FIRST)
    (folder / "deep" / "b.txt").write_text(SECOND)
    return folder


@pytest.fixture
def fill(cli, tmp_path):
    """Run over an input into ``out`` with one worker; gives the report that ``--json`` prints."""

    def call(source, *words, out="out"):
        outcome = cli("surrogate", "run", source, "--out", tmp_path / out, "--workers", 1, "--json", *words)
        assert outcome.code == 0, outcome.err
        assert "Traceback" not in outcome.err
        return json.loads(outcome.out)

    return call


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


def records(folder):
    return [json.loads(line) for line in (folder / "records.jsonl").read_text("utf-8").splitlines()]


def put_in(folder, kind=""):
    """Texts of the spans, of one entity type or all."""
    return [span["text"] for record in records(folder) for span in record["spans"] if kind in {"", span["type"], span.get("subtype")}]


def lines(path, texts, **more):
    path.write_text("".join(json.dumps({"id": f"r{n}", "text": text, **more}) + "\n" for n, text in enumerate(texts)))
    return path
