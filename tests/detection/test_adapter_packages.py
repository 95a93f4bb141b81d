"""What is told where a package of an adapter is not installed, with or without which this runs."""

from __future__ import annotations

import sys

import pytest

from piiloom.detection.detector_settings import DetectorSettings
from piiloom.detection.registry import make_detector
from piiloom.foundation.errors import UsageError


@pytest.fixture
def folder(tmp_path):
    """A folder that looks like that of a model until it is loaded."""
    (tmp_path / "config.json").write_text('{"architectures": ["BertForTokenClassification"]}')
    for name in ("gliner_config.json", "tokenizer_config.json", "tokenizer.json"):
        (tmp_path / name).write_text("{}")
    return str(tmp_path)


@pytest.mark.parametrize(
    ("detector", "package", "said", "extra"),
    [
        ("presidio", "presidio_analyzer", "presidio-analyzer is not installed", "presidio"),
        ("huggingface", "torch", "torch is not installed", "train"),
        ("gliner", "gliner", "gliner is not installed", "gliner"),
    ],
)
def test_a_missing_package_is_told_with_how_to_install_it(monkeypatch, folder, detector, package, said, extra):
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(UsageError, match=said) as caught:
        make_detector(DetectorSettings(detector=detector, model_path=folder))
    assert f"pip install -e '.[{extra}]'" in str(caught.value)


def test_a_model_that_is_no_token_classifier_is_told_before_anything_is_loaded(monkeypatch, tmp_path):
    monkeypatch.setitem(sys.modules, "torch", None)
    (tmp_path / "config.json").write_text('{"architectures": ["BertForSequenceClassification"]}')
    (tmp_path / "piiloom.json").write_text("{}")
    with pytest.raises(UsageError, match="no token classifier: it is a BertForSequenceClassification") as caught:
        make_detector(DetectorSettings(detector="huggingface", model_path=str(tmp_path)))
    assert "--detector encoder" in str(caught.value)
