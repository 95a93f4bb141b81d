"""The detector "presidio", against presidio itself: with a small pipeline of spaCy made here, and with its patterns alone."""

from __future__ import annotations

import random

import pytest

from benchmarks.detection.presidio_adapter import presidio_itself, told
from piiloom.detection.adapters.label_targets import label_targets
from piiloom.detection.adapters.spacy_detectors import PresidioDetector
from piiloom.detection.detector import DetectorText
from piiloom.detection.detector_settings import DetectorSettings, LocalModel
from piiloom.detection.registry import make_detector
from piiloom.foundation.errors import ConfigError, UsageError
from piiloom.taxonomy.entity_types import shipped_taxonomy

pytest.importorskip("presidio_analyzer", reason="make test-train installs it")

pytestmark = [
    pytest.mark.train,
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),
    pytest.mark.filterwarnings("ignore::FutureWarning"),
]

NAMES = ("Ann Lee", "Robert Fox", "Maria Perez")
PLACES = ("Boston", "New York", "Reno")
PIECES = (
    "My name is {name} and I live in {place}.",
    "Call {name} on 212-555-0{n}, the phone is always on.",
    "Write to a{n}@example.com or visit https://example.org/{n} today.",
    "Her card 4111 1111 1111 1111 and the account 1234567{n} were charged.",
    "SSN 536-90-4{n}; passport number 912803456, license H1234567.",
    "The server at 10.0.0.{n} wrote to GB33BUKB20201555555555 on May 3, 2021.",
    "{name} met {name} near {place} at 00:1B:44:11:3A:B7.",
    "Bitcoin 1A1zP1eP5QGefi2DMPTfTL5SLmv7DivfNa was sent by {name}.",
)


def made_texts(count: int) -> list[str]:
    draw = random.Random(7)
    found = []
    for _ in range(count):
        pieces = draw.sample(PIECES, draw.randint(1, 4))
        found.append(" ".join(one.format(name=draw.choice(NAMES), place=draw.choice(PLACES), n=draw.randint(100, 999)) for one in pieces))
    return found


@pytest.fixture(scope="module")
def pipeline(tmp_path_factory):
    """The folder of an English pipeline that finds the names and places of the texts."""
    import spacy

    folder = tmp_path_factory.mktemp("spacy") / "en_small"
    nlp = spacy.blank("en")
    ruler = nlp.add_pipe("entity_ruler")
    ruler.add_patterns(
        [{"label": "PERSON", "pattern": one} for one in NAMES]
        + [{"label": "GPE", "pattern": one} for one in PLACES]
        + [{"label": "ORG", "pattern": "The server"}]
    )
    nlp.to_disk(folder)
    return str(folder)


@pytest.fixture(scope="module")
def detector(pipeline):
    return PresidioDetector(LocalModel(model_path=pipeline), taxonomy=shipped_taxonomy())


@pytest.mark.parametrize(("count", "with_model"), [(500, True), (100, False)])
def test_500_texts_give_what_presidio_itself_gives(pipeline, count, with_model):
    texts = made_texts(count)
    model = pipeline if with_model else None
    itself, detector = presidio_itself(model), PresidioDetector(LocalModel(model_path=model or ""), taxonomy=shipped_taxonomy())
    expected = [told(itself.analyze(text, language="en")) for text in texts]
    assert [told(one) for one in detector.results(texts, "en_US")] == expected
    assert ("PERSON" in {one[2] for here in expected for one in here}) == with_model


def test_each_result_is_a_span_or_set_aside_alone_and_in_batches(detector):
    texts = made_texts(40)
    results = [{(start, end, label) for start, end, label, _ in told(one)} for one in detector.results(texts, "en_US")]
    findings = detector.examine_batch([DetectorText(text, "en_US") for text in texts])
    for text, known, one in zip(texts, results, findings, strict=True):
        assert len(one.spans) + len(one.set_aside) == len(known)
        assert {(span.start, span.end) for span in one.spans} <= {(start, end) for start, end, _ in known}
        assert detector.examine(text, "en_US") == one


def test_entities_are_brought_to_our_types(detector):
    text = "Ann Lee of Boston wrote to a1@example.com, IBAN GB33BUKB20201555555555."
    found = {(text[one.start : one.end], one.entity_type, one.subtype, one.detector) for one in detector.detect(text, "en_US")}
    assert found == {
        ("Ann Lee", "name", None, "presidio"),
        ("Boston", "location", None, "presidio"),
        ("a1@example.com", "code", "email", "presidio"),
        ("GB33BUKB20201555555555", "code", "iban", "presidio"),
    }


def test_every_entity_of_presidios_patterns_is_in_the_label_map():
    from presidio_analyzer.predefined_recognizers import country_specific, generic
    from presidio_analyzer.recognizer_registry.recognizers_loader_utils import RecognizerListLoader

    targets, found = label_targets(["presidio"], own=None, taxonomy=shipped_taxonomy()), set()
    for kind in RecognizerListLoader.get_all_existing_recognizers():
        if kind.__module__.startswith((country_specific.__name__, generic.__name__)):
            found.update(kind().supported_entities)
    assert len(found) > 60
    assert sorted(label for label in found if label not in targets.targets) == []


def test_phones_are_those_of_the_locale():
    text = "Zadzwoń: 512 345 678"
    alone = PresidioDetector(taxonomy=shipped_taxonomy())
    assert [one.subtype for one in alone.detect(text, "pl_PL")] == ["phone"]
    assert alone.detect(text, "fi_FI") == []
    berlin = "Tel. 030 90182012"
    assert [one.subtype for one in alone.detect(berlin, "de_DE")] == ["phone"]
    assert [one for one in alone.detect(berlin, "en_US") if one.subtype == "phone"] == []


@pytest.mark.parametrize("locale", ["en_US", "pl_PL", "vi_VN", "zh_CN", "hi_IN", "ar_AE", "no_NO", "nl_BE", "en", "xx_YY"])
def test_patterns_alone_read_texts_of_any_locale(locale):
    text = "mail: a1@example.com"
    assert [text[one.start : one.end] for one in PresidioDetector(taxonomy=shipped_taxonomy()).detect(text, locale)] == ["a1@example.com"]
    assert PresidioDetector(taxonomy=shipped_taxonomy()).detect("", locale) == []


def test_context_words_count_with_patterns_alone():
    alone = PresidioDetector(threshold=0.5, taxonomy=shipped_taxonomy())
    assert [one.score for one in alone.detect("Telephone: 415-555-2670", "en_CA")] == [0.75]
    assert alone.detect("Order: 415-555-2670", "en_CA") == []


def test_what_scores_less_than_the_threshold_is_not_told(pipeline):
    text = "Ann Lee, account 12345678"
    sure = PresidioDetector(LocalModel(model_path=pipeline), threshold=0.5, taxonomy=shipped_taxonomy())
    assert [one.entity_type for one in sure.detect(text, "en_US")] == ["name"]
    assert sure.examine(text, "en_US").set_aside == ()


def test_own_recognizers_and_an_own_label_map(tmp_path):
    own, labels = tmp_path / "own.yaml", tmp_path / "labels.yaml"
    own.write_text(
        "recognizers:\n"
        "  - name: Badge\n    supported_language: en\n    supported_entity: BADGE\n"
        "    patterns:\n      - {name: badge, regex: 'B-[0-9]{4}', score: 0.7}\n"
        "  - name: Rooms\n    supported_entity: ROOM\n    supported_languages: [{language: en}]\n    deny_list: [Blue Room]\n"
        "  - name: UkNinoRecognizer\n    type: predefined\n    supported_languages: [en]\n"
    )
    labels.write_text("BADGE: code/employee_number\n")
    settings = DetectorSettings(detector="presidio", types=[own], label_map=labels)
    text = "B-1234 sat in the Blue Room, AA 12 34 56 B"
    findings = make_detector(settings).examine(text, "en_GB")
    assert [(text[one.start : one.end], one.subtype) for one in findings.spans] == [
        ("B-1234", "employee_number"),
        ("AA 12 34 56 B", "gb_nino"),
    ]
    assert [(one.reason, one.value) for one in findings.set_aside] == [("unmapped_label: ROOM", "Blue Room")]
    before = settings.identity
    own.write_text(own.read_text().replace("0.7", "0.8"))
    assert settings.identity != before


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ("recognizers:\n  - name: X\n    supported_entity: X\n    patterns:\n      - {name: x, regex: '(', score: 0.7}\n", "own.yaml:2"),
        ("recognizers:\n  - name: NoSuchRecognizer\n    type: predefined\n", "own.yaml:2"),
        ("recognizers:\n  - {name: X}\n", "own.yaml:2"),
        ("recognizers: []\n", "own.yaml:1"),
        ("id: x\n", "own.yaml:1"),
    ],
)
def test_a_recognizer_that_presidio_refuses_is_told_with_its_line(tmp_path, text, place):
    own = tmp_path / "own.yaml"
    own.write_text(text)
    with pytest.raises(ConfigError) as caught:
        PresidioDetector(recognizers=[own], taxonomy=shipped_taxonomy()).detect("x", "en_US")
    assert str(caught.value).startswith(f"{place}:")


def test_a_pipeline_that_is_missing_is_told_and_not_downloaded(tmp_path, monkeypatch):
    import spacy.cli

    monkeypatch.setattr(spacy.cli, "download", lambda *given, **named: pytest.fail("a download was tried"))
    for model, said in ((str(tmp_path), "no config.cfg"), ("en_core_web_none", "there is no such pipeline")):
        with pytest.raises(UsageError, match=said):
            PresidioDetector(LocalModel(model_path=model or ""), taxonomy=shipped_taxonomy())


def test_a_pipeline_of_another_language_is_refused(detector):
    with pytest.raises(UsageError, match="for texts in 'en', not for pl_PL"):
        detector.detect("x", "pl_PL")


def test_a_text_that_spacy_cannot_read_fails_and_others_go_on(pipeline):
    detector = PresidioDetector(LocalModel(model_path=pipeline), taxonomy=shipped_taxonomy())
    detector._pipeline.max_length = 50
    long, short = detector.examine_batch([DetectorText("Ann Lee " * 10, "en_US"), DetectorText("Ann Lee", "en_US")])
    assert long.failed == "longer than the 50 characters that spaCy reads at once"
    assert [one.entity_type for one in short.spans] == ["name"]


def test_half_characters_do_no_harm(detector):
    text = "\ud800 Ann Lee \udfff"
    assert [text[one.start : one.end] for one in detector.detect(text, "en_US")] == ["Ann Lee"]


def test_presidio_reads_on_the_cpu():
    with pytest.raises(UsageError, match="--device cuda"):
        make_detector(DetectorSettings(detector="presidio", label_map="presidio", device="cuda"))
