"""What a batch of examples teaches: tags of tokens, relevance of spans, and what tells the questions of one text apart.

All losses are sums over totals of the whole batch, so that a batch that is read in parts gives the same gradient as one read at once.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor, nn

from piiloom.detection.encoder.examples import EncoderExample
from piiloom.detection.encoder.network import EncoderNetwork
from piiloom.detection.encoder.relevance_head import HIGH, LOW
from piiloom.detection.encoder.tags import IGNORED

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
    ids, mask, segments = padded(batch, pad, device)
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


def padded(batch: Sequence[EncoderExample], pad: int, device: torch.device) -> tuple[Tensor, Tensor, Tensor]:
    """Return ids, mask and segments of the windows of *batch*."""
    width = max(example.size for example in batch)
    ids = torch.full((len(batch), width), pad, dtype=torch.long)
    mask, segments = torch.zeros_like(ids), torch.zeros_like(ids)
    for row, example in enumerate(batch):
        ids[row, : example.size] = torch.tensor(example.window.ids)
        segments[row, : example.size] = torch.tensor(example.window.segments)
        mask[row, : example.size] = 1
    return ids.to(device), mask.to(device), segments.to(device)


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
