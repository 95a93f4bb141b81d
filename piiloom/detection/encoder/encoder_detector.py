"""The detector ``encoder``: a folder, run by PyTorch or ONNX Runtime; and the way from records to such a folder (``train_on_data``)."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from piiloom.corpus.store.database import Store
from piiloom.corpus.store.opening import open_to_read
from piiloom.detection.detector import DetectorText, Findings, ScoredSpan, TextDetector, library
from piiloom.detection.encoder.text_reading import (
    HEADS,
    INPUTS,
    ONNX,
    TOKENIZER,
    Backend,
    EncoderReader,
    EncoderReading,
    RelevanceHead,
    WindowMaker,
    damaged_heads,
    open_tokenizer,
    read_heads,
    tag_count,
)
from piiloom.detection.training.training_data import TrainingData, base_facts, read_input
from piiloom.detection.training.training_options import CHECKPOINT, EncoderOptions, EncoderSettings, Windows
from piiloom.foundation.errors import DataError, Interrupted, UsageError, how_to_install
from piiloom.foundation.noop import noop
from piiloom.foundation.whole_files import check_folder, output_errors
from piiloom.tagging.model import Calibration, log_odds_of
from piiloom.tagging.model_folder import CARD, About, read_about, unknown_types
from piiloom.taxonomy.entity_types import Taxonomy
from piiloom.taxonomy.label_maps import label_map

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from piiloom.detection.detector_settings import LocalModel
    from piiloom.detection.training.training_options import TrainingHistory, TrainingProgress


NAME: Final = "encoder"
_AGAIN: Final = "Train again, or copy the whole folder again"


class EncoderDetector(TextDetector):
    """Finds spans, and says of each whether it matters to the question, if one is given and the encoder has learnt it.

    Making one reads and checks the folder; the network itself is loaded with the first text. Spans with a score below *threshold* are
    not told. Raises ``UsageError`` or ``DataError`` for a folder that is none, or is damaged, or has a type that is not known.
    """

    name = NAME

    def __init__(self, local: LocalModel, *, taxonomy: Taxonomy, threshold: float = 0.0) -> None:
        self._folder, self._local, self._threshold = Path(local.model_path), local, threshold
        self._about = read_about(self._folder, NAME, needs=(TOKENIZER, HEADS))
        self._types = _types_by_number(self._about, local.label_map, taxonomy)
        settings = self._about.settings
        try:
            self._windows, self._pad = Windows(**settings["windows"]), int(settings["pad"])
            self._calibration = Calibration(**settings["calibration"]) if settings["calibration"] else Calibration()
            self._outside_bias = float(settings["outside_bias"])
            self._learnt_relevance = bool(settings["learnt_relevance"])
            sizes: Mapping[str, int] = dict(settings["files"])
        except (KeyError, TypeError, ValueError):
            raise DataError("the description of the trained model is damaged", where=str(self._folder / CARD), remedy=_AGAIN) from None
        _check_sizes(self._folder, sizes)
        self._reader: EncoderReader | None = None
        self._head: RelevanceHead | None = None

    def examine_batch(self, texts: Sequence[DetectorText]) -> list[Findings]:
        """See ``TextDetector``."""
        found = [Findings(spans=())] * len(texts)

        def take(number: int, reading: EncoderReading) -> None:
            found[number] = Findings(spans=self._spans(reading))

        self._opened().read(texts, take)
        return found

    def _spans(self, reading: EncoderReading) -> list[ScoredSpan]:
        sure = [
            (one, entity_type, score)
            for one in reading.spans(self._outside_bias)
            if (entity_type := self._types[one.type_number]) is not None
            and (score := self._calibration.probability(log_odds_of(one.confidence))) >= self._threshold
        ]
        places = [(one.first, one.last) for one, _, _ in sure]
        relevances = [None] * len(sure) if self._head is None else reading.relevance(self._head, places)
        return [
            ScoredSpan(
                start=one.start,
                end=one.end,
                entity_type=entity_type,
                subtype=None,
                score=score,
                detector=NAME,
                relevance=relevance,
            )
            for (one, entity_type, score), relevance in zip(sure, relevances, strict=True)
        ]

    def _opened(self) -> EncoderReader:
        if self._reader is None:
            maker = WindowMaker(open_tokenizer(self._folder), self._windows)
            if self._learnt_relevance:
                try:
                    self._head = RelevanceHead.of(read_heads(self._folder))
                except KeyError:
                    raise damaged_heads(self._folder) from None
            backend = _backend(self._folder, len(self._about.types), self._local.device)
            self._reader = EncoderReader(backend, maker, pad=self._pad, batch_size=self._local.batch_size)
        return self._reader


class OnnxBackend:
    """Runs the ONNX file of a trained folder on the processor. Raises ``UsageError`` or ``DataError`` if it cannot be opened."""

    def __init__(self, folder: Path) -> None:
        onnxruntime = library("onnxruntime", "an ONNX file needs the package onnxruntime", "train")
        path = folder / ONNX
        if not path.is_file():
            raise UsageError(
                f"the folder has no {ONNX}",
                where=f"--model-path {folder}",
                remedy="Train with --onnx, or install PyTorch and use --device cpu",
            )
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
        given = dict(zip(INPUTS, (ids, mask, segments), strict=True))
        logits, states = self._session.run(["logits", "states"], {name: one for name, one in given.items() if name in self._wanted})
        return logits, states


def _backend(folder: Path, types: int, device: str) -> Backend:
    has_torch = find_spec("torch") is not None and find_spec("transformers") is not None
    if device == "onnx" or (device == "auto" and not has_torch and (folder / ONNX).is_file()):
        return OnnxBackend(folder)
    if not has_torch:
        raise UsageError(
            "the encoder needs the packages torch and transformers",
            where="--detector encoder",
            remedy=f"Install them: {how_to_install('train')}; or train with --onnx, and use onnxruntime",
        )
    from piiloom.detection.encoder.network import open_backend  # noqa: PLC0415 - takes seconds

    return open_backend(folder, tag_count(types), device)


def _types_by_number(about: About, mapping: Path | None, taxonomy: Taxonomy) -> list[str | None]:
    """Return the type that each type of the model stands for; None for one that a label map leaves out."""
    mapped: dict[str, Any] = dict(label_map(mapping, taxonomy)) if mapping is not None else {}
    unknown = [name for name in unknown_types(about.types, about.own_types, taxonomy) if name not in mapped]
    if unknown:
        listed = ", ".join(map(repr, unknown))
        raise UsageError(
            f"the model was trained on types that are not known here: {listed}",
            where="--model-path",
            remedy="Say with --label-map FILE which types they are",
        )
    targets = [mapped.get(name, name) for name in about.types]
    return [target.partition("/")[0] if isinstance(target, str) else None for target in targets]


def _check_sizes(folder: Path, sizes: Mapping[str, int]) -> None:
    for name, size in sizes.items():
        path = folder / name
        if name == ONNX and not path.exists():
            continue
        if not path.is_file() or path.stat().st_size != size:
            raise DataError(f"the file {name} is missing, or is not the one that the training wrote", where=str(folder), remedy=_AGAIN)


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
            raise UsageError(
                f"training an encoder needs the package {name}",
                remedy=f"Install it: {how_to_install('train')} (docs/training.md says how to get PyTorch without CUDA)",
            )
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
        raise Interrupted(
            "the training was stopped; its last checkpoint is kept",
            where=str(out),
            remedy="Give the same command with --resume, and it goes on from there",
        ) from None


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
            for name in (CARD, CHECKPOINT, ONNX):
                (out / name).unlink(missing_ok=True)
