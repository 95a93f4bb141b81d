"""``piiloom.evaluate`` and ``piiloom.compare``: the commands' figures, from files and from records."""

from __future__ import annotations

import inspect
import json
from dataclasses import replace

import pytest
from typer.main import get_command

import piiloom
from piiloom.cli.main import app_of
from piiloom.foundation.errors import DataError, UsageError
from tests.evaluation.input_files import lines
from tests.piiloom.evaluation_case import FOUND, GOLD, told


@pytest.fixture
def files(tmp_path):
    return lines(tmp_path / "gold.jsonl", GOLD), lines(tmp_path / "found.jsonl", FOUND)


def test_evaluate_gives_what_the_command_prints(cli, files, capfd):
    words = (
        "--scheme",
        "exact,tab",
        "--by",
        "locale",
        "--cluster",
        "story",
        "--bias",
        "name",
        "--only-types",
        "name,age",
        "--may-stay",
        "of,is",
    )
    found = piiloom.evaluate(
        *files, schemes=["exact", "tab"], by="locale", cluster="story", bias="name", only_types=["name", "age"], may_stay=["of", "is"]
    )
    assert capfd.readouterr() == ("", "")
    printed = told(cli, *files, *words)
    assert json.loads(json.dumps(found.to_json())) == {name: one for name, one in printed.items() if name not in ("out", "files")}
    # Of the names and ages Ann and 31 are found by 4; missed are Bob and Ann Lee.
    exact = found.of("exact").overall
    assert (exact["tp"], exact["fp"], exact["fn"]) == (2, 2, 2)
    assert found.bias.groups["gender"]["female"].total == 2
    with pytest.raises(UsageError, match=r"no figures of the scheme 'text'\. Of: exact, tab"):
        found.of("text")


def test_compare_gives_what_the_command_prints(cli, files, tmp_path):
    words = ("--resamples", 20, "--permutations", 20)
    printed = json.loads(cli("compare", files[0], f"a={files[1]}", f"b={files[0]}", *words, "--json").out)
    found = piiloom.compare(files[0], {"a": files[1], "b": str(files[0])}, resamples=20, permutations=20, out=[tmp_path / "t.json"])
    assert [(one.name, one.rank, one.figures["f1"]) for one in found.systems] == [("b", 1, 1.0), ("a", 1, 0.4)]
    assert json.loads((tmp_path / "t.json").read_text()) == printed
    listed = piiloom.compare(files[0], files, resamples=20, permutations=20)
    assert [one.name for one in listed.systems] == ["gold", "found"]
    with pytest.raises(UsageError, match=r"no system is called 'c'\. Write NAME=FILE; the systems: a"):
        piiloom.compare(files[0], {"a": files[1]}, usage={"c": files[1]})


def test_records_are_as_good_as_files(released, tmp_path):
    piiloom.export("v1", tmp_path / "out", store=released)
    gold = piiloom.load(tmp_path / "out")
    found = [replace(record, spans=record.spans[1:]) for record in reversed(gold)]
    spans = sum(len(record.spans) for record in gold)
    for side in (gold, tmp_path / "out" / "train.jsonl"):
        counts = piiloom.evaluate(side, found, resamples=0).of("exact").overall
        assert (counts["tp"], counts["fp"], counts["fn"]) == (spans - len(gold), 0, len(gold))
    compared = piiloom.compare(gold, {"gold": gold, "half / of it": found}, resamples=20, permutations=20)
    assert [one.name for one in compared.systems] == ["gold", "half / of it"]
    with pytest.raises(DataError, match="is not in the prediction"):
        piiloom.evaluate(gold, found[1:])


def test_what_is_refused(files, tmp_path):
    with pytest.raises(UsageError, match="unknown scheme 'exakt'"):
        piiloom.evaluate(*files, schemes="exakt")
    with pytest.raises(UsageError, match="unknown keyword 'types'"):
        piiloom.evaluate(*files, types=["name"])
    with pytest.raises(UsageError, match="--only-types: no type is named"):
        piiloom.evaluate(*files, only_types=[])
    with pytest.raises(UsageError, match="resamples: must be at least 0"):
        piiloom.evaluate(*files, resamples=-1)
    with pytest.raises(DataError, match="there is no such file"):
        piiloom.evaluate(files[0], tmp_path / "nothing", out=tmp_path / "out")
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("name", ["evaluate", "compare"])
def test_keywords_are_the_options_with_their_defaults(name):
    options = {one.opts[0]: one.help for one in get_command(app_of([name])).commands[name].params if one.opts[0].startswith("--")}
    for word in ("--json", "--format", "--help", "--help-all"):
        options.pop(word, None)
    if name == "evaluate":
        options["--schemes"] = options.pop("--scheme")
    keywords = {
        f"--{word.replace('_', '-')}": one.default
        for word, one in inspect.signature(getattr(piiloom, name)).parameters.items()
        if one.kind is one.KEYWORD_ONLY
    }
    assert keywords.keys() == options.keys()
    assert all(f"(default {keywords[word]})" in text for word, text in options.items() if type(keywords[word]) is int)
