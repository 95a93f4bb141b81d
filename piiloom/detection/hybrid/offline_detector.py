"""The three phases without a model: the detector "hybrid-offline"."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from piiloom.detection.detector import ScoredSpan
from piiloom.detection.findings import Findings
from piiloom.detection.hybrid.offline.offline_reader import read_by_rules
from piiloom.detection.hybrid.phases import PhaseSettings, TextUnderWay
from piiloom.detection.hybrid.places import by_context
from piiloom.detection.hybrid.short_numbers import by_cues


@dataclass(frozen=True, slots=True, kw_only=True)
class OfflineDetector:
    """Rules stand in for the model: labels, a names index, cue words and word lists find; context words settle and confirm."""

    settings: PhaseSettings
    name: str = "hybrid-offline"

    def detect(self, text: str, locale: str, question: str | None = None) -> Sequence[ScoredSpan]:
        """Return disjoint spans in text order; see ``Detector``."""
        return self.examine(text, locale, question).spans

    def examine(self, text: str, locale: str, question: str | None = None) -> Findings:  # noqa: ARG002 - rules read no question
        """As ``detect``, with what was set aside."""
        under_way, phases = TextUnderWay(text, locale, self.settings), self.settings.phases
        if phases > 0:
            under_way.add(read_by_rules(under_way))
        if phases > 1:
            under_way.settle([(question, by_context(question)) for question in under_way.ambiguities()])
        if phases > 2:
            against = under_way.catalogue.against
            under_way.confirm([check for check in under_way.checks() if not by_cues(check, against)])
        return under_way.findings()
