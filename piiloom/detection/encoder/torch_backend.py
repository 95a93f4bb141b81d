"""Run a trained encoder with PyTorch. Needs the extra ``train``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import torch

from piiloom.detection.encoder.hardware import chosen_precision
from piiloom.detection.encoder.network import EncoderNetwork, load_network
from piiloom.foundation.errors import RunError
from piiloom.foundation.torch_devices import chosen_device

if TYPE_CHECKING:
    from numpy.typing import NDArray


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
                problem = "one window of a text alone does not fit into the memory of the device"
                raise RunError(problem, remedy="Use --device cpu, or train with a smaller --max-tokens") from error
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
