"""The annotation app under load: the real server, with people simulated over its web socket, or a large store.

    python -m benchmarks.annotation_load                                  # 8 people x 200 edits, one a second each
    python -m benchmarks.annotation_load --burst 20 --period 6            # the same edits in bursts of 20, 50 ms apart
    python -m benchmarks.annotation_load --records 10000                  # lists, next record and dashboard over 10,000 records

Latency is from the moment an edit is made to the moment the client has read its acknowledgement; a burst drains from its first
edit to its last acknowledgement. All people keep one beat, which is the worst case. Client and server share the machine.
Afterwards each operation is looked up in the store: lost, duplicated, stale and refused ones are to be 0.
"""

from __future__ import annotations

import argparse
import json
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict
from pathlib import Path
from statistics import median

from benchmarks.annotation_views import view_parts
from piiloom.annotation_app.documents.document import State, document_of
from piiloom.annotation_app.figures.agreement import estimate_remaining, measure_agreement
from piiloom.annotation_app.figures.changes import label_changes
from piiloom.annotation_app.figures.spans import FinishedRecord, FinishedRecords
from piiloom.annotation_app.onboarding.controls import control_results
from piiloom.annotation_app.people.accounts import AppUser
from piiloom.annotation_app.serving.services import Services, open_services
from piiloom.annotation_app.worklist.pool import ListQuery
from piiloom.corpus.record import Record
from piiloom.corpus.store.annotation_events import AnnotationDocument, save_documents
from piiloom.corpus.store.records import iter_records
from tests.annotation_app.loaded_project import account, make_project, people_of
from tests.annotation_app.served_app import served
from tests.annotation_app.simulated_people import EDITS_A_RECORD, Pace, SimulatedPerson, all_at_work

# The first page of a server that has just begun takes it a second or two; nobody edits before it stands there.
_HEAD_START_S = 4.0
DONE_BY = ("person0", "person1", "person2")


def main() -> None:
    """Measure what the command line asks for, and print it as one line of JSON for each figure."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--people", type=int, default=8)
    parser.add_argument("--edits", type=int, default=200, help="edits of each person")
    parser.add_argument("--burst", type=int, default=1, help="edits at the head of each period")
    parser.add_argument("--period", type=float, default=1.0, help="seconds")
    parser.add_argument("--records", type=int, help="measure over a store of so many records, three documents each, without a server")
    wanted = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "store.duckdb"
        if wanted.records:
            large_store(path, wanted.records)
        else:
            at_work(path, wanted.people, Pace(wanted.edits, period_s=wanted.period, burst=wanted.burst))


def at_work(path: Path, number: int, pace: Pace) -> None:
    """Have *number* people work at *pace*."""
    names = [f"person{one}" for one in range(number)]
    make_project(path, names, records=number * (pace.edits // EDITS_A_RECORD + 2))
    with served(path, "--snapshot-every", "0") as server:
        people = people_of(server, names, pace, give_up_s=pace.due(pace.edits) + 120)
        for thread in all_at_work(people, head_start_s=_HEAD_START_S):
            thread.join()
    latencies = [
        1000 * (person.acknowledged[n + 1] - made)
        for person in people
        for n, made in enumerate(person.made)
        if n + 1 in person.acknowledged
    ]
    print(json.dumps({"people": number, **asdict(pace), "acknowledged": len(latencies), "ms": quantiles(latencies)}))
    if pace.burst > 1:
        print(json.dumps({"bursts_ms": quantiles([drained for person in people for drained in drains(person)])}))
    print(json.dumps({**asdict(account(path, people)), "troubles": [trouble for person in people for trouble in person.troubles]}))


def drains(person: SimulatedPerson) -> list[float]:
    """Milliseconds from the first edit to the last acknowledgement, of each burst of *person* that was acknowledged whole."""
    found = []
    for first in range(0, len(person.made), person.pace.burst):
        numbers = range(first + 1, min(first + person.pace.burst, len(person.made)) + 1)
        if all(number in person.acknowledged for number in numbers):
            found.append(1000 * (max(person.acknowledged[number] for number in numbers) - person.made[first]))
    return found


def quantiles(values: Sequence[float]) -> dict[str, float]:
    """Median, 95th and 99th percentile, and the greatest; empty when there is nothing."""
    ordered = sorted(values)
    shares = {"p50": 0.5, "p95": 0.95, "p99": 0.99, "max": 1.0}
    return {name: round(ordered[min(len(ordered) - 1, int(len(ordered) * share))], 1) for name, share in shares.items()} if ordered else {}


def large_store(path: Path, records: int) -> None:
    """Time what pages ask of a store of *records*, of which three people have finished each."""
    make_project(path, DONE_BY, records)
    services = open_services(path)
    try:
        finish_all(services)
        ask_lists(services)
        ask_figures(services)
    finally:
        services.close()
    view_parts(path)


def finish_all(services: Services) -> None:
    """Three documents of each record: most accepted as they are, some without a span, some rejected, some open."""
    with services.shared.writing() as store:
        records = list(iter_records(store))
        rows = [_document(record, who, 3 * n + k, services.log.now()) for n, record in enumerate(records) for k, who in enumerate(DONE_BY)]
        for at in range(0, len(rows), 5000):
            save_documents(store, rows[at : at + 5000])


def _document(record: Record, who: str, number: int, at: str) -> AnnotationDocument:
    document = document_of(record).to_json()
    if number % 5 == 0:
        document = {**document, "spans": document["spans"][1:]}
    verdict = "open" if number % 13 == 0 else "rejected" if number % 17 == 0 else "accepted"
    state = {**State(document=document_of(record)).to_json(), "document": document, "verdict": verdict}
    fields = {"record_id": record.id, "annotator": who, "version": 3, "verdict": verdict, "flagged": number % 20 == 0}
    return AnnotationDocument(**fields, guideline=1, changed_at=at, event=1_000_000 + number, state=state)


def ask_lists(services: Services) -> None:
    """Pages of the work list as an admin and as an annotator see them, and the next record for somebody new."""
    lists, admin, annotator = services.lists, AppUser("boss", "boss", "admin"), AppUser(DONE_BY[0], DONE_BY[0], "annotator")
    many = ListQuery(status="generated", pair="age+health", type="health", annotator=DONE_BY[1], flagged=True, text="asthma", sort="words")
    timed("list, admin", lambda: lists.find(admin, ListQuery()))
    timed("list, annotator", lambda: lists.find(annotator, ListQuery()))
    timed("list, text in all", lambda: lists.find(admin, ListQuery(text="river")))
    timed("list, text in one", lambda: lists.find(admin, ListQuery(text="NOTE 777.")))
    timed("list, all filters", lambda: lists.find(admin, many))
    timed("list, last page", lambda: lists.find(admin, ListQuery(page=10**6)))
    timed("next_for", lambda: services.work.next_for(DONE_BY[0]), times=30)


def ask_figures(services: Services) -> None:
    """What the parts of the dashboard are made of, without what draws them: all anew, and when nothing has changed since."""
    timed("readings, first", lambda: _records(services, FinishedRecords()), times=3)
    timed("readings, again", lambda: _records(services, services.finished_records), times=7, warm=True)
    finished_records = _records(services, services.finished_records)
    timed("what people change", lambda: label_changes(finished_records), times=5)
    timed("agreement", lambda: measure_agreement(finished_records, disputed=20), times=5, warm=True)
    timed("hidden controls", lambda: control_results(services.shared), times=5)
    timed("errors left", lambda: estimate_remaining(finished_records), times=5)


def _records(services: Services, room: FinishedRecords) -> list[FinishedRecord]:
    with services.shared.reading() as store:
        return room.load(store)


def timed(name: str, ask: Callable[[], object], *, times: int = 15, warm: bool = False) -> None:
    """Print the median and the 95th percentile of *times* answers, after one that does not count if *warm*."""
    if warm:
        ask()
    taken = []
    for _ in range(times):
        began = time.perf_counter()
        ask()
        taken.append(1000 * (time.perf_counter() - began))
    print(json.dumps({"asked": name, "median_ms": round(median(taken), 1), "p95_ms": quantiles(taken)["p95"], "times": times}))


if __name__ == "__main__":
    main()
