"""Fill a JSONL file with presidio-anonymizer and Faker, as one writes it for oneself: python fill_lines.py IN.jsonl OUT.jsonl."""

import json
import sys
from pathlib import Path

from faker import Faker
from presidio_anonymizer import AnonymizerEngine
from presidio_anonymizer.entities import OperatorConfig, RecognizerResult

fake = Faker("en_US")
makers = {"PERSON": fake.name, "DATE_TIME": fake.date, "LOCATION": fake.city}
makers |= {"EMAIL_ADDRESS": fake.email, "PHONE_NUMBER": fake.phone_number, "ORG": fake.company}
operators = {name: OperatorConfig("custom", {"lambda": lambda _, make=make: make()}) for name, make in makers.items()}
engine = AnonymizerEngine()
with Path(sys.argv[1]).open(encoding="utf-8") as lines, Path(sys.argv[2]).open("w", encoding="utf-8") as out:
    for row in map(json.loads, lines):
        results = [RecognizerResult(entity_type=name, start=start, end=end, score=1.0) for start, end, name in row["spans"]]
        row["text"] = engine.anonymize(text=row["text"], analyzer_results=results, operators=operators).text
        out.write(json.dumps(row) + "\n")
