"""One training from a base model to a trained folder. Needs the extra ``train``; ``encoder_training`` has checked what it is given."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any, Final

import torch
import transformers
from safetensors.torch import save_file

from piiloom.detection.encoder.encoder_settings import EncoderSettings, TrainingHistory, TrainingProgress
from piiloom.detection.encoder.examples import HIDDEN, encoder_examples, tag_count
from piiloom.detection.encoder.network import EncoderNetwork, TorchBackend, chosen_precision, load_body, model_tokens, precision_name
from piiloom.detection.encoder.onnx_backend import MODEL, export_onnx
from piiloom.detection.encoder.text_reading import HEADS, TOKENIZER, EncoderReader, RelevanceHead, WindowMaker, plain_tokenizer
from piiloom.detection.encoder.training import Checkpoints, EncoderTraining, seed_all
from piiloom.detection.encoder.validating import ValidationResult, Validator
from piiloom.detection.training.training_data import TrainingData
from piiloom.foundation.errors import UsageError
from piiloom.foundation.seeding import digest
from piiloom.foundation.torch_devices import chosen_device
from piiloom.foundation.whole_files import output_errors
from piiloom.tagging.model_card import CARD, About, read_about, write_about

WEIGHTS: Final = "model.safetensors"


class TrainingSession:
    """The network, the tokenizer and the validation of a training; *facts* are those of the base for the card."""

    def __init__(self, data: TrainingData, base: Path, facts: Mapping[str, Any], settings: EncoderSettings) -> None:
        if settings.threads:
            torch.set_num_threads(settings.threads)
        self._data, self._settings, self._facts = data, settings, facts
        self._device = torch.device(chosen_device(settings.device))
        self._dtype = chosen_precision(settings.precision, self._device)
        seed_all(settings.seed)
        body = load_body(base, eager=self._device.type == "cpu" and self._dtype is not None)
        self._tokenizer = fast_tokenizer(base)
        self._pad = int(self._tokenizer.pad_token_id or 0)
        network = EncoderNetwork(body, tag_count(len(data.types)))
        if (base / HEADS).is_file() and (base / CARD).is_file():  # an encoder that piiloom has trained learns on
            network.begin_with(base, read_about(base, "encoder").types, data.types)
        self._network = network.to(self._device)
        self._windows = settings.windows.bounded(model_tokens(body.config))
        self._maker = WindowMaker(plain_tokenizer(self._tokenizer.backend_tokenizer), self._windows)
        self._validator = Validator(data.validation, data.types, hide=HIDDEN if settings.hide_question else None)
        self._measured = ValidationResult(figures={})

    def train(self, out: Path, watch: Callable[[TrainingProgress], None], *, onnx: bool) -> tuple[About, TrainingHistory]:
        """Train, going on from a checkpoint in *out* if there is one, and write the folder."""
        data = self._data
        examples = encoder_examples(data.train, self._maker, data.types, hide_question=self._settings.hide_question)
        self._settings = settings = self._settings.for_examples(len(examples))
        identity = digest(data.digest, list(data.types), settings.shaping, self._facts, precision_name(self._dtype), self._device.type)
        checkpoints = Checkpoints(out, identity)
        validate = self._validate if data.validation else None
        training = EncoderTraining(self._network, examples, settings, pad=self._pad, dtype=self._dtype, validate=validate, watch=watch)
        self._measured = ValidationResult(figures={}, outside_bias=training.outside_bias)  # until validation finds a better one
        history = training.run(checkpoints)
        self._network.eval()
        figures = self._validate(self._network) if data.validation else {}  # once more, of the best epoch: its calibration is kept
        about, failure = self._write(out, self._about(history, figures, len(examples)), onnx=onnx)
        checkpoints.remove()
        if failure is not None:
            raise failure
        return about, history

    def _validate(self, network: EncoderNetwork) -> dict[str, float]:
        reader = EncoderReader(TorchBackend(network, self._dtype), self._maker, pad=self._pad, batch_size=self._settings.batch_size)
        self._measured = self._validator.measure(reader, head_of(network) if self._settings.relevance else None)
        return self._measured.figures

    def _about(self, history: TrainingHistory, figures: Mapping[str, float], examples: int) -> About:
        used = {
            "windows": asdict(self._windows),
            "pad": self._pad,
            "learnt_relevance": self._settings.relevance,
            "calibration": asdict(self._measured.calibration) if self._measured.calibration is not None else None,
            "outside_bias": self._measured.outside_bias,
            "precision_used": precision_name(self._dtype),
            "device_used": self._device.type,
            "threads_used": torch.get_num_threads(),
        }
        came = {
            "validation": dict(figures),
            "best_epoch": history.best_epoch,
            "epochs": len(history.epoch_losses),
            "epoch_losses": [round(loss, 6) for loss in history.epoch_losses],
            "validations": history.validations,
            "micro_batch": history.micro_batch,
            "seconds": round(history.seconds, 1),
        }
        return About(
            family="encoder",
            types=self._data.types,
            own_types=self._data.own_types,
            base=self._facts,
            data={**self._data.about, "examples": examples},
            settings={**self._settings.to_json(), **used},
            figures=came,
        )

    def _write(self, out: Path, about: About, *, onnx: bool) -> tuple[About, UsageError | None]:
        """Write the folder, and return its card and why it has no ONNX file, if it should have one.

        The card comes last, with the size of each file, by which a broken copy is known.
        """
        network, failure = self._network.to("cpu"), None
        with output_errors(out):
            network.body.save_pretrained(out)
            self._tokenizer.save_pretrained(out)
            self._tokenizer.backend_tokenizer.save(str(out / TOKENIZER))  # as it was used here: without padding and cutting
            save_file(network.heads(), out / HEADS)
            if onnx:
                try:
                    export_onnx(network, out)
                except UsageError as error:  # a training of hours is not lost for that
                    failure = error
                    (out / MODEL).unlink(missing_ok=True)
            sizes = {name: (out / name).stat().st_size for name in (WEIGHTS, HEADS, TOKENIZER, MODEL) if (out / name).is_file()}
        about = replace(about, settings={**about.settings, "files": sizes})
        write_about(out, about)
        return about, failure


def head_of(network: EncoderNetwork) -> RelevanceHead:
    """Return the relevance head of *network* as it is now."""
    return RelevanceHead.of({name: weight.float().numpy() for name, weight in network.heads().items()})


def fast_tokenizer(base: Path) -> Any:
    """Return the tokenizer in *base*. Raises ``UsageError`` unless it is one that tells where its tokens stand."""
    remedy = "Use a base with a tokenizer.json, or one that transformers can make it from"
    try:
        tokenizer = transformers.AutoTokenizer.from_pretrained(base, local_files_only=True)
    except Exception as error:  # the library raises what it likes
        raise UsageError(f"the tokenizer cannot be loaded ({type(error).__name__})", where=f"--model {base}", remedy=remedy) from error
    if not getattr(tokenizer, "is_fast", False):
        raise UsageError("the tokenizer does not tell where its tokens stand in the text", where=f"--model {base}", remedy=remedy)
    return tokenizer
