r"""Rows for tuning language models: an instruction, a message with question and text, and an answer, in three formats.

``alpaca``  ``{"instruction", "input", "output"}``; the answer is a JSON list of all mentions
``chat``    ``{"messages": [system, user, assistant]}``, as TRL's ``SFTTrainer`` takes it, with the same three texts
``openai``  the same conversation for OpenAI's fine-tuning; the answer is the text with span markers (``piiloom.corpus.markers``)

The layout of a message is unambiguous for any question and any text, so that it can be read back::

    Question: Can I go back to work?
    Text:
    I had my knee operated on …

The text goes on to the end. There is no ``Question:`` line if the record has no question; a question with a line feed, or that begins
with a quotation mark, is written as a JSON string. A message in no such layout is a text without a question.

A list of mentions, ``[{"value", "type", "relevance"}, …]`` in text order, has no offsets. Reading places the mentions in their order: each
at the first whole-word occurrence of its value behind the mention before it, or, if there is none, at the first that no other mention takes
(lists of others are not always in text order). A row is refused if a value is absent, occurs only inside a longer word or is listed more
often than the text has it; with ``skip_values`` such mentions are left out. The losses are found by placing the written mentions again in
memory: a record without an entry is read back with the same context, question and (range, type, relevance) of every span. Relevance is
written only if the record shows what matters to a question (``asks_relevance``), otherwise it has no meaning.

From markers ranges, types and relevance come back exactly, and a row is refused if its answer is not the text with markers. With signs
(``MarkerSet.pairs``) a row has no question and no relevance; spans without a sign are not marked and are in the loss report. A reader finds
out which markers a row has. OpenAI takes a file of at least ten examples, and cuts an example at the model's training context (65,536
tokens for the GPT-4o family). The loss report names a split or an example out of these limits. Tokens are estimated as a quarter of the
bytes of UTF-8, which is usual for English.
"""

from __future__ import annotations

import json
from abc import abstractmethod
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from typing import Literal

from pydantic import BaseModel, ConfigDict

from piiloom.corpus.formats.base import (
    ABSENT,
    INSIDE_WORD,
    LOST_FIELDS_WITHOUT_ID,
    Json,
    LossEntry,
    LossReport,
    ReadTally,
    SkippedValue,
    WriteOptions,
    quoted,
)
from piiloom.corpus.formats.native_rows import RowFault, parse_list, valid_row
from piiloom.corpus.formats.row_reading import JsonRowFormat, Reading
from piiloom.corpus.markers import MARKER_SETS, TYPES, MarkerFault, MarkerSet, marked_text, marker_name, unmarked
from piiloom.corpus.mention_search import stands_alone
from piiloom.corpus.record import LostValue, Record
from piiloom.foundation.words import Range
from piiloom.taxonomy.entity_types import Taxonomy

_QUESTION = "Question: "
_TEXT = "Text:\n"
_TEXT_FIRST = "Text: "
_ALPACA_KEYS = ("instruction", "input", "output")
_ROLES = (["user", "assistant"], ["system", "user", "assistant"], ["developer", "user", "assistant"])

FEWEST_EXAMPLES = 10
MOST_TOKENS = 65_536
_BYTES_PER_TOKEN = 4

UNKNOWN_TYPE = "its type is not among the known ones: reading would refuse the row"
BLANK = "blank value: left out"
NO_QUESTION = "relevance without a question it could refer to: left out"
NOT_WHOLE = "stands only inside a longer word: reading would refuse the row"
ELSEWHERE = "its value also stands elsewhere, where it is not marked: reading would mark it there"
TOO_OFTEN = "is listed more often than it stands in the text"
TOO_FEW = f"the file has fewer than {FEWEST_EXAMPLES} examples: OpenAI refuses it"
NO_SIGN = "the markers have no sign for its type: it is not marked"
TOO_LONG = f"the example has probably more than {MOST_TOKENS:,} tokens: OpenAI cuts it there"


def asks_relevance(record: Record) -> bool:
    """Whether *record* shows what matters to a question: it has one, and no spans or at least one with a relevance."""
    return record.question is not None and (not record.spans or any(span.relevance for span in record.spans))


def extracting(taxonomy: Taxonomy, *, relevance: bool) -> str:
    """Return the instruction to list all mentions as JSON, with their relevance if *relevance*."""
    return _instruction("extract_relevant" if relevance else "extract", taxonomy)


def marking(taxonomy: Taxonomy, *, relevance: bool, markers: MarkerSet = TYPES) -> str:
    """Return the instruction to put *markers* into the text, with the relevance in them if *relevance*, which signs have not."""
    if markers.pairs:
        return _signing(markers)
    return _instruction("mark_relevant" if relevance else "mark", taxonomy)


def verifying(taxonomy: Taxonomy, *, reasoned: bool) -> str:
    """Return the instruction to judge one candidate, with a reasoning before the answer if *reasoned*."""
    return _instruction("verify_reasoned" if reasoned else "verify", taxonomy)


def extracting_values(taxonomy: Taxonomy) -> str:
    """Return the instruction to answer with a JSON object of all values, in the form of the published CAPID models."""
    return _instruction("extract_values", taxonomy)


@lru_cache(maxsize=2)
def _signing(markers: MarkerSet) -> str:
    return _rendered("mark_signs", [pair._asdict() for pair in markers.pairs])


@lru_cache(maxsize=12)
def _instruction(name: str, taxonomy: Taxonomy) -> str:
    types = [{"name": one.name, "definition": one.described(), "marker": marker_name(one.name)} for one in taxonomy.types.values()]
    return _rendered(name, types)


def _rendered(name: str, types: list[dict[str, str]]) -> str:
    from piiloom.prompts.library import open_instructions  # noqa: PLC0415 - imports Jinja, which only writing needs

    return open_instructions().find(name).render({"types": types}).system


def message(context: str, question: str | None) -> str:
    """Return *question* and *context* in the layout of the module docstring."""
    asked = "" if question is None else f"{_QUESTION}{_on_one_line(question)}\n"
    return f"{asked}{_TEXT}{context}"


def message_parts(text: str) -> tuple[str, str | None]:
    """Return context and question of a message, the inverse of ``message``; all of it is the context if it has another layout."""
    if text.startswith(_TEXT):
        return text.removeprefix(_TEXT), None
    line, _, rest = text.partition("\n")
    if not (line.startswith(_QUESTION) and rest.startswith(_TEXT)):
        return text, None
    return rest.removeprefix(_TEXT), _of_one_line(line.removeprefix(_QUESTION))


def values_message(context: str, question: str | None) -> str:
    """Return *context* and *question* in the order of the published CAPID models, the question on the last line."""
    asked = "" if question is None else _on_one_line(question) or '""'
    return f"{_TEXT_FIRST}{context}\n{_QUESTION}{asked}"


def values_message_parts(text: str) -> tuple[str, str | None]:
    """Return context and question of a message, the inverse of ``values_message``. Raises ``RowFault`` for another layout."""
    context, found, question = text.rpartition(f"\n{_QUESTION}")
    if not (found and context.startswith(_TEXT_FIRST)):
        raise RowFault("input: not a line that begins with Text: and a last line that begins with Question:")
    return context.removeprefix(_TEXT_FIRST), _of_one_line(question) if question else None


def _on_one_line(question: str) -> str:
    return json.dumps(question, ensure_ascii=False) if "\n" in question or question.startswith('"') else question


def _of_one_line(line: str) -> str:
    if not line.startswith('"'):
        return line
    try:
        found = json.loads(line)
        found.encode("utf-8")  # a lone surrogate, which only an escape can bring in, stays an escape
    except ValueError:
        return line
    return str(found)


def chat_row(system: str, user: str, assistant: str) -> Json:
    """Return a conversation of three messages."""
    contents = {"system": system, "user": user, "assistant": assistant}
    return {"messages": [{"role": role, "content": content} for role, content in contents.items()]}


def _read_chat(row: Json, tally: ReadTally) -> tuple[str, str]:
    """Return the messages of the user and of the assistant in *row*; raises ``RowFault`` for any other kind of conversation."""
    tally.ignored_fields.update(key for key in row if key != "messages")
    messages = row.get("messages")
    roles = [one.get("role") if isinstance(one, dict) else None for one in messages] if isinstance(messages, list) else []
    if not isinstance(messages, list) or roles not in _ROLES:
        raise RowFault("messages: not one message of the user and one of the assistant, with or without one of the system before")
    for one in messages[-2:]:
        if not isinstance(one.get("content"), str):
            raise RowFault(f"messages: the content of the {one['role']} is not a text")
    return messages[-2]["content"], messages[-1]["content"]


class _MentionListFormat(JsonRowFormat):
    """Writes and reads lists of mentions; a subclass has the keys of a row."""

    suffix = ".jsonl"
    lost_fields = LOST_FIELDS_WITHOUT_ID

    @abstractmethod
    def row_of(self, instruction: str, asked: str, answer: str) -> Json:
        """Return the row with these texts."""

    @abstractmethod
    def texts_in(self, row: Json, tally: ReadTally) -> tuple[str, str]:
        """Return message and answer of *row*; raises ``RowFault`` if it has none."""

    def row(self, record: Record, options: WriteOptions, entries: list[LossEntry]) -> Json:
        """See ``JsonRowFormat``."""
        mentions, losses = _mention_list(record, options.taxonomy)
        entries += losses
        instruction = extracting(options.taxonomy, relevance=asks_relevance(record))
        return self.row_of(instruction, message(record.context, record.question), json.dumps(mentions, ensure_ascii=False))

    def native(self, number: int, row: Json, reading: Reading) -> Json:
        """See ``JsonRowFormat``. Instructions are not stored."""
        asked, answer = self.texts_in(row, reading.tally)
        context, question = message_parts(asked)
        spans, lost = _read_mentions(context, answer, reading)
        return with_lost_values(number, {"context": context, "question": question, "spans": spans}, lost, reading)


class AlpacaFormat(_MentionListFormat):
    """The Alpaca format; see the module docstring."""

    name = "alpaca"

    def row_of(self, instruction: str, asked: str, answer: str) -> Json:
        """See ``_MentionListFormat``."""
        return dict(zip(_ALPACA_KEYS, (instruction, asked, answer), strict=True))

    def texts_in(self, row: Json, tally: ReadTally) -> tuple[str, str]:
        """See ``_MentionListFormat``."""
        tally.ignored_fields.update(key for key in row if key not in _ALPACA_KEYS)
        asked, answer = row.get("input"), row.get("output")
        if not isinstance(asked, str):
            raise RowFault("input: not a text")
        if not isinstance(answer, str):
            raise RowFault("output: not a text")
        return asked, answer


class ChatFormat(_MentionListFormat):
    """The chat format; see the module docstring."""

    name = "chat"

    def row_of(self, instruction: str, asked: str, answer: str) -> Json:
        """See ``_MentionListFormat``."""
        return chat_row(instruction, asked, answer)

    def texts_in(self, row: Json, tally: ReadTally) -> tuple[str, str]:
        """See ``_MentionListFormat``."""
        return _read_chat(row, tally)


class OpenAIFineTuningFormat(JsonRowFormat):
    """The format of OpenAI's fine-tuning; see the module docstring."""

    name = "openai"
    suffix = ".jsonl"
    lost_fields = LOST_FIELDS_WITHOUT_ID

    def rows(self, records: Iterable[Record], options: WriteOptions, entries: list[LossEntry]) -> Iterator[Json]:
        """Yield one row per record. A limit of OpenAI that is missed is an entry; that of a split with too few rows has no id."""
        count = 0
        for count, record in enumerate(records, start=1):  # noqa: B007 - the last number is the count
            yield self.row(record, options, entries)
        if count < FEWEST_EXAMPLES:
            entries.append(LossEntry(record_id="", value=None, reason=TOO_FEW))

    def write(self, records: Iterable[Record], path: Path, options: WriteOptions) -> LossReport:
        """Write one row per record; with signs for markers, questions and relevances are lost, too."""
        report = super().write(records, path, options)
        return replace(report, fields=(*report.fields, "question", "relevance")) if options.markers.pairs else report

    def row(self, record: Record, options: WriteOptions, entries: list[LossEntry]) -> Json:
        """See ``JsonRowFormat``."""
        context, taxonomy, markers = record.context, options.taxonomy, options.markers
        texts = (
            marking(taxonomy, relevance=asks_relevance(record), markers=markers),
            message(context, None if markers.pairs else record.question),
            marked_text(context, record.spans, markers),
        )
        if sum(len(text.encode("utf-8")) for text in texts) > MOST_TOKENS * _BYTES_PER_TOKEN:
            entries.append(LossEntry(record_id=record.id, value=None, reason=TOO_LONG))
        for span in record.spans:
            reason = UNKNOWN_TYPE if span.entity_type not in taxonomy.types else NO_SIGN if markers.label(span, context) is None else None
            if reason is not None:
                entries.append(LossEntry(record_id=record.id, value=span.text_in(context), reason=reason))
        return chat_row(*texts)

    def native(self, number: int, row: Json, reading: Reading) -> Json:  # noqa: ARG002 - no row depends on its number
        """See ``JsonRowFormat``. The system's message is not stored."""
        asked, answer = _read_chat(row, reading.tally)
        context, question = message_parts(asked)
        faults: list[RowFault] = []
        for markers in MARKER_SETS.values():
            try:
                found = unmarked(answer, markers=markers)
            except MarkerFault as fault:
                faults.append(RowFault(f"the answer: {fault}"))
                continue
            if found.context == context:
                return {"context": context, "question": question, "spans": [_marked_span(context, markers, *one) for one in found.spans]}
            at = next((n for n, (ours, theirs) in enumerate(zip(found.context, context, strict=False)) if ours != theirs), None)
            where = min(len(context), len(found.context)) if at is None else at
            faults.append(RowFault(f"the answer: without its markers it differs from the text at position {where}"))
        raise faults[0]


def _marked_span(context: str, markers: MarkerSet, start: int, end: int, label: str, relevance: str | None) -> Json:
    entity_type, subtype = markers.type_of(label)
    row: Json = {"start": start, "end": end, "text": context[start:end], "type": entity_type, "relevance": relevance}
    return row | ({"subtype": subtype} if subtype else {})


class _AnsweredMention(BaseModel):
    """One entry of a list."""

    model_config = ConfigDict(strict=True, extra="allow", frozen=True)

    value: str
    type: str
    relevance: Literal["high", "low"] | None = None

    def span(self, place: Range | None) -> Json:
        start, end = place or (None, None)
        return {"start": start, "end": end, "text": self.value, "type": self.type, "relevance": self.relevance}


def _mention_list(record: Record, taxonomy: Taxonomy) -> tuple[list[Json], list[LossEntry]]:
    """Return the list of the mentions of *record*, and the losses of reading it, in text order."""
    with_relevance = asks_relevance(record)
    values = [span.text_in(record.context) for span in record.spans]
    places = iter(_place(record.context, [value for value in values if value.strip()]))
    mentions: list[Json] = []
    losses: list[LossEntry] = []
    for span, value in zip(record.spans, values, strict=True):
        reasons: list[str] = []
        if value.strip():
            mention: Json = {"value": value, "type": span.entity_type}
            mentions.append({**mention, "relevance": span.relevance} if with_relevance else mention)
            place = next(places)
            if place != (span.start, span.end):
                reasons.append(NOT_WHOLE if place is None else ELSEWHERE)
            if span.relevance is not None and not with_relevance:
                reasons.append(NO_QUESTION)
        else:
            reasons.append(BLANK)
        if span.entity_type not in taxonomy.types:
            reasons.append(UNKNOWN_TYPE)
        losses += (LossEntry(record_id=record.id, value=value, reason=reason) for reason in reasons)
    return mentions, losses


def _read_mentions(context: str, answer: str, reading: Reading) -> tuple[list[Json], list[LostValue]]:
    """Return the spans of the list in *answer*, and the mentions without a place, as spans without offsets if all are wanted.

    Raises ``RowFault`` if *answer* is no list of mentions.
    """
    mentions = _parsed(answer, reading.tally)
    placed = list(zip(_place(context, [mention.value for mention in mentions]), mentions, strict=True))
    spans = [
        mention.span(place) for place, mention in sorted(((place, mention) for place, mention in placed if place), key=lambda one: one[0])
    ]
    unplaced = [mention for place, mention in placed if place is None]
    if reading.options.all_mentions:
        return [*spans, *(mention.span(None) for mention in unplaced)], []
    reasons: dict[str, str] = {}  # by value, since a long list may repeat a value that is costly to search
    for value in dict.fromkeys(mention.value for mention in unplaced):
        reasons[value] = TOO_OFTEN if _find(context, value, 0) else INSIDE_WORD if value in context else ABSENT
    resolve = reading.options.taxonomy.resolve
    lost = [
        LostValue(text=one.value, entity_type=resolve(one.type) or one.type, relevance=one.relevance, reason=reasons[one.value])
        for one in unplaced
    ]
    return spans, lost


def with_lost_values(number: int, row: Json, lost: Sequence[LostValue], reading: Reading) -> Json:
    """Return row *number* with its *lost* values, and count them. Raises ``RowFault`` if there are any, unless ``skip_values`` is set."""
    if not lost:
        return row
    if not reading.options.skip_values:
        raise RowFault("; ".join(dict.fromkeys(f"{quoted(value.text)} {value.reason}" for value in lost)))
    inside, tally = sum(value.reason == INSIDE_WORD for value in lost), reading.tally
    tally.values += len(lost)
    tally.inside_word += inside
    tally.missing += len(lost) - inside
    tally.skipped_values += (SkippedValue(line=number, value=value) for value in lost)
    told = [{"text": one.text, "type": one.entity_type, "relevance": one.relevance, "reason": one.reason} for one in lost]
    return {**row, "meta": {"source": {"file": reading.path.name, "line": number, "lost": told}}}


def _parsed(answer: str, tally: ReadTally) -> list[_AnsweredMention]:
    try:
        found = parse_list(answer)
    except RowFault as fault:
        raise RowFault(f"the answer: {fault}") from fault
    mentions: list[_AnsweredMention] = []
    for number, one in enumerate(found, start=1):
        try:
            mention = valid_row(_AnsweredMention, one)
        except RowFault as fault:
            raise RowFault(f"the answer, mention {number}: {fault}") from fault
        if not mention.value.strip():
            raise RowFault(f"the answer, mention {number}: an empty value")
        tally.ignored_fields.update(f"mentions.{key}" for key in mention.model_extra or ())
        mentions.append(mention)
    return mentions


def _place(context: str, values: Sequence[str]) -> list[Range | None]:
    """Return the place of each value by the rules of the module docstring; None for a value without one."""
    places: list[Range | None] = []
    behind = 0
    used_up: set[str] = set()  # values without an occurrence behind *behind*: each is searched for once
    for value in values:
        place = None if value in used_up else _find(context, value, behind)
        places.append(place)
        if place is None:
            used_up.add(value)
        else:
            behind = place[1]
    taken = [place for place in places if place is not None]
    searched: dict[str, int] = {}  # up to where nothing is left of a value
    return [place or _find_free(context, value, taken, searched) for place, value in zip(places, values, strict=True)]


def _find(context: str, value: str, at: int) -> Range | None:
    """Return the first whole-word occurrence of *value* at or behind *at*."""
    start = context.find(value, at)
    while start >= 0 and not stands_alone(context, start, start + len(value)):
        start = context.find(value, start + 1)
    return (start, start + len(value)) if start >= 0 else None


def _find_free(context: str, value: str, taken: list[Range], searched: dict[str, int]) -> Range | None:
    """Return the first whole-word occurrence of *value* that overlaps none of *taken* (sorted), and add it there."""
    while place := _find(context, value, searched.get(value, 0)):
        at = bisect_left(taken, place)
        free = all(place[1] <= other[0] or other[1] <= place[0] for other in taken[max(at - 1, 0) : at + 1])
        searched[value] = place[1] if free else place[0] + 1
        if free:
            taken.insert(at, place)
            return place
    searched[value] = len(context)
    return None
