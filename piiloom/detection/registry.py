"""Make detectors from their settings; the detectors "patterns" and "probe"."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any, Final, Self

from piiloom.detection.detector import Detector, Findings, ScoredSpan, TextDetector
from piiloom.detection.detector_settings import REASONED, DetectorSettings, LocalModel
from piiloom.execution.call_channel import CallPolicy
from piiloom.patterns.engine import Match, PatternEngine, engine_for
from piiloom.patterns.prefilters import Backend
from piiloom.patterns.resolving import THRESHOLD, disjoint
from piiloom.providers.protocol import Provider
from piiloom.tagging.model_folder import FAMILY, load_tagging_model
from piiloom.taxonomy.entity_types import Taxonomy


def make_detector(settings: DetectorSettings, *, provider: Provider | None = None, policy: CallPolicy | None = None) -> Detector:
    """Return the detector of *settings*; nothing is opened or sent yet. If ``settings.waits``, it is a ``detector.ModelDetector``.

    *provider* replaces that of the settings; *policy* decides how calls are retried, and receives their events. Both are for detectors
    that ask a model only.
    """
    module, _, name = settings.family.make.partition(":")
    made: Any = getattr(import_module(module), name).made
    detector: Detector = made(settings, provider, policy)
    if settings.verify is None:
        return detector
    from piiloom.detection.verifying_detector import VerifyingDetector  # noqa: PLC0415 - for those that are verified only

    assert settings.asked is not None  # noqa: S101 - checked when the settings were made
    return VerifyingDetector(
        detector, settings.asked, taxonomy=settings.taxonomy, reasoned=settings.verify == REASONED, provider=provider, policy=policy
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class PatternDetector(TextDetector):
    """Finds what the patterns of a locale describe.

    ``own`` are a user's catalogue files; ``unconfirmed`` adds types without a source, ``also`` those that are looked for on request only.
    """

    own: tuple[Path, ...] = ()
    unconfirmed: bool = False
    also: tuple[str, ...] = ()
    threshold: float = THRESHOLD
    backend: Backend = "auto"
    name: str = "patterns"

    @classmethod
    def made(cls, settings: DetectorSettings, provider: Provider | None = None, policy: CallPolicy | None = None) -> Self:  # noqa: ARG003
        """See ``make_detector``."""
        return cls(
            own=settings.types, unconfirmed=settings.unconfirmed, also=settings.also, threshold=settings.threshold, backend=settings.engine
        )

    def examine(self, text: str, locale: str, question: str | None = None) -> Findings:  # noqa: ARG002 - patterns read no question
        """Return disjoint spans in text order; nothing is set aside."""
        spans = [
            ScoredSpan(
                start=match.start,
                end=match.end,
                entity_type=match.entity.entity_type,
                subtype=match.entity.id,
                score=match.score,
                detector=self.name,
                validated=match.validated,
            )
            for match in disjoint(self.matches(text, locale), threshold=self.threshold)
        ]
        return Findings(spans=spans)

    def matches(self, text: str, locale: str) -> Sequence[Match]:
        """All matches, also overlapping and unsure ones."""
        return self.engine(locale).find(text)

    def engine(self, locale: str) -> PatternEngine:
        """The engine for texts of *locale*, with its catalogue. Raises ``UsageError`` for an unknown locale."""
        return engine_for(locale, self.own, unconfirmed=self.unconfirmed, also=frozenset(self.also), backend=self.backend)


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
