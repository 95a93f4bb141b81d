"""Which values of a document can still be read under a policy of masking."""

from __future__ import annotations

from piiloom.evaluation.inputs.documents import Document, Mention
from piiloom.evaluation.reidentification.subjects import Policy, Subject, normalised
from piiloom.evaluation.schemes.masking import Ranges, found_ranges, is_covered


def still_read(subject: Subject, policy: Policy) -> list[bool]:
    """Say of each mention of the document whether its true value can be read.

    - ``none``: all can; ``all``: none can.
    - ``relevance-aware``: those of high relevance can.
    - ``predictions``: those that predictions, of whatever type, do not cover (``schemes.masking``). (A mention without a place: no
      prediction without a place has its value.)
    - ``surrogates``: those whose surrogate is the value itself.
    """
    mentions = subject.document.mentions
    if policy == "none":
        return [True] * len(mentions)
    if policy == "relevance-aware":
        return [one.relevance == "high" for one in mentions]
    if policy == "predictions" and subject.found is not None:
        ranges, values = found_ranges(subject.found), _values_without_place(subject.found)
        return [not _is_masked(one, ranges, values) for one in mentions]
    if policy == "surrogates" and subject.surrogates is not None:
        return [normalised(one.text) == normalised(new) for one, new in zip(mentions, subject.surrogates, strict=True)]
    return [False] * len(mentions)


def _values_without_place(found: Document) -> set[str]:
    return {normalised(one.text) for one in found.mentions if one.place is None}


def _is_masked(mention: Mention, ranges: Ranges, values: set[str]) -> bool:
    return normalised(mention.text) in values if mention.place is None else is_covered(mention, ranges)
