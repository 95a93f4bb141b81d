"""Make the hybrid detectors."""

from __future__ import annotations

from piiloom.detection.detector_settings import DetectorSettings
from piiloom.detection.hybrid.hybrid_detector import HybridDetector
from piiloom.detection.hybrid.offline_detector import OfflineDetector
from piiloom.detection.hybrid.phases import PhaseSettings
from piiloom.detection.registry import make_patterns
from piiloom.execution.call_channel import CallPolicy
from piiloom.providers.protocol import Provider


def make_offline(settings: DetectorSettings, provider: Provider | None = None, policy: CallPolicy | None = None) -> OfflineDetector:
    """See ``registry.Make``."""
    del provider, policy
    return OfflineDetector(settings=_phases(settings))


def make_hybrid(settings: DetectorSettings, provider: Provider | None = None, policy: CallPolicy | None = None) -> HybridDetector:
    """See ``registry.Make``."""
    assert settings.asked is not None  # noqa: S101 - checked when the settings were made
    return HybridDetector(_phases(settings), settings.asked, provider=provider, policy=policy)


def _phases(settings: DetectorSettings) -> PhaseSettings:
    return PhaseSettings(patterns=make_patterns(settings), phases=settings.phases, chunk_chars=settings.chunk_chars)
