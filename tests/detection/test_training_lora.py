"""Training an adapter on a tiny randomly initialised Llama: examples, steps, an interruption, too little memory, bad input."""

from __future__ import annotations

import importlib.util
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from piiloom.taxonomy.entity_types import shipped_taxonomy

pytest.importorskip("torch")

from piiloom.corpus.formats.instruction_tuning import extracting, marking, message, verifying
from piiloom.corpus.markers import PRIVACYAI, marked_text
from piiloom.corpus.record import Span
from piiloom.detection.training import lora_training
from piiloom.detection.training.lora_training import LoraProgress, train_lora
from piiloom.detection.training.training_data import (
    CHECKPOINTS,
    NO_LOSS,
    NOTE,
    TrainingData,
    chat_rows,
    example_of,
    examples_of,
    read_input,
)
from piiloom.detection.training.training_options import TASKS, LoraPlace, LoraSettings, TrainingInput
from piiloom.foundation.errors import DataError, Interrupted, OutputError, RunError, UsageError
from piiloom.providers.factory import make_local_provider
from piiloom.providers.local.loading import PromptLayout, load_model, open_folder
from piiloom.providers.protocol import Message
from piiloom.tagging.model_folder import read_about
from tests.detection.training_rows import row, write_jsonl
from tests.providers.tiny_llama import TEMPLATE, make_tokenizer, write_adapter, write_model

pytestmark = pytest.mark.train

NAMED = (Span(id="1", start=0, end=3, entity_type="name"),)
# The shortest examples, and steps of one: a second is enough for a training.
QUICK = LoraSettings(task="verifier-1", rank=2, alpha=2, batch_size=1, accumulation=1, max_steps=3, learning_rate=1e-3)


def instructions() -> list[str]:
    """So that a prompt has a hundred tokens and not two thousand."""
    return [make(shipped_taxonomy(), relevance=True) for make in (extracting, marking)] + [
        verifying(reasoned=False, taxonomy=shipped_taxonomy())
    ]


@pytest.fixture(scope="module")
def base(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_model(tmp_path_factory.mktemp("models") / "base", also=instructions(), size=2000)


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> TrainingData:
    file = write_jsonl(tmp_path_factory.mktemp("rows") / "train.jsonl", [row(n) for n in range(6)])
    return read_input(TrainingInput(train=(file,), validation_size=1))


def weights(folder: Path) -> dict[str, list[float]]:
    from safetensors.torch import load_file

    return {name: tensor.flatten().tolist() for name, tensor in load_file(folder / "adapter_model.safetensors").items()}


def stopped_at(step: int) -> Any:
    def watch(now: LoraProgress) -> None:
        if now.step == step:
            raise KeyboardInterrupt

    return watch


@pytest.mark.parametrize("task", TASKS)
def test_an_example_is_what_a_detector_asks_and_the_answer(data: TrainingData, task: str) -> None:
    layout = PromptLayout(make_tokenizer(TEMPLATE))
    for messages in chat_rows(data.train, task, taxonomy=shipped_taxonomy()):
        one = example_of(messages, layout)
        asked = [Message(role=part["role"], content=part["content"]) for part in messages[:-1]]
        assert list(one.tokens[: one.prompt]) == layout.prompt(asked)
        labels = one.row["labels"]
        assert labels[: one.prompt] == [NO_LOSS] * one.prompt
        assert layout.read(labels[one.prompt :]) == messages[-1]["content"]
        assert labels[-1] in layout.end_tokens()


def test_the_tasks_are_those_of_the_exports(data: TrainingData) -> None:
    record = data.train[0]
    asked = message(record.context, record.question)
    (capid,) = chat_rows([record], "capid", taxonomy=shipped_taxonomy())
    assert [one["content"] for one in capid[:2]] == [extracting(relevance=True, taxonomy=shipped_taxonomy()), asked]
    assert [one["relevance"] for one in json.loads(capid[2]["content"])] == ["high", "low"]
    (markers,) = chat_rows([record], "markers", taxonomy=shipped_taxonomy())
    assert [one["content"] for one in markers] == [
        marking(relevance=True, taxonomy=shipped_taxonomy()),
        asked,
        marked_text(record.context, record.spans),
    ]
    (signs,) = chat_rows([replace(record, spans=NAMED)], "markers", shipped_taxonomy(), PRIVACYAI)
    assert signs[1]["content"] == message(record.context, None)
    assert signs[2]["content"] == marked_text(record.context, NAMED, PRIVACYAI)
    assert "@@@" in signs[2]["content"]
    verdicts = [one[2]["content"] for one in chat_rows([record], "verifier-1", taxonomy=shipped_taxonomy())]
    assert sorted(verdicts) == ["F", "F", "T", "T"]
    assert [json.loads(one[2]["content"])["answer"] for one in chat_rows([record], "verifier-2", taxonomy=shipped_taxonomy())] == verdicts


def test_from_records_to_an_adapter_that_answers(base: Path, data: TrainingData, tmp_path: Path) -> None:
    steps: list[LoraProgress] = []
    place = LoraPlace(model=base, out=tmp_path / "out")
    report = train_lora(data, QUICK.model_copy(update={"max_steps": 4, "learning_rate": 2e-2}), place, watch=steps.append)
    assert sorted(path.name for path in place.out.iterdir()) == ["adapter_config.json", "adapter_model.safetensors", "piiloom.json"]
    about = read_about(place.out, "lora")
    assert about.settings["task"] == "verifier-1"
    assert about.types == ("occupation", "health")
    assert about.base["sha256"] == open_folder(base).digest
    figures = report.figures
    assert figures["steps"] == 4
    assert figures["examples"] == {"train": 20, "validation": 4}
    assert 0 < figures["validation_loss"][-1][1] < 20
    losses = [one.loss for one in steps if one.loss is not None]
    assert losses[-1] < losses[0], "it learns"
    config = json.loads((place.out / "adapter_config.json").read_text())
    assert config["base_model_name_or_path"] == str(base.resolve())
    assert sorted(config["target_modules"]) == sorted(lora_training.TARGETS)
    assert make_local_provider(base, place.out).endpoint != make_local_provider(base).endpoint
    with pytest.raises(UsageError, match=r"trained on another base model \(base\)"):
        make_local_provider(write_model(tmp_path / "other", seed=5), place.out)


def test_the_saved_adapter_is_the_trained_one(base: Path, data: TrainingData, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import torch

    kept: list[Any] = []
    make = lora_training.make_trainer
    monkeypatch.setattr(lora_training, "make_trainer", lambda *given, **options: kept.append(made := make(*given, **options)) or made)
    train_lora(data, QUICK.model_copy(update={"device": "cpu"}), LoraPlace(model=base, out=tmp_path / "out"))
    ids = torch.tensor([[5, 9, 30, 7]])
    loaded = load_model(open_folder(base, tmp_path / "out"), device="cpu")
    with torch.inference_mode():
        ours, trained = loaded.model(ids).logits, kept[0].model.eval()(ids).logits
    assert torch.allclose(ours, trained, atol=1e-4)


def test_a_stopped_training_goes_on_to_the_same_adapter(base: Path, data: TrainingData, tmp_path: Path) -> None:
    whole, parts = LoraPlace(model=base, out=tmp_path / "whole"), LoraPlace(model=base, out=tmp_path / "parts")
    train_lora(data, QUICK, whole)
    with pytest.raises(Interrupted, match="--resume"):
        train_lora(data, QUICK, parts, watch=stopped_at(2))
    assert not (parts.out / "piiloom.json").exists()
    with pytest.raises(OutputError, match="not empty"):
        train_lora(data, QUICK, parts)
    with pytest.raises(UsageError, match="other data, settings or another base"):
        train_lora(data, QUICK.model_copy(update={"rank": 3}), parts.model_copy(update={"resume": True}))
    seen: list[int] = []
    report = train_lora(data, QUICK, parts.model_copy(update={"resume": True}), watch=lambda now: seen.append(now.step))
    assert seen[0] in {1, 2}
    assert weights(parts.out) == weights(whole.out)
    assert report.figures["steps"] == 3
    with pytest.raises(UsageError, match="finished"):
        train_lora(data, QUICK, parts.model_copy(update={"resume": True}))


def test_a_damaged_checkpoint(base: Path, data: TrainingData, tmp_path: Path) -> None:
    place = LoraPlace(model=base, out=tmp_path / "out")
    with pytest.raises(Interrupted):
        train_lora(data, QUICK, place, watch=stopped_at(2))
    newest = max((place.out / CHECKPOINTS).iterdir())
    (newest / "adapter_model.safetensors").write_bytes(b"cut off")
    with pytest.raises(DataError, match=f"{newest.name}: the checkpoint is damaged"):
        train_lora(data, QUICK, place.model_copy(update={"resume": True}))
    (newest / "trainer_state.json").write_text("{")
    with pytest.raises(DataError, match="the checkpoint is damaged"):
        train_lora(data, QUICK, place.model_copy(update={"resume": True}))
    (place.out / NOTE).write_text("[]")
    with pytest.raises(DataError, match="note of the unfinished training"):
        train_lora(data, QUICK, place.model_copy(update={"resume": True}))


def test_memory_that_is_not_enough_halves_the_batch(
    base: Path, data: TrainingData, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings = QUICK.model_copy(update={"batch_size": 4, "accumulation": 1, "max_steps": 1})
    monkeypatch.setattr(lora_training, "make_trainer", with_room_for(2))
    told: list[str] = []
    report = train_lora(data, settings, LoraPlace(model=base, out=tmp_path / "out"), tell=told.append)
    assert (report.figures["batch"], report.figures["accumulation"]) == (2, 2)
    assert told[-1] == "the memory is not enough: batch 2 with accumulation 2 from now on"  # with CUDA there may be others before
    monkeypatch.setattr(lora_training, "make_trainer", with_room_for(0))
    with pytest.raises(RunError, match="not enough for a single example"):
        train_lora(data, settings.model_copy(update={"batch_size": 1}), LoraPlace(model=base, out=tmp_path / "none"))


def with_room_for(examples: int) -> Any:
    """``make_trainer``, on a GPU whose memory takes so many examples at once."""
    import torch

    make = lora_training.make_trainer

    def limited(*given: Any, **options: Any) -> Any:
        trainer = make(*given, **options)
        step = trainer.training_step

        def training_step(model: Any, inputs: Any, *rest: Any, **more: Any) -> Any:
            if len(inputs["input_ids"]) > examples:
                raise torch.OutOfMemoryError("CUDA out of memory")
            return step(model, inputs, *rest, **more)

        trainer.training_step = training_step
        return trainer

    return limited


def test_the_settings_are_those_of_table_6_and_departures_are_in_log_and_report(
    base: Path, data: TrainingData, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import torch

    table = LoraSettings()
    assert (table.rank, table.alpha, table.batch_size, table.accumulation, table.epochs, table.warmup) == (32, 32, 2, 4, 2.0, 0.03)
    assert (table.weight_decay, table.optimizer, table.precision) == (0.01, "auto", "auto")

    kept: list[Any] = []
    make = lora_training.make_trainer
    monkeypatch.setattr(lora_training, "make_trainer", lambda *given, **options: kept.append(made := make(*given, **options)) or made)
    told: list[str] = []
    settings = QUICK.model_copy(update={"max_steps": 1, "device": "cpu"})
    report = train_lora(data, settings, LoraPlace(model=base, out=tmp_path / "out"), tell=told.append)
    said = "there is no GPU with CUDA: 32 bits a weight instead of 4 and AdamW with 32-bit states instead of 8-bit states"
    assert said in told
    about = read_about(tmp_path / "out", "lora")
    assert said in about.figures["notes"] == list(report.notes)
    assert (about.settings["optimizer"], about.settings["precision"], about.settings["weight_decay"]) == ("adamw", "32bit", 0.01)
    assert (kept[0].args.optim, kept[0].args.weight_decay) == ("adamw_torch", 0.01)

    there = [True]
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    find = importlib.util.find_spec
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: there[0] or None if name == "bitsandbytes" else find(name))
    assert lora_training.choose_hardware(table) == lora_training.Hardware(device="cuda", precision="4bit", optimizer="adamw-8bit")
    there[0] = False
    without = lora_training.choose_hardware(table)
    assert (without.precision, without.optimizer) == ("16bit", "adamw")
    assert without.notes[0].startswith("bitsandbytes is not installed (pip install -e '.[cuda]' in a clone of piiloom): 16 bits a weight")
    with pytest.raises(UsageError, match=r"--optimizer: 8-bit states of AdamW need the library bitsandbytes.*\[cuda\]"):
        lora_training.choose_hardware(LoraSettings(optimizer="adamw-8bit"))
    with pytest.raises(UsageError, match="--optimizer: 8-bit states of AdamW need a GPU with CUDA"):
        lora_training.choose_hardware(LoraSettings(optimizer="adamw-8bit", device="cpu"))


def test_what_is_too_long_is_left_out_and_counted(data: TrainingData) -> None:
    layout = PromptLayout(make_tokenizer(TEMPLATE, also=instructions(), size=2000))
    every = examples_of(data.train, "capid", shipped_taxonomy(), layout, 10_000)
    lengths = sorted(len(one.tokens) for one in every.kept)
    some = examples_of(data.train, "capid", shipped_taxonomy(), layout, lengths[1])
    assert len(some.kept) + some.left_out == 5
    assert some.left_out == sum(length > lengths[1] for length in lengths)
    assert some.longest == lengths[-1]


def test_what_cannot_be_trained_is_told_in_a_line(base: Path, data: TrainingData, tmp_path: Path) -> None:
    place = LoraPlace(model=base, out=tmp_path / "out")
    with pytest.raises(DataError, match=r"--max-tokens: all 24 examples|--max-tokens: all 20 examples"):
        train_lora(data, QUICK.model_copy(update={"max_tokens": 20}), place)
    with pytest.raises(UsageError, match="4 bits need a GPU"):
        train_lora(data, QUICK.model_copy(update={"precision": "4bit", "device": "cpu"}), place)
    with pytest.raises(UsageError, match="an adapter, not a base model"):
        train_lora(data, QUICK, place.model_copy(update={"model": write_adapter(base, tmp_path / "adapter")}))
    for settings, words in (({"task": "ner"}, "no task 'ner'"), ({"batch_size": 0}, "--batch-size"), ({"warmup": 1.0}, "--warmup")):
        with pytest.raises(UsageError, match=words):
            LoraSettings(**settings)  # type: ignore[arg-type]
    assert not place.out.exists(), "nothing was written"


def test_progress_in_a_line() -> None:
    now = LoraProgress(step=3, steps=9, first=1, epoch=0.5, loss=1.25, validation_loss=None, seconds=2.0)
    assert now.line() == "step 3 of 9, epoch 0.5 · loss 1.250 · 6 s left"
    assert "validation 0.500" in replace(now, validation_loss=0.5, step=1).line()
