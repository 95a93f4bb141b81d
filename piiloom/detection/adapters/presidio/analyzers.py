"""presidio's AnalyzerEngine for texts of a locale: as presidio makes it by default, but for the regions of its phone recognizer.

"By default" is what ``AnalyzerEngine()`` does with its own settings files: its predefined recognizers of the language, and of the names
that a model finds those that ``conf/default.yaml`` has (no organizations, say: presidio finds them too often wrong). A model whose labels
presidio does not know ("persName" of the Polish ones) gets these from ``spacy_labels.yaml``.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from importlib.resources import files
from pathlib import Path
from typing import Any, Final

from piiloom.detection.adapters.languages import locale_language, locale_region
from piiloom.detection.adapters.presidio.recognizers import own_recognizers
from piiloom.foundation.errors import UsageError
from piiloom.foundation.extras import how_to_install
from piiloom.foundation.yaml_files import read_document

EXTRA: Final = "presidio"


def import_presidio() -> Any:
    """Return the module ``presidio_analyzer``; raises ``UsageError`` with the command that installs it."""
    try:
        import presidio_analyzer  # noqa: PLC0415 - an extra
    except ImportError as error:
        raise UsageError("presidio-analyzer is not installed", remedy=f"Install it: {how_to_install(EXTRA)}") from error
    logger = logging.getLogger("presidio-analyzer")
    if logger.level == logging.NOTSET:  # it warns of each recognizer of another language that it leaves out
        logger.setLevel(logging.ERROR)
    return presidio_analyzer


def make_analyzer(pipeline: Any, locale: str, own: Sequence[Path] = ()) -> Any:
    """Return the ``AnalyzerEngine`` for texts of *locale*, over a loaded *pipeline* of spaCy, with the recognizers in the files *own*.

    Raises ``UsageError`` if presidio is missing, and ``ConfigError`` (file, line) for a recognizer that it refuses.
    """
    presidio = import_presidio()
    _stay_offline()
    language, region = locale_language(locale), locale_region(locale)
    engine = _nlp_engine(pipeline, language)
    registry = presidio.RecognizerRegistry(supported_languages=[language])
    registry.load_predefined_recognizers(languages=[language], nlp_engine=engine)
    for recognizer in own_recognizers(own, language):
        registry.add_recognizer(recognizer)
    if region is not None:
        _set_regions(registry.recognizers, (region,))
    return presidio.AnalyzerEngine(registry=registry, nlp_engine=engine, supported_languages=[language])


def _nlp_engine(pipeline: Any, language: str) -> Any:
    from presidio_analyzer.nlp_engine import NerModelConfiguration, NlpEngineProvider, SpacyNlpEngine  # noqa: PLC0415 - an extra

    told = dict(NlpEngineProvider().nlp_configuration["ner_model_configuration"])
    told["model_to_presidio_entity_mapping"] = {**_labels_of_other_models(), **told["model_to_presidio_entity_mapping"]}
    models = [{"lang_code": language, "model_name": str(pipeline.meta.get("name") or language)}]
    engine: Any = SpacyNlpEngine(models=models, ner_model_configuration=NerModelConfiguration.from_dict(told))
    engine.nlp = {language: pipeline}  # already loaded, so that presidio neither loads nor downloads one
    return engine


def _labels_of_other_models() -> Mapping[str, str]:
    document = read_document(files("piiloom.detection.adapters") / "presidio" / "spacy_labels.yaml")
    return {str(label): str(entity) for label, entity in document.data.items()}


def _set_regions(recognizers: Sequence[Any], regions: tuple[str, ...]) -> None:
    from presidio_analyzer.predefined_recognizers import PhoneRecognizer  # noqa: PLC0415 - an extra

    for recognizer in recognizers:
        if type(recognizer) is PhoneRecognizer:
            recognizer.supported_regions = regions


def _stay_offline() -> None:
    """Make presidio's recognizer of mail addresses use the list of domains in its package; else it fetches a newer one."""
    import tldextract.tldextract  # noqa: PLC0415 - presidio brings it

    tldextract.tldextract.TLD_EXTRACTOR.suffix_list_urls = ()
