"""Names and location of a store's snapshots: ``<store>.snapshots/<UTC time>Z.duckdb``. The names sort by time."""

from __future__ import annotations

import shlex
from datetime import UTC, datetime, timedelta
from pathlib import Path

_FORM = "%Y-%m-%dT%H%M%S.%f"
_SUFFIX = "Z.duckdb"


def snapshot_folder(path: Path) -> Path:
    """Return the snapshot folder of the store at *path*. If *path* is a symbolic link, it lies beside the link's target."""
    target = path.resolve()
    return target.with_name(f"{target.name}.snapshots")


def list_snapshots(path: Path) -> list[Path]:
    """The snapshots of the store at *path*, oldest first."""
    try:
        return sorted(entry for entry in snapshot_folder(path).iterdir() if snapshot_time(entry) is not None)
    except OSError:
        return []


def snapshot_time(snapshot: Path) -> datetime | None:
    """Return the time (UTC) in a snapshot's file name, or None if the file is not a snapshot."""
    if not snapshot.name.endswith(_SUFFIX):
        return None
    try:
        return datetime.strptime(snapshot.name.removesuffix(_SUFFIX), _FORM).replace(tzinfo=UTC)
    except ValueError:
        return None


def next_snapshot(path: Path, now: datetime) -> Path:
    """Return the path for a snapshot made *now*. It always sorts after the newest one, even if the clock was set back."""
    moment = now.astimezone(UTC).replace(microsecond=now.microsecond // 1000 * 1000)
    newest = max((made for made in map(snapshot_time, list_snapshots(path)) if made is not None), default=None)
    if newest is not None and newest >= moment:
        moment = newest + timedelta(milliseconds=1)
    return snapshot_folder(path) / f"{moment.strftime(_FORM)[:-3]}{_SUFFIX}"


def restore_hint(path: Path) -> str | None:
    """Return a sentence with the command that restores the newest snapshot of the store at *path*; None if there is none."""
    snapshots = list_snapshots(path)
    if not snapshots:
        return None
    command = f"piiloom annotate --restore {shlex.quote(str(snapshots[-1]))} --store {shlex.quote(str(path))}"
    return f"Get the newest of {len(snapshots)} snapshots back, the damaged file is kept: {command}"
