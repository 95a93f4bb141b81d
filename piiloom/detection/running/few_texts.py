"""Detect in texts at hand: no files, nothing to be gone on with."""

from __future__ import annotations

from collections.abc import Sequence

from piiloom.detection.detector import ScoredSpan
from piiloom.detection.detector_settings import DetectorSettings
from piiloom.detection.findings import DetectorText, Findings
from piiloom.detection.registry import make_detector
from piiloom.detection.running.chunks import DocumentChunk, InputDocument
from piiloom.detection.running.input_settings import detection_locale
from piiloom.detection.running.model_driver import ModelDriver
from piiloom.detection.running.worker import disjoint_spans, examiner_of
from piiloom.foundation.errors import DataError
from piiloom.foundation.noop import noop


def detect_texts(texts: Sequence[str], locale: str, question: str | None, settings: DetectorSettings) -> list[list[ScoredSpan]]:
    """Return the spans of each text, in text order and without overlaps.

    Raises ``UsageError`` for an unknown locale or without consent to send the texts, and ``DataError`` if a text could not be detected.
    """
    settings.check_agreed()
    locale = detection_locale(locale, any_locale=not settings.family.catalogue)
    found = _found(texts, locale, question, settings)
    for number, one in enumerate(found, start=1):
        if one.failed is not None:
            raise DataError(f"the text was not detected: {one.failed}", where=f"text {number}")
    return [disjoint_spans(one.spans) for one in found]


def _found(texts: Sequence[str], locale: str, question: str | None, settings: DetectorSettings) -> list[Findings]:
    if not settings.waits:
        return list(examiner_of(make_detector(settings))([DetectorText(text, locale, question) for text in texts]))
    return _waited_for(texts, locale, question, settings) if texts else []


def _waited_for(texts: Sequence[str], locale: str, question: str | None, settings: DetectorSettings) -> list[Findings]:
    found: list[Findings] = []

    def take(chunk: DocumentChunk, findings: list[Findings]) -> None:
        del chunk
        found.extend(findings)

    documents = tuple(
        InputDocument(f"text {number}", text, locale, question, "texts", number) for number, text in enumerate(texts, start=1)
    )
    ModelDriver(settings).run(iter([DocumentChunk(0, 0, documents, len(texts))]), take, noop)
    return found
