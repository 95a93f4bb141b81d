"""Make detectors from their settings."""

from __future__ import annotations

from importlib import import_module
from typing import Protocol, cast

from piiloom.detection.detector import Detector
from piiloom.detection.detector_settings import REASONED, DetectorSettings
from piiloom.detection.pattern_detector import PatternDetector
from piiloom.execution.call_channel import CallPolicy
from piiloom.providers.protocol import Provider


class Make(Protocol):
    """A function that makes the detector of *settings*; nothing is opened or sent yet.

    *provider* replaces that of the settings; *policy* decides how calls are retried, and receives their events. Both are for detectors
    that ask a model only.
    """

    def __call__(self, settings: DetectorSettings, provider: Provider | None, policy: CallPolicy | None) -> Detector:
        """See the class."""
        ...


def make_detector(settings: DetectorSettings, *, provider: Provider | None = None, policy: CallPolicy | None = None) -> Detector:
    """Return the detector of *settings*, see ``Make``. If ``settings.waits``, it is a ``findings.ModelDetector``."""
    module, _, function = settings.family.make.partition(":")
    make = cast("Make", getattr(import_module(module), function))
    detector = make(settings, provider, policy)
    if settings.verify is None:
        return detector
    from piiloom.detection.verifying.verifying_detector import VerifyingDetector  # noqa: PLC0415 - for those that are verified only

    assert settings.asked is not None  # noqa: S101 - checked when the settings were made
    return VerifyingDetector(detector, settings.asked, reasoned=settings.verify == REASONED, provider=provider, policy=policy)


def make_patterns(settings: DetectorSettings, provider: Provider | None = None, policy: CallPolicy | None = None) -> PatternDetector:
    """See ``Make``."""
    del provider, policy
    return PatternDetector(
        own=settings.types, unconfirmed=settings.unconfirmed, also=settings.also, threshold=settings.threshold, backend=settings.engine
    )
