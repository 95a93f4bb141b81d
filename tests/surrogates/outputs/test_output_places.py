"""Where output may go, and what is left behind."""

from __future__ import annotations

import json
import os
import stat
from pathlib import Path

import pytest

from piiloom.foundation.errors import OutputError, UsageError
from piiloom.surrogates.outputs.folder import TOOL, RunFolder, VaultFile


def source_in(folder: Path) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "a.txt").write_text("x")
    return folder


def earlier_run(out: Path) -> Path:
    (out / "old").mkdir(parents=True)
    (out / "report.json").write_text(json.dumps({"tool": TOOL}))
    return out


def fail(error: Exception, after: Path | VaultFile) -> None:
    """Write something, and stop."""
    after.touch() if isinstance(after, Path) else after.publish()
    raise error


def overtaken(path: Path, vault: VaultFile) -> None:
    """Somebody takes the vault's name first."""
    path.write_text("theirs")
    vault.publish()


@pytest.mark.parametrize(
    ("out", "source"),
    [("in", "in"), ("in/out", "in"), (".", "in"), ("in", "in/a.txt"), ("in/a.txt", "in/a.txt"), ("in/../in/x/../out", "in")],
)
def test_input_and_output_must_not_lie_in_each_other(tmp_path: Path, out: str, source: str) -> None:
    source_in(tmp_path / "in")
    with pytest.raises(UsageError), RunFolder(tmp_path / out, tmp_path / source, force=True):
        pass
    assert sorted(path.name for path in tmp_path.iterdir()) == ["in"]
    assert [path.name for path in (tmp_path / "in").iterdir()] == ["a.txt"]


def test_a_link_does_not_hide_that_they_do(tmp_path: Path) -> None:
    source = source_in(tmp_path / "in")
    (tmp_path / "link").symlink_to("in")
    for out in ("link", "link/out"):
        with pytest.raises(UsageError), RunFolder(tmp_path / out, source):
            pass


def test_a_folder_that_holds_something_is_kept(tmp_path: Path) -> None:
    source, out = source_in(tmp_path / "in"), source_in(tmp_path / "out")
    for force, remedy in ((None, "Name another with --out"), (False, "Name another with --out, or replace an earlier run's with --force")):
        with pytest.raises(UsageError, match="not empty") as refused, RunFolder(out, source, force=force):
            pass
        assert refused.value.remedy == remedy
    for told in ("{}", "[]", "no", json.dumps({"tool": "other"})):
        (out / "report.json").write_text(told)
        with pytest.raises(UsageError, match="no earlier run"), RunFolder(out, source, force=True):
            pass
    assert (out / "a.txt").read_text() == "x"
    with pytest.raises(UsageError, match="this is not a folder"), RunFolder(out / "a.txt", source):
        pass


def test_force_replaces_an_earlier_run_whole(tmp_path: Path) -> None:
    source, out = source_in(tmp_path / "in"), earlier_run(tmp_path / "out")
    with pytest.raises(ValueError, match="stop"), RunFolder(out, source, force=True) as folder:
        fail(ValueError("stop"), folder.partial / "new")
    assert sorted(path.name for path in out.iterdir()) == ["old", "report.json"]
    with RunFolder(out, source, force=True) as folder:
        (folder.partial / "new").touch()
        folder.publish()
    assert [path.name for path in out.iterdir()] == ["new"]
    assert sorted(path.name for path in tmp_path.iterdir()) == ["in", "out"]


def test_an_empty_folder_is_taken(tmp_path: Path) -> None:
    source, out = source_in(tmp_path / "in"), tmp_path / "out"
    out.mkdir()
    with RunFolder(out, source) as folder:
        folder.publish()
    assert list(out.iterdir()) == []
    assert sorted(path.name for path in tmp_path.iterdir()) == ["in", "out"]


def test_what_a_killed_run_left_goes_and_what_is_at_work_stays(tmp_path: Path) -> None:
    source, out = source_in(tmp_path / "in"), tmp_path / "o[u]t"
    (tmp_path / ".o[u]t.partial-99999").mkdir()
    (tmp_path / ".o[u]t.partial-99999" / ".lock").touch()
    (tmp_path / ".other.partial-99999").mkdir()
    earlier_run(tmp_path / ".o[u]t.replaced-99999")
    with RunFolder(out, source, force=True) as at_work:
        assert out.is_dir()  # it had lost its name
        at_work.partial.rename(at_work.partial.with_name(".o[u]t.partial-1"))
        with RunFolder(out, source, force=True) as other:
            other.publish()
        assert sorted(path.name for path in tmp_path.iterdir()) == [".o[u]t.partial-1", ".other.partial-99999", "in", "o[u]t"]


def test_a_full_disk_is_told_and_leaves_nothing(tmp_path: Path) -> None:
    source, out = source_in(tmp_path / "in"), tmp_path / "out"
    with pytest.raises(OutputError, match="No space left"), RunFolder(out, source) as folder:
        fail(OSError(28, "No space left on device"), folder.partial / "half")
    assert [path.name for path in tmp_path.iterdir()] == ["in"]
    (tmp_path / "file").touch()
    with pytest.raises(OutputError), RunFolder(tmp_path / "file" / "out", source):
        pass


def test_the_vault_is_for_its_owner_alone(tmp_path: Path) -> None:
    path = tmp_path / "v.jsonl"
    before = os.umask(0)
    try:
        with VaultFile(path, tmp_path / "out", tmp_path / "in") as vault:
            vault.write(b"x\n")
            assert not path.exists()
            vault.publish()
    finally:
        os.umask(before)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert path.read_bytes() == b"x\n"
    assert [one.name for one in tmp_path.iterdir()] == ["v.jsonl"]
    with pytest.raises(UsageError, match="never overwritten"), VaultFile(path, tmp_path / "out", tmp_path / "in"):
        pass


@pytest.mark.parametrize("name", ["out/v.jsonl", "in/v.jsonl", "out", "in/../out/v"])
def test_the_vault_lies_apart(tmp_path: Path, name: str) -> None:
    (tmp_path / "in").mkdir()
    with pytest.raises(UsageError, match="outside"), VaultFile(tmp_path / name, tmp_path / "out", tmp_path / "in"):
        pass
    assert [one.name for one in tmp_path.iterdir()] == ["in"]


def test_a_vault_that_is_not_published_or_fails_goes(tmp_path: Path) -> None:
    path = tmp_path / "v.jsonl"
    with pytest.raises(ValueError, match="stop"), VaultFile(path, tmp_path / "out", tmp_path / "in") as vault:
        fail(ValueError("stop"), vault)
    with VaultFile(path, tmp_path / "out", tmp_path / "in"):
        pass
    with pytest.raises(UsageError, match="in the meantime"), VaultFile(path, tmp_path / "out", tmp_path / "in") as vault:
        overtaken(path, vault)
    assert path.read_text() == "theirs"
    with pytest.raises(OutputError), VaultFile(tmp_path / "none" / "v", tmp_path / "out", tmp_path / "in"):
        pass


@pytest.mark.parametrize(("mode", "count"), [(0o700, 1), (0o755, 2), (0o777, 2), (0o1777, 2)])
def test_a_folder_open_to_others_is_warned_about(tmp_path: Path, mode: int, count: int) -> None:
    tmp_path.chmod(mode)
    with VaultFile(tmp_path / "v", tmp_path / "out", tmp_path / "in") as vault:
        assert len(vault.warnings()) == count
