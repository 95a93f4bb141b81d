"""``piiloom probe``: tables, JSON, errors as a file, and what is said when something is wrong."""

from __future__ import annotations

import io
import json

import pytest
from rich.console import Console

import piiloom.cli.progress as view
from piiloom.cli.probe import described
from piiloom.evaluation.probe.run import ProbeStep
from tests.evaluation.probe_corpora import ODD_ROWS, capid_row, native_row, write_rows
from tests.longer import mostly_long


@pytest.fixture
def train(tmp_path):
    return write_rows(tmp_path / "train.jsonl", [native_row(seed) for seed in range(30)])


@pytest.fixture
def people(tmp_path):
    return write_rows(tmp_path / "people.jsonl", [capid_row(seed) for seed in range(100, 115)])


def test_tables(cli, train, people):
    outcome = cli("probe", train, people, "--by-type")
    assert outcome.code == 0
    assert outcome.err == ""  # a training this quick has nothing to say
    lines = outcome.out.splitlines()
    assert lines[0] == f"train {train}: 30 records"
    assert all(len(line) <= 84 for line in lines if line.startswith(("┃", "│")))  # with the longest type on one line
    for heading in ("exact F1", "overlap F1", "15 records, 45 spans (", "by type, trained on 30 records", "occupation", "95% intervals"):
        assert heading in outcome.out


def test_json_is_all_there_is(cli, train, people, tmp_path):
    odd = write_rows(tmp_path / "odd.jsonl", ODD_ROWS)
    outcome = cli("probe", train, people, odd, "--sizes", "30, 10,30", "--by-type", "--json")
    assert (outcome.code, outcome.err) == (0, "")
    report = json.loads(outcome.out)
    assert report["train"] == {"file": str(train), "records": 30, "left_out": {}}
    assert (report["seed"], report["errors_file"]) == (7, None)
    assert [training["records"] for training in report["trainings"]] == [10, 30]
    assert report["trainings"][1]["spans"] == 90
    first, second = report["trainings"][1]["tests"]
    assert (first["file"], first["records"], first["spans"], first["high_spans"] + first["low_spans"]) == (str(people), 15, 45, 45)
    assert second["left_out"] == {"no relevance": 2, "not in the context": 1, "overlapping": 2}
    for name, (low, high) in first["intervals"].items():
        assert 0 <= low <= first[name] <= high <= 1
    assert {row["type"]: row["gold"] for row in first["by_type"]}["occupation"] == 15
    assert {"span_f1_exact", "span_f1_overlap", "type_acc", "rel_acc", "rel_balanced"} <= first.keys()


def test_what_is_left_out_is_said_once_for_each_file(cli, train, tmp_path):
    odd = write_rows(tmp_path / "odd.jsonl", ODD_ROWS)
    outcome = cli("probe", train, odd)
    assert outcome.code == 0
    assert outcome.out.splitlines().count("  test, left out: no relevance 2, not in the context 1, overlapping 2") == 1
    mixed = write_rows(tmp_path / "mixed.jsonl", [*ODD_ROWS, *(native_row(seed) for seed in range(10))])
    assert "mixed.jsonl: 15 records, left out: no relevance 2," in cli("probe", mixed, train).out


def test_limit_is_a_curve_of_one(cli, train, people):
    limited = cli("probe", train, people, "--limit", 10, "--json")
    sized = cli("probe", train, people, "--sizes", 10, "--json")
    whole = cli("probe", train, people, "--json")
    assert limited.code == 0
    assert limited.out == sized.out != whole.out
    assert "by_type" not in limited.out


def test_the_seed_is_what_makes_a_result(cli, train, people):
    runs = [cli("probe", train, people, "--limit", 8, "--seed", seed, "--json").out for seed in (3, 3, 4)]
    assert runs[0] == runs[1]
    assert json.loads(runs[0])["trainings"] != json.loads(runs[2])["trainings"]


def test_errors_add_up_to_the_figures(cli, train, people, tmp_path):
    out = tmp_path / "new" / "errors.jsonl"
    outcome = cli("probe", train, people, "--sizes", "5,12", "--errors", out, "--json")
    assert outcome.code == 0
    tested = json.loads(outcome.out)["trainings"][-1]["tests"][0]
    rows = [json.loads(line) for line in out.read_text().splitlines()]
    contexts = [json.loads(line)["context"] for line in people.read_text().splitlines()]
    kinds = [row["kind"] for row in rows]
    assert set(kinds) <= {"missed", "spurious", "wrong_type", "wrong_extent"}
    for row in rows:
        assert (row["file"], row["line"]) == (str(people), row["record"])
        for span in filter(None, (row["gold"], row["predicted"])):
            assert contexts[row["record"] - 1][span["start"] : span["end"]] == span["text"]
    paired, found = tested["spans"] - kinds.count("missed"), tested["spans"] - kinds.count("missed") + kinds.count("spurious")
    assert tested["span_f1_overlap"] == 2 * paired / (tested["spans"] + found)
    assert tested["type_acc"] == 1 - kinds.count("wrong_type") / paired
    assert [path.name for path in out.parent.iterdir()] == ["errors.jsonl"]
    said = cli("probe", train, people, "--sizes", "5,12", "--errors", out).out.splitlines()[-1]
    assert said.startswith("errors when trained on 12 records: ")
    assert f"wrong extent {kinds.count('wrong_extent')}" in said
    assert said.endswith(f"; in {out}")


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["--sizes", "31"], "31 training records are wanted, there are 30"),
        (["--limit", "31"], "31 training records"),
        (["--limit", "0"], "--limit"),
        (["--sizes", "10,"], "--sizes"),
        (["--sizes", "ten"], "--sizes"),
        (["--sizes", "0,10"], "--sizes"),
        (["--sizes", "9" * 5000], "--sizes"),
        (["--sizes", "10", "--limit", "10"], "one of them"),
    ],
)
def test_usage_errors(cli, train, people, words, says):
    outcome = cli("probe", train, people, *words)
    assert outcome.code == 2
    assert says in outcome.error_line()
    assert outcome.out == ""


def test_a_test_file_is_wanted(cli, train):
    outcome = cli("probe", train)
    assert outcome.code == 2
    assert "TEST" in outcome.error_line()


@pytest.mark.parametrize("which", ["train", "test"])
def test_bad_rows_and_missing_files(cli, train, people, tmp_path, which):
    bad = write_rows(tmp_path / "bad.jsonl", [native_row(1), {"context": "I am Ann.", "spans": [{"start": 5, "end": 99, "type": "name"}]}])
    for path, says in ((bad, f"{bad}:2: spans[0]: empty, or outside the context."), (tmp_path / "none.jsonl", "no such file")):
        outcome = cli("probe", *((path, people) if which == "train" else (train, people, path)))
        assert outcome.code == 1
        assert says in outcome.error_line()
        assert "Ann" not in outcome.err


def test_training_data_without_both_relevances(cli, people, tmp_path):
    rows = [row for row in (native_row(seed) for seed in range(60)) if row["question"] == "Is this normal?"]
    outcome = cli("probe", write_rows(tmp_path / "low.jsonl", rows), people)
    assert outcome.code == 1
    assert "low.jsonl" in outcome.error_line()
    assert "both relevances" in outcome.err


def test_a_test_without_relevance_shows_no_figure_for_it(cli, train, tmp_path):
    plain = write_rows(tmp_path / "plain.jsonl", [{"context": "I am 40.", "spans": [{"start": 5, "end": 7, "type": "age"}]}])
    outcome = cli("probe", train, plain)
    assert outcome.code == 0
    assert "1 span (0 high, 0 low)" in outcome.out
    assert outcome.out.count("– │") == 2


@pytest.mark.parametrize("which", ["train", "test"])
def test_errors_never_overwrite_the_data(cli, train, people, which):
    target = train if which == "train" else people
    before = target.read_bytes()
    outcome = cli("probe", train, people, "--errors", target)
    assert outcome.code == 2
    assert "overwrite" in outcome.error_line()
    assert target.read_bytes() == before


@pytest.mark.parametrize("target", ["a folder", "below a file"])
def test_a_place_where_errors_cannot_be_written_is_found_before_the_training(cli, train, people, tmp_path, target):
    path = tmp_path if target == "a folder" else train / "errors.jsonl"
    outcome = cli("probe", train, people, "--errors", path)
    assert outcome.code == 1
    assert str(path) in outcome.error_line()
    assert "--errors" in outcome.err
    assert outcome.out == ""


def test_a_probe_that_fails_leaves_no_errors_file_and_the_old_one_alone(cli, train, people, tmp_path):
    out = tmp_path / "errors.jsonl"
    out.write_text("mine\n")
    assert cli("probe", train, people, "--errors", out, "--limit", 1000).code == 2
    assert out.read_text() == "mine\n"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["errors.jsonl", "people.jsonl", "train.jsonl"]


@pytest.mark.parametrize("package", mostly_long(["sklearn_crfsuite", "sklearn"], quick={"sklearn"}))
def test_without_the_extra_the_command_names_it(spawn, train, people, package):
    outcome = spawn("probe", train, people, before=f"sys.modules[{package!r}] = None")
    assert outcome.code == 2
    assert "pip install -e '.[probe]'" in outcome.error_line()


def test_help_needs_no_extra_and_imports_nothing_heavy(spawn):
    before = "import atexit\natexit.register(lambda: print('sklearn' in sys.modules, 'numpy' in sys.modules, file=sys.stderr))"
    outcome = spawn("probe", "--help", before=before)
    assert outcome.code == 0
    assert "--by-type" in outcome.out
    assert outcome.err == "False False\n"


STEPS = [
    (ProbeStep(records=2107, iterations=0), "training on 2,107 records"),
    (ProbeStep(records=2107, iterations=3), "training on 2,107 records: iteration 3 of at most 80"),
    (ProbeStep(records=250, iterations=0, test="a\x1b.jsonl"), "trained on 250 records, testing on a␛.jsonl"),
]


@pytest.mark.parametrize(("step", "words"), STEPS)
def test_steps_in_words(step, words):
    assert described(step) == words


def test_lines_come_now_and_then(monkeypatch, capsys):
    now = 0.0
    monkeypatch.setattr(view.time, "monotonic", lambda: now)
    with view.shown(described, wanted=True) as watch:
        for iteration in range(1, 13):
            now += 1.0
            watch(ProbeStep(records=10, iterations=iteration))
    lines = capsys.readouterr().err.splitlines()
    assert [line.partition("iteration ")[2] for line in lines] == ["5 of at most 80", "10 of at most 80"]


def test_a_terminal_gets_a_bar_that_is_drawn_at_every_step(monkeypatch):
    out = io.StringIO()
    monkeypatch.setattr(view.sys.stderr, "isatty", lambda: True, raising=False)
    monkeypatch.setattr(view, "error_console", lambda: Console(file=out, force_terminal=True, width=120))
    with view.shown(described, wanted=True, at_once=True) as watch:
        for step, _ in STEPS:
            watch(step)
    assert all(words in out.getvalue() for _, words in STEPS)
