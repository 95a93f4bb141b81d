"""The base model in memory, and the trainer for it. What is imported here takes seconds."""

from __future__ import annotations

import importlib.util
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from piiloom.detection.training.lora.examples import TokenExample
from piiloom.detection.training.lora.lora_settings import ADAMW, ADAMW_8BIT, LoraSettings
from piiloom.foundation.errors import UsageError
from piiloom.foundation.extras import how_to_install
from piiloom.foundation.torch_devices import chosen_device
from piiloom.providers.local.libraries import library
from piiloom.providers.local.loading import load_base
from piiloom.providers.local.model_folder import ModelFolder

TARGETS: Final = ("q_proj", "k_proj", "v_proj", "o_proj", "gate_proj", "up_proj", "down_proj")
ALL_LINEAR: Final = "all-linear"
_BITSANDBYTES: Final = "bitsandbytes"  # never imported here: transformers does so where it is asked for
_EXTRA: Final = "cuda"
_OPTIMIZERS: Final = {ADAMW: "adamw_torch", ADAMW_8BIT: "adamw_8bit"}  # their names in transformers


@dataclass(frozen=True, slots=True, kw_only=True)
class Hardware:
    """The device of the training, the precision of the model, the optimizer, and notes for the user."""

    device: str
    precision: str
    optimizer: str
    notes: tuple[str, ...] = ()


def choose_hardware(settings: LoraSettings) -> Hardware:
    """Return the meaning of *settings* on this machine. Raises ``UsageError`` for a GPU or a library that it lacks."""
    device = chosen_device(settings.device)
    there = importlib.util.find_spec(_BITSANDBYTES) is not None
    for asked, option, needs in (
        (settings.precision == "4bit", "--precision", "4 bits need"),
        (settings.optimizer == ADAMW_8BIT, "--optimizer", "8-bit states of AdamW need"),
    ):
        if asked and device != "cuda":
            raise UsageError(f"{needs} a GPU with CUDA", where=option, remedy="Leave it out on a CPU")
        if asked and not there:
            raise UsageError(f"{needs} the library {_BITSANDBYTES}", where=option, remedy=f"Install it: {how_to_install(_EXTRA)}")
    small = device == "cuda" and there
    precision = settings.precision if settings.precision != "auto" else "4bit" if small else "32bit" if device == "cpu" else "16bit"
    optimizer = settings.optimizer if settings.optimizer != "auto" else ADAMW_8BIT if small else ADAMW
    instead = [f"{precision.removesuffix('bit')} bits a weight instead of 4"] if settings.precision == "auto" else []
    instead += ["AdamW with 32-bit states instead of 8-bit states"] if settings.optimizer == "auto" else []
    why = "there is no GPU with CUDA" if device == "cpu" else f"{_BITSANDBYTES} is not installed ({how_to_install(_EXTRA)})"
    notes = (f"{why}: {' and '.join(instead)}",) if instead and not small else ()
    return Hardware(device=device, precision=precision, optimizer=optimizer, notes=notes)


def load_for_training(folder: ModelFolder, hardware: Hardware) -> Any:
    """Load the base model in the precision of *hardware*."""
    torch = library("torch")
    half = torch.bfloat16 if hardware.device == "cpu" or torch.cuda.is_bf16_supported() else torch.float16
    if hardware.precision == "4bit":
        quantization = library("transformers").BitsAndBytesConfig(
            load_in_4bit=True, bnb_4bit_quant_type="nf4", bnb_4bit_use_double_quant=True, bnb_4bit_compute_dtype=half
        )
        return load_base(folder, dtype=half, quantization_config=quantization, device_map={"": 0})
    return load_base(folder, dtype=torch.float32 if hardware.precision == "32bit" else half)


def targets_in(model: Any) -> list[str] | str:
    """Return which layers get an adapter: those of ``TARGETS`` that *model* has; of another architecture all linear ones."""
    ends = {name.rpartition(".")[2] for name, _ in model.named_modules()}
    found = [name for name in TARGETS if name in ends]
    return found or ALL_LINEAR


@dataclass(frozen=True, slots=True, kw_only=True)
class TrainerParts:
    """What a trainer is made from."""

    model: Any
    tokenizer: Any
    train: Sequence[TokenExample]
    validation: Sequence[TokenExample]
    checkpoints: Path
    callback: Any


def make_trainer(settings: LoraSettings, hardware: Hardware, parts: TrainerParts, *, batch: int, accumulation: int) -> Any:
    """Return trl's trainer for a new adapter; equal settings give equal adapters on one machine."""
    torch, trl, datasets, transformers = library("torch"), library("trl"), library("datasets"), library("transformers")
    transformers.utils.logging.set_verbosity_error()  # what goes wrong is raised; the rest is for those who write trainers
    transformers.set_seed(settings.seed)
    on_gpu = hardware.device == "cuda"
    half = "" if hardware.precision == "32bit" or not on_gpu else "bf16" if torch.cuda.is_bf16_supported() else "fp16"
    config = trl.SFTConfig(
        output_dir=str(parts.checkpoints),
        per_device_train_batch_size=batch,
        per_device_eval_batch_size=batch,
        gradient_accumulation_steps=accumulation,
        num_train_epochs=settings.epochs,
        max_steps=-1 if settings.max_steps is None else settings.max_steps,
        learning_rate=settings.learning_rate,
        warmup_steps=settings.warmup,  # less than 1: a share of the steps
        optim=_OPTIMIZERS[hardware.optimizer],
        weight_decay=settings.weight_decay,
        seed=settings.seed,
        data_seed=settings.seed,
        use_cpu=not on_gpu,
        bf16=half == "bf16",
        fp16=half == "fp16",
        gradient_checkpointing=on_gpu,
        gradient_checkpointing_kwargs={"use_reentrant": False} if on_gpu else None,
        max_length=None,  # what is too long was left out and counted
        packing=False,
        dataset_kwargs={"skip_prepare_dataset": True},  # the tokens are made by the code that asks, too
        eval_strategy="epoch" if parts.validation else "no",
        save_strategy="steps",
        save_steps=0.1,  # of all steps: a killed training loses a tenth at most
        save_total_limit=2,
        logging_steps=1,
        prediction_loss_only=True,
        dataloader_pin_memory=on_gpu,
        disable_tqdm=True,
        report_to="none",
    )
    if config.n_gpu > 1:
        config._n_gpu = 1  # noqa: SLF001 - with several, the trainer would put a batch on each, and a step would be another
    adapter = library("peft").LoraConfig(
        r=settings.rank,
        lora_alpha=settings.alpha,
        lora_dropout=settings.dropout,
        target_modules=targets_in(parts.model),
        bias="none",
        task_type="CAUSAL_LM",
    )
    rows: Callable[[Sequence[TokenExample]], Any] = lambda examples: datasets.Dataset.from_list([one.row for one in examples])  # noqa: E731
    trainer = trl.SFTTrainer(
        model=parts.model,
        args=config,
        train_dataset=rows(parts.train),
        eval_dataset=rows(parts.validation) if parts.validation else None,
        processing_class=parts.tokenizer,
        peft_config=adapter,
        callbacks=[parts.callback],
    )
    trainer.remove_callback(transformers.PrinterCallback)  # it prints each step to standard output
    return trainer
