"""One way to read locales: the same spellings for every command, run file and Python function that takes one."""

from __future__ import annotations

import json
from importlib.util import find_spec
from pathlib import Path

import pytest

import piiloom
from piiloom.corpus.formats.base import ReadableFormat
from piiloom.corpus.formats.registry import FORMATS
from piiloom.corpus.store.database import Store
from piiloom.corpus.store.records import iter_records
from piiloom.evaluation.inputs.opening import PairSettings
from piiloom.foundation.errors import UsageError
from piiloom.generation.settings.setting_checks import make_config, read_config
from tests.longer import usually
from tests.piiloom.small_runs import SMALL

GENERATED = ("en_US", "en_GB", "en_CA", "en_AU", "en_IN", "en_SG", "pt_BR", "sv_SE")
SPELLINGS = {"pt_BR": "pt_BR", "pt-BR": "pt_BR", "pt_br": "pt_BR", "PT-br": "pt_BR", "pt_BR.UTF-8": "pt_BR", "sv": "sv_SE", "en": "en_US"}
# A locale and the text that the refusal names. "pt" means one locale where there is only one.
REFUSED = {"klingon": "unknown locale 'klingon'", "xx_YY": "unknown locale 'xx_YY'", "brazil": "pt_BR"}


class Commands:
    """Runs each command that takes a locale, and returns the locale that it has used."""

    def __init__(self, cli, folder: Path) -> None:
        self._cli, self._folder, self._made = cli, folder, 0
        self.text = folder / "note.txt"
        self.text.write_text("Ring 555 0199 tomorrow.\n", encoding="utf-8")
        self.rows = folder / "rows.jsonl"
        self.rows.write_text('{"context": "Ana calls.", "spans": []}\n', encoding="utf-8")

    def _new(self, suffix: str) -> Path:
        self._made += 1
        return self._folder / f"{self._made}{suffix}"

    def _done(self, *words: object) -> str:
        outcome = self._cli(*words)
        if outcome.code:
            raise UsageError(outcome.err)
        return outcome.out

    def _stored(self, store: Path) -> str:
        with Store.open(store) as opened:
            return "+".join({record.locale for record in iter_records(opened)})

    def generate(self, locale: str) -> str:
        store = self._new(".duckdb")
        self._done("generate", "--samples", 2, *SMALL, "--quiet", "--locale", locale, "--store", store)
        return self._stored(store)

    def stages(self, locale: str) -> str:
        store = self._new(".duckdb")
        self._done("stages", "run", "topics", "--samples", 2, *SMALL, "--locale", locale, "--store", store, "--json")
        return str(json.loads(self._done("runs", "list", "--store", store, "--json"))["runs"][0]["locale"])

    def run_file(self, locale: str) -> str:
        file = self._new(".yaml")
        file.write_text(f'locale: "{locale}"\n', encoding="utf-8")
        return read_config(file, {}).locale

    def settings(self, locale: str) -> str:
        return make_config({"locale": locale}).locale

    def detect(self, locale: str) -> str:
        out = self._new(".jsonl")
        self._done("detect", self.text, "--locale", locale, "--out", out)
        return str(json.loads(out.read_text(encoding="utf-8").splitlines()[0])["locale"])

    def entities(self, locale: str) -> str:
        (found,) = {one["locale"] for one in json.loads(self._done("entities", "list", "--locale", locale, "--json"))["entities"]}
        return str(found)

    def benchmark(self, locale: str) -> str:
        out = self._new("")
        self._done("benchmark", "make", "--out", out, "--documents", 2, "--quiet", "--locale", locale)
        (found,) = json.loads((out / "benchmark.json").read_text())["counts"]["documents"]
        return str(found)

    def surrogate(self, locale: str) -> str:
        out = self._new("")
        self._done("surrogate", "run", self.text, "--out", out, "--locale", locale)
        return str(json.loads(next(out.rglob("records.jsonl")).read_text(encoding="utf-8").splitlines()[0])["locale"])

    def take_in(self, locale: str) -> str:
        store = self._new(".duckdb")
        self._done("import", self.rows, "--input-format", "native", "--locale", locale, "--store", store)
        return self._stored(store)

    def load(self, locale: str) -> str:
        return "+".join({record.locale for record in piiloom.load(self.rows, input_format="native", locale=locale)})

    def row(self, locale: str) -> str:
        file = self._new(".jsonl")
        file.write_text(json.dumps({"locale": locale, "context": "Ana calls.", "spans": []}) + "\n", encoding="utf-8")
        store = self._new(".duckdb")
        self._done("import", file, "--input-format", "native", "--store", store)
        return self._stored(store)

    def evaluate(self, locale: str) -> str:
        return str(PairSettings(locale=locale).locale)

    def release(self, locale: str) -> str:
        return str(requested_locale(locale))


def requested_locale(locale: str) -> str | None:
    from piiloom.corpus.releases.release_options import requested

    return requested("v1", locale=locale).choice.locale


# The commands, and those of ``SPELLINGS`` that mean no locale of theirs.
ALL = ("generate", "stages", "run_file", "settings", "detect", "entities", "benchmark", "surrogate")
ALL += ("take_in", "load", "row", "evaluate", "release")
OF_ENGLISH = frozenset(ALL) - {"benchmark"}
ONE_PORTUGUESE = frozenset({"generate", "stages", "run_file", "settings"})


@pytest.mark.long
@pytest.mark.parametrize("command", ALL)
def test_every_command_reads_the_same_spellings(cli, tmp_path, command):
    run = getattr(Commands(cli, tmp_path), command)
    # A third of them each, all among three commands.
    tried = usually(SPELLINGS, [*SPELLINGS][ALL.index(command) % 3 :: 3])
    found = {spelling: run(spelling) for spelling in tried if spelling != "en" or command in OF_ENGLISH}
    assert found == {spelling: SPELLINGS[spelling] for spelling in found}
    refused = REFUSED if command in ONE_PORTUGUESE else {**REFUSED, "pt": "Choose one: pt_BR, pt_PT"}
    for spelling, says in refused.items():
        with pytest.raises(UsageError, match=says):
            run(spelling)
    if command in ONE_PORTUGUESE:
        assert run("pt") == "pt_BR"


@pytest.mark.parametrize("command", ["settings", "run_file", "evaluate", "release", "load"])
def test_functions_read_the_same_spellings(cli, tmp_path, command):
    run = getattr(Commands(cli, tmp_path), command)
    assert {spelling: run(spelling) for spelling in SPELLINGS} == SPELLINGS


def test_records_are_listed_by_any_spelling(cli, tmp_path):
    rows, store = tmp_path / "rows.jsonl", tmp_path / "s.duckdb"
    rows.write_text('{"locale": "es-es", "context": "Ana llama.", "spans": []}\n', encoding="utf-8")
    assert cli("import", rows, "--input-format", "native", "--store", store).code == 0
    for spelling in ("es_ES", "es-ES", "ES_es", "es"):
        assert len(cli("records", "list", "--locale", spelling, "--store", store, "--json").out.splitlines()) == 1
    outcome = cli("records", "list", "--locale", "nl_NL", "--store", store)
    assert (outcome.code, outcome.err) == (2, "error: --locale: no record has 'nl_NL'. There are: es_ES\n")


def test_a_row_with_an_unknown_locale_is_rejected_with_line_and_field(cli, tmp_path):
    rows, store = tmp_path / "rows.jsonl", tmp_path / "s.duckdb"
    texts = ["nl_NL", "klingon", "es", "pt"]
    rows.write_text(
        "".join(json.dumps({"id": name, "locale": name, "context": f"Texto {name}.", "spans": []}) + "\n" for name in texts),
        encoding="utf-8",
    )
    report = json.loads(cli("import", rows, "--input-format", "native", "--locale", "pt_PT", "--store", store, "--json").out)
    assert [one["line"] for one in report["rejected"]] == [2, 3]
    assert report["rejected"][0]["reason"].startswith("locale: unknown locale 'klingon'")
    assert report["rejected"][1]["reason"].startswith("locale: 'es' is the language of several locales. Choose one: es_ES")
    with Store.open(store) as opened:
        assert {record.id: record.locale for record in iter_records(opened)} == {"nl_NL": "nl_NL", "pt": "pt_PT"}


SETS = {
    "es_ES": ("Me llamo {} y vivo en {}. Trabajo de cartero desde hace mucho, registro {}.", "¿Debo dejarlo?", "Ana Ruiz", "Toledo"),
    "nl_NL": ("Ik heet {} en woon in {}. Ik werk al lang als postbode, nummer {}.", "Moet ik stoppen?", "Piet Smit", "Delft"),
    "ja_JP": ("{}です。{}に住んでいます。長く郵便局で働いています、{}。", "辞めるべきですか。", "佐藤花子", "大阪"),
}


@pytest.mark.long
@pytest.mark.parametrize("locale", SETS)
def test_a_set_of_another_locale_keeps_it_from_import_to_export(cli, tmp_path, locale):
    text, question, name, place = SETS[locale]
    rows, store = tmp_path / "rows.jsonl", tmp_path / "set.duckdb"
    numbers = [f"{number * 7919}" for number in range(1, 9)]
    values = {name: {"type": "name", "relevance": "0"}, place: {"type": "location", "relevance": "1"}}
    if locale == "ja_JP":  # CAPID's values are whole words, which Japanese does not part by blanks
        lines = [_native(text.format(name, place, number), question, {name: "name", place: "location"}) for number in numbers]
    else:
        lines = [{"context": text.format(name, place, number), "question": question, "piis": values} for number in numbers]
    rows.write_text("".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines), encoding="utf-8")
    form = "native" if locale == "ja_JP" else "capid"
    assert cli("import", rows, "--input-format", form, "--locale", locale.lower().replace("_", "-"), "--store", store).code == 0
    assert cli("release", "--name", "v1", "--test-size", 0, "--locale", locale, "--store", store).code == 0
    readable = {one for one in FORMATS if isinstance(FORMATS[one], ReadableFormat)}
    for export in FORMATS:
        folder = tmp_path / export
        if export == "spacy" and find_spec("spacy") is None:
            continue
        assert cli("export", "--release", "v1", "--format", export, "--out", folder, "--store", store).code == 0, export
        about = json.loads((folder / "release.json").read_text(encoding="utf-8"))
        assert about["splits"]["train"]["locales"] == {locale: 8}
        if export in readable and "locale" not in (about.get("loss") or {"fields": []})["fields"]:
            assert {record.locale for record in piiloom.load(folder, locale="en_US")} == {locale}, export
    card = (tmp_path / "huggingface" / "README.md").read_text(encoding="utf-8")
    assert f"\nlanguage:\n- {locale[:2]}\n" in card
    assert json.loads((tmp_path / "huggingface" / "croissant.json").read_text(encoding="utf-8"))["inLanguage"] == [locale[:2]]


def _native(text: str, question: str, values: dict[str, str]) -> dict[str, object]:
    spans = [
        {"start": text.index(value), "end": text.index(value) + len(value), "text": value, "type": kind, "relevance": "low"}
        for value, kind in values.items()
    ]
    return {"context": text, "question": question, "spans": spans}
