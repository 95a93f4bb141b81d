"""presidio-analyzer, pattern recognizers only: one for each of our entities, with the same expressions, scores and context words."""

from __future__ import annotations

import json
import time
from itertools import groupby
from pathlib import Path
from typing import Any

TITLE = "presidio-analyzer, patterns only"
PACKAGE = "presidio-analyzer"
REQUIREMENTS = ("presidio-analyzer==2.2.366", "spacy>=3.8,<4")


def measure(spec: dict[str, Any]) -> dict[str, Any]:
    """Analyze the documents with an AnalyzerEngine whose NLP engine is a blank pipeline of spaCy."""
    import spacy
    from presidio_analyzer import AnalyzerEngine, Pattern, PatternRecognizer, RecognizerRegistry
    from presidio_analyzer.nlp_engine import SpacyNlpEngine

    class Blank(SpacyNlpEngine):
        def __init__(self) -> None:
            super().__init__()
            self.nlp = {"en": spacy.blank("en")}

    documents = json.loads(Path(spec["documents"]).read_text(encoding="utf-8"))
    patterns = json.loads(Path(spec["patterns"]).read_text(encoding="utf-8"))
    begun = time.perf_counter()
    registry = RecognizerRegistry(supported_languages=["en"])
    for entity, group in groupby(patterns, key=lambda one: one["entity"]):
        listed = list(group)
        made = [Pattern(f"{entity}-{number}", one["re"], one["score"]) for number, one in enumerate(listed)]
        registry.add_recognizer(PatternRecognizer(entity, patterns=made, context=listed[0]["context"], supported_language="en"))
    analyzer = AnalyzerEngine(registry=registry, nlp_engine=Blank(), supported_languages=["en"])
    seconds = time.perf_counter() - begun
    for text in documents[:5]:
        analyzer.analyze(text, language="en")
    limited = documents[: spec["most"]]
    begun = time.perf_counter()
    found = sum(len(analyzer.analyze(text, language="en")) for text in limited)
    spent = time.perf_counter() - begun
    return {"seconds": spent * len(documents) / len(limited), "found": found, "made": seconds}
