"""What Krippendorff's alpha is taken over: a unit is one thing that several people have put into a class.

For types and relevance a unit is a mention that two people or more have marked; for boundaries each character of the text, inside
a span or outside; for verdicts the record. Characters, not words: some scripts have no blanks between words.
"""

from __future__ import annotations

import numpy as np

from piiloom.annotation_app.agreement.matching import Floats, Matches
from piiloom.annotation_app.agreement.spans_table import Integers, SpansTable


def mention_of(table: SpansTable, matches: Matches) -> Integers:
    """For each span the number of the mention that it means: the first span of those that pairs join, directly or by others."""
    label = np.arange(len(table.document))
    while True:  # each round carries the smallest number one person further
        smallest = np.minimum(label[matches.left], label[matches.right])
        further = label.copy()
        np.minimum.at(further, matches.left, smallest)
        np.minimum.at(further, matches.right, smallest)
        if np.array_equal(further, label):
            return label
        label = further


def value_counts(table: SpansTable, mentions: Integers, values: Integers, classes: int) -> tuple[Floats, Integers]:
    """How many people put each mention into each class, and a span of that mention; *values* below 0 are no judgement.

    Where a chain of pairs brings two spans of one person into a mention, the first counts. Mentions with fewer than two
    judgements are left out.
    """
    judged = np.flatnonzero(values >= 0)
    _, first = np.unique(np.stack([mentions[judged], table.document[judged]]), axis=1, return_index=True)
    rows = judged[first]
    names, unit, times = np.unique(mentions[rows], return_inverse=True, return_counts=True)
    counts = np.bincount(unit * classes + values[rows], minlength=len(names) * classes).reshape(len(names), classes)
    return counts[times > 1].astype(float), names[times > 1]


def unit_sums(counts: Floats, owners: Integers, size: int, times: Floats | None = None) -> Floats:
    """What alpha needs of units, summed by owner: shape (*size*, 1 + classes).

    First the coincidences of equal classes, then how many judgements (that stand beside others) put a unit into each class.
    A row of *counts* stands for *times* units (one).
    """
    people = counts.sum(axis=1)
    weight = (np.ones(len(counts)) if times is None else times) * (people > 1)
    equal = (counts * (counts - 1)).sum(axis=1) / np.maximum(people - 1, 1)
    columns = [equal, *counts.T]
    return np.stack([np.bincount(owners, weights=column * weight, minlength=size) for column in columns], axis=1)


def character_counts(table: SpansTable, record: Integers, people: Integers, lengths: Integers) -> tuple[Floats, Integers, Floats]:
    """Stretches of text that the same number of people have inside a span: (inside, outside) people, the record, the length.

    *record* says which record a document belongs to; *people* and *lengths* have a row a record.
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
