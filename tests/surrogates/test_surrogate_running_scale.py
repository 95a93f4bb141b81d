"""Long tests: flat memory on a large file, one very long line, and Ray."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import pytest

from piiloom.foundation.errors import DataError, OutputError, RunError
from piiloom.surrogates.inputs.parts import SourceSettings
from piiloom.surrogates.outputs.checking import verify_folder
from piiloom.surrogates.running import run_surrogates
from tests.longer import EXPLORE, usually
from tests.one_at_a_time import alone_with_ray
from tests.surrogates.running_fakes import TagEngine

pytestmark = pytest.mark.long

ROOT = Path(__file__).parents[2]
RUN = """
import sys
from pathlib import Path
from piiloom.surrogates.inputs.parts import SourceSettings
from piiloom.surrogates.running import run_surrogates
from tests.surrogates.running_fakes import TagEngine
if __name__ == "__main__":
    print(run_surrogates(SourceSettings(path=Path(sys.argv[1])), Path(sys.argv[2]), TagEngine, workers=2).documents)
"""


@pytest.fixture
def _only_ray(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    with alone_with_ray(tmp_path_factory):
        yield


def large(path: Path, megabytes: int) -> int:
    """A JSONL file of about so many megabytes; gives its rows."""
    rows, size = 0, 0
    with path.open("w", encoding="utf-8") as fh:
        while size < megabytes << 20:
            text = f"row {rows} " + "".join(f"word {number} lorem ipsum dolor [NAME] sit amet, " for number in range(rows % 40))
            size += fh.write(json.dumps({"id": f"r{rows}", "text": text}) + "\n")
            rows += 1
    return rows


def peaks(group: int, stop: threading.Event, found: dict[int, int]) -> None:
    """The highest resident size (MB) of each process of the group, while they live."""
    while not stop.wait(0.2):
        for entry in Path("/proc").iterdir():
            if entry.name.isdecimal():
                try:
                    if os.getpgid(int(entry.name)) == group:
                        status = (entry / "status").read_text()
                        found[int(entry.name)] = int(status.split("VmHWM:")[1].split()[0]) // 1024
                except (OSError, IndexError):
                    continue


def test_memory_stays_flat(tmp_path: Path) -> None:
    path, script = tmp_path / "in.jsonl", tmp_path / "run.py"
    rows = large(path, 120 if EXPLORE else 40)
    script.write_text(RUN)
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    command = [sys.executable, str(script), str(path), str(tmp_path / "out")]
    process = subprocess.Popen(command, cwd=ROOT, env=environment, text=True, stdout=subprocess.PIPE, start_new_session=True)
    found: dict[int, int] = {}
    stop = threading.Event()
    watcher = threading.Thread(target=peaks, args=(process.pid, stop, found))
    watcher.start()
    out, _ = process.communicate(timeout=500)
    stop.set()
    watcher.join()
    assert int(out) == rows
    assert len(found) >= 3
    assert max(found.values()) <= (250 if EXPLORE else 120), found  # 70 for no rows at all
    with (tmp_path / "out" / "map.jsonl").open() as fh:
        assert sum(1 for _ in fh) == rows


def test_a_long_line_full_of_placeholders(tmp_path: Path) -> None:  # other formats, sparser: test_surrogate_bad_input.py
    megabytes = 50 if EXPLORE else 15
    number = megabytes * 1_000_000 // 24
    text = "word [NAME] lorem ipsum " * number
    path = tmp_path / "in.json"
    path.write_text(f'[{{"text": "{text}"}}]')
    start = time.monotonic()
    report = run_surrogates(SourceSettings(path=path), tmp_path / "out", TagEngine, workers=2)
    assert (report.documents, report.replaced) == (1, number)
    assert time.monotonic() - start < 4 * megabytes


@pytest.mark.usefixtures("_only_ray")
def test_ray_tells_errors_of_its_workers_as_they_are(tmp_path: Path) -> None:
    pytest.importorskip("ray", reason="needs the extra [ray]: pip install -e '.[ray]'")
    path = tmp_path / "in.jsonl"
    path.write_text("".join(json.dumps({"text": f"[NAME] word {number}"}) + "\n" for number in range(500)))
    expected = {
        "breaks": (OutputError, "No space left on device"),
        "refuses": (DataError, "in.jsonl:401"),
        "dies": (RunError, "a Ray worker failed"),
    }
    for how in usually(expected, {"refuses", "dies"}):  # each starts a Ray; one error of ours comes as another does
        kind, words = expected[how]
        factory = partial(TagEngine, fault=f"scan {how}", at="word 400")
        with pytest.raises(kind, match=words):
            run_surrogates(SourceSettings(path=path, chunk_bytes=2000), tmp_path / "out", factory, workers=None, ray=True)
        assert [one.name for one in tmp_path.iterdir()] == ["in.jsonl"]


@pytest.mark.usefixtures("_only_ray")
def test_ray_gives_the_same_bytes(tmp_path: Path) -> None:
    pytest.importorskip("ray", reason="needs the extra [ray]: pip install -e '.[ray]'")
    path = tmp_path / "in.jsonl"
    large(path, 2)
    settings = SourceSettings(path=path, chunk_bytes=100_000)
    run_surrogates(settings, tmp_path / "one", TagEngine)
    run_surrogates(settings, tmp_path / "ray", TagEngine, workers=None, ray=True)
    for name in ("records.jsonl", "map.jsonl", "report.json", "mirror/in.jsonl"):
        assert (tmp_path / "ray" / name).read_bytes() == (tmp_path / "one" / name).read_bytes()
    verify_folder(tmp_path / "ray", path)
