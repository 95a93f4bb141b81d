"""Ctrl-C in a process of its own: swallowed, twice, at the start, at the end, ignored."""

from __future__ import annotations

import signal
import subprocess
import sys

import pytest

from piiloom.foundation import interrupts

BLOW = "signal.raise_signal(signal.SIGINT)"
HEAD = "import signal, sys, time, os\nfrom piiloom.foundation.interrupts import interrupted, forget, noted_interrupts\n"


def ran(code: str, **more: object) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False, timeout=60, **more)  # type: ignore[call-overload]


def test_one_that_nobody_could_catch_is_raised_again():
    """In a destructor Python prints it and goes on."""
    code = f"""{HEAD}
class Gone:
    def __del__(self):
        {BLOW}
with noted_interrupts():
    try:
        Gone()
        time.sleep(100)  # longer than ``ran`` waits
    except KeyboardInterrupt:
        print("caught")
"""
    done = ran(code)
    assert (done.returncode, done.stdout, done.stderr) == (0, "caught\n", "")


def test_an_import_is_not_broken_off(tmp_path):
    """An extension of C++ that is interrupted while it is loaded aborts the process."""
    (tmp_path / "slow.py").write_text(f"import signal, time\n{BLOW}\ntime.sleep(0.1)\nprint('loaded')\n")
    code = f"""{HEAD}
sys.path.insert(0, {str(tmp_path)!r})
with noted_interrupts():
    try:
        import slow
        time.sleep(100)
    except KeyboardInterrupt:
        print("caught")
"""
    done = ran(code)
    assert (done.returncode, done.stdout, done.stderr) == (0, "loaded\ncaught\n", "")


def test_pydantic_does_not_swallow_it_while_it_builds_a_schema():
    """It would go on with the pattern "<unprintable object>", and no value would fit."""
    code = f"""{HEAD}
from typing import Annotated
from pydantic import BaseModel, ConfigDict, StringConstraints
class Struck(str):
    def __str__(self):
        {BLOW}
        return "^[A-Z]+$"
class Currency(BaseModel):
    model_config = ConfigDict(defer_build=True)
    code: Annotated[str, StringConstraints(pattern=Struck("x"))]
with noted_interrupts():
    try:
        print(Currency(code="USD").code)
        time.sleep(100)
    except KeyboardInterrupt:
        print("caught")
"""
    done = ran(code)
    assert (done.returncode, done.stdout, done.stderr) == (0, "USD\ncaught\n", "")


def test_a_coroutine_that_it_keeps_from_beginning_is_not_complained_of():
    """``asyncio.run`` is given one before it has a loop for it."""
    code = f"""{HEAD}
import asyncio
class Policy(asyncio.DefaultEventLoopPolicy):
    def new_event_loop(self):
        {BLOW}
async def work():
    print("never")
with noted_interrupts():
    asyncio.set_event_loop_policy(Policy())
    try:
        asyncio.run(work())
    except KeyboardInterrupt:
        print("caught")
"""
    done = ran(code)
    assert (done.returncode, done.stdout, done.stderr) == (0, "caught\n", "")


def test_it_waits_for_the_end_of_a_block_that_must_not_be_broken_off():
    code = f"""{HEAD}
from piiloom.foundation.interrupts import held_interrupts
with noted_interrupts():
    try:
        with held_interrupts():
            {BLOW}
            print("done")
        print("never")
    except KeyboardInterrupt:
        print("caught", interrupted())
"""
    done = ran(code)
    assert (done.returncode, done.stdout, done.stderr) == (0, "done\ncaught True\n", "")


def test_a_block_in_such_a_block_does_not_let_it_through():
    code = f"""{HEAD}
from piiloom.foundation.interrupts import held_interrupts
with noted_interrupts():
    try:
        with held_interrupts():
            with held_interrupts():
                {BLOW}
            print("done")
    except KeyboardInterrupt:
        print("caught", interrupted())
"""
    done = ran(code)
    assert (done.returncode, done.stdout, done.stderr) == (0, "done\ncaught True\n", "")


def test_a_folder_that_is_being_removed_is_removed_whole(tmp_path):
    code = f"""{HEAD}
import shutil
from pathlib import Path
from piiloom.surrogates.outputs.folder import RunFolder
def rmtree(path, ignore_errors, remove=shutil.rmtree):
    {BLOW}
    remove(path, ignore_errors)
with noted_interrupts():
    shutil.rmtree = rmtree
    try:
        with RunFolder(Path({str(tmp_path)!r}) / "out", Path("notes.jsonl")):
            raise ValueError
    except KeyboardInterrupt:
        print("caught", interrupted())
"""
    done = ran(code)
    assert (done.returncode, done.stdout, done.stderr) == (0, "caught True\n", "")
    assert not list(tmp_path.iterdir())


def test_a_second_one_leaves_time_to_close_and_a_later_one_ends_at_once():
    code = f"""{HEAD}
import piiloom.foundation.interrupts as interrupts
with noted_interrupts():
    try:
        {BLOW}
    except KeyboardInterrupt:
        {BLOW}
        print("closing", flush=True)
        interrupts._PATIENCE_S = 0
        {BLOW}
        print("never")
"""
    done = ran(code)
    assert (done.returncode, done.stdout, done.stderr) == (1, "closing\n", "error: interrupted\n")


def test_while_modules_are_loaded_it_ends_the_process_without_a_traceback():
    code = f"import signal\nfrom piiloom.foundation.quick_end import end_at_once\nend_at_once(also_say='told')\n{BLOW}\nprint('never')"
    done = ran(code)
    assert (done.returncode, done.stdout, done.stderr) == (1, "told\n", "error: interrupted\n")


def test_at_the_end_it_is_silent_and_keeps_the_exit_code():
    code = f"import signal\nfrom piiloom.foundation.quick_end import end_silently\nend_silently(7)\n{BLOW}"
    done = ran(code)
    assert (done.returncode, done.stdout, done.stderr) == (7, "", "")


@pytest.mark.long
def test_a_thread_that_is_still_at_work_is_left_behind():
    """Python would unwind it through DuckDB's C++ while it takes itself down: the process aborted, seen once in twenty."""
    code = """
import atexit, sys, threading
from piiloom.foundation.quick_end import end_silently, end_without_teardown
end_without_teardown()
import duckdb
def query():
    connection = duckdb.connect()
    while True:
        connection.execute("SELECT sum(range) FROM range(300000)").fetchall()
threading.Thread(target=query, daemon=True).start()
atexit.register(print, "others' exit functions run")
sys.stdout.write("said ")
end_silently(1)
sys.exit(1)
"""
    for _ in range(5):
        done = ran(code)
        assert (done.returncode, done.stdout, done.stderr) == (1, "said others' exit functions run\n", "")


def test_a_job_that_was_told_to_ignore_it_goes_on():
    code = f"{HEAD}with noted_interrupts():\n    {BLOW}\nprint('went on')"
    done = ran(code, preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_IGN))
    assert (done.returncode, done.stdout, done.stderr) == (0, "went on\n", "")


def test_afterwards_all_is_as_before():
    handler, hook = signal.getsignal(signal.SIGINT), sys.unraisablehook
    with interrupts.noted_interrupts():
        assert signal.getsignal(signal.SIGINT) is not handler
        with pytest.raises(KeyboardInterrupt):
            signal.raise_signal(signal.SIGINT)
    assert interrupts.interrupted()
    interrupts.forget()
    assert not interrupts.interrupted()
    assert (signal.getsignal(signal.SIGINT), sys.unraisablehook) == (handler, hook)


def test_the_console_script_loads_next_to_nothing_before_it_takes_care_of_ctrl_c():
    heavy = "[name for name in ('typer', 'typing', 'pathlib', 'threading', 'signal', 'enum') if name in sys.modules]"
    done = ran(f"import sys\nbefore = set({heavy})\nimport piiloom.cli.entry\nprint(sorted(set({heavy}) - before))")
    assert done.stdout == "[]\n", done.stderr
