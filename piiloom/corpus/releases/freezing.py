"""Choose the records of a release, and freeze it: store its records, revisions and splits, which then never change.

``create_or_confirm_release`` accepts an identical existing release, so a script that releases and exports can be run again.

The agreement of two finished versions of a record is the number of labels that both have, divided by the number of labels that either has.
Labels are equal if range, type and relevance are; in versions whose texts differ, the words of the span count instead of its range. Two
versions without labels agree fully, as do two rejections; an accepted and a rejected version do not agree at all. The agreement of a
record is the mean over all pairs of its annotators. ``cohen_kappa`` is for any two lists of labels.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import chain, combinations, groupby
from operator import attrgetter
from typing import Any, Final

import numpy as np

from piiloom.corpus.record import TEST, TRAIN, VALIDATION, Record, fold_name, in_order
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
from piiloom.corpus.releases.splits import KeptPlaces, Split, split_members
from piiloom.corpus.releases.value_overlap import ValueDraw
from piiloom.corpus.store.annotation_events import last_decisions, load_documents, records_finished_by_several, unreleasable_records
from piiloom.corpus.store.database import Store
from piiloom.corpus.store.judgements import records_judged_otherwise
from piiloom.corpus.store.records import iter_records, record_ids
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
from piiloom.taxonomy.entity_types import Taxonomy
from piiloom.taxonomy.own_types import extended

_CHUNK = 1_000


def agreement(states: Sequence[Mapping[str, Any]]) -> float:
    """Return the agreement of the finished versions of one record, given as annotators' states (JSON values); two or more of them."""
    shares = [_of_two(one, other) for one, other in combinations(states, 2)]
    return sum(shares) / len(shares)


def cohen_kappa(ones: Sequence[int], others: Sequence[int]) -> float | None:
    """Return Cohen's kappa of two people's labels of the same items; None if fewer than two labels occur."""
    labels, places = np.unique([ones, others], return_inverse=True)
    if len(labels) < 2:
        return None
    one, other = (np.bincount(row, minlength=len(labels)) for row in places.reshape(2, -1))
    observed, by_chance = int(np.sum(np.equal(ones, others))) * len(ones), int(one @ other)
    return (observed - by_chance) / (len(ones) ** 2 - by_chance)


def _agreements(store: Store) -> Iterator[tuple[str, float]]:
    """Yield the agreement (0 to 1) of each record of the work list that two or more annotators have finished, by record id."""
    several = records_finished_by_several(store)
    for at in range(0, len(several), _CHUNK):
        ids = several[at : at + _CHUNK]
        finished = (document for document in load_documents(store, record_ids=ids) if document.verdict != "open")
        for record_id, documents in groupby(finished, key=attrgetter("record_id")):
            yield record_id, agreement([document.state for document in documents])


def _of_two(one: Mapping[str, Any], other: Mapping[str, Any]) -> float:
    if one["verdict"] != other["verdict"]:
        return 0.0
    if one["verdict"] == "rejected":
        return 1.0
    same_text = one["document"]["context"] == other["document"]["context"]
    left, right = _labels(one["document"], by_range=same_text), _labels(other["document"], by_range=same_text)
    either = (left | right).total()
    return (left & right).total() / either if either else 1.0


def _labels(document: Mapping[str, Any], *, by_range: bool) -> Counter[tuple[object, ...]]:
    context = document["context"]
    return Counter(
        (
            (span["start"], span["end"]) if by_range else context[span["start"] : span["end"]],
            span["type"],
            span.get("relevance"),
        )
        for span in document["spans"]
    )


_ADJUDICATED = "adjudicated"
# Outcomes in force that mean that people agreed on a record, or that their versions were merged into one.
_DECIDED = {"agreed", "adjudicated"}


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordSelection:
    """The chosen members, in plan order, and by filter the number of records that it left out of what earlier filters let through."""

    members: tuple[Member, ...]
    left_out: dict[str, int]


def select_members(store: Store, choice: RecordChoice) -> RecordSelection:
    """Return the latest revision (with the status) of each record that *choice* takes; its ``run_id`` must be the id of a run.

    If two runs have the same revision of a record, the one of the older run is taken. Records that annotators rejected or reopened
    are left out, and so are copies made to test annotators, which are not counted.
    """
    stored_status = None if choice.status in {ANY_STATUS, _ADJUDICATED} else choice.status
    left_out: dict[str, int] = {}
    wanted = record_ids(store)
    for name, kept in _filters(store, choice, stored_status):
        passed = kept(wanted)
        left_out[name] = len(wanted) - len(passed)
        wanted = passed
    records = (record for record in iter_records(store, run_id=choice.run_id, status=stored_status) if record.id in wanted)
    members = _latest(records, extended(types_of(store)))
    if choice.locale is not None:
        chosen = [member for member in members if member.locale == choice.locale]
        left_out["locale"] = len(members) - len(chosen)
        members = chosen
    return RecordSelection(members=tuple(members), left_out=left_out)


def _filters(store: Store, choice: RecordChoice, stored_status: str | None) -> Iterator[tuple[str, Callable[[set[str]], set[str]]]]:
    """Yield the filters in force, by name: functions from a set of record ids to those that pass."""
    unreleasable = unreleasable_records(store)
    yield "rejected or reopened", lambda ids: ids - unreleasable
    if choice.run_id is not None:
        of_run = record_ids(store, run_id=choice.run_id)
        yield "run", lambda ids: ids & of_run
    if stored_status is not None:
        with_status = record_ids(store, run_id=choice.run_id, status=stored_status)
        yield "status", lambda ids: ids & with_status
    if choice.status == _ADJUDICATED:
        decided = {record_id for record_id, outcome in last_decisions(store).items() if outcome in _DECIDED}
        yield "status", lambda ids: ids & decided
    if (least := choice.min_agreement) is not None:
        agreeing = {record_id for record_id, share in _agreements(store) if share >= least}
        yield "min agreement", lambda ids: ids & agreeing
    if choice.judged == "agree":
        otherwise = records_judged_otherwise(store, choice.run_id)
        yield "judged", lambda ids: ids - otherwise


def _latest(records: Iterator[Record], taxonomy: Taxonomy) -> list[Member]:
    """Return the members of the latest revisions, in order of first appearance."""
    members: dict[str, Member] = {}
    for record in records:
        known = members.get(record.id)
        if known is None or record.revision > known.revision:
            members[record.id] = Member.of(record, taxonomy)
    return list(members.values())


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
    place = attrgetter("record_id", "revision", "start", "end")
    if set(map(place, before)) == set(map(place, drawn)):
        drawn = before
    draft = ReleaseDraft(row, members, list(split.withheld), drawn)
    return replace(draft, row=_measured(store, draft))


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
