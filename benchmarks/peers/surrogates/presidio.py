"""presidio-anonymizer: one AnonymizerEngine with a Faker operator a type, which gives each span a value on its own."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Any

TITLE = "presidio-anonymizer"
PACKAGE = "presidio-anonymizer"
REQUIREMENTS = ("presidio-anonymizer==2.2.366", "faker==40.54")


def measure(spec: dict[str, Any]) -> dict[str, Any]:
    """Fill the documents of the JSON lines in ``documents``: pairs of a text and its placeholders."""
    from faker import Faker
    from presidio_anonymizer import AnonymizerEngine
    from presidio_anonymizer.entities import OperatorConfig, RecognizerResult

    fake = Faker("en_US")
    fake.seed_instance(7)
    makers = {
        "PERSON": fake.name,
        "DATE_TIME": lambda: fake.date_object().isoformat(),
        "LOCATION": fake.city,
        "EMAIL_ADDRESS": fake.email,
        "PHONE_NUMBER": fake.phone_number,
        "ORG": fake.company,
    }
    operators = {name: OperatorConfig("custom", {"lambda": lambda _, make=make: make()}) for name, make in makers.items()}
    engine = AnonymizerEngine()
    with Path(spec["documents"]).open(encoding="utf-8") as lines:
        documents = [
            (text, [RecognizerResult(entity_type=theirs, start=start, end=end, score=1.0) for start, end, _, _, theirs in spans])
            for text, spans in map(json.loads, lines)
        ]
    for text, results in documents[:50]:
        engine.anonymize(text=text, analyzer_results=results, operators=operators)
    started = time.perf_counter()
    for text, results in documents:
        example = engine.anonymize(text=text, analyzer_results=results, operators=operators).text
    return {"seconds": time.perf_counter() - started, "example": example[:160]}
