"""The network: any encoder of transformers, a tag for each of its tokens, and the relevance head. Needs the extra ``train``."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

import torch
from torch import Tensor, nn

from piiloom.detection.encoder.head_files import damaged_heads, read_heads
from piiloom.detection.encoder.relevance_head import PARTS
from piiloom.foundation.errors import DataError, UsageError

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

    hush(transformers)
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
        problem = f"the model cannot be loaded ({type(error).__name__})"
        raise UsageError(problem, where=f"{where} {folder}", remedy=_FIT) from error
    if not hasattr(body.config, "hidden_size") or getattr(body.config, "is_encoder_decoder", False):
        problem = f"a model of the kind {body.config.model_type!r} is no encoder"
        raise UsageError(problem, where=f"{where} {folder}", remedy="Use one such as BERT, RoBERTa, DeBERTa or ModernBERT")
    # Else the library draws at random what is missing, and training would begin at nothing.
    if absent := [name for name in told["missing_keys"] if "pooler" not in name]:
        problem = f"the weights do not fit the configuration: {len(absent)} parts are missing"
        raise UsageError(problem, where=f"{where} {folder}", remedy=_FIT)
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


def hush(transformers: Any) -> None:
    """Keep the library from writing progress bars and notes about weights that a task of ours has no use for."""
    transformers.utils.logging.set_verbosity_error()
    transformers.utils.logging.disable_progress_bar()
