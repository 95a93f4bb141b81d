"""One training from a base model to a trained folder, and its validation. Needs the extra ``train``.

``encoder_detector.train_on_data`` has checked what it is given.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import torch
import transformers
from safetensors.torch import save_file

from piiloom.corpus.record import Record, Relevance
from piiloom.detection.detector import DetectorText
from piiloom.detection.encoder.network import (
    EncoderNetwork,
    TorchBackend,
    chosen_precision,
    export_onnx,
    load_body,
    model_tokens,
    precision_name,
)
from piiloom.detection.encoder.text_reading import (
    HEADS,
    HIDDEN,
    ONNX,
    TOKENIZER,
    EncoderReader,
    EncoderReading,
    RelevanceHead,
    WindowMaker,
    encoder_examples,
    plain_tokenizer,
    span_tokens,
    tag_count,
    token_tags,
)
from piiloom.detection.encoder.training import Checkpoints, EncoderTraining
from piiloom.detection.token_decoding import Decoded, decode
from piiloom.detection.training.training_data import TrainingData
from piiloom.detection.training.training_options import EncoderSettings, TrainingHistory, TrainingProgress
from piiloom.foundation.errors import UsageError
from piiloom.foundation.seeding import digest
from piiloom.foundation.torch_devices import chosen_device
from piiloom.foundation.whole_files import output_errors
from piiloom.tagging.model import Calibration, expected_error, log_odds_of, reliability
from piiloom.tagging.model_folder import CARD, About, read_about, write_about
from piiloom.tagging.training import ScoredAnswer, fit_calibration

if TYPE_CHECKING:
    from numpy.typing import NDArray


# Added to the log-odds of being outside of all spans.
_BIASES: Final = tuple(step / 4 for step in range(-8, 17))


@dataclass(slots=True)
class _Counts:
    spans: Counter[str] = field(default_factory=Counter)  # found, gold, and those of them that are right in some way
    answers: list[ScoredAnswer] = field(default_factory=list)
    # (gold, said) of each judged span; and by mention of a contrast group, which of its judgements are right by label.
    judged: list[tuple[Relevance, Relevance]] = field(default_factory=list)
    contrasts: dict[tuple[str, int, int], dict[str, bool]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class ValidationResult:
    """What came of a validation: figures ("score" is what early stopping looks at), and how the detector is to be set.

    ``calibration`` is None if there is too little for one. ``outside_bias`` is the one with the best F1.
    """

    figures: dict[str, float]
    calibration: Calibration | None = None
    outside_bias: float = 0.0


class Validator:
    """Measures on *records*. ``hide``: what every question is replaced by, for the ablation."""

    def __init__(self, records: Sequence[Record], types: Sequence[str], *, hide: str | None = None) -> None:
        self._records, self._types = records, types
        self._texts = [DetectorText(one.context, one.locale, hide if hide and one.question else one.question) for one in records]

    def measure(self, reader: EncoderReader, head: RelevanceHead | None, *, outside_bias: float | None = None) -> ValidationResult:
        """Measure with *outside_bias*, or with the one that is found to be best."""
        counts = _Counts()
        read: list[tuple[Record, list[tuple[int, int]], NDArray[np.float16]]] = []

        def take(number: int, reading: EncoderReading) -> None:
            record = self._records[number]
            read.append((record, reading.tokens.offsets, reading.logits.astype(np.float16)))
            if head is not None and record.question:
                self._judge(record, reading, head, counts)

        reader.read(self._texts, take)
        bias = self._best_bias(read) if outside_bias is None else outside_bias
        self._count_all(read, bias, counts)
        calibration = fit_calibration(counts.answers)
        return ValidationResult(figures=_figures(counts, calibration), calibration=calibration, outside_bias=bias)

    def _best_bias(self, read: Sequence[tuple[Record, list[tuple[int, int]], NDArray[np.float16]]]) -> float:
        """Return the bias with which most spans are right; of equal ones that nearest to none."""
        scores: dict[float, float] = {}
        for bias in sorted(_BIASES, key=abs):
            counts = _Counts()
            self._count_all(read, bias, counts)
            scores[bias] = _f1(counts, "typed", "typed")
        return max(scores, key=lambda bias: scores[bias])

    def _count_all(self, read: Sequence[tuple[Record, list[tuple[int, int]], NDArray[np.float16]]], bias: float, counts: _Counts) -> None:
        for record, offsets, logits in read:
            self._count(record, decode(record.context, offsets, logits, outside_bias=bias), counts)

    def _count(self, record: Record, found: Sequence[Decoded], counts: _Counts) -> None:
        gold = {(span.start, span.end): span.entity_type for span in record.spans}
        counts.spans.update(found=len(found), gold=len(gold))
        for one in found:
            known = gold.get((one.start, one.end))
            right = known == self._types[one.type_number]
            hit = any(one.start < end and one.end > start for start, end in gold)
            counts.spans.update(exact=known is not None, typed=right, found_hit=hit)
            counts.answers.append(ScoredAnswer(log_odds_of(one.confidence), right))
        counts.spans["gold_hit"] += sum(any(start < one.end and end > one.start for one in found) for start, end in gold)

    def _judge(self, record: Record, reading: EncoderReading, head: RelevanceHead, counts: _Counts) -> None:
        numbers = {span.entity_type: 0 for span in record.spans}
        owners = token_tags(reading.tokens.offsets, record.spans, numbers)[1]
        judged = [
            (span, span.relevance, place)
            for span, place in zip(record.spans, span_tokens(owners, len(record.spans)), strict=True)
            if span.relevance is not None and place is not None
        ]
        for (span, gold, _), said in zip(judged, reading.relevance(head, [place for _, _, place in judged]), strict=True):
            if said is None:
                continue
            counts.judged.append((gold, said))
            if record.contrast_group is not None:
                sides = counts.contrasts.setdefault((record.contrast_group, span.start, span.end), {})
                sides[gold] = sides.get(gold, True) and said == gold


def _figures(counts: _Counts, calibration: Calibration | None) -> dict[str, float]:
    typed = _f1(counts, "typed", "typed")
    figures: dict[str, float] = {
        "span_f1_exact": _f1(counts, "exact", "exact"),
        "span_f1_overlap": _f1(counts, "found_hit", "gold_hit"),
        "span_f1_typed": typed,
    }
    score = typed
    if counts.judged:
        sides = [[said == side for gold, said in counts.judged if gold == side] for side in ("high", "low")]
        balanced = sum(sum(side) / len(side) if side else 0.0 for side in sides) / 2
        figures["relevance_balanced"] = balanced
        score = (typed + balanced) / 2
    changing = [sides for sides in counts.contrasts.values() if len(sides) == 2]
    if changing:
        figures["contrast_consistent"] = sum(all(sides.values()) for sides in changing) / len(changing)
    said = [(calibration or Calibration()).probability(answer.log_odds) for answer in counts.answers]
    error = expected_error(reliability(said, [answer.right for answer in counts.answers]))
    if error is not None:
        figures["calibration_error"] = error
    return {name: round(value, 6) for name, value in (figures | {"score": score}).items()}


def _f1(counts: _Counts, found_hits: str, gold_hits: str) -> float:
    spans = counts.spans
    precision, recall = spans[found_hits] / max(1, spans["found"]), spans[gold_hits] / max(1, spans["gold"])
    return 2 * precision * recall / max(1e-9, precision + recall)


WEIGHTS: Final = "model.safetensors"


class TrainingSession:
    """The network, the tokenizer and the validation of a training; *facts* are those of the base for the card."""

    def __init__(self, data: TrainingData, base: Path, facts: Mapping[str, Any], settings: EncoderSettings) -> None:
        if settings.threads:
            torch.set_num_threads(settings.threads)
        self._data, self._settings, self._facts = data, settings, facts
        self._device = torch.device(chosen_device(settings.device))
        self._dtype = chosen_precision(settings.precision, self._device)
        random.seed(settings.seed)
        torch.manual_seed(settings.seed)
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
        weights = {name: weight.float().numpy() for name, weight in network.heads().items()}
        self._measured = self._validator.measure(reader, RelevanceHead.of(weights) if self._settings.relevance else None)
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
                    (out / ONNX).unlink(missing_ok=True)
            sizes = {name: (out / name).stat().st_size for name in (WEIGHTS, HEADS, TOKENIZER, ONNX) if (out / name).is_file()}
        about = replace(about, settings={**about.settings, "files": sizes})
        write_about(out, about)
        return about, failure


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
