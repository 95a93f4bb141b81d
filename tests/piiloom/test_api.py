"""The Python functions: the same way as the commands, also where an event loop is running."""

from __future__ import annotations

import asyncio
import inspect
import json
import pydoc
import signal
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

import piiloom
from piiloom.corpus.store.database import Store
from piiloom.corpus.store.deleting import delete_release
from piiloom.corpus.store.releases import get_release, list_releases, new_values_of
from piiloom.foundation.errors import DataError, OutputError, ReleaseError, StoreError, UsageError
from piiloom.foundation.frames import Figures
from piiloom.generation.settings.configuration import RunConfig
from piiloom.surrogates.options import SurrogateOptions
from tests.piiloom.test_help import COMMANDS as COMMAND_LINE

SMALL = {"pairs": "health+occupation"}


def test_generate_release_export_load(store_path, tmp_path):
    seen = []
    progress = piiloom.generate(samples=10, store=store_path, watch=lambda now: seen.append(now.accepted), **SMALL)
    assert (progress.status, progress.accepted, seen[-1]) == ("finished", 10, 10)
    release = piiloom.release("v1", store=store_path, test_size=0)
    assert release.name == "v1"
    report = piiloom.export("v1", tmp_path / "out", store=store_path)
    assert [file.records for file in report.files] == [10]
    records = piiloom.load(tmp_path / "out")
    assert records == piiloom.load(tmp_path / "out", split="train") == piiloom.load(tmp_path / "out" / "train.jsonl")
    assert len(records) == 10
    for record in records:
        assert record.plan.pair == ("health", "occupation")
        assert {"high", "low"} & {span.relevance for span in record.spans}


@pytest.mark.long
def test_running_a_cell_again_goes_on_with_the_run(store_path):
    first = piiloom.generate(samples=4, store=store_path, **SMALL)
    again = piiloom.generate(samples=4, store=store_path, **SMALL)
    fewer = piiloom.generate(samples=2, store=store_path, **SMALL)
    more = piiloom.generate(samples=6, store=store_path, **SMALL)
    other = piiloom.generate(samples=4, seed=8, store=store_path, **SMALL)
    assert first.run_id == again.run_id == fewer.run_id == more.run_id != other.run_id
    assert (again.accepted, fewer.accepted, more.accepted) == (4, 4, 6)


def test_in_a_notebook_an_event_loop_is_running(store_path, tmp_path):
    async def cell():
        progress = piiloom.generate(samples=3, store=store_path, **SMALL)
        piiloom.release("v1", store=str(store_path), test_size="0")
        piiloom.export("v1", str(tmp_path / "out"), format="capid", store=store_path)
        return progress

    assert asyncio.run(cell()).status == "finished"
    assert len(piiloom.load(tmp_path / "out")) == 3


@pytest.mark.long
def test_the_stop_button_of_a_notebook_stops_cleanly(store_path):
    async def cell():
        return piiloom.generate(samples=5000, store=store_path, watch=lambda now: now.accepted == 3 and interrupt())

    def interrupt():
        signal.pthread_kill(threading.main_thread().ident, signal.SIGINT)

    loop = asyncio.new_event_loop()
    try:
        progress = loop.run_until_complete(cell())
    finally:
        loop.close()
    assert progress.status == "interrupted"
    assert 3 <= progress.accepted < 5000


def test_a_provider_is_checked_where_a_loop_is_running(store_path):
    async def cell():
        piiloom.generate(provider="compatible", model="m", base_url="http://127.0.0.1:9/v1", store=store_path)

    with pytest.raises(piiloom.PiiloomError, match="cannot be reached"):
        asyncio.run(cell())
    assert not store_path.exists()


def test_errors_are_ours(store_path, filled, tmp_path):
    with pytest.raises(UsageError, match="samples"):
        piiloom.generate(samples=0, store=store_path)
    with pytest.raises(UsageError, match="sampels"):
        piiloom.generate(sampels=3, store=store_path)
    piiloom.release("v1", store=filled, test_size=0)
    with pytest.raises(ReleaseError, match="v1"):
        piiloom.release("v1", store=filled)
    with pytest.raises(UsageError, match="native, capid"):
        piiloom.export("v1", tmp_path / "out", format="xml", store=filled)


def test_a_misspelt_keyword_gets_the_nearest_one():
    """Each function knows its own keywords and those of its options."""
    misspelt = {
        "compare": ("schem", "scheme"),
        "detect": ("local", "locale"),
        "detect_files": ("resum", "resume"),
        "evaluate": ("scheme", "schemes"),
        "export": ("fromat", "format"),
        "generate": ("stor", "store"),
        "import_file": ("colums", "columns"),
        "load": ("splt", "split"),
        "probe": ("size", "sizes"),
        "records": ("localle", "locale"),
        "release": ("testsize", "test_size"),
        "report": ("relase", "release"),
        "surrogate": ("sede", "seed"),
        "train_encoder": ("epoch", "epochs"),
    }
    assert misspelt.keys() == {name for name in dir(piiloom) if inspect.isfunction(getattr(piiloom, name))}
    for name, (given, meant) in misspelt.items():
        with pytest.raises(UsageError, match=rf"unknown keyword '{given}'; did you mean {meant}\? See help\(piiloom\.{name}\)"):
            getattr(piiloom, name)(**{given: 1})


def test_threads_make_one_store_together(store_path):
    told = {"samples": 2, "store": store_path, **SMALL}
    with ThreadPoolExecutor(4) as pool:
        assert [one.accepted for one in pool.map(lambda seed: piiloom.generate(seed=seed, **told), range(4))] == [2] * 4


@pytest.mark.long
def test_a_release_of_the_same_is_confirmed_and_of_others_refused(filled, store_path, tmp_path):
    first = piiloom.release("v1", store=filled, test_size=0.34)
    assert piiloom.release("v1", store=filled, test_size="0.34") == first
    limit = {"store": filled, "test_size": 3, "max_value_overlap": 0, "group_by": ()}
    assert piiloom.release("limited", **limit) == piiloom.release("limited", **limit)
    with Store.open(filled, create=False) as store:
        assert new_values_of(store, get_release(store, "limited"))  # drawn at random, and kept
        delete_release(store, "limited")
    for other in ({"test_size": 3}, {"test_size": 0.34, "seed": 8}, {"test_size": 0.34, "run": "last"}):
        with pytest.raises(ReleaseError, match="made with other settings"):
            piiloom.release("v1", store=filled, **other)
    piiloom.generate(store=filled, samples=14, pairs="health+occupation")
    with pytest.raises(ReleaseError, match=r"of other records \(12; now there would be 1[34], [12] of them not in it"):
        piiloom.release("v1", store=filled, test_size=0.34)
    with Store.open(filled, create=False) as store:
        assert [row.name for row in list_releases(store)] == ["v1"]


@pytest.mark.long
def test_an_export_of_the_same_is_confirmed_and_of_others_refused(filled, tmp_path):
    out = tmp_path / "out"
    piiloom.release("v1", store=filled, test_size=0.25)
    first = piiloom.export("v1", out, store=filled)
    before = {path.name: (path.stat().st_mtime_ns, path.read_bytes()) for path in out.iterdir()}
    again = piiloom.export("v1", out, store=filled)
    assert (again.files, again.out) == (first.files, out)
    masked = [
        piiloom.export("v1", tmp_path / f"masked-{n}", format="masked", store=filled, seed=seed).files
        for n, seed in enumerate((3, 3, None))
    ]
    assert masked[0] == masked[1] != masked[2]
    assert {path.name: (path.stat().st_mtime_ns, path.read_bytes()) for path in out.iterdir()} == before
    with pytest.raises(OutputError, match="not empty"):
        piiloom.export("v1", out, format="capid", store=filled)
    (out / "train.jsonl").write_text("mine\n")
    with pytest.raises(OutputError, match="not empty"):
        piiloom.export("v1", out, store=filled)
    with pytest.raises(OutputError, match="changed since it was exported"):
        piiloom.export("v1", out, store=filled, force=True)
    assert (out / "train.jsonl").read_text() == "mine\n"
    (out / "train.jsonl").write_bytes(before["train.jsonl"][1])
    assert piiloom.export("v1", out, store=filled, force=True).files == first.files


def test_load_reads_the_format_that_it_is_told(released, tmp_path):
    piiloom.export("v1", tmp_path / "capid", format="capid", store=released)
    records = piiloom.load(tmp_path / "capid" / "train.jsonl", input_format="capid")
    assert [record.context for record in records] == [record.context for record in piiloom.load(tmp_path / "capid")]
    with pytest.raises(UsageError, match="the export is capid, not native"):
        piiloom.load(tmp_path / "capid", input_format="native")


def test_import_file(released, store_path, tmp_path):
    piiloom.export("v1", tmp_path / "out", store=released)
    with (tmp_path / "out" / "train.jsonl").open("a") as rows:
        rows.write("{}\n")
    report = piiloom.import_file(tmp_path / "out" / "train.jsonl", store=tmp_path / "new.duckdb")
    assert (report.records, len(report.rejected)) == (12, 1)
    assert (tmp_path / "train.rejects.jsonl").exists()
    assert piiloom.release("v1", store=tmp_path / "new.duckdb", test_size=0).name == "v1"
    with pytest.raises(DataError, match="does not exist"):
        piiloom.import_file(tmp_path / "nothing.jsonl", store=tmp_path / "new.duckdb")


@pytest.mark.long
def test_probe_gives_what_the_command_prints(cli, released, tmp_path):
    pytest.importorskip("sklearn_crfsuite")
    piiloom.export("v1", tmp_path / "out", store=released)
    train = tmp_path / "out" / "train.jsonl"
    told = json.loads(cli("probe", train, train, "--by-type", "--json").out)
    told.pop("errors_file")
    found = piiloom.probe(train, train, by_type=True, errors=tmp_path / "errors.jsonl")
    assert found.pop("errors_file") == str(tmp_path / "errors.jsonl")
    assert json.loads(json.dumps(found)) == told
    assert (tmp_path / "errors.jsonl").exists()
    with pytest.raises(UsageError, match="nothing to test on"):
        piiloom.probe(train, ())
    by_records = piiloom.probe(piiloom.load(train), piiloom.load(train))
    several = piiloom.probe(train, [train, piiloom.load(train)])["trainings"][0]["tests"]
    assert [one["spans"] for one in several] == [found["trainings"][0]["tests"][0]["spans"]] * 2
    assert by_records["trainings"][0]["spans"] == found["trainings"][0]["spans"]
    assert len(by_records.to_pandas()) > 20


def test_surrogate_gives_what_the_command_prints(cli, tmp_path):
    source = tmp_path / "notes"
    source.mkdir()
    (source / "a.txt").write_text("[PERSON_1] called [PERSON_2] from [CITY]. [PERSON_1] paid.")
    told = json.loads(cli("surrogate", "run", source, "--out", tmp_path / "one", "--seed", 3, "--workers", 1, "--json").out)
    found = piiloom.surrogate(source, tmp_path / "two", seed=3, workers="1", vault=str(tmp_path / "vault.jsonl"))
    assert (found.documents, found.replaced) == (1, 4)
    assert {**found.report, "out": str(tmp_path / "one")} == told
    assert any("vault.jsonl will hold what was redacted" in warning for warning in found.warnings)
    again = piiloom.surrogate(source, tmp_path / "three", seed=3, workers=1, groups="balanced", values="code")
    assert len(again.warnings) == 1
    assert again.warnings[-1].startswith("--seed makes surrogates reproducible for everybody")
    assert again.report == found.report
    assert (tmp_path / "one" / "records.jsonl").read_bytes() == (tmp_path / "two" / "records.jsonl").read_bytes()


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"sede": 3}, "sede"),
        ({"strategy": "random"}, "strategy"),
        ({"keep_probability": 2.0}, "keep_probability: must be at most 1"),
        ({"concurrency": 0}, "concurrency: must be at least 1"),
        ({"workers": "many"}, "number of workers"),
        ({"values": "llm", "provider": "compatible", "model": "m", "base_url": "http://127.0.0.1:9/v1"}, "must be confirmed"),
    ],
)
def test_what_surrogate_cannot_do_is_said(options, said, tmp_path):
    (tmp_path / "a.txt").write_text("[PERSON_1] called.")
    with pytest.raises(UsageError, match=said):
        piiloom.surrogate(tmp_path / "a.txt", tmp_path / "out", **options)
    assert not (tmp_path / "out").exists()


@pytest.mark.long
def test_nothing_is_printed_and_a_loop_may_run(filled, tmp_path, capfd):
    (tmp_path / "a.txt").write_text("[PERSON_1] called.")

    async def cell():
        piiloom.generate(store=filled, samples=13, pairs="health+occupation")
        piiloom.release("v1", store=filled, test_size=0.25)
        piiloom.export("v1", tmp_path / "out", store=filled)
        piiloom.import_file(tmp_path / "out" / "test.jsonl", store=tmp_path / "new.duckdb")
        piiloom.report(input=tmp_path / "out" / "train.jsonl", out=tmp_path / "report")
        piiloom.surrogate(tmp_path / "a.txt", tmp_path / "filled", locale="xh_ZA", language_words="none", workers="1")
        piiloom.probe(tmp_path / "out" / "train.jsonl", tmp_path / "out" / "test.jsonl")
        return piiloom.load(tmp_path / "out")

    assert len(asyncio.run(cell())) == 13
    assert capfd.readouterr() == ("", "")


def test_settings_are_typed_as_they_are():
    keywords = inspect.signature(piiloom.generate).parameters
    assert keywords.keys() == RunConfig.model_fields.keys() | {"store", "watch"}
    assert all(keywords[name].default == field.get_default() for name, field in RunConfig.model_fields.items())
    keywords = inspect.signature(piiloom.surrogate).parameters
    assert keywords.keys() == SurrogateOptions.model_fields.keys() | {"source", "out"}


@pytest.mark.long
def test_a_type_checker_finds_a_misspelt_setting(tmp_path):
    script = tmp_path / "script.py"
    script.write_text(
        "import piiloom\n"
        "piiloom.generate(samples=3, seed=7, sampling={'situation': {'temperature': 1.0}})\n"
        "piiloom.generate(sampels=3)\n"
        "piiloom.generate(values='lm')\n"
        "piiloom.surrogate('a', 'b', sede=3)\n"
        "piiloom.release('v1', test_siz=3)\n"
    )
    done = subprocess.run(
        [sys.executable, "-m", "mypy", "--config-file", "pyproject.toml", str(script)],  # so the cache of `make lint` serves
        capture_output=True,
        text=True,
        check=False,
        cwd=Path(__file__).parents[2],
    )
    found = sorted({int(line.split(":")[1]) for line in done.stdout.splitlines() if ": error:" in line})
    assert found == [3, 4, 5, 6], done.stdout + done.stderr


# The command of each function, and the names that differ: option of the command → keyword, or "" where Python needs none.
COMMANDS = {
    "import_file": ("import", {"file": "path"}),
    "release": ("release", {}),
    "export": ("export", {}),
    "report": ("report", {}),
    "probe": ("probe", {}),
    "evaluate": ("evaluate", {}),
    "compare": ("compare", {"form": ""}),
    "surrogate": ("surrogate run", {"help_all": ""}),
    "detect_files": ("detect", {"to": "", "store": "", "release": "", "record": "", "help_all": ""}),
    "train_encoder": ("train encoder", {"help_all": ""}),
    "records": ("records list", {"texts": ""}),
}


def test_each_option_of_a_command_is_a_keyword():
    for name, (command, other) in COMMANDS.items():
        function = getattr(piiloom, name)
        keywords = {one.name for one in inspect.signature(function).parameters.values()}
        wanted = {other.get(option.name, option.name) for option in COMMAND_LINE[command].params} - {"", "as_json", "help_all"}
        assert wanted <= keywords, (name, sorted(wanted - keywords))


def test_records_of_a_store(filled, released, tmp_path):
    everything = piiloom.records(store=released)
    assert len(everything) == 12
    assert everything == piiloom.records(store=str(released), run="last") == piiloom.records(store=released, release="v1", split="train")
    some = piiloom.records(store=released, only_types="health", relevance="high", pair="occupation+health", limit=2, offset=1)
    assert 0 < len(some) <= 2
    assert all(any((span.entity_type, span.relevance) == ("health", "high") for span in record.spans) for record in some)
    assert piiloom.records(store=released, text=everything[3].context[5:40]) != []
    with pytest.raises(UsageError, match="no record has 'helth'"):
        piiloom.records(store=released, only_types="helth")
    with pytest.raises(StoreError, match="no store here"):
        piiloom.records(store=tmp_path / "none.duckdb")


def test_a_report_of_a_store(released):
    figures = piiloom.report(store=released)
    assert figures == piiloom.report(store=str(released))
    assert piiloom.report(store=released, release="v1")["source"]["release"] == "v1"
    with pytest.raises(UsageError, match="no use for --store"):
        piiloom.report(input="train.jsonl", store=released)
    with pytest.raises(UsageError, match="own types"):
        piiloom.report(store=released, types="my_types.yaml")


@pytest.mark.long
def test_every_result_is_a_data_frame(filled, tmp_path):
    out = tmp_path / "out"
    (tmp_path / "a.txt").write_text("[PERSON_1] called.")
    piiloom.release("v1", store=filled, test_size=3)
    exported = piiloom.export("v1", out, store=filled)
    sizes = [file.records for file in exported.files]
    test, rows = piiloom.load(out, split="test"), piiloom.records(store=filled)
    frames = {
        "generate": (piiloom.generate(store=filled, samples=12, **SMALL), {"accepted": [12]}),
        "release": (piiloom.release("v1", store=filled, test_size=3), {"name": ["v1"]}),
        "export": (exported, {"split": ["train", "test"], "records": sizes}),
        "exports": (piiloom.export("v1", tmp_path / "both", format=["native", "capid"], store=filled), {"records": sizes * 2}),
        "load": (test, {"context": [record.context for record in test], "model": ["story-bank"] * len(test)}),
        "records": (rows, {"id": [record.id for record in rows], "plan_index": [*range(len(rows))]}),
        "import_file": (piiloom.import_file(out / "test.jsonl", store=tmp_path / "new.duckdb"), {"records": [len(test)]}),
        "evaluate": (piiloom.evaluate(test, test), {"scheme": None, "f1": None}),
        "compare": (piiloom.compare(test, {"a/b": test, "c": test}), {"system": ["a/b", "c"], "f1": [1.0, 1.0], "f1_low": [1.0, 1.0]}),
        "detect": (piiloom.detect("Call 212-555-0123", locale="en_US"), {"value": ["212-555-0123"], "start": [5]}),
        "detect several": (piiloom.detect(["no", "Call 212-555-0123"], locale="en_US"), {"text": [1], "value": ["212-555-0123"]}),
        "detect nothing": (piiloom.detect("no", locale="en_US"), {"value": [], "score": []}),
        "detect_files": (piiloom.detect_files(out / "test.jsonl", tmp_path / "d.jsonl", locale="en_US", workers="1"), {"kept": [0]}),
        "surrogate": (piiloom.surrogate(tmp_path / "a.txt", tmp_path / "filled", workers="1"), {"replaced": [1]}),
        "report": (piiloom.report(store=filled), {"figure": None, "value": None}),
    }
    for name, (result, columns) in frames.items():
        frame = result.to_pandas()
        assert "<table" in result._repr_html_(), name
        for column, expected in columns.items():
            assert column in frame.columns, (name, column)
            assert expected is None or frame[column].tolist() == expected, (name, column)
    figures = frames["evaluate"][0].to_pandas().set_index(["of", "name"])["f1"]
    assert figures["all", "all"] == figures["type", "health"] == 1.0
    report = frames["report"][0].to_pandas().set_index("figure")["value"]
    assert report["source.file"] == filled.name


def test_load_names_what_is_wrong(tmp_path):
    with pytest.raises(DataError, match="no such file"):
        piiloom.load(tmp_path / "nothing")
    with pytest.raises(DataError, match="not an export"):
        piiloom.load(tmp_path)
    (tmp_path / "release.json").write_text(json.dumps({"format": "native", "files": []}))
    with pytest.raises(DataError, match="damaged"):
        piiloom.load(tmp_path)
    (tmp_path / "release.json").write_text(json.dumps({"format": "native", "files": {"train.jsonl": {"split": "train"}}}))
    with pytest.raises(UsageError, match="train"):
        piiloom.load(tmp_path, split="test")
    (tmp_path / "train.jsonl").write_text('{"context": "I am here.", "spans": [{"start": 0, "end": 99}]}\n')
    with pytest.raises(DataError, match=r"train\.jsonl:1"):
        piiloom.load(tmp_path)
    with pytest.raises(UsageError, match="folder"):
        piiloom.load(tmp_path / "train.jsonl", split="train")


def test_the_package_exports_what_it_documents():
    assert all(getattr(piiloom, name) for name in piiloom.__all__)
    assert dir(piiloom) == sorted(piiloom.__all__)
    assert "report(" in pydoc.render_doc(piiloom, renderer=pydoc.plaintext)
    with pytest.raises(AttributeError):
        _ = piiloom.nothing


def test_a_table_in_a_notebook_escapes_texts():
    assert "&lt;b&gt;x&lt;/b&gt;" in Figures({"a": "<b>x</b>"})._repr_html_()
