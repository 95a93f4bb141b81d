"""Which files are read, in which encodings, and what comes out of archives."""

from __future__ import annotations

import os
import stat
import zipfile
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from piiloom.foundation.errors import DataError, UsageError
from piiloom.surrogates.inputs.parts import SourceFile, SourceSettings
from piiloom.surrogates.inputs.source import open_source
from piiloom.surrogates.inputs.text_files import MirrorEncoder, to_utf8
from tests.surrogates.inputs.reading_files import mirrored, read


def names(path: Path, **settings: object) -> list[str]:
    return [one.file for one in read(path, **settings)]


def test_a_folder_is_read_by_path_and_what_nobody_knows_is_named(tmp_path: Path) -> None:
    for name in ("b.txt", "a/z.txt", "a/b.jsonl", "a-b.txt", "B.TXT", ".hidden.txt", "x.pdf", ".git/a.txt"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text('{"text": "x"}')
    assert names(tmp_path) == ["B.TXT", "a/b.jsonl", "a/z.txt", "a-b.txt", "b.txt"]
    with open_source(SourceSettings(path=tmp_path)) as source:
        assert source.skipped == [".hidden.txt", "x.pdf"]


def test_links_inside_are_followed_and_others_refused(tmp_path: Path) -> None:
    root, other = tmp_path / "in", tmp_path / "other"
    for folder in (root / "d", other):
        folder.mkdir(parents=True)
        (folder / "a.txt").write_text("x")
    (root / "l.txt").symlink_to("d/a.txt")
    (root / "e").symlink_to("d")
    assert names(root) == ["d/a.txt", "e/a.txt", "l.txt"]
    for target, words in ((other / "a.txt", r"out\.txt: the link leads out"), (Path("nothing"), "does not exist")):
        link = root / "out.txt"
        link.symlink_to(target)
        with pytest.raises(DataError, match=words):
            names(root)
        link.unlink()
    (root / "d" / "up").symlink_to("..")
    with pytest.raises(DataError, match=r"d/up: the link leads back"):
        names(root)


@pytest.mark.parametrize("name", ["none.txt", "empty", "a.doc"])
def test_what_is_not_there_or_not_known_is_refused(tmp_path: Path, name: str) -> None:
    (tmp_path / "empty").mkdir()
    (tmp_path / "a.doc").write_text("x")
    with pytest.raises(UsageError):
        names(tmp_path / name)
    assert names(tmp_path / "a.doc", format="txt") == ["a.doc"]


def test_empty_files_have_no_document(tmp_path: Path) -> None:
    for name in ("a.txt", "b.jsonl", "c.csv", "d.json", "e.xml"):
        (tmp_path / name).write_bytes(b"")
    (tmp_path / "f.txt").write_bytes(b"\xef\xbb\xbf")
    assert names(tmp_path) == []


@pytest.mark.parametrize(
    ("encoding", "mark"),
    [("utf-16-le", b"\xff\xfe"), ("utf-16-be", b"\xfe\xff"), ("utf-32-le", b"\xff\xfe\0\0"), ("utf-32-be", b"\0\0\xfe\xff")],
)
def test_marks_tell_the_encoding(tmp_path: Path, encoding: str, mark: bytes) -> None:
    path = tmp_path / "a.jsonl"
    path.write_bytes(mark + '{"text": "één"}\r\n{"text": "太"}\n'.encode(encoding))
    assert [(one.text, one.line) for one in read(path)] == [("één", 1), ("太", 2)]


def test_utf8_with_a_mark_keeps_it(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_bytes(b"\xef\xbb\xbfx\r\n")
    assert [one.text for one in read(path)] == ["x\r\n"]
    assert mirrored(path)[0] == path.read_bytes()


def test_other_encodings_are_told_or_declared(tmp_path: Path) -> None:
    text, xml = tmp_path / "a.txt", tmp_path / "b.xml"
    text.write_bytes("één".encode("cp1252"))
    xml.write_bytes("<?xml version='1.0' encoding='ISO-8859-1'?><r>één</r>".encode("latin-1"))
    assert [one.text for one in read(text, encoding="windows-1252")] == ["één"]
    assert [one.text for one in read(xml)] == ["één"]


def test_what_does_not_fit_is_named_by_line_and_offset(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_bytes(b'{"text": "a"}\n' * 3 + '{"text": "één"}\n'.encode("latin-1"))
    for chunk in (1, 20, 1 << 20):
        with pytest.raises(DataError, match=r"a\.jsonl:4: byte 0xe9 at offset 52 is not UTF-8.*--encoding"):
            read(path, chunk_bytes=chunk)
    path.write_bytes(b"\xff\xfe" + "ab\n".encode("utf-16-le") + b"\x00\xd8")
    with pytest.raises(DataError, match=r"a\.jsonl:2: the byte at offset 8 is not UTF-16-LE"):
        read(path)


@pytest.mark.parametrize(("name", "near"), [("utf8x", "utf-8"), ("cp1522", "cp1252"), ("zlib", "cp1252")])
def test_encodings_that_do_not_exist_are_told_with_near_ones(tmp_path: Path, name: str, near: str) -> None:
    path = tmp_path / "a.txt"
    path.write_text("x")
    with pytest.raises(UsageError, match=near):
        read(path, encoding=name)


def test_bytes_that_would_not_come_back_the_same_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_bytes(b"\x1b$B\x1b(Babc")  # ISO-2022-JP that switches to and fro for nothing
    with pytest.raises(DataError, match="would not come back the same"):
        read(path, encoding="iso-2022-jp")


@pytest.mark.long
@given(text=st.text(st.characters(codec="shift_jis", exclude_characters="¥‾"), max_size=40), blocks=st.integers(1, 5))
def test_there_and_back_through_an_encoding(tmp_path_factory: pytest.TempPathFactory, text: str, blocks: int) -> None:
    folder = tmp_path_factory.getbasetemp()
    path, target = folder / "there.txt", folder / "back.txt"
    path.write_bytes(text.encode("shift_jis"))
    file = SourceFile(0, "a.txt", path, "txt", 0, "shift_jis")
    try:
        to_utf8(file, target)
    except DataError:
        return  # a sign that the codec spells in two ways
    data = target.read_bytes()
    encoder = MirrorEncoder(file)
    size = len(data) // blocks + 1
    back = b"".join(encoder.encode(data[at : at + size]) for at in range(0, len(data), size)) + encoder.encode(b"", last=True)
    assert back == path.read_bytes()


@pytest.mark.parametrize(("file_format", "spelt"), [("xml", b"&#23383;"), ("jsonl", rb"\u5b57"), ("json", rb"\u5b57")])
def test_signs_that_an_encoding_lacks(file_format: str, spelt: bytes) -> None:
    file = SourceFile(0, "a", Path("a"), file_format, 0, "latin-1")
    assert MirrorEncoder(file).encode("é字".encode()) == b"\xe9" + spelt
    with pytest.raises(DataError, match="does not have"):
        MirrorEncoder(file._replace(format="txt")).encode("字".encode())


def archive(path: Path, *members: tuple[str | zipfile.ZipInfo, bytes]) -> Path:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as out:
        for name, data in members:
            out.writestr(name, data)
    return path


def test_members_of_a_zip_are_files_of_the_input(tmp_path: Path) -> None:
    path = archive(tmp_path / "a.zip", ("z.txt", b"1"), ("d/a.jsonl", b'{"text": "2"}'), ("n.pdf", b"x"), ("in.zip", b"x"), ("d/", b""))
    assert [(one.id, one.text) for one in read(path)] == [("a.zip/z.txt", "1"), ("a.zip/d/a.jsonl:1", "2")]
    with open_source(SourceSettings(path=path)) as source:
        assert source.skipped == ["a.zip/n.pdf", "a.zip/in.zip"]


def link() -> zipfile.ZipInfo:
    info = zipfile.ZipInfo("l.txt")
    info.external_attr = (stat.S_IFLNK | 0o777) << 16
    return info


@pytest.mark.parametrize("name", ["../a.txt", "/etc/a.txt", "d/../../a.txt", "..\\a.txt", "C:\\a.txt", link()])
def test_members_that_lead_out_are_refused_by_name(tmp_path: Path, name: str | zipfile.ZipInfo) -> None:
    path = archive(tmp_path / "a.zip", ("fine.txt", b"x"), (name, b"/etc/passwd"))
    with pytest.raises(DataError, match=r"a\.zip/.*(leads out|symbolic link)"):
        read(path)


def test_encrypted_doubled_and_damaged_members_are_refused(tmp_path: Path) -> None:
    path = archive(tmp_path / "a.zip", ("a.txt", b"x" * 100))
    data = bytearray(path.read_bytes())
    data[data.index(b"PK\x01\x02") + 8] |= 1
    path.write_bytes(data)
    with pytest.raises(DataError, match=r"a\.zip/a\.txt: the member is encrypted"):
        read(path)
    with pytest.warns(UserWarning, match="Duplicate"):
        archive(path, ("a.txt", b"x"), ("a.txt", b"y"))
    with pytest.raises(DataError, match="twice"):
        read(path)
    archive(path, ("a.txt", os.urandom(1000)))
    data = bytearray(path.read_bytes())
    data[200] ^= 0xFF
    path.write_bytes(data)
    with pytest.raises(DataError, match="damaged"):
        read(path)
    path.write_bytes(b"no zip")
    with pytest.raises(DataError, match="damaged"):
        read(path)
    with pytest.raises(DataError, match="no file of a known format"):
        read(archive(path, ("a.pdf", b"x")))


@pytest.mark.long
def test_bombs_are_refused(tmp_path: Path) -> None:
    path = archive(tmp_path / "a.zip", ("a.txt", b"0" * 3000), ("b.txt", b"0" * 3000))
    with pytest.raises(DataError, match=r"b\.txt: the archives unpack to more than 5,000 bytes.*--max-unpacked"):
        read(path, max_unpacked=5000)
    assert len(read(path, max_unpacked=6000)) == 2
    archive(path, ("bomb.txt", b"0" * 101_000_000))
    with pytest.raises(DataError, match="zip bomb"):
        read(path)


def test_a_member_that_lies_about_its_size_is_refused(tmp_path: Path) -> None:
    path = archive(tmp_path / "a.zip", ("a.txt", b"0" * 9000))
    data = bytearray(path.read_bytes())
    at = data.index(b"PK\x01\x02") + 24
    data[at : at + 4] = (10).to_bytes(4, "little")
    path.write_bytes(data)
    with pytest.raises(DataError, match=r"more than 5,000 bytes|damaged"):
        read(path, max_unpacked=5000)


def test_a_file_that_changes_meanwhile_is_noticed(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_text("x")
    with open_source(SourceSettings(path=path)) as source:
        path.write_text("longer")
        with pytest.raises(DataError, match="has changed"):
            list(source.chunks())
