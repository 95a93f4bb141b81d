"""A process that works on a fine-tuning job and kills itself at a write of the ledger: ``python -m … FOLDER WHEN NUMBER``.

WHEN is "before", "amid" or "after" the NUMBER-th write (from 1); "never": it is killed from outside, if at all.
"""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from piiloom.detection.training.tuning_job import Ledger
from tests.detection.tuning_jobs import in_session

_write = Ledger.append


def main() -> None:
    folder, when, number = Path(sys.argv[1]), sys.argv[2], int(sys.argv[3])
    written = 0

    def write(self: Ledger, *rows: Mapping[str, Any]) -> None:
        nonlocal written
        written += 1
        if written == number and when == "before":
            os.kill(os.getpid(), signal.SIGKILL)
        if written == number and when == "amid":
            with (folder / "ledger.jsonl").open("ab") as fh:
                fh.write(b'{"at": 1795802065.1, "step": "cre')
            os.kill(os.getpid(), signal.SIGKILL)
        _write(self, *rows)
        if written == number and when == "after":
            os.kill(os.getpid(), signal.SIGKILL)

    Ledger.append = write
    in_session(folder, lambda session: session.run(budget_usd=1), timeout_s=30)


if __name__ == "__main__":
    main()
