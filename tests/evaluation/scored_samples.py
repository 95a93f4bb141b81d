"""Short ways to write samples down, and both files of CAPID as documents."""

from __future__ import annotations

import json

from piiloom.evaluation.inputs.documents import AnnotatedDocument, AnnotatedMention, Pair
from piiloom.evaluation.schemes.base import SchemeSettings
from piiloom.evaluation.schemes.registry import make_scheme
from piiloom.evaluation.scoring.counts import CountTable
from tests.shared_files import shared

REAL = shared("data/capid")
REAL_FILES = ("raw_pipeline_sample.jsonl", "validated_sample.jsonl")
_RELEVANCES = {"1": "high", "0": "low", "high": "high", "low": "low"}


def values(*entries, malformed=0):
    """A document of values: each a text, or (text, type), or (text, type, relevance)."""
    full = [(entry,) if isinstance(entry, str) else entry for entry in entries]
    mentions = [
        AnnotatedMention(text=text, entity_type=rest[0] if rest else "name", relevance=(*rest, None, None)[1]) for text, *rest in full
    ]
    return AnnotatedDocument(where="x:1", mentions=tuple(mentions), malformed=malformed)


def places(*entries):
    """A document of places: each (start, end), or (start, end, type), or (start, end, type, relevance)."""
    full = [(*entry, "name", None)[:4] if len(entry) == 2 else (*entry, None)[:4] for entry in entries]
    mentions = [AnnotatedMention(text="x", entity_type=kind, start=start, end=end, relevance=said) for start, end, kind, said in full]
    return AnnotatedDocument(where="x:1", mentions=tuple(mentions))


def table(name, *pairs, **options):
    """The counts of (gold, predicted) documents."""
    counted = CountTable(make_scheme(name, SchemeSettings(**options)))
    for gold, found in pairs:
        counted.add(Pair(gold=gold, found=found))
    return counted


def scored(name, *pairs, **options):
    """The figures of (gold, predicted) documents."""
    return table(name, *pairs, **options).overall()


def of_type(counted, name):
    """The figures of one type."""
    return {key: float(value) for key, value in counted.scheme.figures(counted.by_type[name]).items()}


def real_rows(name):
    """The values of each row of a CAPID file: (text, type, relevance), in the order of the file."""
    with (REAL / name).open(encoding="utf-8") as lines:
        for line in lines:
            piis = json.loads(line)["piis"]
            yield [(text, entry["type"], _RELEVANCES[entry["relevance"]]) for text, entry in piis.items()]
