"""``piiloom surrogate restore``: a run is reversed with its vault, byte for byte, in every format; what is not so is named."""

from __future__ import annotations

import json
import zipfile

import pytest
from pyarrow import ipc, parquet

from tests.piiloom.inputs_with_spans import FORMATS, made, write
from tests.piiloom.surrogate_runs import _own_names, fill

__all__ = ["_own_names", "fill"]

TAGGED = "[NAME] of [CITY] wrote to [EMAIL] on [DATE]; [NAME] of “[COMPANY]” agreed.\nCafé."
CONLL = "-DOCSTART- O\n\n[NAME] NNP B-PER\nsaid VB O\n[CITY] NNP B-LOC\n\n[ ( O\nNAME NNP O\n] ) O\n"
# With placeholders: name, bytes, further options. Escapes, quotes and encodings that the new text would be written without.
PLAIN = {
    "a.txt": (TAGGED.encode("cp1252"), ("--encoding", "cp1252")),
    "a.csv": (f'id,text,more\r\n1,"{TAGGED} ""x"""\r\n2,[NAME],"y"\r\n'.encode(), ()),
    "b.tsv": (b"text\tquestion\n[NAME] left\tDid [NAME] leave?\n", ("--question-field", "question")),
    "a.jsonl": (b'{"text": "\\u005bNAME\\u005d\\/[CITY]", "n": 1}\r\n{"text":"\\u00e9 [NAME]"}\n', ()),
    "a.json": (b'[{"text": "[NAME]", "q": "is \\u00ab[NAME]\\u00bb in [CITY]?"},\n {"q": "[CITY]?"}]', ("--question-field", "q")),
    "a.xml": (b"<r>\n<p>[<b>NA</b>ME] of &#91;CITY&#93; <![CDATA[met [NAME]]]></p></r>", ()),
    "a.conll": (CONLL.encode(), ()),
}


def files_of(path):
    """The content of a file by name; members of archives and rows of tables instead of bytes, which depend on who writes them."""
    found = {}
    for file in [path] if path.is_file() else sorted(one for one in path.rglob("*") if one.is_file()):
        if file.suffix in {".zip", ".docx"}:
            with zipfile.ZipFile(file) as archive:
                found |= {f"{file.name}/{name}": archive.read(name) for name in archive.namelist()}
        elif file.suffix == ".parquet":
            found[file.name] = parquet.read_table(file)
        elif file.suffix == ".arrow":
            found[file.name] = ipc.open_stream(file.read_bytes()).read_all()
        else:
            found[file.name] = file.read_bytes()
    return found


@pytest.fixture
def restored(cli, fill, tmp_path):
    """Run over *source* with a vault, restore, and return what ``restore --json`` prints."""

    def call(source, *words):
        fill(source, *words, "--vault", tmp_path / "kept.vault")
        outcome = cli("surrogate", "restore", tmp_path / "out", "--vault", tmp_path / "kept.vault", "--out", tmp_path / "again", "--json")
        assert outcome.code == 0, outcome.err
        return json.loads(outcome.out)

    return call


@pytest.mark.parametrize("name", PLAIN)
def test_a_filled_corpus_comes_back(restored, tmp_path, name):
    data, words = PLAIN[name]
    (tmp_path / name).write_bytes(data)
    told = restored(tmp_path / name, *words)
    assert (told["differing"], told["unknown"], told["left_out"]) == ([], [], [])
    assert (tmp_path / "again" / name).read_bytes() == data
    assert (tmp_path / "out" / "mirror" / name).read_bytes() != data


@pytest.mark.long
@pytest.mark.parametrize("form", FORMATS)
def test_a_corpus_with_spans_comes_back(restored, tmp_path, form):
    source = write(tmp_path / "in", form, list(made(60, 5)))
    told = restored(source, "--spans", "--same-value", "corpus")
    assert (told["differing"], told["unknown"]) == ([], [])
    assert files_of(tmp_path / "again") == files_of(source)
    assert files_of(tmp_path / "out" / "mirror") != files_of(source)


def test_a_word_document_comes_back(restored, tmp_path):
    body = "<w:p><w:r><w:t>[NA</w:t></w:r><w:r><w:t>ME] and </w:t></w:r><w:r><w:t>[CITY]</w:t></w:r></w:p>"
    with zipfile.ZipFile(tmp_path / "a.docx", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("word/document.xml", f'<w:document xmlns:w="x"><w:body>{body}</w:body></w:document>')
        archive.writestr("word/media/image1.png", "\x01\x02")
    assert restored(tmp_path / "a.docx")["differing"] == []
    assert files_of(tmp_path / "again") == files_of(tmp_path / "a.docx")


def test_what_cannot_come_back_is_named(restored, cli, tmp_path):
    source = tmp_path / "in"
    source.mkdir()
    (source / "a.jsonl").write_text('{"text": "[NAME] left."}\n{"text": 3\n')
    (source / "b.jsonl").write_text('{"text": "[NAME] came."}\n')
    (source / "picture.png").write_bytes(b"\x89PNG")
    told = restored(source, "--skip-bad-rows")
    assert (told["differing"], told["left_out"]) == (["a.jsonl"], ["picture.png"])
    assert (tmp_path / "again" / "b.jsonl").read_bytes() == (source / "b.jsonl").read_bytes()
    other = tmp_path / "other.vault"
    other.write_text((tmp_path / "kept.vault").read_text().replace('"new_start": 0', '"new_start": 5'))
    (tmp_path / "empty").touch()
    refused = ((other, "not of this run"), (tmp_path / "none", "cannot be read"), (tmp_path / "empty", "not of this run"))
    for vault, says in (*refused, (source / "picture.png", "none of a vault")):
        outcome = cli("surrogate", "restore", tmp_path / "out", "--vault", vault, "--out", tmp_path / "third")
        assert outcome.code == 1
        assert says in outcome.error_line()
        assert not (tmp_path / "third").exists()
