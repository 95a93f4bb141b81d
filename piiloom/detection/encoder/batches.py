"""Which examples are read together: those of about one length, and those of a contrast group if contrasts are to be learnt."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from piiloom.detection.encoder.examples import EncoderExample
from piiloom.foundation.seeding import derive_rng

Batch = list[int]
# As many batches are sorted by length at once: little padding, and still another mixture each epoch.
_POOL: Final = 40
# Lengths are blurred by this share, so that equal ones do not always meet.
_BLUR: Final = 0.1


def epoch_batches(examples: Sequence[EncoderExample], batch_size: int, *, seed: int, epoch: int, contrast: bool) -> list[Batch]:
    """Return the batches of an *epoch* as numbers of *examples*: the same for the same arguments, in every process."""
    rng = derive_rng("encoder batches", seed, epoch)
    units = _units(examples, contrast=contrast)
    rng.shuffle(units)
    found: list[Batch] = []
    pool = _POOL * batch_size
    at = 0
    while at < len(units):
        taken, count = [], 0
        while at < len(units) and count < pool:
            taken.append(units[at])
            count += len(units[at])
            at += 1
        length = {unit[0]: max(examples[one].size for one in unit) * (1 + _BLUR * rng.random()) for unit in taken}
        found += _filled(sorted(taken, key=lambda unit: length[unit[0]]), batch_size)
    rng.shuffle(found)
    return found


def _units(examples: Sequence[EncoderExample], *, contrast: bool) -> list[Batch]:
    """Return what stays together: examples of one contrast group and part of its text, or each by itself."""
    if not contrast:
        return [[number] for number in range(len(examples))]
    units: dict[object, Batch] = {}
    for number, example in enumerate(examples):
        units.setdefault(number if example.group is None else (example.group, example.window.text[0]), []).append(number)
    return list(units.values())


def _filled(units: Sequence[Batch], batch_size: int) -> list[Batch]:
    found: list[Batch] = []
    batch: Batch = []
    for unit in units:
        if batch and len(batch) + len(unit) > batch_size:
            found.append(batch)
            batch = []
        batch = batch + unit
        while len(batch) > batch_size:
            found.append(batch[:batch_size])
            batch = batch[batch_size:]
    return [*found, batch] if batch else found
