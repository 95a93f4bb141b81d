"""piiloom's detectors without a model: the patterns alone, or the three phases with their offline stand-ins."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Any

TITLE = "piiloom"
PACKAGE = "piiloom"
REQUIREMENTS = ()


def measure(spec: dict[str, Any]) -> dict[str, Any]:
    """Detect in the texts of the JSON file ``texts`` with the detector ``detector``."""
    from piiloom.detection.detector_settings import DetectorSettings
    from piiloom.detection.registry import make_detector

    detector = make_detector(DetectorSettings(detector=spec["detector"]))
    texts = json.loads(Path(spec["texts"]).read_text(encoding="utf-8"))
    detector.detect(texts[0], "en_US")
    begun = time.perf_counter()
    found = [[(one.start, one.end, one.entity_type) for one in detector.detect(text, "en_US")] for text in texts]
    return {"seconds": time.perf_counter() - begun, "spans": found}
