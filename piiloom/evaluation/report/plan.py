"""Count records by their metadata: pairs, topics, registers, cue levels, locales, producers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

from piiloom.corpus.record import Record
from piiloom.corpus.releases.manifest import producer_of
from piiloom.taxonomy.entity_types import Taxonomy

_DIGITS = 12
# Provider, model, stage and templates.
_Way = tuple[str | None, str | None, str | None, tuple[tuple[str, str], ...]]


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


def measure_plan(records: Iterable[Record], taxonomy: Taxonomy) -> PlanFigures:
    """Count the records; missing metadata is not counted."""
    counts: dict[str, Counter[str]] = {}
    topics: set[tuple[str, ...]] = set()
    subtopics: set[tuple[str, ...]] = set()
    origins: Counter[_Way] = Counter()
    planned = 0

    def count(name: str, value: str | None) -> None:
        if value:
            counts.setdefault(name, Counter())[value] += 1

    for record in records:
        count("locales", record.locale)
        count("producers", producer_of(record))
        origins[_way(record)] += 1
        plan = record.plan
        if plan is None:
            continue
        planned += 1
        pair = "+".join(sorted(plan.pair))
        count("pairs", pair)
        count("scenarios", plan.scenario)
        count("registers", plan.register)
        count("cue_levels", plan.cue_level)
        if plan.topic:
            topics.add((pair, plan.topic))
            if plan.subtopic:
                subtopics.add((pair, plan.topic, plan.subtopic))
    ranked = {name: _ranked(counts.get(name, Counter())) for name in ("pairs", "registers", "cue_levels", "locales", "producers")}
    return PlanFigures(
        planned=planned,
        pairs_possible=len(taxonomy.pairs),
        topics=len(topics),
        subtopics=len(subtopics),
        scenarios=len(counts.get("scenarios", ())),
        origins=tuple(
            Origin(provider=provider, model=model, stage=stage, templates=templates, records=number)
            for (provider, model, stage, templates), number in sorted(origins.items(), key=lambda item: (-item[1], str(item[0])))
        ),
        **ranked,
    )


def _way(record: Record) -> _Way:
    made = record.provenance
    if made is None:
        return None, None, None, ()
    return made.provider, made.model, made.stage, tuple((name, digest[:_DIGITS]) for name, digest in made.templates)


def _ranked(counts: Counter[str]) -> dict[str, int]:
    return dict(sorted(counts.items(), key=lambda item: (-item[1], item[0])))
