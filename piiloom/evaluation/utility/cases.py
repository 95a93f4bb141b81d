"""Records as the utility judge needs them: one question, and the context in several variants.

The variants are those of the masked format (``corpus.formats.masked``): ``original``; ``relevance_aware``, where values that matter to
the question stay and all others are typed placeholders; ``all_masked``, where all values are typed placeholders, so that it differs
from the one before in what it masks and not in how; and ``surrogates``. The question is masked or replaced in the same way.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from piiloom.corpus.formats.masked import masked_row
from piiloom.corpus.record import Record
from piiloom.foundation.errors import DataError, UsageError
from piiloom.taxonomy.entity_types import Taxonomy

ORIGINAL: Final = "original"
# The names of the variants, with their keys in a row of the masked format (None: the row itself).
_KEYS: Final[Mapping[str, str | None]] = {
    ORIGINAL: None,
    "relevance_aware": "relevance_aware",
    "all_masked": "typed",
    "surrogates": "surrogates",
}
VARIANTS: Final = tuple(_KEYS)

NO_QUESTION: Final = "no question"
NO_RELEVANCE: Final = "no span with a relevance"


@dataclass(frozen=True, slots=True, kw_only=True)
class Shown:
    """A variant: what stands in the place of context and question."""

    context: str
    question: str

    @property
    def whole(self) -> str:
        """Both together: all that leaves the machine when the question is asked."""
        return f"{self.context}\n{self.question}"


@dataclass(frozen=True, slots=True, kw_only=True)
class CaseFact:
    """A value, as it stands in the original context, and its type."""

    value: str
    entity_type: str


@dataclass(frozen=True, slots=True, kw_only=True)
class UtilityCase:
    """A record with its variants.

    ``cluster`` is the document that it belongs to: records of one text with several questions are one document. ``needed`` are the values
    of high relevance, ``protected`` all others: those that ``relevance_aware`` masks at every mention. Both without repetition.
    """

    id: str
    cluster: str
    shown: Mapping[str, Shown]
    needed: tuple[CaseFact, ...]
    protected: tuple[CaseFact, ...]

    @property
    def original(self) -> Shown:
        """Context and question as they are."""
        return self.shown[ORIGINAL]

    def first_alike(self, variant: str) -> str:
        """Return the first variant that shows the same as *variant*, often itself. They share all that is asked about them."""
        return next(name for name, shown in self.shown.items() if shown == self.shown[variant])

    @property
    def distinct(self) -> tuple[str, ...]:
        """The variants that show something that none before them shows."""
        return tuple(name for name in self.shown if self.first_alike(name) == name)


def checked_variants(names: Sequence[str]) -> tuple[str, ...]:
    """Return *names* in the order of ``VARIANTS``, with "original". Raises ``UsageError`` for an unknown one, or if only one is named."""
    unknown = [name for name in names if name not in VARIANTS]
    if unknown:
        raise UsageError(f"there is no variant {unknown[0]!r}", where="--variants", remedy=f"Choose from {', '.join(VARIANTS)}")
    wanted = tuple(name for name in VARIANTS if name in names or name == ORIGINAL)
    if len(wanted) < 2:
        raise UsageError("there is nothing to compare", where="--variants", remedy="Name a second one, as in original,relevance_aware")
    return wanted


def utility_cases(
    records: Iterable[Record], taxonomy: Taxonomy, variants: Sequence[str] = VARIANTS
) -> tuple[list[UtilityCase], Counter[str]]:
    """Return the cases of *records*, and how many records were left out for which reason.

    *taxonomy* has the types of their spans; *variants* are as ``checked_variants`` gives them. Raises ``DataError`` if a record id repeats.
    """
    cases: dict[str, UtilityCase] = {}
    left_out: Counter[str] = Counter()
    for record in records:
        if record.id in cases:
            raise DataError("two records have this id", where=record.id, remedy="Give each record an id of its own")
        if not (record.question or "").strip():
            left_out[NO_QUESTION] += 1
        elif not any(span.relevance for span in record.spans):
            left_out[NO_RELEVANCE] += 1
        else:
            cases[record.id] = _case(record, taxonomy, variants)
    return list(cases.values()), left_out


def _case(record: Record, taxonomy: Taxonomy, variants: Sequence[str]) -> UtilityCase:
    row: Any = masked_row(record, taxonomy)[0]
    parts = {name: row if _KEYS[name] is None else row[_KEYS[name]] for name in variants}
    facts: dict[CaseFact, bool] = {}
    for span in record.spans:
        fact = CaseFact(value=span.text_in(record.context), entity_type=span.entity_type)
        facts[fact] = facts.get(fact, False) or span.relevance == "high"
    return UtilityCase(
        id=record.id,
        cluster=record.contrast_group or record.id,
        shown={name: Shown(context=part["text"], question=part["question"]) for name, part in parts.items()},
        needed=tuple(fact for fact, high in facts.items() if high),
        protected=tuple(fact for fact, high in facts.items() if not high),
    )
