"""The detector that ``piiloom probe --out`` trained: a CRF finds spans, a regression judges their relevance to a question."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from piiloom.detection.detector import ScoredSpan
from piiloom.detection.detector_settings import DetectorSettings
from piiloom.execution.call_channel import CallPolicy
from piiloom.providers.protocol import Provider
from piiloom.tagging.model import TaggedSpan, TaggingModel
from piiloom.tagging.model_folder import FAMILY, load_tagging_model

# More tells nothing, and the CRF's last digits may differ between machines.
_DIGITS: Final = 4


@dataclass(frozen=True, slots=True, kw_only=True)
class ProbeDetector:
    """Finds what *model* has learnt, in any language; a score is the probability that the span is right, in extent and type."""

    model: TaggingModel = field(repr=False)
    threshold: float
    name: str = FAMILY

    def detect(self, text: str, locale: str, question: str | None = None) -> Sequence[ScoredSpan]:  # noqa: ARG002 - it has learnt what it has learnt
        """Return disjoint spans in text order, with a relevance if there is a *question*; see ``Detector``."""
        return [self._span(one) for one in self.model.tag(text, question, threshold=self.threshold)]

    def _span(self, found: TaggedSpan) -> ScoredSpan:
        return ScoredSpan(
            start=found.start,
            end=found.end,
            entity_type=found.entity_type,
            subtype=None,
            score=round(found.score, _DIGITS),
            detector=self.name,
            relevance=found.relevance,
            relevance_score=None if found.high_score is None else round(found.high_score, _DIGITS),
        )


def make(settings: DetectorSettings, provider: Provider | None = None, policy: CallPolicy | None = None) -> ProbeDetector:
    """See ``registry.Make``. Raises ``UsageError`` and ``DataError`` for a folder that cannot be used."""
    del provider, policy
    assert settings.local is not None  # noqa: S101 - checked when the settings were made
    return ProbeDetector(model=load_tagging_model(Path(settings.local.model_path)), threshold=settings.threshold)
