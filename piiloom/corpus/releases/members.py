"""The part of a record that splitting needs; 100,000 of them take about as much memory as their texts twice over."""

from __future__ import annotations

from dataclasses import dataclass
from sys import intern

from piiloom.corpus.normalising import value_form
from piiloom.corpus.record import Record, Relevance
from piiloom.taxonomy.entity_types import Taxonomy


@dataclass(frozen=True, slots=True, kw_only=True)
class Value:
    """One mention of a value: ``context[start:end]`` of its member. ``open``: by the taxonomy, values of its type seldom repeat."""

    start: int
    end: int
    entity_type: str
    subtype: str | None = None
    relevance: Relevance | None = None
    value_id: str | None = None
    open: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Member:
    """What splitting needs of a record.

    ``stratum`` is its pair of types ("age+health"), or "" if it has none. ``parents`` are the ids (without revisions) of the records
    that it was derived from.
    """

    id: str
    revision: int
    context: str
    question: str | None = None
    locale: str = ""
    group_keys: tuple[str, ...] = ()
    parents: tuple[str, ...] = ()
    stratum: str = ""
    values: tuple[Value, ...] = ()

    @classmethod
    def of(cls, record: Record, taxonomy: Taxonomy) -> Member:
        """Make the member for *record*, whose values are of the types of *taxonomy*."""
        types = taxonomy.types
        return cls(
            id=record.id,
            revision=record.revision,
            context=record.context,
            question=record.question,
            locale=record.locale,
            group_keys=record.group_keys,
            parents=_parents(record),
            stratum=intern("+".join(sorted(record.plan.pair))) if record.plan is not None else "",
            values=tuple(
                Value(
                    start=span.start,
                    end=span.end,
                    entity_type=span.entity_type,
                    subtype=span.subtype,
                    relevance=span.relevance,
                    value_id=span.value_id,
                    open=span.entity_type in types and types[span.entity_type].open,
                )
                for span in record.spans
            ),
        )

    def text_of(self, value: Value) -> str:
        """The value as it stands in the context."""
        return self.context[value.start : value.end]

    def key_of(self, value: Value) -> tuple[str, str]:
        """Type and form: two mentions have the same value if these are equal."""
        return value.entity_type, value_form(value.entity_type, self.text_of(value))

    def spelling_of(self, value: Value) -> tuple[str, str]:
        """Type and case-folded text: the order of values, and what seeds draws for one, as the least spelling of all mentions."""
        return value.entity_type, self.text_of(value).casefold()


def _parents(record: Record) -> tuple[str, ...]:
    made = record.provenance
    return () if made is None else tuple(parent.rpartition("@")[0] or parent for parent in made.parents)
