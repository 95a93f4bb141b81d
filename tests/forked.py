"""Processes of Python that begin with everything imported, as forks of one that has it: else importing would take most of their time."""

from __future__ import annotations

import atexit
import os
import runpy
import signal
import sys
from collections.abc import Mapping, Sequence
from functools import cached_property
from multiprocessing import current_process, get_context
from pathlib import Path
from subprocess import TimeoutExpired
from threading import Thread
from types import ModuleType
from typing import IO, TYPE_CHECKING, Any

if TYPE_CHECKING:
    from typing import Self

ROOT = Path(__file__).parents[1]
_FORKS = get_context("forkserver")
_FORKS.set_forkserver_preload(
    [
        *("openai", "anthropic", "piiloom.annotation_app.serving.server", "piiloom.annotation_app.serving.services"),
        *(f"piiloom.annotation_app.screens.{path.stem}" for path in (ROOT / "piiloom/annotation_app/screens").glob("*.py")),
        *("piiloom.cli.annotate", "piiloom.cli.detect", "piiloom.cli.generate", "piiloom.cli.main", "piiloom.detection.running.running"),
        *("tests.detection.tuning_jobs", "tests.execution.batch_sessions", "tests.generation.partition_executors", "tests.warmed"),
    ]
)


class Forked:
    """The process of a command line that begins with Python and ``-m MODULE`` or ``-c CODE``; it is used like a ``Popen``."""

    def __init__(self, command: Sequence[object], *, cwd: Path = ROOT, env: Mapping[str, str] | None = None) -> None:
        self.args = [str(word) for word in command]
        (self._out, out), (self._err, err) = (_FORKS.Pipe(duplex=False) for _ in range(2))
        given = (self.args[1:], (out, err), str(cwd), dict(os.environ if env is None else env))
        self._process = _FORKS.Process(target=_run, args=given, daemon=True)  # ended with the tests at the latest
        main, sys.modules["__main__"] = sys.modules["__main__"], ModuleType("__main__")  # pytest's or Streamlit's, which it would run
        try:
            self._process.start()
        finally:
            sys.modules["__main__"] = main
        out.close()
        err.close()
        self.pid = self._process.pid or 0

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.communicate()

    @cached_property
    def stdout(self) -> IO[str]:
        return os.fdopen(os.dup(self._out.fileno()))

    @cached_property
    def stderr(self) -> IO[str]:
        return os.fdopen(os.dup(self._err.fileno()))

    @property
    def returncode(self) -> int | None:
        return self._process.exitcode

    def poll(self) -> int | None:
        return self.returncode

    def wait(self, timeout: float | None = None) -> int:
        self._process.join(timeout)
        if self.returncode is None:
            raise TimeoutExpired(self.args, timeout or 0)
        return self.returncode

    def communicate(self, timeout: float | None = None) -> tuple[str, str]:
        said: dict[Any, str] = {}
        streams = [stream for stream in (self.stdout, self.stderr) if not stream.closed]
        readers = [Thread(target=lambda stream=stream: said.update({stream: stream.read()})) for stream in streams]
        for reader in readers:
            reader.start()
        self.wait(timeout)
        for reader, stream in zip(readers, streams, strict=True):
            reader.join()
            stream.close()
        return said.get(self.stdout, ""), said.get(self.stderr, "")

    def send_signal(self, number: int) -> None:
        if self.poll() is None:
            os.kill(self.pid, number)

    def terminate(self) -> None:
        self.send_signal(signal.SIGTERM)

    def kill(self) -> None:
        self.send_signal(signal.SIGKILL)


def _run(words: list[str], ends: tuple[Any, Any], folder: str, environment: dict[str, str]) -> None:
    current_process().daemon = False  # it may have processes of its own
    os.environ.clear()
    os.environ.update(environment)
    os.chdir(folder)
    for number, end in enumerate(ends, 1):
        os.dup2(end.fileno(), number)
        end.close()
    sys.stdout, sys.stderr = sys.__stdout__, sys.__stderr__ = os.fdopen(1, "w"), os.fdopen(2, "w", buffering=1)
    how, what, *more = words
    sys.argv[:] = ["piiloom" if what == "piiloom" else how, *more]
    try:
        if what == "piiloom":  # __main__ would be imported anew
            from piiloom.cli.entry import main

            sys.exit(main())
        elif how == "-m":
            runpy.run_module(what, run_name="__main__", alter_sys=True)
        else:
            sys.path.insert(0, "")
            exec(compile(what, "-c", "exec"), {"__name__": "__main__"})  # noqa: S102 - as Python does
    finally:
        atexit._run_exitfuncs()
