"""The same for the guides, of whose commands many detect; and a batch is looked up soon, not after five seconds a wave."""

from __future__ import annotations

import tests.warmed  # noqa: F401 - reads
from piiloom.detection.registry import DetectorSettings, make_detector
from piiloom.execution.batches.ledger import BatchPolicy

for _locale in ("en_US", "pl_PL"):
    make_detector(DetectorSettings(detector="hybrid-offline")).detect("Ann met Bob Smith in Leeds, 601 234 567.", _locale)
BatchPolicy.__init__.__kwdefaults__["first_poll_s"] = 0.2
