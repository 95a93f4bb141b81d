"""The shared corpora through a whole run: folder, tables, JSON lines, an archive, and an XML file made of decisions."""

from __future__ import annotations

import csv
import json
import zipfile
from functools import partial
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET
from xml.sax.saxutils import escape

import pytest

from piiloom.surrogates.documents import OffsetMap
from piiloom.surrogates.inputs.parts import SourceSettings
from piiloom.surrogates.outputs.checking import verify_folder
from piiloom.surrogates.running import run_surrogates
from tests.shared_files import needs_whole, of_whole, shared
from tests.surrogates.running_fakes import Keeping, TagEngine

DATA = shared("data")

# Others are in test_surrogate_corpora.py.
CORPORA: dict[str, tuple[str, dict[str, Any], int]] = {
    "obi_ehr_notes": ("obi_ehr_notes/deid.jsonl", {"text_fields": ("deid_text",)}, 4),
    "bitext": ("bitext_intents", {"text_fields": ("utterance",)}, 6480),
    "presidio_research": ("presidio_research/generated_small.json", {"text_fields": ("masked",)}, 100),
}


def bytes_of(path: Path) -> list[bytes]:
    return [one.read_bytes() for one in sorted(path.rglob("*")) if one.is_file()] if path.is_dir() else [path.read_bytes()]


@pytest.mark.long
@needs_whole
@pytest.mark.parametrize("name", CORPORA)
def test_a_corpus_comes_out_with_nothing_but_its_tags_changed(tmp_path: Path, name: str) -> None:
    inner, settings, documents = CORPORA[name]
    source = SourceSettings(path=DATA / inner, chunk_bytes=50_000, **settings)
    report = run_surrogates(source, tmp_path / "out", TagEngine, workers=2)
    assert report.documents == documents
    checked = verify_folder(tmp_path / "out", source.path)
    assert (checked.documents, checked.ranges) == (documents, report.replaced)
    run_surrogates(source, tmp_path / "kept", Keeping)
    assert bytes_of(tmp_path / "kept" / "mirror") == bytes_of(source.path)


def test_the_mirror_of_a_table_is_what_pythons_csv_reads(tmp_path: Path) -> None:
    source = DATA / "mts_dialog" / "MTS_Dataset_TrainingSet.csv"
    # The corpus has no tags in brackets: words that are in most texts stand in for them.
    run_surrogates(SourceSettings(path=source, text_fields=("section_text",)), tmp_path / "out", partial(WordEngine, ('a "b", c\n',)))
    with (
        source.open(newline="", encoding="utf-8") as before,
        (tmp_path / "out" / "mirror" / source.name).open(newline="", encoding="utf-8") as after,
    ):
        rows, new = list(csv.DictReader(before)), list(csv.DictReader(after))
    records = [json.loads(line) for line in (tmp_path / "out" / "records.jsonl").read_text("utf-8").splitlines()]
    maps = [json.loads(line) for line in (tmp_path / "out" / "map.jsonl").read_text("utf-8").splitlines()]
    assert sum(len(one["ranges"]) for one in maps) > of_whole(1000, 15)
    for row, changed, record, mapped in zip(rows, new, records, maps, strict=True):
        assert changed == {**row, "section_text": record["context"]}
        assert OffsetMap(mapped["ranges"]).agrees(row["section_text"], record["context"])
    verify_folder(tmp_path / "out", source)


class WordEngine(TagEngine):
    """Replaces "the"."""

    def _tags(self, text: str) -> list[tuple[int, int, str]]:
        at, found = text.find(" the "), []
        while at >= 0:
            found.append((at + 1, at + 4, "person"))
            at = text.find(" the ", at + 4)
        return found


@pytest.mark.parametrize("packed", ["zip", "xml"])
def test_decisions_in_an_archive_and_in_xml(tmp_path: Path, packed: str) -> None:
    files = sorted((DATA / "rechtspraak_nl").iterdir())
    path = tmp_path / f"decisions.{packed}"
    texts = [file.read_text("utf-8") for file in files]
    if packed == "zip":
        with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
            for file in files:
                archive.write(file, f"nl/{file.name}")
    else:
        body = "".join(f"<decision>{escape(text)}</decision>\n" for text in texts)
        path.write_text(f"<?xml version='1.0' encoding='UTF-8'?>\n<all>{body}</all>\n", "utf-8")
    run_surrogates(SourceSettings(path=path), tmp_path / "out", partial(WordEngine, ("<&>",)))
    verify_folder(tmp_path / "out", path)
    mirror = tmp_path / "out" / "mirror" / path.name
    if packed == "zip":
        with zipfile.ZipFile(mirror) as archive:
            assert archive.namelist() == [f"nl/{file.name}" for file in files]
            assert [archive.read(name).decode() for name in archive.namelist()] == [
                WordEngine(("<&>",)).replaced(_doc(text)).text for text in texts
            ]
    else:
        found = [one.text for one in ET.parse(mirror).getroot()]  # noqa: S314 - made above
        assert found == [WordEngine(("<&>",)).replaced(_doc(text)).text for text in texts]


def _doc(text: str) -> Any:
    from piiloom.surrogates.documents import Document

    return Document(0, "d", text, "f")
