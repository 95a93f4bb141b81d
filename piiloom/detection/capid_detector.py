"""The detector "capid": one language model lists what is personal, and says of each mention whether it matters to the question.

It asks in a form in which exports train (``corpus.formats.instruction_tuning``), for plain text: a tuned model answers with what it
learnt, and a schema would be another form. The form "list" is that of the exports alpaca and chat; "capid" is that of the export
capid-alpaca and of the published CAPID models, whose answer is an object that names each value once.

Read the entries that a model lists, in any spelling of the form that was asked for, and bring them back to exact places of the text.

Asked for is a list of ``{"value", "type", "relevance"}``. Also read are objects one after another, a list within an object, and objects
whose keys are the values, as in CAPID's files: ``{"asthma": {"type": "health", "relevance": "1"}}`` or ``{"asthma": "health"}``. A key that
repeats in such an object is an entry each time.

Entries stand in the order of the text, so each gets the first mention of its value behind the entry before it, or the first that no other
one has.
Then every other whole-word mention of what was found is taken, too, with what was said of the mention before it: a value means the same
everywhere. Function words and numbers of less than five characters do not; of these, only those count that are listed, unless the form of
the answer names each value once.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right, insort
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final, Literal, NamedTuple, Self

from piiloom.corpus.formats.instruction_tuning import extracting, extracting_values, message, values_message
from piiloom.corpus.formats.row_reading import find_values
from piiloom.corpus.mention_search import FoundValue, SearchableText, without_overlaps
from piiloom.corpus.record import Relevance
from piiloom.detection.asking import MODEL_SCORE, AskingDetector, all_of, why_lost
from piiloom.detection.detector import DetectorText, Findings, ScoredSpan, Sentences, SetAside, TextDetector, sentence_pieces
from piiloom.detection.detector_settings import DetectorSettings, ModelSettings
from piiloom.detection.families import CAPID, REFORMULATING, STAND_IN
from piiloom.detection.hybrid.hybrid_detectors import OfflineDetector
from piiloom.execution.call_channel import CallPolicy
from piiloom.execution.calls import Fault, Lost
from piiloom.foundation.lenient_json import JsonObject, LenientJson, read_leniently
from piiloom.foundation.words import STOP_WORDS, Range, content_words
from piiloom.providers.protocol import JsonSchema, Provider, SamplingSettings
from piiloom.taxonomy.entity_types import Taxonomy
from piiloom.taxonomy.own_types import UNTYPED

PHASE: Final = 0  # of a detector without phases
_VALUE: Final = ("value", "text", "mention", "span", "pii")
_TYPE: Final = ("type", "entity_type", "label", "category")
_RELEVANCE: Final = ("relevance", "relevant")
_HIGH: Final = frozenset(("high", "1", "1.0", "true", "yes", "relevant", "h"))
_LOW: Final = frozenset(("low", "0", "0.0", "false", "no", "irrelevant", "not relevant", "l"))
LISTED: Final = "it has no JSON list of objects with a value and a type; if there are no mentions, answer []"
KEYED: Final = "it has no JSON object with a type and a relevance for each value; if there are no values, answer {}"
_SHOWN: Final = 60  # characters of a word that is no type


class ListedEntry(NamedTuple):
    """The model says that the text has *value*, and what it is. ``relevance`` is None without a question, or if it is not told."""

    value: str
    entity_type: str
    relevance: Relevance | None


class ListedEntries(NamedTuple):
    """The entries of a reply in its order, and what of it is not usable. ``cut_off``: the reply ended before its list did."""

    entries: list[ListedEntry]
    refused: list[SetAside]
    cut_off: bool


def read_entries(reply: str, taxonomy: Taxonomy, *, relevance: bool, wanted: str = LISTED) -> ListedEntries:
    """Return the entries of *reply*; with *relevance*, each should have one. *wanted* is the fault of a reply without a list.

    An entry without a usable relevance stays an entry, and is told as "unknown_relevance". Others are refused: "empty", "unknown_type",
    "no_entry" (something else stands in the list). Raises ``Fault`` if there is no list, or if it ends before its first entry.
    """
    read = read_leniently(reply)
    judged = [_judged(one, taxonomy, relevance=relevance) for one in _entries_in(read)]
    if not judged and (read.cut_off or not any(_is_empty(one) for one in read.values)):
        raise Fault("no_list", wanted)
    entries = [one for one in judged if isinstance(one, ListedEntry)]
    refused = [one for one in judged if isinstance(one, SetAside)] + [_refused("no_entry")] * read.broken
    if not entries and any(one.reason == "no_entry" for one in refused):
        raise Fault("no_list", wanted)
    if relevance:
        refused += [_refused("unknown_relevance", one.value, one.entity_type) for one in entries if one.relevance is None]
    return ListedEntries(entries, refused, read.cut_off)


def _entries_in(read: LenientJson) -> Iterator[Any]:
    """Yield what stands where entries should: in the last list that has any, or one after another."""
    lists = [found for one in read.values if (found := _list_in(one)) is not None and any(isinstance(entry, dict) for entry in found)]
    if lists:
        yield from lists[-1]
    else:
        yield from (one for one in read.values if isinstance(one, dict) and _list_in(one) is None)


def _is_empty(value: Any) -> bool:
    found = _list_in(value)
    return found is not None and not found


def _list_in(value: Any) -> list[Any] | None:
    """The list that *value* is, has as its only container, or amounts to; None for a bare entry or something else."""
    if isinstance(value, list):
        return value
    if not isinstance(value, JsonObject) or isinstance(_first(value, _VALUE), str | int | float):
        return None
    held = [one for _, one in value.pairs if isinstance(one, list | dict)]
    if not value:
        return []
    if all(isinstance(one, str) or _is_described(one) for _, one in value.pairs):
        return [_keyed(key, each) for key, one in value.pairs for each in (one if isinstance(one, list) else [one])]
    return _list_in(held[0]) if len(held) == 1 else None


def _is_described(value: Any) -> bool:
    """Whether *value* says of what kind something is that its key names; a list says of what kinds."""
    if isinstance(value, list):
        return bool(value) and all(isinstance(one, dict) and _is_described(one) for one in value)
    return isinstance(value, dict) and _first(value, _TYPE) is not None and _first(value, _VALUE) is None


def _keyed(value: str, told: Any) -> dict[str, Any]:
    return {"value": value, "type": told} if isinstance(told, str) else {**told, "value": value}


def _first(entry: Mapping[str, Any], names: tuple[str, ...]) -> Any:
    return next((entry[name] for name in names if name in entry), None)


def _judged(said: Any, taxonomy: Taxonomy, *, relevance: bool) -> ListedEntry | SetAside:
    if not isinstance(said, dict):
        return _refused("no_entry")
    value, kind = _first(said, _VALUE), _first(said, _TYPE)
    shown = str(kind)[:_SHOWN] if isinstance(kind, str) else None
    if isinstance(value, int | float) and not isinstance(value, bool):
        value = str(value)
    if not isinstance(value, str):
        return _refused("no_entry", subtype=shown)
    if not value.strip():
        return _refused("empty", subtype=shown)
    known = taxonomy.resolve(kind) if isinstance(kind, str) else None
    if known is None:
        return _refused("unknown_type", value, shown)
    return ListedEntry(value, known, _relevance(_first(said, _RELEVANCE)) if relevance else None)


def _relevance(said: Any) -> Relevance | None:
    word = str(said).strip().lower()
    return "high" if word in _HIGH else "low" if word in _LOW else None


def _refused(reason: str, value: str = "", subtype: str | None = None) -> SetAside:
    return SetAside(phase=PHASE, reason=reason, subtype=subtype, value=value)


_SURE: Final = 5  # a number with so many characters is the same thing everywhere


class ListedMention(NamedTuple):
    """``text[start:end]`` is what *entry* says. ``listed``: the model listed this mention, not only its value."""

    start: int
    end: int
    entry: ListedEntry
    listed: bool = True


class PlacedMentions(NamedTuple):
    """Mentions, and what has none, with reasons."""

    mentions: list[ListedMention]
    set_aside: list[SetAside]


def place_entries(text: str, piece: Range, entries: Sequence[ListedEntry]) -> PlacedMentions:
    """Return a mention of ``text[start:end]`` (*piece*) for each of *entries*, with offsets of the text.

    Set aside: "invented" and "inside_word" (no such mention), "too_often" (more entries of a value than mentions), and "altered", which
    gives the place that was taken: the text has the value in another spelling.
    """
    begin, end = piece
    searched = SearchableText(text[begin:end])
    found: dict[str, FoundValue] = {}
    taken: list[Range] = []  # sorted; those that overlap something are rare, so that looking at neighbours is enough
    behind = 0
    mentions: list[ListedMention] = []
    set_aside: dict[SetAside, None] = {}
    for entry in entries:
        located = found.get(entry.value)
        if located is None:
            located = searched.find(entry.value)
            if located.step == "inside_word" and (seams := find_values(searched.text, [entry.value])[0]):
                located = FoundValue(seams, "exact")  # where digits meet letters, as in 34F
            found[entry.value] = located
        free = [one for one in located.ranges if one not in taken]
        if not free:
            set_aside.setdefault(_aside("too_often" if located.ranges else located.step, entry))
            continue
        apart = [one for one in free if _is_apart(one, taken)]
        at = next((one for one in apart if one[0] >= behind), (apart or free)[0])
        insort(taken, at)
        behind = at[1]
        start, stop = at[0] + begin, at[1] + begin
        mentions.append(ListedMention(start, stop, entry))
        if located.step != "exact":
            set_aside.setdefault(_aside("altered", entry, (start, stop)))
    return PlacedMentions(mentions, list(set_aside))


def _is_apart(one: Range, taken: Sequence[Range]) -> bool:
    at = bisect_left(taken, one)
    return (at == 0 or taken[at - 1][1] <= one[0]) and (at == len(taken) or one[1] <= taken[at][0])


def everywhere(text: str, listed: Sequence[ListedMention], *, once: bool = False) -> PlacedMentions:
    """Return *listed*, of all pieces, with all other mentions of the same words; disjoint and in text order.

    *once*: an answer names each value once, however often the text has it.

    Of those that overlap the longest stays, then the listed one. A listed one that goes is set aside ("overlap").
    """
    by_surface: defaultdict[str, list[ListedMention]] = defaultdict(list)
    for one in sorted(listed, key=_place_of):
        by_surface[text[one.start : one.end]].append(one)
    searchable = SearchableText(text)
    same = {surface: known for surface, known in by_surface.items() if once or _means_one_thing(surface)}
    more = [one for surface, known in same.items() for one in _repeats(searchable, surface, known)]
    kept, _ = without_overlaps(sorted((*listed, *more), key=lambda one: (one.start - one.end, not one.listed, one.start)), _place_of)
    staying = set(kept)
    gone = dict.fromkeys(_aside("overlap", one.entry, (one.start, one.end)) for one in listed if one not in staying)
    return PlacedMentions(kept, list(gone))


def _means_one_thing(surface: str) -> bool:
    if not any(map(str.isalpha, surface)):
        return sum(map(str.isalnum, surface)) >= _SURE
    return surface.strip() not in STOP_WORDS


def _repeats(searchable: SearchableText, surface: str, known: Sequence[ListedMention]) -> Iterable[ListedMention]:
    starts = [one.start for one in known]
    for start, end in sorted({*searchable.mentions(surface)} - {_place_of(one) for one in known}):
        before = known[max(bisect_right(starts, start) - 1, 0)]
        yield ListedMention(start, end, before.entry, listed=False)


def _place_of(one: ListedMention) -> Range:
    return one.start, one.end


def _aside(reason: str, entry: ListedEntry, place: Range | tuple[None, None] = (None, None)) -> SetAside:
    return SetAside(phase=PHASE, reason=reason, subtype=entry.entity_type, value=entry.value, start=place[0], end=place[1])


TEMPLATE: Final = "detect_capid"
LEAST_TOKENS: Final = 1024
_CUT: Final = "truncated"  # the code of a reply that reached the token limit
_MOST_HALVINGS: Final = 2

_Read = tuple[Range, ListedEntries]  # what was listed of a piece


class CapidDetector(AskingDetector):
    """A model lists what is personal. A text of which a piece got no usable answer has failed: to say nothing of it would be a lie."""

    name = CAPID
    templates: tuple[str, ...] = (TEMPLATE,)
    instructions: tuple[str, ...] = ("extract", "extract_relevant")
    schema: JsonSchema | None = None

    def __init__(
        self,
        model: ModelSettings,
        *,
        taxonomy: Taxonomy,
        chunk_chars: int,
        threshold: float = 0.0,
        form: Literal["list", "capid"] = "list",
        provider: Provider | None = None,
        policy: CallPolicy | None = None,
    ) -> None:
        super().__init__(model, provider=provider, policy=policy)
        self._taxonomy, self._chunk_chars, self._threshold = taxonomy, chunk_chars, threshold
        self._keyed = form == CAPID
        if self._keyed:
            self.instructions = ("extract_values",)

    @classmethod
    def made(cls, settings: DetectorSettings, provider: Provider | None = None, policy: CallPolicy | None = None) -> Self:
        """See ``registry.make_detector``."""
        assert settings.asked is not None  # noqa: S101 - checked when the settings were made
        return cls(
            settings.asked,
            taxonomy=settings.taxonomy,
            chunk_chars=settings.chunk_chars,
            threshold=settings.threshold,
            form=settings.form,
            provider=provider,
            policy=policy,
        )

    async def _examined(self, one: DetectorText, item_id: str, group_keys: Sequence[str]) -> Findings:  # noqa: ARG002 - it is shown no examples
        text, question = one.text, one.question
        pieces = sentence_pieces(text, self._chunk_chars)
        answers = await all_of(self._read(text, piece, question, item_id) for piece in pieces)
        listed: list[ListedMention] = []
        set_aside: list[SetAside] = []
        for answer in answers:
            if isinstance(answer, Lost):
                return Findings(spans=(), failed=why_lost(answer))
            for piece, told in answer:
                placed = place_entries(text, piece, told.entries)
                listed += placed.mentions
                set_aside += [*told.refused, *placed.set_aside]
                if told.cut_off:
                    set_aside.append(SetAside(phase=PHASE, reason="cut_off", start=piece[0], end=piece[1]))
        found = everywhere(text, listed, once=self._keyed)
        return Findings(spans=self._spans(found.mentions), set_aside=[*set_aside, *found.set_aside])

    async def _read(self, text: str, piece: Range, question: str | None, item_id: str, halvings: int = 0) -> list[_Read] | Lost:
        """Ask about *piece*; if its list is too long for an answer, about its halves, and theirs. What is whole in the last one counts."""
        answer = await self._ask(text, piece, question, item_id)
        if not isinstance(answer, Lost):
            return [(piece, answer)]
        if answer.code != _CUT:
            return answer
        parts = sentence_pieces(text, (piece[1] - piece[0] + 1) // 2, piece) if halvings < _MOST_HALVINGS else []
        reads = await all_of(self._read(text, part, question, item_id, halvings + 1) for part in parts if len(parts) > 1)
        lost = next((one for one in reads if isinstance(one, Lost)), None)
        if reads and lost is None:
            return [one for read in reads if not isinstance(read, Lost) for one in read]
        if lost is not None and lost.code != _CUT:
            return lost
        try:  # entries that are whole in a reply that reached the token limit at every attempt
            return [(piece, self._entries(answer.last_reply or "", question)._replace(cut_off=True))]
        except Fault:
            return answer

    async def _ask(self, text: str, piece: Range, question: str | None, item_id: str) -> ListedEntries | Lost:
        start, end = piece
        return await self.session().asker.ask(
            self.templates[0],
            self._variables(text[start:end], question),
            item_id=f"{item_id} {start}",
            read=lambda reply: self._entries(reply, question),
            schema=self.schema,
            settings=SamplingSettings(max_output_tokens=LEAST_TOKENS + end - start),
            hopeless=(_CUT,),
        )

    def _variables(self, text: str, question: str | None) -> dict[str, str]:
        """What the template tells."""
        if self._keyed:
            return {"instruction": extracting_values(self._taxonomy), "message": values_message(text, question)}
        return {"instruction": extracting(self._taxonomy, relevance=question is not None), "message": message(text, question)}

    def _entries(self, reply: Any, question: str | None) -> ListedEntries:
        """Return the entries of *reply*, a text or, with a schema, its data. Raises ``Fault`` if there is no list."""
        return read_entries(reply, self._taxonomy, relevance=question is not None, wanted=KEYED if self._keyed else LISTED)

    def _spans(self, mentions: list[ListedMention]) -> list[ScoredSpan]:
        if self._threshold > MODEL_SCORE:
            return []
        return [
            ScoredSpan(
                start=one.start,
                end=one.end,
                entity_type=one.entry.entity_type,
                subtype=None,
                score=MODEL_SCORE,
                detector=self.name,
                relevance=one.entry.relevance,
            )
            for one in mentions
        ]


REFORMULATING_TEMPLATE: Final = "detect_reformulating"
_PARTS: Final[dict[str, Relevance]] = {"related_context": "high", "not_related_context": "low"}
_DETAILS: Final = {"type": "array", "items": {"type": "string"}}
_SCHEMA: Final[JsonSchema] = {
    "type": "object",
    "properties": {"intent": {"type": "string"}, **dict.fromkeys(_PARTS, _DETAILS)},
    "required": ["intent", *_PARTS],
    "additionalProperties": False,
}


class ReformulatingDetector(CapidDetector):
    """A model divides personal details. A text without a question has no intent, and its spans have no relevance."""

    name = REFORMULATING
    templates = (REFORMULATING_TEMPLATE,)
    schema = _SCHEMA
    instructions = ()

    def _variables(self, text: str, question: str | None) -> dict[str, str]:
        return {"text": text, "question": question or ""}

    def _entries(self, reply: Any, question: str | None) -> ListedEntries:
        data = next(iter(read_leniently(reply).values), None) if isinstance(reply, str) else reply
        return _listed(data, question)


def _listed(data: Any, question: str | None) -> ListedEntries:
    """Return the details of both parts. Raises ``Fault`` if neither part has a list.

    Set aside: "empty", and "in_both", a detail of both parts, which counts as related.
    """
    parts = {name: data.get(name) for name in _PARTS} if isinstance(data, dict) else {}
    if not any(isinstance(one, list) for one in parts.values()):
        raise Fault("no_list", "it has no JSON object with the lists related_context and not_related_context")
    entries: dict[str, ListedEntry] = {}
    refused: list[SetAside] = []
    for name, details in parts.items():
        for value in dict.fromkeys(one for one in details or () if isinstance(one, str)):
            reason = "empty" if not value.strip() else "in_both" if value in entries else None
            if reason is None:
                entries[value] = ListedEntry(value, UNTYPED.name, _PARTS[name] if question is not None else None)
            else:
                refused.append(SetAside(phase=PHASE, reason=reason, value=value))
    return ListedEntries(list(entries.values()), refused, cut_off=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class ReformulatingStandIn(TextDetector):
    """A rule in the place of the model: a sentence that shares a content word with the question is related context.

    The personal details in the sentences are those that the rules of ``hybrid-offline`` find.
    """

    details: OfflineDetector
    name: str = STAND_IN

    @classmethod
    def made(cls, settings: DetectorSettings, provider: Provider | None = None, policy: CallPolicy | None = None) -> Self:
        """See ``registry.make_detector``."""
        return cls(details=OfflineDetector.made(settings, provider, policy))

    def examine(self, text: str, locale: str, question: str | None = None) -> Findings:
        """As ``detect``, with what was set aside."""
        found, sentences, asked = self.details.examine(text, locale), Sentences(text), content_words(question or "")

        def judged(span: ScoredSpan) -> ScoredSpan:
            related = asked & content_words(text[slice(*sentences.around(span.start, span.end))])
            relevance: Relevance | None = None if question is None else "high" if related else "low"
            return replace(span, entity_type=UNTYPED.name, subtype=None, candidates=(), detector=self.name, relevance=relevance)

        return replace(found, spans=[judged(span) for span in found.spans])
