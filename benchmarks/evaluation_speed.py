"""Speed and memory of the schemes on places, beside the library nervaluate.

    python -m benchmarks.evaluation_speed [--sizes 10000,100000] [--peer-sizes 2000,10000] [--turns 3] [--files] [--out FILE]

Documents of some 400 characters with 5 gold mentions of 15 types, and predictions of which 7 in 10 are right; 2,000 made ones again and
again with other ids, streamed. Each line is a process of its own, which tells CPU seconds and its peak memory; they take turns, and a
figure is the median of its turns. "nothing" only makes the pairs, and is in all lines below it. "all" counts under all schemes in one
pass. The library gets lists that are made before (not timed), on as many documents as it does in reason; its line has the ratio of its
time a document to that of the scheme ``nervaluate``. With ``--files`` the same documents are written as native files before, and
``piiloom evaluate`` reads both sides and counts under all schemes, intervals included. Figures: benchmarks/README.md.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import cycle, islice, product
from pathlib import Path
from random import Random
from typing import Any

from benchmarks.peak_memory import peak_mb
from piiloom.evaluation.inputs.documents import AnnotatedDocument, AnnotatedMention, Pair
from piiloom.evaluation.schemes.base import SchemeSettings
from piiloom.evaluation.schemes.registry import make_scheme
from piiloom.evaluation.scoring.counts import CountTable
from piiloom.foundation.seeding import derive_rng
from piiloom.foundation.startup import collect_less_often

SCHEMES = ("exact", "partial", "token", "nervaluate")
TYPES = (
    *("age", "appearance", "belief", "code", "datetime", "demographic", "education", "finance", "health"),
    *("location", "name", "occupation", "organization", "relationship", "sexual orientation"),
)
MADE, WORDS, MENTIONS = 2_000, 70, 5
NOTHING, ALL, PEER, FILES = "nothing", "all", "library", "files"


def main() -> None:
    """Measure all in turns, print a table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sizes", default="10000,100000", help="numbers of documents (%(default)s)")
    parser.add_argument("--peer-sizes", default="2000,10000", help="those for the library (%(default)s)")
    parser.add_argument("--turns", type=int, default=3, help="(%(default)s)")
    parser.add_argument("--files", action="store_true", help="also measure piiloom evaluate on files")
    parser.add_argument("--out", type=Path, help="a file for the figures as JSON")
    parser.add_argument("--one", nargs=2, help=argparse.SUPPRESS)  # what a process of its own measures: work, size
    given = parser.parse_args()
    if given.one:
        print(json.dumps(measured(given.one[0], int(given.one[1]))))
        return
    sizes, peer_sizes = ([int(size) for size in text.split(",")] for text in (given.sizes, given.peer_sizes))
    works = [(work, size) for work, size in product((NOTHING, *SCHEMES, ALL, *((FILES,) if given.files else ())), sizes)]
    works += [(PEER, size) for size in peer_sizes]
    print(f"{platform.platform()}, {os.cpu_count()} cores, Python {platform.python_version()}, load {os.getloadavg()[0]:.1f}", flush=True)
    turns: dict[tuple[str, int], list[dict[str, Any]]] = {one: [] for one in works}
    for turn in range(given.turns):
        for work, size in works if turn % 2 == 0 else works[::-1]:
            turns[work, size].append(in_own_process(work, size))
    figures = [middle(results) for results in turns.values()]
    for one in figures:
        print(f"{one['work']:12} {one['documents']:8,} {one['cpu_s']:8.2f} s {one['us']:8.1f} us a document {one['peak_mb']:6.0f} MB")
    print(f"library / nervaluate, time a document: {ratio(turns, sizes[-1], peer_sizes[-1])}")
    if given.out:
        given.out.write_text(json.dumps(figures, indent=1) + "\n", encoding="utf-8")


def middle(results: list[dict[str, Any]]) -> dict[str, Any]:
    """Give the medians of the turns of one line."""
    first = results[0]
    medians = {name: statistics.median(one[name] for one in results) for name in ("wall_s", "cpu_s", "peak_mb")}
    return {"work": first["work"], "documents": first["documents"], **medians, "us": medians["cpu_s"] / first["documents"] * 1e6}


def ratio(turns: dict[tuple[str, int], list[dict[str, Any]]], size: int, peer_size: int) -> str:
    """Give the median, the least and the most of the ratios within a turn."""
    pairs = zip(turns[PEER, peer_size], turns["nervaluate", size], strict=True)
    ratios = sorted((theirs["cpu_s"] / peer_size) / (ours["cpu_s"] / size) for theirs, ours in pairs)
    return f"{statistics.median(ratios):.1f} ({ratios[0]:.1f}-{ratios[-1]:.1f})"


def made() -> list[Pair]:
    """Make ``MADE`` pairs; the same each time."""
    rng = derive_rng("evaluation_speed", 1)
    return [one_pair(rng) for _ in range(MADE)]


def one_pair(rng: Random) -> Pair:
    """Make a text of words, mentions of one to three of them, and a prediction: 1 in 10 each cut, of another type, or elsewhere."""
    words = ["".join(rng.choices("abcdefghij", k=rng.randint(2, 9))) for _ in range(WORDS)]
    text = " ".join(words)
    starts = [sum(len(word) + 1 for word in words[:number]) for number in range(WORDS + 1)]
    gold, found = [], []
    for first in sorted(rng.sample(range(0, WORDS - 4, 4), MENTIONS)):
        start, end = starts[first], starts[first + rng.randint(1, 3)] - 1
        mention = AnnotatedMention(text=text[start:end], entity_type=rng.choice(TYPES), start=start, end=end)
        gold.append(mention)
        chance = rng.random()
        if chance < 0.1:
            end -= 1
        elif chance < 0.2:
            mention = replace(mention, entity_type=rng.choice(TYPES))
        elif chance < 0.3:
            start, end = starts[first + 3], starts[first + 4] - 1
        found.append(replace(mention, start=start, end=end, text=text[start:end]))
    return Pair(
        gold=AnnotatedDocument(where="made", text=text, mentions=tuple(gold)),
        found=AnnotatedDocument(where="made", text=text, mentions=tuple(found)),
    )


def repeated(size: int) -> Iterator[Pair]:
    """Iterate over *size* pairs: those made at the call, again and again with other ids."""
    pairs = made()
    return (
        Pair(gold=replace(one.gold, id=f"{number:06d}"), found=replace(one.found, id=f"{number:06d}"))
        for number, one in enumerate(islice(cycle(pairs), size))
    )


def in_own_process(work: str, size: int) -> dict[str, Any]:
    """Measure *work* in a process of its own."""
    command = [sys.executable, "-m", "benchmarks.evaluation_speed", "--one", work, str(size)]
    done = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True)
    result: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return result


def measured(work: str, size: int) -> dict[str, Any]:
    """Give seconds, CPU seconds and peak memory (MB) of one piece of work."""
    collect_less_often()  # as the command line does
    with tempfile.TemporaryDirectory() as folder:
        run = prepared(work, size, Path(folder))
        started, cpu = time.perf_counter(), cpu_seconds()
        run()
        wall, used = time.perf_counter() - started, cpu_seconds() - cpu
    peak = max(peak_mb(), resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024)
    return {"work": work, "documents": size, "wall_s": round(wall, 3), "cpu_s": round(used, 3), "peak_mb": round(peak, 1)}


def cpu_seconds() -> float:
    """Give the CPU seconds of this process and of those it waited for."""
    times = os.times()
    return times.user + times.system + times.children_user + times.children_system


def prepared(work: str, size: int, folder: Path) -> Callable[[], object]:
    """Give what is to be timed."""
    if work == PEER:
        return prepared_library(size)
    if work == FILES:
        return prepared_files(size, folder)
    pairs = repeated(size)
    names = {NOTHING: (), ALL: SCHEMES}.get(work, (work,))
    tables = [CountTable(make_scheme(name, SchemeSettings())) for name in names]

    def count() -> None:
        for one in pairs:
            for table in tables:
                table.add(one)
        for table in tables:
            table.overall()

    return count


def prepared_library(size: int) -> Callable[[], object]:
    """The library with all types as tags; its lists are made here."""
    from nervaluate import Evaluator

    gold: list[Any] = []
    found: list[Any] = []
    for one in repeated(size):
        for side, document in ((gold, one.gold), (found, one.found)):
            side.append([{"label": each.entity_type, "start": each.start, "end": each.end - 1} for each in document.mentions if each.end])
    return lambda: Evaluator(gold, found, tags=list(TYPES), loader="dict").evaluate()


def prepared_files(size: int, folder: Path) -> Callable[[], object]:
    """``piiloom evaluate`` under all schemes, on native files that are written here."""
    paths = [folder / "gold.jsonl", folder / "found.jsonl"]
    with paths[0].open("w", encoding="utf-8") as gold, paths[1].open("w", encoding="utf-8") as found:
        for one in repeated(size):
            gold.write(native_row(one.gold))
            found.write(native_row(one.found))
    command = [sys.executable, "-m", "piiloom", "evaluate", *map(str, paths)]
    command += ["--scheme", ",".join(SCHEMES), "--json"]
    return lambda: subprocess.run(command, check=True, stdout=subprocess.DEVNULL)


def native_row(document: AnnotatedDocument) -> str:
    """Give *document* as a line of a native file."""
    spans = [
        {"id": f"s{number}", "start": one.start, "end": one.end, "text": one.text, "type": one.entity_type}
        for number, one in enumerate(document.mentions)
    ]
    return json.dumps({"id": document.id, "context": document.text, "spans": spans}) + "\n"


if __name__ == "__main__":
    main()
