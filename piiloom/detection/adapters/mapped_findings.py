"""Turns what another detector found into spans of our types; what gives no span is set aside with its reason."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final, NamedTuple

from piiloom.detection.adapters.label_targets import LabelTargets
from piiloom.detection.detector import ScoredSpan
from piiloom.detection.findings import Findings, SetAside
from piiloom.detection.running.worker import disjoint_spans

WITHOUT_PHASES: Final = 0
UNMAPPED: Final = "unmapped_label"  # nobody said what the label means
NOT_PERSONAL: Final = "not_personal"  # the label map says null
OVERLAPPED: Final = "overlapped"
EMPTY: Final = "empty"  # white space alone


class LabelledRange(NamedTuple):
    """``text[start:end]`` as another detector has it, with its own label."""

    start: int
    end: int
    label: str
    score: float


def mapped_findings(text: str, found: Iterable[LabelledRange], targets: LabelTargets, detector: str) -> Findings:
    """Return the spans of *found*, disjoint and in text order, named *detector*.

    White space at the edges of a range, which some patterns take in, is no part of a span. Set aside are those whose label is not known
    ("unmapped_label: LABEL"), means nothing personal ("not_personal: LABEL"), or that overlap a surer one ("overlapped: LABEL"): each code
    point counts as 0.01, so that of about equally sure ones the longer is kept; of equals the earlier one.
    """
    spans: list[tuple[ScoredSpan, LabelledRange]] = []
    set_aside: list[SetAside] = []
    for one in sorted({_trimmed(text, one) for one in found}):
        target = targets.of(one.label)
        if one.start == one.end:
            set_aside.append(_aside(text, one, EMPTY, None))
            continue
        if target is None:
            reason = NOT_PERSONAL if targets.knows(one.label) else UNMAPPED
            set_aside.append(_aside(text, one, reason, None))
            continue
        span = ScoredSpan(
            start=one.start, end=one.end, entity_type=target.entity_type, subtype=target.subtype, score=one.score, detector=detector
        )
        spans.append((span, one))
    kept = disjoint_spans([span for span, _ in spans])
    chosen = {id(span) for span in kept}
    set_aside += [_aside(text, one, OVERLAPPED, span.subtype) for span, one in spans if id(span) not in chosen]
    return Findings(spans=kept, set_aside=tuple(set_aside))


def _trimmed(text: str, one: LabelledRange) -> LabelledRange:
    value = text[one.start : one.end]
    start = one.start + len(value) - len(value.lstrip())
    return one._replace(start=start, end=max(start, one.end - len(value) + len(value.rstrip())))


def _aside(text: str, one: LabelledRange, reason: str, subtype: str | None) -> SetAside:
    return SetAside(
        phase=WITHOUT_PHASES,
        reason=f"{reason}: {one.label}",
        subtype=subtype,
        value=text[one.start : one.end],
        start=one.start,
        end=one.end,
    )
