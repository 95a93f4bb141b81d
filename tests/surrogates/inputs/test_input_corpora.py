"""Inputs of several files or of other people's tools: BRAT, CoNLL, Word, Hugging Face datasets. Whole runs, and their check."""

from __future__ import annotations

import json
import zipfile
from pathlib import Path
from typing import Any

import pytest

from piiloom.foundation.errors import DataError, UsageError
from piiloom.surrogates.inputs.parts import SourceSettings
from piiloom.surrogates.outputs.checking import verify_folder
from piiloom.surrogates.running import run_surrogates
from tests.surrogates.inputs.reading_files import read
from tests.surrogates.running_fakes import TagEngine, kind_of

TEXT = "Hé [NAME] saw [NAME]\nof [CITY], and left.\n"


def run(source: Path, out: Path, values: tuple[str, ...] = ("Zoë Müller",), chunk: int = 2**20, **settings: Any):
    inputs = SourceSettings(path=source, chunk_bytes=chunk, **settings)
    report = run_surrogates(inputs, out, lambda: TagEngine(values=values))
    verify_folder(out, source)
    return report


def tree(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}


# BRAT


def brat(folder: Path, text: str = TEXT, newline: str = "\n") -> str:
    def bound(number: int, kind: str, *words: str) -> str:
        places = [(text.index(word), text.index(word) + len(word)) for word in words]
        covered = " ".join(" ".join(text[start:end].split("\n")) for start, end in places)
        return f"T{number}\t{kind} {';'.join(f'{start} {end}' for start, end in places)}\t{covered}"

    annotations = [
        bound(1, "Person", "[NAME] saw"),
        bound(2, "Verb", "saw"),
        bound(3, "Place", "[NAME]\nof [CITY]"),
        bound(4, "Odd", "Hé", "left"),
        "R1\tIn Arg1:T1 Arg2:T3",
        "#1\tAnnotatorNotes T1\tT9\tis 0 4 of a note",
    ]
    folder.mkdir(exist_ok=True, parents=True)
    (folder / "a.txt").write_text(text, newline=newline)
    (folder / "a.ann").write_text("\n".join(annotations) + "\n", newline="")
    return "\n".join(annotations) + "\n"


@pytest.mark.parametrize("packed", [False, True])
def test_annotations_of_brat_move_with_the_text(tmp_path: Path, packed: bool) -> None:
    source = tmp_path / "in"
    before = brat(source)
    if packed:
        with zipfile.ZipFile(tmp_path / "a.zip", "w") as archive:
            for name in ("a.txt", "a.ann"):
                archive.write(source / name, name)
        source = tmp_path / "a.zip"
    report = run(source, tmp_path / "out")
    assert (report.documents, report.replaced, report.warnings) == (1, 3, ())
    mirror = tmp_path / "out" / "mirror"
    if packed:
        with zipfile.ZipFile(mirror / "a.zip") as archive:
            text, after = (archive.read(name).decode() for name in ("a.txt", "a.ann"))
    else:
        text, after = ((mirror / name).read_text() for name in ("a.txt", "a.ann"))
    assert text == TEXT.replace("[NAME]", "Zoë Müller").replace("[CITY]", "Zoë Müller")
    for line, old in zip(after.splitlines(), before.splitlines(), strict=True):
        if not line.startswith("T"):
            assert line == old
            continue
        _, told, words = line.split("\t")
        places = [tuple(map(int, one.split())) for one in told.partition(" ")[2].split(";")]
        assert words == " ".join(text[start:end] for start, end in places).replace("\n", " ")
    assert "T3\tPlace 18 42\tZoë Müller of Zoë Müller" in after


def test_annotations_may_count_line_ends_of_two_characters_as_one(tmp_path: Path) -> None:
    brat(tmp_path / "in", newline="\r\n")
    run(tmp_path / "in", tmp_path / "out")
    assert "T3\tPlace 18 42\tZoë Müller of Zoë Müller" in (tmp_path / "out" / "mirror" / "a.ann").read_text()


def test_with_spans_the_annotations_are_what_is_replaced(tmp_path: Path) -> None:
    source = tmp_path / "in"
    source.mkdir()
    (source / "a.txt").write_text("Edith met Boris.")
    (source / "a.ann").write_text("T1\tPerson 0 5\tEdith\nT2\tPerson 10 15\tBoris\n#1\tAnnotatorNotes T1\tEdith again\n")
    (source / "b.txt").write_text("Nobody.")
    (source / "b.ann").touch()
    report = run(source, tmp_path / "out", kind_of=kind_of, spans_field="spans")
    assert (report.documents, report.replaced) == (2, 2)
    assert (tmp_path / "out" / "mirror" / "a.txt").read_text() == "Zoë Müller met Zoë Müller."


@pytest.mark.parametrize("ann", [" T1\tPerson 0 5\tEdith\n", "t1\tPerson 0 5\tEdith\n", "R1\tx\rT1\tPerson 0 5\tEdith\r"])
def test_with_spans_a_line_that_is_no_annotation_is_refused(tmp_path: Path, ann: str) -> None:
    source = tmp_path / "in"
    source.mkdir()
    (source / "a.txt").write_text("Edith met Boris.")
    (source / "a.ann").write_bytes(ann.encode())
    with pytest.raises(DataError, match="no annotation"):
        run(source, tmp_path / "out", kind_of=kind_of, spans_field="spans")


@pytest.mark.parametrize(
    ("line", "says"),
    [
        ("T1\tPerson 0 2\tsecret", "the words of the span differ"),
        ("T1\tPerson 0 999\tsecret", "outside|differ"),
        ("T1\tPerson 0-2\tsecret", "another form"),
    ],
)
def test_an_annotation_that_does_not_fit_is_refused_or_set_aside(tmp_path: Path, line: str, says: str) -> None:
    source = tmp_path / "in"
    brat(source)
    (source / "a.ann").write_text(f"R1\tIn Arg1:T1\n{line}\n")
    (source / "b.txt").write_text("[NAME]")
    with pytest.raises(DataError, match=rf"a\.ann:2: .*({says})") as caught:
        run(source, tmp_path / "out")
    assert "secret" not in str(caught.value)
    assert run(source, tmp_path / "out", skip_bad_rows=True).documents == 1
    assert not any(b"secret" in data for data in tree(tmp_path / "out").values())


# CoNLL

CONLL = """-DOCSTART- -X- O O

Dr NNP B-NP O
[ ( O B-PER
NAME NNP B-NP I-PER
] ) O I-PER
, , O O
[CITY] NNP B-NP S-LOC
. . O O

He PRP B-NP O
saw[NAME]s VB O O

-DOCSTART- (two) -X- O O

[NAME] NNP B-NP B-PER
[NAME] NNP B-NP I-PER
"""


def test_tokens_and_tags_of_conll(tmp_path: Path) -> None:
    source = tmp_path / "a.conll"
    source.write_text(CONLL)
    assert [(one.id, one.text) for one in read(source)] == [("a.conll:1", "Dr [NAME], [CITY].\nHe saw[NAME]s"), ("two", "[NAME] [NAME]")]
    run(source, tmp_path / "out")
    assert (tmp_path / "out" / "mirror" / "a.conll").read_text().splitlines()[2:] == [
        "Dr NNP B-NP O",
        "Zoë ( O B-PER",
        "Müller NNP B-NP I-PER",
        ", , O O",
        "Zoë NNP B-NP B-LOC",
        "Müller NNP B-NP E-LOC",
        ". . O O",
        "",
        "He PRP B-NP O",
        "sawZoë VB O O",
        "Müllers VB O O",
        "",
        "-DOCSTART- (two) -X- O O",
        "",
        "Zoë NNP B-NP B-PER",
        "Müller NNP B-NP I-PER",
        "Zoë NNP B-NP I-PER",
        "Müller NNP B-NP I-PER",
    ]
    run(source, tmp_path / "small", chunk=1)
    assert tree(tmp_path / "small") == tree(tmp_path / "out")


def test_tagged_tokens_are_given_spans_and_each_sentence_a_document(tmp_path: Path) -> None:
    source = tmp_path / "train.txt"
    source.write_bytes(b"Edith\tB-PER\r\nArcher\tI-PER\r\nmet\tO\r\nBo\tB-PER\r\n\r\n\r\nRome\tB-LOC\r\nslept\tO")
    documents = read(source, format="conll", kind_of=lambda kind, _: kind)
    assert [(one.text, one.line) for one in documents] == [("Edith Archer met Bo", 1), ("Rome slept", 7)]
    assert [[(m.kind, m.original) for m in one.mentions or ()] for one in documents] == [
        [("PER", "Edith Archer"), ("PER", "Bo")],
        [("LOC", "Rome")],
    ]
    run(source, tmp_path / "out", values=("Kim",), format="conll", kind_of=kind_of)
    expected = b"Kim\tB-PER\r\nmet\tO\r\nKim\tB-PER\r\n\r\n\r\nKim\tB-LOC\r\nslept\tO"
    assert (tmp_path / "out" / "mirror" / "train.txt").read_bytes() == expected
    run(source, tmp_path / "small", values=("Kim",), format="conll", kind_of=kind_of, chunk=1)
    assert tree(tmp_path / "small") == tree(tmp_path / "out")


TAGGED = "Edith NNP B-PER\nArcher\tNNP I-PER\t\nleft VB O\n\nBo NNP B-PER\n"


@pytest.mark.parametrize(
    ("text", "line", "says"),
    [
        (TAGGED, 0, ""),  # one tab among blanks, or at the end of a line, is a blank
        (TAGGED.replace("left VB O", "left VB"), 3, "no tag was read"),
        (TAGGED.replace(" O", " _"), 3, "no tag was read"),
        ("Edith\nArcher\nleft\n", 1, "no tag was read"),
        ("Edith NNP\nArcher NNP\n", 1, "no tag was read"),
        ("Edith\tB-PER\nArcher I-PER\nleft\tO\n", 2, "other columns"),
        ("\tO\nEdith\tB-PER\nleft\tO\n", 1, "no tag was read"),
        ("# a comment\nEdith B-PER\n# NN O\n", 0, ""),
    ],
)
def test_a_line_of_conll_without_a_tag_is_a_bad_row_where_tags_are_spans(tmp_path: Path, text: str, line: int, says: str) -> None:
    source = tmp_path / "a.conll"
    source.write_text(text + "\nAda NNP B-PER\n" if " NNP B-PER" in text else text)
    if not line:
        (document, *_) = read(source, kind_of=lambda kind, _: kind)
        assert (document.mentions or ())[0].original.startswith("Edith")
        return
    with pytest.raises(DataError, match=says) as caught:
        run(source, tmp_path / "out", kind_of=kind_of, spans_field="spans")
    assert caught.value.where == f"a.conll:{line}"
    if "Ada" in source.read_text():
        report = run(source, tmp_path / "out", kind_of=kind_of, spans_field="spans", skip_bad_rows=True)
        assert report.report["files"][0]["notes"]["bad rows set aside"]["first_line"] == line
        assert not any(b"Edith" in data or b"Ada" in data for data in tree(tmp_path / "out").values())


def test_columns_of_conll_have_numbers(tmp_path: Path) -> None:
    source = tmp_path / "a.conll"
    source.write_text("1 [NAME] O\n2 left O\n")
    assert [one.text for one in read(source, text_fields=("2",))] == ["[NAME] left"]
    with pytest.raises(UsageError, match="no column of a CoNLL file"):
        read(source, text_fields=("word",))


# Word


def docx(path: Path, body: str, **more: str) -> None:
    members = {
        "[Content_Types].xml": "<Types/>",
        "word/document.xml": f'<?xml version="1.0"?>\n<w:document xmlns:w="x"><w:body>{body}</w:body></w:document>',
        "word/media/image1.png": "\x01\x02",
        **{name.replace("_", "/", 1) + ".xml": text for name, text in more.items()},
    }
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, text in members.items():
            archive.writestr(name, text)


def member(path: Path, name: str = "word/document.xml") -> str:
    with zipfile.ZipFile(path) as archive:
        return archive.read(name).decode()


def test_runs_of_a_word_document(tmp_path: Path) -> None:
    source = tmp_path / "a.docx"
    body = (
        "<w:p><w:pPr><w:tabs><w:tab w:val='left'/></w:tabs></w:pPr><w:r><w:rPr><w:b/></w:rPr><w:t>[NA</w:t></w:r>"
        "<w:r><w:t>ME] &amp; son</w:t></w:r><w:r><w:tab/><w:t>[CITY]</w:t><w:br/></w:r></w:p>"
        '<w:p><w:del w:author="Ann"><w:r><w:delText xml:space="preserve"> [NAME]</w:delText></w:r></w:del></w:p>'
    )
    docx(source, body, word_header1="<w:hdr><w:p><w:r><w:t>[NAME]</w:t></w:r></w:p></w:hdr>", docProps_core="<dc:creator>Ann</dc:creator>")
    assert [one.text for one in read(source)] == ["[NAME] & son\t[CITY]\n\n [NAME]\n[NAME]\n"]
    report = run(source, tmp_path / "out", values=("Lee & Sons",))
    new = tmp_path / "out" / "mirror" / "a.docx"
    expected = body.replace("[NA<", "Lee &amp; Sons<").replace("<w:t>ME] &", '<w:t xml:space="preserve"> &')
    assert f"<w:body>{expected.replace('[NAME]', 'Lee &amp; Sons').replace('[CITY]', 'Lee &amp; Sons')}</w:body>" in member(new)
    assert "<w:t>Lee &amp; Sons</w:t>" in member(new, "word/header1.xml")
    assert member(new, "docProps/core.xml") == "<dc:creator>Ann</dc:creator>"
    assert any("name their authors" in warning for warning in report.warnings)
    run(source, tmp_path / "again", values=("Lee & Sons",))
    assert tree(tmp_path / "again") == tree(tmp_path / "out")


def test_a_word_document_in_an_archive_and_one_that_is_none(tmp_path: Path) -> None:
    docx(tmp_path / "a.docx", "<w:p><w:r><w:t>[NAME]</w:t></w:r></w:p>")
    with zipfile.ZipFile(tmp_path / "in.zip", "w") as archive:
        archive.write(tmp_path / "a.docx", "deep/a.docx")
    assert run(tmp_path / "in.zip", tmp_path / "out").replaced == 1
    bad = tmp_path / "bad"
    bad.mkdir()
    (bad / "b.docx").write_bytes(b"PK\x03\x04 secret")
    (bad / "c.docx").write_bytes((tmp_path / "a.docx").read_bytes())
    with pytest.raises(DataError, match=r"b\.docx: the zip file is damaged"):
        run(bad, tmp_path / "none")
    assert run(bad, tmp_path / "skipped", skip_bad_rows=True).documents == 1


def test_a_word_document_that_unpacks_to_too_much(tmp_path: Path) -> None:
    docx(tmp_path / "a.docx", f"<w:p><w:r><w:t>[NAME]{' ' * 2_000_000}</w:t></w:r></w:p>")
    with pytest.raises(DataError, match="unpack to more than 1,000,000 bytes"):
        read(tmp_path / "a.docx", max_unpacked=10**6)


# Hugging Face


def saved(folder: Path, rows: int = 25, **columns: Any) -> None:
    datasets = pytest.importorskip("datasets")
    data = datasets.Dataset.from_dict({"n": list(range(rows)), "text": [f"{n} [NAME] é" for n in range(rows)], **columns})
    datasets.DatasetDict({"train": data, "test": data.select(range(3))}).save_to_disk(str(folder))


@pytest.mark.long
def test_a_dataset_saved_to_disk_can_be_loaded_again(tmp_path: Path) -> None:
    datasets = pytest.importorskip("datasets")
    saved(tmp_path / "in")
    report = run(tmp_path / "in", tmp_path / "out")
    assert (report.documents, report.warnings) == (28, ())
    new = datasets.load_from_disk(str(tmp_path / "out" / "mirror"))
    assert new["train"]["text"][7] == "7 Zoë Müller é"
    assert new["test"]["n"][:] == [0, 1, 2]
    run(tmp_path / "in", tmp_path / "small", chunk=1)
    assert tree(tmp_path / "small") == tree(tmp_path / "out")


@pytest.mark.long
def test_spans_in_a_column_move_with_the_text(tmp_path: Path) -> None:
    datasets = pytest.importorskip("datasets")
    spans = [[{"start": len(f"{n} "), "end": len(f"{n} ") + 6, "label": "PER", "text": "[NAME]"}] for n in range(24)]
    saved(tmp_path / "in", spans=[*spans, [{"start": 0, "end": 900, "label": "PER", "text": "x"}]])
    with pytest.raises(DataError, match=r"data-00000-of-00001\.arrow:25: spans\[0\] is empty or outside the text"):
        run(tmp_path / "in", tmp_path / "out", kind_of=kind_of)
    report = run(tmp_path / "in", tmp_path / "out", kind_of=kind_of, skip_bad_rows=True)
    assert report.documents == 27
    skipped = [json.loads(line) for line in (tmp_path / "out" / "skipped_rows.jsonl").read_text().splitlines()]
    assert [(row["file"], row["line"]) for row in skipped] == [("train/data-00000-of-00001.arrow", 25)]
    rows = datasets.load_from_disk(str(tmp_path / "out" / "mirror"))["train"]
    for row in list(rows)[:24]:
        (span,) = row["spans"]
        assert row["text"][span["start"] : span["end"]] == span["text"] == "Zoë Müller"
    assert (rows[24]["text"], rows[24]["spans"]) == (None, None)


def test_an_arrow_file_with_an_index_and_one_that_is_damaged(tmp_path: Path) -> None:
    pyarrow = pytest.importorskip("pyarrow")
    path = tmp_path / "a.arrow"
    table = pyarrow.table({"text": ["[NAME]", None, "x"], "spans": [[{"start": 0, "end": 1, "type": "x"}], [], []]})
    with pyarrow.OSFile(str(path), "wb") as sink, pyarrow.ipc.new_file(sink, table.schema) as writer:
        writer.write_table(table)
    run(path, tmp_path / "out")
    with pyarrow.OSFile(str(tmp_path / "out" / "mirror" / "a.arrow")) as source:
        assert pyarrow.ipc.open_file(source).read_all()["text"].to_pylist() == ["Zoë Müller", None, "x"]
    path.write_bytes(b"ARROW1 no")
    with pytest.raises(DataError, match=r"a\.arrow: the file is no Arrow file"):
        read(path)


@pytest.mark.long
def test_two_processes_give_the_same_bytes_for_every_format(tmp_path: Path) -> None:
    pyarrow = pytest.importorskip("pyarrow")
    source = tmp_path / "in"
    for number in range(3):
        brat(source / str(number))
        (source / str(number) / "b.conll").write_text(CONLL)
        docx(source / str(number) / "c.docx", "<w:p><w:r><w:t>[NA</w:t></w:r><w:r><w:t>ME] left</w:t></w:r></w:p>")
        (source / str(number) / "d.xml").write_text('<r><TEXT>[NAME] left</TEXT><TAGS><N start="0" end="6" text="[NAME]"/></TAGS></r>')
        (source / str(number) / "e.jsonl").write_text('{"text": "[NAME]"}\nbad\n' * 5)
        table = pyarrow.table({"text": ["[NAME]", None, "x"] * 9})
        with pyarrow.OSFile(str(source / str(number) / "f.arrow"), "wb") as sink, pyarrow.ipc.new_stream(sink, table.schema) as writer:
            writer.write_table(table, max_chunksize=4)
    for name, workers, chunk in (("one", 1, 2**20), ("two", 2, 60)):
        inputs = SourceSettings(path=source, skip_bad_rows=True, chunk_bytes=chunk)
        run_surrogates(inputs, tmp_path / name, TagEngine, workers=workers)
        verify_folder(tmp_path / name, source)
    assert tree(tmp_path / "one") == tree(tmp_path / "two")
