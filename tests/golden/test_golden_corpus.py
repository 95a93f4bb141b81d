"""Goldens of the corpus: a release in every export format, and stores of every schema version that are opened and exported."""

from __future__ import annotations

import json

import duckdb
import pytest

from piiloom.corpus.formats.registry import FORMATS
from piiloom.corpus.store.upgrading import MIGRATIONS
from tests.fakes.llm_author import Author
from tests.fakes.llm_server import LLMServer
from tests.golden.goldens import DATA, RENEW, as_text, check, dump_of, exported, files_of, paid_options, piiloom

pytestmark = pytest.mark.golden

STORES = DATA / "stores"


def test_a_release_in_every_format(tmp_path, subtests):
    piiloom(tmp_path, "generate", "--samples", 16, "--seed", 7, "--store", "golden.duckdb")
    piiloom(tmp_path, "release", "--name", "golden", "--test-size", 4, "--store", "golden.duckdb")
    asked = [word for name in FORMATS for word in ("--format", name)]
    piiloom(tmp_path, "export", "--release", "golden", *asked, "--seed", 7, "--out", "all", "--store", "golden.duckdb")
    native = json.loads((tmp_path / "all" / "native" / "release.json").read_bytes())
    for name in FORMATS:
        files = files_of(tmp_path / "all" / name)
        if name != "native":  # the golden has what the description of the native export does not say
            told = json.loads(files["release.json"])
            files["release.json"] = as_text({key: value for key, value in told.items() if native.get(key) != value})
        with subtests.test(name):
            check(f"export-{name}", files)


def test_there_is_a_store_of_every_schema_version(tmp_path):
    """Versions 2 to 8 were made by the code of their time; version 1 is version 2 without the tables of releases."""
    newest = STORES / f"v{MIGRATIONS.latest}.sql"
    if RENEW and not newest.exists():
        piiloom(tmp_path, "generate", "--samples", 3, "--seed", 7, "--store", "new.duckdb")
        with LLMServer(Author(7)) as server:
            words = ("generate", "--recipe", "staged", "--samples", 1, *paid_options("openai"), "--store", "new.duckdb")
            piiloom(tmp_path, *words, server=server)
        piiloom(tmp_path, "release", "--name", "old", "--test-size", 1, "--seed", 7, "--store", "new.duckdb")
        with duckdb.connect(str(tmp_path / "new.duckdb"), read_only=True) as connection:
            newest.write_text(dump_of(connection))
    assert {path.stem for path in STORES.iterdir()} == {f"v{step.version}" for step in MIGRATIONS.steps}


@pytest.mark.parametrize("version", range(1, MIGRATIONS.latest + 1))
def test_an_old_store_opens_and_is_exported(version, tmp_path):
    with duckdb.connect(str(tmp_path / "golden.duckdb")) as connection:
        connection.execute((STORES / f"v{version}.sql").read_text())
    files = {}
    for release in ("golden", *(["old"] if version > 1 else [])):  # releases came with version 2
        files |= {f"{release}/{name}": data for name, data in exported(tmp_path, "golden.duckdb", release=release).items()}
    for words in (("runs", "list"), ("journal", "show")):
        told = json.loads(piiloom(tmp_path, *words, "--json", "--store", "golden.duckdb"))
        files[f"{words[0]}.json"] = as_text(told.get("runs") or told["lines"])
    assert len(list(tmp_path.glob("golden.duckdb.v*.bak"))) == (version < MIGRATIONS.latest)
    check(f"store-v{version}", files)
