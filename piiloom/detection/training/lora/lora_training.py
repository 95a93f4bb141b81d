"""Train an adapter: from records to the finished folder.

The folder gets peft's ``adapter_config.json`` and ``adapter_model.safetensors``, and ``piiloom.json`` as its last file. Until then it has
checkpoints, from which ``resume`` goes on. Where a GPU's memory is not enough, half as many examples go through the model at once and
twice as often for each step of the optimizer, which gives the same steps.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final

from piiloom.detection.training.lora.examples import TokenExamples, check_enough, examples_of
from piiloom.detection.training.lora.lora_progress import Heard, Watch, listening
from piiloom.detection.training.lora.lora_settings import CAPID_ALPACA, LoraPlace, LoraSettings
from piiloom.detection.training.lora.preparing import Hardware, TrainerParts, choose_hardware, load_for_training, make_trainer
from piiloom.detection.training.training_data import TrainingData
from piiloom.detection.training.unfinished import TrainingNote, UnfinishedTraining, damaged
from piiloom.foundation.errors import Interrupted, PiiloomError, RunError
from piiloom.foundation.noop import noop
from piiloom.foundation.seeding import digest
from piiloom.foundation.whole_files import output_errors
from piiloom.foundation.words import counted
from piiloom.providers.local.libraries import library, out_of_memory
from piiloom.providers.local.loading import load_tokenizer
from piiloom.providers.local.model_folder import ModelFolder, open_folder
from piiloom.providers.local.prompt_layout import PromptLayout
from piiloom.tagging.model_card import CARD, About, write_about

FAMILY: Final = "lora"
_MOST_TOKENS: Final = 4096  # of an example, for a model that does not say how many it takes
_README: Final = "README.md"
_STATE: Final = "trainer_state.json"  # what the trainer writes last to a checkpoint


@dataclass(frozen=True, slots=True, kw_only=True)
class LoraReport:
    """What was trained. ``figures`` are those of ``piiloom.json``; ``notes`` is what went otherwise than one might expect."""

    out: Path
    base: str
    task: str
    figures: dict[str, Any]
    notes: tuple[str, ...]


class _OutOfMemory(Exception):
    """The memory was not enough for a batch."""


def train_lora(
    data: TrainingData, settings: LoraSettings, place: LoraPlace, *, watch: Watch = noop, tell: Callable[[str], object] = noop
) -> LoraReport:
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
    write_about(place.out, _about(data, settings, folder, figures, hardware))
    return LoraReport(out=place.out, base=folder.name, task=settings.task, figures=figures, notes=tuple(notes))


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
        watch: Watch,
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
            _empty_cache()
            batch = note.in_force["batch"]
            if batch == 1:
                remedy = "Use a smaller model, or leave long examples out with --max-tokens"
                raise RunError("the memory is not enough for a single example", where="--batch 1", remedy=remedy)
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
            self._trainer = self._made(note)
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

    def _made(self, note: TrainingNote) -> Any:
        parts = TrainerParts(
            model=load_for_training(self._folder, self._hardware),
            tokenizer=self._tokenizer,
            train=self._train.kept,
            validation=self._validation.kept,
            checkpoints=self._unfinished.checkpoints,
            callback=listening(self._heard, self._watch),
        )
        return make_trainer(self._settings, self._hardware, parts, **note.in_force)

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


def _about(data: TrainingData, settings: LoraSettings, folder: ModelFolder, figures: dict[str, Any], hardware: Hardware) -> About:
    shown = settings.to_json() | {"precision": hardware.precision, "optimizer": hardware.optimizer, "device": hardware.device}
    base = {"name": folder.name, "sha256": folder.digest}
    return About(family=FAMILY, types=data.types, base=base, data=data.about, settings=shown, figures=figures, own_types=data.own_types)


def _empty_cache() -> None:
    torch = library("torch")
    if torch.cuda.is_available():
        torch.cuda.empty_cache()
