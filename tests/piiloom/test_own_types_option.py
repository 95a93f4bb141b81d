"""``--types`` on the command line: from the file to records, releases, exports and reports, and what is refused."""

from __future__ import annotations

import asyncio
import json
from concurrent.futures import ThreadPoolExecutor

import pytest

import piiloom
from piiloom.corpus.store.database import Store
from piiloom.corpus.store.records import iter_records
from piiloom.corpus.store.releases import types_of
from tests.taxonomy.own_types_example import BANK, BY_MODEL, TYPES

pytestmark = pytest.mark.long

TOLD = ("--types", TYPES, "--bank", BANK, "--pairs", "health+pet")
# The sample bank has a story of one of the pairs, and scenarios of three.
OWN = ("--recipe", "staged", *TOLD[:-1], "health+vehicle plate,occupation+vehicle plate,health+pet")


@pytest.fixture(scope="module")
def finished(tmp_path_factory):
    """A store with a run and a release of it."""
    path = tmp_path_factory.mktemp("own") / "own.duckdb"
    settings = {"recipe": "staged", "types": TYPES, "bank": BANK, "pairs": OWN[-1]}
    assert piiloom.generate(samples=40, store=path, **settings).accepted == 40
    piiloom.release("own", store=path, test_size=0.2)
    return path


def _types(records):
    return {span.entity_type for record in records for span in record.spans}


def test_generate_shows_them(cli, store_path):
    outcome = cli("generate", "--samples", 6, *OWN, "--preview", 6, "--store", store_path)
    assert outcome.code == 0, outcome.err
    shown = "".join(outcome.out.split()).replace("│", "")
    assert "|vehicleplate,high]" in shown or "|pet,high]" in shown
    with Store.open(store_path, create=False) as store:
        assert {"vehicle plate", "pet"} & _types(iter_records(store))


def test_the_composer_tells_stories_of_them(cli, store_path):
    assert cli("generate", "--samples", 8, *TOLD, "--quiet", "--store", store_path).code == 0
    with Store.open(store_path, create=False) as store:
        records = list(iter_records(store))
    labels = {(span.entity_type, span.relevance) for record in records for span in record.spans}
    assert {("pet", "high"), ("pet", "low"), ("health", "high")} <= labels


def test_stories_of_them_can_be_checked_and_looked_at(cli):
    assert cli("stories", "check", BANK, "--types", TYPES).out == "no findings\n"
    shown = cli("stories", "show", "--bank", BANK, "--types", TYPES, "-n", 1)
    assert "(pet, pet)" in shown.out
    assert "'pet' is no type" in cli("stories", "check", BANK).err or cli("stories", "check", BANK).code != 0


def test_an_export_tells_its_types(cli, finished, tmp_path):
    for name in ("native", "capid"):
        assert cli("export", "--release", "own", "--format", name, "--out", tmp_path / name, "--store", finished).code == 0
        about = json.loads((tmp_path / name / "release.json").read_text(encoding="utf-8"))
        assert [one["name"] for one in about["own_types"]] == ["vehicle plate", "pet"]
        assert about["own_types"][1]["subtypes"][0]["generator"]["values"][0] == "greyhound"
        # Read again by what release.json says, without the types file.
        assert {"vehicle plate", "pet"} <= _types(piiloom.load(tmp_path / name))
    rows = [json.loads(line) for line in (tmp_path / "capid" / "train.jsonl").read_text(encoding="utf-8").splitlines()]
    assert {"vehicle plate", "pet"} <= {about["type"] for row in rows for about in row["piis"].values()}
    lost = json.loads((tmp_path / "capid" / "release.json").read_text(encoding="utf-8"))["loss"]
    told = [entry for entry in lost["entries"] if "none of CAPID's fifteen" in entry["reason"]]
    values = {value: about["type"] for row in rows for value, about in row["piis"].items()}
    assert told
    assert {values[entry["value"]] for entry in told if entry["value"] in values} == {"vehicle plate", "pet"}


def test_an_export_without_any_is_as_it_was(cli, released, tmp_path):
    assert cli("export", "--release", "v1", "--format", "native", "--out", tmp_path / "plain", "--store", released).code == 0
    assert "own_types" not in json.loads((tmp_path / "plain" / "release.json").read_text(encoding="utf-8"))


def test_import_takes_them_from_the_export_or_from_a_file(cli, finished, tmp_path):
    assert cli("export", "--release", "own", "--format", "native", "--out", tmp_path / "out", "--store", finished).code == 0
    told = cli("import", tmp_path / "out" / "train.jsonl", "--input-format", "native", "--store", tmp_path / "a.duckdb")
    assert told.code == 0, told.err
    assert "own types that the store remembers from now on: vehicle plate, pet" in told.out
    alone = tmp_path / "alone.jsonl"
    alone.write_bytes((tmp_path / "out" / "train.jsonl").read_bytes())
    words = ("import", alone, "--input-format", "native", "--store", tmp_path / "b.duckdb")
    refused = cli(*words)
    assert "not one of the known types" in refused.err + refused.out
    assert "--types" in refused.err + refused.out
    assert cli(*words, "--types", TYPES).code == 0
    with Store.open(tmp_path / "a.duckdb", create=False) as first, Store.open(tmp_path / "b.duckdb", create=False) as second:
        assert types_of(first) == types_of(second)
        assert {"vehicle plate", "pet"} <= _types(iter_records(second))
    assert {"vehicle plate", "pet"} <= _types(piiloom.load(alone, types=TYPES))


@pytest.mark.long
def test_a_report_counts_them_in_their_order(cli, finished, tmp_path):
    types = json.loads(cli("report", "--release", "own", "--store", finished, "--json").out)["types"]
    listed = [one["type"] for one in types]
    assert listed[-2:] == ["vehicle plate", "pet"]
    assert all(one["high"] and one["open"] for one in types[-2:])
    assert cli("export", "--release", "own", "--format", "native", "--out", tmp_path / "out", "--store", finished).code == 0
    alone = tmp_path / "alone.jsonl"
    alone.write_bytes((tmp_path / "out" / "train.jsonl").read_bytes())
    read = json.loads(cli("report", alone, "--types", TYPES, "--json").out)
    assert read["source"]["reading"]["refused"] == 0
    refused = cli("report", "--store", finished, "--types", TYPES)
    assert refused.code == 2
    assert "a store has its own types" in refused.error_line()


def test_a_changed_file_cannot_go_on_with_a_run(cli, store_path, tmp_path):
    assert cli("generate", "--samples", 4, *TOLD, "--store", store_path, "-q").code == 0
    changed = tmp_path / "types.yaml"
    changed.write_text(
        TYPES.read_text(encoding="utf-8").replace("An animal", "Any animal").replace("pets.txt", str(TYPES.parent / "pets.txt")),
        encoding="utf-8",
    )
    refused = cli("generate", "--resume", "last", "--types", changed, "--store", store_path)
    assert refused.code == 2
    assert "was started with other types; what differs: pet.definition, pet.subtypes" in refused.error_line()
    gone_on = cli("generate", "--resume", "last", "--types", TYPES, "--samples", 6, "--json", "--store", store_path)
    assert json.loads(gone_on.out)["accepted"] == 6
    again = cli("generate", "--samples", 4, "--types", changed, "--bank", BANK, "--pairs", "pet+health", "--store", store_path)
    assert again.code == 1
    assert "the store has another definition of an own type" in again.error_line()


@pytest.mark.long
def test_stages_alone_take_them(cli, store_path):
    stages = ("topics", "subtopics", "values", "situation", "peripheral", "question", "paraphrase", "spans", "screen")
    assert cli("stages", "run", *stages, "--samples", 12, *OWN, "--store", store_path).code == 0
    with Store.open(store_path, create=False) as store:
        assert {"vehicle plate", "pet"} & _types(iter_records(store))


def test_what_the_composer_cannot_do_is_refused_before_a_store_is_made(cli, store_path):
    lacking = cli("generate", "--types", TYPES, "--store", store_path)
    assert lacking.code == 2
    assert "there is no story of health+vehicle plate, occupation+vehicle plate" in lacking.error_line()
    invented = cli("generate", "--types", BY_MODEL, "--store", store_path)
    assert invented.code == 2
    assert "values of hobby" in invented.error_line()
    assert not store_path.exists()


@pytest.mark.long
def test_doctor_shows_what_a_file_adds(cli):
    outcome = cli("doctor", "--types", TYPES, "--bank", BANK)
    assert outcome.code == 0, outcome.err
    assert "no findings" in outcome.out
    told = json.loads(cli("doctor", "--types", TYPES, "--bank", BANK, "--json").out)
    assert (told["usable"], told["findings"]) == (True, [])
    plate, pet = told["types"]
    assert (plate["pairs"], pet["pairs"]) == ({"occupation+vehicle plate": 0, "health+vehicle plate": 0}, {"health+pet": 1})
    assert plate["subtypes"][0]["slot"] == "{vehicle_plate.value}"
    assert (plate["subtypes"][0]["values"], pet["subtypes"][0]["values"]) == (23**3 * 10**4, 52)
    assert len(plate["subtypes"][0]["drawn"]) == 5
    assert json.loads(cli("doctor", "--types", BY_MODEL, "--json").out)["types"][0]["subtypes"][0]["drawn"] == []
    noted = cli("doctor", "--types", TYPES)
    assert "the composer needs a story in a --bank of your own for occupation+vehicle plate" in " ".join(noted.out.split())


def test_doctor_refuses_by_file_line_and_key(cli, tmp_path):
    broken = tmp_path / "mine.yaml"
    broken.write_text(
        TYPES.read_text(encoding="utf-8")
        .replace("name: pet", "name: health")
        .replace("pairs: [health]", "pairs: all")
        .replace("pets.txt", "[emu, rhea]"),
        encoding="utf-8",
    )
    outcome = cli("doctor", "--types", broken)
    assert outcome.code == 2
    assert "mine.yaml:13: types[1]" in outcome.error_line()
    bank = tmp_path / "bank.yaml"
    bank.write_text(BANK.read_text(encoding="utf-8").replace("pet.value}", "pet.breed}"), encoding="utf-8")
    found = json.loads(cli("doctor", "--types", TYPES, "--bank", bank, "--json").out)
    assert not found["usable"]
    assert any("type 'pet' has no subtype 'breed'" in finding["message"] for finding in found["findings"])


def test_in_a_notebook_and_in_two_threads_each_run_has_its_own(tmp_path):
    lexicons = {"a": ("emu", "rhea", "kiwi", "cassowary", "ostrich"), "b": ("newt", "toad", "frog", "axolotl", "salamander")}
    for name, values in lexicons.items():
        text = TYPES.read_text(encoding="utf-8").replace("pets.txt", f"[{', '.join(values)}]")
        (tmp_path / f"{name}.yaml").write_text(text, encoding="utf-8")

    def made(name):
        path = tmp_path / f"{name}.duckdb"
        piiloom.generate(samples=12, store=path, types=tmp_path / f"{name}.yaml", bank=BANK, pairs="health+pet")
        with Store.open(path, create=False) as store:
            return {s.text_in(r.context).casefold() for r in iter_records(store) for s in r.spans if s.entity_type == "pet"}

    async def in_a_loop():  # as a notebook's cell is
        return made("a")

    with ThreadPoolExecutor(max_workers=2) as threads:
        first = threads.submit(lambda: asyncio.run(in_a_loop()))
        second = threads.submit(made, "b")
        drawn = {"a": first.result(), "b": second.result()}
    for name, values in lexicons.items():
        assert drawn[name]
        assert drawn[name] <= set(values)


def test_an_estimate_counts_the_calls_for_values_of_a_model(cli, tmp_path):
    words = ("generate", "--provider", "openai", "--samples", 20, "--pairs", "hobby+occupation", "--estimate", "--json")
    estimate = json.loads(cli(*words, "--types", BY_MODEL).out)
    assert next(stage for stage in estimate["stages"] if stage["stage"] == "values")["calls"][0] >= 10
