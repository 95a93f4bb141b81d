"""Two commits by turns: is the later one slower or larger? Composer, LLM throughput (ours) and surrogates, as ratios of one run.

    python -m benchmarks.commits HEAD~1                         # against HEAD
    python -m benchmarks.commits v1 . --repeats 5               # against the working tree as it is, changes included
    python -m benchmarks.commits HEAD~9 --trials composer --records 5000

Each commit is checked out into a git worktree of its own for the time of the run, and runs its own code: its
``benchmarks/composer_runs.py``, its ``benchmarks/llm_throughput.py --only ours`` and its ``piiloom surrogate run``. Both run in
this environment, with the same dependencies. A ratio above 1 means that the later commit takes more; it is the median of the turns,
with the least and the most. Figures of a busy machine say nothing, ratios something: look at CPU rather than at wall time.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from benchmarks.peers.contestants import ROOT
from benchmarks.peers.harness import Figures, Report, Trial, cell, some_of
from benchmarks.peers.holding import hold
from benchmarks.surrogates import material

BEFORE, AFTER = "before", "after"


@dataclass(frozen=True)
class Side:
    """A commit, and the folder where it is checked out."""

    commit: str
    folder: Path

    def start(self, *command: str | Path) -> subprocess.Popen[str]:
        """Start Python with *command*, so that it finds the code of this side only."""
        environment = {**os.environ, "PYTHONPATH": str(self.folder)}
        pipe = subprocess.PIPE
        return subprocess.Popen([sys.executable, *map(str, command)], cwd=self.folder, env=environment, stdout=pipe, stderr=pipe, text=True)

    def run(self, *command: str | Path) -> str:
        """What *command* prints; raises ``SystemExit`` if it fails."""
        process = self.start(*command)
        printed, errors = process.communicate()
        if process.returncode:
            raise SystemExit(f"error: at {self.commit}, {' '.join(map(str, command))} ended with {process.returncode}:\n{errors[-2000:]}")
        return printed


def main() -> None:
    given = parsed()
    names = some_of(list(TRIALS), given.trials, list(TRIALS))
    with checked_out(given.before) as before, checked_out(given.after) as after:
        sides = {BEFORE: before, AFTER: after}
        trials = [
            Trial(
                name=name,
                title=TITLES[name].format(**vars(given)),
                plays={row: lambda _, name=name, side=side: TRIALS[name](side, given) for row, side in sides.items()},
                columns=COLUMNS,
                repeats=given.repeats,
                ratios=("wall_s", "cpu_s", "peak_mb"),
                subject=AFTER,
            )
            for name in names
        ]
        settings = {name: getattr(given, name) for name in ("repeats", "records", "calls", "documents")}
        report = Report(benchmark="commits", versions={row: side.commit for row, side in sides.items()}, settings=settings)
        hold(report, trials, titles={row: f"{row}, {side.commit}" for row, side in sides.items()}, out=given.out)


def parsed() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("before", help="a commit, tag or branch")
    parser.add_argument("after", nargs="?", default="HEAD", help='the later one; "." is the working tree as it is (HEAD)')
    parser.add_argument("--trials", metavar="NAMES", help=f"separated by commas: {', '.join(TRIALS)}")
    parser.add_argument("--repeats", type=int, default=5, help="number of turns (%(default)s)")
    parser.add_argument("--records", type=int, default=2000, help="records of the composer (%(default)s)")
    parser.add_argument("--calls", type=int, default=500, help="LLM calls (%(default)s)")
    parser.add_argument("--documents", type=int, default=5000, help="documents with surrogates (%(default)s)")
    parser.add_argument("--out", type=Path, help="also write everything as JSON")
    return parser.parse_args()


@contextmanager
def checked_out(commit: str) -> Iterator[Side]:
    """The files of *commit* in a git worktree that is removed at the end. Raises ``SystemExit`` for an unknown commit."""
    if commit == ".":
        yield Side("working tree", ROOT)
        return
    name = _git("rev-parse", "--short", "--verify", "--quiet", f"{commit}^{{commit}}", fault=f"there is no commit {commit}")
    with tempfile.TemporaryDirectory(prefix="piiloom-bench-") as parent:
        folder = Path(parent) / name
        _git("worktree", "add", "--quiet", "--detach", str(folder), name, fault=f"{commit} cannot be checked out")
        try:
            yield Side(name, folder)
        finally:
            _git("worktree", "remove", "--force", str(folder), fault=f"the worktree {folder} is left")


def _git(*command: str, fault: str) -> str:
    done = subprocess.run(["git", "-C", ROOT, *command], capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit(f"error: {fault}. {done.stderr.strip()}")
    return done.stdout.strip()


def composer(side: Side, given: argparse.Namespace) -> Figures:
    """Composer runs as ``make bench`` makes them, on one core."""
    printed = side.run("benchmarks/composer_runs.py", "--sizes", str(given.records))
    found: Figures = json.loads(printed.splitlines()[-1])
    return {key: float(found[key]) for key in ("wall_s", "cpu_s", "peak_mb")}


def llm(side: Side, given: argparse.Namespace) -> Figures:
    """Throughput of piiloom against the loopback server: time from the first request to the last reply."""
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "llm.json"
        size = ("--calls", str(given.calls), "--repeats", "1", "--out", out)
        side.run("benchmarks/llm_throughput.py", "--only", "ours", "--scenarios", "throughput", *size)
        found: Figures = json.loads(out.read_text(encoding="utf-8"))["results"]["throughput"]["ours"]
    if found["rows"] != given.calls:
        raise SystemExit(f"error: at {side.commit}, {found['rows']} of {given.calls} calls gave a row: {found}")
    return {"wall_s": found["wall_s"], "cpu_s": found["cpu_ms_per_call"] * found["requests"] / 1000, "peak_mb": found["peak_mb"]}


def surrogates(side: Side, given: argparse.Namespace) -> Figures:
    """The whole command on a file of tagged documents, with one worker."""
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder) / "input.jsonl"
        source.write_text("".join(json.dumps({"text": text}) + "\n" for text, _ in material(given.documents)), encoding="utf-8")
        out = Path(folder) / "out"
        command = ("-m", "piiloom", "surrogate", "run", source, "--out", out, "--seed", "7", "--workers", "1", "--no-scan")
        started = time.perf_counter()
        process = side.start(*command)
        assert process.stderr
        errors = process.stderr.read()  # until its end; what it prints on standard output is short
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        wall = time.perf_counter() - started
    if process.returncode:
        raise SystemExit(f"error: at {side.commit}, piiloom surrogate run ended with {process.returncode}:\n{errors[-2000:]}")
    return {"wall_s": wall, "cpu_s": usage.ru_utime + usage.ru_stime, "peak_mb": usage.ru_maxrss / 1024}


TRIALS: dict[str, Callable[[Side, argparse.Namespace], Figures]] = {"composer": composer, "llm": llm, "surrogates": surrogates}
TITLES = {
    "composer": "{records} records by the composer",
    "llm": "{calls} LLM calls, 64 in flight, 200 ms server",
    "surrogates": "piiloom surrogate run on {documents} documents, one worker",
}
COLUMNS = (("wall s", cell("wall_s", ranged=True)), ("CPU s", cell("cpu_s", ranged=True)), ("peak MB", cell("peak_mb", ".0f", ranged=True)))

if __name__ == "__main__":
    main()
