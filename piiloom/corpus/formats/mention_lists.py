"""Lists of mentions, ``[{"value", "type", "relevance"}, …]`` in text order, as the answer of a language model.

A list has no offsets. Reading places the mentions in their order: each at the first whole-word occurrence of its value behind the mention
before it, or, if there is none, at the first that no other mention takes (lists of others are not always in text order). A row is refused
if a value is absent, stands only inside a longer word or is listed more often than the text has it; with ``skip_values`` such mentions are
left out.

The losses are found by placing the written mentions again in memory: a record without an entry is read back with the same context,
question and (range, type, relevance) of every span. Relevance is written only if the record shows what matters to a question
(``asks_relevance``), otherwise it has no meaning.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Sequence
from typing import Literal

from pydantic import BaseModel, ConfigDict, ValidationError

from piiloom.corpus.formats.base import ABSENT, INSIDE_WORD, Json, LossEntry, ReadOptions, ReadTally, SkippedValue, quoted
from piiloom.corpus.formats.chat_rows import UNKNOWN_TYPE
from piiloom.corpus.formats.instructions import asks_relevance
from piiloom.corpus.formats.native_rows import RowFault, fault_of, parse_list
from piiloom.corpus.mention_search import Range, stands_alone
from piiloom.corpus.record import LostValue, Record
from piiloom.taxonomy.entity_types import Taxonomy

BLANK = "blank value: left out"
NO_QUESTION = "relevance without a question it could refer to: left out"
NOT_WHOLE = "stands only inside a longer word: reading would refuse the row"
ELSEWHERE = "its value also stands elsewhere, where it is not marked: reading would mark it there"
TOO_OFTEN = "is listed more often than it stands in the text"


class _Mention(BaseModel):
    """One entry of a list."""

    model_config = ConfigDict(strict=True, extra="allow", frozen=True)

    value: str
    type: str
    relevance: Literal["high", "low"] | None = None


def mention_list(record: Record, taxonomy: Taxonomy) -> tuple[list[Json], list[LossEntry]]:
    """Return the list of the mentions of *record*, and what reading it would not bring back, in text order."""
    with_relevance = asks_relevance(record)
    written = [span for span in record.spans if span.text_in(record.context).strip()]
    mentions: list[Json] = []
    for span in written:
        mention: Json = {"value": span.text_in(record.context), "type": span.entity_type}
        mentions.append({**mention, "relevance": span.relevance} if with_relevance else mention)
    placed = _place(record.context, [span.text_in(record.context) for span in written])
    places = {span.id: place for span, place in zip(written, placed, strict=True)}
    return mentions, list(_losses(record, places, taxonomy, with_relevance=with_relevance))


def _losses(record: Record, places: dict[str, Range | None], taxonomy: Taxonomy, *, with_relevance: bool) -> Iterator[LossEntry]:
    for span in record.spans:
        value = span.text_in(record.context)
        reasons: list[str] = []
        if span.id not in places:
            reasons.append(BLANK)
        elif places[span.id] is None:
            reasons.append(NOT_WHOLE)
        elif places[span.id] != (span.start, span.end):
            reasons.append(ELSEWHERE)
        if span.relevance is not None and not with_relevance and span.id in places:
            reasons.append(NO_QUESTION)
        if span.entity_type not in taxonomy.types:
            reasons.append(UNKNOWN_TYPE)
        yield from (LossEntry(record_id=record.id, value=value, reason=reason) for reason in reasons)


class MentionReader:
    """Turns lists into the native rows of one file."""

    def __init__(self, file: str, options: ReadOptions, tally: ReadTally) -> None:
        self._file = file
        self._options = options
        self._tally = tally

    def row(self, number: int, context: str, question: str | None, answer: str) -> Json:
        """Return the native row *number* of *context*, *question* and the list in *answer*.

        Raises ``RowFault`` if *answer* is no list of mentions, or if a mention has no place in the context (see ``skip_values``).
        """
        mentions = self._parsed(answer)
        places = _place(context, [mention.value for mention in mentions])
        unplaced = [mention for mention, place in zip(mentions, places, strict=True) if place is None]
        lost = [] if self._options.all_mentions else _lost(context, unplaced, self._options.taxonomy)
        placed = sorted(((place, mention) for mention, place in zip(mentions, places, strict=True) if place is not None), key=_start)
        spans = [_span(place, mention) for place, mention in placed]
        if self._options.all_mentions:
            spans += (_span((None, None), mention) for mention in unplaced)
        return self.row_of(number, {"context": context, "question": question, "spans": spans}, lost)

    def row_of(self, number: int, row: Json, lost: list[LostValue]) -> Json:
        """Return *row* with its *lost* values, and count them. Raises ``RowFault`` if there are any, unless ``skip_values`` is set."""
        if lost and not self._options.skip_values:
            raise RowFault("; ".join(dict.fromkeys(f"{quoted(value.text)} {value.reason}" for value in lost)))
        if lost:
            row["meta"] = {"source": {"file": self._file, "line": number, "lost": [_lost_row(value) for value in lost]}}
            self._count(number, lost)
        return row

    def _count(self, number: int, lost: list[LostValue]) -> None:
        inside = sum(value.reason == INSIDE_WORD for value in lost)
        self._tally.values += len(lost)
        self._tally.inside_word += inside
        self._tally.missing += len(lost) - inside
        self._tally.skipped_values += (SkippedValue(line=number, value=value) for value in lost)

    def _parsed(self, answer: str) -> list[_Mention]:
        try:
            found = parse_list(answer)
        except RowFault as fault:
            raise RowFault(f"the answer: {fault}") from fault
        mentions: list[_Mention] = []
        for number, one in enumerate(found):
            try:
                mention = _Mention.model_validate(one)
            except ValidationError as error:
                raise RowFault(f"the answer, mention {number + 1}: {fault_of(error, _Mention)}") from error
            if not mention.value.strip():
                raise RowFault(f"the answer, mention {number + 1}: an empty value")
            self._tally.ignored_fields.update(f"mentions.{key}" for key in mention.model_extra or ())
            mentions.append(mention)
        return mentions


def _start(placed: tuple[Range, _Mention]) -> int:
    return placed[0][0]


def _place(context: str, values: Sequence[str]) -> list[Range | None]:
    """Return the place of each value by the rules of the module docstring; None for a value without one."""
    places: list[Range | None] = []
    behind = 0
    used_up: set[str] = set()  # values that do not stand behind *behind*: each is searched for once
    for value in values:
        place = None if value in used_up else _find(context, value, behind)
        places.append(place)
        if place is None:
            used_up.add(value)
        else:
            behind = place[1]
    taken = [place for place in places if place is not None]
    searched: dict[str, int] = {}  # up to where nothing is left of a value
    for number, value in enumerate(values):
        if places[number] is None:
            places[number] = _find_free(context, value, taken, searched)
    return places


def _find(context: str, value: str, at: int) -> Range | None:
    """Return the first whole-word occurrence of *value* at or behind *at*."""
    start = context.find(value, at)
    while start >= 0 and not stands_alone(context, start, start + len(value)):
        start = context.find(value, start + 1)
    return (start, start + len(value)) if start >= 0 else None


def _find_free(context: str, value: str, taken: list[Range], searched: dict[str, int]) -> Range | None:
    """Return the first whole-word occurrence of *value* that overlaps none of *taken* (sorted), and add it there."""
    place = _find(context, value, searched.get(value, 0))
    while place is not None:
        at = bisect_left(taken, place)
        free = all(place[1] <= other[0] or other[1] <= place[0] for other in taken[max(at - 1, 0) : at + 1])
        searched[value] = place[1] if free else place[0] + 1
        if free:
            taken.insert(at, place)
            return place
        place = _find(context, value, searched[value])
    searched[value] = len(context)
    return None


def _lost(context: str, mentions: Sequence[_Mention], taxonomy: Taxonomy) -> list[LostValue]:
    """Return the mentions that have no place, and why."""
    reasons: dict[str, str] = {}
    for value in dict.fromkeys(mention.value for mention in mentions):
        reasons[value] = TOO_OFTEN
        if _find(context, value, 0) is None:
            reasons[value] = INSIDE_WORD if value in context else ABSENT
    return [
        LostValue(text=one.value, entity_type=taxonomy.resolve(one.type) or one.type, relevance=one.relevance, reason=reasons[one.value])
        for one in mentions
    ]


def _lost_row(lost: LostValue) -> Json:
    return {"text": lost.text, "type": lost.entity_type, "relevance": lost.relevance, "reason": lost.reason}


def _span(place: Range | tuple[None, None], mention: _Mention) -> Json:
    start, end = place
    return {"start": start, "end": end, "text": mention.value, "type": mention.type, "relevance": mention.relevance}
