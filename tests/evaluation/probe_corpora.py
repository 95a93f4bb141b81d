"""Small corpora for the tests of the probe: a few dozen short texts that can be learnt, in both layouts."""

from __future__ import annotations

import json
import random
from pathlib import Path

_JOBS = ("pool cleaner", "nurse", "welder", "air traffic controller", "baker")
_CITIES = ("Leeds", "Porto Alegre", "Oslo", "Winnipeg")
_QUESTIONS = ("Should I look for a job near home?", "Did my age matter for this loan?", "Can I move to that city?", "Is this normal?")
_FRAMES = (
    "I am {age} and work as a {job} in {city}.",
    "As a {job} from {city}, I can't sleep. My {age}th birthday was dull.",
    "They said a {job} of {age} should leave {city}! Well…",
)


def native_row(seed: int) -> dict:
    """One native row; equal for equal seeds."""
    rng = random.Random(seed)
    values = {"age": str(rng.randint(18, 90)), "job": rng.choice(_JOBS), "city": rng.choice(_CITIES)}
    frame, question = rng.choice(_FRAMES), rng.choice(_QUESTIONS)
    context = frame.format(**values)
    wanted = {"job": "job", "age": "age", "city": "city"}
    types = {"age": "age", "job": "occupation", "city": "sexual_orientation" if rng.random() < 0.05 else "location"}
    spans = [
        {
            "start": context.index(value),
            "end": context.index(value) + len(value),
            "type": types[name],
            "relevance": "high" if wanted[name] in question else "low",
        }
        for name, value in values.items()
    ]
    return {"context": context, "question": question, "spans": sorted(spans, key=lambda span: span["start"])}


def capid_row(seed: int) -> dict:
    """The same as a CAPID row."""
    row = native_row(seed)
    context = row["context"]
    piis = {
        context[span["start"] : span["end"]]: {
            "type": span["type"].replace("_", " "),
            "relevance": "1" if span["relevance"] == "high" else "0",
        }
        for span in row["spans"]
    }
    return {"context": context, "question": row["question"], "piis": piis}


def write_rows(path: Path, rows: list) -> Path:
    """Write *rows* as JSON lines."""
    path.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows), encoding="utf-8")
    return path


# Rows that the shared tool reads in ways of its own: places, overlaps, relevances, empty things.
ODD_ROWS = [
    {"context": "Anna an Ann, annex 5 of 55.", "question": None, "piis": {"an": {"type": "name", "relevance": "0"}}},
    {
        "context": "Anna, 55, has 5 welders.",
        "question": "Did Anna do it?",
        "piis": {
            "Ann": {"type": "name", "relevance": 1},
            "5": {"type": "code", "relevance": "low"},
            "welder": {"type": "occupation", "relevance": "high"},
            "welders": {"type": "occupation", "relevance": True},
            "Oslo": {"type": "location", "relevance": "1"},
            "has": {"type": "health", "relevance": "medium"},
            "55": {"type": "age"},
        },
    },
    {"context": "", "question": "", "spans": []},
    {"context": "Nobody here is 40…", "question": "Well?", "spans": []},
    {
        "context": "I’m a nurse-in-training from New_York, aged 40.",
        "question": "What would a nurse do?",
        "spans": [
            {"start": 6, "end": 23, "type": "occupation", "relevance": None},
            {"start": 6, "end": 11, "type": "occupation", "relevance": "high"},
            {"start": 29, "end": 32, "type": "sexual_orientation", "relevance": 0},
            {"start": 33, "end": 37, "type": "location"},
            {"start": 44, "end": 46, "type": "age", "relevance": "1"},
        ],
    },
]
