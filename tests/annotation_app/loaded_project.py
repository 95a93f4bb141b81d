"""A project for simulated people: records of usual length, an account each, and what their work left in the store."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from piiloom.annotation_app.serving.services import open_services
from piiloom.corpus.record import Provenance, Record, RecordPlan, Span
from piiloom.corpus.store.annotation_events import load_documents, read_events
from piiloom.corpus.store.database import Store
from piiloom.corpus.store.records import add_records
from tests.annotation_app.people_tools import GOOD
from tests.annotation_app.replaying import replayed_documents
from tests.annotation_app.served_app import Served
from tests.annotation_app.simulated_people import Pace, SimulatedPerson

_WORDS = "the old mill by a river turned slowly while people spoke about rent food weather and long roads home".split()
_PAIRS = (("health", "occupation"), ("age", "belief"), ("age", "health"))


@dataclass(frozen=True, slots=True, kw_only=True)
class Accounted:
    """What the store holds of the operations that people made. All counts but ``applied`` are to be 0."""

    applied: int
    lost: int
    duplicated: int
    stale: int
    refused: int
    documents_unlike_log: int


def long_record(number: int, rng: random.Random) -> Record:
    """A record of some 180 words."""
    body = " ".join(rng.choice(_WORDS) for _ in range(170))
    return Record(
        id=f"r0001-ab12cd34-{number:06d}",
        context=f"As a baker with asthma, I wrote note {number}. {body}.",
        question="Which forms do I need for this?",
        spans=(
            Span(id="s1", start=5, end=10, entity_type="occupation", relevance="high", value_id="v1"),
            Span(id="s2", start=16, end=22, entity_type="health", relevance="high", value_id="v2"),
        ),
        plan=RecordPlan(pair=rng.choice(_PAIRS)),
        provenance=Provenance(stage="screen", provider="composer", model=rng.choice(["a", "b"])),
    )


def make_project(path: Path, names: Sequence[str], records: int) -> Path:
    """A store at *path* with *records* on the work list and annotators of *names*."""
    rng = random.Random(1)
    with Store.open(path) as store:
        add_records(store, None, [(None, long_record(number, rng)) for number in range(records)], status="imported")
    services = open_services(path)
    services.pool.add(names[0], imported=True)
    for name in names:
        services.accounts.add(name, "annotator", password=GOOD)
    services.close()
    return path


def people_of(server: Served, names: Sequence[str], pace: Pace, give_up_s: float = 300.0) -> list[SimulatedPerson]:
    """Simulated people who have logged in."""
    people = []
    for name in names:
        with server.client() as client:
            server.log_in(client, name, GOOD)
            cookie = server.cookie, client.cookies[server.cookie]
        people.append(SimulatedPerson(name, server.host, cookie, pace, give_up_s=give_up_s))
    return people


def account(path: Path, people: Sequence[SimulatedPerson]) -> Accounted:
    """Hold what *people* made against the store at *path*, which no server has open."""
    lost = duplicated = 0
    kinds: Counter[str] = Counter()
    with Store.open(path, create=False) as store:
        for person in people:
            events = [event for event in read_events(store, actor=person.name) if event.client == person.client]
            kinds.update(event.kind for event in events)
            times = Counter(event.sequence for event in events)
            lost += sum(number not in times for number in range(1, len(person.made) + 1))
            duplicated += sum(count - 1 for count in times.values())
        kept = {(row.record_id, row.annotator): row for row in load_documents(store)}
        replayed = {(row.record_id, row.annotator): row for row in replayed_documents(store)}
    unlike = sum(kept.get(key) != replayed.get(key) for key in kept.keys() | replayed.keys())
    counts = {"applied": kinds["edit"], "stale": kinds["stale"], "refused": kinds["refused"]}
    return Accounted(lost=lost, duplicated=duplicated, documents_unlike_log=unlike, **counts)
