"""What each phase of the hybrid detectors adds, by locale, on documents of the benchmark.

    python -m benchmarks.detection.phase_gains [--documents 24] [--locale pl_PL …] [--detector hybrid-offline|simulated] [--missed 0.1 …]

Prints a line for each locale and number of phases: precision, recall and F1 of exact places with catalogue types, with the 15 types, and
nervaluate's strict, exact and type F1 (as ``piiloom evaluate`` counts them, with catalogue types). With "simulated", a model that knows
the gold errs at the rates given (``simulated_llm``): no figure of a real model.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import fields
from itertools import islice
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from benchmarks.detection.simulated_llm import ErrorRates, SimulatedLLM
from piiloom.corpus.record import Record, Span
from piiloom.detection.benchmark.benchmark_options import BenchmarkOptions
from piiloom.detection.benchmark.making import BenchmarkCounts, make_benchmark
from piiloom.detection.detector import Findings, ScoredSpan
from piiloom.detection.detector_settings import DetectorSettings
from piiloom.detection.hybrid.hybrid_detectors import HybridDetector
from piiloom.detection.registry import make_detector
from piiloom.evaluation.inputs.documents import AnnotatedDocument, AnnotatedMention
from piiloom.evaluation.schemes.base import OVERALL, Scheme, SchemeSettings
from piiloom.evaluation.schemes.registry import make_scheme
from piiloom.taxonomy.entities.entity_catalogue import LOCALES, find_shipped

_AT_ONCE = 64


def main() -> None:
    arguments = _arguments()
    locales = arguments.locale or LOCALES
    documents = [
        one.record for one in make_benchmark(BenchmarkOptions(locales=tuple(locales), documents=arguments.documents), BenchmarkCounts())
    ]
    rates = ErrorRates(**{one.name: getattr(arguments, one.name) for one in fields(ErrorRates)})
    if arguments.detector == "simulated":
        print(json.dumps({"simulated model, wrong": str(rates), "seed": arguments.seed}))
    for phases in range(4):
        started = time.perf_counter()
        found = examined(documents, phases, arguments.detector, rates, arguments.seed)
        seconds = time.perf_counter() - started
        for locale in (*locales, "all"):
            here = [(record, one) for record, one in zip(documents, found, strict=True) if locale in (record.locale, "all")]
            print(json.dumps({"locale": locale, "phases": phases, "documents": len(here), **figures(here)}))
        aside = Counter(f"{one.phase} {one.reason}" for findings in found for one in findings.set_aside)
        print(json.dumps({"phases": phases, "documents_per_s": round(len(documents) / seconds, 1), "set_aside": dict(aside.most_common())}))
    if arguments.by_type:
        _print_types(documents, found)


def examined(documents: Sequence[Record], phases: int, detector: str, rates: ErrorRates, seed: int) -> list[Findings]:
    """The findings of *documents* with the first *phases*."""
    if detector == "simulated":
        with TemporaryDirectory() as folder:  # replies kept there are not those of other rates
            return asyncio.run(_with_model(documents, phases, rates, seed, Path(folder) / "store.duckdb"))
    made: Any = make_detector(DetectorSettings(detector="hybrid-offline", phases=phases))
    return [made.examine(record.context, record.locale) for record in documents]


async def _with_model(documents: Sequence[Record], phases: int, rates: ErrorRates, seed: int, store: Path) -> list[Findings]:
    settings = DetectorSettings(detector="hybrid", phases=phases, provider="openai", model="knows-the-gold", replies=store, unpriced=True)
    detector = make_detector(settings, provider=SimulatedLLM(documents, rates, seed=seed))
    assert isinstance(detector, HybridDetector)
    found: list[Findings] = []
    left = iter(documents)
    async with detector:
        while batch := list(islice(left, _AT_ONCE)):
            under_way = [detector.examine_async(record.context, str(record.locale), item_id=record.id) for record in batch]
            found += await asyncio.gather(*under_way)
    return found


def figures(pairs: Sequence[tuple[Record, Findings]]) -> dict[str, float]:
    """Precision, recall and F1 of *pairs*, in several senses."""
    by_id = _scored("exact", pairs, catalogue=True)
    by_type = _scored("exact", pairs, catalogue=False)
    semeval = _scored("nervaluate", pairs, catalogue=True)
    return {
        **{name: by_id[name] for name in ("precision", "recall", "f1")},
        "f1_15_types": by_type["f1"],
        **{f"nervaluate_{name}": semeval[name] for name in ("f1", "exact_f1", "type_f1")},
    }


def _scored(name: str, pairs: Sequence[tuple[Record, Findings]], *, catalogue: bool) -> dict[str, float]:
    scheme: Scheme = make_scheme(name, SchemeSettings())
    totals = np.zeros(len(scheme.columns))
    for record, findings in pairs:
        gold, found = (_document(record, spans, catalogue=catalogue) for spans in (record.spans, findings.spans))
        totals += np.asarray(scheme.count(gold, found)[OVERALL], dtype=float)
    return {figure: round(float(value), 4) for figure, value in scheme.figures(totals).items()}


def _document(record: Record, spans: Sequence[Any], *, catalogue: bool) -> AnnotatedDocument:
    mentions = tuple(
        AnnotatedMention(
            text=record.context[one.start : one.end],
            entity_type=_general(one.subtype) if catalogue else one.entity_type,
            start=one.start,
            end=one.end,
        )
        for one in spans
    )
    return AnnotatedDocument(where=record.id, id=record.id, text=record.context, mentions=mentions)


def _general(entity: str | None) -> str:
    """The entity that *entity* is a form of, as pl_phone is of phone: to name either is right."""
    found = find_shipped(entity or "")
    return found.form_of if found is not None and found.form_of else str(entity)


def _print_types(documents: Sequence[Record], found: Sequence[Findings]) -> None:
    counts: dict[str, Counter[str]] = {}
    for record, findings in zip(documents, found, strict=True):
        gold = {_key(one) for one in record.spans}
        mine = {_key(one) for one in findings.spans}
        for name, keys in (("tp", gold & mine), ("fn", gold - mine), ("fp", mine - gold)):
            for key in keys:
                counts.setdefault(str(key[2]), Counter())[name] += 1
    for kind, one in sorted(counts.items(), key=lambda item: -(item[1]["fn"] + item[1]["fp"])):
        print(json.dumps({"type": kind, **{name: one[name] for name in ("tp", "fp", "fn")}}))


def _key(span: ScoredSpan | Span) -> tuple[int, int, str]:
    return span.start, span.end, _general(span.subtype)


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--documents", type=int, default=24)
    parser.add_argument("--locale", action="append")
    parser.add_argument("--detector", choices=("hybrid-offline", "simulated"), default="hybrid-offline")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--by-type", action="store_true", help="errors by catalogue type, with all phases")
    for one in fields(ErrorRates):
        parser.add_argument(f"--{one.name}", type=float, default=one.default)
    return parser.parse_args()


if __name__ == "__main__":
    main()
