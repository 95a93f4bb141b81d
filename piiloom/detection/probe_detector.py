"""The detector that ``piiloom probe --out`` trained: a CRF finds spans, a regression judges their relevance to a question."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from piiloom.detection.detector import Findings, ScoredSpan, TextDetector
from piiloom.detection.detector_settings import LocalModel
from piiloom.tagging.model_folder import FAMILY, load_tagging_model
from piiloom.taxonomy.entity_types import Taxonomy

# More tells nothing, and the CRF's last digits may differ between machines.
_DIGITS: Final = 4


class ProbeDetector(TextDetector):
    """Finds what the model *local* has learnt, in any language; a score is the probability that extent and type of the span are right.

    Raises ``UsageError`` and ``DataError`` for a folder that cannot be used.
    """

    name = FAMILY

    def __init__(self, local: LocalModel, *, threshold: float, taxonomy: Taxonomy | None = None) -> None:  # noqa: ARG002 - it has its own
        self._model, self._threshold = load_tagging_model(Path(local.model_path)), threshold

    def examine(self, text: str, locale: str, question: str | None = None) -> Findings:  # noqa: ARG002 - it has learnt what it has learnt
        """Return disjoint spans in text order, with a relevance if there is a *question*."""
        spans = [
            ScoredSpan(
                start=one.start,
                end=one.end,
                entity_type=one.entity_type,
                subtype=None,
                score=round(one.score, _DIGITS),
                detector=self.name,
                relevance=one.relevance,
                relevance_score=None if one.high_score is None else round(one.high_score, _DIGITS),
            )
            for one in self._model.tag(text, question, threshold=self._threshold)
        ]
        return Findings(spans=spans)
