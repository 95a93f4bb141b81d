from __future__ import annotations

import os
import time
from pathlib import Path

from piiloom.foundation.whole_files import LOCK, lock, named, remove_old_drafts, scratch_folder


def test_only_what_no_process_holds_is_removed(tmp_path: Path) -> None:
    dead, held = tmp_path / ".vault.partial-1", tmp_path / ".vault.partial-2"
    other = tmp_path / ".vault2.partial-1"
    for path in (dead, held, other):
        path.write_bytes(b"original")
    with held.open("rb") as fh:
        lock(fh)
        remove_old_drafts(tmp_path / "vault")
        assert sorted(path.name for path in tmp_path.iterdir()) == [held.name, other.name]
    remove_old_drafts(tmp_path / "vault")
    assert sorted(path.name for path in tmp_path.iterdir()) == [other.name]


def test_folders_of_killed_processes_go_and_those_at_work_stay(tmp_path: Path) -> None:
    killed, fresh, stale = (tmp_path / f"p-{name}" for name in ("killed", "fresh", "stale"))
    for folder in (killed, fresh, stale):
        folder.mkdir()
        (folder / "text").write_bytes(b"original")
    (killed / LOCK).touch()
    os.utime(stale, (time.time() - 3600,) * 2)
    (tmp_path / "p-link").symlink_to(fresh)
    with scratch_folder("p-", tmp_path) as first, scratch_folder("p-", tmp_path) as second:
        assert first.is_dir()
        assert second.is_dir()
        assert not killed.exists()
        assert not stale.exists()
        assert fresh.exists()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["p-fresh", "p-link"]


def test_what_is_named_so_is_found(tmp_path: Path) -> None:
    for name in (".a.partial-1", ".[a].partial-2", ".partial-3", "a.partial-4", ".a.partial"):
        (tmp_path / name).touch()
    assert sorted(path.name for path in named(tmp_path, ".", ".partial-")) == [".[a].partial-2", ".a.partial-1"]
    assert named(tmp_path, ".[a].partial-") == [tmp_path / ".[a].partial-2"]
    assert named(tmp_path / "none", ".") == []
