"""Detect in texts at hand: no files, nothing to be gone on with."""

from __future__ import annotations

from collections.abc import Sequence

from piiloom.detection.detector import ScoredSpan
from piiloom.detection.findings import Findings
from piiloom.detection.registry import DetectorSettings, make_detector
from piiloom.detection.running.chunks import Chunk
from piiloom.detection.running.documents import Document
from piiloom.detection.running.model_driver import ModelDriver
from piiloom.detection.running.native_lines import disjoint_spans
from piiloom.foundation.noop import noop
from piiloom.taxonomy.entities.entity_catalogue import known_locale


def detect_texts(texts: Sequence[str], locale: str, question: str | None, settings: DetectorSettings) -> list[list[ScoredSpan]]:
    """Return the spans of each text, in text order and without overlaps. Raises ``UsageError`` for an unknown locale."""
    locale = known_locale(locale)
    if settings.model is None:
        detector = make_detector(settings)
        return [disjoint_spans(detector.detect(text, locale, question)) for text in texts]
    found: list[list[ScoredSpan]] = []

    def take(chunk: Chunk, findings: list[Findings]) -> None:
        del chunk
        found.extend(disjoint_spans(one.spans) for one in findings)

    if texts:
        documents = tuple(Document(f"text {number}", text, locale, question, "texts", number) for number, text in enumerate(texts, start=1))
        ModelDriver(settings).run(iter([Chunk(0, 0, documents, len(texts))]), take, noop)
    return found
