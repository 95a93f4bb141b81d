"""Train an adapter (LoRA) for a local language model on the rows of our exports: from records to the finished folder.

The folder gets peft's ``adapter_config.json`` and ``adapter_model.safetensors``, and ``piiloom.json`` as its last file. Until then it has
checkpoints, from which ``resume`` goes on. Where a GPU's memory is not enough, half as many examples go through the model at once and
twice as often for each step of the optimizer, which gives the same steps.
"""

from __future__ import annotations

import importlib.util
import math
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Final

from piiloom.detection.training.training_data import (
    TokenExample,
    TokenExamples,
    TrainedReport,
    TrainingData,
    TrainingNote,
    UnfinishedTraining,
    check_enough,
    damaged,
    examples_of,
)
from piiloom.detection.training.training_options import ADAMW, ADAMW_8BIT, CAPID_ALPACA, LoraPlace, LoraSettings
from piiloom.foundation.errors import Interrupted, PiiloomError, RunError, UsageError, how_to_install
from piiloom.foundation.noop import noop
from piiloom.foundation.seeding import digest
from piiloom.foundation.torch_devices import chosen_device
from piiloom.foundation.whole_files import output_errors
from piiloom.foundation.words import counted
from piiloom.providers.local.loading import ModelFolder, PromptLayout, library, load_base, load_tokenizer, open_folder, out_of_memory
from piiloom.tagging.model_folder import CARD, write_about

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


def adapter_config(settings: LoraSettings, model: Any) -> Any:
    """Return peft's settings of an adapter to those layers of ``TARGETS`` that *model* has; of another architecture to all linear ones."""
    ends = {name.rpartition(".")[2] for name, _ in model.named_modules()}
    return library("peft").LoraConfig(
        r=settings.rank,
        lora_alpha=settings.alpha,
        lora_dropout=settings.dropout,
        target_modules=[name for name in TARGETS if name in ends] or ALL_LINEAR,
        bias="none",
        task_type="CAUSAL_LM",
    )


def make_trainer(
    settings: LoraSettings,
    hardware: Hardware,
    *,
    model: Any,
    tokenizer: Any,
    train: Sequence[TokenExample],
    validation: Sequence[TokenExample],
    checkpoints: Path,
    callback: Any,
    batch: int,
    accumulation: int,
) -> Any:
    """Return trl's trainer for a new adapter; equal settings give equal adapters on one machine."""
    torch, trl, datasets, transformers = library("torch"), library("trl"), library("datasets"), library("transformers")
    transformers.utils.logging.set_verbosity_error()  # what goes wrong is raised; the rest is for those who write trainers
    transformers.set_seed(settings.seed)
    on_gpu = hardware.device == "cuda"
    half = "" if hardware.precision == "32bit" or not on_gpu else "bf16" if torch.cuda.is_bf16_supported() else "fp16"
    config = trl.SFTConfig(
        output_dir=str(checkpoints),
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
        eval_strategy="epoch" if validation else "no",
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
    rows = [datasets.Dataset.from_list([one.row for one in examples]) for examples in (train, validation) if examples]
    trainer = trl.SFTTrainer(
        model=model,
        args=config,
        train_dataset=rows[0],
        eval_dataset=rows[1] if validation else None,
        processing_class=tokenizer,
        peft_config=adapter_config(settings, model),
        callbacks=[callback],
    )
    trainer.remove_callback(transformers.PrinterCallback)  # it prints each step to standard output
    return trainer


@dataclass(frozen=True, slots=True, kw_only=True)
class LoraProgress:
    """Where the training is. ``seconds`` are those of this session, which began at step ``first``."""

    step: int
    steps: int
    first: int
    epoch: float
    loss: float | None
    validation_loss: float | None
    seconds: float

    def line(self) -> str:
        """Return it as a line."""
        done = self.step - self.first
        left = self.seconds / done * (self.steps - self.step) if done else None
        parts = [f"step {self.step:,} of {self.steps:,}, epoch {self.epoch:.1f}"]
        parts += [] if self.loss is None else [f"loss {self.loss:.3f}"]
        parts += [] if self.validation_loss is None else [f"validation {self.validation_loss:.3f}"]
        parts += [] if left is None else [f"{math.ceil(left / 60)} min left" if left > 90 else f"{left:.0f} s left"]
        return " · ".join(parts)


@dataclass(slots=True, kw_only=True)
class Heard:
    """Losses as the trainer told them; ``validation`` has the epoch, too."""

    losses: list[float] = field(default_factory=list)
    validation: list[tuple[float, float]] = field(default_factory=list)
    first: int = 0
    began: float = field(default_factory=time.monotonic)

    def progress(self, state: Any) -> LoraProgress:
        """Return the progress of the trainer whose *state* this is."""
        return LoraProgress(
            step=state.global_step,
            steps=state.max_steps,
            first=self.first,
            epoch=state.epoch or 0.0,
            loss=self.losses[-1] if self.losses else None,
            validation_loss=self.validation[-1][1] if self.validation else None,
            seconds=time.monotonic() - self.began,
        )


def listening(heard: Heard, watch: Callable[[LoraProgress], object] = noop) -> Any:
    """Return a callback of transformers that fills *heard* and tells *watch*; the class is made here, since its base is imported late."""

    def begin(_self: Any, _args: Any, state: Any, _control: Any, **_: Any) -> None:
        heard.first = state.global_step
        heard.began = time.monotonic()
        # A resumed training has the losses of before in its state.
        heard.losses[:] = [one["loss"] for one in state.log_history if "loss" in one]
        heard.validation[:] = [(one["epoch"], one["eval_loss"]) for one in state.log_history if "eval_loss" in one]
        watch(heard.progress(state))

    def log(_self: Any, _args: Any, state: Any, _control: Any, logs: dict[str, Any] | None = None, **_: Any) -> None:
        if logs and "loss" in logs:
            heard.losses.append(float(logs["loss"]))
        if logs and "eval_loss" in logs:
            heard.validation.append((float(logs["epoch"]), float(logs["eval_loss"])))
        watch(heard.progress(state))

    base = library("transformers").TrainerCallback
    return type("Listening", (base,), {"on_train_begin": begin, "on_log": log})()


FAMILY: Final = "lora"
_MOST_TOKENS: Final = 4096  # of an example, for a model that does not say how many it takes
_README: Final = "README.md"
_STATE: Final = "trainer_state.json"  # what the trainer writes last to a checkpoint


class _OutOfMemory(Exception):
    """The memory was not enough for a batch."""


def train_lora(
    data: TrainingData,
    settings: LoraSettings,
    place: LoraPlace,
    *,
    watch: Callable[[LoraProgress], object] = noop,
    tell: Callable[[str], object] = noop,
) -> TrainedReport:
    """Train an adapter on *data*; *watch* hears of each step, *tell* of what goes otherwise than asked.

    Raises ``UsageError`` for a base that is none or settings that this machine cannot do, ``DataError`` for records without an example,
    ``OutputError`` for a folder that cannot be used, ``RunError`` if not even one example fits into memory, and ``Interrupted``
    after Ctrl-C.
    """
    began = time.monotonic()
    hardware = choose_hardware(settings)
    folder = open_folder(place.model)
    tokenizer = load_tokenizer(folder)
    layout = PromptLayout(tokenizer, alpaca=settings.task == CAPID_ALPACA)
    most = min(settings.max_tokens or folder.context or _MOST_TOKENS, folder.context or settings.max_tokens or _MOST_TOKENS)
    markers = settings.marker_set
    train, validation = (examples_of(one, settings.task, data.taxonomy, layout, most, markers) for one in (data.train, data.validation))
    check_enough(train, most, settings.task)
    notes = [*hardware.notes, *_told(train, validation, most, layout)]
    unsigned = sum(markers.label(span, one.context) is None for one in data.train for span in one.spans)
    if unsigned:
        notes.append(f"{counted(unsigned, 'span')} to train on without a sign for the type, and not marked")
    for note in notes:
        tell(note)

    def say(what: str) -> None:
        notes.append(what)
        tell(what)

    unfinished = UnfinishedTraining(place.out, finished=CARD, state=_STATE)
    wanted = TrainingNote(
        digest=digest(data.digest, settings.identity, hardware.precision, hardware.optimizer, folder.digest, most),
        in_force={"batch": settings.batch_size, "accumulation": settings.accumulation},
    )
    session = _LoraSession(settings, hardware, folder, tokenizer, (train, validation), unfinished, watch)
    in_force = session.train(unfinished.begin(wanted, resume=place.resume, force=place.force), say)
    session.save(place.out)
    figures = session.figures(in_force) | {"seconds": round(time.monotonic() - began, 1), "device": hardware.device, "notes": notes}
    unfinished.finish()
    shown = settings.to_json() | {"precision": hardware.precision, "optimizer": hardware.optimizer, "device": hardware.device}
    base = {"name": folder.name, "sha256": folder.digest}
    write_about(place.out, data.card(FAMILY, base, shown, figures))
    return TrainedReport(out=place.out, base=folder.name, task=settings.task, figures=figures, notes=tuple(notes))


class _LoraSession:
    """One session of a training: from the state of the folder to the trained model in memory."""

    def __init__(
        self,
        settings: LoraSettings,
        hardware: Hardware,
        folder: ModelFolder,
        tokenizer: Any,
        examples: tuple[TokenExamples, TokenExamples],
        unfinished: UnfinishedTraining,
        watch: Callable[[LoraProgress], object],
    ) -> None:
        self._settings, self._hardware, self._folder, self._tokenizer = settings, hardware, folder, tokenizer
        self._train, self._validation = examples
        self._unfinished, self._watch = unfinished, watch
        self._heard = Heard()
        self._trainer: Any = None

    def train(self, note: TrainingNote, say: Callable[[str], object]) -> TrainingNote:
        """Train to the end, with smaller batches where memory is not enough; return how it went at last."""
        while True:
            try:
                self._attempt(note)
            except _OutOfMemory:
                pass
            else:
                return note
            self._trainer = None  # what it holds on to is free only behind the block
            torch = library("torch")
            if torch.cuda.is_available():
                torch.cuda.empty_cache()
            batch = note.in_force["batch"]
            if batch == 1:
                raise RunError(
                    "the memory is not enough for a single example",
                    where="--batch 1",
                    remedy="Use a smaller model, or leave long examples out with --max-tokens",
                )
            # The largest part that divides it (of 2, 4, 8 the half), so that a step has as many examples as before.
            smaller = max(size for size in range(1, batch) if batch % size == 0)
            accumulation = batch * note.in_force["accumulation"] // smaller
            note = replace(note, in_force={"batch": smaller, "accumulation": accumulation})
            say(f"the memory is not enough: batch {smaller} with accumulation {accumulation} from now on")
            self._unfinished.note(note)

    def _attempt(self, note: TrainingNote) -> None:
        """Train with the batch of *note* from the last checkpoint on. Raises ``_OutOfMemory``."""
        checkpoint = self._unfinished.last_checkpoint()
        try:
            self._trainer = make_trainer(
                self._settings,
                self._hardware,
                model=load_for_training(self._folder, self._hardware),
                tokenizer=self._tokenizer,
                train=self._train.kept,
                validation=self._validation.kept,
                checkpoints=self._unfinished.checkpoints,
                callback=listening(self._heard, self._watch),
                **note.in_force,
            )
            self._trainer.train(resume_from_checkpoint=None if checkpoint is None else str(checkpoint))
        except KeyboardInterrupt:
            raise Interrupted("the training is stopped", remedy="Go on from its last checkpoint: the same command with --resume") from None
        except (PiiloomError, OSError):
            raise
        except Exception as error:
            if out_of_memory(error):
                raise _OutOfMemory from None
            if checkpoint is not None and self._heard.first == 0:  # not a step was made: the checkpoint could not be read
                raise damaged(checkpoint) from None
            raise

    def save(self, out: Path) -> None:
        """Write the adapter. peft's own page about it is left out: it is an empty form."""
        model = self._trainer.model
        with output_errors(out):
            # The path as it was given may be relative to a folder that nobody knows later.
            model.peft_config["default"].base_model_name_or_path = str(self._folder.base.resolve())
            model.save_pretrained(str(out), save_embedding_layers=False)
            with suppress(FileNotFoundError):
                (out / _README).unlink()

    def figures(self, note: TrainingNote) -> dict[str, Any]:
        """What there is to tell of the training."""
        heard = self._heard
        last = heard.losses[-max(1, len(heard.losses) // 10) :]
        return {
            "steps": self._trainer.state.global_step,
            **note.in_force,
            "loss": round(sum(last) / len(last), 4) if last else None,
            "validation_loss": [[round(epoch, 2), round(loss, 4)] for epoch, loss in heard.validation],
            "examples": {"train": len(self._train.kept), "validation": len(self._validation.kept)},
            "too_long": {"train": self._train.left_out, "validation": self._validation.left_out},
            "longest_example": max(self._train.longest, self._validation.longest),
        }


def _told(train: TokenExamples, validation: TokenExamples, most: int, layout: PromptLayout) -> list[str]:
    """Return what the user should know of the examples."""
    notes = []
    left_out, longest = train.left_out + validation.left_out, max(train.longest, validation.longest)
    if left_out:
        notes.append(f"{left_out:,} examples of more than {most:,} tokens left out (the longest has {longest:,})")
    if not layout.has_template and not layout.alpaca:
        notes.append("the tokenizer has no chat template: instruction, input and response are laid out as in Alpaca")
    if not validation.kept:
        notes.append("no validation loss: there are no validation examples")
    return notes
