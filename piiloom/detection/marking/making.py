"""Make the detector "markers"."""

from __future__ import annotations

from collections.abc import Sequence

from piiloom.corpus.mention_search import Range
from piiloom.detection.detector_settings import DetectorSettings
from piiloom.detection.marking.marking_detector import MarkingDetector
from piiloom.detection.marking.shots import Shots
from piiloom.detection.registry import PatternDetector, make_patterns
from piiloom.execution.call_channel import CallPolicy
from piiloom.providers.protocol import Provider
from piiloom.taxonomy.entities.entity_catalogue import catalogue_locales


def make(settings: DetectorSettings, provider: Provider | None = None, policy: CallPolicy | None = None) -> MarkingDetector:
    """See ``registry.Make``. Raises ``DataError`` if the file of examples cannot be read."""
    assert settings.asked is not None  # noqa: S101 - checked when the settings were made
    return MarkingDetector(
        settings.asked,
        taxonomy=settings.taxonomy,
        chunk_chars=settings.chunk_chars,
        threshold=settings.threshold,
        markers=settings.marker_set,
        shots=_shots(settings),
        whole=_Matches(make_patterns(settings)),
        provider=provider,
        policy=policy,
    )


def _shots(settings: DetectorSettings) -> Shots | None:
    prompting, model = settings.prompting, settings.asked
    if prompting is None or prompting.examples is None or model is None:
        return None
    markers, longest = settings.marker_set, settings.chunk_chars
    return Shots.read(prompting.examples, prompting.shots, settings.taxonomy, seed=model.seed, longest=longest, markers=markers)


class _Matches:
    """What the *patterns* match, in locales that have a catalogue."""

    def __init__(self, patterns: PatternDetector) -> None:
        self._patterns = patterns

    def __call__(self, text: str, locale: str) -> Sequence[Range]:
        if locale not in catalogue_locales():
            return ()
        return [(span.start, span.end) for span in self._patterns.detect(text, locale)]
