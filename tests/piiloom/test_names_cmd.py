"""``piiloom names``: build, classify, top."""

from __future__ import annotations

import json

import pytest

from piiloom.pii_values.names import building
from piiloom.pii_values.names.index import FILE
from tests.pii_values.names.small_dataset import install
from tests.pii_values.names.test_index import package

__all__ = ["package"]


@pytest.fixture(autouse=True)
def _own_data_folder(tmp_path, monkeypatch):
    monkeypatch.delenv("PIILOOM_NAMES", raising=False)
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))


def test_build_puts_the_index_where_the_other_commands_find_it(cli, package, tmp_path):
    install(package)
    outcome = cli("names", "build")
    assert outcome.code == 0
    assert "9 first and 4 last names of 4 countries" in outcome.out
    assert "memory" in outcome.err
    assert (tmp_path / "data" / "piiloom" / FILE).exists()
    found = json.loads(cli("names", "top", "--country", "nl", "--gender", "female", "-n", 2, "--json").out)
    assert found == {"index": "names-dataset 0.0.1", "country": "NL", "names": {"F": ["Bo", "Ada"]}}


def test_build_elsewhere_and_for_some_countries(cli, package, tmp_path):
    install(package)
    outcome = cli("names", "build", "--out", tmp_path / "some.idx", "--country", "nl, fr", "--quiet", "--json")
    assert (outcome.code, outcome.err) == (0, "")
    report = json.loads(outcome.out)
    assert (report["file"], report["first_names"], report["last_names"]) == (str(tmp_path / "some.idx"), 6, 3)
    assert report["bytes"] == (tmp_path / "some.idx").stat().st_size


def test_build_refuses_what_cannot_be(cli, package, tmp_path, monkeypatch):
    install(package)
    assert cli("names", "build", "--country", "XX").code == 2
    assert cli("names", "build", "--country", ",").code == 2
    monkeypatch.setattr(building.importlib.util, "find_spec", lambda name: None)
    outcome = cli("names", "build")
    assert outcome.code == 2
    assert "not installed" in outcome.err


def test_classify_prints_a_table(cli):
    pytest.importorskip("nameparser")
    outcome = cli("names", "classify", "Adaeze Okafor", "Xqz Zzt")
    assert (outcome.code, outcome.err) == (0, "")
    lines = outcome.out.splitlines()
    assert lines[0].split() == ["name", "gender", "region", "countries", "known"]
    assert "female 100%" in lines[1]
    assert "Africa" in lines[1]
    assert lines[2].split() == ["Xqz", "Zzt", "unknown", "unknown", "unknown", "none"]


def test_classify_reads_a_file(cli, tmp_path):
    pytest.importorskip("nameparser")
    names = tmp_path / "names.txt"
    names.write_text("Kim Ji-woo\n\n Tevita Fonua \n", encoding="utf-8")
    found = json.loads(cli("names", "classify", "--file", names, "--json").out)
    assert [name["region"] for name in found["names"]] == ["Asia", "Oceania"]
    assert found["index"].startswith("built-in")


@pytest.mark.parametrize("content", [b"\xff\xfe\x00", b"", b"\n\n"])
def test_a_file_without_names_is_an_error(cli, tmp_path, content):
    pytest.importorskip("nameparser")
    names = tmp_path / "names.txt"
    names.write_bytes(content)
    assert cli("names", "classify", "--file", names).code == 1


def test_usage_errors(cli, tmp_path):
    assert cli("names", "classify").code == 2
    assert cli("names", "classify", "Ada", "--file", tmp_path / "x").code == 2
    assert cli("names", "classify", "--file", tmp_path / "missing").code == 1
    assert cli("names", "top", "--country", "XX").code == 2
    assert cli("names", "top", "--country", "NL", "--gender", "x").code == 2
    assert cli("names", "top", "--country", "NL", "--family", "--gender", "male").code == 2


def test_an_index_that_is_none_is_refused(cli, tmp_path):
    foreign = tmp_path / "x.idx"
    foreign.write_bytes(b"not an index")
    outcome = cli("names", "top", "--country", "NL", "--names-index", foreign)
    assert outcome.code == 1
    assert "not a names index" in outcome.err
    assert len(outcome.err.splitlines()) == 1


def test_top_prints_columns(cli):
    lines = cli("names", "top", "--country", "NL", "-n", 3).out.splitlines()
    assert lines[0].split() == ["rank", "female", "male"]
    assert len(lines) == 4
    assert cli("names", "top", "--country", "KR", "--family", "-n", 2).out.splitlines()[0].split() == ["rank", "family"]
