"""``piiloom surrogate``: what goes in and comes out of run, survey, check and leakage, option by option."""

from __future__ import annotations

import importlib.util
import json
import os
import pty
import re
import stat
import subprocess
import sys
import zipfile
from datetime import date
from pathlib import Path

import pytest
import typer
import yaml

from pii_values.names.index import builtin
from pii_values.names.pools import GENDERS, NamePools
from pii_values.names.regions import REGIONS
from piiloom.surrogate_cmd import surrogate_app
from tests.fakes.llm_server import LLMServer
from tests.pii_values.names.small_dataset import install
from tests.pii_values.names.test_index import package
from tests.providers.provider_calls import MODELS
from tests.surrogates.by_model.model_runs import naming

__all__ = ["package"]

FIRST = "Dear [NAME 1], on [DATE] <STUDENT> wrote to [EMAIL]. [NAME 1] said a<b [sic] <ZORBLAX>.\n"
SECOND = "<TUTOR> met <STUDENT> in [CITY] at [COMPANY]. She asked [PHONE].\n"
TAG = re.compile(r"[<\[](?:NAME \d|DATE|STUDENT|EMAIL|TUTOR|CITY|COMPANY|PHONE)[>\]]")
PARTS = ("records.jsonl", "map.jsonl", "report.json")


@pytest.fixture(autouse=True)
def _own_names(monkeypatch, tmp_path):
    """The index of names that ships, whatever this machine's user has built."""
    monkeypatch.delenv("PIILOOM_NAMES", raising=False)
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "no-data"))


@pytest.fixture
def notes(tmp_path):
    folder = tmp_path / "notes"
    (folder / "deep").mkdir(parents=True)
    (folder / "a.txt").write_text(FIRST)
    (folder / "deep" / "b.txt").write_text(SECOND)
    return folder


@pytest.fixture
def fill(cli, tmp_path):
    """Run over an input into ``out`` with one worker; gives the report that ``--json`` prints."""

    def call(source, *words, out="out"):
        outcome = cli("surrogate", "run", source, "--out", tmp_path / out, "--workers", 1, "--json", *words)
        assert outcome.code == 0, outcome.err
        assert "Traceback" not in outcome.err
        return json.loads(outcome.out)

    return call


def records(folder):
    return [json.loads(line) for line in (folder / "records.jsonl").read_text("utf-8").splitlines()]


def put_in(folder, kind=""):
    """Texts of the spans, of one entity type or all."""
    return [span["text"] for record in records(folder) for span in record["spans"] if kind in {"", span["type"], span.get("subtype")}]


def lines(path, texts, **more):
    path.write_text("".join(json.dumps({"id": f"r{n}", "text": text, **more}) + "\n" for n, text in enumerate(texts)))
    return path


def write_zip(path, notes):
    with zipfile.ZipFile(path, "w") as archive:
        for file in sorted(notes.rglob("*.txt")):
            archive.write(file, file.relative_to(notes))


FORMATS = {
    "txt": ("a.txt", lambda path, _: path.write_text(FIRST), (), 1),
    "jsonl": ("a.jsonl", lambda path, _: lines(path, [FIRST, SECOND]), (), 2),
    "json": ("a.json", lambda path, _: path.write_text(json.dumps([{"note": {"text": FIRST}}])), ("--text-field", "note.text"), 1),
    "csv": ("a.csv", lambda path, _: path.write_text(f'id,message\n1,"{FIRST}"\n2,{SECOND}'), ("--text-field", "message"), 2),
    "headless tsv": ("a.tsv", lambda path, _: path.write_text(f"x\t{FIRST}y\t{SECOND}"), ("--no-header", "--text-field", "2"), 2),
    "semicolons": ("a.csv", lambda path, _: path.write_text(f"n;text\n1;{SECOND}"), ("--delimiter", ";"), 1),
    "zip": ("a.zip", write_zip, (), 2),
    "xml": ("a.xml", lambda path, _: path.write_text("<r><p>Hi [NAME], call [PHONE].</p><!-- [NAME] --></r>\n"), (), 1),
    "latin": ("a.dat", lambda path, _: path.write_bytes(f"Señor {FIRST}".encode("cp1252")), ("--format", "txt", "--encoding", "cp1252"), 1),
}


@pytest.mark.parametrize("name", FORMATS)
def test_every_format_is_filled_mirrored_and_proved(cli, fill, tmp_path, notes, name):
    file, write, words, documents = FORMATS[name]
    source = tmp_path / file
    write(source, notes)
    report = fill(source, *words)
    out = tmp_path / "out"
    assert {path.name for path in out.iterdir()} == {"mirror", *PARTS}
    assert report["documents"] == len(records(out)) == documents
    assert report["out"] == str(out)
    assert report["replaced"]["total"] == len(put_in(out)) > 0
    assert not TAG.search("".join(record["context"] for record in records(out)))
    assert [path.name for path in (out / "mirror").iterdir()] == [file]
    outcome = cli("surrogate", "check", out, source)
    assert (outcome.code, outcome.err) == (0, "")
    assert outcome.out.startswith(f"{documents} documents, {report['replaced']['total']} replaced ranges; ")


def test_a_folder_is_read_with_all_below_it(fill, notes, tmp_path):
    report = fill(notes)
    assert [row["file"] for row in report["files"]] == ["a.txt", "deep/b.txt"]
    filled = (tmp_path / "out" / "mirror" / "deep" / "b.txt").read_text()
    assert re.fullmatch(r"\S.* met \S.* in \S.* at \S.*\. She asked \S.*\.\n", filled)
    assert report["unknown"]["tags"] == {"<ZORBLAX>": 1}
    assert report["left_alone"]["brackets"] == {"[sic]": 1}


def test_parquet(cli, fill, tmp_path):
    arrow = pytest.importorskip("pyarrow")
    from pyarrow import parquet

    source = tmp_path / "a.parquet"
    parquet.write_table(arrow.table({"n": [1, 2], "text": [FIRST, SECOND]}), source)
    assert fill(source)["documents"] == 2
    assert cli("surrogate", "check", tmp_path / "out", source).code == 0


def test_what_run_prints_for_people(cli, notes, tmp_path):
    outcome = cli("surrogate", "run", notes, "--out", tmp_path / "out", "--workers", 1, "--leakage", "0.05")
    assert outcome.code == 0
    assert "person 5" in outcome.out
    assert "<ZORBLAX> 1" in outcome.out
    assert "[sic] 1" in outcome.out
    assert "at 5.0% misses a document leaks recognisably: consistent " in outcome.out
    assert outcome.err == "warning: places that look like placeholders of an unknown meaning: 1\n"


SPANNED = "Anna Ek left Acme Corp. Anna Ek wept."
SPANS = [
    {"start": 0, "end": 7, "type": "name", "value_id": "p"},
    {"start": 13, "end": 22, "type": "organization", "subtype": "company", "value_id": "a"},
    {"start": 24, "end": 31, "type": "name", "value_id": "p"},
]


@pytest.mark.parametrize("words", [("--spans",), ("--spans-field", "marks")])
def test_spans_are_replaced_instead_of_placeholders(cli, fill, tmp_path, words):
    field = "marks" if "marks" in words else "spans"
    source = lines(tmp_path / "gold.jsonl", [SPANNED], **{field: SPANS})
    report = fill(source, *words)
    (record,) = records(tmp_path / "out")
    first, company, second = (span["text"] for span in record["spans"])
    assert first == second
    assert record["context"] == f"{first} left {company}. {second} wept."
    assert not re.search("Anna|Acme", record["context"])
    assert report["about"]["placeholders"] == "spans"
    assert cli("surrogate", "check", tmp_path / "out", source).code == 0


def test_survey_to_standard_output_is_a_mapping(cli, notes):
    outcome = cli("surrogate", "survey", notes)
    assert (outcome.code, outcome.err) == (0, "")
    mapping = yaml.safe_load(outcome.out)
    assert {rule["tag"]: rule["kind"] for rule in mapping["rules"]}["[NAME {index}]"] == "person"
    assert [one["tag"] for one in mapping["unknown"]] == ["<ZORBLAX>"]
    assert [one["tag"] for one in mapping["left_alone"]] == ["[sic]"]


def test_survey_to_a_file_prints_a_table_and_replaces_nothing_unasked(cli, notes, tmp_path):
    file = tmp_path / "mapping.yaml"
    outcome = cli("surrogate", "survey", notes, "--out", file)
    assert outcome.code == 0
    assert "[NAME {index}]" in outcome.out
    assert f"8 rules, 1 unknown tags, 1 kinds of brackets left alone: {file}" in outcome.out
    before = file.read_bytes()
    file.write_text("mine")
    refused = cli("surrogate", "survey", notes, "--out", file)
    assert (refused.code, file.read_text()) == (1, "mine")
    assert "--force" in refused.error_line()
    assert cli("surrogate", "survey", notes, "--out", file, "--force").code == 0
    assert file.read_bytes() == before


def test_survey_as_json(cli, notes, tmp_path):
    told = json.loads(cli("surrogate", "survey", notes, "--json").out)
    assert (told["documents"], told["file"]) == (2, None)
    assert {rule["pattern"]: rule["count"] for rule in told["rules"]}["<STUDENT>"] == 2
    assert all(rule["use"] and rule["confidence"] > 0.9 for rule in told["rules"])
    assert told["unknown"] == [{"tag": "<ZORBLAX>", "count": 1}]
    assert told["left_alone"] == [{"tag": "[sic]", "count": 1}]
    file = tmp_path / "m.yaml"
    assert json.loads(cli("surrogate", "survey", notes, "--json", "--out", file).out)["file"] == str(file)
    assert file.exists()


@pytest.fixture
def mapping(cli, notes, tmp_path):
    """A surveyed mapping to edit: ``mapping(change)`` writes it again after *change* has worked on its data."""
    file = tmp_path / "mapping.yaml"
    assert cli("surrogate", "survey", notes, "--out", file).code == 0

    def edit(change):
        data = yaml.safe_load(file.read_text())
        change(data)
        file.write_text(yaml.safe_dump(data, sort_keys=False))
        return file

    return edit


def test_an_unchanged_mapping_does_what_auto_does(fill, mapping, notes, tmp_path):
    fill(notes, out="auto")
    report = fill(notes, "--placeholders", mapping(lambda data: None), out="told")
    assert report["about"]["placeholders"] == "mapping.yaml"
    for name in ("records.jsonl", "map.jsonl", "mirror/a.txt"):
        assert (tmp_path / "auto" / name).read_bytes() == (tmp_path / "told" / name).read_bytes()


def test_a_changed_kind_and_a_new_regex_are_obeyed(fill, mapping, notes, tmp_path):
    (notes / "c.txt").write_text("Badge ##17## of [COMPANY], and <ZORBLAX>, [CITY].\n")

    def change(data):
        by_tag = {rule["tag"]: rule for rule in data["rules"]}
        by_tag["[COMPANY]"]["kind"] = "university"
        by_tag["[CITY]"]["use"] = False
        data["rules"].append({"regex": r"##(?P<index>\d+)##", "kind": "employee_id"})
        data["rules"].append({"tag": "<ZORBLAX>", "kind": "club"})
        data["unknown"] = []

    report = fill(notes, "--placeholders", mapping(change))
    assert report["replaced"]["by_kind"]["employee_id"] == 1
    assert report["replaced"]["by_kind"]["university"] == report["replaced"]["by_kind"]["club"] == 2
    assert not {"company", "city"} & set(report["replaced"]["by_kind"])
    assert report["unknown"]["tags"] == {"[CITY]": 2}
    assert "##" not in (tmp_path / "out" / "mirror" / "c.txt").read_text()


@pytest.mark.parametrize("place", ["mirror/a.txt", "records.jsonl", "map.jsonl"])
def test_check_finds_what_was_changed_afterwards(cli, fill, notes, tmp_path, place):
    fill(notes)
    told = json.loads(cli("surrogate", "check", tmp_path / "out", notes, "--json").out)
    assert told == {"documents": 2, "ranges": 10, "same": len(FIRST + SECOND) - sum(map(len, TAG.findall(FIRST + SECOND)))}
    file = tmp_path / "out" / place
    file.write_text(file.read_text().replace("Dear", "Deer").replace("[[5,", "[[6,"))
    outcome = cli("surrogate", "check", tmp_path / "out", notes)
    assert outcome.code == 1
    assert re.match(r"(mirror/a\.txt|records\.jsonl|map\.jsonl):1: ", outcome.error_line())


def test_leakage_prints_a_table_and_writes_a_report(cli, notes, tmp_path):
    out = tmp_path / "deep" / "leakage"
    outcome = cli("surrogate", "leakage", notes, "--miss", "0.01,0.05", "--out", out)
    assert outcome.code == 0
    assert "1.00%" in outcome.out
    assert "5.00%" in outcome.out
    assert "4 people, 5 mentions" in outcome.out
    assert str(out) in outcome.err
    report = json.loads((out / "leakage.json").read_text())
    assert [row["miss_rate"] for row in report["leakage"]] == [0.01, 0.05]
    plots = {"leakage.png"} if importlib.util.find_spec("matplotlib") else set()
    assert {path.name for path in out.iterdir()} == {"leakage.json", *plots}


def test_leakage_as_json_is_json_also_when_files_are_written(cli, notes, tmp_path):
    words = ("surrogate", "leakage", notes, "--miss", "0.05", "--json")
    plain = json.loads(cli(*words).out)
    assert (plain["documents"], plain["people"], plain["mentions"]) == (2, 4, 5)
    assert json.loads(cli(*words, "--out", tmp_path / "l").out) == plain == json.loads((tmp_path / "l" / "leakage.json").read_text())


def test_leakage_without_matplotlib_says_what_is_missing(spawn, notes, tmp_path):
    before = "sys.modules['matplotlib'] = None"
    outcome = spawn("surrogate", "leakage", notes, "--miss", "0.05", "--out", tmp_path / "l", before=before)
    assert outcome.code == 0
    assert "piiloom[report]" in outcome.err
    assert [path.name for path in (tmp_path / "l").iterdir()] == ["leakage.json"]


def test_run_says_for_the_miss_rates_how_often_a_document_leaks(fill, notes):
    (row,) = fill(notes, "--leakage", "0.05")["engine"]["leakage"]
    assert row["miss_rate"] == 0.05
    assert row["consistent"] >= row["per-mention"] >= 0


OFTEN = ["<STUDENT1> " * 40 + "<STUDENT2>."]


@pytest.mark.parametrize(("strategy", "least", "most"), [("consistent", 2, 2), ("per-mention", 20, 41), ("markov", 8, 36)])
def test_strategies_differ_in_how_many_names_a_person_has(fill, tmp_path, strategy, least, most):
    report = fill(lines(tmp_path / "a.jsonl", OFTEN), "--strategy", strategy)
    assert report["about"]["strategy"] == report["engine"]["strategy"] == strategy
    assert least <= len(set(put_in(tmp_path / "out"))) <= most


def test_markov_keeps_as_often_as_it_is_told(fill, tmp_path):
    source = lines(tmp_path / "a.jsonl", OFTEN)
    for keep, out in (("1", "always"), ("0", "never")):
        assert fill(source, "--strategy", "markov", "--keep", keep, out=out)["about"]["keep"] == float(keep)
    assert len(set(put_in(tmp_path / "always"))) == 2 < len(set(put_in(tmp_path / "never")))


@pytest.mark.parametrize("scope", ["document", "corpus"])
def test_scope_says_whether_documents_share_their_people(fill, tmp_path, scope):
    fill(lines(tmp_path / "a.jsonl", ["[NAME 1] left."] * 12), "--scope", scope)
    assert (len(set(put_in(tmp_path / "out"))) == 1) == (scope == "corpus")


def test_groups_are_exact_or_weighted(fill, tmp_path):
    source = lines(tmp_path / "a.jsonl", ["[NAME 1] left."] * 40)
    exact = fill(source, out="exact")["engine"]["people"]["groups"]
    assert set(exact.values()) == {4}
    report = fill(source, "--groups", "weights", "--weights", "female=3,Africa=0,asia=2", out="weighted")
    groups = report["engine"]["people"]["groups"]
    assert {name: groups[f"female {name}"] for name in ("Africa", "Asia", "Europe")} == {"Africa": 0, "Asia": 12, "Europe": 6}
    assert sum(count for name, count in groups.items() if name.startswith("female")) == 30
    assert report["about"]["weights"] == {"genders": [3.0, 1.0], "regions": [0.0, 1.0, 2.0, 1.0, 1.0]}


def test_groups_by_cue_take_names_of_the_texts_own_country(fill, tmp_path):
    source = lines(tmp_path / "a.jsonl", ["[NAME 1] kwam."] * 30)
    pools = NamePools(builtin())
    dutch = {*pools.family("NL", "female"), *pools.family("NL", "male")}
    shares = {}
    for groups in ("cue", "exact"):
        fill(source, "--groups", groups, "--locale", "nl_NL", out=groups)
        names = put_in(tmp_path / groups)
        shares[groups] = sum(name.split(" ", 1)[1] in dutch for name in names) / len(names)
    assert shares["cue"] == 1
    assert shares["exact"] < 0.5


def test_english_only_leaves_names_that_are_known_in_english_speaking_countries(fill, tmp_path):
    report = fill(lines(tmp_path / "a.jsonl", ["[NAME 1] left."] * 60), "--english-only")
    pools = NamePools(builtin(), english_only=True)
    known = {name for region in REGIONS for country in pools.countries(region) for sex in GENDERS for name in pools.given(country, sex)}
    assert report["about"]["english_only"] is True
    names = put_in(tmp_path / "out")
    assert all(name.isascii() for name in names)
    assert {name.split()[0] for name in names} <= known
    fill(tmp_path / "a.jsonl", out="any")
    assert not {name.split()[0] for name in put_in(tmp_path / "any")} <= known


def test_known_dates_keep_their_weekday_when_asked(fill, tmp_path):
    texts = [f"Seen on 2021-03-{day:02}." for day in range(1, 25)]
    spans = [{"start": 8, "end": 18, "type": "datetime", "subtype": "date"}]
    source = lines(tmp_path / "a.jsonl", texts, spans=spans)

    def moved(*words, out):
        fill(source, "--spans", *words, out=out)
        return [(date.fromisoformat(text) - date(2021, 3, day)).days for day, text in enumerate(put_in(tmp_path / out), 1)]

    assert {days % 7 for days in moved("--keep-weekdays", out="kept")} == {0}
    assert len({days % 7 for days in moved(out="free")}) > 1


def test_unknown_tags_are_kept_or_get_a_neutral_value_or_stop_the_run(cli, fill, notes, tmp_path):
    kept = fill(notes, "--on-unknown", "keep", out="kept")
    assert "<ZORBLAX>" in (tmp_path / "kept" / "mirror" / "a.txt").read_text()
    generic = fill(notes, "--on-unknown", "generic", out="generic")
    assert generic["replaced"]["total"] == kept["replaced"]["total"] + 1
    assert "<ZORBLAX>" not in (tmp_path / "generic" / "mirror" / "a.txt").read_text()
    assert generic["unknown"]["tags"] == kept["unknown"]["tags"] == {"<ZORBLAX>": 1}
    outcome = cli("surrogate", "run", notes, "--out", tmp_path / "none", "--on-unknown", "error", "--workers", 1)
    assert outcome.code == 1
    assert re.match(r"a\.txt: characters \d+ to \d+ look like a placeholder", outcome.error_line())
    assert "ZORBLAX" not in outcome.err
    assert not (tmp_path / "none").exists()


def test_a_vault_is_for_its_owner_only_and_warned_about(cli, notes, tmp_path):
    vault = tmp_path / "apart" / "vault.jsonl"
    vault.parent.mkdir(mode=0o700)
    old = os.umask(0)
    try:
        outcome = cli("surrogate", "run", notes, "--out", tmp_path / "out", "--vault", vault, "--workers", 2)
    finally:
        os.umask(old)
    assert outcome.code == 0
    assert outcome.err.startswith(f"warning: {vault} will hold what was redacted")
    assert "The vault undoes the surrogates" in outcome.err
    assert stat.S_IMODE(vault.stat().st_mode) == 0o600
    rows = [json.loads(line) for line in vault.read_text().splitlines()]
    assert "[NAME 1]" in json.dumps(rows)
    assert not [path for path in (tmp_path / "out").rglob("*") if path.is_file() and b"[NAME 1]" in path.read_bytes()]


def test_nothing_tells_the_placeholders_places_apart_without_a_vault(fill, notes, tmp_path):
    fill(notes)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["notes", "out"]


def test_force_replaces_an_earlier_run_and_nothing_else(cli, fill, notes, tmp_path):
    fill(notes)
    words = ("surrogate", "run", notes, "--out", tmp_path / "out", "--workers", 1, "--seed", 8)
    before = (tmp_path / "out" / "records.jsonl").read_bytes()
    refused = cli(*words)
    assert refused.code == 2
    assert "--force" in refused.error_line()
    assert (tmp_path / "out" / "records.jsonl").read_bytes() == before
    assert cli(*words, "--force").code == 0
    assert (tmp_path / "out" / "records.jsonl").read_bytes() != before
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "letter.txt").write_text("dear")
    foreign = cli("surrogate", "run", notes, "--out", tmp_path / "mine", "--force")
    assert foreign.code == 2
    assert "no earlier run" in foreign.error_line()
    assert (tmp_path / "mine" / "letter.txt").read_text() == "dear"


def test_same_seed_same_bytes_for_any_number_of_workers(cli, tmp_path):
    source = lines(tmp_path / "a.jsonl", [f"{SECOND}{number}" for number in range(60)])
    for workers in (1, 2, "auto"):
        words = ("surrogate", "run", source, "--out", tmp_path / f"w{workers}", "--workers", workers, "--seed", 11)
        assert cli(*words).code == 0
    for name in (*PARTS, "mirror/a.jsonl"):
        assert len({(tmp_path / f"w{workers}" / name).read_bytes() for workers in (1, 2, "auto")}) == 1, name
    assert cli("surrogate", "run", source, "--out", tmp_path / "other", "--workers", 1, "--seed", 12).code == 0
    assert (tmp_path / "other" / "records.jsonl").read_bytes() != (tmp_path / "w1" / "records.jsonl").read_bytes()


def test_without_the_scan_nothing_is_said_of_leftovers(fill, tmp_path):
    source = lines(tmp_path / "a.jsonl", ["[NAME] called Jessica, jo@firm.com."])
    found = fill(source, out="scanned")["engine"]["looks_like_personal_information_still"]
    assert sum(found.values()) >= 1
    assert "looks_like_personal_information_still" not in fill(source, "--no-scan", out="not")["engine"]


def test_names_come_from_the_index_that_is_named(fill, cli, package, tmp_path, notes):
    install(package)
    index = tmp_path / "own.idx"
    assert cli("names", "build", "--out", index, "--quiet").code == 0
    assert fill(notes, out="shipped")["engine"]["names"].startswith("built-in")
    assert fill(notes, "--names", index)["engine"]["names"] == "names-dataset 0.0.1"


def test_a_bar_on_a_terminal_does_not_disturb_the_json(notes, tmp_path):
    """Standard error is a terminal here, standard output a pipe."""
    ours, theirs = pty.openpty()
    code = "import sys\nfrom piiloom.main import run\nsys.exit(run(sys.argv[1:]))"
    words = ["surrogate", "run", str(notes), "--out", str(tmp_path / "out"), "--workers", "1", "--json"]
    env = os.environ | {"TERM": "xterm-256color", "COLUMNS": "100"}
    with subprocess.Popen([sys.executable, "-c", code, *words], stdout=subprocess.PIPE, stderr=theirs, env=env) as process:
        os.close(theirs)
        out, _ = process.communicate(timeout=60)
    drawn = b""
    while chunk := _read(ours):
        drawn += chunk
    os.close(ours)
    assert process.returncode == 0
    assert json.loads(out)["documents"] == 2
    assert b"\x1b[" in drawn


def _read(terminal):
    try:
        return os.read(terminal, 65536)
    except OSError:  # Linux says so when the other end is closed
        return b""


def _asking(server, notes, tmp_path, *more):
    url = ("--base-url", server.openai_url, "--store", tmp_path / "kept" / "replies.duckdb", "--workers", 1)
    return ("surrogate", "run", notes, "--values", "llm", "--provider", "openai", "--model", MODELS["openai"], *url, *more)


def test_values_by_a_model_are_asked_of_the_server_and_kept(cli, notes, tmp_path, monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "sk-test-0123456789-abcdefghij")
    with LLMServer(naming()) as server:
        outcome = cli(*_asking(server, notes, tmp_path, "--out", tmp_path / "out", "--yes", "--json"))
        assert outcome.code == 0, outcome.err
        assert server.requests == 1
        again = cli(*_asking(server, notes, tmp_path, "--out", tmp_path / "again", "--yes", "--json"))
        assert server.requests == 1
    report = json.loads(outcome.out)
    told = report["engine"]["by_model"]
    assert (told["values_drawn"], told["by_kind"]) == (1, {"company": 1})
    assert put_in(tmp_path / "out", "company") == ["Bobobobo"]
    assert "1 sentence of 1 document " in outcome.err
    assert "sk-test" not in outcome.err + outcome.out
    assert {**json.loads(again.out), "out": 0} == {**report, "out": 0}
    assert sorted(path.name for path in tmp_path.iterdir()) == ["again", "kept", "notes", "out"]
    assert cli("surrogate", "check", tmp_path / "out", notes).code == 0


def test_what_the_model_could_not_give_is_listed(cli, notes, tmp_path, monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "sk-test-0123456789-abcdefghij")
    with LLMServer(lambda _: {"value": "[COMPANY]"}) as server:
        outcome = cli(*_asking(server, notes, tmp_path, "--out", tmp_path / "out", "--yes"))
    assert outcome.code == 0, outcome.err
    assert str(tmp_path / "out" / "rejects.jsonl") in outcome.err
    (row,) = [json.loads(line) for line in (tmp_path / "out" / "rejects.jsonl").read_text().splitlines()]
    assert (row["kind"], row["reason"]) == ("company", "signs")
    assert "[COMPANY]" not in (tmp_path / "out" / "mirror" / "deep" / "b.txt").read_text()


def test_nothing_is_sent_when_nobody_can_agree(cli, notes, tmp_path, monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "sk-test-0123456789-abcdefghij")
    with LLMServer(naming()) as server:
        monkeypatch.setattr(sys, "stdin", Path(os.devnull).open())  # noqa: SIM115 - closed with the interpreter's own
        outcome = cli(*_asking(server, notes, tmp_path, "--out", tmp_path / "out"))
        sys.stdin.close()
        assert server.requests == 0
    assert outcome.code == 2
    assert "--yes" in outcome.error_line()
    assert [path.name for path in tmp_path.iterdir()] == ["notes"]


def test_places_are_looked_at_before_a_model_is_paid(cli, fill, notes, tmp_path, monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "sk-test-0123456789-abcdefghij")
    fill(notes)
    (tmp_path / "v").write_text("mine")
    with LLMServer(naming()) as server:
        taken = cli(*_asking(server, notes, tmp_path, "--out", tmp_path / "out", "--yes"))
        vault = cli(*_asking(server, notes, tmp_path, "--out", tmp_path / "new", "--vault", tmp_path / "v", "--yes"))
        assert server.requests == 0
    assert (taken.code, vault.code) == (2, 2)
    assert "not empty" in taken.error_line()
    assert "never written over" in vault.error_line()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["notes", "out", "v"]


COMMANDS = typer.main.get_command(surrogate_app).commands


@pytest.mark.parametrize("name", COMMANDS)
def test_help_documents_every_option_with_examples(cli, name):
    command = COMMANDS[name]
    assert command.help
    known = {option for parameter in command.params for option in (*parameter.opts, *parameter.secondary_opts)}
    for parameter in command.params:
        assert len(getattr(parameter, "help", None) or "") > 10, parameter.name
    examples = command.epilog.splitlines()[1:]
    assert examples
    for line in examples:
        assert line.split()[:3] == ["piiloom", "surrogate", name]
        assert {word for word in line.split() if word.startswith("--")} <= known
    outcome = cli("surrogate", name, "--help")
    assert (outcome.code, outcome.err) == (0, "")
    assert "Examples:" in outcome.out


@pytest.mark.parametrize("words", [[], ["run"], ["survey"], ["leakage"], ["check"]])
def test_help_imports_nothing_that_works(words):
    code = f"import sys\nfrom piiloom.main import run\nassert run({['surrogate', *words, '--help']!r}) == 0\n"
    # Typer itself checks the values of options with pydantic.
    code += (
        "heavy = {'surrogates', 'pii_values', 'corpus', 'providers', 'numpy', 'yaml', 'faker', 'regex', 'duckdb', 'pyarrow', 'stdnum'}\n"
    )
    code += "print(sorted(heavy & set(sys.modules)), file=sys.stderr)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stderr.strip() == "[]"
