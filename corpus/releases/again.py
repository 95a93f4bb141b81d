"""Idempotent creation and export of a release: an identical existing one is accepted, a different one is an error.

A script that releases and exports can therefore be run again. Existing releases and exports are never changed.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

from piiloom.corpus.formats.base import Format
from piiloom.corpus.releases.exporting import MANIFEST, ExportReport, export_release
from piiloom.corpus.releases.freezing import ANY_STATUS, ReleaseDraft, create_release, draft_release
from piiloom.corpus.store.database import Store
from piiloom.corpus.store.releases import ReleaseRow, get_release, list_releases, members_of, withheld_of
from piiloom.foundation.errors import ReleaseError


def create_or_confirm_release(
    store: Store, name: str, *, test_size: float, seed: int, run_id: str | None = None, status: str = ANY_STATUS
) -> ReleaseRow:
    """Like ``create_release``, but return an existing release *name* if its settings, records, revisions and splits are the same.

    Raises ``ReleaseError`` if they differ.
    """
    if all(release.name != name for release in list_releases(store)):
        return create_release(store, name, test_size=test_size, seed=seed, run_id=run_id, status=status)
    known = get_release(store, name)
    draft = draft_release(store, name, test_size=test_size, seed=seed, run_id=run_id, status=status, known=True)
    difference = _difference(store, known, draft)
    if difference is not None:
        raise ReleaseError(
            f"there is a release {name!r} already, {difference}",
            where=str(store.path),
            remedy="Choose another name: a release never changes",
        )
    return known


def _difference(store: Store, known: ReleaseRow, draft: ReleaseDraft) -> str | None:
    if replace(known, created_order=0) != replace(draft.row, created_order=0):
        return "made with other settings"
    before, now = set(members_of(store, known.name)), set(draft.members)
    if before != now:
        there = {record_id for record_id, _, _ in before}
        new = sum(record_id not in there for record_id, _, _ in now)
        return f"of other records ({len(before):,}; now there would be {len(now):,}, {new:,} of them not in it)"
    return None if set(withheld_of(store, known.name)) == set(draft.withheld) else "which withholds other records"


def export_or_confirm(store: Store, name: str, file_format: Format, out: Path) -> ExportReport:
    """Like ``export_release``, but leave *out* unchanged if it already holds the same export, byte for byte.

    Raises ``OutputError`` if the folder holds something else.
    """
    if (out / MANIFEST).is_file():
        with TemporaryDirectory(prefix="piiloom-export-") as folder:
            made = export_release(store, name, file_format, Path(folder) / "export")
            if _holds(out, made.out):
                return replace(made, out=out)
    return export_release(store, name, file_format, out)


def _holds(folder: Path, wanted: Path) -> bool:
    """Whether *folder* has every file of *wanted*, with the same content. Other files in *folder* are ignored."""
    return all((folder / file.name).is_file() and _same(folder / file.name, file) for file in wanted.iterdir())


def _same(one: Path, other: Path) -> bool:
    if one.stat().st_size != other.stat().st_size:
        return False
    with one.open("rb") as left, other.open("rb") as right:
        while chunk := left.read(1 << 20):
            if chunk != right.read(1 << 20):
                return False
    return True
