"""The index: built, opened, asked, and refused where the file is not what it should be."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from contextlib import contextmanager
from itertools import product
from pathlib import Path

import pytest

from piiloom.foundation.errors import DataError, OutputError, UsageError
from piiloom.pii_values.names import building
from piiloom.pii_values.names.building import build_index
from piiloom.pii_values.names.index import FILE, HEAD, MAGIC, NamesIndex, builtin, open_names, user_file
from tests.pii_values.names.small_dataset import FIRST, LAST, expected_top, install


@contextmanager
def _importable(folder):
    """A *folder* that packages are imported from, and names-dataset from nowhere else."""
    folder.mkdir()
    with pytest.MonkeyPatch.context() as patch:
        for name in ("names_dataset", "pycountry"):
            patch.delitem(sys.modules, name, raising=False)
        patch.syspath_prepend(str(folder))
        patch.setattr(building, "_CODES", "FR NL SE TR")
        yield folder
        for name in ("names_dataset", "pycountry"):
            sys.modules.pop(name, None)


@pytest.fixture
def package(tmp_path):
    """A small names-dataset to build from."""
    with _importable(tmp_path / "site") as folder:
        yield folder


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    """The index of the small names-dataset; nobody may change it."""
    folder = tmp_path_factory.mktemp("built")
    with _importable(folder / "site") as site:
        install(site)
        build_index(folder / FILE)
    return folder / FILE


@pytest.fixture
def file(built, tmp_path):
    """A copy of it to do with what one likes."""
    path = tmp_path / "out" / FILE
    path.parent.mkdir()
    return Path(shutil.copy(built, path))


@pytest.fixture(scope="module")
def index(built) -> NamesIndex:
    return open_names(built)


def _ordered(found) -> str:
    return json.dumps(found, ensure_ascii=False)


@pytest.mark.parametrize(("n", "country", "gender"), list(product((1, 2, 10), (None, "NL", "FR", "SE", "TR", "XX"), (None, "M", "F"))))
def test_top_names_are_those_of_names_dataset_and_in_its_order(index, n, country, gender):
    assert _ordered(index.top_names(n, True, country, gender)) == _ordered(expected_top(FIRST, n, country, gender, first=True))
    if gender is None:
        assert _ordered(index.top_names(n, False, country)) == _ordered(expected_top(LAST, n, country, None, first=False))


def test_a_search_tells_countries_genders_and_ranks(index):
    assert _ordered(index.search(" zoë ")["first_name"]) == _ordered(
        {"country": {"Land FR": 0.5, "Land NL": 0.5}, "gender": {"Female": 1.0}, "rank": {"Land FR": 1, "Land NL": 2}}
    )
    assert index.search("cem")["first_name"]["rank"] == {"Land TR": 1, "Land NL": None}
    assert index.search("de boer") == {
        "first_name": None,
        "last_name": {"country": {"Land FR": 0.033, "Land NL": 0.967}, "gender": {}, "rank": {"Land NL": 1, "Land FR": None}},
    }
    assert index.search("王")["first_name"]["gender"] == {"Female": 0.2, "Male": 0.8}
    # "İ" in title case is another string than in the table: not found there either.
    assert index.search("Emi̇r") == index.search("") == index.search("Nobody") == {"first_name": None, "last_name": None}


def test_every_name_is_found_and_no_other(index):
    for at in range(len(index.first)):
        assert index.first.find(index.first.name(at)) == at
    assert [index.first.name(at) for at in range(len(index.first))] == sorted(FIRST)
    assert index.first.find("Zz") is None
    assert index.first.find("A") is None


def test_names_by_rank(index):
    assert list(index.first_names("NL", "female")) == ["Bo", "Ada", "Anne Fleur", "Zoë"]
    assert index.first_names("NL", "F")[1:3] == ["Ada", "Anne Fleur"]
    assert list(index.first_names("TR", "m")) == ["Cem", "Emi̇r"]
    assert list(index.last_names("NL")) == ["De Boer", "Vos"]
    assert list(index.last_names("XX")) == list(index.first_names("XX", "male")) == []
    assert index.countries() == ("FR", "NL", "SE", "TR")
    assert index.source == "names-dataset 0.0.1"


@pytest.mark.parametrize(
    "asked", [{"n": 0}, {"n": -3}, {"gender": "x"}, {"use_first_names": False, "gender": "M"}, {"use_first_names": False, "gender": ""}]
)
def test_what_names_dataset_refuses_is_refused(index, asked):
    with pytest.raises(UsageError):
        index.top_names(**asked)


@pytest.mark.long
def test_only_some_countries(package, tmp_path):
    install(package)
    build_index(tmp_path / "some.idx", countries=["nl", "SE"])
    index = open_names(tmp_path / "some.idx")
    assert index.countries() == ("NL", "SE")
    assert list(index.first_names("NL", "F")) == ["Bo", "Ada", "Anne Fleur", "Zoë"]
    assert index.search("Cem")["first_name"]["country"] == {"Land NL": 0.02}
    assert index.search("Roux")["last_name"] is None
    with pytest.raises(UsageError, match="no names of XX"):
        build_index(tmp_path / "x.idx", countries=["XX"])


@pytest.mark.long
def test_progress_is_told(package, tmp_path):
    install(package)
    told = []
    build_index(tmp_path / "x.idx", watch=lambda *what: told.append(what))
    assert [step for step, _, _ in told] == sorted([step for step, _, _ in told], key=("first", "last", "writing").index)
    assert {doing for _, doing, _ in told} == {"reading", "packing", "writing"}
    assert all(0 <= share <= 1 for *_, share in told)


def test_data_of_another_kind_are_refused_and_nothing_is_left(package, tmp_path):
    other = {**FIRST, "Eve": {"country": {"XX": 1.0}, "gender": {}, "rank": {}}}
    install(package, first=other)
    with pytest.raises(DataError, match="a country that it should not have"):
        build_index(tmp_path / "x.idx")
    assert list(tmp_path.glob("*.idx*")) == []


def test_without_the_package_the_remedy_is_told(package, tmp_path, monkeypatch):
    monkeypatch.setattr(building.importlib.util, "find_spec", lambda name: None)
    with pytest.raises(UsageError, match="not installed"):
        build_index(tmp_path / "x.idx")


@pytest.mark.long
def test_a_place_that_cannot_be_written_is_named(package, tmp_path):
    install(package)
    (tmp_path / "a_file").write_text("")
    with pytest.raises(OutputError, match="cannot be written"):
        build_index(tmp_path / "a_file" / "x.idx")


@pytest.mark.long
def test_equal_data_give_equal_bytes(package, tmp_path):
    install(package)
    build_index(tmp_path / "a.idx")
    build_index(tmp_path / "b.idx")
    assert (tmp_path / "a.idx").read_bytes() == (tmp_path / "b.idx").read_bytes()


def _changed(data: bytes, at: int) -> bytes:
    return data[:at] + bytes([data[at] ^ 1]) + data[at + 1 :]


def test_damaged_foreign_and_newer_files_are_refused(file):
    whole = file.read_bytes()
    header = HEAD.unpack(whole[: HEAD.size])
    cases = {
        "cut short": [whole[:-1], whole[: HEAD.size], whole + b"x"],
        "damaged": [_changed(whole, len(whole) - 9), _changed(whole, HEAD.size + 3), _changed(whole, HEAD.size + header[2] + 1)],
        "not a names index": [b"", b"PK\x03\x04 something", whole[:20], b"x" + whole[1:]],
        "newer": [HEAD.pack(MAGIC, 2, *header[2:]) + whole[HEAD.size :]],
        "this piiloom reads": [HEAD.pack(MAGIC, 0, *header[2:]) + whole[HEAD.size :]],
    }
    for said, contents in cases.items():
        for content in contents:
            file.write_bytes(content)
            with pytest.raises(DataError, match=said) as caught:
                open_names(file)
            assert caught.value.remedy
    file.unlink()
    with pytest.raises(DataError, match="cannot be read"):
        open_names(file)
    with pytest.raises(DataError, match="cannot be read"):
        open_names(file.parent)


def test_which_index_is_opened(file, tmp_path, monkeypatch):
    monkeypatch.delenv("PIILOOM_NAMES", raising=False)
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    assert open_names().where == "built-in"
    user_file().parent.mkdir(parents=True)
    user_file().write_bytes(file.read_bytes())
    assert open_names().where == str(tmp_path / "data" / "piiloom" / FILE)
    named = tmp_path / "named.idx"
    named.write_bytes(file.read_bytes())
    monkeypatch.setenv("PIILOOM_NAMES", str(named))
    assert open_names().where == str(named)
    assert open_names(file).where == str(file)
    named.unlink()
    with pytest.raises(DataError):
        open_names()


def test_the_recorded_answers_hold_for_the_index_of_this_machine():
    path = os.environ.get("PIILOOM_NAMES") or user_file()
    if not Path(path).exists() or not open_names().source.startswith("names-dataset 3.3.1"):
        pytest.skip("no large index on this machine (piiloom names build)")
    recorded = json.loads((Path(__file__).parent / "recorded_answers.json").read_text("utf-8"))
    index = open_names()
    for case in recorded["top"]:
        assert _ordered(index.top_names(**case["asked"])) == _ordered(case["answer"])
    for name, answer in recorded["search"].items():
        assert _ordered(index.search(name)) == _ordered(answer)


def test_the_built_in_index_finds_names_whatever_their_accents_and_capitals():
    index = builtin()
    assert index.search("NGUYEN")["last_name"]["country"]
    assert index.search("nguyễn")["last_name"]["country"]["Viet Nam"] > 0.5
    assert {index.first.name(at) for at in index.first.like("jose")} >= {"Jose", "José"}
    assert index.search("Иванов") == {"first_name": None, "last_name": None}
    assert "Иванов" in index.last_names("RU", "male", script="native")
    assert len(index.first_names("VN", "female")) >= 100


def test_opening_takes_little_memory():
    code = (
        "from piiloom.pii_values.names.index import builtin\n"
        "builtin().top_names(10, True, 'NL')\n"
        "peak = next(line for line in open('/proc/self/status') if line.startswith('VmHWM'))\n"
        "print(int(peak.split()[1]) / 1024)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    megabytes = float(done.stdout)  # not ru_maxrss, which counts what the parent had as it forked
    assert megabytes < 60
