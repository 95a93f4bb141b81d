"""What ``piiloom evaluate`` refuses: one line with place and remedy, and nothing is written."""

from __future__ import annotations

import json

import pytest

from tests.evaluation.input_files import lines, native, span
from tests.piiloom.evaluation_case import FIRST, FOUND, FOUND_TABLE, GOLD, GOLD_TABLE, SECOND

ONE, TWO = GOLD
CAPID = {"context": FIRST, "question": None, "piis": {"Zoe": {"type": "name", "relevance": "high"}}}
MANY = [native(FIRST, span(0, 3, "PERSON"), span(8, 11, "PERSON"), id=str(number)) for number in range(15)]
OTHER = [native(FIRST, span(0, 3, "X"), span(8, 11, "Y"), id=str(number)) for number in range(15)]


def _csv(header, rows=()):
    return "".join(",".join(row) + "\n" for row in (header, *rows))


# What stands in the files, other words, the exit code, and what is said: where, what, and what to do.
CASES = {
    "another id": (
        GOLD,
        [ONE, {**TWO, "id": "d3"}],
        (),
        1,
        ("gold.jsonl and found.jsonl: the document 'd2' (", "gold.jsonl:2) is not in the pr", "same documents"),
    ),
    "one less": (GOLD, [ONE], (), 1, ("the document 'd2' (", "is not in the prediction")),
    "one more": (GOLD, [*GOLD, {**TWO, "id": "d3"}], (), 1, ("the document 'd3' (", "found.jsonl:3) is not in the gold")),
    "another text": (
        GOLD,
        [ONE, {**TWO, "context": "Ann Lee is 32."}],
        (),
        1,
        ("found.jsonl:2: the document 'd2' has another text", "from character 12 on"),
    ),
    "without ids, one less": (
        [{**one, "id": None} for one in GOLD],
        [{**ONE, "id": None}],
        (),
        1,
        ("2 and 1", "gold.jsonl:2", "same documents"),
    ),
    "id twice": (GOLD, [ONE, ONE, TWO], (), 1, ("found.jsonl:2: the id 'd1' is also that of ", "found.jsonl:1. Give each document an id")),
    "id twice in gold": ([TWO, TWO], FOUND, (), 1, ("gold.jsonl:2: the id 'd2' is also that of ",)),
    "out of the text": ([native(FIRST, span(8, 99), id="d1")], [ONE], (), 1, ("gold.jsonl:1: spans[0]", "[8, 99)", "--skip-values")),
    "not in the text": ([CAPID], [CAPID], (), 1, ('gold.jsonl:1: piis["Zoe"]: is not in the context', "--skip-values")),
    "another kind of rows": (
        GOLD,
        [ONE, {"id": "d2", "context": SECOND, "piis": {}}],
        (),
        1,
        ("found.jsonl:2: spans: is missing", "format native"),
    ),
    "a span that is none": (GOLD, [ONE, {**TWO, "spans": [7]}], (), 1, ("found.jsonl:2: spans[0]: must have keys",)),
    "an offset that is none": (
        GOLD,
        [ONE, {**TWO, "spans": [span("0", 3)]}],
        (),
        1,
        ("found.jsonl:2: spans[0].start: must be a whole number",),
    ),
    "no common types": (MANY, OTHER, (), 1, ("'PERSON' 30 in the gold, 'X' 15, 'Y' 15 in the prediction", "--label-map FILE")),
    "empty": (GOLD, "", (), 1, ("found.jsonl: the file is empty", "at least one document")),
    "blank": ("\n  \n", FOUND, (), 1, ("gold.jsonl: the file is empty",)),
    "no document": (GOLD, "[]", (), 2, ("found.jsonl: the format cannot be told: its first row has no keys. Name it: native",)),
    "no JSON": (GOLD, "hello\n", (), 2, ("found.jsonl: the format cannot be told: its first row is not valid JSON",)),
    "broken JSON": (GOLD, json.dumps(ONE) + '\n{"id": "d2"\n', (), 1, ("found.jsonl:2: not valid JSON",)),
    "no UTF-8": (GOLD, json.dumps(ONE).encode() + b'\n{"id": "\xe9"}\n', (), 1, ("found.jsonl:2: the file is not UTF-8", "Convert")),
    "unknown scheme": (GOLD, FOUND, ("--scheme", "exakt"), 2, ("unknown scheme 'exakt'. Known schemes: ",)),
    "scheme twice": (GOLD, FOUND, ("--scheme", "exact,exact"), 2, ("--scheme: the scheme 'exact' is named twice",)),
    "no scheme": (GOLD, FOUND, ("--scheme", ""), 2, ("--scheme: no scheme is named. Known schemes: ",)),
    "unknown format": (GOLD, FOUND, ("--predictions-format", "xml"), 2, ("unknown format 'xml'. Known formats: native",)),
    "no map": (GOLD, FOUND, ("--label-map", "nothing.yaml"), 2, ("nothing.yaml: cannot be read", "Check the path")),
    "no types": (GOLD, FOUND, ("--only-types", " ,"), 2, ("--only-types: no type is named",)),
    "beta": (GOLD, FOUND, ("--beta", "-1"), 2, ("--beta: not from 0 to 1,000,000: -1",)),
    "beta that is no number": (GOLD, FOUND, ("--beta", "nan"), 2, ("--beta: not from 0",)),
    "undefined": (GOLD, FOUND, ("--undefined", "x"), 2, ("'--undefined': 'x' is not one of 'zero', 'skip', 'one'",)),
    "weight": (GOLD, FOUND, ("--weight", "x"), 2, ("'--weight': 'x' is not one of",)),
    "match": (GOLD, FOUND, ("--bias-match", "x"), 2, ("'--bias-match': 'x' is not one of",)),
    "bias of no type": (
        GOLD,
        FOUND,
        ("--bias", "NAME"),
        2,
        ("--bias: no gold mention is of the type 'NAME'. Types of the gold file: age, location, name",),
    ),
    "bias of one draw": (GOLD, FOUND, ("--bias", "name", "--resamples", 1), 2, ("--resamples: an interval of --bias needs at least 2",)),
    "confidence": (GOLD, FOUND, ("--confidence", 1), 2, ("--confidence: not between 0 and 1",)),
    "cluster": (GOLD, FOUND, ("--cluster", "a:b"), 2, ("--cluster: 'a:b' is no kind of group keys",)),
    "weights without effect": (
        GOLD,
        FOUND,
        ("--weights", "w.yaml"),
        2,
        ("--weights: only the scheme tab or privacy uses it. Add --scheme tab",),
    ),
    "no weights": (GOLD, FOUND, ("--scheme", "privacy", "--weights", "w.yaml"), 2, ("w.yaml: cannot be read",)),
    "words without effect": (GOLD, FOUND, ("--scheme", "privacy", "--may-stay", "of"), 2, ("--may-stay: only the scheme tab uses it",)),
    "no usage": (GOLD, FOUND, ("--usage", "nothing.jsonl"), 1, ("nothing.jsonl: the file cannot be read", "Check the path")),
    "usage and model": (GOLD, FOUND, ("--usage", "u", "--model", "m"), 2, ("--usage and --model",)),
    "unknown model": (GOLD, FOUND, ("--model", "m"), 2, ("--model: the price of the model 'm' is unknown", "PIILOOM_MODELS", "--usage")),
    "columns": (GOLD, FOUND, ("--columns", "doc=x"), 2, ("--columns: there is no field 'doc'", "document, text, type, start, end")),
}


@pytest.mark.parametrize("name", CASES)
def test_what_is_refused(cli, tmp_path, name):
    gold, found, words, code, said = CASES[name]
    sides = []
    for side, content in (("gold", gold), ("found", found)):
        sides.append(tmp_path / f"{side}.jsonl")
        if isinstance(content, list):
            lines(sides[-1], content)
        else:
            sides[-1].write_bytes(content if isinstance(content, bytes) else content.encode())
    outcome = cli("evaluate", *sides, *words, "--out", tmp_path / "new" / "out")
    line = outcome.error_line().replace(f"{tmp_path}/", "")
    assert (outcome.code, outcome.out) == (code, "")
    for part in said:
        assert part in line
    assert not (tmp_path / "new").exists()


HEADER = ("document", "text", "type")
GOLD_CSV, FOUND_CSV = _csv(HEADER, GOLD_TABLE), _csv(HEADER, FOUND_TABLE)
TEXT = ("--scheme", "text")


@pytest.mark.parametrize(
    ("gold", "found", "words", "said"),
    [
        (GOLD_CSV, _csv(("doc", "text", "type"), FOUND_TABLE), TEXT, "found.csv: the table has no column 'document'; there are: 'doc'"),
        (GOLD_CSV, FOUND_CSV, (), "gold.csv: the table has no column 'start' and no column 'end' (the scheme compares places)"),
        (GOLD_CSV, FOUND_CSV, ("--scheme", "privacy"), "(the scheme compares places)"),
        (_csv(HEADER), FOUND_CSV, TEXT, "gold.csv: the table has no rows"),
        ("", FOUND_CSV, TEXT, "gold.csv:1: the file is empty"),
        (GOLD_CSV, _csv(HEADER, [("x9", "Ann", "name")]), TEXT, "no document has an id of the other side: 'd1'"),
        (GOLD_CSV, _csv(HEADER, [("d1", "Ann")]), TEXT, "found.csv:2: the row has 2 cells, the header 3"),
        (GOLD_CSV, _csv(HEADER, [("d1", "", "name")]), TEXT, "found.csv:2: text: is empty"),
    ],
)
def test_tables_that_are_refused(cli, tmp_path, gold, found, words, said):
    sides = [tmp_path / "gold.csv", tmp_path / "found.csv"]
    for path, text in zip(sides, (gold, found), strict=True):
        path.write_text(text)
    outcome = cli("evaluate", *sides, *words, "--out", tmp_path / "out")
    assert said in outcome.error_line()
    assert outcome.code == 1
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("text", ["- a\n", "a: [1\n", "name: 3\n", "", "7\n"])
def test_maps_that_are_none(cli, tmp_path, text):
    (tmp_path / "map.yaml").write_text(text)
    file = lines(tmp_path / "gold.jsonl", GOLD)
    outcome = cli("evaluate", file, file, "--label-map", tmp_path / "map.yaml")
    assert "map.yaml" in outcome.error_line()
    assert (outcome.code, outcome.out) == (2, "")


def test_files_that_are_none(cli, tmp_path):
    file = lines(tmp_path / "gold.jsonl", GOLD)
    for sides in ((file, tmp_path), (tmp_path, file)):
        outcome = cli("evaluate", *sides)
        assert (
            outcome.code,
            "this is a folder without .ann files. Name one file of it; there are: gold.jsonl" in outcome.error_line(),
        ) == (2, True)
    for sides in ((file, tmp_path / "x.jsonl"), (tmp_path / "x.jsonl", file)):
        outcome = cli("evaluate", *sides)
        assert (outcome.code, "x.jsonl: there is no such file. Check the path" in outcome.error_line()) == (1, True)
    assert cli("evaluate", file).code == 2
    told = cli("evaluate", file, tmp_path / "x.jsonl", "--json")
    assert json.loads(told.out)["error"]["where"].endswith("x.jsonl")


def test_what_a_prediction_says_wrong_is_counted(cli, tmp_path):
    gold = lines(tmp_path / "gold.jsonl", GOLD)
    found = lines(tmp_path / "found.jsonl", [ONE | {"spans": [span(8, 99), span(3, 1), span(0, 3, text="Bob"), span(0, 3, None)]}, TWO])
    outcome = cli("evaluate", gold, found)
    assert (outcome.code, outcome.err) == (0, "")
    assert "predictions: 6 mentions; without a type 1, not in the text 3" in outcome.out
    exact = json.loads(cli("evaluate", gold, found, "--json").out)["metrics"]["overall"]
    assert (exact["tp"], exact["fp"], exact["fn"]) == (2, 4, 3)  # what is in the second document
    skipped = cli("evaluate", found, gold, "--skip-values")
    assert "gold: 3 mentions; without a type 1, skipped 3" in skipped.out
