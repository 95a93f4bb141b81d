"""The network: any encoder of transformers, a tag for each of its tokens, and the relevance head. Needs the extra ``train``."""

from __future__ import annotations

import io
import logging
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, redirect_stdout
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import torch
from torch import Tensor, nn

from piiloom.detection.encoder.text_reading import INPUTS, ONNX, PARTS, damaged_heads, read_heads
from piiloom.foundation.errors import DataError, RunError, UsageError, how_to_install
from piiloom.foundation.torch_devices import chosen_device

if TYPE_CHECKING:
    from numpy.typing import NDArray


_DROPOUT: Final = 0.1
_FIT: Final = "Name the folder of an encoder as transformers saves it: config.json and model.safetensors that fit together"
# How configurations call the dropout of attention weights. It is off: on a processor it takes a fifth of the time.
_ATTENTION_DROPOUT: Final = ("attention_probs_dropout_prob", "attention_dropout")
# Models that count positions from their padding token on, so that they read that many fewer.
_SHIFTED: Final = frozenset({"roberta", "xlm-roberta", "camembert", "mpnet", "longformer"})


class RelevanceLayers(nn.Module):  # type: ignore[misc]
    """See ``relevance_head``, which does the same in NumPy."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.dropout = nn.Dropout(_DROPOUT)
        self.inner = nn.Linear(PARTS * width, width)
        self.outer = nn.Linear(width, 2)

    def forward(self, span: Tensor, question: Tensor, first: Tensor) -> Tensor:
        """Return (low, high) logits of each row."""
        seen = self.dropout(torch.cat([span, question, span * question, first], dim=-1))
        return self.outer(torch.tanh(self.inner(seen)))


class EncoderNetwork(nn.Module):  # type: ignore[misc]
    """``forward`` gives the tag logits and the states of all tokens."""

    def __init__(self, body: nn.Module, tags: int) -> None:
        super().__init__()
        self.body = body
        config: Any = body.config
        self.has_segments = getattr(config, "type_vocab_size", 0) > 1
        self.dropout = nn.Dropout(_DROPOUT)
        self.tags = nn.Linear(config.hidden_size, tags)
        self.relevance = RelevanceLayers(config.hidden_size)

    def forward(self, ids: Tensor, mask: Tensor, segments: Tensor | None = None) -> tuple[Tensor, Tensor]:
        """Return logits (rows, tokens, tags) and states (rows, tokens, width)."""
        more = {"token_type_ids": segments} if self.has_segments and segments is not None else {}
        states = self.body(input_ids=ids, attention_mask=mask, **more).last_hidden_state
        return self.tags(self.dropout(states)), states

    def heads(self) -> dict[str, Tensor]:
        """Return the weights of the heads, by name."""
        return {name: weight.detach().cpu().contiguous() for name, weight in self.state_dict().items() if not name.startswith("body.")}

    def begin_with(self, folder: Path, known: Sequence[str], types: Sequence[str]) -> None:
        """Begin with the heads in *folder*, whose tags are of the types *known*: those of *types* and the relevance; others stay random.

        Raises ``DataError`` if they cannot be used.
        """
        weights = {name: torch.from_numpy(one) for name, one in read_heads(folder).items()}
        places = {0: 0} | {2 * at + tag: 2 * known.index(name) + tag for at, name in enumerate(types) if name in known for tag in (1, 2)}
        own = self.heads()
        try:
            for name in ("tags.weight", "tags.bias"):
                own[name][list(places)] = weights[name][list(places.values())]
            self.load_state_dict({**weights, **{name: own[name] for name in ("tags.weight", "tags.bias")}}, strict=False)
        except (RuntimeError, LookupError) as error:
            raise damaged_heads(folder) from error


def load_body(folder: Path, *, eager: bool, where: str = "--model") -> nn.Module:
    """Return the encoder in *folder* without its pooling. *eager*: attention as plain products, the quicker one in bf16 on a processor.

    Raises ``UsageError`` if transformers can't load it: it has another kind of model, or its weights are damaged or missing.
    """
    import transformers  # noqa: PLC0415 - takes seconds

    # No progress bars, and no notes about weights that a task of ours has no use for.
    transformers.utils.logging.set_verbosity_error()
    transformers.utils.logging.disable_progress_bar()
    try:
        config = transformers.AutoConfig.from_pretrained(folder, local_files_only=True)
        for name in _ATTENTION_DROPOUT:
            if hasattr(config, name):
                setattr(config, name, 0.0)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            options: dict[str, Any] = {"config": config, "local_files_only": True, "dtype": torch.float32}
            options |= {"attn_implementation": "eager" if eager else None, "output_loading_info": True}
            body, told = transformers.AutoModel.from_pretrained(folder, **options)
    except Exception as error:  # the library raises what it likes
        raise UsageError(f"the model cannot be loaded ({type(error).__name__})", where=f"{where} {folder}", remedy=_FIT) from error
    if not hasattr(body.config, "hidden_size") or getattr(body.config, "is_encoder_decoder", False):
        raise UsageError(
            f"a model of the kind {body.config.model_type!r} is no encoder",
            where=f"{where} {folder}",
            remedy="Use one such as BERT, RoBERTa, DeBERTa or ModernBERT",
        )
    # Else the library draws at random what is missing, and training would begin at nothing.
    if absent := [name for name in told["missing_keys"] if "pooler" not in name]:
        raise UsageError(
            f"the weights do not fit the configuration: {len(absent)} parts are missing", where=f"{where} {folder}", remedy=_FIT
        )
    if hasattr(body, "pooler"):
        body.pooler = None
    return body


def model_tokens(config: Any) -> int:
    """Return how many tokens a model with *config* reads at once."""
    positions = int(getattr(config, "max_position_embeddings", 512) or 512)
    return positions - (int(config.pad_token_id) + 1 if config.model_type in _SHIFTED else 0)


def load_network(folder: Path, tags: int, *, eager: bool) -> EncoderNetwork:
    """Return the trained network in *folder*. Raises ``DataError`` if it cannot be loaded."""
    try:
        body = load_body(folder, eager=eager, where="--model-path")
    except UsageError as error:
        raise DataError(error.message, where=str(folder), remedy="Train again, or copy the whole folder again") from error
    network = EncoderNetwork(body, tags)
    try:
        missing = network.load_state_dict({name: torch.from_numpy(one) for name, one in read_heads(folder).items()}, strict=False)
    except RuntimeError as error:
        raise damaged_heads(folder) from error
    if any(not name.startswith("body.") for name in missing.missing_keys) or missing.unexpected_keys:
        raise damaged_heads(folder)
    network.eval()
    return network


def chosen_precision(wanted: str, device: torch.device) -> torch.dtype | None:
    """Return the type that products are computed in; None: fp32 throughout.

    "auto" is bf16 where the device computes in it (fp16 on older CUDA devices), and fp32 elsewhere.
    """
    if wanted == "fp32":
        return None
    if device.type == "cuda":
        if wanted == "auto":
            return torch.bfloat16 if torch.cuda.is_bf16_supported() else torch.float16
        return torch.float16 if wanted == "fp16" else torch.bfloat16
    if wanted == "fp16":
        raise UsageError("fp16 needs a CUDA device", where="--precision", remedy="Use bf16 or fp32")
    return torch.bfloat16 if wanted == "bf16" or has_quick_bf16() else None


def has_quick_bf16() -> bool:
    """Whether the processor has units for bf16 (AMX), with which a training takes about half the time; without, it takes longer."""
    asked = getattr(torch.cpu, "_is_amx_tile_supported", None)
    return bool(asked()) if asked is not None else False


def precision_name(dtype: torch.dtype | None) -> str:
    """Return the name of a precision as ``--precision`` calls it."""
    return {torch.bfloat16: "bf16", torch.float16: "fp16"}.get(dtype, "fp32") if dtype is not None else "fp32"


class TorchBackend:
    """Runs *network*, which is left on its device, in *dtype* (None: fp32)."""

    def __init__(self, network: EncoderNetwork, dtype: torch.dtype | None) -> None:
        self._network, self._dtype = network, dtype
        self._device = next(network.parameters()).device

    def run(
        self, ids: NDArray[np.int64], mask: NDArray[np.int64], segments: NDArray[np.int64]
    ) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
        """See ``Backend``. A batch that does not fit into the memory is halved."""
        try:
            return self._run(ids, mask, segments)
        except torch.OutOfMemoryError as error:
            if len(ids) == 1:
                raise RunError(
                    "one window of a text alone does not fit into the memory of the device",
                    remedy="Use --device cpu, or train with a smaller --max-tokens",
                ) from error
        half = len(ids) // 2
        parts = [self.run(ids[part], mask[part], segments[part]) for part in (slice(0, half), slice(half, None))]
        return np.concatenate([one for one, _ in parts]), np.concatenate([one for _, one in parts])

    def _run(
        self, ids: NDArray[np.int64], mask: NDArray[np.int64], segments: NDArray[np.int64]
    ) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
        given = [torch.from_numpy(one).to(self._device) for one in (ids, mask, segments)]
        enabled = self._dtype is not None
        with torch.inference_mode(), torch.autocast(self._device.type, dtype=self._dtype or torch.bfloat16, enabled=enabled):
            logits, states = self._network(*given)
        return logits.float().cpu().numpy(), states.float().cpu().numpy()


def open_backend(folder: Path, tags: int, device: str) -> TorchBackend:
    """Return the backend of the trained *folder*, in fp32 on a processor, so that scores do not depend on which one it is."""
    where = torch.device(chosen_device(device))
    dtype = chosen_precision("auto", where) if where.type == "cuda" else None
    return TorchBackend(load_network(folder, tags, eager=False).to(where), dtype)


def export_onnx(network: EncoderNetwork, folder: Path) -> None:
    """Write the ONNX file of *network* to *folder*. Raises ``UsageError`` if a library is missing or the encoder cannot be exported."""
    names = INPUTS if network.has_segments else INPUTS[:2]
    example = tuple(torch.ones(2, 12, dtype=torch.long) for _ in names)
    rows, tokens = torch.export.Dim("rows", min=1, max=4096), torch.export.Dim("tokens", min=4, max=8192)
    try:
        with _hushed():
            torch.onnx.export(
                network.eval(),
                example,
                str(folder / ONNX),
                input_names=list(names),
                output_names=["logits", "states"],
                dynamic_shapes=tuple({0: rows, 1: tokens} for _ in names),
                dynamo=True,
                external_data=False,
                verbose=False,
            )
    except ImportError as error:
        raise UsageError(f"ONNX export needs {error.name}", where="--onnx", remedy=f"Install it: {how_to_install('train')}") from error
    except Exception as error:  # the exporter raises what it likes
        raise UsageError(
            f"the encoder cannot be written as ONNX ({type(error).__name__})",
            where="--onnx",
            remedy="The trained folder is complete without it: use it with PyTorch",
        ) from error


@contextmanager
def _hushed() -> Iterator[None]:
    """Keep the exporter from telling what it does, and which libraries are not there that it does not need."""
    logger = logging.getLogger("torch.onnx")
    level = logger.level
    logger.setLevel(logging.ERROR)
    try:
        with warnings.catch_warnings(), redirect_stdout(io.StringIO()):
            warnings.simplefilter("ignore")
            yield
    finally:
        logger.setLevel(level)
