"""The options of ``piiloom surrogate run`` that say who is cast, and for how long."""

from __future__ import annotations

from datetime import date

import pytest

from piiloom.pii_values.names.index import builtin
from piiloom.pii_values.names.pools import GENDERS, NamePools
from piiloom.pii_values.names.regions import REGIONS
from tests.pii_values.names.small_dataset import install
from tests.pii_values.names.test_index import package
from tests.piiloom.surrogate_runs import _own_names, fill, lines, notes, put_in

__all__ = ["_own_names", "fill", "notes", "package"]

OFTEN = ["<STUDENT1> " * 40 + "<STUDENT2>."]


@pytest.mark.parametrize(("strategy", "least", "most"), [("consistent", 2, 2), ("per-mention", 20, 41), ("markov", 8, 36)])
def test_strategies_differ_in_how_many_names_a_person_has(fill, tmp_path, strategy, least, most):
    report = fill(lines(tmp_path / "a.jsonl", OFTEN), "--strategy", strategy)
    assert report["about"]["strategy"] == report["engine"]["strategy"] == strategy
    assert least <= len(set(put_in(tmp_path / "out"))) <= most


def test_markov_keeps_as_often_as_it_is_told(fill, tmp_path):
    source = lines(tmp_path / "a.jsonl", OFTEN)
    for keep, out in (("1", "always"), ("0", "never")):
        assert fill(source, "--strategy", "markov", "--keep-probability", keep, out=out)["about"]["keep"] == float(keep)
    assert len(set(put_in(tmp_path / "always"))) == 2 < len(set(put_in(tmp_path / "never")))


@pytest.mark.parametrize("scope", ["document", "corpus"])
def test_scope_says_whether_documents_share_their_people(fill, tmp_path, scope):
    fill(lines(tmp_path / "a.jsonl", ["[NAME 1] left."] * 12), "--scope", scope)
    assert (len(set(put_in(tmp_path / "out"))) == 1) == (scope == "corpus")


def test_groups_are_balanced_or_weighted(fill, tmp_path):
    source = lines(tmp_path / "a.jsonl", ["[NAME 1] left."] * 40)
    balanced = fill(source, "--groups", "balanced", out="balanced")["engine"]["people"]["groups"]
    assert set(balanced.values()) == {4}
    report = fill(source, "--groups", "weights", "--weights", "female=3,Africa=0,asia=2", out="weighted")
    groups = report["engine"]["people"]["groups"]
    assert {name: groups[f"female {name}"] for name in ("Africa", "Asia", "Europe")} == {"Africa": 0, "Asia": 12, "Europe": 6}
    assert sum(count for name, count in groups.items() if name.startswith("female")) == 30
    assert report["about"]["weights"] == {"genders": [3.0, 1.0], "regions": [0.0, 1.0, 2.0, 1.0, 1.0]}


def test_groups_by_cue_take_names_of_the_texts_own_country(fill, tmp_path):
    source = lines(tmp_path / "a.jsonl", ["[NAME 1] kwam."] * 30)
    pools = NamePools(builtin())
    dutch = {*pools.family("NL", "female"), *pools.family("NL", "male")}
    shares = {}
    for groups in ("cue", "balanced"):
        fill(source, "--groups", groups, "--locale", "nl_NL", out=groups)
        names = put_in(tmp_path / groups)
        shares[groups] = sum(name.split(" ", 1)[1] in dutch for name in names) / len(names)
    assert shares["cue"] == 1
    assert shares["balanced"] < 0.5


@pytest.mark.long
def test_english_only_leaves_names_that_are_known_in_english_speaking_countries(fill, tmp_path):
    report = fill(lines(tmp_path / "a.jsonl", ["[NAME 1] left."] * 60), "--english-only")
    pools = NamePools(builtin(), english_only=True)
    known = {name for region in REGIONS for country in pools.countries(region) for sex in GENDERS for name in pools.given(country, sex)}
    assert report["about"]["english_only"] is True
    names = put_in(tmp_path / "out")
    assert all(name.isascii() for name in names)
    assert {name.split()[0] for name in names} <= known
    fill(tmp_path / "a.jsonl", out="any")
    assert not {name.split()[0] for name in put_in(tmp_path / "any")} <= known


def test_known_dates_keep_their_weekday_when_asked(fill, tmp_path):
    texts = [f"Seen on 2021-03-{day:02}." for day in range(1, 25)]
    spans = [{"start": 8, "end": 18, "type": "datetime", "subtype": "date"}]
    source = lines(tmp_path / "a.jsonl", texts, spans=spans)

    def moved(*words, out):
        fill(source, "--spans", *words, out=out)
        return [(date.fromisoformat(text) - date(2021, 3, day)).days for day, text in enumerate(put_in(tmp_path / out), 1)]

    assert {days % 7 for days in moved("--keep-weekdays", out="kept")} == {0}
    assert len({days % 7 for days in moved(out="free")}) > 1


@pytest.mark.long
def test_names_come_from_the_index_that_is_named(fill, cli, package, tmp_path, notes):
    install(package)
    index = tmp_path / "own.idx"
    assert cli("names", "build", "--out", index, "--quiet").code == 0
    assert fill(notes, out="shipped")["engine"]["names"].startswith("built-in")
    assert fill(notes, "--names-index", index)["engine"]["names"] == "names-dataset 0.0.1"
