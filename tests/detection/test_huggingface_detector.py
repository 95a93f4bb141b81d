"""The detector "huggingface": tiny classifiers made here, their labels, long texts, batches, and folders that are no such model."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from piiloom.detection.adapters.transformers_detectors import ClassifierReader, HuggingFaceDetector, load_classifier
from piiloom.detection.detector import DetectorText
from piiloom.detection.detector_settings import DetectorSettings, LocalModel
from piiloom.detection.registry import make_detector
from piiloom.detection.token_decoding import Words
from piiloom.foundation.errors import ConfigError, UsageError
from piiloom.taxonomy.entity_types import shipped_taxonomy
from tests.detection.tiny_classifier import change_config, write_classifier, write_random_classifier

torch = pytest.importorskip("torch", reason="make test-train installs it")
pytest.importorskip("transformers", reason="make test-train installs it")

pytestmark = [
    pytest.mark.train,
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),
    pytest.mark.filterwarnings("ignore::FutureWarning"),
]

BIO = ("O", "B-PER", "I-PER", "B-LOC", "I-LOC", "B-SHOP")
SAYS = {"john": "B-PER", "smith": "I-PER", "mc": "B-PER", "ber": "B-LOC", "acme": "B-SHOP"}
TEXT = "John Smith met John McDonald in Berlin, at ACME; O'Brien too. "


def detector_of(folder: Path, *, threshold: float = 0.0) -> HuggingFaceDetector:
    return HuggingFaceDetector(LocalModel(model_path=str(folder), device="cpu"), taxonomy=shipped_taxonomy(), threshold=threshold)


@pytest.fixture(scope="module", autouse=True)
def _one_thread():
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    made = tmp_path_factory.mktemp("classifier")
    write_classifier(made, BIO, SAYS)
    return made


@pytest.fixture(scope="module")
def random_folder(tmp_path_factory):
    made = tmp_path_factory.mktemp("random")
    write_random_classifier(made, BIO)
    return made


def _told(findings):
    return [(one.start, one.end, one.entity_type, round(one.score, 4)) for one in findings.spans]


def test_words_are_whole_and_labels_are_brought_to_our_types(folder):
    findings = detector_of(folder).examine(TEXT, "en_US")
    assert [(TEXT[one.start : one.end], one.entity_type) for one in findings.spans] == [
        ("John Smith", "name"),
        ("John", "name"),
        ("McDonald", "name"),
        ("Berlin", "location"),
    ]
    assert all(one.score > 0.9 and one.detector == "huggingface" for one in findings.spans)
    assert [(one.reason, one.value) for one in findings.set_aside] == [("unmapped_label: SHOP", "ACME")]


def test_a_plain_pipeline_leaves_parts_of_words_where_ours_does_not(folder):
    from transformers import pipeline

    parts = pipeline("token-classification", model=str(folder), aggregation_strategy="simple", device="cpu")(TEXT)
    assert "McDonald" not in {TEXT[one["start"] : one["end"]] for one in parts}


@pytest.mark.parametrize("positions", [64, 40])
def test_windows_over_a_long_text_find_in_each_part_what_is_there(folder, tmp_path, positions):
    write_classifier(tmp_path, BIO, SAYS, positions=positions)
    long = TEXT * 30
    found = _told(detector_of(tmp_path).examine(long, "en_US"))
    once = _told(detector_of(folder).examine(TEXT, "en_US"))
    expected = [(start + at * len(TEXT), end + at * len(TEXT), kind, score) for at in range(30) for start, end, kind, score in once]
    assert found == expected


def test_windows_give_what_one_pass_gives_for_a_text_that_fits(random_folder):
    loaded = load_classifier(str(random_folder), "cpu")
    text = TEXT[:90]
    (read,) = ClassifierReader(loaded, 4).read([text])
    told = loaded.tokenizer(text, return_offsets_mapping=True, return_tensors="pt")
    assert told["input_ids"].shape[1] <= 64
    with torch.inference_mode():
        logits = loaded.model(input_ids=told["input_ids"], attention_mask=told["attention_mask"]).logits
    assert torch.allclose(torch.softmax(logits, -1)[0, 1:-1], torch.from_numpy(read.probabilities), atol=1e-5)


def test_batches_give_what_single_texts_give(random_folder):
    detector = HuggingFaceDetector(LocalModel(model_path=str(random_folder), device="cpu", batch_size=5), taxonomy=shipped_taxonomy())
    texts = [DetectorText((TEXT * 4)[at : at + 3 * at], "en_US") for at in range(30)]
    batch = [_told(one) for one in detector.examine_batch(texts)]
    single = [_told(detector.examine(*one)) for one in texts]
    assert [[one[:3] for one in here] for here in batch] == [[one[:3] for one in here] for here in single]
    assert sum(map(len, batch)) > 100
    for text, here in zip(texts, batch, strict=True):
        words = Words(text.text)
        assert all(words.around(start, end) == (start, end) for start, end, _, _ in here)


def test_marks_of_the_tokenizer_are_text_and_half_characters_do_no_harm(folder):
    loaded = load_classifier(str(folder), "cpu")
    tokens, offsets = ClassifierReader(loaded, 4)._tokens(["[SEP] John", "\ud800 John"])
    assert not set(tokens[0]) & {loaded.tokenizer.sep_token_id}
    assert offsets[1][-1] == (2, 6)
    text = "\ud800 [SEP] John [MASK] Smith \udfff"
    spans = detector_of(folder).detect(text, "en_US")
    assert [text[one.start : one.end] for one in spans] == ["John", "Smith"]


def test_texts_without_a_token_have_no_spans(folder):
    detector = detector_of(folder)
    assert [one.spans for one in detector.examine_batch([DetectorText("", "en"), DetectorText(" \n", "en")])] == [[], []]
    assert detector.examine_batch([]) == []


def test_an_own_label_map_and_the_threshold(folder, tmp_path):
    labels = tmp_path / "labels.yaml"
    labels.write_text("SHOP: organization/employer\nLOC: null\n")
    settings = DetectorSettings(detector="huggingface", threshold=0.5, model_path=str(folder), label_map=labels, device="cpu")
    findings = make_detector(settings).examine("ACME of Berlin", "en_US")
    assert [(one.entity_type, one.subtype) for one in findings.spans] == [("organization", "employer")]
    assert [one.reason for one in findings.set_aside] == ["not_personal: LOC"]
    assert detector_of(folder, threshold=0.9999).detect("John", "en_US") == []


@pytest.mark.parametrize(("batch", "read_at_once"), [(16, [5, 2, 2, 1]), (1, [])])
def test_a_batch_too_large_for_cuda_is_halved(folder, monkeypatch, caplog, batch, read_at_once):
    reader = ClassifierReader(load_classifier(str(folder), "cpu"), batch)
    whole, sizes = reader._probabilities, []

    def small(pieces):
        if len(pieces) > 2 or batch == 1:
            raise torch.cuda.OutOfMemoryError("CUDA out of memory")
        sizes.append(len(pieces))
        return whole(pieces)

    monkeypatch.setattr(reader, "_probabilities", small)
    if batch == 1:
        with pytest.raises(UsageError, match="too little memory for one window"):
            reader.read(["John"])
        return
    assert len(reader.read(["John"] * read_at_once[0])) == read_at_once[0]
    assert sizes == read_at_once[1:]
    assert "2 windows are read at once from now on" in caplog.text


def _without(*names):
    def damage(folder):
        for name in names:
            (folder / name).unlink()

    return damage


def _replaced(name, text):
    return lambda folder: (folder / name).write_text(text)


def _untrained(folder):
    from transformers import BertConfig, BertModel

    BertModel(BertConfig.from_pretrained(folder)).save_pretrained(folder)
    change_config(folder, architectures=["BertForTokenClassification"])


@pytest.mark.parametrize(
    ("damage", "said"),
    [
        (shutil.rmtree, "there is no such folder"),
        (_without("config.json"), "has no config.json"),
        (_replaced("config.json", "{"), "config.json is damaged"),
        (_without("tokenizer.json"), "has no tokenizer"),
        (_replaced("tokenizer.json", "{"), "the tokenizer cannot be loaded"),
        (_replaced("model.safetensors", "xxxx"), "the model cannot be loaded"),
        (_without("model.safetensors"), "the model cannot be loaded"),
        (lambda folder: change_config(folder, architectures=["BertModel"]), "is no token classifier: it is a BertModel"),
        (lambda folder: change_config(folder, architectures=None), "names no architecture"),
        (_untrained, "lacks 2 weights, such as classifier.bias"),
        (lambda folder: change_config(folder, id2label={str(n): f"LABEL_{n}" for n in range(6)}), "labels of the model have no names"),
    ],
)
def test_a_folder_that_is_no_such_model_is_told_in_one_line(folder, tmp_path, damage, said):
    copy = tmp_path / "copy"
    shutil.copytree(folder, copy)
    damage(copy)
    with pytest.raises(UsageError, match=said) as caught:
        detector_of(copy)
    assert str(copy) in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_fault_in_the_label_map_is_told_before_the_model_is_loaded(tmp_path):
    labels = tmp_path / "labels.yaml"
    labels.write_text("PER: nmae\n")
    with pytest.raises(ConfigError, match=r"labels\.yaml:1: PER: unknown type 'nmae'"):
        HuggingFaceDetector(LocalModel(model_path=str(tmp_path / "none"), label_map=labels), taxonomy=shipped_taxonomy())


@pytest.mark.skipif(torch.cuda.is_available(), reason="there is CUDA")
def test_cuda_where_there_is_none_is_refused(folder):
    with pytest.raises(UsageError, match="--device cuda: torch finds no CUDA device"):
        HuggingFaceDetector(LocalModel(model_path=str(folder), device="cuda"), taxonomy=shipped_taxonomy())
