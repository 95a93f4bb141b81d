"""Idempotent creation and export of a release: an identical existing one is accepted, a different one is an error.

A script that releases and exports can therefore be run again. Existing releases and exports are never changed.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

from piiloom.corpus.formats.base import Format
from piiloom.corpus.markers import TYPES, MarkerSet
from piiloom.corpus.releases.exporting import MANIFEST, ExportReport, export_formats
from piiloom.corpus.releases.freezing import ReleaseDraft, draft_release, freeze
from piiloom.corpus.releases.release_options import ReleaseOptions, requested
from piiloom.corpus.store.database import Store
from piiloom.corpus.store.releases import ReleaseRow, get_release, list_releases, members_of, withheld_of
from piiloom.foundation.errors import ReleaseError
from piiloom.foundation.settings import takes_keywords

# What tells two releases of one name apart, besides their records.
_SETTINGS = ("split_settings", "record_choice", "version", "license")


@takes_keywords(ReleaseOptions)
def create_or_confirm_release(store: Store, name: str, asked: ReleaseOptions) -> ReleaseRow:
    """Like ``create_release``, but return an existing release *name* if its settings, records, revisions and splits are the same.

    Raises ``ReleaseError`` if they differ.
    """
    request = requested(name, **asked.given())
    if all(release.name != name for release in list_releases(store)):
        return freeze(store, draft_release(store, request))
    known = get_release(store, name)
    difference = _difference(store, known, draft_release(store, request, known=known))
    if difference is not None:
        raise ReleaseError(
            f"there is a release {name!r} already, {difference}",
            where=str(store.path),
            remedy="Choose another name: a release never changes",
        )
    return known


def _difference(store: Store, known: ReleaseRow, draft: ReleaseDraft) -> str | None:
    if any(getattr(known, name) != getattr(draft.row, name) for name in _SETTINGS):
        return "made with other settings"
    before, now = set(members_of(store, known)), set(draft.members)
    if before != now:
        there = {record_id for record_id, _, _ in before}
        new = sum(record_id not in there for record_id, _, _ in now)
        return f"of other records ({len(before):,}; now there would be {len(now):,}, {new:,} of them not in it)"
    if set(withheld_of(store, known)) != set(draft.withheld):
        return "which withholds other records"
    return "with other texts or labels" if known.content_sha256 not in {None, draft.row.content_sha256} else None


def export_or_confirm(
    store: Store,
    name: str,
    formats: Sequence[Format],
    out: Path,
    *,
    splits: Sequence[str] = (),
    tokenizer: str = "whitespace",
    markers: MarkerSet = TYPES,
    seed: int | None = None,
) -> list[ExportReport]:
    """Like ``export_formats``, but leave *out* unchanged if it already holds the same exports, byte for byte.

    Raises ``OutputError`` if the folder holds something else.
    """
    if any(out.glob(MANIFEST)) or any(out.glob(f"*/{MANIFEST}")):
        with TemporaryDirectory(prefix="piiloom-export-") as folder:
            place = Path(folder) / "export"
            made = export_formats(store, name, formats, place, splits=splits, tokenizer=tokenizer, markers=markers, seed=seed)
            places = [out / report.out.relative_to(Path(folder) / "export") for report in made]
            if all(_holds(place, report.out) for place, report in zip(places, made, strict=True)):
                return [replace(report, out=place) for place, report in zip(places, made, strict=True)]
    return export_formats(store, name, formats, out, splits=splits, tokenizer=tokenizer, markers=markers, seed=seed)


def _holds(folder: Path, wanted: Path) -> bool:
    """Whether *folder* has every file of *wanted*, at any depth, with the same content. Other files in *folder* are ignored."""
    files = [path.relative_to(wanted) for path in wanted.rglob("*") if path.is_file()]
    return all((folder / file).is_file() and _same(folder / file, wanted / file) for file in files)


def _same(one: Path, other: Path) -> bool:
    if one.stat().st_size != other.stat().st_size:
        return False
    with one.open("rb") as left, other.open("rb") as right:
        while chunk := left.read(1 << 20):
            if chunk != right.read(1 << 20):
                return False
    return True
