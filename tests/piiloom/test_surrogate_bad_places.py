"""Places that ``piiloom surrogate`` does not write to, and archives and links that it does not follow."""

from __future__ import annotations

import json
import stat
import zipfile

import pytest

from tests.piiloom.surrogate_runs import _own_names, notes, refused

__all__ = ["_own_names", "notes", "refused"]


@pytest.mark.parametrize(("out", "says"), [("notes", "is the input"), ("notes/deep/out", "inside the input"), (".", "inside the output")])
def test_the_output_never_touches_the_input(refused, notes, tmp_path, out, says):
    refused(notes, "--out", tmp_path / out, code=2, says=("--out", says, "Name"))


def test_the_input_under_another_name_is_the_input_all_the_same(refused, notes, tmp_path):
    (tmp_path / "link").symlink_to(notes)
    refused(notes, "--out", tmp_path / "notes" / "deep" / "..", code=2, says=("the output folder is the input",))
    refused(tmp_path / "link", "--out", notes, code=2, says=("the output folder is the input",))


@pytest.mark.parametrize("target", ["a file", "below a file", "full", "link"])
def test_an_output_that_cannot_be(refused, notes, tmp_path, target):
    taken = tmp_path / "taken"
    if target == "full":
        taken.mkdir()
        (taken / "letter.txt").write_text("dear")
    elif target == "link":
        (tmp_path / "elsewhere").mkdir()
        taken.symlink_to(tmp_path / "elsewhere")
    else:
        taken.write_text("mine")
    out = taken / "out" if target == "below a file" else taken
    refused(notes, "--out", out, code=1 if target == "below a file" else 2, says=("taken", "--out"))


@pytest.mark.parametrize(("where", "says"), [("notes/v", "outside"), ("out/v", "outside"), ("taken", "never overwritten")])
def test_a_vault_that_cannot_be(refused, notes, tmp_path, where, says):
    (tmp_path / "taken").write_text("mine")
    refused(notes, "--vault", tmp_path / where, code=2, says=(says,))


@pytest.mark.parametrize("where", ["no/v", "taken/v", "n" * 250])
def test_a_vault_that_cannot_be_written_is_told_of_the_right_option(refused, notes, tmp_path, where):
    (tmp_path / "taken").write_text("mine")
    line = refused(notes, "--vault", tmp_path / where, code=1, says=(where, "the vault cannot be written (", "--vault"))
    assert "--out" not in line


@pytest.mark.long
@pytest.mark.parametrize(
    ("command", "target", "says"),
    [("survey", "no/mapping.yaml", "mapping.yaml"), ("leakage", "taken", "taken"), ("leakage", "taken/l", "taken")],
)
def test_results_that_cannot_be_written(refused, notes, tmp_path, command, target, says):
    (tmp_path / "taken").write_text("mine")
    refused(notes, "--out", tmp_path / target, command=command, code=1, says=(says,))
    assert (tmp_path / "taken").read_text() == "mine"


def _packed(path, name, data=b"Hi [NAME].\n", *, mode=0):
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("good.txt", "Hi [NAME].\n")
        member = zipfile.ZipInfo(name)
        member.compress_type = zipfile.ZIP_DEFLATED
        member.external_attr = mode << 16
        archive.writestr(member, data)
    return path


@pytest.mark.parametrize("name", ["../up.txt", "a/../../up.txt", "/etc/passwd.txt", "..\\up.txt", "C:\\up.txt"])
def test_a_zip_that_leads_out_of_itself_is_refused(refused, tmp_path, name):
    refused(_packed(tmp_path / "a.zip", name), code=1, says=("a.zip/", "leads out of the archive", "Pack the archive again"))


def test_a_link_in_a_zip_is_refused(refused, tmp_path):
    source = _packed(tmp_path / "a.zip", "link.txt", b"/etc/passwd", mode=stat.S_IFLNK | 0o777)
    refused(source, code=1, says=("a.zip/link.txt", "symbolic link"))


def test_a_link_out_of_a_folder_is_refused(refused, notes, tmp_path):
    secret = tmp_path / "secret.txt"
    secret.write_text("[NAME]")
    (notes / "link.txt").symlink_to(secret)
    refused(notes, code=1, says=("link.txt", "leads out of the input folder"))


def test_a_zip_bomb_stops_at_the_limit(refused, tmp_path):
    source = _packed(tmp_path / "a.zip", "big.txt", b"x" * 3 * 2**20)
    refused(source, "--max-unpacked", "2", code=1, says=("a.zip/big.txt", "2,097,152 bytes", "--max-unpacked"))


@pytest.mark.long
def test_a_zip_bomb_is_known_by_its_ratio(refused, tmp_path):
    source = _packed(tmp_path / "a.zip", "big.txt", b"\0" * 120 * 10**6)
    refused(source, code=1, says=("a.zip/big.txt", "200 times"))


@pytest.mark.parametrize("data", [b"", b"PK\x03\x04 no zip", b"hello"])
def test_a_zip_that_is_none(refused, tmp_path, data):
    source = tmp_path / "a.zip"
    source.write_bytes(data)
    refused(source, code=1, says=("a.zip", "damaged"))


def test_a_full_disk_names_the_vault_if_it_is_the_vaults(spawn, tmp_path):
    """A limit on the size of files stands for a full disk: only the vault, with a long id for each place, exceeds it."""
    row = {"id": "x" * 20_000, "text": "[NAME], [NAME], [NAME] and [NAME]. " * 10}
    (tmp_path / "a.jsonl").write_text(json.dumps(row) + "\n")
    limit = (
        "import resource, signal; signal.signal(signal.SIGXFSZ, signal.SIG_IGN); resource.setrlimit(resource.RLIMIT_FSIZE, (400_000,) * 2)"
    )
    words = ("surrogate", "run", tmp_path / "a.jsonl", "--out", tmp_path / "out", "--vault", tmp_path / "kept.vault", "--workers", 1)
    outcome = spawn(*words, before=limit)
    assert outcome.code == 1
    line = outcome.err.splitlines()[-1]  # after the warning of the vault
    assert "the vault cannot be written (File too large)" in line
    assert "kept.vault" in line
    assert "--vault" in line
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.jsonl"]
