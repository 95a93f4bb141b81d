"""Splitting: seconds, CPU and memory for many records with near-duplicate contexts and questions, and for their leakage report.

    python -m benchmarks.splitting --records 100000

The records are composer records (2,000 told by stories, 2,000 of recipe ``staged``, seed 7) taken in turn; words outside the spans are
replaced at random: a quarter of them, so that records of one origin are no near-duplicates, but in each tenth record only 2%. Group
keys are left out, so that the texts alone decide; values stay, so many records share some.
"""

from __future__ import annotations

import argparse
import random
import resource
import time
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import cycle, islice
from typing import TypeVar

from piiloom.corpus.record import Record
from piiloom.corpus.releases.grouping import Member, group_members
from piiloom.corpus.releases.leakage import measure_leakage
from piiloom.corpus.releases.release_options import SplitSettings
from piiloom.corpus.releases.splits import split_members
from piiloom.corpus.store.database import MEMORY, Store
from piiloom.corpus.store.records import iter_records
from piiloom.foundation.seeding import derive_rng
from piiloom.generation.run_session import run_to_end
from piiloom.generation.running.opening import start_run
from piiloom.generation.settings.setting_checks import make_config
from piiloom.taxonomy.entity_types import shipped_taxonomy

VARIED, NEARLY_SAME = 0.25, 0.02
T = TypeVar("T")
WORDS = [f"word{n}" for n in range(5000)]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--records", type=int, default=100_000)
    wanted = parser.parse_args()
    records = list(varied(wanted.records))
    print(f"{len(records):,} records, {memory():,} MB")
    members = timed("members", lambda: [Member.of(record, taxonomy=shipped_taxonomy()) for record in records])
    grouping = timed("groups", lambda: group_members(members))
    print("  sizes of groups:", dict(sorted(Counter(group.size for group in grouping.groups).items())), *grouping.notes, sep="\n  ")
    split = timed("split (groups included)", lambda: split_members(members, SplitSettings(test_size=0.1, validation_size=0.1)))
    timed("10 folds", lambda: split_members(members, SplitSettings(folds=10)))
    by_id = {record.id: record for record in records}
    leakage = timed(
        "leakage",
        lambda: measure_leakage({name: (by_id[one] for one in ids) for name, ids in split.ids.items()}, taxonomy=shipped_taxonomy()),
    )
    for name, found in leakage.splits.items():
        near = f"{found.contexts_near.seen} contexts and {found.questions_near.seen} questions"
        print(f"  {name}: {near} nearly repeat one of train, {found.open_values.share:.1%} of the values are there")


def timed(what: str, work: Callable[[], T]) -> T:
    """Do *work*, and print how long it took."""
    begun, used = time.perf_counter(), time.process_time()
    result = work()
    print(f"{what}: {time.perf_counter() - begun:.1f} s, CPU {time.process_time() - used:.1f} s, peak {memory():,} MB", flush=True)
    return result


def memory() -> int:
    """The peak memory of this process in MB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024


def varied(count: int) -> Iterator[Record]:
    """Make *count* records of those of the composer."""
    origins = [*composed({}), *composed({"recipe": "staged"})]
    rng = derive_rng("splitting", count)
    for number, origin in enumerate(islice(cycle(origins), count)):
        yield reworded(origin, f"r{number:06d}", NEARLY_SAME if number % 10 == 0 else VARIED, rng)


def composed(recipe: dict[str, str]) -> list[Record]:
    """Compose 2,000 records."""
    with Store.open(MEMORY) as store:
        run_to_end(start_run(store, make_config({"samples": 2000, "seed": 7, **recipe})))
        return list(iter_records(store))


def reworded(record: Record, name: str, share: float, rng: random.Random) -> Record:
    """Replace a *share* of the words of context (outside the spans) and question."""

    def some(text: str) -> str:
        return " ".join(rng.choice(WORDS) if rng.random() < share else word for word in text.split(" "))

    pieces, spans, done, length = [], [], 0, 0
    for span in record.spans:
        pieces += [some(record.context[done : span.start]), span.text_in(record.context)]
        length += len(pieces[-2])
        spans.append(replace(span, start=length, end=length + len(pieces[-1])))
        length, done = spans[-1].end, span.end
    context = "".join([*pieces, some(record.context[done:])])
    question = None if record.question is None else some(record.question)
    return replace(record, id=name, context=context, spans=tuple(spans), question=question, group_keys=())


if __name__ == "__main__":
    main()
