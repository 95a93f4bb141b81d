"""What all comparisons share: contestants are found by their files, take turns, are set in relation, and are told in one way."""

from __future__ import annotations

import json
import sys
import tomllib
from pathlib import Path

import pytest

from benchmarks.peers.contestants import HERE, ROOT, Contestant, choose, contestants_of, installed
from benchmarks.peers.harness import Report, Trial, cell, driven, middle, some_of
from benchmarks.peers.holding import hold
from tests.longer import case_by_case

KINDS = sorted(folder.name for folder in HERE.iterdir() if folder.is_dir() and folder.name != "__pycache__")
# A contestant as somebody would add one; it runs in our environment.
FILE = '''"""Adds numbers."""
import json

TITLE = "the adder"
PACKAGE = "pytest"
REQUIREMENTS = ()


def measure(spec):
    block = bytearray(60_000_000)
    return {"sum": sum(spec["numbers"]), "block": len(block)}
'''


def contestant(folder: Path, text: str = FILE) -> Contestant:
    (folder / "my_adder.py").write_text(text, encoding="utf-8")
    [found] = contestants_of(str(folder))
    return found


ADAPTERS = ("presidio", "gliner", "aws")


@case_by_case("kind", KINDS)
def test_each_benchmark_has_ours_and_peers_that_are_no_dependencies(kind: str) -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    ours, *others = contestants_of(kind)
    assert (ours.name, ours.title, ours.requirements, ours.python(Path("p"))) == ("ours", "piiloom", (), Path(sys.executable))
    # A peer that piiloom can also run as a detector has an extra of its own, and is in no other.
    extras = {name: needed for name, needed in project["optional-dependencies"].items() if name not in ADAPTERS}
    needed = [*project["dependencies"], *(one for extra in extras.values() for one in extra)]
    peers = [one for one in others if one.requirements]
    assert peers
    for peer in peers:
        assert any(one.startswith(peer.package) and "==" in one for one in peer.requirements), "the peer's own version is pinned"
        assert not any(one.lower().startswith(peer.package) for one in needed)
        assert peer.python(Path("p")) == Path("p") / peer.package / "bin" / "python"


def test_a_contestant_is_one_file(tmp_path: Path) -> None:
    found = contestant(tmp_path)
    assert (found.name, found.title, found.version(tmp_path)) == ("my-adder", "the adder", pytest.__version__)
    figures = driven(found, tmp_path, {"numbers": [1, 2, 3]})
    assert (figures["sum"], figures["block"]) == (6, 60_000_000)
    assert 60 < figures["peak_mb"] < 120


def test_a_contestant_that_fails_is_told_with_its_last_words(tmp_path: Path) -> None:
    with pytest.raises(SystemExit, match=r"the adder ended with 1:[\s\S]*KeyError: 'numbers'"):
        driven(contestant(tmp_path), tmp_path, {})


def test_a_file_without_its_constants_is_told(tmp_path: Path) -> None:
    with pytest.raises(SystemExit, match=r"my_adder.py lacks PACKAGE, REQUIREMENTS"):
        contestant(tmp_path, 'TITLE = "x"\n')


def test_what_is_not_installed_is_an_error_with_its_remedy(tmp_path: Path) -> None:
    absent = contestant(tmp_path, FILE.replace("REQUIREMENTS = ()", 'REQUIREMENTS = ("adder==1",)').replace('"pytest"', '"adder"'))
    with pytest.raises(SystemExit) as caught:
        installed([absent], tmp_path, "sums")
    assert f"the adder is not installed: {tmp_path}/adder/bin/python has no adder" in str(caught.value)
    assert f"python -m benchmarks.sums --make-peers --peers {tmp_path} --only my-adder" in str(caught.value)
    there = contestant(tmp_path)
    assert installed([there], tmp_path, "sums") == {"my-adder": f"pytest {pytest.__version__}"}


def test_names_that_nobody_has_are_told(tmp_path: Path) -> None:
    with pytest.raises(SystemExit, match="unknown contestant nobody; there are my-adder"):
        choose([contestant(tmp_path)], "nobody")
    with pytest.raises(SystemExit, match="unknown trial sleep; there are a, b"):
        some_of(("a", "b"), "a,sleep", ("a",))
    assert some_of(("a", "b"), None, ("a",)) == ["a"]


def test_the_median_of_turns_has_its_range() -> None:
    merged = middle([{"s": 3.0, "n": 7}, {"s": 1.0, "n": 8}, {"s": 2.0, "n": 9}])
    assert merged == {"s": 2.0, "s_range": [1.0, 3.0], "n": 7}
    assert (cell("s")(merged), cell("s", ".0f", ranged=True)(merged), cell("n", "d", ranged=True)(merged)) == ("2.00", "2 (1–3)", "7")
    assert middle([{"s": 3.0}]) == {"s": 3.0}


def test_rows_take_turns_and_ratios_are_of_one_turn(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    played: list[str] = []

    def of(row: str, *seconds: float):
        def play(turn: int):
            played.append(row)
            return {"s": seconds[turn]}

        return play

    def refuses(turn: int):
        if turn == 1:
            raise ConnectionError("no route")
        return {"s": 1.0}

    # The machine grows slower turn by turn: the ratio does not.
    plays = {"ours": of("ours", 1.0, 10.0, 100.0), "peer": of("peer", 2.0, 20.0, 400.0), "shy": refuses}
    trial = Trial(name="t", title="The trial", plays=plays, repeats=3, ratios=("s",), forgiven=(ConnectionError,))
    report = Report(benchmark="b", versions={"ours": "1"}, settings={"n": 5})
    hold(report, [trial], titles={"peer": "A peer"}, out=tmp_path / "out.json")
    assert played == ["ours", "peer", "peer", "ours", "ours", "peer"]
    written = json.loads((tmp_path / "out.json").read_text(encoding="utf-8"))
    assert written["results"]["t"]["ours"] == {"s": 10.0, "s_range": [1.0, 100.0]}
    assert written["ratios"]["t"] == {"peer": {"s": [0.5, 0.25, 0.5]}}
    assert (written["benchmark"], written["versions"], written["settings"]) == ("b", {"ours": "1"}, {"n": 5})
    assert {"cpu", "cores", "system", "python", "load"} == written["machine"].keys()
    printed = capsys.readouterr().out
    assert "ours ÷ A peer: s 0.500 (0.250–0.500)" in printed
    assert "shy could not be driven" in printed
    assert "ConnectionError: no route" in printed


def test_an_error_that_nobody_forgives_ends_it(tmp_path: Path) -> None:
    def broken(_: int):
        raise ConnectionError("no route")

    with pytest.raises(ConnectionError):
        hold(Report(benchmark="b", versions={}, settings={}), [Trial(name="t", title="t", plays={"ours": broken})], titles={})
