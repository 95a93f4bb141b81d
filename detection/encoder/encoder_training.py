"""From training records to the folder of a trained encoder. Needs the extra ``train``; ``train_encoder`` is what commands call."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from piiloom.detection.encoder.calibration import Calibration
from piiloom.detection.encoder.encoder_settings import CHECKPOINT, EncoderSettings
from piiloom.detection.encoder.head_files import HEADS
from piiloom.detection.encoder.onnx_backend import MODEL, export_onnx
from piiloom.detection.encoder.relevance_head import RelevanceHead
from piiloom.detection.encoder.tags import tag_count
from piiloom.detection.encoder.text_reading import TextReader
from piiloom.detection.encoder.validating import Validator
from piiloom.detection.encoder.windows import TOKENIZER, WindowMaker, plain
from piiloom.detection.training.model_card import CARD, About, base_facts, write_about
from piiloom.detection.training.training_data import TrainingData
from piiloom.foundation.errors import UsageError
from piiloom.foundation.extras import how_to_install
from piiloom.foundation.seeding import digest
from piiloom.foundation.whole_files import check_folder, output_errors

if TYPE_CHECKING:
    from piiloom.detection.encoder.network import EncoderNetwork
    from piiloom.detection.encoder.training import History, TrainingProgress

FAMILY: Final = "encoder"
WEIGHTS: Final = "model.safetensors"


def train_encoder(
    data: TrainingData,
    base: Path,
    out: Path,
    settings: EncoderSettings,
    *,
    watch: Callable[[TrainingProgress], None],
    resume: bool = False,
    force: bool = False,
    onnx: bool = False,
) -> tuple[About, History]:
    """Train the encoder in *base* on *data*, and write it to *out*; returns its card and what came of the training.

    *resume* goes on from the checkpoint in *out*, with the result of a training that was not stopped; *force* begins anew in a folder
    that is not empty. Raises ``UsageError`` for a base that is none, or a library that is missing, ``DataError`` for a damaged
    checkpoint, and ``OutputError`` if *out* cannot be written.
    """
    facts = base_facts(base)
    _check_out(out, resume=resume, force=force)
    need_torch()
    import torch  # noqa: PLC0415 - an extra brings it, and it takes seconds

    from piiloom.detection.encoder.checkpoints import Checkpoints  # noqa: PLC0415 - as above
    from piiloom.detection.encoder.examples import HIDDEN, make_examples  # noqa: PLC0415
    from piiloom.detection.encoder.hardware import chosen_device, chosen_precision, named  # noqa: PLC0415
    from piiloom.detection.encoder.network import EncoderNetwork, load_body, model_tokens  # noqa: PLC0415
    from piiloom.detection.encoder.torch_backend import TorchBackend  # noqa: PLC0415
    from piiloom.detection.encoder.training import Training, seed_all  # noqa: PLC0415

    if settings.threads:
        torch.set_num_threads(settings.threads)
    device = chosen_device(settings.device)
    dtype = chosen_precision(settings.precision, device)
    seed_all(settings.seed)
    body = load_body(base, eager=device.type == "cpu" and dtype is not None)
    tokenizer = _fast_tokenizer(base)
    network = EncoderNetwork(body, tag_count(len(data.types))).to(device)
    windows = settings.windows.bounded(model_tokens(body.config))
    maker = WindowMaker(plain(tokenizer.backend_tokenizer), windows)
    pad = int(tokenizer.pad_token_id or 0)
    examples = make_examples(data.train, maker, data.types, hide_question=settings.hide_question)
    validator = Validator(data.validation, data.types, hide=HIDDEN if settings.hide_question else None)
    calibrations: list[Calibration | None] = []

    def validate(trained: EncoderNetwork) -> dict[str, float]:
        reader = TextReader(TorchBackend(trained, dtype), maker, pad=pad, batch_size=settings.batch_size)
        figures, calibration = validator.measure(reader, head_of(trained) if settings.relevance else None)
        calibrations.append(calibration)
        return figures

    checkpoints = Checkpoints(out, digest(data.digest, list(data.types), settings.shaping, facts, named(dtype), device.type))
    with output_errors(out):
        out.mkdir(parents=True, exist_ok=True)
    training = Training(network, examples, settings, pad=pad, dtype=dtype, validate=validate if data.validation else None, watch=watch)
    history = training.run(checkpoints)
    network.eval()
    figures = validate(network) if data.validation else {}
    about = About(
        family=FAMILY,
        types=data.types,
        own_types=data.own_types,
        base=facts,
        data=dict(data.about) | {"examples": len(examples)},
        settings=settings.to_json()
        | {
            "windows": asdict(windows),
            "pad": pad,
            "learnt_relevance": settings.relevance,
            "calibration": asdict(calibrations[-1]) if calibrations and calibrations[-1] is not None else None,
            "precision_used": named(dtype),
            "device_used": device.type,
        },
        figures={
            "validation": figures,
            "best_epoch": history.best_epoch,
            "epochs": len(history.epoch_losses),
            "epoch_losses": [round(loss, 6) for loss in history.epoch_losses],
            "validations": history.validations,
            "micro_batch": history.micro_batch,
            "seconds": round(history.seconds, 1),
        },
    )
    about = _write(out, network, tokenizer, about, onnx=onnx)
    checkpoints.remove()
    return about, history


def need_torch() -> None:
    """Raise ``UsageError`` unless what training needs is installed."""
    for name in ("torch", "transformers", "safetensors"):
        try:
            __import__(name)
        except ImportError:
            remedy = f"Install it: {how_to_install('train')} (docs/training.md says how to get PyTorch without CUDA)"
            raise UsageError(f"training an encoder needs the package {name}", remedy=remedy) from None


def head_of(network: EncoderNetwork) -> RelevanceHead:
    """Return the relevance head of *network* as it is now."""
    return RelevanceHead.of({name: weight.float().numpy() for name, weight in network.heads().items()})


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


def _fast_tokenizer(base: Path) -> Any:
    import transformers  # noqa: PLC0415 - an extra brings it

    remedy = "Use a base with a tokenizer.json, or one that transformers can make it from"
    try:
        tokenizer = transformers.AutoTokenizer.from_pretrained(base, local_files_only=True)
    except Exception as error:  # the library raises what it likes
        raise UsageError(f"the tokenizer cannot be loaded ({type(error).__name__})", where=f"--base {base}", remedy=remedy) from error
    if not getattr(tokenizer, "is_fast", False):
        raise UsageError("the tokenizer does not tell where its tokens stand in the text", where=f"--base {base}", remedy=remedy)
    return tokenizer


def _write(out: Path, network: EncoderNetwork, tokenizer: Any, about: About, *, onnx: bool) -> About:
    """Write the folder; the card comes last, with the size of each file, by which a broken copy is known."""
    from safetensors.torch import save_file  # noqa: PLC0415 - an extra brings it

    network = network.to("cpu")
    with output_errors(out):
        network.body.save_pretrained(out)  # type: ignore[operator]
        tokenizer.backend_tokenizer.save(str(out / TOKENIZER))
        tokenizer.save_pretrained(out)
        save_file(network.heads(), out / HEADS)
        if onnx:
            export_onnx(network, out)
        sizes = {name: (out / name).stat().st_size for name in (WEIGHTS, HEADS, TOKENIZER, MODEL) if (out / name).is_file()}
    about = replace(about, settings={**about.settings, "files": sizes})
    write_about(out, about)
    return about
