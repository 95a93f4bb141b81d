"""Detectors by name."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final

from piiloom.detection.detector import Detector
from piiloom.detection.hybrid.model_settings import ModelSettings
from piiloom.detection.pattern_detector import PatternDetector
from piiloom.execution.call_channel import CallPolicy
from piiloom.foundation.errors import UsageError
from piiloom.patterns.prefilters import Backend
from piiloom.patterns.resolving import THRESHOLD
from piiloom.providers.protocol import Provider

PATTERNS: Final = "patterns"
HYBRID: Final = "hybrid"
OFFLINE: Final = "hybrid-offline"
PHASES: Final = 3
CHUNK: Final = 4000
_LEAST_CHUNK: Final = 200


@dataclass(frozen=True, slots=True, kw_only=True)
class DetectorSettings:
    """Which detector, and how it is set. Pickles, so that each worker can make its own.

    ``threshold``: spans with a lower score are not told. ``own`` are a user's catalogue files; ``unconfirmed`` adds types whose format no
    source confirmed. ``engine`` is what prefilters patterns. ``phases``: how many of the three phases the hybrid detectors take; 0 gives
    what the patterns alone give. ``chunk_chars``: a longer text is read in pieces. ``model`` is for "hybrid" only.

    Raises ``UsageError`` for an unknown detector, a number out of range, or a model where none is asked or none where one is.
    """

    detector: str = PATTERNS
    threshold: float = THRESHOLD
    own: tuple[Path, ...] = ()
    unconfirmed: bool = False
    also: tuple[str, ...] = ()
    engine: Backend = "auto"
    phases: int = PHASES
    chunk_chars: int = CHUNK
    model: ModelSettings | None = None

    def __post_init__(self) -> None:
        if self.detector not in DETECTORS:
            raise UsageError(f"there is no detector {self.detector!r}", where="--detector", remedy=f"Known: {', '.join(DETECTORS)}")
        if not 0 <= self.threshold <= 1:
            raise UsageError("the threshold must be between 0 and 1", where="--threshold")
        if not 0 <= self.phases <= PHASES:
            raise UsageError(f"there are {PHASES} phases: give a number from 0 to {PHASES}", where="--phases")
        if self.chunk_chars < _LEAST_CHUNK:
            raise UsageError(f"a chunk has at least {_LEAST_CHUNK} characters", where="--chunk")
        if self.detector == HYBRID and self.model is None:
            raise UsageError("the detector 'hybrid' asks a model", where="--provider", remedy=f"Name a provider, or use {OFFLINE}")
        if self.detector != HYBRID and self.model is not None:
            raise UsageError(f"the detector {self.detector!r} asks no model", where="--provider", remedy=f"Use --detector {HYBRID}")

    @property
    def identity(self) -> dict[str, Any]:
        """What shapes the findings, for digests; the contents of ``own`` files are in the digest of a locale's catalogue."""
        shaping: dict[str, Any] = {
            "detector": self.detector,
            "threshold": self.threshold,
            "unconfirmed": self.unconfirmed,
            "also": list(self.also),
        }
        if self.detector != PATTERNS:
            shaping |= {"phases": self.phases, "chunk_chars": self.chunk_chars}
        return shaping | ({"model": self.model.identity} if self.model else {})


def make_detector(settings: DetectorSettings, *, provider: Provider | None = None, policy: CallPolicy | None = None) -> Detector:
    """Return the detector of *settings*. For "hybrid" it is a ``findings.ModelDetector``; nothing is opened or sent yet.

    *provider* replaces that of the settings; *policy* says how calls are retried, and who is told of them. Both are for "hybrid" only.
    Both hybrid detectors also ``examine`` (``findings.ExaminingDetector``).
    """
    patterns = _patterns(settings)
    if settings.detector == PATTERNS:
        return patterns
    from piiloom.detection.hybrid.phases import PhaseSettings  # noqa: PLC0415 - patterns alone need none of it

    phases = PhaseSettings(patterns=patterns, phases=settings.phases, chunk_chars=settings.chunk_chars)
    if settings.detector == OFFLINE:
        from piiloom.detection.hybrid.offline_detector import OfflineDetector  # noqa: PLC0415 - as above

        return OfflineDetector(settings=phases)
    from piiloom.detection.hybrid.hybrid_detector import HybridDetector  # noqa: PLC0415 - as above

    assert settings.model is not None  # noqa: S101 - checked when the settings were made
    return HybridDetector(phases, settings.model, provider=provider, policy=policy)


def _patterns(settings: DetectorSettings) -> PatternDetector:
    return PatternDetector(
        own=settings.own, unconfirmed=settings.unconfirmed, also=settings.also, threshold=settings.threshold, backend=settings.engine
    )


DETECTORS: Final[Mapping[str, str]] = MappingProxyType(
    {
        PATTERNS: "the patterns of the catalogue alone: no model, no key, no network",
        OFFLINE: "the three phases, with rules, word lists and a names index standing in for the model",
        HYBRID: "the three phases: patterns beside a language model",
    }
)
