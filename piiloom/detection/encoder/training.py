"""The training loop, its losses and its checkpoints. Needs the extra ``train``.

It is our own and not the Trainer of transformers: the relevance head has a loss over spans and pairs of records, a batch that does not fit
is halved while the training runs, and a resumed training must give the very weights of one that was never killed. Each of these would
be an override of the Trainer, and this loop is shorter than the overrides.

All losses are sums over totals of the whole batch, so that a batch that is read in parts gives the same gradient as one read at once.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import torch
from torch import Tensor, nn

from piiloom.detection.encoder.network import EncoderNetwork
from piiloom.detection.encoder.text_reading import HIGH, IGNORED, LOW, Batch, EncoderExample, epoch_batches, padded
from piiloom.detection.training.training_options import CHECKPOINT, EncoderSettings, TrainingHistory, TrainingProgress, ValidationFigures
from piiloom.foundation.errors import DataError, RunError, UsageError
from piiloom.foundation.seeding import derive_rng
from piiloom.foundation.whole_files import drafted

_SCHEMA: Final = 1


class Checkpoints:
    """The checkpoint of the training *identity* (what shapes its result, as a digest) in *folder*."""

    def __init__(self, folder: Path, identity: str) -> None:
        self.path = folder / CHECKPOINT
        self._identity = identity

    def save(self, state: dict[str, Any]) -> None:
        """Replace the checkpoint by *state*. Raises ``OutputError``."""
        with drafted(self.path) as fh:
            torch.save({"schema": _SCHEMA, "identity": self._identity, **state}, fh)

    def load(self) -> dict[str, Any] | None:
        """Return what was saved, None if there is nothing.

        Raises ``DataError`` if it is damaged, and ``UsageError`` if it is of other data, settings or another base.
        """
        if not self.path.exists():
            return None
        try:
            state: dict[str, Any] = torch.load(self.path, map_location="cpu", weights_only=True)
            schema, identity = state["schema"], state["identity"]
        except Exception as error:  # the library raises what it likes
            raise DataError("the checkpoint is damaged", where=str(self.path), remedy="Begin anew with --force") from error
        if schema != _SCHEMA or identity != self._identity:
            raise UsageError(
                "the checkpoint is of a training with other records, settings or another base model",
                where=str(self.path),
                remedy="Give the same ones with --resume, or begin anew with --force",
            )
        return state

    def remove(self) -> None:
        """Remove the checkpoint: the training is done."""
        self.path.unlink(missing_ok=True)


# By how much the log-odds of a mention should differ between a question to which it matters and one to which it doesn't.
_MARGIN = 2.0
# No tag counts for more than so many times what lies outside of all spans.
_MOST = 5.0


@dataclass(frozen=True, slots=True)
class ClassWeights:
    """How much a token of each tag, and a span of each relevance, counts."""

    tags: Tensor
    relevance: Tensor


def class_weights(examples: Sequence[EncoderExample], tags: int, *, wanted: bool) -> ClassWeights:
    """Return weights by which rare classes count for more; all 1 unless *wanted*.

    Tags: the inverse root of their number, with which spans are learnt sooner; that the network then marks too much is undone by the
    outside bias. Relevance: the inverse of its share.
    """
    tag_counts, relevance_counts = torch.ones(tags), torch.ones(2)
    for example in examples:
        tag_counts += torch.bincount(torch.tensor(example.tags, dtype=torch.long), minlength=tags)
        for span in example.judged:
            relevance_counts[span.label] += 1
    if not wanted:
        return ClassWeights(torch.ones(tags), torch.ones(2))
    by_tag = (tag_counts[0] / tag_counts).sqrt().clamp(1.0, _MOST)
    return ClassWeights(by_tag, relevance_counts.sum() / (2 * relevance_counts))


def outside_bias(weights: ClassWeights) -> float:
    """Return what undoes *weights* if the outside tag's logit has it added: a tag seems as likely as it is, times its weight."""
    return float(weights.tags[1:].log().mean() - weights.tags[0].log())


@dataclass(frozen=True, slots=True)
class Totals:
    """By what the sums of a batch are divided."""

    tags: float
    relevance: float
    pairs: int


def totals_of(batch: Sequence[EncoderExample], weights: ClassWeights) -> Totals:
    """Return the totals of *batch*."""
    tags = sum(float(weights.tags[torch.tensor(example.tags, dtype=torch.long)].sum()) for example in batch)
    relevance = sum(float(weights.relevance[span.label]) for example in batch for span in example.judged)
    return Totals(max(tags, 1e-9), max(relevance, 1e-9), max(1, len(contrast_pairs(batch))))


def contrast_pairs(batch: Sequence[EncoderExample]) -> list[tuple[int, int]]:
    """Return pairs (high, low) of numbers of judged spans, in their order over the batch, of one mention under two questions."""
    seen: dict[tuple[str, tuple[int, int]], tuple[list[int], list[int]]] = {}
    number = 0
    for example in batch:
        for span in example.judged:
            if example.group is not None:
                seen.setdefault((example.group, span.place), ([], []))[span.label].append(number)
            number += 1
    return [(high, low) for sides in seen.values() for high in sides[HIGH] for low in sides[LOW]]


def batch_loss(
    network: EncoderNetwork,
    batch: Sequence[EncoderExample],
    weights: ClassWeights,
    totals: Totals,
    *,
    pad: int,
    contrast_weight: float,
    dtype: torch.dtype | None = None,
) -> Tensor:
    """Return the loss of *batch*, a whole one or a part of one with these *totals*; the network runs in *dtype* where that is safe."""
    device = next(network.parameters()).device
    ids, mask, segments = (torch.from_numpy(one).to(device) for one in padded([example.window for example in batch], pad))
    with torch.autocast(device.type, dtype=dtype or torch.bfloat16, enabled=dtype is not None):
        logits, states = network(ids, mask, segments)
    tags = torch.full_like(ids, IGNORED)
    for row, example in enumerate(batch):
        at = example.window.at
        tags[row, at : at + len(example.tags)] = torch.tensor(example.tags, device=device)
    weight = weights.tags.to(device)
    sums = nn.functional.cross_entropy(logits.float().flatten(0, 1), tags.flatten(), weight=weight, ignore_index=IGNORED, reduction="sum")
    loss = sums / totals.tags
    judged = [(row, span) for row, example in enumerate(batch) for span in example.judged]
    if not judged:
        return loss
    said = network.relevance(*_span_inputs(states.float(), batch, device))
    labels = torch.tensor([span.label for _, span in judged], device=device)
    by_label = nn.functional.cross_entropy(said, labels, weight=weights.relevance.to(device), reduction="sum")
    loss = loss + by_label / totals.relevance
    pairs = contrast_pairs(batch) if contrast_weight else []
    if pairs:
        odds = said[:, HIGH] - said[:, LOW]
        apart = odds[[high for high, _ in pairs]] - odds[[low for _, low in pairs]]
        loss = loss + contrast_weight * nn.functional.softplus(_MARGIN - apart).sum() / totals.pairs
    return loss


def _span_inputs(states: Tensor, batch: Sequence[EncoderExample], device: torch.device) -> tuple[Tensor, Tensor, Tensor]:
    """Return the means of each judged span's tokens, of its question's, and the first state of its window."""
    width = states.shape[1]
    rows = [(row, span) for row, example in enumerate(batch) for span in example.judged]
    of_span, of_question = torch.zeros(len(rows), len(batch) * width), torch.zeros(len(batch), len(batch) * width)
    for number, (row, span) in enumerate(rows):
        of_span[number, row * width + span.first : row * width + span.last] = 1 / (span.last - span.first)
    for row, example in enumerate(batch):
        start, end = example.window.question
        of_question[row, row * width + start : row * width + end] = 1 / max(1, end - start)
    flat = states.flatten(0, 1)
    at = torch.tensor([row for row, _ in rows], device=device)
    return of_span.to(device) @ flat, (of_question.to(device) @ flat)[at], states[:, 0][at]


_CLIP: Final = 1.0
_SMOOTHING: Final = 0.05

Validate = Callable[[EncoderNetwork], dict[str, float]]


class EncoderTraining:
    """Trains *network* on *examples*.

    *settings* say how many epochs there are. *validate* gives figures with a "score", of which more is better; None: the last epoch is
    the best.
    """

    def __init__(
        self,
        network: EncoderNetwork,
        examples: Sequence[EncoderExample],
        settings: EncoderSettings,
        *,
        pad: int,
        dtype: torch.dtype | None,
        validate: Validate | None,
        watch: Callable[[TrainingProgress], object],
    ) -> None:
        self._network, self._examples, self._settings = network, examples, settings
        self._pad, self._dtype, self._validate, self._watch = pad, dtype, validate, watch
        self._weights = class_weights(examples, network.tags.out_features, wanted=settings.class_weights)
        self.outside_bias = outside_bias(self._weights)
        contrast = settings.contrast and settings.relevance
        self._contrast_weight = settings.contrast_weight if contrast else 0.0
        self._plan = [
            epoch_batches(examples, settings.batch_size, seed=settings.seed, epoch=epoch, contrast=contrast)
            for epoch in range(settings.epochs or 1)
        ]
        self.steps = sum(len(batches) for batches in self._plan)
        heads = [*network.tags.parameters(), *network.relevance.parameters()]
        self._optimiser = torch.optim.AdamW(
            [
                {"params": list(network.body.parameters()), "rate": settings.learning_rate},
                {"params": heads, "rate": settings.head_learning_rate},
            ],
            weight_decay=settings.weight_decay,
        )
        self._scaler = torch.amp.GradScaler(self._device.type, enabled=dtype is torch.float16)
        self.history = TrainingHistory(micro_batch=settings.batch_size)
        self._step, self._epoch, self._in_epoch = 0, 0, 0
        self._loss, self._epoch_loss = 0.0, 0.0
        self._best: dict[str, torch.Tensor] | None = None

    @property
    def _device(self) -> torch.device:
        return next(self._network.parameters()).device

    def run(self, checkpoints: Checkpoints) -> TrainingHistory:
        """Train, going on from a checkpoint if there is one; afterwards the network has the weights of the best epoch."""
        if (state := checkpoints.load()) is not None:
            self._restore(state)
        begun = saved = time.monotonic()
        seconds, first = self.history.seconds, self._step
        while self._epoch < len(self._plan) and not self._is_enough():
            batches = self._plan[self._epoch]
            while self._in_epoch < len(batches):
                self._train_on(batches[self._in_epoch])
                now = time.monotonic()
                self.history.seconds = seconds + now - begun
                if now - saved >= 60 * self._settings.checkpoint_minutes:
                    checkpoints.save(self._state())
                    saved = time.monotonic()
                self._tell((now - begun) / (self._step - first) * (self.steps - self._step))
            self._end_epoch(len(batches))
            self.history.seconds = seconds + time.monotonic() - begun
            checkpoints.save(self._state())
            saved = time.monotonic()
            pace = (saved - begun) / max(1, self._step - first)
            self._tell(pace * (self.steps - self._step), validation=self.history.validations[-1] if self.history.validations else None)
        if self._best is not None:
            self._network.load_state_dict(self._best)
        return self.history

    def _is_enough(self) -> bool:
        patience = self._settings.patience
        return bool(
            patience and self._validate is not None and self.history.best_epoch and self._epoch - self.history.best_epoch >= patience
        )

    def _train_on(self, batch: Batch) -> None:
        """Do one step; a batch that does not fit into the memory is halved, and the gradients of its parts are added."""
        examples = self._drawn([self._examples[number] for number in batch])
        self._network.train()
        self._set_rates()
        while True:
            try:
                loss = self._gradients(examples)
                break
            except torch.OutOfMemoryError:
                self._halve()
        self._scaler.unscale_(self._optimiser)
        torch.nn.utils.clip_grad_norm_(self._network.parameters(), _CLIP)
        self._scaler.step(self._optimiser)
        self._scaler.update()
        self._step += 1
        self._in_epoch += 1
        self._epoch_loss += loss
        self._loss = loss if self._step == 1 else (1 - _SMOOTHING) * self._loss + _SMOOTHING * loss
        if self._in_epoch % max(1, len(self._plan[self._epoch]) // 10) == 0:
            self.history.losses.append((self._step, self._loss))

    def _drawn(self, examples: list[EncoderExample]) -> list[EncoderExample]:
        """Return *examples*, some of them without their question."""
        share = self._settings.question_dropout
        if not share or self._settings.hide_question:
            return examples
        rng = derive_rng("encoder questions", self._settings.seed, self._step)
        by_group: dict[object, bool] = {}  # a contrast group is hidden as a whole: half of a pair teaches nothing
        hidden = [by_group.setdefault(one.group or number, rng.random() < share) for number, one in enumerate(examples)]
        return [one.without_question() if hide else one for one, hide in zip(examples, hidden, strict=True)]

    def _gradients(self, examples: Sequence[EncoderExample]) -> float:
        self._optimiser.zero_grad(set_to_none=True)
        totals, loss = totals_of(examples, self._weights), 0.0
        size = self.history.micro_batch
        for at in range(0, len(examples), size):
            part = batch_loss(
                self._network,
                examples[at : at + size],
                self._weights,
                totals,
                pad=self._pad,
                contrast_weight=self._contrast_weight,
                dtype=self._dtype,
            )
            self._scaler.scale(part).backward()
            loss += float(part.detach())
        return loss

    def _halve(self) -> None:
        size = self.history.micro_batch
        if size == 1:
            raise RunError(
                "one text alone does not fit into the memory of the device", remedy="Give a smaller --max-tokens, or --device cpu"
            )
        self.history.micro_batch = (size + 1) // 2
        self._optimiser.zero_grad(set_to_none=True)
        if self._device.type == "cuda":
            torch.cuda.empty_cache()
        self._tell(
            0.0,
            note=f"the memory of the device does not hold {size} texts at once: {self.history.micro_batch} are read at once from here on, "
            f"and their gradients added, so that a step still learns from {self._settings.batch_size}",
        )

    def _set_rates(self) -> None:
        """Warm up, then fall to 0 in a line."""
        warm = max(1.0, self._settings.warm_up * self.steps)
        factor = min((self._step + 1) / warm, (self.steps - self._step) / max(1.0, self.steps - warm))
        for group in self._optimiser.param_groups:
            group["lr"] = group["rate"] * factor

    def _end_epoch(self, batches: int) -> None:
        self.history.epoch_losses.append(self._epoch_loss / max(1, batches))
        self._epoch, self._in_epoch, self._epoch_loss = self._epoch + 1, 0, 0.0
        if self._validate is None:
            self.history.best_epoch = self._epoch
            return
        self._network.eval()
        figures = self._validate(self._network)
        self.history.validations.append(figures)
        best = self.history.best_epoch
        if not best or figures["score"] > self.history.validations[best - 1]["score"]:
            self.history.best_epoch = self._epoch
            self._best = {name: weight.detach().cpu().clone() for name, weight in self._network.state_dict().items()}

    def _tell(self, eta_s: float, *, validation: ValidationFigures | None = None, note: str | None = None) -> None:
        self._watch(
            TrainingProgress(
                epoch=min(self._epoch + 1, len(self._plan)),
                epochs=len(self._plan),
                step=self._step,
                steps=self.steps,
                loss=self._loss,
                eta_s=eta_s,
                validation=validation,
                note=note,
            )
        )

    def _state(self) -> dict[str, Any]:
        history = self.history
        return {
            "network": self._network.state_dict(),
            "best": self._best,
            "optimiser": self._optimiser.state_dict(),
            "scaler": self._scaler.state_dict(),
            "random": torch.get_rng_state(),
            "random_cuda": torch.cuda.get_rng_state() if self._device.type == "cuda" else None,
            "place": [self._step, self._epoch, self._in_epoch],
            "loss": [self._loss, self._epoch_loss],
            "history": {name: getattr(history, name) for name in TrainingHistory.__slots__},
        }

    def _restore(self, state: Mapping[str, Any]) -> None:
        self._network.load_state_dict(state["network"])
        self._best = state["best"]
        self._optimiser.load_state_dict(state["optimiser"])
        self._scaler.load_state_dict(state["scaler"])
        torch.set_rng_state(state["random"])
        if state["random_cuda"] is not None and self._device.type == "cuda":
            torch.cuda.set_rng_state(state["random_cuda"])
        self._step, self._epoch, self._in_epoch = state["place"]
        self._loss, self._epoch_loss = state["loss"]
        self.history = TrainingHistory(**state["history"])
        self.history.losses = [(int(step), float(loss)) for step, loss in self.history.losses]
