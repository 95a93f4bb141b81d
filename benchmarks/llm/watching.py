"""What a process and all its children take: processor time and memory, read from /proc while they run.

Times are ``time.monotonic``, as the server's are, so that the work between first request and last reply can be cut out of
a whole process with its imports. Memory is resident set size; where several processes share pages, their proportional set
sizes are added instead, which count a shared page once.
"""

from __future__ import annotations

import os
import threading
import time
from bisect import bisect_left
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

_TICK = os.sysconf("SC_CLK_TCK")
_PAGE_MB = os.sysconf("SC_PAGE_SIZE") / 2**20


@dataclass(frozen=True, slots=True)
class Sample:
    """One look: when, seconds of processor time since the start, MB, number of processes.

    ``others_s`` is processor time that neither they nor the one who looks had, on the whole machine (stolen time too).
    """

    at: float
    cpu_s: float
    mb: float
    processes: int
    others_s: float


class Watch(threading.Thread):
    """Looks at process *pid* and its children every *every_s* seconds until ``end``."""

    def __init__(self, pid: int, every_s: float = 0.05) -> None:
        super().__init__(daemon=True)
        self.samples: list[Sample] = []
        self._pid, self._every_s = pid, every_s
        self._over = threading.Event()

    def run(self) -> None:
        """Look until told to stop."""
        while not self._over.wait(self._every_s):
            sample = look(self._pid)
            if sample is not None:
                self.samples.append(sample)

    def end(self) -> None:
        """Stop looking."""
        self._over.set()
        self.join()

    @property
    def peak_mb(self) -> float:
        """The most that was seen."""
        return max((sample.mb for sample in self.samples), default=0.0)

    @property
    def processes(self) -> int:
        """The most processes that were seen at once."""
        return max((sample.processes for sample in self.samples), default=0)

    def cpu_between(self, start: float, end: float) -> float:
        """Seconds of processor time between two moments."""
        return self._read(end, _cpu_s) - self._read(start, _cpu_s)

    def others_between(self, start: float, end: float) -> float:
        """Seconds of processor time that the rest of the machine had between two moments."""
        return self._read(end, _others_s) - self._read(start, _others_s)

    def mb_at(self, moment: float) -> float:
        """Memory at *moment*, or the nearest look after it."""
        place = min(bisect_left(self.samples, moment, key=lambda sample: sample.at), len(self.samples) - 1)
        return self.samples[place].mb if self.samples else 0.0

    def _read(self, moment: float, what: Callable[[Sample], float]) -> float:
        """A figure at *moment*, on the straight line between two looks."""
        if not self.samples:
            return 0.0
        place = bisect_left(self.samples, moment, key=lambda sample: sample.at)
        if place in {0, len(self.samples)}:
            return what(self.samples[place - (place > 0)])
        before, after = self.samples[place - 1], self.samples[place]
        share = (moment - before.at) / (after.at - before.at)
        return what(before) + share * (what(after) - what(before))


def _cpu_s(sample: Sample) -> float:
    return sample.cpu_s


def _others_s(sample: Sample) -> float:
    return sample.others_s


def look(pid: int) -> Sample | None:
    """Add up process *pid* and its descendants; None when it is gone."""
    cpu = mb = 0.0
    found = tree(pid)
    at = time.monotonic()
    seen = 0
    for one in found:
        with suppress(OSError, IndexError, ValueError):
            numbers = Path(f"/proc/{one}/stat").read_text().rpartition(")")[2].split()
            # utime, stime, and those of children that have ended and been waited for
            cpu += sum(int(number) for number in numbers[11:15]) / _TICK
            mb += _proportional_mb(one) if len(found) > 1 else int(numbers[21]) * _PAGE_MB
            seen += 1
    return Sample(at, cpu, mb, seen, _machine_s() - cpu - time.process_time()) if seen else None


def _machine_s() -> float:
    """Seconds of processor time that were not idle, on all processors since the machine started."""
    with Path("/proc/stat").open(encoding="ascii") as lines:
        user, nice, system, _, _, interrupts, soft, stolen = (int(number) for number in next(lines).split()[1:9])
    return (user + nice + system + interrupts + soft + stolen) / _TICK


def tree(pid: int) -> list[int]:
    """Process *pid* and all its descendants."""
    found = [pid]
    for one in found:
        with suppress(OSError):
            for task in Path(f"/proc/{one}/task").iterdir():
                found += [int(child) for child in (task / "children").read_text().split()]
    return found


def _proportional_mb(pid: int) -> float:
    for line in Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines():
        if line.startswith("Pss:"):
            return int(line.split()[1]) / 1024
    return 0.0
