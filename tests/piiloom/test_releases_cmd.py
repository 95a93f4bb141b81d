"""The options of ``piiloom release`` and ``export``, ``piiloom releases diff``, and imports with columns and label maps."""

from __future__ import annotations

import json

import pytest

import piiloom
from piiloom.cli.releases import _shortened
from piiloom.corpus.store.database import Store
from piiloom.foundation.errors import UsageError

LIMITED = "import resource, sys\nsys.dont_write_bytecode = True\nresource.setrlimit(resource.RLIMIT_FSIZE, (500, resource.RLIM_INFINITY))"


def test_a_release_tells_and_keeps_what_it_is(cli, filled):
    words = ("release", "--name", "v1", "--test-size", 0, "--version", "2.0.0", "--license", "CC-BY-4.0", "--status", "imported")
    refused = cli(*words, "--store", filled)
    assert refused.code == 1
    assert "Filters left out: status 12" in refused.error_line()
    made = cli(
        "release", "--name", "v1", "--test-size", 0, "--version", "2.0.0", "--license", "CC-BY-4.0", "--run", "last", "--store", filled
    )
    assert made.code == 0, made.err
    found = json.loads(cli("releases", "show", "v1", "--store", filled, "--json").out)
    assert (found["version"], found["license"], found["filters"]["left_out"]) == (
        "2.0.0",
        "CC-BY-4.0",
        {"rejected or reopened": 0, "run": 0},
    )
    digest = found["content_sha256"][:12]
    shown = cli("releases", "show", "v1", "--store", filled).out
    assert f"sha256    {digest}" in shown
    assert "licence   CC-BY-4.0" in shown
    assert "filters   status any" in shown
    assert f" {digest}" in cli("releases", "list", "--store", filled).out


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["--folds", 3, "--test-size", 0.1], "folds and a test size exclude each other"),
        (["--folds", 1], "at least two folds"),
        (["--group-by", "stories"], "keys, contexts, questions, values, parents"),
        (["--overlap-by", "move"], "--max-value-overlap"),
        (["--max-value-overlap", 2], "between 0 and 1"),
        (["--min-agreement", -1], "between 0 and 1"),
        (["--locale", "xx_YY"], "es_ES"),
        (["--version", "two words"], "not a version"),
        (["--license", ""], "one line of text"),
        (["--license", "CC BY 4.0"], "Did you mean cc-by-4.0?"),
        (["--test-size", 12], "nothing to train on"),
        (["--test-size", 400], "nothing to train on"),
    ],
)
def test_what_a_release_cannot_be(cli, filled, words, says):
    outcome = cli("release", "--name", "v1", *words, "--store", filled)
    assert outcome.code == 2
    assert says in outcome.error_line()
    assert json.loads(cli("releases", "list", "--store", filled, "--json").out)["total"] == 0


def test_several_formats_go_to_a_folder_each(cli, released, tmp_path):
    words = ("export", "--release", "v1", "--format", "native", "--format", "capid", "--store", released)
    told = json.loads(cli(*words, "--out", tmp_path / "all", "--json").out)
    assert [(one["format"], one["out"]) for one in told["exports"]] == [
        (name, str(tmp_path / "all" / name)) for name in ("native", "capid")
    ]
    assert cli("export", "--release", "v1", "--format", "capid", "--out", tmp_path / "one", "--store", released).code == 0
    for name in ("train.jsonl", "release.json"):
        assert (tmp_path / "all" / "capid" / name).read_bytes() == (tmp_path / "one" / name).read_bytes()
    unknown = cli(*words, "--format", "xlsx", "--out", tmp_path / "new")
    assert unknown.code == 2
    assert "Known formats: native, capid" in unknown.error_line()
    no_split = cli(*words, "--split", "test", "--out", tmp_path / "new")
    assert no_split.code == 2
    assert "Its splits: train" in no_split.error_line()
    assert not (tmp_path / "new").exists()


@pytest.mark.long
def test_no_room_for_one_of_two_formats_leaves_nothing(spawn, released, tmp_path):
    words = ("export", "--release", "v1", "--format", "native", "--format", "capid", "--out", tmp_path / "out", "--store", released)
    outcome = spawn(*words, before=LIMITED)
    assert outcome.code == 1
    assert "the export cannot be written" in outcome.error_line()
    assert not (tmp_path / "out").exists()


def test_the_same_from_python(released, tmp_path):
    first, second = piiloom.export("v1", tmp_path / "out", format=["native", "capid"], splits=["train"], store=released)
    assert (first.out, second.format) == (tmp_path / "out" / "native", "capid")
    assert len(piiloom.load(tmp_path / "out" / "capid")) == 12
    row = piiloom.release("v2", store=released, test_size=0, version="2", license="CC0-1.0", group_by=["keys"])
    assert piiloom.release("v2", store=released, test_size="0", version="2", license="CC0-1.0", group_by="keys") == row
    with pytest.raises(UsageError, match="no limit on shared values"):
        piiloom.release("v3", store=released, overlap_by="move")


def test_two_releases_are_compared(cli, released, tmp_path):
    out, corrected = tmp_path / "out", tmp_path / "corrected.jsonl"
    assert cli("export", "--release", "v1", "--format", "native", "--out", out, "--store", released).code == 0
    rows = [json.loads(line) for line in (out / "train.jsonl").read_text(encoding="utf-8").splitlines()]
    rows[0]["question"] = "What should I do?"
    gone = rows[0]["spans"].pop()
    corrected.write_text(json.dumps(rows[0]) + "\n")
    assert cli("import", corrected, "--input-format", "native", "--on-conflict", "update", "--store", released).code == 0
    assert cli("release", "--name", "v2", "--test-size", 0, "--license", "MIT", "--store", released).code == 0
    words = ("releases", "diff", "v1", "v2", "--store", released)
    found = json.loads(cli(*words, "--json").out)
    assert [(one["record"], one["question"]) for one in found["changed"]] == [(rows[0]["id"], True)]
    assert [(label["kind"], label["after"]) for label in found["changed"][0]["labels"]] == [("removed", None)]
    assert found["settings"] == [{"name": "license", "before": None, "after": "MIT"}]
    said = cli(*words).out
    assert "0 added, 0 removed, 0 moved, 1 changed (question 1, removed 1)" in said
    assert f'{rows[0]["id"]}: another question; removed "{gone["type"]}: ' in said
    assert "the same content" in cli("releases", "diff", "v1", "v1", "--store", released).out
    unknown = cli("releases", "diff", "v1", "v9", "--store", released)
    assert unknown.code == 1
    assert "no release 'v9'" in unknown.error_line()


def test_a_store_that_was_changed_by_other_means_is_not_exported(cli, released, tmp_path):
    with Store.open(released) as store:
        store.change("UPDATE records SET question = 'Changed?' WHERE plan_index = 0")
    outcome = cli("export", "--release", "v1", "--format", "native", "--out", tmp_path / "out", "--store", released)
    assert outcome.code == 1
    assert "no longer those that were frozen" in outcome.error_line()
    assert not (tmp_path / "out").exists()


FORMULA = '=HYPERLINK("http://x","y")'


def row(**changes: object) -> str:
    spans = [{"start": 0, "end": 5, "text": "Clara", "type": "name"}]
    return json.dumps({"id": "r1", "context": "Clara is here.", "question": None, "spans": spans} | changes) + "\n"


@pytest.mark.parametrize(
    ("text", "records", "reasons"),
    [
        (row(context=f"Clara {FORMULA}"), 1, []),
        (row(context="Clara \0 is here."), 1, []),
        (row() + row(id="r2").replace("is here", "is \\ud800 here"), 1, ["lone surrogate"]),
        (row() + row(), 1, ["earlier row of the file has this id"]),
        (row() + row(id="r2", context="I, Clara, am here."), 1, ["differs from context[0:5]"]),
        (row() + row(id="r2")[:40], 1, ["not valid JSON"]),
        (row() + row(id="r2", spans=[{"start": 0, "end": 99, "text": "Clara", "type": "name"}]), 1, ["outside the context"]),
    ],
)
def test_bad_rows_are_refused_with_line_and_reason_and_the_others_come_out_again(cli, store_path, tmp_path, text, records, reasons):
    source, rejects = tmp_path / "rows.jsonl", tmp_path / "rejects.jsonl"
    source.write_text(text)
    done = cli("import", source, "--input-format", "native", "--rejects", rejects, "--store", store_path, "--json")
    report = json.loads(done.out)
    assert report["records"] == records
    kept = [json.loads(line) for line in rejects.read_text().splitlines()] if reasons else []
    assert len(kept) == len(reasons)
    for reject, reason in zip(kept, reasons, strict=True):
        assert reject["line"] == 2
        assert reason in reject["reason"]
        assert reject["row"]
    assert cli("release", "--name", "v1", "--test-size", 0, "--store", store_path).code == 0
    assert cli("export", "--release", "v1", "--format", "native", "--out", tmp_path / "out", "--store", store_path).code == 0
    (record,) = piiloom.load(tmp_path / "out")
    assert record.context == json.loads(text.splitlines()[0])["context"]


@pytest.mark.parametrize(
    ("words", "code", "says"),
    [
        (["--columns", "context"], 2, "context=text,question=q"),
        (["--columns", "context=a,context=b"], 2, "not a column: 'context=b'"),
        (["--input-format", "xlsx"], 2, "Known formats"),
        (["--locale", "xx_YY"], 2, "es_ES"),
    ],
)
def test_what_an_import_cannot_be(cli, store_path, tmp_path, words, code, says):
    (tmp_path / "rows.jsonl").write_text(row())
    given = [] if "--input-format" in words else ["--input-format", "native"]
    outcome = cli("import", tmp_path / "rows.jsonl", *given, *words, "--store", store_path)
    assert outcome.code == code
    assert says in outcome.error_line()
    assert not store_path.exists()


def test_a_folder_is_no_file_of_a_format_of_files(cli, store_path, tmp_path):
    (tmp_path / "train.jsonl").write_text(row())
    outcome = cli("import", tmp_path, "--input-format", "native", "--store", store_path)
    assert outcome.code == 1
    assert "is not a file. Name one file of it; there are: train.jsonl" in outcome.error_line()
    assert not store_path.exists()


def test_a_description_of_an_unknown_version_is_one_clear_error(cli, released, store_path, tmp_path):
    out = tmp_path / "out"
    assert cli("export", "--release", "v1", "--format", "native", "--out", out, "--store", released).code == 0
    about = json.loads((out / "release.json").read_text())
    (out / "release.json").write_text(json.dumps(about | {"schema": 99}))
    for words in (
        ("import", out / "train.jsonl", "--input-format", "native", "--store", released),
        ("report", out / "train.jsonl"),
    ):
        outcome = cli(*words)
        assert outcome.code == 1
        assert "has version 99; this piiloom knows version 1" in outcome.error_line()


def test_a_label_map_says_what_labels_mean_and_what_it_leaves_out_is_told(cli, store_path, tmp_path):
    pytest.importorskip("piiloom.taxonomy.label_maps")
    spans = [
        {"start": 0, "end": 5, "text": "Clara", "type": "XPER"},
        {"start": 9, "end": 13, "text": "here", "type": "XPLACE"},
    ]
    (tmp_path / "rows.jsonl").write_text(row(spans=spans))
    (tmp_path / "map.yaml").write_text("XPER: name\nXPLACE: null\n")
    words = ("import", tmp_path / "rows.jsonl", "--input-format", "native", "--store", store_path)
    refused = cli(*words)
    assert refused.code == 1
    assert "not one of the known types" in refused.error_line()
    outcome = cli(*words, "--label-map", tmp_path / "map.yaml")
    assert outcome.code == 0, outcome.err
    assert "labels that the label map leaves out: XPLACE 1" in outcome.out
    (record,) = piiloom.load(tmp_path / "rows.jsonl", label_map=tmp_path / "map.yaml")
    assert [span.entity_type for span in record.spans] == ["name"]


@pytest.mark.long
def test_a_probe_reads_the_format_that_is_named(cli, released, tmp_path):
    pytest.importorskip("sklearn_crfsuite")
    piiloom.export("v1", tmp_path / "out", format="capid", store=released)
    train = tmp_path / "out" / "train.jsonl"
    told = json.loads(cli("probe", train, train, "--input-format", "capid", "--json").out)
    assert json.loads(json.dumps(piiloom.probe(train, train, input_format="capid"))) == told
    wrong = cli("probe", train, train, "--input-format", "native")
    assert wrong.code == 1
    assert "train.jsonl:1" in wrong.error_line()


def test_folds_are_splits_that_tell_what_they_share(cli, filled, tmp_path):
    pytest.importorskip("piiloom.corpus.releases.leakage")
    words = ("release", "--group-by", "none", "--store", filled)
    made = cli(*words, "--name", "v1", "--folds", 3)
    assert made.code == 0, made.err
    assert "release v1: fold1 4, fold2 4, fold3 4" in made.out
    assert "  leaks  from" in made.out
    assert cli("export", "--release", "v1", "--format", "native", "--split", "fold2", "--out", tmp_path / "o", "--store", filled).code == 0
    about = json.loads((tmp_path / "o" / "release.json").read_text())
    assert (list(about["splits"]), list(about["leakage"])) == (["fold2"], ["fold1", "fold2", "fold3"])
    refused = cli(*words, "--name", "v2", "--folds", 50)
    assert refused.code == 2
    assert "too few for 50 folds" in refused.error_line()
    assert json.loads(cli("releases", "list", "--store", filled, "--json").out)["total"] == 1


def test_values_drawn_anew_are_others_when_the_release_is_made_again(cli, filled):
    sizes = ("--test-size", 3, "--validation-size", 2, "--group-by", "none", "--max-value-overlap", 0)
    words = ("release", "--name", "v1", *sizes, "--store", filled, "--json")
    first = json.loads(cli(*words).out)
    assert (list(first["splits"]), first["new_values"] > 0) == (["train", "validation", "test"], True)
    assert all(split["open_values"]["seen"] == 0 for split in first["leakage"].values())
    assert cli("releases", "delete", "v1", "--yes", "--store", filled).code == 0
    other = json.loads(cli(*words).out)  # of the same settings: the seed of a release is published, and must not tell the values
    assert (other["new_values"], other["content_sha256"] == first["content_sha256"]) == (first["new_values"], False)


@pytest.mark.long
def test_pairs_that_a_split_lacks_and_many_withheld_records_are_warnings(cli, tmp_path):
    store = tmp_path / "s.duckdb"
    pairs = "health+occupation,health+location"
    narrow = ("--pairs", pairs, "--locale", "pt_BR", "--no-pii-share", 0, "--seed", 10)
    assert cli("generate", *narrow, "--samples", 60, "--quiet", "--store", store).code == 0
    told = json.loads(cli("release", "--name", "v1", "--test-size", 6, "--store", store, "--json").out)
    lost, untested, withheld = told["warnings"]
    assert lost.startswith("train has no record of the pair health+")
    assert "since all records of it come from one story. Add stories with --bank (or choose other --pairs)" in lost
    assert untested.startswith("test has no record of the type finance (12 records), since its fair share of it is less than 5 records")
    assert f"{len(told['withheld'])} of 60 records" in withheld
    assert not any(note.startswith("warning") for note in told["notes"])
    shown = cli("releases", "show", "v1", "--store", store).out
    assert f"  warning   {lost}\n  warning   {untested}\n  warning   {withheld}\n" in shown
    assert cli("export", "--release", "v1", "--format", "native", "--out", tmp_path / "o", "--store", store).code == 0
    assert f"warning: {lost}" in json.loads((tmp_path / "o" / "release.json").read_text())["notes"]
    figures = told["leakage"]["test"]["values"]
    assert f"{figures['seen']}/{figures['of']}: of {figures['of']} distinct values in test, {figures['seen']} are also in train; " in shown
    # A grown store: nothing moves, and the second release takes the sizes of the first.
    assert cli("generate", "--resume", "last", "--samples", 80, "--quiet", "--store", store).code == 0
    later = json.loads(cli("release", "--name", "v2", "--keep-split-of", "v1", "--store", store, "--json").out)
    assert (later["settings"]["keep_split_of"], later["settings"]["test_size"]) == ("v1", 6)
    moved = json.loads(cli("releases", "diff", "v1", "v2", "--store", store, "--json").out)
    assert moved["moved"] == []


def test_a_long_warning_is_shortened_where_it_is_printed() -> None:
    names = [f"a+{number}" for number in range(42)]
    long = f"warning: test has no record of 42 pairs: {', '.join(names)}, since its fair share of each is less than 5 records. Ask, or add"
    assert f"pairs: {', '.join(names[:10])} and 32 more (--json names all), since its fair share" in _shortened(long)
    short = long.replace(", ".join(names), ", ".join(names[:11]))
    assert _shortened(short) == short
