"""What a worker process may die of, beyond what an engine does: a result on its way, and a run after it."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Sequence
from multiprocessing.connection import Connection
from pathlib import Path

import pytest

from piiloom.foundation.errors import RunError
from piiloom.surrogates.documents import Document
from piiloom.surrogates.inputs.parts import SourceSettings
from piiloom.surrogates.running import run_surrogates
from tests.surrogates.running_fakes import TagEngine


class DyingWhileItSends(TagEngine):
    """Its worker is killed when a part of its result has been written to the pipe."""

    def scan(self, documents: Sequence[Document], chunk: int | None = None) -> bytes:
        def dying_send(wire: Connection, data: bytes) -> None:
            os.write(wire.fileno(), bytes(data)[:4])
            os.kill(os.getpid(), signal.SIGKILL)

        Connection._send = dying_send  # type: ignore[attr-defined]
        return super().scan(documents, chunk) + bytes(2**20)


def test_a_worker_that_dies_while_it_sends_is_told_and_nothing_waits_for_ever(tmp_path: Path) -> None:
    path = tmp_path / "in.jsonl"
    path.write_text('{"text": "[NAME]"}\n')
    with pytest.raises(RunError, match=r"in\.jsonl, lines 1 to 1: a worker process ended unexpectedly \(signal 9\)") as caught:
        run_surrogates(SourceSettings(path=path), tmp_path / "out", DyingWhileItSends, workers=2)
    assert caught.value.remedy
    assert [one.name for one in tmp_path.iterdir()] == ["in.jsonl"]


@pytest.mark.long
def test_a_run_after_a_failed_one_has_workers_of_its_own(tmp_path: Path) -> None:
    path = tmp_path / "in.jsonl"
    path.write_text('{"text": "[NAME]"}\n' * 20)
    inputs = SourceSettings(path=path, chunk_bytes=50)
    threads = threading.active_count()
    with pytest.raises(RunError, match="ended unexpectedly"):
        run_surrogates(inputs, tmp_path / "out", DyingAtOnce, workers=2)
    assert threading.active_count() == threads
    assert run_surrogates(inputs, tmp_path / "out", TagEngine, workers=2).documents == 20
    assert threading.active_count() == threads


class DyingAtOnce(TagEngine):
    """Its worker ends with an exit code of its own."""

    def scan(self, documents: Sequence[Document], chunk: int | None = None) -> bytes:
        del documents, chunk
        os._exit(3)
