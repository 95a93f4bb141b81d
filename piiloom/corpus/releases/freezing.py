"""Freeze a release: store its records, revisions and splits, which then never change.

``create_or_confirm_release`` accepts an identical existing release, so a script that releases and exports can be run again.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import chain
from typing import Final

from piiloom.corpus.record import TEST, TRAIN, VALIDATION, fold_name, in_order
from piiloom.corpus.releases.exporting import ContentHash, export_release
from piiloom.corpus.releases.grouping import Member
from piiloom.corpus.releases.leakage import measure_leakage
from piiloom.corpus.releases.release_options import (
    ANY_STATUS,
    IndivisibleError,
    RecordChoice,
    ReleaseOptions,
    ReleaseRequest,
    SplitSettings,
    requested,
    settings_json,
)
from piiloom.corpus.releases.selecting import RecordSelection, select_members
from piiloom.corpus.releases.splits import KeptPlaces, Split, split_members
from piiloom.corpus.releases.value_overlap import ValueDraw
from piiloom.corpus.store.database import Store
from piiloom.corpus.store.releases import (
    WARNING,
    NewValue,
    ReleaseRow,
    count_members,
    get_release,
    insert_release,
    iter_draft_records,
    list_releases,
    new_values_of,
    release_members,
    types_of,
    withheld_of,
)
from piiloom.corpus.store.runs import get_run
from piiloom.corpus.store.upgrading import MIGRATIONS
from piiloom.foundation.errors import ReleaseError, UsageError
from piiloom.foundation.settings import takes_keywords
from piiloom.foundation.version import __version__
from piiloom.taxonomy.own_types import extended

__all__ = ["ANY_STATUS", "ReleaseDraft", "create_release", "draft_release", "export_release", "freeze"]

_NO_TEST: Final = "no test split: there are too few records, or groups of them, to divide"


@dataclass(frozen=True, slots=True)
class ReleaseDraft:
    """A release that is computed but not yet stored.

    ``members`` are (record id, revision, split), ``withheld`` (record id, reason).
    """

    row: ReleaseRow
    members: list[tuple[str, int, str]]
    withheld: list[tuple[str, str]]
    new_values: tuple[NewValue, ...]


@takes_keywords(ReleaseOptions)
def create_release(store: Store, name: str, asked: ReleaseOptions) -> ReleaseRow:
    """Split the records that *asked* chooses, and freeze them.

    A ``run`` may be ``"last"``; without one, the records of all runs and imports are taken. Raises ``ReleaseError`` if the name is
    taken or there are no such records, ``RunError`` for an unknown run, and ``UsageError`` for options that contradict each other or
    a size that leaves nothing to train on.
    """
    return freeze(store, draft_release(store, requested(name, **asked.given())))


def freeze(store: Store, draft: ReleaseDraft) -> ReleaseRow:
    """Store a drafted release. Raises ``ReleaseError`` if the name has been taken in the meantime."""
    return insert_release(store, draft.row, draft.members, draft.withheld, draft.new_values)


def draft_release(store: Store, request: ReleaseRequest, *, known: ReleaseRow | None = None) -> ReleaseDraft:
    """Do the slow part of ``create_release``; *store* is only read, so others may write to it at the same time.

    With *known*, the stored release of that name is no error: the draft is to be compared with it, and has its drawn values where it
    would have some itself.
    """
    if known is None and any(release.name == request.name for release in list_releases(store)):
        raise ReleaseError(f"there is a release {request.name!r} already", where=str(store.path), remedy="Choose another name")
    run_id = request.choice.run_id
    choice = replace(request.choice, run_id=None if run_id is None else get_run(store, run_id).id)
    selection = select_members(store, choice)
    if not selection.members:
        raise _nothing_to_release(store, choice, selection)
    from piiloom.pii_values.redrawing import redraw  # noqa: PLC0415 - loads the lists of values

    request, places = _with_places(store, request)
    draw = partial(redraw, taxonomy=extended(types_of(store)))
    settings, split = _split(selection.members, request, draw, places)
    revisions = {member.id: member.revision for member in selection.members}
    members = [(record_id, revisions[record_id], name) for name in in_order(split.ids) for record_id in split.ids[name]]
    row = ReleaseRow(
        name=request.name,
        seed=settings.seed,
        test_size=str(settings.test_size),
        run_id=choice.run_id,
        status_filter=choice.status,
        version=request.version,
        license=request.license,
        piiloom=__version__,
        schema_version=MIGRATIONS.latest,
        split_settings=settings_json(settings),
        record_choice=settings_json(choice),
        left_out=selection.left_out,
        notes=(*split.notes, *(WARNING + warning for warning in split.warnings)),
    )
    drawn, before = split.redrawn, () if known is None else tuple(new_values_of(store, known))
    if set(map(_place, before)) == set(map(_place, drawn)):
        drawn = before
    draft = ReleaseDraft(row, members, list(split.withheld), drawn)
    return replace(draft, row=_measured(store, draft))


def _place(value: NewValue) -> tuple[str, int, int, int]:
    return value.record_id, value.revision, value.start, value.end


def _with_places(store: Store, request: ReleaseRequest) -> tuple[ReleaseRequest, KeptPlaces | None]:
    """Return the places of the release that *request* keeps the splits of, and the request with its sizes unless it has others.

    Raises ``ReleaseError`` if there is no such release, and ``UsageError`` if it has splits that this one would not have.
    """
    kept = request.split.keep_split_of
    if kept is None:
        return request, None
    release = get_release(store, kept)
    sizes = {name: size for name, size in release.split_settings.items() if name in {"test_size", "validation_size", "folds"}}
    if request.test_if_divisible:
        request = replace(request, split=replace(request.split, **sizes), test_if_divisible=False)
    split = request.split
    names = [TRAIN, *(name for name, size in ((TEST, split.test_size), (VALIDATION, split.validation_size)) if size)]
    if split.folds:
        names = [fold_name(number + 1) for number in range(split.folds)]
    missing = [name for name in count_members(store, release) if name not in names]
    if missing:
        what = f"release {kept} has splits that this one would not have: {', '.join(missing)}"
        raise UsageError(
            what, where="keep split of", remedy="Give no sizes, so that those of that release are used, or sizes for the same splits"
        )
    return request, {record_id: (revision, name) for record_id, revision, name in release_members(store, release)}


def _split(members: Sequence[Member], request: ReleaseRequest, draw: ValueDraw, places: KeptPlaces | None) -> tuple[SplitSettings, Split]:
    """Return the split that *request* asks for, and the settings that it was made with."""
    try:
        return request.split, split_members(members, request.split, draw=draw, places=places)
    except IndivisibleError as error:
        if not request.test_if_divisible:
            raise
        cure = error.cure
    undivided = replace(request.split, test_size=0)
    split = split_members(members, undivided, draw=draw)
    return undivided, replace(split, notes=(*split.notes, _NO_TEST + (f"; to have one, {cure}" if cure else "")))


def _measured(store: Store, draft: ReleaseDraft) -> ReleaseRow:
    """Return the row of *draft* with its content hash and what its splits share."""
    content = ContentHash()
    splits = {
        split: content.watching(split, iter_draft_records(store, draft.row, draft.members, draft.new_values, split))
        for split in in_order(split for _, _, split in draft.members)
    }
    # The records are read once for both: the leakage report goes through the splits in the order that the hash is defined by.
    leakage = measure_leakage(splits, extended(types_of(store))).to_json() if len(splits) > 1 else None
    if leakage is None:
        for _ in chain(*splits.values()):
            pass
    return replace(draft.row, content_sha256=content.hexdigest(), leakage=leakage)


def _nothing_to_release(store: Store, choice: RecordChoice, selection: RecordSelection) -> ReleaseError:
    filters = [
        *([f"run {choice.run_id}"] if choice.run_id else []),
        *([] if choice.status == ANY_STATUS else [f"status {choice.status}"]),
        *([f"locale {choice.locale}"] if choice.locale else []),
    ]
    left_out = [f"{name} {count:,}" for name, count in selection.left_out.items() if count]
    remedy = f"Filters left out: {', '.join(left_out)}" if left_out else "Generate or import some first"
    return ReleaseError("there are no records to release", where=", ".join([str(store.path), *filters]), remedy=remedy)


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
    before, now = set(release_members(store, known)), set(draft.members)
    if before != now:
        there = {record_id for record_id, _, _ in before}
        new = sum(record_id not in there for record_id, _, _ in now)
        return f"of other records ({len(before):,}; now there would be {len(now):,}, {new:,} of them not in it)"
    if set(withheld_of(store, known)) != set(draft.withheld):
        return "which withholds other records"
    return "with other texts or labels" if known.content_sha256 not in {None, draft.row.content_sha256} else None
