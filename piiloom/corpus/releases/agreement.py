"""How far the annotators of a record agree: the share of equal labels.

Of two finished versions of a record it is the number of labels that both have, divided by the number of labels that either has. Labels
are equal if range, type and relevance are; in versions whose texts differ, the words of the span count instead of its range. Two
versions without labels agree fully, as do two rejections; an accepted and a rejected version do not agree at all. The agreement of a
record is the mean over all pairs of its annotators. ``cohen_kappa`` is for any two lists of labels.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations, groupby
from typing import Any

import numpy as np

from piiloom.corpus.store.annotation_events import AnnotationDocument, load_documents, records_finished_by_several
from piiloom.corpus.store.database import Store

_CHUNK = 1_000


def agreement_of_records(store: Store) -> dict[str, float]:
    """Return the agreement (0 to 1) of each record of the work list that two or more annotators have finished, by record id."""
    return dict(_agreements(store))


def agreement(states: Sequence[Mapping[str, Any]]) -> float:
    """Return the agreement of the finished versions of one record, given as annotators' states (JSON values); two or more of them."""
    shares = [_of_two(one, other) for one, other in combinations(states, 2)]
    return sum(shares) / len(shares)


def cohen_kappa(ones: Sequence[int], others: Sequence[int]) -> float | None:
    """Return Cohen's kappa of two people's labels of the same items; None if fewer than two labels occur."""
    labels, places = np.unique([ones, others], return_inverse=True)
    if len(labels) < 2:
        return None
    one, other = (np.bincount(row, minlength=len(labels)) for row in places.reshape(2, -1))
    observed, by_chance = int(np.sum(np.equal(ones, others))) * len(ones), int(one @ other)
    return (observed - by_chance) / (len(ones) ** 2 - by_chance)


def _agreements(store: Store) -> Iterator[tuple[str, float]]:
    several = records_finished_by_several(store)
    for at in range(0, len(several), _CHUNK):
        ids = several[at : at + _CHUNK]
        finished = (document for document in load_documents(store, record_ids=ids) if document.verdict != "open")
        for record_id, documents in groupby(finished, key=_record_id):
            yield record_id, agreement([document.state for document in documents])


def _record_id(document: AnnotationDocument) -> str:
    return document.record_id


def _of_two(one: Mapping[str, Any], other: Mapping[str, Any]) -> float:
    if one["verdict"] != other["verdict"]:
        return 0.0
    if one["verdict"] == "rejected":
        return 1.0
    same_text = one["document"]["context"] == other["document"]["context"]
    left, right = _labels(one["document"], by_range=same_text), _labels(other["document"], by_range=same_text)
    either = (left | right).total()
    return (left & right).total() / either if either else 1.0


def _labels(document: Mapping[str, Any], *, by_range: bool) -> Counter[tuple[object, ...]]:
    context = document["context"]
    return Counter(
        (
            (span["start"], span["end"]) if by_range else context[span["start"] : span["end"]],
            span["type"],
            span.get("relevance"),
        )
        for span in document["spans"]
    )
