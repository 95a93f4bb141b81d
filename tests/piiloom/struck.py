"""Commands in processes of their own that are struck by Ctrl-C at a chosen moment."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from select import select

import piiloom

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
# Forks for each command line that it is sent; what one that it is to learn from has imported, it imports as well.
WARM = """
import importlib, json, os, sys
from contextlib import suppress
from piiloom.foundation.quick_end import end_at_once
from piiloom.cli.entry import main
folder, *known = sys.argv[1:]
for name in known:
    importlib.import_module(name)
listed = os.path.join(folder, "listed")
while line := sys.stdin.readline():
    learn, where, environment, words = json.loads(line)
    child = os.fork()
    if child == 0:
        os.setsid()
        told = os.dup(1)
        for number, name in enumerate((os.devnull, "out", "err")):
            os.dup2(os.open(os.path.join(folder, name), os.O_RDWR | os.O_CREAT | os.O_TRUNC), number)
        if where is not None:
            os.chdir(where)
            os.environ.clear()
            os.environ.update(environment)
        sys.argv[:] = ["piiloom", *words]
        end_at_once()
        os.write(told, b"%d\\n" % os.getpid())  # from here on it may be struck
        os.close(told)
        code = main()
        if learn:
            with open(listed, "w") as file:
                file.write(" ".join(name for name in sys.modules if name != "__main__"))
        sys.exit(code)
    code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    for name in open(listed).read().split() if learn else ():
        with suppress(Exception):
            importlib.import_module(name)
    os.write(1, b"%d\\n" % code)
"""
NOISE = re.compile(r"Traceback|unexpected|Exception ignored|KeyboardInterrupt|never retrieved|never awaited|leaked|Query interrupted")


@dataclass(frozen=True, slots=True, kw_only=True)
class Struck:
    """What is left of a command: its time from when it was ready, or from ``once``; ``in_time`` tells whether the blow met it alive."""

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
    """A process that has imported what commands import, and forks to run them.

    A blow meets the command at work then, where most would meet imports, and half of the time of the tests would be spent on those.
    The guides' commands (tests/docs) run in such a process for the second reason alone.
    """

    def __init__(self, folder: Path, *known: str) -> None:
        """It imports the modules *known* at once."""
        self._folder = folder
        folder.mkdir()
        # Without the folder that it stands in, as the console script has it, too; yet with this tree's piiloom, whichever is installed.
        command = [sys.executable, "-P", "-c", WARM, str(folder), *known]
        environment = {**os.environ, "PYTHONPATH": str(Path(piiloom.__file__).parents[1])}
        self._process = subprocess.Popen(command, bufsize=0, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=environment)

    def learn(self, *words: object, within: tuple[str, Mapping[str, str]] | None = None, longest_s: float = 120) -> Struck:
        """Run a command line to its end, and import what it has imported; *within* is the folder and the environment that it has."""
        return self._run(words, (), learn=True, within=within, longest_s=longest_s)

    def struck(
        self, *words: object, after_s: float | None, again_s: float | None = None, once: Callable[[], bool] = lambda: True
    ) -> Struck:
        """As the function of this name; the time runs from when *once* is true: how long that takes is the machine's affair."""
        return self._run(words, [wait for wait in (after_s, again_s) if wait is not None], learn=False, once=once)

    def _run(
        self,
        words: Iterable[object],
        waits: Iterable[float],
        *,
        learn: bool,
        once: Callable[[], bool] = lambda: True,
        within: tuple[str, Mapping[str, str]] | None = None,
        longest_s: float = 120,
    ) -> Struck:
        asked, told = self._process.stdin, self._process.stdout
        assert asked is not None
        assert told is not None
        where, environment = within or (None, {})
        asked.write(f"{json.dumps([learn, where, environment, [str(word) for word in words]])}\n".encode())
        child, blows = int(told.readline()), 0
        while not once() and not self._ended(0.005):
            pass
        started = time.monotonic()
        for wait in waits:
            if not self._ended(wait):
                with suppress(ProcessLookupError):  # it has ended, and its code is about to be told
                    os.killpg(child, signal.SIGINT)
                    blows += 1
        if not self._ended(longest_s):
            os.killpg(child, signal.SIGKILL)
        code, seconds = int(told.readline()), time.monotonic() - started
        out, err = ((self._folder / name).read_text() for name in ("out", "err"))
        return Struck(code=code, out=out, err=err, seconds=seconds, in_time=bool(blows))

    def _ended(self, wait_s: float) -> bool:
        return bool(select([self._process.stdout], [], [], wait_s)[0])

    def end(self) -> None:
        """Have the process end."""
        self._process.communicate()
