"""Speed and memory of composer runs: records per second on one core and peak memory at several sizes.

    python benchmarks/composer_runs.py [--sizes 2000,10000,50000] [--store-dir DIR]

Each size runs in a process of its own, pinned to one core where the system allows it, through the same stages, gates and
store as any run. Prints one JSON line a size, then the slope of memory per record. Figures: benchmarks/README.md.
"""

from __future__ import annotations

import argparse
import json
import platform
import subprocess
import sys
import tempfile
from pathlib import Path

WORKER = """
import json, os, resource, sys, time
from pathlib import Path
if hasattr(os, "sched_setaffinity"):
    os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
from piiloom.corpus.store.database import Store
from piiloom.generation.settings.setting_checks import make_config
from piiloom.generation.run_session import run_to_end
from piiloom.generation.running.opening import start_run
samples, path = int(sys.argv[1]), Path(sys.argv[2])
started, cpu = time.perf_counter(), time.process_time()
with Store.open(path) as store:
    progress = run_to_end(start_run(store, make_config({"samples": samples, "seed": 7})))
wall, used = time.perf_counter() - started, time.process_time() - cpu
peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
print(json.dumps({"records": progress.accepted, "rejected": progress.rejected, "wall_s": round(wall, 2), "cpu_s": round(used, 2),
    "records_per_s": round(progress.accepted / wall, 1), "peak_mb": round(peak, 1), "store_mb": round(path.stat().st_size / 2**20, 1)}))
"""


def main() -> None:
    """Run each size and print what it took."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sizes", default="2000,10000,50000", help="numbers of records, separated by commas")
    parser.add_argument("--store-dir", type=Path, help="where the stores go (a temporary folder when not given)")
    arguments = parser.parse_args()
    print(json.dumps({"python": platform.python_version(), "machine": platform.machine(), "system": platform.system()}))
    with tempfile.TemporaryDirectory(dir=arguments.store_dir) as folder:
        lines = [measure(int(size), Path(folder)) for size in arguments.sizes.split(",")]
    if len(lines) > 1:
        first, last = lines[0], lines[-1]
        slope = (last["peak_mb"] - first["peak_mb"]) * 1024 / (last["records"] - first["records"])
        print(
            json.dumps(
                {"memory_kb_per_record": round(slope, 2), "cpu_ms_per_record": [round(1000 * x["cpu_s"] / x["records"], 2) for x in lines]}
            )
        )


def measure(samples: int, folder: Path) -> dict[str, float]:
    """Run *samples* records in a fresh process and give its figures."""
    command = [sys.executable, "-c", WORKER, str(samples), str(folder / f"{samples}.duckdb")]
    done = subprocess.run(command, check=True, capture_output=True, text=True, cwd=Path(__file__).parents[1])
    print(done.stdout, end="", flush=True)
    result: dict[str, float] = json.loads(done.stdout)
    return result


if __name__ == "__main__":
    main()
