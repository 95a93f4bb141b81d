"""The detector "huggingface": a token classifier of transformers, with its labels brought to our types."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Final

from piiloom.detection.adapters.huggingface.model_folder import load_classifier
from piiloom.detection.adapters.huggingface.reading import ClassifierReader
from piiloom.detection.adapters.label_targets import LabelTargets, label_targets, likeliest_map
from piiloom.detection.adapters.mapped_findings import LabelledRange, mapped_findings
from piiloom.detection.detector import ScoredSpan
from piiloom.detection.detector_settings import DetectorSettings
from piiloom.detection.findings import DetectorText, Findings
from piiloom.detection.token_decoding.decoding import mentions_in
from piiloom.execution.call_channel import CallPolicy
from piiloom.providers.protocol import Provider
from piiloom.taxonomy.entity_types import Taxonomy

NAME: Final = "huggingface"
MAPS: Final = ("conll", "ontonotes", "i2b2", "obi", "ai4privacy", "nemotron-pii", "presidio")  # of equals the first is meant
_BATCH: Final = 16


def make(settings: DetectorSettings, provider: Provider | None, policy: CallPolicy | None) -> HuggingFaceDetector:
    """See ``registry.Make``."""
    del provider, policy
    assert settings.local is not None  # noqa: S101 - checked when the settings were made
    local = settings.local
    return HuggingFaceDetector(
        local.model_path,
        taxonomy=settings.taxonomy,
        threshold=settings.threshold,
        label_map=local.label_map,
        device=local.device,
        batch_size=local.batch_size,
    )


class HuggingFaceDetector:
    """Finds what a token classifier finds; see ``token_decoding.decoding`` for how its tokens become spans, and for their scores.

    Of the shipped label maps that which has most of the model's labels is used, then the names of our types; *label_map* goes before both.
    Spans that score less than *threshold* are not told. Raises ``UsageError`` for a folder that has no such model, see ``load_classifier``, and
    ``ConfigError`` (file, line) for a fault in the label map.
    """

    def __init__(
        self,
        folder: str,
        *,
        taxonomy: Taxonomy,
        threshold: float = 0.0,
        label_map: Path | None = None,
        device: str = "auto",
        batch_size: int = _BATCH,
    ) -> None:
        self.name = NAME
        self._threshold = threshold
        label_targets([], label_map, taxonomy)  # a fault in it shows before the model is loaded
        loaded = load_classifier(folder, device)
        self._scheme = loaded.scheme
        self._targets = model_targets(loaded.scheme.kinds, label_map, taxonomy)
        self._reader = ClassifierReader(loaded, batch_size)

    def detect(self, text: str, locale: str, question: str | None = None) -> Sequence[ScoredSpan]:
        """Return disjoint spans in text order; see ``Detector``."""
        return self.examine(text, locale, question).spans

    def examine(self, text: str, locale: str, question: str | None = None) -> Findings:
        """As ``detect``, with what was set aside."""
        return self.examine_batch([DetectorText(text, locale, question)])[0]

    def examine_batch(self, texts: Sequence[DetectorText]) -> list[Findings]:
        """Return the findings of each of *texts*; the model reads windows over them in batches."""
        findings = []
        for one, read in zip(texts, self._reader.read([one.text for one in texts]), strict=True):
            found = mentions_in(read.words, read.probabilities, self._scheme)
            sure = (LabelledRange(*mention) for mention in found if mention.score >= self._threshold)
            findings.append(mapped_findings(one.text, sure, self._targets, self.name))
        return findings


def model_targets(kinds: Sequence[str], label_map: Path | None, taxonomy: Taxonomy) -> LabelTargets:
    """Return what the *kinds* of a model mean."""
    best = likeliest_map(kinds, MAPS)
    return label_targets([best] if best else [], label_map, taxonomy)
