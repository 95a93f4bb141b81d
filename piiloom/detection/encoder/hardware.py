"""The precision in which a network computes. Needs the extra ``train``."""

from __future__ import annotations

import torch

from piiloom.foundation.errors import UsageError


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
