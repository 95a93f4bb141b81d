"""A catalogue of a dozen entities in a locale, whose patterns compile in no time, and detectors over it."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

from piiloom.detection.hybrid.phases import EntityCandidate, PhaseSettings
from piiloom.detection.registry import PatternDetector
from piiloom.patterns.engine import PatternEngine
from piiloom.taxonomy.entities.catalogue_file import Entity, EntityPattern
from piiloom.taxonomy.entities.entity_catalogue import LocaleCatalogue

LOCALE = "pl_PL"


def entity(name, entity_type="code", *, patterns=(), priority=50, validator=None, context=(), structured=None):
    return Entity(
        id=name,
        locale=LOCALE,
        name=name.replace("_", " "),
        native=f"native {name}",
        domains=("IT",),
        structured=bool(patterns) if structured is None else structured,
        entity_type=entity_type,
        identifier="direct",
        sensitivity=2,
        priority=priority,
        patterns=tuple(patterns),
        validator=validator,
        context=tuple(context),
        generator=None,
        near_misses=(),
        source="made for tests",
        confirmed=True,
        default=True,
        where="test.yaml:1",
    )


def pattern(text, score, *labels):
    return EntityPattern(pattern=text, score=score, preceded_by=labels)


ENTITIES = (
    entity("person_name", "name", context=["pacjent", "pani"]),
    entity("address", "location", context=["adres"]),
    entity("city", "location", priority=20),
    entity("condition", "health", context=["diagnoza"]),
    entity("occupation", "occupation", context=["zawód"]),
    entity("password", patterns=[pattern(r"[A-Za-z0-9!#]{6,20}", 0.9, "hasło")], priority=85, context=["hasło"]),
    entity("pin", patterns=[pattern(r"\d{4}", 0.85, "pin")], priority=75, context=["pin"]),
    entity("pl_pesel", patterns=[pattern(r"\d{11}", 0.7)], priority=90, validator="stdnum:pl.pesel", context=["pesel"]),
    entity("account", patterns=[pattern(r"\d{11}", 0.6)], context=["konto"]),
    entity("phone", patterns=[pattern(r"\d{3} \d{3} \d{3}", 0.6)], priority=60, context=["tel"]),
    entity("number_pair", patterns=[pattern(r"\d{3} \d{3}", 0.6)], priority=40),
    entity("age", "age", patterns=[pattern(r"\d{1,3}", 0.3), pattern(r"\d{1,3} lat", 0.55)], context=["wiek", "lat"]),
)
BY_ID = {one.id: one for one in ENTITIES}


@lru_cache(maxsize=2)
def engine(locale=LOCALE):
    catalogue = LocaleCatalogue(
        locale=locale,
        region=locale[3:],
        entities=BY_ID,
        against=("zamówieni", "faktur"),
        notes="Names are given name first.",
        digest="test",
    )
    return PatternEngine(catalogue, backend="regex")


@dataclass(frozen=True, slots=True, kw_only=True)
class SmallPatterns(PatternDetector):
    """The pattern detector over this catalogue."""

    def engine(self, locale):
        return engine(locale)


def settings(phases=3, chunk_chars=4000, **options):
    return PhaseSettings(patterns=SmallPatterns(**options), phases=phases, chunk_chars=chunk_chars)


def candidate(start, end, name="person_name", score=0.8, **more):
    return EntityCandidate(start=start, end=end, entity=BY_ID[name], score=score, detector=more.pop("detector", "test"), **more)


def found(text, findings):
    """What was found: (value, id)."""
    return [(text[span.start : span.end], span.subtype) for span in findings.spans]
