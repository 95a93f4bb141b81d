"""piiloom: both passes of its engine.

Clusters, cues, balanced people, one surrogate a person, dates that move together, agreeing mail and phone, offset map.
"""

from __future__ import annotations

from typing import Any

TITLE = "piiloom"
PACKAGE = "piiloom"
REQUIREMENTS = ()


def measure(spec: dict[str, Any]) -> dict[str, Any]:
    """Fill ``count`` documents in memory; they are those of ``documents``."""
    from benchmarks.surrogates import ours

    return ours(spec["count"])
