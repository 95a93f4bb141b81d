"""One driver against one server: start both, watch, stop what hangs, and read what was left behind."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
import time
import urllib.request
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.peers.contestants import ROOT, Contestant

from .server_settings import ServerSettings
from .server_wire import content_of
from .watching import Watch

_POLL_S = 0.02


@dataclass(frozen=True, slots=True)
class Server:
    """A running server process."""

    url: str

    def ask(self, what: str) -> dict[str, Any]:
        """Read ``brief`` or ``stats``."""
        with urllib.request.urlopen(f"{self.url}/control/{what}", timeout=10) as reply:  # noqa: S310 - our own server
            answer: dict[str, Any] = json.load(reply)
            return answer


@contextlib.contextmanager
def serving(settings: ServerSettings) -> Iterator[Server]:
    """Run a server in a process of its own."""
    command = [sys.executable, "-m", "benchmarks.llm.server", "--settings", settings.to_json(), "--parent", str(os.getpid())]
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout
            yield Server(f"http://127.0.0.1:{int(process.stdout.readline())}")
        finally:
            process.kill()


def start(contestant: Contestant, peers: Path, folder: Path, spec: Path) -> subprocess.Popen[bytes]:
    """Have a contestant work on *spec* in a process group of its own; what it prints goes to ``output.txt`` in *folder*."""
    home = folder / "home"
    home.mkdir(exist_ok=True)
    environment = {name: value for name, value in contestant.variables().items() if not name.startswith(("OPENAI_", "PIILOOM_"))}
    # Quiet and offline, as far as each can be: no telemetry, no hub, no price list from the network.
    environment |= {"HOME": str(home), "HF_HUB_OFFLINE": "1", "HF_DATASETS_OFFLINE": "1", "DO_NOT_TRACK": "1", "NO_COLOR": "1"}
    environment |= {"LITELLM_LOCAL_MODEL_COST_MAP": "True", "NEMO_TELEMETRY_ENABLED": "false"}
    with (folder / "output.txt").open("ab") as output:
        return subprocess.Popen(
            contestant.command(peers, spec),
            cwd=folder,
            env=environment,
            stdout=output,
            stderr=subprocess.STDOUT,
            stdin=subprocess.DEVNULL,
            start_new_session=True,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """What one driver did. ``ended``: its exit status, "killed" or "hung"; ``watch`` has its memory over time."""

    ended: str
    seconds: float
    cpu_s: float
    watch: Watch
    peak_mb: float

    def cpu_ms_per_call(self, stats: Mapping[str, Any]) -> float:
        """Processor time between first request and last reply, by request."""
        if not stats["first_at"] or not stats["last_at"]:
            return 0.0
        return 1000 * self.watch.cpu_between(stats["first_at"], stats["last_at"]) / max(1, stats["requests"])


def play(
    contestant: Contestant,
    server: Server,
    peers: Path,
    spec: Path,
    *,
    kill_when: Callable[[Mapping[str, Any]], bool] | None = None,
    stall_s: float = 60.0,
    every_s: float = 0.05,
) -> Run:
    """Run a driver to its end, until ``kill_when`` says so (SIGKILL to all its processes), or until nothing moves for ``stall_s``."""
    began = time.monotonic()
    process = start(contestant, peers, spec.parent, spec)
    watch = Watch(process.pid, every_s)
    watch.start()
    ended, usage = _follow(process, server, kill_when, stall_s)
    watch.end()
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    alone = usage.ru_maxrss / 1024 if watch.processes <= 1 else 0.0
    return Run(
        ended=ended,
        seconds=time.monotonic() - began,
        cpu_s=usage.ru_utime + usage.ru_stime,
        watch=watch,
        peak_mb=max(watch.peak_mb, alone),
    )


def _follow(
    process: subprocess.Popen[bytes], server: Server, kill_when: Callable[[Mapping[str, Any]], bool] | None, stall_s: float
) -> tuple[str, Any]:
    """Wait for the end of *process*, or bring it about; how it ended and what it used."""
    ended = ""
    seen, moved_at = -1, time.monotonic()
    while True:
        pid, status, usage = os.wait4(process.pid, os.WNOHANG)
        if pid:
            process.returncode = os.waitstatus_to_exitcode(status)
            return ended or f"exit {process.returncode}", usage
        if not ended:
            brief = server.ask("brief")
            if brief["requests"] + brief["answered"] != seen:
                seen, moved_at = brief["requests"] + brief["answered"], time.monotonic()
            if kill_when is not None and kill_when(brief):
                ended = "killed"
            elif time.monotonic() - moved_at > stall_s:
                ended = "hung"
            if ended:
                os.killpg(process.pid, signal.SIGKILL)
                continue
        # A process that nobody waits to kill need not be asked about so often.
        time.sleep(_POLL_S if kill_when else 0.2)


def settled(server: Server, most_s: float = 10.0) -> dict[str, Any]:
    """The server's statistics once nothing is in flight any more."""
    end = time.monotonic() + most_s
    while server.ask("brief")["in_flight"] and time.monotonic() < end:
        time.sleep(0.05)
    return server.ask("stats")


def good_rows(folder: Path, calls: int) -> int:
    """How many of the cases have their own reply in ``rows.jsonl``: a row with another's reply does not count."""
    path = folder / "rows.jsonl"
    if not path.exists():
        return 0
    wanted = {f"case-{number:06d}" for number in range(calls)}
    good = set()
    for line in path.read_text(encoding="utf-8").splitlines():
        row = json.loads(line)
        case = row.get("case")
        if case in wanted and list(row["sentences"]) == json.loads(content_of(case, fenced=False))["sentences"]:
            good.add(case)
    return len(good)


def last_words(folder: Path) -> str:
    """The last line that a driver printed, for the report of a failure."""
    path = folder / "output.txt"
    lines = path.read_text(encoding="utf-8", errors="replace").split("\n") if path.exists() else []
    return next((line.strip()[:300] for line in reversed(lines) if line.strip()), "")
