"""Commands in processes of their own that are struck by Ctrl-C at a chosen moment."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from select import select

# The console script, which also says that its handler is there: what comes before is Python's own start.
SCRIPT = """
import sys
from piiloom.foundation.quick_end import end_at_once
end_at_once()
sys.stderr.write("ready\\n")
sys.stderr.flush()
from piiloom.cli.entry import main
sys.exit(main())
"""
# Runs a command and lists what it has imported.
LISTING = """
import sys
from piiloom.cli.entry import main
listed, sys.argv[1:] = sys.argv[1], sys.argv[2:]
code = main()
with open(listed, "w") as file:
    file.write(" ".join(name for name in sys.modules if name != "__main__"))
sys.exit(code)
"""
# Imports what is listed, and forks for each command line that it is sent.
WARM = """
import importlib, json, os, sys
from contextlib import suppress
from piiloom.foundation.quick_end import end_at_once
from piiloom.cli.entry import main
folder = sys.argv[1]
for name in open(os.path.join(folder, "listed")).read().split():
    with suppress(Exception):
        importlib.import_module(name)
while line := sys.stdin.readline():
    child = os.fork()
    if child == 0:
        os.setsid()
        end_at_once()
        os.write(1, b"%d\\n" % os.getpid())
        for number, name in enumerate((os.devnull, "out", "err")):
            os.dup2(os.open(os.path.join(folder, name), os.O_RDWR | os.O_CREAT | os.O_TRUNC), number)
        sys.argv[1:] = json.loads(line)
        sys.exit(main())
    os.write(1, b"%d\\n" % os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
"""
NOISE = re.compile(r"Traceback|unexpected|Exception ignored|KeyboardInterrupt|never retrieved|never awaited|leaked|Query interrupted")


@dataclass(frozen=True, slots=True, kw_only=True)
class Struck:
    """What is left of a command: ``seconds`` are counted from when it was ready; ``in_time`` tells whether the blow met it alive."""

    code: int
    out: str
    err: str
    seconds: float
    in_time: bool

    def check(self) -> None:
        """See that it ended in order: one line at most, none of Python's, and an exit code that says what happened."""
        assert not NOISE.search(self.err), self
        lines = [line for line in self.err.splitlines() if line.startswith(("error:", "interrupted", "stopped"))]
        assert len(lines) <= 1, self
        if self.code == 1:
            assert re.match(r"error: (interrupted|stopped at once)|interrupted", lines[0]), self
        else:  # it was done by then
            assert self.code == 0, self


def struck(*words: object, after_s: float | None, again_s: float | None = None) -> Struck:
    """Run a command line and strike it after *after_s* (never when None), and once more after *again_s*; so are its workers."""
    command = [sys.executable, "-c", SCRIPT, *(str(word) for word in words)]
    with subprocess.Popen(
        command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True
    ) as process:
        assert process.stderr is not None
        assert process.stderr.readline() == "ready\n"
        started, in_time = time.monotonic(), False
        try:
            if after_s is not None:
                in_time = _strike(process, after_s)
                if again_s is not None:
                    _strike(process, again_s)
            out, err = process.communicate(timeout=120)
        finally:
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGKILL)
    return Struck(code=process.returncode, out=out, err=err, seconds=time.monotonic() - started, in_time=in_time)


def _strike(process: subprocess.Popen[str], after_s: float) -> bool:
    try:
        process.wait(after_s)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGINT)
        return True
    return False


class Warm:
    """A process that has imported what a command imports, and forks to run it.

    A blow meets the command at work then, where most would meet imports, and half of the time of the tests would be spent on those.
    """

    def __init__(self, folder: Path, *words: object) -> None:
        self._folder = folder
        folder.mkdir()
        listing = [sys.executable, "-c", LISTING, str(folder / "listed"), *(str(word) for word in words)]
        subprocess.run(listing, stdin=subprocess.DEVNULL, capture_output=True, timeout=120, check=True)
        command = [sys.executable, "-c", WARM, str(folder)]
        self._process = subprocess.Popen(command, bufsize=0, stdin=subprocess.PIPE, stdout=subprocess.PIPE)

    def struck(self, *words: object, after_s: float | None, again_s: float | None = None) -> Struck:
        """As the function of this name, for the command that this process was made for."""
        asked, told = self._process.stdin, self._process.stdout
        assert asked is not None
        assert told is not None
        asked.write(f"{json.dumps([str(word) for word in words])}\n".encode())
        child, started, blows = int(told.readline()), time.monotonic(), 0
        for wait in (after_s, again_s):
            if wait is not None and not self._ended(wait):
                with suppress(ProcessLookupError):  # it has ended, and its code is about to be told
                    os.killpg(child, signal.SIGINT)
                    blows += 1
        if not self._ended(120):
            os.killpg(child, signal.SIGKILL)
        code, seconds = int(told.readline()), time.monotonic() - started
        out, err = ((self._folder / name).read_text() for name in ("out", "err"))
        return Struck(code=code, out=out, err=err, seconds=seconds, in_time=bool(blows))

    def _ended(self, wait_s: float) -> bool:
        return bool(select([self._process.stdout], [], [], wait_s)[0])

    def end(self) -> None:
        """Have the process end."""
        self._process.communicate()


@contextmanager
def warmed(folder: Path, *words: object) -> Iterator[Warm]:
    """A ``Warm`` process for a command line, which is run once for it; it ends with the block."""
    warm = Warm(folder, *words)
    try:
        yield warm
    finally:
        warm.end()
