"""The detectors "spacy" (any spaCy pipeline that finds entities) and "presidio", with their labels brought to our types.

The detector "presidio": presidio-analyzer with any pipeline of spaCy, or its patterns alone, with its entities brought to our types.

An analyzer is what ``AnalyzerEngine()`` makes with its own settings files, but for the regions of its phone recognizer: its predefined
recognizers of the language, and of the names that a model finds those that ``conf/default.yaml`` has (no organizations, say: presidio finds
them too often wrong). A model whose labels presidio does not know ("persName" of the Polish ones) gets these from ``spacy_labels.yaml``.

A user's own recognizers have the form of presidio's settings files: ``recognizers:`` with a list of patterns or deny lists. An entry with
``type: predefined`` switches on one that presidio has but leaves out by default, such as ``UkNinoRecognizer``.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable, Iterator, Sequence
from importlib.resources import files
from pathlib import Path
from typing import Any, Final, Self

from piiloom.corpus.formats.token_labels import import_spacy
from piiloom.detection.adapters.label_targets import (
    ANY_LANGUAGE,
    LabelledRange,
    label_targets,
    locale_language,
    locale_region,
    mapped_findings,
    spacy_language,
    unusable,
)
from piiloom.detection.detector import DetectorText, Findings, TextDetector, cut_text, library
from piiloom.detection.detector_settings import DetectorSettings, LocalModel
from piiloom.detection.token_decoding import with_whole_characters
from piiloom.execution.call_channel import CallPolicy
from piiloom.foundation.errors import ConfigError, UsageError
from piiloom.foundation.words import trimmed
from piiloom.foundation.yaml_files import YamlDocument, read_document
from piiloom.providers.protocol import Provider
from piiloom.tagging.model_folder import CARD, read_about
from piiloom.taxonomy.entity_types import Taxonomy
from piiloom.taxonomy.own_types import extended

# Of what these find, nothing shapes the entities of a recognizer that was trained.
_NOT_NEEDED: Final = frozenset(
    "tagger parser attribute_ruler lemmatizer trainable_lemmatizer morphologizer senter sentencizer textcat textcat_multilabel".split()
)
_TRAINED: Final = frozenset({"ner", "beam_ner"})
_FINDS: Final = "doc.ents"


def load_entity_pipeline(name: str, *, where: str = "--model-path") -> Any:
    """Load the pipeline *name*. Raises ``UsageError`` if spaCy is missing, if it cannot be loaded, or if it finds no entities."""
    nlp = load_any(name, where=where)
    finders = [one for one in nlp.pipe_names if _FINDS in nlp.get_pipe_meta(one).assigns]
    if not finders:
        parts = ", ".join(nlp.pipe_names) or "nothing"
        raise UsageError(
            f"this pipeline finds no entities (it has {parts})",
            where=f"{where} {name}",
            remedy="Use a pipeline with the component ner; piiloom train spacy trains one",
        )
    factories = {one: nlp.get_pipe_meta(one).factory for one in nlp.pipe_names}
    if {factories[one] for one in finders} <= _TRAINED:  # rules may ask for parts of speech or lemmas
        for one, factory in factories.items():
            if factory in _NOT_NEEDED:
                nlp.disable_pipe(one)
    return nlp


def load_any(name: str, *, where: str) -> Any:
    """Load the pipeline *name*, whatever it has."""
    spacy = import_spacy()
    try:
        return spacy.load(name)
    except Exception as error:  # a config may name what is not installed, data may be cut off: spaCy raises a dozen kinds
        if not Path(name).exists() and isinstance(error, OSError):
            raise UsageError(
                "there is no such spaCy pipeline here",
                where=f"{where} {name}",
                remedy="Name the folder of one, or an installed package: piiloom downloads nothing",
            ) from error
        raise UsageError(
            f"spaCy cannot load this pipeline ({type(error).__name__})",
            where=f"{where} {name}",
            remedy="Copy the whole folder again, or install what it needs; --debug shows the cause",
        ) from error


FAMILY: Final = "spacy"
SCORE: Final = 0.85  # that of all findings, as Presidio has it: an entity recognizer of spaCy tells none
_MAPS: Final = ("spacy", "conll", "ontonotes")  # later ones go before
_LONGEST: Final = 100_000  # characters at once: the memory of a recognizer grows with the length


class SpacyDetector(TextDetector):
    """Finds the entities of the pipeline *local*, a folder or the name of an installed package.

    The labels of a pipeline that piiloom has trained are its types. Of others the shipped label maps say what labels mean; a map
    of one's own goes before them. All findings have the score ``SCORE``; a higher *threshold* leaves none.

    Raises ``UsageError`` for a pipeline that cannot be loaded or finds no entities, and ``ConfigError`` (file, line) for a fault in the
    label map.
    """

    name = "spacy"

    def __init__(self, local: LocalModel, *, threshold: float = 0.0, taxonomy: Taxonomy | None = None) -> None:  # noqa: ARG002 - it has its own
        self._threshold, self._batch_size = threshold, local.batch_size
        folder = Path(local.model_path)
        ours = (folder / CARD).is_file()
        known = extended(read_about(folder, FAMILY).own_types if ours else ())
        self._targets = label_targets([] if ours else _MAPS, local.label_map, known)
        self._nlp = load_entity_pipeline(local.model_path)

    def examine_batch(self, texts: Sequence[DetectorText]) -> list[Findings]:
        """Return the findings of each of *texts*; the pipeline reads them in batches."""
        pieces = [(number, *piece) for number, one in enumerate(texts) for piece in _pieces(one.text)]
        docs = self._nlp.pipe((texts[number].text[start:end] for number, start, end in pieces), batch_size=self._batch_size)
        found: list[list[LabelledRange]] = [[] for _ in texts]
        altered: set[int] = set()
        for (number, start, end), doc in zip(pieces, docs, strict=True):
            if doc.text != texts[number].text[start:end]:
                altered.add(number)
            elif self._threshold <= SCORE:
                found[number] += _entities(doc, start)
        return [
            Findings(spans=(), failed="the tokenizer of the spaCy pipeline changes this text, so that no place in it is known")
            if number in altered
            else mapped_findings(one.text, found[number], self._targets, self.name)
            for number, one in enumerate(texts)
        ]


def _pieces(text: str) -> list[tuple[int, int]]:
    if len(text) <= _LONGEST:
        return [(0, len(text))]
    ends = [at + 1 for at, character in enumerate(text) if character == "\n"]
    return cut_text(text, ends, (), _LONGEST)


def _entities(doc: Any, offset: int) -> Iterator[LabelledRange]:
    """Yield the entities of *doc* without white space at their edges, which some pipelines take in."""
    text = doc.text
    for entity in doc.ents:
        start, end = trimmed(text, entity.start_char, entity.end_char)
        if start < end:
            yield LabelledRange(offset + start, offset + end, entity.label_, SCORE)


_LIST: Final = "recognizers"
_FLAGS: Final = 26  # what presidio's own files have: letters of either case, many lines, and full stops that match line breaks


def own_recognizers(paths: Sequence[Path], language: str) -> Iterator[Any]:
    """Yield the recognizers in the files *paths* that are for texts in *language*.

    Raises ``ConfigError`` (file, line) for a file without recognizers and for an entry that presidio refuses.
    """
    for path in paths:
        document = read_document(path)
        entries = document.data.get(_LIST) if isinstance(document.data, dict) else None
        if not isinstance(entries, list) or not entries:
            raise ConfigError(
                "has no recognizers of presidio",
                where=document.where(),
                remedy="Write it as presidio has it: a key recognizers, with a list of recognizers",
            )
        for number, entry in enumerate(entries):
            yield from _recognizers(document, number, entry, language)


def _recognizers(document: YamlDocument, number: int, entry: object, language: str) -> Iterator[Any]:
    from presidio_analyzer.recognizer_registry.recognizers_loader_utils import RecognizerListLoader  # noqa: PLC0415 - an extra

    where = document.where((_LIST, number))
    if not isinstance(entry, dict):
        raise ConfigError("a recognizer has keys and values", where=where, remedy="Give it a name, supported_entity and patterns")
    listed: Any = [dict(entry)]
    try:
        found = list(RecognizerListLoader.get(listed, [language], _FLAGS))
    except Exception as error:  # presidio checks entries as it goes, and raises whatever its code runs into
        reason = f"{type(error).__name__}: {str(error).partition(chr(10))[0]}"
        raise ConfigError(f"presidio refuses the recognizer ({reason})", where=where, remedy="Correct the entry") from error
    yield from found


def import_presidio() -> Any:
    """Return the module ``presidio_analyzer``; raises ``UsageError`` with the command that installs it."""
    presidio = library("presidio_analyzer", "presidio-analyzer is not installed", "presidio")
    logger = logging.getLogger("presidio-analyzer")
    if logger.level == logging.NOTSET:  # it warns of each recognizer of another language that it leaves out
        logger.setLevel(logging.ERROR)
    return presidio


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
    of_others = read_document(files("piiloom.detection.adapters") / "spacy_labels.yaml").data
    told["model_to_presidio_entity_mapping"] = {**of_others, **told["model_to_presidio_entity_mapping"]}
    models = [{"lang_code": language, "model_name": str(pipeline.meta.get("name") or language)}]
    engine: Any = SpacyNlpEngine(models=models, ner_model_configuration=NerModelConfiguration.from_dict(told))
    engine.nlp = {language: pipeline}  # already loaded, so that presidio neither loads nor downloads one
    return engine


def _set_regions(recognizers: Sequence[Any], regions: tuple[str, ...]) -> None:
    from presidio_analyzer.predefined_recognizers import PhoneRecognizer  # noqa: PLC0415 - an extra

    for recognizer in recognizers:
        if type(recognizer) is PhoneRecognizer:
            recognizer.supported_regions = regions


def _stay_offline() -> None:
    """Make presidio's recognizer of mail addresses use the list of domains in its package; else it fetches a newer one."""
    import tldextract.tldextract  # noqa: PLC0415 - presidio brings it

    tldextract.tldextract.TLD_EXTRACTOR.suffix_list_urls = ()


_LEMMAS: Final = "piiloom_small_letters"
_CONFIG: Final = "config.cfg"


def load_spacy_model(model: str) -> Any:
    """Return the pipeline in the folder *model*, or in the installed package of that name.

    Raises ``UsageError`` if there is neither, or it cannot be loaded.
    """
    spacy = import_spacy()
    folder = Path(model)
    if not (folder / _CONFIG).is_file() and not spacy.util.is_package(model):
        raise unusable(
            model,
            f"the folder has no {_CONFIG}: it is no pipeline of spaCy" if folder.is_dir() else "there is no such pipeline of spaCy",
            "Name an installed package or the folder of a pipeline; without --model-path presidio's patterns are used alone",
        )
    try:
        return spacy.load(model)
    except Exception as error:  # a pipeline runs code of its own when it is loaded: anything can be wrong with it
        reason = str(error).partition("\n")[0]
        raise unusable(
            model, f"spaCy cannot load this pipeline: {reason}", "Is it made for this version of spaCy, and is all there that it needs?"
        ) from error


def word_pipeline(locale: str) -> Any:
    """Return a pipeline that only cuts texts of *locale* into words.

    Each word is its own lemma, in small letters: presidio looks its context words up among the lemmas.
    """
    spacy = import_spacy()
    if not spacy.Language.has_factory(_LEMMAS):
        spacy.Language.component(_LEMMAS, func=_small_letters)
    try:
        pipeline = spacy.blank(spacy_language(locale))
    except ImportError:  # a language that spaCy has not, or for which it needs another library
        pipeline = spacy.blank(ANY_LANGUAGE)
    pipeline.add_pipe(_LEMMAS)
    return pipeline


def check_language(pipeline: Any, model: str, locale: str) -> None:
    """Raise ``UsageError`` if *pipeline* is of another language than *locale*."""
    wanted = spacy_language(locale)
    if pipeline.lang not in (wanted, ANY_LANGUAGE):
        raise unusable(
            model,
            f"it is for texts in {pipeline.lang!r}, not for {locale}",
            f"Name a pipeline for {wanted!r}, or leave --model-path out, so that presidio's patterns are used alone",
        )


def _small_letters(doc: Any) -> Any:
    for token in doc:
        token.lemma_ = token.lower_
    return doc


class PresidioDetector(TextDetector):
    """Finds what presidio finds.

    *local* names a pipeline of spaCy, or its folder; without one presidio's patterns are used alone, over words. Its label map says what
    entities mean, over the shipped map. *recognizers* are files of a user's own recognizers. What scores less than *threshold* is not told.

    Raises ``UsageError`` if presidio or the pipeline is missing, and ``ConfigError`` (file, line) for a fault in a file.
    """

    name = "presidio"

    def __init__(
        self, local: LocalModel | None = None, *, taxonomy: Taxonomy, threshold: float = 0.0, recognizers: Sequence[Path] = ()
    ) -> None:
        import_presidio()
        local = local or LocalModel()
        self._targets = label_targets([self.name], local.label_map, taxonomy)
        self._threshold, self._recognizers, self._batch_size = threshold, tuple(recognizers), local.batch_size
        self._model = local.model_path
        self._pipeline = load_spacy_model(self._model) if self._model else None
        self._analyzers: dict[str, Any] = {}

    @classmethod
    def made(cls, settings: DetectorSettings, provider: Provider | None = None, policy: CallPolicy | None = None) -> Self:  # noqa: ARG003
        """See ``registry.make_detector``; ``settings.types`` are files of recognizers in presidio's form."""
        if settings.local is not None and settings.local.device == "cuda":
            raise UsageError("presidio reads texts on the CPU", where="--device cuda", remedy="Leave --device out")
        return cls(settings.local, taxonomy=settings.taxonomy, threshold=settings.threshold, recognizers=settings.types)

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
            if self._model:
                check_language(pipeline, self._model, locale)
            self._analyzers[locale] = make_analyzer(pipeline, locale, self._recognizers)
        return self._analyzers[locale]
