"""piiloom's pattern engine: all patterns of a locale in one pass, validators and context words included."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Any

TITLE = "piiloom"
PACKAGE = "piiloom"
REQUIREMENTS = ()


def measure(spec: dict[str, Any]) -> dict[str, Any]:
    """Find and resolve in the documents of the JSON file ``documents``."""
    from piiloom.patterns.engine import engine_for
    from piiloom.patterns.resolving import disjoint

    documents = json.loads(Path(spec["documents"]).read_text(encoding="utf-8"))
    begun = time.perf_counter()
    engine = engine_for(spec["locale"], backend=spec.get("backend", "hyperscan"))
    made = time.perf_counter() - begun
    for text in documents[:50]:
        engine.find(text)
    begun = time.perf_counter()
    found = sum(len(disjoint(engine.find(text))) for text in documents)
    return {"seconds": time.perf_counter() - begun, "found": found, "made": made}
