"""Training an encoder, and detecting with it: a tiny random BERT, a few steps on the processor."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from piiloom.detection.detector import DetectorText
from piiloom.detection.detector_settings import DetectorSettings, LocalModel
from piiloom.detection.encoder.encoder_detector import EncoderDetector, train_on_data
from piiloom.detection.registry import make_detector
from piiloom.detection.training.training_data import TrainingData, read_input
from piiloom.detection.training.training_options import CHECKPOINT, EncoderSettings, TrainingInput
from piiloom.foundation.errors import DataError, RunError, UsageError
from piiloom.tagging.model_folder import CARD, About, read_about, write_about
from piiloom.taxonomy.entity_types import shipped_taxonomy
from tests.detection.tiny_encoder import make_tiny_base
from tests.detection.training_rows import row, write_jsonl

pytestmark = pytest.mark.train

QUICK = EncoderSettings(epochs=2, batch_size=4, precision="fp32", threads=1, max_tokens=40, learning_rate=5e-3, head_learning_rate=1e-2)


@pytest.fixture(scope="module")
def base(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_tiny_base(tmp_path_factory.mktemp("base"))


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> TrainingData:
    """Twelve texts, each with two questions that turn the relevances round."""
    rows = [
        {
            **row(n, group=f"text:{n}", question=question, relevances=("high", "low") if question == "May I drive?" else ("low", "high")),
            "id": f"{n}-{question}",
        }
        for n in range(12)
        for question in ("May I drive?", "Do I have work?")
    ]
    file = write_jsonl(tmp_path_factory.mktemp("data") / "train.jsonl", rows)
    return read_input(TrainingInput(train=(file,), validation_size=4), relevance=True)


@pytest.fixture(scope="module")
def trained(base: Path, data: TrainingData, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, About]:
    out = tmp_path_factory.mktemp("trained") / "encoder"
    about, _ = train_on_data(data, base, out, QUICK.model_copy(update={"epochs": 12, "patience": 0}), watch=lambda _: None, onnx=True)
    return out, about


def weights(folder: Path) -> dict[str, Any]:
    """All weights in *folder*, as bytes by name."""
    from safetensors.numpy import load_file

    return {name: one.tobytes() for file in ("model.safetensors", "heads.safetensors") for name, one in load_file(folder / file).items()}


# ---- training


def test_it_learns_spans_types_and_what_a_question_changes(trained: tuple[Path, About]) -> None:
    out, about = trained
    losses = about.figures["epoch_losses"]
    assert losses[-1] < losses[0] / 2
    assert about.figures["validation"]["span_f1_overlap"] > 0.5
    assert about.types == ("occupation", "health")
    assert not (out / CHECKPOINT).exists()
    assert read_about(out, "encoder").figures == json.loads(json.dumps(about.figures))


def test_a_trained_encoder_learns_on_with_its_heads(trained: tuple[Path, About], base: Path, tmp_path: Path) -> None:
    from piiloom.detection.encoder.network import EncoderNetwork, load_body
    from piiloom.detection.encoder.text_reading import read_heads

    rows = [{**row(n), "question": None} for n in range(100, 110)]
    for one in rows:  # health, which was the second type, is the first here, and age is new
        one["spans"] = [one["spans"][0], {**one["spans"][1], "type": "age"}]
    read = read_input(TrainingInput(train=(write_jsonl(tmp_path / "more.jsonl", rows),), validation_size=0))
    assert read.types == ("health", "age")
    network = EncoderNetwork(load_body(trained[0], eager=True), 5)
    network.begin_with(trained[0], trained[1].types, read.types)
    heads, known = network.heads(), read_heads(trained[0])
    assert heads["tags.weight"][:3].numpy().tolist() == known["tags.weight"][[0, 3, 4]].tolist()
    assert heads["relevance.outer.bias"].numpy().tolist() == known["relevance.outer.bias"].tolist()
    settings = QUICK.model_copy(update={"relevance": False, "patience": 0})
    first = [
        train_on_data(read, one, tmp_path / one.name, settings, watch=lambda _: None)[0].figures["epoch_losses"][0]
        for one in (base, trained[0])
    ]
    assert first[1] < first[0]
    shutil.copytree(trained[0], tmp_path / "damaged")
    (tmp_path / "damaged" / "heads.safetensors").write_bytes(b"x")
    with pytest.raises(DataError, match="damaged"):
        train_on_data(read, tmp_path / "damaged", tmp_path / "none", settings, watch=lambda _: None)


def test_a_killed_training_goes_on_to_the_very_same_weights(base: Path, data: TrainingData, tmp_path: Path) -> None:
    whole, killed = tmp_path / "whole", tmp_path / "killed"
    settings = QUICK.model_copy(update={"checkpoint_minutes": 0})
    train_on_data(data, base, whole, settings, watch=lambda _: None)
    for stop in (3, 5, 8):  # in an epoch, at its end, and in the next one
        with pytest.raises(KeyboardInterrupt):
            train_on_data(data, base, killed, settings, watch=stopping_at(stop), resume=stop > 3)
        assert (killed / CHECKPOINT).exists()
        assert not (killed / CARD).exists()
    train_on_data(data, base, killed, settings, watch=lambda _: None, resume=True)
    assert weights(killed) == weights(whole)
    first, second = (read_about(folder, "encoder").figures for folder in (whole, killed))
    assert {**first, "seconds": 0} == {**second, "seconds": 0}


def stopping_at(step: int) -> Callable[[Any], None]:
    """A watch that is interrupted at *step*."""

    def watch(progress: Any) -> None:
        if progress.step >= step and progress.validation is None:
            raise KeyboardInterrupt

    return watch


def test_a_batch_that_does_not_fit_is_halved_and_learns_the_same(
    base: Path, data: TrainingData, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import torch

    from piiloom.detection.encoder.network import EncoderNetwork

    settings = QUICK.model_copy(update={"epochs": 1, "batch_size": 8, "question_dropout": 0.0})
    without = {"hidden_dropout_prob": 0.0}
    quiet_base = tmp_path / "base"
    shutil.copytree(base, quiet_base)
    (quiet_base / "config.json").write_text(json.dumps(json.loads((base / "config.json").read_text()) | without))
    monkeypatch.setattr("piiloom.detection.encoder.network._DROPOUT", 0.0)
    roomy, _ = train_on_data(data, quiet_base, tmp_path / "roomy", settings, watch=lambda _: None)
    forward, notes = EncoderNetwork.forward, list[str]()

    def small(self: Any, ids: Any, mask: Any, segments: Any = None) -> Any:
        if len(ids) > 2:
            raise torch.OutOfMemoryError("no room")
        return forward(self, ids, mask, segments)

    monkeypatch.setattr(EncoderNetwork, "forward", small)
    tight, history = train_on_data(data, quiet_base, tmp_path / "tight", settings, watch=lambda progress: notes.append(progress.note or ""))
    assert history.micro_batch == 2
    assert [note for note in notes if note] == [note for note in notes if "are read at once from here on" in note]
    assert len([note for note in notes if note]) == 2
    assert tight.figures["epoch_losses"] == pytest.approx(roomy.figures["epoch_losses"], rel=1e-4)
    monkeypatch.setattr(EncoderNetwork, "forward", lambda *_: (_ for _ in ()).throw(torch.OutOfMemoryError("no room")))
    with pytest.raises(RunError, match="--max-tokens"):
        train_on_data(data, quiet_base, tmp_path / "none", settings, watch=lambda _: None)


def test_early_stopping_keeps_the_best_epoch(base: Path, data: TrainingData, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from piiloom.detection.encoder.training_session import ValidationResult, Validator

    scores = iter([0.5, 0.7, 0.6, 0.65, 0.9, 0.9])
    monkeypatch.setattr(Validator, "measure", lambda *_: ValidationResult(figures={"score": next(scores)}))
    about, _ = train_on_data(data, base, tmp_path / "out", QUICK.model_copy(update={"epochs": 6}), watch=lambda _: None)
    assert (about.figures["best_epoch"], about.figures["epochs"]) == (2, 4)


@pytest.mark.parametrize(
    "changed", [{"class_weights": False, "contrast": False}, {"relevance": False}, {"hide_question": True}, {"precision": "bf16"}]
)
def test_its_variants(base: Path, data: TrainingData, tmp_path: Path, changed: dict[str, Any]) -> None:
    about, _ = train_on_data(data, base, tmp_path / "out", QUICK.model_copy(update={"epochs": 1, **changed}), watch=lambda _: None)
    assert ("relevance_balanced" in about.figures["validation"]) == changed.get("relevance", True)
    found = EncoderDetector(LocalModel(model_path=str(tmp_path / "out")), taxonomy=shipped_taxonomy()).detect(
        "Entry 1: I have asthma1.", "en_US", "May I drive?"
    )
    assert all((span.relevance is None) == ("relevance" in changed) for span in found)


def test_a_training_is_not_lost_for_an_export_that_fails(
    base: Path, data: TrainingData, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import torch

    def fails(*_: Any, **__: Any) -> None:
        (tmp_path / "out" / "model.onnx").write_bytes(b"half")
        raise ValueError("no such operator")

    monkeypatch.setattr(torch.onnx, "export", fails)
    with pytest.raises(UsageError, match=r"--onnx: .*ValueError.*complete without it"):
        train_on_data(data, base, tmp_path / "out", QUICK.model_copy(update={"epochs": 1}), watch=lambda _: None, onnx=True)
    assert not (tmp_path / "out" / "model.onnx").exists()
    EncoderDetector(LocalModel(model_path=str(tmp_path / "out")), taxonomy=shipped_taxonomy()).detect("Entry 1: I have asthma1.", "en_US")


# ---- batches


def test_contrast_groups_are_read_together(base: Path, data: TrainingData) -> None:
    from piiloom.detection.encoder.text_reading import WindowMaker, encoder_examples, epoch_batches, open_tokenizer
    from piiloom.detection.encoder.training import contrast_pairs
    from piiloom.detection.training.training_options import Windows

    examples = encoder_examples(
        data.train, WindowMaker(open_tokenizer(base), Windows(max_tokens=40, overlap=10, question_tokens=13)), data.types
    )
    for epoch in range(3):
        batches = epoch_batches(examples, 4, seed=1, epoch=epoch, contrast=True)
        assert sorted(number for batch in batches for number in batch) == list(range(len(examples)))
        for batch in batches:
            own = [examples[number] for number in batch]
            groups = {one.group for one in own}
            assert len(own) == 2 * len(groups)
            assert len(contrast_pairs(own)) == sum(len(one.judged) for one in own) / 2
    assert epoch_batches(examples, 4, seed=1, epoch=0, contrast=True) != epoch_batches(examples, 4, seed=1, epoch=1, contrast=True)


# ---- detecting


@pytest.fixture(scope="module")
def detector(trained: tuple[Path, About]) -> EncoderDetector:
    return EncoderDetector(LocalModel(model_path=str(trained[0]), batch_size=3), taxonomy=shipped_taxonomy())


LONG = " ".join(f"Entry {n}: I have asthma{n} and I work as a baker{n}." for n in range(40))
TEXTS = [
    DetectorText("Entry 3: I have asthma3 and I work as a baker3.", "en_US", "May I drive? Case 3 asks it."),
    DetectorText(LONG, "en_US", "May I drive?"),
]
TEXTS += [
    DetectorText("", "en_US", "May I drive?"),
    DetectorText("Entry 5: I have asthma5.", "sv_SE"),
    DetectorText(" \n", "en_US"),
    DetectorText("🎈" * 9, "en_US", " "),
]


def test_long_texts_are_read_to_their_end(detector: EncoderDetector) -> None:
    found = detector.examine_batch(TEXTS)
    assert all(0 <= one.start < one.end <= len(text.text) for text, part in zip(TEXTS, found, strict=True) for one in part.spans)
    assert [(one.start, one.end) for one in found[1].spans] == sorted((one.start, one.end) for one in found[1].spans)
    assert max(one.end for one in found[1].spans) > len(LONG) - 60
    assert len(found[1].spans) > 40
    assert {one.relevance for one in found[0].spans} <= {"high", "low"}
    assert {one.relevance for one in found[3].spans} == {None}
    assert found[2].spans == found[4].spans == () or not [*found[2].spans, *found[4].spans]


def test_a_batch_finds_what_single_texts_do(detector: EncoderDetector) -> None:
    for text, found in zip(TEXTS, detector.examine_batch(TEXTS), strict=True):
        alone = detector.detect(*text)
        assert near(alone, found.spans)


def near(left: Sequence[Any], right: Sequence[Any]) -> bool:
    """Whether the spans are equal, up to rounding of their scores."""
    return [replace(one, score=0) for one in left] == [replace(one, score=0) for one in right] and all(
        one.score == pytest.approx(other.score, abs=1e-3) for one, other in zip(left, right, strict=True)
    )


def test_onnx_finds_the_same_without_pytorch(trained: tuple[Path, About], monkeypatch: pytest.MonkeyPatch) -> None:
    detector = EncoderDetector(
        LocalModel(model_path=str(trained[0]), device="cpu"), taxonomy=shipped_taxonomy()
    )  # with CUDA it computes in bf16, and scores differ more
    onnx = EncoderDetector(LocalModel(model_path=str(trained[0]), device="onnx"), taxonomy=shipped_taxonomy())
    for found, other in zip(detector.examine_batch(TEXTS), onnx.examine_batch(TEXTS), strict=True):
        assert near(found.spans, other.spans)
    monkeypatch.setattr("piiloom.detection.encoder.encoder_detector.find_spec", lambda _: None)
    assert near(
        EncoderDetector(LocalModel(model_path=str(trained[0])), taxonomy=shipped_taxonomy()).detect(*TEXTS[0]), onnx.detect(*TEXTS[0])
    )


def test_a_threshold_leaves_out_what_is_unsure(trained: tuple[Path, About], detector: EncoderDetector) -> None:
    scores = sorted(one.score for one in detector.detect(*TEXTS[1]))
    half = scores[len(scores) // 2]
    strict = make_detector(DetectorSettings(detector="encoder", model_path=str(trained[0]), threshold=half))
    assert len(strict.detect(*TEXTS[1])) == pytest.approx(sum(score >= half for score in scores), abs=2)


# ---- what goes wrong


def test_bases_that_cannot_be_trained(base: Path, data: TrainingData, tmp_path: Path) -> None:
    bare = tmp_path / "bare"
    shutil.copytree(base, bare)
    (bare / "tokenizer.json").unlink()
    with pytest.raises(UsageError, match="no tokenizer"):
        train_on_data(data, bare, tmp_path / "out", QUICK, watch=lambda _: None)
    broken = tmp_path / "broken"
    shutil.copytree(base, broken)
    (broken / "model.safetensors").write_bytes(b"not weights")
    with pytest.raises(UsageError, match=r"--model .*cannot be loaded"):
        train_on_data(data, broken, tmp_path / "out", QUICK, watch=lambda _: None)
    with pytest.raises(UsageError, match="fp16 needs a CUDA device"):
        train_on_data(data, base, tmp_path / "out", QUICK.model_copy(update={"precision": "fp16", "device": "cpu"}), watch=lambda _: None)


def test_checkpoints_that_are_none(base: Path, data: TrainingData, tmp_path: Path) -> None:
    out = tmp_path / "out"
    with pytest.raises(UsageError, match="no checkpoint to go on from"):
        train_on_data(data, base, out, QUICK, watch=lambda _: None, resume=True)
    with pytest.raises(KeyboardInterrupt):
        train_on_data(data, base, out, QUICK.model_copy(update={"checkpoint_minutes": 0}), watch=stopping_at(2))
    with pytest.raises(UsageError, match="other records, settings or another base"):
        train_on_data(data, base, out, QUICK.model_copy(update={"epochs": 3}), watch=lambda _: None, resume=True)
    (out / CHECKPOINT).write_bytes((out / CHECKPOINT).read_bytes()[:1000])
    with pytest.raises(DataError, match="the checkpoint is damaged"):
        train_on_data(data, base, out, QUICK, watch=lambda _: None, resume=True)


@pytest.fixture
def copied(trained: tuple[Path, About], tmp_path: Path) -> Path:
    shutil.copytree(trained[0], tmp_path / "copied")
    return tmp_path / "copied"


def test_folders_that_are_damaged(copied: Path) -> None:
    whole = (copied / "model.safetensors").read_bytes()
    (copied / "model.safetensors").write_bytes(whole[:-10])
    with pytest.raises(DataError, match=r"model\.safetensors is missing, or is not the one"):
        EncoderDetector(LocalModel(model_path=str(copied)), taxonomy=shipped_taxonomy())
    (copied / "model.safetensors").write_bytes(b"\0" * len(whole))
    with pytest.raises(DataError, match="cannot be loaded"):
        EncoderDetector(LocalModel(model_path=str(copied)), taxonomy=shipped_taxonomy()).detect(*TEXTS[0])
    heads = (copied / "heads.safetensors").read_bytes()
    (copied / "heads.safetensors").write_bytes(b"\0" * len(heads))
    with pytest.raises(DataError, match=r"heads\.safetensors: the file is damaged"):
        EncoderDetector(LocalModel(model_path=str(copied)), taxonomy=shipped_taxonomy()).detect(*TEXTS[0])
    (copied / "tokenizer.json").unlink()
    with pytest.raises(DataError, match=r"tokenizer\.json is missing"):
        EncoderDetector(LocalModel(model_path=str(copied)), taxonomy=shipped_taxonomy())


def test_a_type_that_nobody_knows_is_mapped_or_an_error(copied: Path, tmp_path: Path) -> None:
    about = read_about(copied, "encoder")
    write_about(copied, replace(about, types=("vehicle", "health")))
    with pytest.raises(UsageError, match=r"'vehicle'.*--label-map"):
        EncoderDetector(LocalModel(model_path=str(copied)), taxonomy=shipped_taxonomy())
    mapping = tmp_path / "map.yaml"
    mapping.write_text("vehicle: code\nhealth: null\n")
    found = EncoderDetector(LocalModel(model_path=str(copied), label_map=mapping), taxonomy=shipped_taxonomy()).detect(*TEXTS[1])
    assert {one.entity_type for one in found} == {"code"}


def test_no_onnx_file_is_told(copied: Path) -> None:
    (copied / "model.onnx").unlink()
    with pytest.raises(UsageError, match="Train with --onnx"):
        EncoderDetector(LocalModel(model_path=str(copied), device="onnx"), taxonomy=shipped_taxonomy()).detect(*TEXTS[0])
