"""Commands in processes of their own that are struck by Ctrl-C at a chosen moment."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import time
from dataclasses import dataclass

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
