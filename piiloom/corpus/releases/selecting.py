"""Choose the records of a release, count what each filter leaves out, and measure how far the annotators of a record agree.

The agreement of two finished versions of a record is the number of labels that both have, divided by the number of labels that either has.
Labels are equal if range, type and relevance are; in versions whose texts differ, the words of the span count instead of its range. Two
versions without labels agree fully, as do two rejections; an accepted and a rejected version do not agree at all. The agreement of a
record is the mean over all pairs of its annotators. ``cohen_kappa`` is for any two lists of labels.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations, groupby
from typing import Any

import numpy as np

from piiloom.corpus.record import Record
from piiloom.corpus.releases.grouping import Member
from piiloom.corpus.releases.release_options import ANY_STATUS, RecordChoice
from piiloom.corpus.store.annotation_events import (
    AnnotationDocument,
    last_decisions,
    load_documents,
    records_finished_by_several,
    unreleasable_records,
)
from piiloom.corpus.store.database import Store
from piiloom.corpus.store.judgements import records_judged_otherwise
from piiloom.corpus.store.records import iter_records, record_ids
from piiloom.corpus.store.releases import types_of
from piiloom.taxonomy.entity_types import Taxonomy
from piiloom.taxonomy.own_types import extended

_CHUNK = 1_000


def agreement_of_records(store: Store) -> dict[str, float]:
    """Return the agreement (0 to 1) of each record of the work list that two or more annotators have finished, by record id."""
    return dict(_agreements(store))


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
    several = records_finished_by_several(store)
    for at in range(0, len(several), _CHUNK):
        ids = several[at : at + _CHUNK]
        finished = (document for document in load_documents(store, record_ids=ids) if document.verdict != "open")
        for record_id, documents in groupby(finished, key=_record_id):
            yield record_id, agreement([document.state for document in documents])


def _record_id(document: AnnotationDocument) -> str:
    return document.record_id


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
        agreeing = {record_id for record_id, share in agreement_of_records(store).items() if share >= least}
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
