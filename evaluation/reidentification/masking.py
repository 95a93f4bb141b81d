"""Which values of a document can still be read under a policy of masking."""

from __future__ import annotations

from collections.abc import Sequence

from piiloom.evaluation.inputs.documents import Mention
from piiloom.evaluation.reidentification.subjects import Policy, Subject, normalised

Place = tuple[int, int]


def still_read(subject: Subject, policy: Policy) -> list[bool]:
    """Say of each mention of the document whether its true value can be read.

    - ``none``: all can; ``all``: none can.
    - ``relevance-aware``: those of high relevance can.
    - ``predictions``: those of which a letter or digit is in no prediction, of whatever type. (A mention without a place: no prediction
      without a place has its value.)
    - ``surrogates``: those whose surrogate is the value itself.
    """
    mentions = subject.document.mentions
    if policy == "none":
        return [True] * len(mentions)
    if policy == "relevance-aware":
        return [one.relevance == "high" for one in mentions]
    if policy == "predictions" and subject.found is not None:
        found = subject.found.mentions
        places = merged([one.place for one in found if one.place is not None])
        values = {normalised(one.text) for one in found if one.place is None}
        return [not _is_masked(one, places, values) for one in mentions]
    if policy == "surrogates" and subject.surrogates is not None:
        return [normalised(one.text) == normalised(new) for one, new in zip(mentions, subject.surrogates, strict=True)]
    return [False] * len(mentions)


def merged(places: Sequence[Place]) -> list[Place]:
    """Return *places*, in any order and overlapping, as ascending places that neither overlap nor touch."""
    found: list[Place] = []
    for start, end in sorted(places):
        if found and start <= found[-1][1]:
            found[-1] = (found[-1][0], max(end, found[-1][1]))
        else:
            found.append((start, end))
    return found


def _is_masked(mention: Mention, masks: Sequence[Place], values: set[str]) -> bool:
    if mention.place is None:
        return normalised(mention.text) in values
    first, last = mention.place
    at = first
    for start, end in masks:
        if start >= last:
            break
        if end > at:
            if _readable(mention.text[at - first : max(start - first, at - first)]):
                return False
            at = end
    return not _readable(mention.text[at - first :])


def _readable(text: str) -> bool:
    return any(map(str.isalnum, text))
