"""``piiloom surrogate run`` as a whole against a script that one writes for oneself: CPU seconds of the process, its children counted.

Both read the same 6,000 documents (``surrogates.material``) from one JSONL file and write JSONL. The script (``presidio_fill.py``,
presidio-anonymizer with Faker) is told where the placeholders are; the command finds them, scans what it has made for leftovers, and
also writes records, offset map and report. Start-up is part of both. Each has run once before, so that bytecode is there.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

from benchmarks.peers.contestants import OURS, ROOT, Contestant, contestants_of
from benchmarks.peers.harness import Figures, Trial, cell

_SCRIPT = Path(__file__).parent / "presidio_fill.py"
_COLUMNS = (
    ("CPU seconds", cell("cpu_s", ranged=True)),
    ("seconds", cell("seconds")),
    ("documents/s of CPU", cell("documents_per_cpu_s", ",.0f")),
)


def whole_commands(contestants: Sequence[Contestant], peers: Path, count: int, repeats: int) -> Trial:
    """Each contestant's command on the same file; ratios are of turns, peer divided by ours being the reciprocal of what is told."""
    return Trial(
        name="command",
        title=f"{count} documents of about 1,010 characters with ten placeholders, JSONL to JSONL, one worker; median of {repeats}",
        plays={one.name: lambda turn, one=one: _filled(one, peers, count, warm=turn == 0) for one in contestants},
        columns=_COLUMNS,
        repeats=repeats,
        ratios=("documents_per_cpu_s",),
    )


def auto_and_one(count: int, repeats: int) -> Trial:
    """The command on *count* documents with ``--workers auto`` and with one worker: auto is never to be slower."""
    return Trial(
        name="auto",
        title=f"piiloom surrogate run on {count} documents of about 1,010 characters; median of {repeats}",
        plays={f"--workers {workers}": lambda _, workers=workers: _ours(workers, count) for workers in ("auto", "1", "2")},
        columns=_COLUMNS,
        repeats=repeats,
        subject="--workers auto",
        ratios=("seconds",),
    )


def _ours(workers: str, count: int) -> Figures:
    (own,) = [one for one in contestants_of("surrogates") if one.name == OURS]
    with tempfile.TemporaryDirectory() as name:
        source = Path(name) / "documents.jsonl"
        _write(source, count)
        command = [*_command(own, Path(), source, Path(name) / "filled")[:-1], workers]
        cpu, seconds = _run(command, own)
    return {"cpu_s": cpu, "seconds": seconds, "documents_per_cpu_s": count / cpu}


def _filled(contestant: Contestant, peers: Path, count: int, *, warm: bool) -> Figures:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        source = folder / "documents.jsonl"
        if warm:
            _write(source, 10)
            _run(_command(contestant, peers, source, folder / "warm"), contestant)
        _write(source, count)
        cpu, seconds = _run(_command(contestant, peers, source, folder / "filled"), contestant)
    return {"cpu_s": cpu, "seconds": seconds, "documents_per_cpu_s": count / cpu}


def _write(source: Path, count: int) -> None:
    from benchmarks.surrogates import material  # which imports this file

    rows = ({"text": text, "spans": [[start, end, theirs] for start, end, _, _, theirs in spans]} for text, spans in material(count))
    source.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")


def _command(contestant: Contestant, peers: Path, source: Path, out: Path) -> list[str | Path]:
    if contestant.name == OURS:
        return [sys.executable, "-m", "piiloom", "surrogate", "run", source, "--out", out, "--workers", "1"]
    return [contestant.python(peers), _SCRIPT, source, out]


def _run(command: Sequence[str | Path], contestant: Contestant) -> tuple[float, float]:
    """Run *command*; return its CPU seconds (user and system, its children counted) and its seconds. Raises ``SystemExit``."""
    variables = {name: value for name, value in contestant.variables().items() if name != "PYTHONDONTWRITEBYTECODE"}
    started = time.perf_counter()
    with tempfile.TemporaryFile() as said:
        process = subprocess.Popen(command, env=variables, cwd=ROOT, stdout=said, stderr=subprocess.STDOUT)
        _, status, used = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode:
            said.seek(0)
            raise SystemExit(f"error: {contestant.title} ended with {process.returncode}:\n{said.read()[-2000:].decode()}")
    return used.ru_utime + used.ru_stime, time.perf_counter() - started
