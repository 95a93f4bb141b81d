"""What every contestant is asked to do: one call an item, a rendered template, a JSON reply held to a schema, kept.

A prompt is about 400 tokens, a reply about 100. The case number in it is how the server tells prompts apart.
"""

from __future__ import annotations

import json
import random
from collections.abc import Mapping
from pathlib import Path
from typing import Any

MODEL = "bench-1"
MAX_TOKENS = 512

SYSTEM = """\
You write parts of texts for a synthetic corpus of what people post, mail and say when they need advice. Every writer is \
invented, and so is everything that is said about them. Write plainly, in the manner that is asked for, and never speak of \
the task, of a corpus, or of being an assistant. Keep each given value exactly as it is spelt, mention it once and in a \
place where changing it would change the best advice, and disclose nothing else about the writer: no age, place, name, \
date, job, illness, amount or family member that was not given. Answer with JSON only, no fence and no comment: an object \
with the keys case, title, sentences, mood and confidence, where sentences is a list of two to four strings."""

TEMPLATE = """\
This is {{ case }} of the series.

Thread: {{ subtopic }}, under {{ topic }}.
Values that must appear, each exactly once and unchanged:
- {{ first_value }} ({{ first_type }}, of the writer)
- {{ second_value }} ({{ second_type }}, of the writer's {{ subject }})

Write two to four sentences in English, {{ low }} to {{ high }} words in all, spoken by the writer as "I" in the manner of a \
{{ register }}. They state a problem the writer is stuck with, such that changing any of the values would change the best \
advice, with one vivid, concrete detail that a reader would remember. Do not ask anything yet; the question comes later and \
is written by someone else. Do not begin with "I am" or with the values themselves, since too many texts of the series do. \
Give the case as it stands in the first line, a title of at most eight words, the mood as one of calm, worried, angry or \
hopeful, and between 0 and 1 how sure you are that both values matter."""

SCHEMA: Mapping[str, Any] = {
    "type": "object",
    "properties": {
        "case": {"type": "string", "pattern": "^case-[0-9]{6}$"},
        "title": {"type": "string", "minLength": 1, "maxLength": 120},
        "sentences": {"type": "array", "items": {"type": "string", "minLength": 1}, "minItems": 2, "maxItems": 4},
        "mood": {"type": "string", "enum": ["calm", "worried", "angry", "hopeful"]},
        "confidence": {"type": "number", "minimum": 0, "maximum": 1},
    },
    "required": ["case", "title", "sentences", "mood", "confidence"],
    "additionalProperties": False,
}

_TOPICS = ("moving out", "a new contract", "night shifts", "a late diagnosis", "an inheritance", "a failed exam", "a visa", "school places")
_SUBTOPICS = ("who pays first", "what to tell the others", "how long to wait", "which office to write to", "whether to appeal")
_VALUES = (
    ("air traffic controller", "occupation"),
    ("coeliac disease", "health"),
    ("41", "age"),
    ("Leeuwarden", "location"),
    ("master's in hydrology", "education"),
    ("EUR 1,850 a month", "finance"),
    ("Quaker", "belief"),
    ("2 March 2019", "datetime"),
)
_SUBJECTS = ("mother", "flatmate", "son", "cousin", "husband")
_REGISTERS = ("forum post", "letter to a friend", "support ticket", "voice note")


def item(number: int) -> dict[str, Any]:
    """The variables of item *number*."""
    rng = random.Random(number)
    (first_value, first_type), (second_value, second_type) = rng.sample(_VALUES, 2)
    return {
        "case": f"case-{number:06d}",
        "topic": rng.choice(_TOPICS),
        "subtopic": rng.choice(_SUBTOPICS),
        "first_value": first_value,
        "first_type": first_type,
        "second_value": second_value,
        "second_type": second_type,
        "subject": rng.choice(_SUBJECTS),
        "register": rng.choice(_REGISTERS),
        "low": 30,
        "high": 60 + rng.randrange(20),
    }


def write_spec(folder: Path, base_url: str, *, calls: int, concurrency: int, options: Mapping[str, Any]) -> Path:
    """Write what a driver reads: where to ask, what, how many at once, and where its rows and its own state go."""
    items = folder / "items.jsonl"
    items.write_text("".join(json.dumps(item(number)) + "\n" for number in range(calls)), encoding="utf-8")
    spec = {
        "base_url": base_url,
        "model": MODEL,
        "max_tokens": MAX_TOKENS,
        "system": SYSTEM,
        "template": TEMPLATE,
        "schema": SCHEMA,
        "items": str(items),
        "calls": calls,
        "concurrency": concurrency,
        "state": str(folder / "state"),
        "rows": str(folder / "rows.jsonl"),
        "result": str(folder / "result.json"),
        **options,
    }
    (folder / "state").mkdir(exist_ok=True)
    path = folder / "spec.json"
    path.write_text(json.dumps(spec), encoding="utf-8")
    return path
