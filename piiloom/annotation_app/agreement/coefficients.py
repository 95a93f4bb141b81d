"""Chance-corrected agreement of any number of people: Krippendorff's alpha.

The type and relevance alphas of a whole project are computed by the library *krippendorff*. It needs memory for units x classes²
numbers, which is too much for the characters of a corpus, for very large projects and for the resampled corpora behind an interval.
There, ``alpha_of_sums`` computes alpha from sums over units; tests compare it with the library.

A unit of alpha is one item that several people have put into a class. For types and relevance, a unit is a mention that two or more
people have marked. For boundaries, it is a character of the text (classes: inside a span, outside); not a word, since some scripts have
no blanks between words. For verdicts, it is the record.
"""

from __future__ import annotations

import krippendorff
import numpy as np

from piiloom.annotation_app.agreement.matching import Floats
from piiloom.annotation_app.agreement.spans import Integers, SpansTable

# Maximum of units x classes² for which the library is used; this takes about 0.1 s.
_LIBRARY_UP_TO = 2_000_000


def krippendorff_alpha(counts: Floats) -> float | None:
    """Return nominal alpha, or None if fewer than two classes occur.

    *counts* has shape (units, classes): how many people put each unit into each class. Units with fewer than two are ignored.
    """
    pairable = counts[counts.sum(axis=1) > 1]
    used = pairable[:, pairable.sum(axis=0) > 0]
    if used.shape[1] < 2:
        return None
    if len(used) * used.shape[1] ** 2 > _LIBRARY_UP_TO:
        return float(alpha_of_sums(unit_sums(used, np.zeros(len(used), dtype=np.int64), 1)[0]))
    return float(krippendorff.alpha(value_counts=used, level_of_measurement="nominal"))


def alpha_of_sums(sums: Floats) -> Floats:
    """Return nominal alpha from sums of ``unit_sums`` (last axis: 1 + classes); NaN where fewer than two classes occur.

    With n judgments, n_c of them of class c, and sum E of the diagonal of the coincidence matrix, this is Krippendorff's
    ``1 - (n - 1)(n - E) / (n² - sum of n_c²)``.
    """
    equal, by_class = sums[..., 0], sums[..., 1:]
    judgements = by_class.sum(axis=-1)
    by_chance = judgements**2 - (by_class**2).sum(axis=-1)
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(by_chance > 0, 1 - (judgements - 1) * (judgements - equal) / by_chance, np.nan)


def value_counts(table: SpansTable, mentions: Integers, values: Integers, classes: int) -> tuple[Floats, Integers]:
    """Return how many people put each mention into each class, shape (mentions, classes), and a row of the table for each mention.

    *values* is the class of each span; below 0 means no judgment. If a chain of pairs brings two spans of one person into a mention,
    the first counts. Mentions with fewer than two judgments are left out.
    """
    judged = np.flatnonzero(values >= 0)
    _, first = np.unique(np.stack([mentions[judged], table.document[judged]]), axis=1, return_index=True)
    rows = judged[first]
    names, unit, times = np.unique(mentions[rows], return_inverse=True, return_counts=True)
    counts = np.bincount(unit * classes + values[rows], minlength=len(names) * classes).reshape(len(names), classes)
    return counts[times > 1].astype(float), names[times > 1]


def unit_sums(counts: Floats, owners: Integers, size: int, times: Floats | None = None) -> Floats:
    """Return the sums that alpha needs, by owner: shape (*size*, 1 + classes).

    *counts* (units, classes) has the number of people per class; ``owners[i]`` is the owner of row ``i``, which stands for
    ``times[i]`` units (default: 1). Column 0 is the diagonal of the coincidence matrix, summed over classes; the others are the
    numbers of judgments per class. Units with a single judgment are left out.
    """
    people = counts.sum(axis=1)
    weight = (np.ones(len(counts)) if times is None else times) * (people > 1)
    equal = (counts * (counts - 1)).sum(axis=1) / np.maximum(people - 1, 1)
    columns = [equal, *counts.T]
    return np.stack([np.bincount(owners, weights=column * weight, minlength=size) for column in columns], axis=1)


def character_counts(table: SpansTable, record: Integers, people: Integers, lengths: Integers) -> tuple[Floats, Integers, Floats]:
    """Return runs of characters that the same number of people have inside a span.

    *record* is the record of each document; *people* (number of documents) and *lengths* (of the text, in code points) have one
    entry per record. The results have one row per run: (people inside, people outside), the record, the length in code points.
    The last rows, one per record, are for the characters in no span.
    """
    owner = record[table.document]
    far = int(max(table.end.max(initial=0), lengths.max(initial=0))) + 1
    edges = np.concatenate([owner * far + table.start, owner * far + table.end])
    steps = np.concatenate([np.ones(len(owner)), -np.ones(len(owner))])
    order = np.argsort(edges, kind="stable")
    inside = np.cumsum(steps[order])[:-1] if len(order) else np.zeros(0)
    stretch = np.diff(edges[order]) * (inside > 0)
    whose = edges[order][:-1] // far if len(order) else np.zeros(0, dtype=np.int64)
    covered = np.bincount(whose, weights=stretch, minlength=len(lengths))
    counts = np.stack([inside, people[whose] - inside], axis=1) if len(inside) else np.zeros((0, 2))
    empty = np.stack([np.zeros(len(people)), people], axis=1)
    return (
        np.concatenate([counts, empty]).astype(float),
        np.concatenate([whose, np.arange(len(lengths))]).astype(np.int64),
        np.concatenate([stretch, np.maximum(lengths - covered, 0)]),
    )
