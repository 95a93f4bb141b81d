"""piiloom: the exact index that screening and splits use."""

from __future__ import annotations

import time
from typing import Any

TITLE = "piiloom"
PACKAGE = "piiloom"
REQUIREMENTS = ()


def measure(spec: dict[str, Any]) -> dict[str, Any]:
    """Index ``originals`` and look up ``copies`` (texts by id): the ids of the copies whose original was found."""
    from piiloom.corpus.near_duplicates import NearDuplicateIndex

    started = time.process_time()
    index = NearDuplicateIndex(spec["threshold"])
    for key, text in spec["originals"].items():
        index.add(key, text)
    found = [key for key, text in spec["copies"].items() if key.removeprefix("copy ") in index.similar(text)]
    return {"found": found, "cpu_s": time.process_time() - started}
