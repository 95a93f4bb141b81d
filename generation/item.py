"""What flows through the stages: an item, growing by one part a stage.

Items are immutable; a stage returns a new one. They are stored as JSON between stages, so that every stage can run
alone in a process of its own.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

from pydantic import TypeAdapter

from piiloom.corpus.marks import MarkedText
from piiloom.corpus.record import Relevance, Span
from piiloom.corpus.store.judgements import Judgement

Band = tuple[int, int]


@dataclass(frozen=True, slots=True, kw_only=True)
class WantedValue:
    """A value that the plan asks for. ``subtypes`` empty means any; ``subject`` is whose fact it is ("@v3": of the person v3 names)."""

    id: str
    entity_type: str
    relevance: Relevance
    subtypes: tuple[str, ...] = ()
    subject: str = "self"


@dataclass(frozen=True, slots=True, kw_only=True)
class Aside:
    """A peripheral sentence: the ids of the low-relevance values it holds, the frame of the bank that it follows (if any).

    ``opening``: it says on whose behalf the text is posted, and so comes first; ``closing``: it ends the text.
    """

    values: tuple[str, ...]
    frame: int | None = None
    opening: bool = False
    closing: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class TextShare:
    """An item's share in a text with several questions: the seed of the text, how many records it makes, and which this is (from 0)."""

    seed: int
    records: int
    number: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Telling:
    """Which text of which story an item is: ``telling`` counts how often the story was told before it in the plan."""

    story: str
    telling: int


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanItem:
    """What a record is to become. Validators read the figures here, so a plan can change them item by item.

    An item of a story has ``told``, and neither values nor lengths that it wants.

    ``*_words`` are inclusive bands of word counts, ``target_words`` the length that the text should have; ``lead`` is the
    relevance of the first mention in the finished text (None: there is none); ``cue_level`` how much of the theme the
    question gives away.
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

    @property
    def records(self) -> int:
        """How many records the item's text makes."""
        return self.share.records if self.share else 1

    @property
    def text_name(self) -> str:
        """What calls for the whole text are named after: the first item of the text."""
        return str(self.index - (self.share.number if self.share else 0))


@dataclass(frozen=True, slots=True, kw_only=True)
class ItemValue:
    """A value as drawn."""

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


# What a value weighs in the advice, as ledgers and judges are told.
NOTHING, ONE_POINT, MAIN = "nothing", "one point", "main advice"


@dataclass(frozen=True, slots=True, kw_only=True)
class LedgerLine:
    """What swapping a value for another ordinary one would change in the advice; ``change`` None: nothing.

    ``aside``: the change is one point among several, so that readers might give the value either label.
    """

    value: str
    swapped_for: str
    change: str | None
    aside: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class LedgerQuestion:
    """A question as it was thought up, with a line for each value.

    ``put``: as it is published, where it is; ``decision``: that of the case from which it comes.
    """

    draft: str
    ledger: tuple[LedgerLine, ...]
    put: str | None = None
    decision: str | None = None

    @property
    def deciding(self) -> frozenset[str]:
        """The ids of the values that change the advice."""
        return frozenset(line.value for line in self.ledger if line.change is not None and not line.aside)

    def weight_of(self, value: str) -> str:
        """What *value* weighs in the advice, in the words of the prompts."""
        return MAIN if value in self.deciding else ONE_POINT if value in self.disputable else NOTHING

    @property
    def disputable(self) -> frozenset[str]:
        """The ids of the values that change one point of the advice among several."""
        return frozenset(line.value for line in self.ledger if line.aside)


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """The life in which an item's values belong together.

    ``uses``: what each value is doing in it, by id; ``struck``: the values that were taken out, and why; ``untold``: what the situation
    may know of and the text must not tell.
    """

    situation: str
    decisions: tuple[str, ...]
    uses: Mapping[str, str]
    struck: Mapping[str, str]
    questions: tuple[LedgerQuestion, ...] = ()
    untold: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Item:
    """A plan item and what the stages have made of it so far.

    ``refused`` counts the replies that validators refused; ``rationale`` says why values are high, where a stage knows it.
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
