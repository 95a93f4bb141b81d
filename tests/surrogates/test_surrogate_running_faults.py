"""What goes wrong in a run, and that nothing half-written stays."""

from __future__ import annotations

import errno
import json
import os
import signal
import subprocess
import sys
import time
from functools import partial
from pathlib import Path

import pytest

from piiloom.foundation.errors import DataError, OutputError, RunError, UsageError
from piiloom.surrogates.inputs.parts import SourceSettings
from piiloom.surrogates.outputs.writing import MirrorFolder
from piiloom.surrogates.running import SurrogateProgress, run_surrogates
from tests.longer import case_by_case
from tests.surrogates.running_fakes import Lying, TagEngine

ROOT = Path(__file__).parents[2]


def many(path: Path, *, at: int = 700, word: str = "HERE") -> Path:
    rows = [json.dumps({"text": f"[NAME] word {number} {word if number == at else ''}"}) for number in range(1000)]
    path.write_text("\n".join(rows) + "\n")
    return path


def run(path: Path, out: Path, factory=TagEngine, **options):
    return run_surrogates(SourceSettings(path=path, chunk_bytes=2000), out, factory, **options)


def left(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


FAILS = r"in\.jsonl, lines (\d+) to (\d+): a part of the input could not be processed \(ValueError in _strike"
FAULTS = [
    ("scan fails", 1, RunError, FAILS),
    ("replace fails", 2, RunError, FAILS),
    ("scan refuses", 3, DataError, r"in\.jsonl:701: an unknown tag"),
    ("replace refuses", 1, DataError, r"in\.jsonl:701: an unknown tag"),
    ("scan breaks", 1, OutputError, "No space left on device"),
    ("replace breaks", 2, OutputError, "No space left on device"),
    ("scan dies", 2, RunError, r"in\.jsonl, lines \d+ to \d+: a worker process ended unexpectedly \(signal 9\)"),
    ("replace dies", 2, RunError, r"in\.jsonl, lines \d+ to \d+: a worker process ended unexpectedly \(signal 9\)"),
]


@case_by_case(("fault", "workers", "error", "words"), FAULTS)
def test_a_fault_is_named_by_its_lines_and_never_by_the_words(tmp_path: Path, fault: str, workers: int, error: type, words: str) -> None:
    path = many(tmp_path / "in.jsonl")
    with pytest.raises(error, match=words) as caught:
        run(path, tmp_path / "out", partial(TagEngine, fault=fault, at="HERE"), workers=workers)
    assert "secret" not in str(caught.value)
    if words == FAILS:
        first, last = (int(word) for word in str(caught.value).split(":")[0].split() if word.isdecimal())
        assert first <= 701 <= last <= first + 100
    assert left(tmp_path) == ["in.jsonl"]


def test_of_two_faults_the_first_in_the_input_is_told(tmp_path: Path) -> None:
    path = many(tmp_path / "in.jsonl")
    lines = path.read_text().splitlines()
    for bad in (300, 900):
        lines[bad] = "{"
    path.write_text("\n".join(lines))
    for workers in (1, 3):
        with pytest.raises(DataError, match=r"in\.jsonl:301"):
            run(path, tmp_path / "out", workers=workers)


def test_an_engine_that_lies_is_refused(tmp_path: Path) -> None:
    with pytest.raises(RunError, match=r"in\.jsonl:1: the engine gave an invalid result"):
        run(many(tmp_path / "in.jsonl"), tmp_path / "out", Lying)
    assert left(tmp_path) == ["in.jsonl"]


def test_an_engine_need_not_ask_for_the_scans(tmp_path: Path) -> None:
    assert run(many(tmp_path / "in.jsonl"), tmp_path / "out", partial(TagEngine, fault="assign"), workers=2).documents == 1000


def test_a_surrogate_with_half_a_character_is_refused(tmp_path: Path) -> None:
    with pytest.raises(RunError, match="half a character"):
        run(many(tmp_path / "in.jsonl"), tmp_path / "out", partial(TagEngine, ("\ud800",)))


def test_a_surrogate_that_an_unquoted_table_cannot_hold_is_told(tmp_path: Path) -> None:
    path = tmp_path / "a.tsv"
    path.write_text("text\n[NAME]\n")
    with pytest.raises(DataError, match="the table has no quotes"):
        run_surrogates(SourceSettings(path=path, quoting="none"), tmp_path / "out", partial(TagEngine, ("a\tb",)))


@pytest.mark.parametrize("workers", [1, 2])
def test_a_full_disk_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, workers: int) -> None:
    earlier = many(tmp_path / "in.jsonl")
    run(earlier, tmp_path / "out")
    before = (tmp_path / "out" / "report.json").read_bytes()

    def full(self: object, part: object, data: bytes) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(MirrorFolder, "write", full)
    with pytest.raises(OutputError, match="No space left"):
        run(earlier, tmp_path / "out", force=True, workers=workers, vault=tmp_path / "v")
    assert left(tmp_path) == ["in.jsonl", "out"]
    assert (tmp_path / "out" / "report.json").read_bytes() == before


FULL = """
import resource, signal, sys
from pathlib import Path
from piiloom.foundation.errors import OutputError
from piiloom.surrogates.inputs.parts import SourceSettings
from piiloom.surrogates.running import run_surrogates
from tests.surrogates.running_fakes import TagEngine
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
sys.dont_write_bytecode = True  # half a file would be taken for a whole one next time
resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, 20_000))
try:
    run_surrogates(SourceSettings(path=Path(sys.argv[1]), chunk_bytes=2000), Path(sys.argv[2]), TagEngine)
except OutputError as error:
    print(error)
"""


def python(code: str, *args: object) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-c", code, *map(str, args)],
        cwd=ROOT,
        text=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        start_new_session=True,
    )


def test_a_file_that_may_not_grow_leaves_nothing(tmp_path: Path) -> None:
    process = python(FULL, many(tmp_path / "in.jsonl"), tmp_path / "out")
    out, err = process.communicate(timeout=60)
    assert "the output cannot be written (File too large)" in out, err
    assert left(tmp_path) == ["in.jsonl"]


def test_ctrl_c_in_a_run_leaves_nothing(tmp_path: Path) -> None:
    def stop(progress: SurrogateProgress) -> None:
        if progress.phase == "replacing":
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run(many(tmp_path / "in.jsonl"), tmp_path / "out", workers=2, progress=stop, vault=tmp_path / "v")
    assert left(tmp_path) == ["in.jsonl"]


SLOW = """
import sys
from functools import partial
from pathlib import Path
from piiloom.surrogates.inputs.parts import SourceSettings
from piiloom.surrogates.running import run_surrogates
from tests.surrogates.running_fakes import TagEngine
if __name__ == "__main__":
    tell = lambda progress: print(progress.phase, flush=True)
    source, out = SourceSettings(path=Path(sys.argv[1]), chunk_bytes=2000), Path(sys.argv[2])
    run_surrogates(source, out, partial(TagEngine, wait_s=0.3), workers=2, progress=tell, vault=out.with_name("vault"))
"""


@pytest.mark.long
@pytest.mark.parametrize("stop", [signal.SIGINT, signal.SIGKILL])
def test_ctrl_c_ends_all_workers_and_a_killed_run_is_cleared_up(tmp_path: Path, stop: signal.Signals) -> None:
    path, script = many(tmp_path / "in.jsonl"), tmp_path / "slow.py"
    script.write_text(SLOW)
    process = subprocess.Popen(
        [sys.executable, script, path, tmp_path / "out"],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        text=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        start_new_session=True,
    )
    assert process.stdout is not None
    for line in process.stdout:
        if line.startswith("scanning"):
            break
    (partial_folder,) = tmp_path.glob(".out.partial-*")
    # Ctrl-C reaches all processes of the terminal's group; a kill only one.
    os.killpg(process.pid, stop) if stop == signal.SIGINT else process.kill()
    _, err = process.communicate(timeout=30)
    assert process.returncode == -stop, err
    assert not group_lives(process.pid)
    if stop == signal.SIGKILL:
        assert partial_folder.exists()
        assert len(list(tmp_path.glob(".vault.partial-*"))) == 1
        (tmp_path / ".of-others.partial-1").mkdir()
        run(path, tmp_path / "another-out")  # has no vault, and another name
        assert left(tmp_path) == [".of-others.partial-1", "another-out", "in.jsonl", "slow.py"]
    else:
        assert err.count("Traceback") == 1, err  # our own: none of the workers'
        assert left(tmp_path) == ["in.jsonl", "slow.py"]


def group_lives(group: int, within_s: float = 10.0) -> bool:
    end = time.monotonic() + within_s
    while time.monotonic() < end:
        try:
            os.killpg(group, 0)
        except ProcessLookupError:
            return False
        time.sleep(0.05)
    return True


def test_no_workers_are_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="at least one worker"):
        run(many(tmp_path / "in.jsonl"), tmp_path / "out", workers=0)
