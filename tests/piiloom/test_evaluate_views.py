"""What ``piiloom evaluate`` tells besides the schemes: groups, weights, bias, cost, the files of TAB; and the folder of ``--out``."""

from __future__ import annotations

import json

import pytest

from tests.evaluation.input_files import lines, native, span
from tests.piiloom.evaluation_case import FOUND, GOLD, overall, told


@pytest.fixture
def files(tmp_path):
    return lines(tmp_path / "gold.jsonl", GOLD), lines(tmp_path / "found.jsonl", FOUND)


def test_groups_and_their_mean(cli, files):
    # Of the first document's 3 mentions one is found by 2, of the second's 2 one by 3.
    means = {}
    for weight in ("documents", "entities", "equal"):
        groups = told(cli, *files, "--by", "locale", "--weight", weight, "--resamples", 0)["groups"]
        assert {name: (one["documents"], one["entities"], one["recall"]) for name, one in groups["figures"].items()} == {
            "de_DE": (1, 2, 0.5),
            "en_US": (1, 3, pytest.approx(1 / 3)),
        }
        means[weight] = groups["mean"]["recall"]
    assert means == pytest.approx({"documents": 5 / 12, "entities": 2 / 5, "equal": 5 / 12})
    assert told(cli, *files, "--by", "story")["groups"]["figures"]["one"]["documents"] == 2


def test_documents_of_a_story_are_drawn_together(cli, files):
    found = told(cli, *files, "--cluster", "story")
    assert found["clusters"] == {"by": "story", "clusters": 1, "documents_with_key": 2}
    assert set(found["intervals"].values()) == {None}
    seeds = [told(cli, *files, "--scheme", "token", "--seed", seed)["intervals"] for seed in (1, 1, 2)]
    assert seeds[0] == seeds[1]


def test_weights_of_types(cli, files, tmp_path):
    weights = tmp_path / "weights.yaml"
    weights.write_text("types:\n  location: {identifier: direct, weight: 1.0}\n  name: {weight: 0.5}\n  age: {weight: 0.0}\n")
    found = overall(cli, *files, "--scheme", "privacy", "--weights", weights)
    # Ann, Bob and not Ann Lee at a half each; Oslo at 1 is missed, and now leaks in the other document.
    assert (found["weighted_recall"], found["leak_rate"]) == (0.4, 1.0)


# Female, Africa; male, Africa; female, Asia; and nobody that the index knows.
NAMES = ("Adaeze Okafor", "Kwabena Asante", "Haruka Watanabe", "Xqz Zzt")


def test_bias(cli, tmp_path):
    text = "; ".join((*NAMES, NAMES[0]))
    spans = [span(text.index(name), text.index(name) + len(name)) for name in NAMES]
    again = span(len(text) - len(NAMES[0]), len(text))
    gold = lines(tmp_path / "g.jsonl", [native(text, *spans, again)])
    found = lines(tmp_path / "f.jsonl", [native(text, spans[0], spans[2])])
    # Adaeze stands twice and is found once, or under membership twice; Haruka is found, Kwabena is not.
    for match, women in (("multiset", 2), ("membership", 3)):
        bias = told(cli, gold, found, "--bias", "name", "--bias-match", match)["bias"]
        assert bias["gender"]["female"]["total"] == 3
        assert bias["gender"]["female"]["recall"] == pytest.approx(women / 3)
        assert (bias["gender"]["male"]["total"], bias["gender"]["male"]["recall"]) == (1, 0)
        assert list(bias["region"]) == ["Africa", "Americas", "Asia", "Europe", "Oceania"]
        assert (bias["region"]["Africa"]["total"], bias["region"]["Africa"]["recall"]) == (3, pytest.approx((women - 1) / 3))
        assert bias["region"]["Asia"] == {"total": 1, "found": 1, "recall": 1.0, "ci": [1.0, 1.0]}
        assert bias["region"]["Europe"] == {"total": 0, "found": 0, "recall": None, "ci": None}
        assert sum(bias["left_out"]["gender"].values()) == 1
    assert "gap female − male" in cli("evaluate", gold, found, "--bias", "name").out


def test_cost(cli, files, tmp_path):
    rows = [{"document": name, "model": "gpt-4o-mini", "input_tokens": 1_000, "output_tokens": 100} for name in ("d1", "d2", "d2", "d9")]
    usage = lines(tmp_path / "usage.jsonl", rows)
    cost = told(cli, *files, "--usage", usage)["cost"]
    assert (cost["calls"], cost["input_tokens"], cost["output_tokens"], cost["not_evaluated"]) == (3, 3_000, 300, 1)
    assert cost["cost_usd"] == pytest.approx(3 * (1_000 * 0.15 + 100 * 0.6) / 1e6)
    estimated = cli("evaluate", *files, "--model", "gpt-4o-mini")
    assert (estimated.code, "estimated: one call a document" in estimated.out) == (0, True)


def test_files_of_the_benchmark(cli, tmp_path):
    text = "Ann Lee of Oslo met Ann."
    places = [("e1", "DIRECT", 0, 7), ("e1", "DIRECT", 20, 23), ("e2", "QUASI", 11, 15), ("e3", "NO_MASK", 16, 19)]
    mentions = [
        {"entity_type": "X", "entity_id": entity, "identifier_type": kind, "start_offset": start, "end_offset": end}
        for entity, kind, start, end in places
    ]
    annotations = {"a": {"entity_mentions": mentions}, "b": {"entity_mentions": mentions[2:3]}}
    gold, found = tmp_path / "gold.json", tmp_path / "found.json"
    gold.write_text(json.dumps([{"doc_id": "d", "text": text, "annotations": annotations}]))
    found.write_text(json.dumps({"d": [[0, 7], [11, 15]]}))
    named = ("--gold-format", "tab", "--predictions-format", "tab")
    tab = overall(cli, gold, found, "--scheme", "tab", *named)
    # Of the direct entity one mention is masked and one not; Oslo is masked for both annotators. Of the predicted tokens Ann, Lee, Oslo
    # all three should be masked for a, Oslo for b: 4 of 6.
    assert (tab["entity_recall_direct"], tab["entity_recall_quasi"], tab["mention_recall_direct"]) == (0, 1, 0.5)
    assert tab["weighted_precision"] == pytest.approx(4 / 6)
    assert tab["macro_weighted_precision"] == pytest.approx((1 + 1 / 3) / 2)
    assert overall(cli, gold, found, "--scheme", "tab", "--input-format", "tab") == tab
    assert overall(cli, gold, found, "--scheme", "privacy", *named)["leak_rate"] == 1
    # Predictions may be in another format, and without types and relevance.
    rows = lines(tmp_path / "found.jsonl", [native(text, span(0, 7, None), span(11, 15, None), id="d")])
    assert overall(cli, gold, rows, "--scheme", "tab", "--gold-format", "tab") == tab
    unnamed = cli("evaluate", gold, found)
    assert (unnamed.code, unnamed.error_line().endswith(", table, tab")) == (2, True)


WHOLE = ["confusion.csv", "errors.html", "errors.jsonl", "evaluation.json"]


def _names(folder):
    return sorted(path.name for path in folder.iterdir() if path.name != "plots")


@pytest.mark.long
def test_the_folder(cli, files, tmp_path):
    out = tmp_path / "a" / "b"
    found = told(cli, *files, "--scheme", "exact,privacy", "--bias", "name", "--out", out)
    assert _names(out) == WHOLE
    assert {"plots/bias.svg", "plots/errors-by-type.png", "plots/confusion.svg"} <= set(found["files"])
    assert sorted(found.pop("files")) == sorted(str(path.relative_to(out)) for path in out.rglob("*") if path.is_file())
    found.pop("out")
    assert json.loads((out / "evaluation.json").read_text(encoding="utf-8")) == found
    errors = [json.loads(line)["kind"] for line in (out / "errors.jsonl").read_text(encoding="utf-8").splitlines()]
    assert sorted(errors) == ["missed", "spurious", "too short", "wrong type"]
    (out / "mine.txt").write_text("mine")
    refused = cli("evaluate", *files, "--out", out)
    assert (refused.code, "the folder is not empty" in refused.error_line(), "--force" in refused.error_line()) == (1, True, True)
    before = {path: path.read_bytes() for path in out.rglob("*") if path.is_file()}
    again = cli("evaluate", *files, "--scheme", "exact,privacy", "--bias", "name", "--out", out, "--force")
    assert f"written to {out}: evaluation.json, errors.html, errors.jsonl, confusion.csv" in again.out
    assert {path: path.read_bytes() for path in out.rglob("*") if path.is_file()} == before
    # What fails half way replaces nothing.
    failed = cli("evaluate", files[0], lines(tmp_path / "half.jsonl", FOUND[:1]), "--out", out, "--force")
    assert failed.code == 1
    assert {path: path.read_bytes() for path in out.rglob("*") if path.is_file()} == before


def test_an_error_half_way_leaves_no_folder(cli, files, tmp_path):
    half = lines(tmp_path / "half.jsonl", FOUND[:1])
    (tmp_path / "empty").mkdir()
    assert cli("evaluate", files[0], half, "--out", tmp_path / "a" / "b").code == 1
    assert cli("evaluate", files[0], half, "--out", tmp_path / "empty").code == 1
    assert not (tmp_path / "a").exists()
    assert not list((tmp_path / "empty").iterdir())
    (tmp_path / "file").write_text("mine")
    for out, said in ((tmp_path / "file", "this is not a folder"), (tmp_path / "file" / "x", "cannot be written")):
        outcome = cli("evaluate", *files, "--out", out, "--force")
        assert (outcome.code, said in outcome.error_line()) == (1, True)
    assert (tmp_path / "file").read_text() == "mine"
    assert "--gallery-limit: without --out" in cli("evaluate", *files, "--gallery-limit", 3).error_line()


@pytest.mark.long
def test_errors_are_shown_in_their_places_under_a_scheme_on_values(cli, files, tmp_path):
    figures = told(cli, *files, "--scheme", "capid", "--out", tmp_path / "out")
    kinds = sorted(json.loads(line)["kind"] for line in (tmp_path / "out" / "errors.jsonl").read_text().splitlines())
    assert kinds == ["missed", "spurious", "too short", "wrong type"]
    assert figures["inputs"]["gold"]["mentions"] == figures["metrics"]["gold"] == 5  # what is told was read for the scheme


def test_usage_of_other_documents_is_refused(cli, files, tmp_path):
    row = {"document": "x", "model": "gpt-4o-mini", "input_tokens": 1, "output_tokens": 1}
    outcome = cli("evaluate", *files, "--usage", lines(tmp_path / "usage.jsonl", [row]))
    assert (outcome.code, "names none of the 2 evaluated documents" in outcome.error_line()) == (2, True)


@pytest.mark.parametrize("scheme", ["nervaluate", "capid", "capid-strict"])
def test_counts_have_no_mean_over_groups(cli, files, scheme):
    groups = told(cli, *files, "--scheme", scheme, "--by", "locale", "--resamples", 0)["groups"]
    assert {"tp", "exact_tp", "correct", "gold", "predicted", "matched", "malformed"}.isdisjoint(groups["mean"])
    assert {"f1", "span_f1"} & groups["mean"].keys()
