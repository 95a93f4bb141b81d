"""The items that flow through the stages: each stage adds one part.

Items are immutable; a stage returns a new one. Between stages they are stored as JSON, so that each stage can run
in its own process.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

from pydantic import TypeAdapter

from piiloom.corpus.alignment import MarkedText
from piiloom.corpus.record import Relevance, Span
from piiloom.corpus.store.judgements import Judgement
from piiloom.taxonomy.text_shapes import Shape

Band = tuple[int, int]  # (fewest, most) words


@dataclass(frozen=True, slots=True, kw_only=True)
class WantedValue:
    """A value that the plan asks for.

    ``subtypes``: the allowed subtypes (empty: any). ``subject``: the person the value belongs to ("@v3": the person that value v3 names).
    """

    id: str
    entity_type: str
    relevance: Relevance
    subtypes: tuple[str, ...] = ()
    subject: str = "self"


@dataclass(frozen=True, slots=True, kw_only=True)
class Aside:
    """A peripheral sentence.

    ``values``: ids of the low-relevance values it holds. ``frame``: index of the sentence frame in the bank, None without a bank.
    ``opening``: it says on whose behalf the text is posted, so it comes first. ``closing``: it comes last.
    """

    values: tuple[str, ...]
    frame: int | None = None
    opening: bool = False
    closing: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class TextShare:
    """An item's place in a text with several questions: the text's seed, its number of records, and this item's number (from 0)."""

    seed: int
    records: int
    number: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Telling:
    """Which story an item uses, and how often (``telling``) earlier texts of the plan have used that story."""

    story: str
    telling: int


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanItem:
    """The specification of one record. Validators read their limits from here, so limits can differ from item to item.

    ``*_words`` are inclusive (fewest, most) word counts; ``target_words`` is the length the text should have. ``lead`` is the
    relevance of the first value mentioned in the finished text (None: the text has no value). ``cue_level`` says how much of the
    theme the question gives away. Items of the recipe "story" have ``told`` set, and no wanted values or lengths; those of
    the recipe "case" have ``shape`` set.
    """

    index: int
    seed: int
    pair: tuple[str, str]
    topic: str
    subtopic: str
    scenario: str | None
    locale: str
    register: str
    cue_level: str | None
    voice: Literal["first person"]
    surface_forms: Literal["verbatim"]
    wanted: tuple[WantedValue, ...]
    asides: tuple[Aside, ...]
    lead: Relevance | None
    situation_words: Band
    peripheral_words: Band
    context_words: Band
    target_words: int
    question_words: Band
    situation_sentences: int
    peripheral_sentences: int
    told: Telling | None = None
    share: TextShare | None = None
    shape: Shape | None = None

    @property
    def records(self) -> int:
        """How many records the item's text makes."""
        return self.share.records if self.share else 1

    @property
    def text_name(self) -> str:
        """The item id used for calls that concern the whole text: the index of the text's first item."""
        return str(self.index - (self.share.number if self.share else 0))


@dataclass(frozen=True, slots=True, kw_only=True)
class ItemValue:
    """A value that was drawn for a ``WantedValue``."""

    id: str
    entity_type: str
    subtype: str | None
    text: str
    relevance: Relevance
    subject: str = "self"


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """The question in its three forms; records carry the abstracted one."""

    draft: str
    personal: str
    abstracted: str


# How much a value matters to the advice, in the words that prompts for ledgers and judges use.
NOTHING, ONE_POINT, MAIN = "nothing", "one point", "main advice"


@dataclass(frozen=True, slots=True, kw_only=True)
class LedgerLine:
    """What would change in the advice if *value* were replaced by another ordinary one.

    ``change`` is None if nothing would. ``aside``: the change is only one point among several, so readers might give the value
    either label.
    """

    value: str
    swapped_for: str
    change: str | None
    aside: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class LedgerQuestion:
    """A question as drafted, with one ledger line per value.

    ``put``: its published wording, None if it is not published. ``decision``: the decision of the case it was made from.
    """

    draft: str
    ledger: tuple[LedgerLine, ...]
    put: str | None = None
    decision: str | None = None

    @property
    def deciding(self) -> frozenset[str]:
        """The ids of the values that change the advice."""
        return frozenset(line.value for line in self.ledger if line.change is not None and not line.aside)

    @property
    def disputable(self) -> frozenset[str]:
        """The ids of the values that change one point of the advice among several."""
        return frozenset(line.value for line in self.ledger if line.aside)


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """The invented situation of the recipe "case", which makes an item's values fit together.

    ``uses``: the role of each value, by value id. ``struck``: the values that were removed, with the reason. ``untold``: what the
    situation may mention but the text must not.
    """

    situation: str
    decisions: tuple[str, ...]
    uses: Mapping[str, str]
    struck: Mapping[str, str]
    questions: tuple[LedgerQuestion, ...] = ()
    untold: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Item:
    """A plan item with the results of the stages so far.

    ``refused`` counts the replies that validators refused. ``rationale`` says why the high-relevance values matter, if a stage knows.
    ``lookalikes`` are (kind, text) of what resembles personal data in the text, without a span.
    """

    plan: PlanItem
    values: tuple[ItemValue, ...] = ()
    situation: MarkedText | None = None
    peripheral: tuple[MarkedText, ...] = ()
    question: Question | None = None
    passage: MarkedText | None = None
    spans: tuple[Span, ...] = ()
    refused: int = 0
    judgements: tuple[Judgement, ...] = ()
    rationale: str | None = None
    case: Case | None = None
    lookalikes: tuple[tuple[str, str], ...] = ()

    def value(self, value_id: str) -> ItemValue:
        """Look a value up by its id; raises ``KeyError``."""
        for value in self.values:
            if value.id == value_id:
                return value
        raise KeyError(value_id)

    def high_values(self) -> tuple[ItemValue, ...]:
        """List the values that matter to the question, in plan order."""
        return tuple(value for value in self.values if value.relevance == "high")


@lru_cache(maxsize=1)
def _items() -> TypeAdapter[Item]:
    return TypeAdapter(Item)


@lru_cache(maxsize=1)
def _plans() -> TypeAdapter[PlanItem]:
    return TypeAdapter(PlanItem)


def item_to_json(item: Item) -> str:
    """Write *item* as JSON (the same bytes for equal items)."""
    return _items().dump_json(item).decode()


def plan_to_json(plan: PlanItem) -> str:
    """Write *plan* as JSON."""
    return _plans().dump_json(plan).decode()


def item_from_json(text: str) -> Item:
    """Read what ``item_to_json`` wrote; raises pydantic's ``ValidationError`` on anything else."""
    return _items().validate_json(text)
