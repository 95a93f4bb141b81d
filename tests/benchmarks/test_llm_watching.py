"""What the benchmark reads off a process is what the process used."""

from __future__ import annotations

import subprocess
import sys
import time

import pytest

from benchmarks.llm.watching import Watch, look, tree

BURN = """
import subprocess, sys, time
end = time.process_time() + 0.4
while time.process_time() < end: pass
if len(sys.argv) > 1:
    child = subprocess.Popen([sys.executable, "-c", "import time; block = bytearray(60_000_000); time.sleep(1.0)"])
    child.wait()
print(time.monotonic())
"""


def test_processor_time_of_an_interval_is_cut_out():
    process = subprocess.Popen([sys.executable, "-c", BURN], stdout=subprocess.PIPE, text=True)
    watch = Watch(process.pid, 0.02)
    began = time.monotonic()
    watch.start()
    process.wait()
    watch.end()
    assert process.stdout
    process.stdout.close()
    whole = watch.cpu_between(began, time.monotonic())
    assert 0.3 < whole < 0.8
    assert watch.cpu_between(began - 10, began - 5) == 0
    middle = (began + time.monotonic()) / 2
    assert abs(watch.cpu_between(began, middle) + watch.cpu_between(middle, time.monotonic()) - whole) < 1e-6


@pytest.mark.long
def test_children_count():
    process = subprocess.Popen([sys.executable, "-c", BURN, "child"], stdout=subprocess.PIPE, text=True)
    watch = Watch(process.pid, 0.02)
    watch.start()
    process.wait()
    watch.end()
    assert process.stdout
    process.stdout.close()
    assert watch.processes == 2
    assert 60 < watch.peak_mb < 150


def test_a_process_that_is_gone_is_not_looked_at():
    process = subprocess.Popen([sys.executable, "-c", "pass"])
    process.wait()
    assert look(process.pid) is None
    assert tree(process.pid) == [process.pid]
