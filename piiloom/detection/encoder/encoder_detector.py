"""The detector ``encoder``: a trained folder, run by PyTorch or, where the folder has an ONNX file, by ONNX Runtime."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from piiloom.detection.detector import DetectorText, Findings, ScoredSpan, TextDetector
from piiloom.detection.encoder.encoder_settings import Windows
from piiloom.detection.encoder.examples import tag_count
from piiloom.detection.encoder.onnx_backend import MODEL, OnnxBackend
from piiloom.detection.encoder.text_reading import (
    HEADS,
    TOKENIZER,
    Backend,
    EncoderReader,
    EncoderReading,
    RelevanceHead,
    WindowMaker,
    damaged_heads,
    open_tokenizer,
    read_heads,
)
from piiloom.foundation.errors import DataError, UsageError
from piiloom.foundation.extras import how_to_install
from piiloom.tagging.model import Calibration, log_odds_of
from piiloom.tagging.model_folder import CARD, About, read_about, unknown_types
from piiloom.taxonomy.entity_types import Taxonomy
from piiloom.taxonomy.label_maps import label_map

if TYPE_CHECKING:
    from piiloom.detection.detector_settings import LocalModel

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


def _backend(folder: Path, types: int, device: str) -> Backend:
    has_torch = find_spec("torch") is not None and find_spec("transformers") is not None
    if device == "onnx" or (device == "auto" and not has_torch and (folder / MODEL).is_file()):
        return OnnxBackend(folder)
    if not has_torch:
        remedy = f"Install them: {how_to_install('train')}; or train with --onnx, and use onnxruntime"
        raise UsageError("the encoder needs the packages torch and transformers", where="--detector encoder", remedy=remedy)
    from piiloom.detection.encoder.network import open_backend  # noqa: PLC0415 - takes seconds

    return open_backend(folder, tag_count(types), device)


def _types_by_number(about: About, mapping: Path | None, taxonomy: Taxonomy) -> list[str | None]:
    """Return the type that each type of the model stands for; None for one that a label map leaves out."""
    mapped: dict[str, Any] = dict(label_map(mapping, taxonomy)) if mapping is not None else {}
    unknown = [name for name in unknown_types(about.types, about.own_types, taxonomy) if name not in mapped]
    if unknown:
        listed = ", ".join(map(repr, unknown))
        problem = f"the model was trained on types that are not known here: {listed}"
        raise UsageError(problem, where="--model-path", remedy="Say with --label-map FILE which types they are")
    targets = [mapped.get(name, name) for name in about.types]
    return [target.partition("/")[0] if isinstance(target, str) else None for target in targets]


def _check_sizes(folder: Path, sizes: Mapping[str, int]) -> None:
    for name, size in sizes.items():
        path = folder / name
        if name == MODEL and not path.exists():
            continue
        if not path.is_file() or path.stat().st_size != size:
            raise DataError(f"the file {name} is missing, or is not the one that the training wrote", where=str(folder), remedy=_AGAIN)
