"""Counts over records: metadata of plans, places of spans, types and values, and variety (shared sentences, stories, identifiers).

Two mentions have the same value if they have the same type and the same spelling, ignoring case.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import combinations

from stdnum import luhn

from piiloom.corpus.record import Record, Span
from piiloom.corpus.releases.manifest import producer_of
from piiloom.taxonomy.entities.entity_catalogue import find_shipped
from piiloom.taxonomy.entity_types import Taxonomy
from piiloom.taxonomy.identifying import shipped_identifying

_DIGITS = 12
# Provider, model, stage and templates.
_Way = tuple[str | None, str | None, str | None, tuple[tuple[str, str], ...]]
TENTHS = 10
TOP_VALUES = 5
_CARD = re.compile(r"[0-9]{13,19}")
_SEPARATORS = re.compile(r"[ -]")
FEWEST_WORDS = 7  # of a sentence, values masked
KIND_SHARE = 0.01  # share of the texts from which on a kind of identifiers is counted
_MASK = "§"
_SENTENCE_END = re.compile(r"(?<=[.!?…])\s+|\n+")
_SPACE, _NO_LETTER = re.compile(r"\s+"), re.compile(r"[^a-z§ ]")


@dataclass(frozen=True, slots=True, kw_only=True)
class Origin:
    """Records that were made in the same way. ``templates``: (name, first digits of its sha256) of the prompts, in stage order."""

    provider: str | None
    model: str | None
    stage: str | None
    templates: tuple[tuple[str, str], ...]
    records: int


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanFigures:
    """Counts of records by metadata, sorted by falling count, then by name.

    ``planned``: records with a plan. ``pairs_possible``: pairs that the taxonomy has. ``topics``, ``subtopics``, ``scenarios``: numbers of
    distinct ones. ``origins``: the same records as ``producers``, by how they were made.
    """

    planned: int
    pairs_possible: int
    pairs: dict[str, int]
    topics: int
    subtopics: int
    scenarios: int
    registers: dict[str, int]
    cue_levels: dict[str, int]
    locales: dict[str, int]
    producers: dict[str, int]
    origins: tuple[Origin, ...]


def measure_plan(records: Sequence[Record], taxonomy: Taxonomy) -> PlanFigures:
    """Count the records; missing metadata is not counted."""
    plans = [record.plan for record in records if record.plan is not None]
    topics = [("+".join(sorted(plan.pair)), plan.topic, plan.subtopic) for plan in plans]
    origins = Counter(map(_way, records))
    return PlanFigures(
        planned=len(plans),
        pairs_possible=len(taxonomy.pairs),
        pairs=_ranked(Counter(pair for pair, _, _ in topics)),
        topics=len({(pair, topic) for pair, topic, _ in topics if topic}),
        subtopics=len({each for each in topics if all(each)}),
        scenarios=len({plan.scenario for plan in plans if plan.scenario}),
        registers=_ranked(Counter(plan.register for plan in plans if plan.register)),
        cue_levels=_ranked(Counter(plan.cue_level for plan in plans if plan.cue_level)),
        locales=_ranked(Counter(record.locale for record in records if record.locale)),
        producers=_ranked(Counter(map(producer_of, records))),
        origins=tuple(
            Origin(provider=provider, model=model, stage=stage, templates=templates, records=number)
            for (provider, model, stage, templates), number in sorted(origins.items(), key=lambda item: (-item[1], str(item[0])))
        ),
    )


def _way(record: Record) -> _Way:
    made = record.provenance
    if made is None:
        return None, None, None, ()
    return made.provider, made.model, made.stage, tuple((name, digest[:_DIGITS]) for name, digest in made.templates)


def _ranked(counts: Counter[str]) -> dict[str, int]:
    return dict(sorted(counts.items(), key=lambda item: (-item[1], item[0])))


@dataclass(frozen=True, slots=True, kw_only=True)
class TypePair:
    """Two types: records planned for this pair, and records in whose text both types occur."""

    first: str
    second: str
    planned: int
    together: int


@dataclass(frozen=True, slots=True, kw_only=True)
class SpanPlaces:
    """``tenths``: spans that start in each tenth of a text (by code points), by relevance.

    ``per_record``: (spans, records with so many), ascending. ``pairs``: the pairs of types that occur, in taxonomy order.
    """

    tenths: tuple[dict[str, int], ...]
    per_record: tuple[tuple[int, int], ...]
    pairs: tuple[TypePair, ...]


def measure_places(records: Sequence[Record], taxonomy: Taxonomy) -> SpanPlaces:
    """Count the spans of *records* by place, the records by number of spans, and the pairs of types."""
    rank = _rank_of_types(taxonomy)
    tenths = Counter((TENTHS * span.start // len(record.context), span.relevance) for record in records for span in record.spans)
    types = (sorted({span.entity_type for span in record.spans}, key=rank) for record in records)
    together = Counter(pair for names in types for pair in combinations(names, 2))
    ordered = (sorted(record.plan.pair, key=rank) for record in records if record.plan is not None)
    planned = Counter((first, second) for first, second in ordered)
    return SpanPlaces(
        tenths=tuple({"high": tenths[at, "high"], "low": tenths[at, "low"], "unjudged": tenths[at, None]} for at in range(TENTHS)),
        per_record=tuple(sorted(Counter(len(record.spans) for record in records).items())),
        pairs=tuple(
            TypePair(first=a, second=b, planned=planned[a, b], together=together[a, b])
            for a, b in sorted(planned.keys() | together.keys(), key=lambda pair: (rank(pair[0]), rank(pair[1])))
        ),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class ValueCount:
    """A value (lower-cased), its mentions, and their share of all mentions of the type."""

    value: str
    mentions: int
    share: float


@dataclass(frozen=True, slots=True, kw_only=True)
class TypeFigures:
    """The figures of one type.

    ``open``: by the taxonomy, values of this type should seldom repeat. ``repeats``: (number of mentions, number of values with so many).
    """

    type: str
    open: bool
    mentions: int
    high: int
    low: int
    unjudged: int
    records: int
    distinct: int
    distinct_share: float
    top: tuple[ValueCount, ...]
    repeats: tuple[tuple[int, int], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class CardFigures:
    """Codes of 13 to 19 digits (spaces and hyphens aside), and how many of them pass the Luhn check."""

    numbers: int
    passing_luhn: int


def measure_types(records: Iterable[Record], taxonomy: Taxonomy) -> tuple[TypeFigures, ...]:
    """Measure all types that occur, in the order of *taxonomy*; unknown types follow, sorted by name."""
    relevances: defaultdict[str, Counter[str | None]] = defaultdict(Counter)
    values: defaultdict[str, Counter[str]] = defaultdict(Counter)
    held = Counter[str]()  # records by type
    for record in records:
        for span in record.spans:
            relevances[span.entity_type][span.relevance] += 1
            values[span.entity_type][span.text_in(record.context).lower()] += 1
        held.update({span.entity_type for span in record.spans})
    names = sorted(held, key=_rank_of_types(taxonomy))
    return tuple(_figures(name, relevances[name], values[name], held[name], taxonomy) for name in names)


def _rank_of_types(taxonomy: Taxonomy) -> Callable[[str], tuple[int, str]]:
    """Return a key that sorts names of types in the order of *taxonomy*, unknown ones after these by name."""
    order = {name: place for place, name in enumerate(taxonomy.types)}
    return lambda name: (order.get(name, len(order)), name)


def measure_cards(records: Iterable[Record]) -> CardFigures:
    """Count card-like numbers among the spans of type "code"."""
    codes = (span.text_in(record.context) for record in records for span in record.spans if span.entity_type == "code")
    cards = [digits for digits in (_SEPARATORS.sub("", code) for code in codes) if _CARD.fullmatch(digits)]
    return CardFigures(numbers=len(cards), passing_luhn=sum(luhn.is_valid(card) for card in cards))


def _figures(name: str, relevances: Counter[str | None], values: Counter[str], records: int, taxonomy: Taxonomy) -> TypeFigures:
    mentions = values.total()
    known = taxonomy.types.get(name)
    return TypeFigures(
        type=name,
        open=known is not None and known.open,
        mentions=mentions,
        high=relevances["high"],
        low=relevances["low"],
        unjudged=relevances[None],
        records=records,
        distinct=len(values),
        distinct_share=len(values) / mentions,
        top=tuple(
            ValueCount(value=value, mentions=count, share=count / mentions) for value, count in [*_ranked(values).items()][:TOP_VALUES]
        ),
        repeats=tuple(sorted(Counter(values.values()).items())),
    )


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
    kinds = _ranked(Counter(kind for found in identifiers for kind in found))
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
        lookalikes=_ranked(Counter(kind for found in lookalikes for kind in found)),
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
