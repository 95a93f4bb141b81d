"""Whole runs with an engine that replaces [TAGS]: the same bytes for any workers and chunks, and what stands in the folder."""

from __future__ import annotations

import json
import random
import sys
import zipfile
from collections.abc import Callable
from functools import partial
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from piiloom.corpus.formats.base import ReadOptions, read_records
from piiloom.corpus.formats.registry import NativeFormat
from piiloom.foundation.errors import DataError, UsageError
from piiloom.surrogates.inputs.parts import SourceSettings
from piiloom.surrogates.outputs.checking import verify_folder
from piiloom.surrogates.running import SurrogateProgress, run_surrogates
from piiloom.taxonomy.entity_types import shipped_taxonomy
from tests.surrogates.running_fakes import Keeping, TagEngine, is_tag, kind_of

Tree = dict[str, bytes]


def tree(folder: Path) -> Tree:
    """All files of *folder* with their bytes."""
    return {str(path.relative_to(folder)): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}


def words(rng: random.Random) -> str:
    return " ".join(
        rng.choice(["[NAME]", "[CITY 2]", "é", "太", "word", "{WHAT}", "(sic)", '"', "a<b", "x, y"]) for _ in range(rng.randrange(9))
    )


def make_input(root: Path, seed: int = 1) -> Path:
    """One of everything: formats, encodings, folders, an archive, empty files, doubled ids."""
    rng = random.Random(seed)
    (root / "deep").mkdir(parents=True)
    (root / "a.txt").write_text(words(rng) + "\r\n", newline="")
    (root / "deep" / "b.txt").write_bytes(b"\xff\xfe" + words(rng).encode("utf-16-le"))
    (root / "c.jsonl").write_text("".join(json.dumps({"id": n % 7, "text": words(rng)}) + "\n" for n in range(60)))
    (root / "d.csv").write_text("id;text\n" + "".join(f'{n};"{words(rng).replace(chr(34), chr(34) * 2)}"\n' for n in range(40)))
    (root / "e.json").write_text(json.dumps([{"text": words(rng), "spans": []} for _ in range(30)], indent=2))
    (root / "f.xml").write_text("<r>" + "".join(f"<p>{words(rng).replace('<', '&lt;')}</p>" for _ in range(10)) + "</r>")
    (root / "g.txt").touch()
    with zipfile.ZipFile(root / "h.zip", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("in/i.jsonl", "".join(json.dumps({"text": words(rng)}, ensure_ascii=False) + "\n" for _ in range(20)))
        archive.writestr("j.txt", words(rng))
    return root


def run(path: Path, out: Path, **options: Any) -> Any:
    """A run; *options* that settings know go there."""
    known = {key: options.pop(key) for key in list(options) if key in SourceSettings.__slots__}
    return run_surrogates(SourceSettings(path=path, **known), out, options.pop("factory", TagEngine), **options)


@pytest.fixture(scope="module")
def everything(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Tree]:
    """An input, and what one worker makes of it in one chunk."""
    root = tmp_path_factory.mktemp("everything")
    source = make_input(root / "in")
    run(source, root / "out")
    return source, tree(root / "out")


@pytest.mark.parametrize(("workers", "chunk"), [(1, 1), (2, 50), (5, 200)])
def test_the_same_bytes_for_any_workers_and_chunks(tmp_path: Path, everything: tuple[Path, Tree], workers: int, chunk: int) -> None:
    source, expected = everything
    run(source, tmp_path / "out", workers=workers, chunk_bytes=chunk)
    assert tree(tmp_path / "out") == expected


def test_workers_do_not_run_the_main_script_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    script = tmp_path / "script.py"
    script.write_text("raise SystemExit(1)\n", encoding="utf-8")
    main = ModuleType("__main__")
    main.__file__ = str(script)
    monkeypatch.setitem(sys.modules, "__main__", main)
    (tmp_path / "in.txt").write_text("a [TAG] b", encoding="utf-8")
    run(tmp_path / "in.txt", tmp_path / "out", workers=2)
    assert sys.modules["__main__"] is main
    assert (tmp_path / "out" / "report.json").exists()


@pytest.mark.long
@settings(max_examples=10, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(seed=st.integers(0, 1000), chunk=st.integers(1, 5000))
def test_any_input_comes_out_whole(tmp_path_factory: pytest.TempPathFactory, seed: int, chunk: int) -> None:
    root = tmp_path_factory.mktemp("any")
    source = make_input(root / "in", seed)
    one, other = (run(source, root / name, chunk_bytes=size) for name, size in (("one", 1 << 20), ("other", chunk)))
    assert tree(root / "one") == tree(root / "other")
    assert one == other.__class__(**{name: getattr(other, name) for name in other.__slots__ if name != "out"}, out=one.out)
    checked = verify_folder(root / "one", source)
    assert (checked.documents, checked.ranges) == (one.documents, one.replaced)
    records = list(
        read_records(NativeFormat(), root / "one" / "records.jsonl", options=ReadOptions(taxonomy=shipped_taxonomy(), blank_contexts=True))
    )
    assert len({record.id for record in records}) == len({record.group_keys for record in records}) == one.documents


def test_a_mirror_in_which_nothing_is_replaced_is_the_input(tmp_path: Path) -> None:
    source = make_input(tmp_path / "in")
    run(source, tmp_path / "out", factory=Keeping, chunk_bytes=100)
    before, after = tree(source), tree(tmp_path / "out" / "mirror")
    for archives in (before, after):
        del archives["h.zip"]
    assert after == before
    packed = []
    for folder in (source, tmp_path / "out" / "mirror"):
        with zipfile.ZipFile(folder / "h.zip") as archive:
            packed.append([(info.filename, info.date_time, info.compress_type, archive.read(info)) for info in archive.infolist()])
    assert packed[0] == packed[1]


def test_what_the_folder_holds(tmp_path: Path) -> None:
    path = tmp_path / "in.jsonl"
    path.write_text(
        '{"id": "r", "text": "[NAME] {WHO} (sic) [NAME]"}\n{"[CITY]": 1}\n{"id": "r", "text": "[NAME]"}\n{"id": "x~3", "text": ""}\n'
    )
    seen: list[SurrogateProgress] = []
    report = run(path, tmp_path / "out", look_at_key=is_tag, progress=seen.append, about={"mapping": "auto"}, locale="nl_NL")
    rows = [json.loads(line) for line in (tmp_path / "out" / "records.jsonl").read_text().splitlines()]
    assert [(row["meta"]["source"], row["meta"]["group_keys"], row["locale"]) for row in rows] == [
        ({"file": "in.jsonl", "line": 1, "id": "r"}, ["document:r"], "nl_NL"),
        ({"file": "in.jsonl", "line": 3, "id": "r~~2"}, ["document:r~~2"], "nl_NL"),
        ({"file": "in.jsonl", "line": 4, "id": "x~3"}, ["document:x~3"], "nl_NL"),
    ]
    told = json.loads((tmp_path / "out" / "report.json").read_text())
    assert told == report.report
    assert told["about"] == {"mapping": "auto"}
    assert told["documents"] == 3
    assert told["replaced"] == {"total": 3, "by_kind": {"person": 3}, "by_type": {"name": 2, "name.full_name": 1}}
    assert told["unknown"] == {"total": 1, "tags": {"{WHO}": 1}}
    assert told["left_alone"]["brackets"] == {"(sic)": 1}
    assert told["repeated_ids"] == 1
    assert told["engine"] == {"tallies": {"docs": 3}}
    assert told["files"][0]["notes"] == {
        "placeholders in JSON keys": {"count": 1, "first_line": 2},
        "rows without text": {"count": 1, "first_line": 2},
    }
    assert len(report.warnings) == 4
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == [
        "map.jsonl",
        "mirror",
        "records.jsonl",
        "report.html",
        "report.json",
    ]
    assert [one.phase for one in seen] == ["preparing", "scanning", "replacing", "done"]
    assert seen[-1].done == seen[-1].total == 3
    assert sorted(one.name for one in tmp_path.iterdir()) == ["in.jsonl", "out"]


def test_doubled_ids_over_files_and_fields_are_told_apart(tmp_path: Path) -> None:
    for name in "ab":
        (tmp_path / "in").mkdir(exist_ok=True)
        (tmp_path / "in" / f"{name}.csv").write_text("id,text,more\n" + "".join(f"{n},x,y\n" for n in range(100)))
    run(tmp_path / "in", tmp_path / "out", text_fields=("text", "more"), chunk_bytes=70, workers=2)
    ids = [json.loads(line)["id"] for line in (tmp_path / "out" / "map.jsonl").read_text().splitlines()]
    assert ids == [f"{n}#{field}{again}" for again in ("", "~2") for n in range(100) for field in ("text", "more")]


def test_spans_that_came_with_the_text_are_replaced(tmp_path: Path) -> None:
    first = tmp_path / "in.jsonl"
    first.write_text('{"text": "[NAME] met [NAME] [NAME]."}\n' * 3)
    run(first, tmp_path / "one")
    records = tmp_path / "one" / "records.jsonl"
    run(records, tmp_path / "two", kind_of=kind_of, factory=partial(TagEngine, ("Again",)))
    for record in read_records(
        NativeFormat(), tmp_path / "two" / "records.jsonl", options=ReadOptions(taxonomy=shipped_taxonomy(), blank_contexts=True)
    ):
        assert record.context == "Again met Again Again."
    assert verify_folder(tmp_path / "two", records).ranges == 9
    mirror = tmp_path / "two" / "mirror" / "records.jsonl"
    assert [
        record.context
        for record in read_records(NativeFormat(), mirror, options=ReadOptions(taxonomy=shipped_taxonomy(), blank_contexts=True))
    ] == ["Again met Again Again."] * 3
    assert not any(value in mirror.read_text() for value in TagEngine().values)


@pytest.mark.parametrize(
    ("spans", "field"),
    [
        ('"gold": [[4, 7, "name"], [12, 14, "name", "Bo"]]', "gold"),
        ('"gold": [{"entity_type": "name", "entity_value": "Ann", "start_position": 4, "end_position": 7, "note": "Ann"}]', "gold"),
        ('"by": {"hand": [{"label": "name", "word": "ann", "begin": 4, "stop": 7, "score": 0.5}]}', "by.hand"),
    ],
)
def test_spans_of_other_tools_are_proved(tmp_path: Path, spans: str, field: str) -> None:
    path, out = tmp_path / "in.jsonl", tmp_path / "out"
    path.write_text(f'{{"text": "Hi, Ann met Bo.", {spans}, "more": [[1, 2, "x"]]}}\n')
    run(path, out, kind_of=kind_of, spans_field=field, factory=partial(TagEngine, ("Josephine",)))
    assert verify_folder(out, path).ranges == spans.count('"name"')
    mirror = out / "mirror" / "in.jsonl"
    whole = mirror.read_text()
    assert "Ann" not in whole
    for before, after in (('"name"', '"city"'), ('[1, 2, "x"]', '[1, 3, "x"]')):
        mirror.write_text(whole.replace(before, after, 1))
        with pytest.raises(DataError, match="differs outside of its text and spans"):
            verify_folder(out, path)


def contexts(out: Path) -> dict[str, str]:
    """The records' texts by the documents' ids."""
    records = read_records(NativeFormat(), out / "records.jsonl", options=ReadOptions(taxonomy=shipped_taxonomy(), blank_contexts=True))
    return {record.source.id: record.context for record in records if record.source and record.source.id}


def test_the_vault_undoes_the_run(tmp_path: Path) -> None:
    source, vault = make_input(tmp_path / "in"), tmp_path / "vault.jsonl"
    report = run(source, tmp_path / "out", vault=vault, workers=2, chunk_bytes=300)
    assert report.warnings[-1].startswith("The vault") or report.warnings[-2].startswith("The vault")
    lines = map(json.loads, vault.read_text().splitlines())
    rows = [line for line in lines if "text" in line]  # others hold sources of texts and digests of files
    assert len(rows) == report.replaced
    texts = contexts(tmp_path / "out")
    for row in reversed(rows):  # from the last place to the first, so that offsets hold
        text = texts[row["id"]]
        texts[row["id"]] = text[: row["new_start"]] + row["text"] + text[row["new_end"] :]
    run(source, tmp_path / "plain", factory=Keeping)
    assert texts == contexts(tmp_path / "plain")
    assert "vault" not in (tmp_path / "out" / "report.json").read_text().lower()


@pytest.mark.parametrize(
    ("rows", "fields", "words"),
    [
        ('{"note": "x"}', (), "no row has a text; the first one has: note"),
        ('{"note": "x", "text": null}', ("text",), "no row has a text"),
        ('{"note": "x"}', ("note", "nothing"), "no file has the field 'nothing'"),
    ],
)
def test_a_field_that_is_nowhere_is_told(tmp_path: Path, rows: str, fields: tuple[str, ...], words: str) -> None:
    path = tmp_path / "in.jsonl"
    path.write_text(f"{rows}\n")
    with pytest.raises(UsageError, match=words):
        run(path, tmp_path / "out", text_fields=fields)
    assert not (tmp_path / "out").exists()


def _damage_context(row: dict[str, Any]) -> None:
    row["context"] = row["context"].replace("word", "w0rd")


def _damage_span(row: dict[str, Any]) -> None:
    row["spans"][0]["end"] += 1


@pytest.mark.parametrize(
    "damage", [_damage_context, _damage_span, lambda row: row["spans"].pop(), lambda row: row["meta"]["source"].update(id="other")]
)
def test_a_damaged_record_is_found(tmp_path: Path, damage: Callable[[dict[str, Any]], None]) -> None:
    path = tmp_path / "in.jsonl"
    path.write_text('{"id": "r", "text": "word [NAME] word"}\n')
    run(path, tmp_path / "out")
    records = tmp_path / "out" / "records.jsonl"
    row = json.loads(records.read_text())
    damage(row)
    records.write_text(json.dumps(row) + "\n")
    with pytest.raises(DataError):
        verify_folder(tmp_path / "out", path)


def test_a_damaged_mirror_is_found(everything: tuple[Path, Tree], tmp_path: Path) -> None:
    source, out = everything[0], tmp_path / "out"
    run(source, out)
    for name in ("a.txt", "deep/b.txt", "c.jsonl", "d.csv", "e.json", "f.xml"):
        mirror = out / "mirror" / name
        whole = mirror.read_bytes()
        for damaged in (whole + b"\n ", whole.replace(b"r", b"s", 1) if b"r" in whole else whole[:-2], whole[: len(whole) // 2]):
            mirror.write_bytes(damaged)
            with pytest.raises(DataError):
                verify_folder(out, source)
        mirror.write_bytes(whole)
    verify_folder(out, source)
