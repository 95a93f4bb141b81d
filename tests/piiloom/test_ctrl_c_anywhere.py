"""Ctrl-C many times for each command, spread over its time: one line, nothing half written, and it works afterwards."""

from __future__ import annotations

import json
import random
import re
import shutil
import socket
from pathlib import Path

import pytest

from piiloom.cli.main import run
from piiloom.corpus.store.database import Store
from piiloom.corpus.store.runs import list_runs
from tests.evaluation.probe_corpora import capid_row, native_row, write_rows
from tests.longer import EXPLORE, usually
from tests.one_at_a_time import made_once
from tests.piiloom.paid_store import make_paid_store
from tests.piiloom.small_runs import SMALL
from tests.piiloom.struck import Warm, struck
from tests.piiloom.surrogate_runs import FIRST, SECOND, lines

pytestmark = pytest.mark.long
BLOWS = 20 if EXPLORE else 4
IMPORTS_S = 1.5  # about; a blow that comes late for it makes the next ones come earlier
# What is struck without PIILOOM_EXPLORE: what writes to a store or has processes, and one that only reads.
USUAL = {
    *("generate", "stages run", "import", "release", "export"),
    *("surrogate run", "detect by workers", "journal vacuum", "cost"),
}
# Words in capitals stand for paths, made anew for each blow where the command writes there.
COMMANDS = {
    "generate": "generate --samples 20 --seed 7 --quiet --store NEW",
    "generate more": "generate --resume last --samples 90 --json --store STORE",
    "stages run": "stages run topics subtopics values situation --recipe staged --samples 10 --store NEW",
    "stages list": "stages list --store STORE",
    "import": "import ROWS --input-format native --store NEW --json",
    "release": "release --name v2 --store STORE",
    "export": "export --release v1 --format native --out OUT --store STORE",
    "report": "report --run last --out OUT --store STORE",
    "probe": "probe TRAIN PEOPLE --json",
    "evaluate": "evaluate ROWS ROWS --scheme exact,capid --out OUT --json",
    "compare": "compare ROWS ROWS --json",
    "reidentify": "reidentify ROWS --out OUT",
    "utility": "utility v1 --out OUT --json --store STORE",
    "surrogate run": "surrogate run NOTES --out OUT --workers 1 --json",
    "surrogate run by workers": "surrogate run NOTES --out OUT --workers 2",
    "surrogate survey": "surrogate survey NOTES --out OUT",
    "surrogate leakage": "surrogate leakage NOTES",
    "surrogate check": "surrogate check FILLED NOTES",
    "detect": "detect NOTES --locale en_US --out OUT --format csv --mask type --json --resume",
    "detect by workers": "detect NOTES --locale en_US --out OUT --workers 2 --resume",
    "benchmark make": "benchmark make --locale pl_PL --domain IT --length tiny --documents 40 --out OUT --json",
    "names top": "names top --country NL --gender female -n 20",
    "journal show": "journal show --store PAID",
    "journal export": "journal export --out OUT --store PAID",
    "journal vacuum": "journal vacuum --store PAID",
    "cost": "cost --json --store PAID",
    "trace": "trace last:0 --store PAID",
    "rejects": "rejects --store PAID",
    "doctor": "doctor --store STORE",
}


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """What the commands read, by the words of ``COMMANDS``: made once for all processes of the tests, never written to."""
    folder = made_once(tmp_path_factory, "for-ctrl-c", _make)
    return {
        "STORE": folder / "store.duckdb",
        "PAID": folder / "paid.duckdb",
        "ROWS": folder / "rows" / "train.jsonl",
        "TRAIN": folder / "t.jsonl",
        "PEOPLE": folder / "p.jsonl",
        "NOTES": folder / "notes.jsonl",
        "FILLED": folder / "filled",
    }


def _make(folder):
    make_paid_store(folder / "paid.duckdb")
    store = ("--store", str(folder / "store.duckdb"))
    assert run(["generate", "--samples", "60", *SMALL, "--quiet", *store]) == 0
    assert run(["release", "--name", "v1", "--test-size", "0", *store]) == 0
    assert run(["export", "--release", "v1", "--format", "native", "--out", str(folder / "rows"), *store]) == 0
    write_rows(folder / "t.jsonl", [native_row(seed) for seed in range(30)])
    write_rows(folder / "p.jsonl", [capid_row(seed) for seed in range(100, 115)])
    notes = str(lines(folder / "notes.jsonl", [FIRST, SECOND] * 200))
    assert run(["surrogate", "run", notes, "--out", str(folder / "filled"), "--workers", "1", "--json"]) == 0


class Scene:
    """A fresh copy of everything that a command may write to."""

    def __init__(self, folder: Path, made: dict[str, Path], command: str) -> None:
        self.folder, self._made, self._command = folder, made, command

    def words(self) -> list[str]:
        shutil.rmtree(self.folder, ignore_errors=True)
        self.folder.mkdir()
        paths = {**self._made, "NEW": self.folder / "new.duckdb", "OUT": self.folder / "out"}
        for name in ("STORE", "PAID"):
            paths[name] = self.folder / f"{name}.duckdb"
            shutil.copy(self._made[name], paths[name])
        return [str(paths.get(word, word)) for word in self._command.split()]

    def once_more(self, words: list[str]) -> list[str]:
        """The command over what the last blow has left; a run that was begun is gone on with."""
        path = self.folder / "new.duckdb"
        if not path.exists():
            return self.words()
        with Store.open(path) as store:
            begun = bool(list_runs(store))
        how = {"generate": ["generate", "--resume"], "stages": ["stages", "run", "topics", "subtopics", "values", "situation", "--run"]}
        return [*how[words[0]], "last", "--store", str(path)] if words[0] in how and begun else words

    def opens(self) -> None:
        for path in self.folder.glob("*.duckdb"):
            with Store.open(path, create=False) as store:
                store.rows("SELECT count(*) FROM records")


@pytest.fixture(scope="module")
def warm(tmp_path_factory):
    process = Warm(tmp_path_factory.mktemp("warm") / "process")
    yield process
    process.end()


@pytest.mark.parametrize("name", usually(COMMANDS, USUAL))
def test_ctrl_c_ends_a_command_in_order_wherever_it_strikes(name, made, warm, tmp_path):
    scene = Scene(tmp_path / "scene", made, COMMANDS[name])
    learnt = warm.learn(*scene.words())
    assert learnt.code == 0, learnt
    whole = warm.struck(*scene.words(), after_s=None)
    rng, seconds, met = random.Random(name), {True: whole.seconds, False: IMPORTS_S + whole.seconds}, 0
    for number in range(BLOWS):
        words, at_work = scene.words(), number % 6 != 2  # a sixth meet a command that may be importing yet
        strike = warm.struck if at_work else struck
        outcome = strike(*words, after_s=seconds[at_work] * (number + rng.random()) / BLOWS)
        outcome.check()
        met += outcome.in_time
        if not outcome.in_time:  # the machine has more time for it now than it had before
            seconds[at_work] = min(seconds[at_work], outcome.seconds)
        scene.opens()
        if "--json" in words and outcome.out.strip() and outcome.code == 1:
            told = json.loads(outcome.out)  # or the whole result, where the blow came after it
            says_so = told.get("status") == "interrupted" or told.get("error", {}).get("code") == "interrupted"
            assert says_so or told.keys() == json.loads(whole.out).keys(), outcome
        assert not [path for path in scene.folder.rglob("*") if ".part" in str(path)], f"half of something was left by {outcome}"
    assert met >= BLOWS // 2, "the blows came too late to tell anything"
    last = warm.struck(*scene.once_more(words), after_s=None)
    assert last.code == 0, last


def test_two_ctrl_c_in_a_row_end_generate_and_its_run_goes_on(made, warm, tmp_path):
    """Most of the time of a short run goes by before it has a store: the blows are counted from there, until one has met it at work."""
    scene = Scene(tmp_path / "scene", made, "generate --samples 100 --seed 7 --quiet --store NEW")
    has_store = (scene.folder / "new.duckdb").exists
    warm.learn(*scene.words())
    seconds = warm.struck(*scene.words(), after_s=None, once=has_store).seconds
    rng, blows, number, met = random.Random(5), BLOWS if EXPLORE else 4, 0, 0
    while number < blows or not met:
        assert number < 10 * blows, "no blow met the run at work"
        words, part = scene.words(), (number % blows + rng.random()) / blows
        outcome = warm.struck(*words, after_s=seconds * part, again_s=0.1, once=has_store)
        outcome.check()
        scene.opens()
        number += 1
        if not outcome.in_time:  # the machine has more time for it now than it had before
            seconds = min(seconds, outcome.seconds)
        if re.search("error: stopped at once|interrupted; nothing accepted is lost", outcome.err):
            if met % 4 == 0:
                went_on = warm.struck("generate", "--resume", "last", "--samples", 100, "--quiet", "--store", words[-1], after_s=None)
                assert went_on.code == 0, went_on
            met += 1


def test_the_annotation_app_starts_and_stops_in_order(made, tmp_path):
    for number in range(BLOWS if EXPLORE else 2):
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        scene = Scene(tmp_path / "scene", made, f"annotate --store STORE --port {port}")
        outcome = struck(*scene.words(), after_s=0.4 * number)
        assert outcome.in_time
        outcome.check()
        scene.opens()
