"""Store records with a known correct answer: for practice, for the qualifying test, and as hidden controls.

They are copies with new ids. Their status in the store is "control", so that exports leave them out.
"""

from __future__ import annotations

import random
import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import count
from typing import Any

from piiloom.annotation_app.documents.document import EditedDocument
from piiloom.annotation_app.event_log import EventLog
from piiloom.annotation_app.event_tables import control_of, item_of
from piiloom.annotation_app.worklist.pool import CERTAIN, scored, signals_of
from piiloom.annotation_app.worklist.project_settings import ProjectSettings
from piiloom.corpus.record import Record
from piiloom.corpus.store.annotation_controls import ControlRow, add_controls, control_orders, known_record_ids
from piiloom.corpus.store.annotation_events import NewEvent
from piiloom.corpus.store.annotation_items import CONTROL_STATUS, Item, Role, add_items, disagreement_counts, pair_counts
from piiloom.corpus.store.database import Store
from piiloom.corpus.store.item_facts import facts_of, pooled
from piiloom.corpus.store.judgements import uncertainties
from piiloom.corpus.store.records import add_records
from piiloom.corpus.store.releases import types_of
from piiloom.foundation.seeding import derive_rng
from piiloom.taxonomy.own_types import extended

_TAIL = re.compile(r"[0-9a-f]*[0-9][0-9a-f]*(?=[^0-9a-f]*$)")
_TRIES = 100


@dataclass(frozen=True, slots=True, kw_only=True)
class KnownAnswer:
    """A record as people see it (``shown``, with the id of its source) and the correct result (``reference``)."""

    kind: str
    shown: Record
    reference: EditedDocument
    detail: Mapping[str, Any] = field(default_factory=dict)


def store_known(
    store: Store, log: EventLog, settings: ProjectSettings, actor: str, answers: Sequence[KnownAnswer], role: Role
) -> list[ControlRow]:
    """Store copies of *answers* as work items of *role*, and log it. Call this inside a transaction on *store*."""
    copies = _copies(store, answers, settings.seed)
    add_records(store, None, [(None, copy) for copy in copies], status=CONTROL_STATUS)
    orders = control_orders(store, [copy.id for copy in copies])
    counts, against = pair_counts(store), disagreement_counts(store)
    unsure, taxonomy = uncertainties(store, [answer.shown.id for answer in answers]), extended(types_of(store))
    rows: list[NewEvent] = []
    for copy, answer in zip(copies, answers, strict=True):
        signals = signals_of(copy, taxonomy, against.get(answer.shown.id, 0), unsure.get(answer.shown.id, CERTAIN))
        priority, reasons = scored(signals, counts, settings)
        item = Item(record_id=copy.id, record_order=orders[copy.id], wanted=settings.overlap, facts=facts_of(copy))
        rows += [pooled(replace(item, priority=priority, reasons=reasons), actor), _made(copy.id, answer, role, actor)]
    events = log.append(store, rows)
    add_items(store, [replace(item_of(event), role=role) for event in events if event.kind == "pooled"])
    made = [control_of(event) for event in events if event.kind == "control_made"]
    add_controls(store, made)
    return made


def reference_in(row: ControlRow) -> EditedDocument:
    """Return the correct result for the record of *row*."""
    return EditedDocument.from_json(row.entry["reference"])


def lookalike_id(record_id: str, rng: random.Random, taken: Collection[str]) -> str:
    """Return a new id of the same form as *record_id*, not in *taken*, so that copies cannot be told from originals.

    The last number or hexadecimal part is replaced by a random one of the same length; if there is none, or hardly any such id
    is free, a random suffix is appended.
    """
    tail = _TAIL.search(record_id)
    for attempt in count():
        if tail is None or attempt >= _TRIES:  # no number to vary, or hardly any free numbers of this length
            made = f"{record_id}-{rng.getrandbits(24 + attempt):06x}"
        else:
            digits = "0123456789" if tail[0].isdigit() else "0123456789abcdef"
            made = record_id[: tail.start()] + "".join(rng.choice(digits) for _ in tail[0]) + record_id[tail.end() :]
        if made not in taken:
            break
    return made


def _copies(store: Store, answers: Sequence[KnownAnswer], seed: int) -> list[Record]:
    copies: list[Record] = []
    taken: set[str] = set()
    for number, answer in enumerate(answers):
        rng = derive_rng("control id", seed, answer.kind, answer.shown.id, number)
        made = lookalike_id(answer.shown.id, rng, taken)
        while known_record_ids(store, [made]):
            taken.add(made)
            made = lookalike_id(answer.shown.id, rng, taken)
        taken.add(made)
        copies.append(replace(answer.shown, id=made))
    return copies


def _made(record_id: str, answer: KnownAnswer, role: Role, actor: str) -> NewEvent:
    known = {"reference": answer.reference.to_json(), **answer.detail}
    entry = {"record_id": record_id, "role": role, "kind": answer.kind, "source_id": answer.shown.id, "answer": known}
    return NewEvent(actor=actor, kind="control_made", entry=entry)
