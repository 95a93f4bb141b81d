"""From training records to the folder of a trained encoder: ``train_on_data`` is what commands call. Needs the extra ``train``."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Final

from piiloom.corpus.store.database import Store
from piiloom.corpus.store.opening import open_to_read
from piiloom.detection.hybrid.hybrid_detectors import MODEL
from piiloom.detection.training.training_data import TrainingData, base_facts, read_input
from piiloom.detection.training.training_options import CHECKPOINT, EncoderOptions, EncoderSettings
from piiloom.foundation.errors import Interrupted, UsageError
from piiloom.foundation.extras import how_to_install
from piiloom.foundation.noop import noop
from piiloom.foundation.whole_files import check_folder, output_errors
from piiloom.tagging.model_folder import CARD, About

if TYPE_CHECKING:
    from piiloom.detection.training.training_options import TrainingHistory, TrainingProgress

_NO_RELEVANCE: Final = "Train spans and types alone with --no-relevance"
_NEEDED: Final = ("sklearn", "torch", "transformers", "safetensors", "tokenizers")


def train_on_data(
    data: TrainingData,
    base: Path,
    out: Path,
    settings: EncoderSettings,
    *,
    watch: Callable[[TrainingProgress], None],
    resume: bool = False,
    force: bool = False,
    onnx: bool = False,
) -> tuple[About, TrainingHistory]:
    """Train the encoder in *base* on *data*, and write it to *out*; returns its card and what came of the training.

    *resume* goes on from the checkpoint in *out*, with the result of a training that was not stopped; *force* begins anew in a folder
    that is not empty. Raises ``UsageError`` for a base that is none, or a library that is missing, ``DataError`` for a damaged
    checkpoint, and ``OutputError`` if *out* cannot be written.
    """
    facts = base_facts(base)
    _check_out(out, resume=resume, force=force)
    for name in (*_NEEDED, *(("onnx", "onnxscript") if onnx else ())):
        if find_spec(name) is None:
            remedy = f"Install it: {how_to_install('train')} (docs/training.md says how to get PyTorch without CUDA)"
            raise UsageError(f"training an encoder needs the package {name}", remedy=remedy)
    from piiloom.detection.encoder.training_session import TrainingSession  # noqa: PLC0415 - an extra brings PyTorch, which takes seconds

    session = TrainingSession(data, base, facts, settings)
    with output_errors(out):
        out.mkdir(parents=True, exist_ok=True)
    return session.train(out, watch, onnx=onnx)


def train_encoder_on(
    model: Path,
    out: Path,
    asked: EncoderOptions,
    *,
    watch: Callable[[TrainingProgress], None] = noop,
    tell: Callable[[str], object] = noop,
    opening: Callable[[Path], AbstractContextManager[Store]] = open_to_read,
) -> tuple[About, TrainingHistory]:
    """Read the records of *asked* and train the encoder in *model* on them; *tell* gets the notes about the records.

    Raises what ``train_on_data`` raises, and ``Interrupted`` after Ctrl-C if there is a checkpoint.
    """
    base_facts(model)  # before the records, which take longer to read
    data = read_input(asked, asked.seed, tell=tell, opening=opening, relevance=asked.relevance, without_relevance=_NO_RELEVANCE)
    try:
        return train_on_data(
            data, model, out, asked.part(EncoderSettings), watch=watch, resume=asked.resume, force=asked.force, onnx=asked.onnx
        )
    except KeyboardInterrupt:
        if not (out / CHECKPOINT).exists():
            raise
        remedy = "Give the same command with --resume, and it goes on from there"
        raise Interrupted("the training was stopped; its last checkpoint is kept", where=str(out), remedy=remedy) from None


def _check_out(out: Path, *, resume: bool, force: bool) -> None:
    if resume and force:
        raise UsageError("--resume goes on, and --force begins anew", where="--resume, --force", remedy="Give one of them")
    if resume:
        if not (out / CHECKPOINT).is_file():
            done = " (the training is done)" if (out / CARD).is_file() else ""
            raise UsageError(f"there is no checkpoint to go on from{done}", where=f"--out {out}", remedy="Leave --resume out")
        return
    check_folder(out, force=force)
    if force and out.exists():
        with output_errors(out):
            for name in (CARD, CHECKPOINT, MODEL):
                (out / name).unlink(missing_ok=True)
