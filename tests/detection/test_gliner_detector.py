"""The detector "gliner", with a tiny GLiNER of random weights that is made here."""

from __future__ import annotations

import json
import shutil

import pytest

from piiloom.detection.adapters.transformers_detectors import GlinerDetector
from piiloom.detection.detector import DetectorText
from piiloom.detection.detector_settings import DetectorSettings, LocalModel
from piiloom.detection.registry import make_detector
from piiloom.detection.token_decoding import Words
from piiloom.foundation.errors import UsageError
from piiloom.taxonomy.entity_types import shipped_taxonomy
from tests.detection.tiny_classifier import write_tokenizer

pytest.importorskip("gliner", reason="the extra gliner")
torch = pytest.importorskip("torch")

pytestmark = [
    pytest.mark.train,
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),
    pytest.mark.filterwarnings("ignore::FutureWarning"),
]

TEXT = "John Smith met Anna McDonald in Berlin, and O'Brien paid 34.5 there. "


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    from gliner import GLiNER
    from transformers import BertConfig, BertModel

    torch.set_num_threads(1)
    encoder = tmp_path_factory.mktemp("encoder")
    vocabulary = write_tokenizer(encoder, longest=1000)
    torch.manual_seed(0)
    sizes = {"hidden_size": 16, "num_hidden_layers": 1, "num_attention_heads": 2, "intermediate_size": 16}
    BertModel(BertConfig(vocab_size=len(vocabulary), max_position_embeddings=1000, **sizes)).save_pretrained(encoder)
    settings = {"model_name": str(encoder), "max_width": 4, "max_len": 20, "span_mode": "markerV0", "dropout": 0.0, "num_rnn_layers": 0}
    made = tmp_path_factory.mktemp("gliner")
    GLiNER.from_config({**settings, "hidden_size": 16}).save_pretrained(str(made))
    shutil.rmtree(encoder)  # what is loaded needs nothing but its own folder
    return made


def test_spans_are_whole_words_of_our_types(folder):
    settings = DetectorSettings(detector="gliner", threshold=0.5, model_path=str(folder), device="cpu")
    texts = [DetectorText(TEXT * times, "en_US") for times in (1, 6, 2)]
    texts += [DetectorText("", "en_US"), DetectorText(" \n", "en_US"), DetectorText("\ud800 John Smith [SEP] <<ENT>> met Anna", "en_US")]
    findings = make_detector(settings).examine_batch(texts)
    for text, found in zip(texts, findings, strict=True):
        assert bool(found.spans) == bool(text.text.strip())
        end = 0
        for one in found.spans:
            assert end <= one.start < one.end <= len(text.text)
            assert one.score >= 0.5
            assert Words(text.text).around(one.start, one.end) == (one.start, one.end)
            end = one.end
    assert max(one.end for one in findings[1].spans) > len(TEXT) * 5  # behind what the model reads at once


def test_a_text_that_fits_gives_what_gliner_gives(folder):
    from gliner import GLiNER

    from piiloom.detection.adapters.label_targets import label_targets
    from piiloom.detection.adapters.transformers_detectors import asked_labels

    labels = asked_labels(label_targets(["gliner"], own=None, taxonomy=shipped_taxonomy()))
    text = "John Smith met Anna McDonald in Berlin"
    itself = GLiNER.from_pretrained(str(folder), local_files_only=True).inference([text], list(labels), threshold=0.5)[0]
    found = GlinerDetector(LocalModel(model_path=str(folder), device="cpu"), threshold=0.5, taxonomy=shipped_taxonomy()).examine(
        text, "en_US"
    )
    assert itself
    assert [(one.start, one.end) for one in found.spans] == [(one["start"], one["end"]) for one in itself]
    assert [one.score for one in found.spans] == pytest.approx([one["score"] for one in itself])


def test_own_labels_are_asked_instead(folder, tmp_path):
    labels = tmp_path / "labels.yaml"
    labels.write_text("star sign: belief\nshoe size: null\n")
    detector = GlinerDetector(
        LocalModel(model_path=str(folder), device="cpu", label_map=labels), threshold=0.0, taxonomy=shipped_taxonomy()
    )
    assert detector._labels == ("star sign",)
    assert {one.entity_type for one in detector.detect(TEXT, "en_US")} == {"belief"}


def _limited(folder):
    file = folder / "tokenizer_config.json"
    file.write_text(json.dumps({**json.loads(file.read_text()), "model_max_length": 64}))


@pytest.mark.parametrize(
    ("damage", "said"),
    [
        (shutil.rmtree, "there is no such folder"),
        (lambda folder: (folder / "gliner_config.json").unlink(), "has no gliner_config.json"),
        (lambda folder: (folder / "tokenizer_config.json").unlink(), "has no tokenizer"),
        (lambda folder: [one.unlink() for one in folder.glob("*model*") if one.is_file()], "cannot load the model"),
        (_limited, "the labels leave no room for text"),
    ],
)
def test_a_folder_that_is_no_such_model_is_told_in_one_line(folder, tmp_path, damage, said):
    copy = tmp_path / "copy"
    shutil.copytree(folder, copy)
    damage(copy)
    with pytest.raises(UsageError, match=said) as caught:
        GlinerDetector(LocalModel(model_path=str(copy), device="cpu"), taxonomy=shipped_taxonomy())
    assert "\n" not in str(caught.value)
