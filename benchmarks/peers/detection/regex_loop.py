"""A loop of the package regex over the same patterns: the matching alone, without validators, context words or a choice."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Any

TITLE = "loop of regex"
PACKAGE = "regex"
REQUIREMENTS = ()


def measure(spec: dict[str, Any]) -> dict[str, Any]:
    """Run each expression of the JSON file ``patterns`` over each document."""
    import regex

    documents = json.loads(Path(spec["documents"]).read_text(encoding="utf-8"))
    patterns = json.loads(Path(spec["patterns"]).read_text(encoding="utf-8"))
    begun = time.perf_counter()
    expressions = [regex.compile(one["regex"]) for one in patterns]
    made = time.perf_counter() - begun
    begun = time.perf_counter()
    found = sum(1 for text in documents for expression in expressions for _ in expression.finditer(text))
    return {"seconds": time.perf_counter() - begun, "found": found, "made": made}
