"""An encoder as an ONNX file: written with PyTorch, run without it."""

from __future__ import annotations

import io
import logging
import os
import warnings
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stdout
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from piiloom.foundation.errors import DataError, UsageError
from piiloom.foundation.extras import how_to_install

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from piiloom.detection.encoder.network import EncoderNetwork

MODEL: Final = "model.onnx"
_NAMES: Final = ("ids", "mask", "segments")


class OnnxBackend:
    """Runs the ONNX file of a trained folder on the processor. Raises ``UsageError`` or ``DataError`` if it cannot be opened."""

    def __init__(self, folder: Path) -> None:
        try:
            import onnxruntime  # noqa: PLC0415 - an extra brings it
        except ImportError:
            raise UsageError("an ONNX file needs the package onnxruntime", remedy=f"Install it: {how_to_install('train')}") from None
        path = folder / MODEL
        if not path.is_file():
            problem = f"the folder has no {MODEL}"
            raise UsageError(problem, where=f"--model-path {folder}", remedy="Train with --onnx, or install PyTorch and use --device cpu")
        options = onnxruntime.SessionOptions()
        options.log_severity_level = 3
        if threads := os.environ.get("OMP_NUM_THREADS"):
            options.intra_op_num_threads = int(threads)
        try:
            self._session: Any = onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])
        except Exception as error:  # the library raises errors of its own
            raise DataError(
                "the ONNX file cannot be read", where=str(path), remedy="Train again, or copy the whole folder again"
            ) from error
        self._wanted = {one.name for one in self._session.get_inputs()}

    def run(
        self, ids: NDArray[np.int64], mask: NDArray[np.int64], segments: NDArray[np.int64]
    ) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
        """See ``Backend``."""
        given = dict(zip(_NAMES, (ids, mask, segments), strict=True))
        logits, states = self._session.run(["logits", "states"], {name: one for name, one in given.items() if name in self._wanted})
        return logits, states


def export_onnx(network: EncoderNetwork, folder: Path) -> None:
    """Write the ONNX file of *network* to *folder*. Raises ``UsageError`` if a library is missing or the encoder cannot be exported."""
    import torch  # noqa: PLC0415 - an extra brings it

    names = _NAMES if network.has_segments else _NAMES[:2]
    example = tuple(torch.ones(2, 12, dtype=torch.long) for _ in names)
    rows, tokens = torch.export.Dim("rows", min=1, max=4096), torch.export.Dim("tokens", min=4, max=8192)
    try:
        with _hushed():
            torch.onnx.export(
                network.eval(),
                example,
                str(folder / MODEL),
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
        problem = f"the encoder cannot be written as ONNX ({type(error).__name__})"
        raise UsageError(problem, where="--onnx", remedy="The trained folder is complete without it: use it with PyTorch") from error


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
