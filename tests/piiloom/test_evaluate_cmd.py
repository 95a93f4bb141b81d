"""``piiloom evaluate``: figures of each scheme, counted by hand, from files of all kinds; its JSON and its text."""

from __future__ import annotations

import csv
import json

import pytest

from piiloom.evaluation.schemes.registry import SCHEMES
from tests.evaluation.input_files import lines, native, span
from tests.piiloom.evaluation_case import FIRST, FOUND, FOUND_TABLE, GOLD, GOLD_TABLE, SECOND, overall, told


@pytest.fixture
def files(tmp_path):
    return lines(tmp_path / "gold.jsonl", GOLD), lines(tmp_path / "found.jsonl", FOUND)


# 5 gold and 5 predicted mentions, of which 2 are the same (Ann, 31).
EXACT = {"tp": 2, "fp": 3, "fn": 3, "precision": 0.4, "recall": 0.4, "f1": 0.4, "f5": 0.4}


@pytest.mark.parametrize(
    ("scheme", "wanted"),
    [
        ("exact", EXACT),
        ("text", EXACT),
        # "Ann" for Ann Lee is half found, half a false positive, half a false negative.
        ("partial", {"tp": 2.5, "fp": 2.5, "fn": 2.5, "precision": 0.5, "recall": 0.5, "f1": 0.5}),
        # Tokens: Ann, Bob, Oslo, Ann, Lee, 31 of the gold; Ann, Bob (wrong), Ann, is, 31 of the prediction: three are found.
        ("token", {"tp": 3, "fp": 2, "fn": 3, "precision": 0.6, "recall": 0.5, "f1": 6 / 11}),
        # Places: Ann, Bob, 31 are the same, Ann Lee overlaps; Bob's type is wrong. Relevance is stated nowhere, so wrong.
        (
            "capid-strict",
            {"span_precision": 0.6, "overlap_precision": 0.8, "overlap_recall": 0.8, "type_accuracy": 0.75, "relevance_accuracy": 0},
        ),
        # d1: 2 of 3 found by 2; similarities 1 and 1, one type of two right. d2: 2 of 2 found by 3: {ann} and {ann, lee} are 2/3 alike.
        (
            "capid",
            {
                "span_precision": (1 + 2 / 3) / 2,
                "span_recall": (2 / 3 + 1) / 2,
                "span_f1": 0.8,
                "coverage": (1 + (2 / 3 + 1) / 2) / 2,
                "type_accuracy": 0.75,
                "relevance_accuracy": 0,
                "low_accuracy": 0,
                "high_accuracy": 0,
            },
        ),
        # Names are direct: Ann and Bob are masked, Ann Lee is not. Quasi: 31 is, Oslo is not. Of the 5 predicted tokens "is" is none.
        (
            "tab",
            {
                "entity_recall_direct": 2 / 3,
                "entity_recall_quasi": 0.5,
                "mention_recall": 0.6,
                "token_recall": 4 / 6,
                "precision": 0.8,
                "weighted_precision": 0.8,
            },
        ),
        # Ann Lee leaks, in one of two documents. Without relevance all that is predicted is masked: of the high ones Ann and 31 of
        # three, of the low ones Bob and not Ann Lee.
        ("privacy", {"leak_rate": 0.5, "recall": 0.6, "over_masking": 2 / 3, "under_masking": 0.5}),
    ],
)
def test_each_scheme(cli, files, scheme, wanted):
    found = overall(cli, *files, "--scheme", scheme)
    assert {name: found[name] for name in wanted} == pytest.approx(wanted)
    counts = {name: value for name, value in found.items() if name in ("tp", "fp", "fn")}
    assert all(isinstance(value, int) for value in counts.values()) or scheme == "partial"


def test_the_modes_of_nervaluate(cli, files):
    found = told(cli, *files, "--scheme", "nervaluate", "--resamples", 0)
    names = ("correct", "incorrect", "partial", "missed", "spurious", "precision", "f1")
    counts = {mode: tuple(one["overall"][name] for name in names) for mode, one in found["modes"].items()}
    # Bob has the right place, "Ann" for Ann Lee the right type; Oslo is missed, "is" spurious.
    assert counts == {
        "strict": (2, 2, 0, 1, 1, 0.4, 0.4),
        "exact": (3, 1, 0, 1, 1, 0.6, 0.6),
        "partial": (3, 0, 1, 1, 1, 0.7, 0.7),
        "type": (3, 1, 0, 1, 1, 0.6, 0.6),
    }
    assert found["metrics"]["overall"]["tp"] == found["modes"]["strict"]["overall"]["tp"] == 2
    assert found["modes"]["type"]["by_type"]["age"]["tp"] == 1


def test_the_layout_of_the_json(cli, files):
    found = told(cli, *files)
    assert {"gold", "predictions", "documents", "scheme", "metrics", "intervals", "inputs"} <= found.keys()
    assert {name: one["tp"] for name, one in found["metrics"]["by_type"].items()} == {"age": 1, "location": 0, "name": 1}
    # Names: Ann is found; "Ann" and "is" of the second document are no names, Bob and Ann Lee are missed.
    name = found["metrics"]["by_type"]["name"]
    assert (name["tp"], name["fp"], name["fn"]) == (1, 2, 2)
    low, high = found["intervals"]["f1"]  # of the two documents: 1 of 5 halves, and 1 of 5 halves
    assert 0 <= low <= 0.4 <= high <= 1
    many = told(cli, *files, "--scheme", "exact,capid", "--scheme", "text", "--resamples", 0)
    assert list(many["schemes"]) == ["exact", "capid", "text"]
    assert many["schemes"]["exact"]["metrics"]["overall"] == pytest.approx(EXACT)
    assert (many["out"], many["files"]) == (None, [])


CAPID_GOLD = [
    {
        "context": FIRST,
        "question": "Who?",
        "piis": {"Ann": {"type": "name", "relevance": "1"}, "Oslo": {"type": "location", "relevance": "0"}},
    },
    {"context": SECOND, "question": "Who?", "piis": {"31": {"type": "age", "relevance": "0"}}},
]
CAPID_FOUND = [
    {"context": FIRST, "question": "Who?", "piis": {"ANN!": {"type": "name", "relevance": 1}, "Xy": {"type": None}, "bad": "json"}},
    {"context": SECOND, "question": "Who?", "piis": None},
]
CAPID = ("span_precision", "span_recall", "span_f1", "coverage", "type_accuracy", "relevance_accuracy", "low_accuracy", "high_accuracy")


@pytest.mark.parametrize(
    ("undefined", "wanted"),
    [
        # One of two predictions is one of two values, all of it right; the other sample has no prediction: 0 everywhere.
        ("zero", (0.25, 0.25, 0.25, 0.5, 0.5, 0.5, 0, 0.5)),
        # Left out of the means: precision of the second sample, and all that is over its matches; low values are matched nowhere.
        ("skip", (0.5, 0.25, 0.25, 1, 1, 1, 0, 1)),
        ("one", (0.75, 0.25, 0.25, 1, 1, 1, 1, 1)),
    ],
)
def test_capid_files(cli, tmp_path, undefined, wanted):
    gold, found = lines(tmp_path / "g.jsonl", CAPID_GOLD), lines(tmp_path / "f.jsonl", CAPID_FOUND)
    metrics = told(cli, gold, found, "--scheme", "capid", "--undefined", undefined, "--resamples", 0)["metrics"]
    assert tuple(metrics[name] for name in CAPID) == tuple(metrics["overall"][name] for name in CAPID) == wanted
    assert (metrics["malformed"], metrics["samples"]) == (1, 2)
    # In the text there is Ann only under another spelling: nothing is found by places.
    exact = overall(cli, gold, found)
    assert (exact["tp"], exact["fp"], exact["fn"]) == (0, 2, 3)


def capid_sample(low, high):
    """One value of low relevance and one of high relevance, as they are spelled."""
    return [{"context": "Ann, 31.", "question": "Who?", "piis": {"Ann": {"type": "name", "relevance": low}, "31": {"relevance": high}}}]


NATIVE = [native("Ann, 31.", span(0, 3, "name", relevance="low"), span(5, 7, "age", relevance="high"))]
COUNTED = (1, 1, 1)  # relevance_accuracy, low_accuracy, high_accuracy


@pytest.mark.parametrize(
    ("gold", "found", "figures", "spelled_otherwise"),
    [
        (capid_sample("0", "1"), capid_sample(0, " 1 "), COUNTED, ""),
        (capid_sample("low", "high"), capid_sample("0", "1"), (0, 0, 0), "2 of 2 relevances in the gold file"),
        (capid_sample("low", "high"), capid_sample("LOW", " High"), (1, 0, 0), "2 of 2 relevances in the predictions"),
        (
            capid_sample("0", "high"),
            capid_sample("0", "1"),
            (0.5, 1, 0),
            "1 of 2 relevances in the gold file are not spelled 1 or 0 (high 1)",
        ),
        (capid_sample("0", "1"), capid_sample(False, "yes"), (0, 0, 0), "(false 1, other 1)"),
        # A native file has no spelling of its own: it counts as the CAPID file that it would be exported to.
        (NATIVE, capid_sample("0", "1"), COUNTED, ""),
        (NATIVE, capid_sample("low", "1"), (0.5, 0, 1), "1 of 2 relevances in the predictions are not spelled 1 or 0 (low 1)"),
        (NATIVE, NATIVE, COUNTED, ""),
    ],
)
def test_capid_compares_relevance_as_it_is_spelled(cli, tmp_path, gold, found, figures, spelled_otherwise):
    gold, found = lines(tmp_path / "g.jsonl", gold), lines(tmp_path / "f.jsonl", found)
    names = ("relevance_accuracy", "low_accuracy", "high_accuracy")
    evaluated = told(cli, gold, found, "--scheme", "capid,capid-strict", "--resamples", 0)
    capid, strict = (evaluated["schemes"][name]["metrics"]["overall"] for name in ("capid", "capid-strict"))
    assert tuple(capid[name] for name in names) == figures
    if "other" not in spelled_otherwise:
        assert tuple(strict[name] for name in names) == COUNTED
    printed = cli("evaluate", gold, found, "--scheme", "capid", "--resamples", 0).out
    compared = json.loads(cli("compare", gold, f"the predictions={found}", "--scheme", "capid", "--json").out)
    assert compared["warnings"] == evaluated["warnings"] == printed.rstrip("\n").split("\nwarning: ")[1:]
    assert any(spelled_otherwise in one for one in evaluated["warnings"]) == bool(spelled_otherwise)
    assert told(cli, gold, found, "--scheme", "capid-strict", "--resamples", 0)["warnings"] == []


@pytest.mark.long
def test_without_predicted_types_there_is_no_precision_by_type(cli, tmp_path):
    text = "Ann, 31."
    gold = lines(tmp_path / "g.jsonl", [native(text, span(0, 3, "name", relevance="low"), span(5, 7, "age", relevance="high"))])
    untyped = lines(tmp_path / "f.jsonl", [native(text, span(0, 3, None), span(4, 7, None))])
    typed = lines(tmp_path / "t.jsonl", [native(text, span(0, 3, "name"), span(4, 7, None))])
    shown = {}
    for scheme in SCHEMES:
        out = ("--out", tmp_path / "out") if scheme == "tab" else ()
        by_type = told(cli, gold, untyped, "--scheme", scheme, *out, "--resamples", 0)["metrics"]["by_type"]
        if out:
            assert json.loads((tmp_path / "out" / "evaluation.json").read_text())["metrics"]["by_type"] == by_type
        shown[scheme] = {name for name, value in by_type["name"].items() if value is None}
        of_types = {name for name in by_type["name"] if "type_accuracy" in name}
        assert {name for name in by_type["name"] if "precision" in name or name.endswith(("f1", "f5"))} | of_types == shown[scheme]
        assert None not in by_type.get("(no type)", {}).values()
        assert None not in told(cli, gold, typed, "--scheme", scheme, "--resamples", 0)["metrics"]["by_type"]["age"].values()
        rows = [
            line
            for line in cli("evaluate", gold, untyped, "--scheme", scheme, "--resamples", 0).out.splitlines()
            if line.startswith("│ name")
        ]
        assert ("–" in rows[0]) == bool(shown[scheme] & {"precision", "weighted_precision", "f1", "span_precision", "strict_f1"}), scheme
    assert shown["privacy"] == set()
    assert shown["tab"] == {
        "precision",
        "weighted_precision",
        "mention_precision",
        "weighted_mention_precision",
        "macro_weighted_precision",
    }


def _table(path, rows, header=("document", "text", "type"), encoding="utf-8", end="\n"):
    with path.open("w", encoding=encoding, newline="") as fh:
        csv.writer(fh, lineterminator=end).writerows([header, *rows])
    return path


def _parquet(path, rows, header=("document", "text", "type")):
    from pyarrow import parquet, table

    parquet.write_table(table({name: [row[at] for row in rows] for at, name in enumerate(header)}), path)
    return path


def test_entity_tables(cli, files, tmp_path):
    other = ("file_idx", "entity_text", "label")
    renamed = ("--columns", "document=file_idx,text=entity_text", "--columns", "type=label")
    gold, found = _table(tmp_path / "g.csv", GOLD_TABLE), _table(tmp_path / "f o u n d.csv", FOUND_TABLE, other, "utf-8-sig", "\r\n")
    sides = [
        (gold, found, *renamed),
        (_parquet(tmp_path / "g.parquet", GOLD_TABLE), _parquet(tmp_path / "f.parquet", FOUND_TABLE, other), *renamed),
        (files[0], found, *renamed),
        (gold, files[1]),
    ]
    for words in sides:
        assert overall(cli, *words, "--scheme", "text") == pytest.approx(EXACT)
    placed = [(*row, str(GOLD[int(row[0][1]) - 1]["context"].index(row[1]))) for row in FOUND_TABLE]
    placed = [(*row, int(row[3]) + len(row[1])) for row in placed]
    with_places = _table(tmp_path / "p.csv", placed, ("document", "text", "type", "start", "end"))
    assert overall(cli, files[0], with_places) == pytest.approx(EXACT)


def test_maps_types_and_betas(cli, files, tmp_path):
    (tmp_path / "map.yaml").write_text("name: PERSON\nlocation: PERSON\nnothing: X\n")
    renamed = told(cli, *files, "--label-map", tmp_path / "map.yaml", "--beta", 2, "--beta", 0.5, "--resamples", 0)
    # Bob is a person on both sides now: 3 of 5.
    assert renamed["metrics"]["overall"] == pytest.approx(
        dict.fromkeys(("precision", "recall", "f1", "f5", "f2", "f0.5"), 0.6) | {"tp": 3, "fp": 2, "fn": 2}
    )
    assert list(renamed["metrics"]["by_type"]) == ["PERSON", "age"]
    assert renamed["inputs"]["unused_map_keys"] == ["nothing"]
    # Of the ages all are found; of the places Oslo is missed, and Bob none.
    assert overall(cli, *files, "--only-types", "age")["f1"] == 1
    some = overall(cli, *files, "--only-types", "age,location", "--beta", 2)
    assert (some["tp"], some["fp"], some["fn"], some["f2"]) == (1, 1, 1, 0.5)
    only = overall(cli, *files, "--label-map", tmp_path / "map.yaml", "--only-types", "PERSON")
    assert (only["tp"], only["fp"], only["fn"]) == (2, 2, 2)
    assert "types of --only-types that no mention has: ZIP" in cli("evaluate", *files, "--only-types", "age,ZIP").out


def test_the_text_fits_a_terminal(cli, files):
    schemes = SCHEMES
    outcome = cli("evaluate", *files, "--scheme", ",".join(schemes), "--by", "locale", "--cluster", "story", "--resamples", 20)
    assert (outcome.code, outcome.err) == (0, "")
    table_lines = [line for line in outcome.out.splitlines() if line.startswith(("┃", "│", "┏"))]
    assert max(map(len, table_lines)) <= 80
    assert all(f"scheme {name}" in outcome.out for name in schemes)
    modes = outcome.out.split("nervaluate by mode")[1].split("└")[0]
    assert [line.split() for line in modes.splitlines() if "partial" in line] == [
        ["┃", "figure", "┃", "strict", "┃", "exact", "┃", "partial", "┃", "type", "┃"],
        ["│", "partial", "│", "0", "│", "0", "│", "1", "│", "0", "│"],
    ]
    assert "2 documents, paired by id" in outcome.out
    assert "gold: 5 mentions" in outcome.out
    assert "exact by locale (documents)" in outcome.out
    lone = cli("evaluate", *files, "--by", "pair", "--cluster", "persona", "--resamples", 20).out
    assert "2 documents without a key persona:… drawn each by itself" in lone
    assert "2 documents without a key pair:…: in no group" in lone


def test_types_with_markup_are_harmless(cli, tmp_path):
    odd = "\x1b[31m<b>[red]x[/red]"
    file = lines(tmp_path / "odd.jsonl", [{"id": "a", "context": "Ann", "spans": [{"start": 0, "end": 3, "type": odd}]}])
    outcome = cli("evaluate", file, file, "--scheme", "exact,nervaluate,privacy", "--bias", odd, "--resamples", 2)
    assert outcome.code == 0
    assert "<b>[red]x[/red]" in outcome.out
    assert "\x1b[31m" not in outcome.out
    assert list(told(cli, file, file)["metrics"]["by_type"]) == [odd]


def test_line_ends_and_marks_at_the_beginning_do_not_matter(cli, files, tmp_path):
    odd = tmp_path / "with blanks é.jsonl"
    odd.write_bytes(b"\xef\xbb\xbf" + files[0].read_bytes().replace(b"\n", b"\r\n\r\n"))
    assert overall(cli, odd, files[1]) == pytest.approx(EXACT)


def test_gold_against_prediction_and_the_other_way_round(cli, files):
    there, back = (overall(cli, *sides, "--scheme", "token") for sides in (files, files[::-1]))
    assert (there["precision"], there["recall"]) == (back["recall"], back["precision"])
    assert there["precision"] != there["recall"]


def test_a_long_text_with_very_many_mentions(cli, tmp_path):
    # 10,000 mentions in a text of over 1,000,000 characters; every tenth is missed, every tenth of another type, the others are right.
    text = " ".join(f"w{at:09d}" for at in range(100_000))
    gold = [{"start": 110 * at, "end": 110 * at + 10, "type": "a"} for at in range(10_000)]
    found = [span | {"type": "b"} if at % 10 == 1 else span for at, span in enumerate(gold) if at % 10]
    sides = [lines(tmp_path / f"{name}.jsonl", [{"context": text, "spans": spans}]) for name, spans in (("g", gold), ("f", found))]
    counted = overall(cli, *sides)
    assert (counted["tp"], counted["fp"], counted["fn"]) == (8_000, 1_000, 2_000)


@pytest.mark.long
@pytest.mark.parametrize("scheme", ["partial", "token", "nervaluate", "text", "capid-strict", "tab", "privacy"])
def test_a_long_text_under_each_scheme(cli, tmp_path, scheme):
    text = " ".join(f"w{at:09d}" for at in range(100_000))
    spans = [{"start": 110 * at, "end": 110 * at + 10, "type": "ab"[at % 2]} for at in range(10_000)]
    moved = [span | {"start": span["start"] + 4} for span in reversed(spans)]
    sides = [lines(tmp_path / f"{name}.jsonl", [{"context": text, "spans": one}]) for name, one in (("g", spans), ("f", moved))]
    found = overall(cli, *sides, "--scheme", scheme)
    # All boundaries are wrong; a token is covered whatever part of it is.
    wanted = {
        "partial": {"tp": 5_000},
        "token": {"tp": 10_000},
        "nervaluate": {"tp": 0, "partial_correct": 0, "partial_partial": 10_000, "type_f1": 1},
        "text": {"tp": 0},
        "capid-strict": {"span_f1": 0, "overlap_f1": 1},
        "tab": {"precision": 1},
        "privacy": {"recall": 0},
    }[scheme]
    assert {name: found[name] for name in wanted} == wanted
