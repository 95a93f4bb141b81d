"""Choose the records of a release, and count what each filter leaves out."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from piiloom.corpus.record import Record
from piiloom.corpus.releases.agreement import agreement_of_records
from piiloom.corpus.releases.members import Member
from piiloom.corpus.releases.release_options import ANY_STATUS
from piiloom.corpus.releases.settings import RecordChoice
from piiloom.corpus.store.adjudications import last_decisions, unreleasable_records
from piiloom.corpus.store.database import Store
from piiloom.corpus.store.judgements import records_judged_otherwise
from piiloom.corpus.store.records import iter_records, record_ids
from piiloom.corpus.store.releases import types_of
from piiloom.taxonomy.entity_types import Taxonomy
from piiloom.taxonomy.own_types import extended

_ADJUDICATED = "adjudicated"
# Outcomes in force that mean that people agreed on a record, or that their versions were merged into one.
_DECIDED = {"agreed", "adjudicated"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Selection:
    """The chosen members, in plan order, and by filter the number of records that it left out of what earlier filters let through."""

    members: tuple[Member, ...]
    left_out: dict[str, int]


def select_members(store: Store, choice: RecordChoice) -> Selection:
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
    return Selection(members=tuple(members), left_out=left_out)


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
