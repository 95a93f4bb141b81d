"""``piiloom reidentify``: what it reads, prints and writes, and what it refuses."""

from __future__ import annotations

import json

import pytest

from piiloom.corpus.formats.base import WriteOptions
from piiloom.corpus.formats.masked import MaskedFormat
from piiloom.corpus.releases.freezing import create_release
from piiloom.corpus.store.database import Store
from piiloom.corpus.store.records import add_records
from piiloom.taxonomy.entity_types import shipped_taxonomy
from tests.evaluation.input_files import lines
from tests.evaluation.report_records import marked, write_native

# Ann is in two texts, Oslo in all, a bakery in one. The last two records ask different questions about the same text.
RECORDS = [
    marked("I am [Ann Ek|name|high] of [Oslo|location|low], a [baker|occupation|low].", name="zero"),
    marked("I met [Ann Ek|name|low] in [Oslo|location|high]."),
    marked("She is [31|age|high] and of [Oslo|location|low].", "How old?", name="one"),
    marked("She is [31|age|low] and of [Oslo|location|high].", "Where?", name="two"),
]


@pytest.fixture
def gold(tmp_path):
    return write_native(RECORDS, tmp_path / "gold.jsonl")


def told(cli, *words):
    outcome = cli("reidentify", *words, "--json")
    assert (outcome.code, outcome.err) == (0, "")
    return json.loads(outcome.out)


def unique(found):
    return {policy: one["unique"] for policy, one in found["policies"].items()}


def test_a_file_is_attacked_under_all_policies_that_it_allows(cli, gold):
    found = told(cli, gold)
    assert (found["source"], found["records"], found["documents"]) == ("gold.jsonl", 4, 3)
    # Unmasked, the baker and the one of 31 are told. If low values are masked, Ann and Oslo are left of two, and of the third both
    # values: one question keeps her age, the other her town.
    assert unique(found) == {"none": 2, "relevance-aware": 1, "all": 0}
    assert found["reading"] == {"refused_rows": 0, "values_without_place": 0}
    outcome = cli("reidentify", gold)
    assert (outcome.code, outcome.err) == (0, "")
    assert "attack on gold.jsonl: 4 records, 3 texts" in outcome.out
    assert "2 (66.7%)" in outcome.out


def test_predictions_mask_what_they_found(cli, gold, tmp_path):
    # Another order; the baker is missed.
    missed = marked("I am [Ann Ek|name|none] of [Oslo|location|none], a baker.", name="zero")
    predicted = [RECORDS[3], RECORDS[2], RECORDS[1], missed]
    found = told(cli, gold, "--masked-by", write_native(predicted, tmp_path / "found.jsonl"))
    assert unique(found) == {"none": 2, "relevance-aware": 1, "predictions": 1, "all": 0}
    assert found["policies"]["predictions"]["values_left"] == 1
    fewer = write_native(RECORDS[:2], tmp_path / "fewer.jsonl")
    assert "the document 'one'" in cli("reidentify", gold, "--masked-by", fewer).err
    assert "is not in the gold" in cli("reidentify", fewer, "--masked-by", gold).err


def test_predictions_may_be_of_any_format_and_of_types_that_nobody_knows(cli, gold, tmp_path):
    # Ann and the baker are found in the first text, and 31 in the last record.
    table = tmp_path / "found.csv"
    table.write_text("document,text,type,start,end\nzero,Ann Ek,PER,5,11\nzero,baker,JOB,23,28\ntwo,31,X,7,9\n", encoding="utf-8")
    found = told(cli, gold, "--masked-by", table)
    # Left are Oslo of the first text, Ann and Oslo of the second, and 31 and Oslo of the third: its other record was not masked.
    assert (found["policies"]["predictions"]["values_left"], found["policies"]["predictions"]["unique"]) == (5, 1)


def test_gold_values_that_are_not_in_the_text_are_left_out_and_counted(cli, tmp_path):
    row = {
        "id": "a",
        "context": "Ann left.",
        "spans": [{"start": 0, "end": 3, "type": "PER"}, {"start": 4, "end": 8, "text": "Ben", "type": "PER"}],
    }
    gold = lines(tmp_path / "gold.jsonl", [row])
    found = told(cli, gold, "--masked-by", gold)
    assert (found["reading"]["values_without_place"], found["policies"]["none"]["values_left"]) == (1, 1)


@pytest.mark.long
def test_a_release_is_attacked_and_its_surrogates(cli, tmp_path):
    path = tmp_path / "s.duckdb"
    with Store.open(path) as store:
        add_records(store, None, [(None, record) for record in RECORDS], status="imported")
        create_release(store, "v1", test_size=1, seed=7)
    found = told(cli, "--release", "v1", "--store", path, "--mask", "surrogates", "--mask", "none")
    assert found["source"] == "release v1 of s.duckdb"
    assert unique(found) == {"none": 2, "surrogates": 0}
    assert found["surrogate_names"]["originals"] == 1
    assert found["surrogate_names"]["surrogates_that_are_an_original_of_their_document"] == 0
    unknown = cli("reidentify", "--release", "v2", "--store", path)
    assert (unknown.code, "there is no release 'v2'" in unknown.err) == (1, True)


def test_a_masked_export_is_attacked(cli, tmp_path):
    path = tmp_path / "masked.jsonl"
    MaskedFormat().write(RECORDS, path, WriteOptions(taxonomy=shipped_taxonomy()))
    found = told(cli, path)
    assert (found["documents"], unique(found)) == (3, {"none": 2, "relevance-aware": 1, "surrogates": 0, "all": 0})
    assert told(cli, path, "--format", "masked") == found
    path.write_text(path.read_text(encoding="utf-8").splitlines()[0] + '\n{"id": "x", "text": "y"}\n', encoding="utf-8")
    assert "masked.jsonl:2: the row is not one of a masked export" in cli("reidentify", path).err


@pytest.fixture
def replaced(tmp_path):
    """Records as a run with surrogates writes them, and their vault: Ann is Eva twice, Bob stays Bob, "[NAME_1]" is nobody."""
    rows = [
        ("d1", "Eva met Bob.", [(0, 3), (8, 11)], [("Ann", "Ann"), ("Bob", "Bob")]),
        ("d2", "So Eva said.", [(3, 6)], [("Ann", "Ann")]),
        ("d3", "Kim left.", [(0, 3)], [("[NAME_1]", None)]),
        ("d4", "Eva left.", [(0, 3)], [("Di", "Di")]),
    ]
    records, vault = tmp_path / "records.jsonl", tmp_path / "vault.jsonl"
    lines, kept = [], []
    for number, (source, text, places, stood) in enumerate(rows):
        spans = [
            {"id": f"s{start}", "start": start, "end": end, "text": text[start:end], "type": "name", "relevance": None}
            for start, end in places
        ]
        meta = {"source": {"file": "notes.jsonl", "id": source}, "group_keys": []}
        lines.append({"id": str(number), "locale": "en_US", "context": text, "question": None, "spans": spans, "meta": meta})
        for (start, end), (was, original) in zip(places, stood, strict=True):
            row = {"id": source, "start": 0, "end": 1, "new_start": start, "new_end": end, "text": was}
            kept.append(row | ({} if original is None else {"original": original}))
    for path, written in ((records, lines), (vault, kept)):
        path.write_text("".join(json.dumps(one) + "\n" for one in written), encoding="utf-8")
    return records, vault


def test_the_vault_tells_what_surrogates_stand_for(cli, replaced):
    records, vault = replaced
    found = told(cli, records, "--vault", vault)
    # Without surrogates Bob and Di would be told, with them Bob is, since he stayed.
    assert unique(found) == {"none": 2, "surrogates": 1, "all": 0}
    assert found["surrogate_names"] == {
        "documents": 4,
        "surrogates": 3,
        "originals": 3,
        "surrogates_in_several_documents": 1,
        "linked_documents": 3,
        "linked_pairs": 3,
        "truly_linked_pairs": 1,
        "originals_with_one_surrogate_in_several_documents": 1,
        "surrogates_that_are_an_original_of_their_document": 1,
        "surrogates_that_are_an_original_of_another_document": 0,
        "surrogates_of_several_originals": 1,
    }
    assert "surrogates of names" in cli("reidentify", records, "--vault", vault).out
    vault.write_text(vault.read_text(encoding="utf-8").splitlines()[0] + "\n", encoding="utf-8")
    assert "vault.jsonl: there is nothing for the place [8, 11) of record 0" in cli("reidentify", records, "--vault", vault).err
    assert "records.jsonl:1: the row is not one of a vault" in cli("reidentify", records, "--vault", records).err


@pytest.mark.long
def test_the_folder_holds_figures_tables_and_the_plot(cli, gold, tmp_path):
    pytest.importorskip("matplotlib")
    out = tmp_path / "a" / "out"
    found = told(cli, gold, "--out", out)
    assert (
        sorted(found["files"])
        == sorted(path.name for path in out.iterdir())
        == ["k.png", "k.svg", "reidentification.json", "reidentification.md"]
    )
    assert json.loads((out / "reidentification.json").read_text(encoding="utf-8"))["policies"] == found["policies"]
    tables = (out / "reidentification.md").read_text(encoding="utf-8")
    assert "| unique documents | 2 (66.7%) | 1 (33.3%) | 0 (0.0%) |" in tables
    assert "](k.png)" in tables
    assert not any(value in tables for value in ("Ann", "Oslo", "baker"))
    again = cli("reidentify", gold, "--out", out)
    assert (again.code, "--force" in again.err) == (1, True)
    before = {path.name: path.read_bytes() for path in out.iterdir()}
    assert "written to" in cli("reidentify", gold, "--out", out, "--force").out
    assert {path.name: path.read_bytes() for path in out.iterdir()} == before


def test_rows_that_cannot_be_read_are_counted(cli, gold):
    rows = gold.read_text(encoding="utf-8")
    gold.write_text(rows + '{"context": 7}\n', encoding="utf-8")
    assert told(cli, gold)["reading"]["refused_rows"] == 1
    assert "left out: 1 row that could not be read, 0 values not in the text" in cli("reidentify", gold).out
    assert "gold.jsonl:5: " in cli("reidentify", gold, "--masked-by", gold).err
    gold.write_text('{"context": 7}\n', encoding="utf-8")
    outcome = cli("reidentify", gold)
    assert (outcome.code, "gold.jsonl:1: " in outcome.err, "It was read as native" in outcome.err) == (1, True, True)


@pytest.mark.parametrize(
    ("words", "says"),
    [
        ([], "give a FILE or a --release"),
        (["GOLD", "--release", "v1"], "give a FILE or a --release"),
        (["GOLD", "--store", "x.duckdb"], "a file has no use for --store"),
        (["--release", "v1", "--masked-by", "GOLD"], "--masked-by: this goes with a FILE only"),
        (["GOLD", "--masked-by", "GOLD", "--vault", "GOLD"], "either found or replaced"),
        (["GOLD", "--masked-by-format", "capid"], "there are no predictions to read"),
        (["GOLD", "--mask", "some"], "unknown policy 'some'. Known: none, relevance-aware, predictions, surrogates, all"),
        (["GOLD", "--mask", "predictions"], "--mask predictions: there are no predictions"),
        (["GOLD", "--types", "name,,age"], "--types: not a list of types"),
        (["GOLD", "--rare", "1"], "a value links two documents at least"),
        (["GOLD", "--format", "verifier"], "the format 'verifier' cannot be read"),
    ],
)
def test_requests_that_make_no_sense(cli, gold, words, says):
    outcome = cli("reidentify", *(gold if word == "GOLD" else word for word in words))
    assert outcome.code == 2
    assert says in outcome.err
    assert outcome.err.count("\n") == 1


def test_files_that_are_absent_or_empty(cli, tmp_path):
    assert "absent.jsonl" in cli("reidentify", tmp_path / "absent.jsonl").err
    (tmp_path / "empty.jsonl").touch()
    outcome = cli("reidentify", tmp_path / "empty.jsonl")
    assert (outcome.code, "no documents to attack" in outcome.err) == (1, True)
