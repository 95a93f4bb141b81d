"""The detector "presidio": presidio-analyzer, with its entities brought to our types."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, Final

from piiloom.detection.adapters.label_targets import label_targets
from piiloom.detection.adapters.languages import locale_language
from piiloom.detection.adapters.mapped_findings import LabelledRange, mapped_findings
from piiloom.detection.adapters.presidio.analyzers import import_presidio, make_analyzer
from piiloom.detection.adapters.presidio.pipelines import check_language, load_spacy_model, word_pipeline
from piiloom.detection.adapters.whole_characters import with_whole_characters
from piiloom.detection.detector import ScoredSpan
from piiloom.detection.detector_settings import DetectorSettings
from piiloom.detection.findings import DetectorText, Findings
from piiloom.execution.call_channel import CallPolicy
from piiloom.foundation.errors import UsageError
from piiloom.providers.protocol import Provider
from piiloom.taxonomy.entity_types import Taxonomy

NAME: Final = "presidio"
_BATCH: Final = 16


def make(settings: DetectorSettings, provider: Provider | None, policy: CallPolicy | None) -> PresidioDetector:
    """See ``registry.Make``; ``settings.types`` are files of recognizers in presidio's form."""
    del provider, policy
    local = settings.local
    if local is not None and local.device == "cuda":
        raise UsageError("presidio reads texts on the CPU", where="--device cuda", remedy="Leave --device out")
    return PresidioDetector(
        taxonomy=settings.taxonomy,
        model=local.model_path if local is not None and local.model_path else None,
        threshold=settings.threshold,
        label_map=local.label_map if local is not None else None,
        recognizers=settings.types,
        batch_size=local.batch_size if local is not None else _BATCH,
    )


class PresidioDetector:
    """Finds what presidio finds.

    *model* is the name or folder of a pipeline of spaCy; without one presidio's patterns are used alone, over words. *label_map* says what
    entities mean, over the shipped map. *recognizers* are files of a user's own recognizers. What scores less than *threshold* is not told.

    Raises ``UsageError`` if presidio or the pipeline is missing, and ``ConfigError`` (file, line) for a fault in a file.
    """

    def __init__(
        self,
        *,
        taxonomy: Taxonomy,
        model: str | None = None,
        threshold: float = 0.0,
        label_map: Path | None = None,
        recognizers: Sequence[Path] = (),
        batch_size: int = _BATCH,
    ) -> None:
        import_presidio()
        self.name = NAME
        self._targets = label_targets([NAME], label_map, taxonomy)
        self._threshold = threshold
        self._recognizers = tuple(recognizers)
        self._batch_size = batch_size
        self._model = model
        self._pipeline = None if model is None else load_spacy_model(model)
        self._analyzers: dict[str, Any] = {}

    def detect(self, text: str, locale: str, question: str | None = None) -> Sequence[ScoredSpan]:
        """Return disjoint spans in text order; see ``Detector``."""
        return self.examine(text, locale, question).spans

    def examine(self, text: str, locale: str, question: str | None = None) -> Findings:
        """As ``detect``, with what was set aside."""
        return self.examine_batch([DetectorText(text, locale, question)])[0]

    def examine_batch(self, texts: Sequence[DetectorText]) -> list[Findings]:
        """Return the findings of each of *texts*; spaCy reads those of one locale in batches."""
        found: dict[int, Findings] = {}
        by_locale: dict[str, list[int]] = {}
        for number, one in enumerate(texts):
            longest = self._analyzed_by(one.locale).nlp_engine.get_nlp(locale_language(one.locale)).max_length
            if len(one.text) > longest:
                found[number] = Findings(spans=(), failed=f"longer than the {longest:,} characters that spaCy reads at once")
            else:
                by_locale.setdefault(one.locale, []).append(number)
        for locale, numbers in by_locale.items():
            results = self.results([texts[number].text for number in numbers], locale)
            for number, here in zip(numbers, results, strict=True):
                raw = (LabelledRange(one.start, one.end, one.entity_type, float(one.score)) for one in here)
                found[number] = mapped_findings(texts[number].text, raw, self._targets, self.name)
        return [found[number] for number in range(len(texts))]

    def results(self, texts: Sequence[str], locale: str) -> Iterable[Sequence[Any]]:
        """Yield for each text of *locale* what presidio itself returns: its ``RecognizerResult``."""
        analyzer, language = self._analyzed_by(locale), locale_language(locale)
        whole = [with_whole_characters(text) for text in texts]
        read = analyzer.nlp_engine.process_batch(whole, language=language, batch_size=self._batch_size)
        for text, (_, artifacts) in zip(whole, read, strict=True):
            yield analyzer.analyze(text, language=language, score_threshold=self._threshold, nlp_artifacts=artifacts)

    def _analyzed_by(self, locale: str) -> Any:
        if locale not in self._analyzers:
            pipeline = word_pipeline(locale) if self._pipeline is None else self._pipeline
            if self._model is not None:
                check_language(pipeline, self._model, locale)
            self._analyzers[locale] = make_analyzer(pipeline, locale, self._recognizers)
        return self._analyzers[locale]
