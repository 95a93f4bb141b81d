"""Figures about variety: sentences that texts share, stories and questions, kinds of direct identifiers, look-alikes."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from piiloom.corpus.record import Record, Span
from piiloom.taxonomy.entities.entity_catalogue import find_shipped
from piiloom.taxonomy.identifying import shipped_identifying

FEWEST_WORDS = 7  # of a sentence, values masked
KIND_SHARE = 0.01  # share of the texts from which on a kind of identifiers is counted
_MASK = "§"
_SENTENCE_END = re.compile(r"(?<=[.!?…])\s+|\n+")
_SPACE, _NO_LETTER = re.compile(r"\s+"), re.compile(r"[^a-z§ ]")


@dataclass(frozen=True, slots=True, kw_only=True)
class VarietyFigures:
    """Shares are of the texts; ``shared_sentences_share`` is of their sentences. Texts of a contrast group count once.

    ``identifiers`` and ``lookalikes``: texts by kind. ``common_kinds``: kinds of identifiers in ``KIND_SHARE`` of the texts or more.
    ``records_per_story``: mean, None where no plan names a story; ``most_of_story``: the largest number of records of one.
    """

    texts: int
    sharing_share: float
    shared_sentences_share: float | None
    stories: int
    records_per_story: float | None
    most_of_story: int
    questions: int
    records_per_question: float | None
    direct_share: float
    identifiers: dict[str, int]
    common_kinds: int
    lookalike_share: float
    lookalikes: dict[str, int]


def measure_variety(records: Sequence[Record]) -> VarietyFigures:
    """Measure the variety of *records* (at least one)."""
    texts = first_of_texts(records)
    sentences = [masked_sentences(record) for record in texts]
    often = Counter(sentence for found in sentences for sentence in found)
    stories = Counter(record.plan.scenario for record in records if record.plan is not None and record.plan.scenario)
    asked = [record.question for record in records if record.question]
    identifiers = [{span.subtype or span.entity_type for span in record.spans if is_direct(span)} for record in texts]
    lookalikes = [record.plan.lookalikes if record.plan is not None else () for record in texts]
    kinds = _ranked(identifiers)
    all_sentences = sum(map(len, sentences))
    return VarietyFigures(
        texts=len(texts),
        sharing_share=sum(any(often[one] > 1 for one in found) for found in sentences) / len(texts),
        shared_sentences_share=sum(count for count in often.values() if count > 1) / all_sentences if all_sentences else None,
        stories=len(stories),
        records_per_story=stories.total() / len(stories) if stories else None,
        most_of_story=max(stories.values(), default=0),
        questions=len(set(asked)),
        records_per_question=len(asked) / len(set(asked)) if asked else None,
        direct_share=sum(map(bool, identifiers)) / len(texts),
        identifiers=kinds,
        common_kinds=sum(number >= KIND_SHARE * len(texts) for number in kinds.values()),
        lookalike_share=sum(map(bool, lookalikes)) / len(texts),
        lookalikes=_ranked(lookalikes),
    )


def first_of_texts(records: Iterable[Record]) -> list[Record]:
    """Return *records* with one record of each text; only records of a contrast group share a text."""
    found, groups = [], set()
    for record in records:
        group = record.contrast_group
        if group is None or (group, record.context) not in groups:
            found.append(record)
            groups.add((group, record.context))
    return found


def masked_sentences(record: Record) -> set[str]:
    """Return the sentences of ``FEWEST_WORDS`` words or more: in lower case, letters only, each value replaced by one sign."""
    text = record.context
    for span in reversed(record.spans):
        text = text[: span.start] + _MASK + text[span.end :]
    plain = (_NO_LETTER.sub("", _SPACE.sub(" ", part.lower())).strip() for part in _SENTENCE_END.split(text))
    return {sentence for sentence in plain if len(sentence.split()) >= FEWEST_WORDS}


def is_direct(span: Span) -> bool:
    """Return whether the value of *span* points to a person by itself, by the entity catalogue if it has the subtype, else the taxonomy."""
    entity = find_shipped(span.subtype) if span.subtype else None
    found = entity or shipped_identifying().of(span.entity_type, span.subtype)
    return found.identifier == "direct"


def _ranked(kinds: Iterable[Iterable[str]]) -> dict[str, int]:
    counts = Counter(kind for found in kinds for kind in found)
    return dict(sorted(counts.items(), key=lambda item: (-item[1], item[0])))
