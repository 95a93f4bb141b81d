"""Unlisted values in a record that a detector trained by ``piiloom probe --out`` finds.

It finds values without a form, which no pattern describes ("my girlfriend", "a nurse"), but nothing beyond its training. It errs more
often than a pattern; ``docs/probe.md`` gives the rate by threshold.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from piiloom.corpus.record import Record
from piiloom.tagging.model import TaggedSpan, TaggingModel
from piiloom.tagging.model_folder import FAMILY, load_tagging_model, model_digest

OPTION: Final = "--screen-model"
THRESHOLD: Final = 0.9


@dataclass(slots=True, kw_only=True)
class TrainedDetector:
    """Looks for unlisted values with at least *threshold* as score. Questions are not looked at: it has learnt from contexts."""

    model: TaggingModel = field(repr=False)
    name: str
    threshold: float
    _last: tuple[str, tuple[TaggedSpan, ...]] = field(default=("", ()), repr=False)

    def unlisted(self, record: Record) -> list[TaggedSpan]:
        """Return what it finds in the context of *record* and no span overlaps, in text order."""
        if self._last[0] != record.context:  # records of one text come one after the other
            self._last = record.context, tuple(self.model.tag(record.context, threshold=self.threshold))
        return [one for one in self._last[1] if not any(span.start < one.end and one.start < span.end for span in record.spans)]

    def told(self, found: TaggedSpan) -> str:
        """Say where and how sure, and nothing of the text."""
        return f"{found.entity_type} in the context at [{found.start}, {found.end}), found by {FAMILY} {self.name}, score {found.score:.2f}"


def trained_detector(folder: Path, *, threshold: float | None = None) -> TrainedDetector:
    """Return the detector in *folder*; *threshold* None: ``THRESHOLD``.

    Raises ``UsageError`` and ``DataError`` for a folder that has none.
    """
    least = THRESHOLD if threshold is None else threshold
    return TrainedDetector(model=load_tagging_model(folder, option=OPTION), name=folder.name, threshold=least)


def detector_digest(folder: Path, *, threshold: float | None = None) -> tuple[str, float]:
    """Return the digest of the model in *folder* and the threshold in use: both shape the findings. Raises ``UsageError`` without one."""
    return model_digest(folder, option=OPTION), THRESHOLD if threshold is None else threshold
