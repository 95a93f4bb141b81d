"""Speed and memory of exports: each format at two sizes, beside the exports of Hugging Face ``datasets`` of the same rows.

    python -m benchmarks.export_speed [--sizes 10000,100000] [--formats native,csv,parquet,conll] [--no-store] [--out FILE]

2,000 records of the composer are repeated with other ids, so that nothing of a size is held in memory. Written twice: from an iterator
over records in memory ("records"), and as a release from a store ("store", all that ``piiloom export`` does). "nothing" only makes the
records. Each is a process of its own; its peak memory is told beside the seconds. "datasets" first loads the Parquet file (not timed).
Figures: benchmarks/README.md.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from itertools import cycle, islice
from pathlib import Path
from typing import Any

from benchmarks.peak_memory import peak_mb
from piiloom.corpus.formats.base import ReadOptions, WriteOptions, read_records
from piiloom.corpus.formats.registry import FORMATS, NativeFormat, get_format
from piiloom.corpus.record import Record
from piiloom.corpus.releases.exporting import export_release
from piiloom.corpus.store.database import MEMORY, Store
from piiloom.corpus.store.opening import open_to_read
from piiloom.corpus.store.records import add_records, iter_records
from piiloom.corpus.store.releases import ReleaseRow, insert_release
from piiloom.foundation.startup import collect_less_often
from piiloom.taxonomy.entity_types import shipped_taxonomy

COMPOSED = 2_000
RELEASE = "speed"


def main() -> None:
    """Make the records and stores, measure all, print a table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sizes", default="10000,100000", help="numbers of records (%(default)s)")
    parser.add_argument(
        "--formats", default="native,csv,parquet,huggingface,conll", help="formats; unknown ones are left out (%(default)s)"
    )
    parser.add_argument("--no-store", action="store_true", help="measure from records in memory only")
    parser.add_argument("--out", type=Path, help="a file for the figures as JSON")
    parser.add_argument("--one", nargs=4, help=argparse.SUPPRESS)  # what a process of its own measures: work, size, folder, target
    given = parser.parse_args()
    if given.one:
        work, size, folder, target = given.one
        print(json.dumps(measured(work, int(size), Path(folder), Path(target))))
        return
    figures = []
    formats = [name for name in given.formats.split(",") if name in FORMATS]
    sizes = [int(size) for size in given.sizes.split(",")]
    print(f"{'':32}" + "".join(f"{size:,} records".ljust(30) for size in sizes))
    with tempfile.TemporaryDirectory() as held:
        folder = Path(held)
        compose(folder)
        works = ["nothing", *(f"records {name}" for name in formats), "datasets to_parquet", "datasets to_json"]
        if not given.no_store:
            for size in sizes:
                fill(folder, size)
            works += [f"store {name}" for name in formats]
        for work in works:
            row = [in_own_process(work, size, folder) for size in sizes]
            figures += row
            print(
                f"{work:32}" + "".join(f"{one['wall_s']:6.2f} s ({one['cpu_s']:.2f} CPU) {one['peak_mb']:4.0f} MB  " for one in row),
                flush=True,
            )
    if given.out:
        given.out.write_text(json.dumps(figures, indent=1) + "\n", encoding="utf-8")


def compose(folder: Path) -> None:
    """Write the composer's records to ``composed.jsonl`` in *folder*."""
    from piiloom.generation.run_session import run_to_end
    from piiloom.generation.running.opening import start_run
    from piiloom.generation.settings.setting_checks import make_config

    with Store.open(MEMORY) as store:
        run_to_end(start_run(store, make_config({"samples": COMPOSED, "seed": 7})))
        NativeFormat().write(iter_records(store), folder / "composed.jsonl", WriteOptions(taxonomy=shipped_taxonomy()))


def repeated(folder: Path, size: int) -> Iterator[Record]:
    """Iterate over *size* records: the composed ones, read at the call, again and again with other ids."""
    composed = list(
        read_records(NativeFormat(), folder / "composed.jsonl", options=ReadOptions(taxonomy=shipped_taxonomy(), blank_contexts=True))
    )
    return (replace(record, id=f"{number:06d}-{record.id[:8]}") for number, record in enumerate(islice(cycle(composed), size)))


def fill(folder: Path, size: int) -> None:
    """Make a store with a release of *size* records, all in the train split."""
    with Store.open(folder / f"{size}.duckdb") as store:
        members: list[tuple[str, int, str]] = []
        records = repeated(folder, size)
        while chunk := list(islice(records, 2_000)):
            add_records(store, None, [(None, record) for record in chunk])
            members += ((record.id, record.revision, "train") for record in chunk)
        insert_release(store, ReleaseRow(name=RELEASE, seed=0, test_size="0"), members)


def in_own_process(work: str, size: int, folder: Path) -> dict[str, Any]:
    """Measure *work* in a process of its own."""
    with tempfile.TemporaryDirectory(dir=folder) as target:
        command = [sys.executable, "-m", "benchmarks.export_speed", "--one", work, str(size), str(folder), target]
        surroundings = os.environ | {"HF_HUB_OFFLINE": "1", "HF_DATASETS_DISABLE_PROGRESS_BARS": "1"}
        done = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True, env=surroundings)
    result: dict[str, Any] = json.loads(done.stdout)
    return result


def measured(work: str, size: int, folder: Path, target: Path) -> dict[str, Any]:
    """Give seconds, CPU seconds and peak memory (MB) of one piece of work."""
    collect_less_often()  # as the command line does
    run = prepared(work, size, folder, target)
    started, cpu = time.perf_counter(), time.process_time()
    run()
    wall, used = time.perf_counter() - started, time.process_time() - cpu
    return {"work": work, "records": size, "wall_s": round(wall, 3), "cpu_s": round(used, 3), "peak_mb": round(peak_mb(), 1)}


def prepared(work: str, size: int, folder: Path, target: Path) -> Callable[[], object]:
    """Give what is to be timed."""
    kind, _, name = work.partition(" ")
    if kind == "datasets":
        from datasets import Dataset

        rows = target / "rows.parquet"
        get_format("huggingface").write(repeated(folder, size), rows, WriteOptions(taxonomy=shipped_taxonomy()))
        loaded = Dataset.from_parquet(str(rows), cache_dir=str(target / "cache"))
        return lambda: getattr(loaded, name)(str(target / "out"))
    if kind == "store":
        return lambda: released(folder, size, name, target)
    records = repeated(folder, size)
    if kind == "nothing":
        return lambda: consumed(records)
    get_format(name).write(repeated(folder, 1), target / "first", WriteOptions(taxonomy=shipped_taxonomy()))  # loads the libraries
    return lambda: get_format(name).write(records, target / "out", WriteOptions(taxonomy=shipped_taxonomy()))


def consumed(records: Iterable[Record]) -> None:
    for _ in records:
        pass


def released(folder: Path, size: int, name: str, target: Path) -> None:
    """Export the release as ``piiloom export`` does."""
    with open_to_read(folder / f"{size}.duckdb") as store:
        export_release(store, RELEASE, name, target / "export")


if __name__ == "__main__":
    main()
