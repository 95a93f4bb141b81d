"""The detector "markers": a language model gives the text back with markers around personal information.

It asks in the form in which the export for tuning trains (``corpus.formats.instruction_tuning``), for plain text; examples, if there are
any, are turns of user and assistant in that form. Signs (``corpus.markers.MarkerSet.pairs``) are asked for without the question of a text,
since they state no relevance. A long text is asked in pieces that end with sentences and part no value that the patterns find. A piece
whose answer was cut off, or did not give the text back, is asked in halves, down to ``FLOOR`` characters.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import replace
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Final, NamedTuple, Self

from piiloom.corpus.formats.base import ReadOptions, read_records
from piiloom.corpus.formats.instruction_tuning import asks_relevance, marking, message
from piiloom.corpus.formats.registry import NativeFormat
from piiloom.corpus.markers import TYPES, MarkerSet, marked_text
from piiloom.corpus.record import Record
from piiloom.detection.asking import MODEL_SCORE, AskingDetector, all_of, why_lost
from piiloom.detection.detector import DetectorText, Findings, ScoredSpan, Sentences, SetAside, cut_text
from piiloom.detection.detector_settings import DetectorSettings, ModelSettings
from piiloom.detection.marking.answer_alignment import AlignedAnswer, PlacedMark, align_answer
from piiloom.detection.registry import PatternDetector
from piiloom.execution.call_channel import CallPolicy
from piiloom.execution.calls import Fault, Lost
from piiloom.foundation.errors import DataError
from piiloom.foundation.seeding import derive_rng
from piiloom.foundation.words import Range, trimmed
from piiloom.providers.protocol import Message, Provider, SamplingSettings
from piiloom.taxonomy.entities.entity_catalogue import catalogue_locales
from piiloom.taxonomy.entity_types import Taxonomy

_MOST_KEPT: Final = 256  # draws without certain groups, each kept for other texts of the groups


class _ShotCandidate(NamedTuple):
    """A record, the types that it shows, and the keys that records of its group share: group keys, and the text."""

    record: Record
    types: frozenset[str]
    keys: frozenset[str]


class Shots:
    """Up to *count* examples of *records* for a text.

    No example has no spans, a type that *taxonomy* lacks, or more than *longest* characters. *where* names the file in errors.
    """

    def __init__(
        self,
        records: Iterable[Record],
        count: int,
        taxonomy: Taxonomy,
        *,
        seed: int,
        longest: int,
        where: str,
        markers: MarkerSet = TYPES,
    ) -> None:
        groups: defaultdict[str, set[str]] = defaultdict(set)
        usable: list[_ShotCandidate] = []
        for record in records:
            groups[_plain(record.context)].update(record.group_keys)
            types = frozenset(filter(None, (markers.label(span, record.context) for span in record.spans)))
            if types and len(record.context) <= longest and all(span.entity_type in taxonomy.types for span in record.spans):
                usable.append(_ShotCandidate(record, types, frozenset((*record.group_keys, _plain(record.context)))))
        derive_rng("shots", seed).shuffle(usable)
        self._groups, self._count, self._where, self._markers = groups, count, where, markers
        self._usable = {False: usable, True: [one for one in usable if asks_relevance(one.record)]}
        self._drawn = lru_cache(_MOST_KEPT)(lambda relevance, barred: _evenly(self._usable[relevance], count, barred))

    @classmethod
    def read(cls, path: Path, count: int, taxonomy: Taxonomy, *, seed: int, longest: int, markers: MarkerSet = TYPES) -> Self:
        """Return the examples of *path*, native rows. Raises ``DataError`` (file, line, field) for a row that is not a record."""
        options = ReadOptions(taxonomy=taxonomy, blank_contexts=True)
        records = read_records(NativeFormat(), path, options)
        return cls(records, count, taxonomy, seed=seed, longest=longest, where=str(path), markers=markers)

    def messages(self, text: str, *, relevance: bool, group_keys: Collection[str] = ()) -> tuple[Message, ...]:
        """Return the examples for *text*, each a message of the user and the assistant's answer. *relevance*: a question is asked.

        *group_keys* are those of the text, if they are known. Raises ``DataError`` if no record at all can be an example.
        """
        if self._count and not self._usable[relevance]:
            shown = "a question, and spans with their relevance to it" if relevance else "spans of known types in a text of usual length"
            raise DataError(f"no record has {shown}", where=self._where, remedy="Give other --examples, or --shots 0")
        own = {*group_keys, _plain(text), *self._groups.get(_plain(text), ())}
        left_out = frozenset[str]()  # most texts share the draw that leaves nothing out
        while among := {key for one in self._drawn(relevance, left_out) for key in _shared(one, own, text)}:
            left_out |= among
        return tuple(turn for one in self._drawn(relevance, left_out) for turn in _turns(one.record, self._markers, relevance=relevance))


def _shared(candidate: _ShotCandidate, own: AbstractSet[str], text: str) -> AbstractSet[str]:
    """Return the groups for which *candidate* is no example for *text*, of the groups *own*."""
    return candidate.keys if candidate.record.context.strip() in text else candidate.keys & own


def _evenly(candidates: Sequence[_ShotCandidate], count: int, barred: Collection[str]) -> list[_ShotCandidate]:
    """Return *count* of *candidates*, or as many as there are, that show all types as evenly as can be; none of a *barred* group or text.

    They are taken one by one: each time the first of those with most of the types that were shown least, and fewest of the others.
    """
    taken = set(barred)
    shown = Counter({name: 0 for one in candidates for name in one.types})
    drawn: list[_ShotCandidate] = []
    left = [one for one in candidates if taken.isdisjoint(one.keys)]
    while left and len(drawn) < count:
        least = min(shown.values())
        best = min(left, key=lambda one: sum(2 * (shown[name] - least) - 1 for name in one.types))
        drawn.append(best)
        shown.update(best.types)
        taken |= best.keys
        left = [one for one in left if taken.isdisjoint(one.keys)]
    return drawn


def _plain(text: str) -> str:
    return " ".join(text.split()).casefold()


def _turns(record: Record, markers: MarkerSet, *, relevance: bool) -> tuple[Message, Message]:
    question = record.question if relevance else None
    spans = record.spans if relevance else tuple(replace(span, relevance=None) for span in record.spans)
    return (
        Message(role="user", content=message(record.context, question)),
        Message(role="assistant", content=marked_text(record.context, spans, markers)),
    )


NAME: Final = "markers"
TEMPLATE: Final = "detect_marking"
REPAIRED: Final = 0.6  # the same, if its marker or its value was read leniently
FLOOR: Final = 200  # a piece of so many characters is not asked in halves
_LEAST_TOKENS: Final = 512
_NOT_THE_TEXT: Final = "not_the_text"
_TRUNCATED: Final = "truncated"  # the code of a reply that reached the token limit
_HALVED: Final = frozenset({_NOT_THE_TEXT, _TRUNCATED})
_LONGER: Final = 5  # an answer is not so many times as long as its text
_FEW: Final = 12  # so many lost characters are no fault

WholeRanges = Callable[[str, str], Sequence[Range]]  # of a text and its locale: the ranges that no cut may part


class MarkingDetector(AskingDetector):
    """A model gives a text back with markers. A text has failed if a piece of it got no usable answer.

    *shots* are the examples; *whole* returns the ranges that no cut may part.
    """

    name = NAME
    templates = (TEMPLATE,)

    def __init__(
        self,
        model: ModelSettings,
        *,
        taxonomy: Taxonomy,
        chunk_chars: int,
        threshold: float = 0.0,
        markers: MarkerSet = TYPES,
        shots: Shots | None = None,
        whole: WholeRanges = lambda _, __: (),
        provider: Provider | None = None,
        policy: CallPolicy | None = None,
    ) -> None:
        super().__init__(model, provider=provider, policy=policy)
        self.taxonomy, self._chunk_chars, self._threshold = taxonomy, chunk_chars, threshold
        self.markers, self._shots, self.whole = markers, shots, whole
        self.instructions = ("mark_signs",) if markers.pairs else ("mark", "mark_relevant")

    @classmethod
    def made(cls, settings: DetectorSettings, provider: Provider | None = None, policy: CallPolicy | None = None) -> Self:
        """See ``registry.make_detector``. Raises ``DataError`` if the file of examples cannot be read."""
        model, prompting = settings.asked, settings.prompting
        assert model is not None  # noqa: S101 - checked when the settings were made
        taxonomy, markers, longest = settings.taxonomy, settings.marker_set, settings.chunk_chars
        shots = None
        if prompting is not None and prompting.examples is not None:
            shots = Shots.read(prompting.examples, prompting.shots, taxonomy, seed=model.seed, longest=longest, markers=markers)
        patterns = PatternDetector.made(settings)

        def matches(text: str, locale: str) -> Sequence[Range]:
            return [(span.start, span.end) for span in patterns.detect(text, locale)] if locale in catalogue_locales() else ()

        return cls(
            model,
            taxonomy=taxonomy,
            chunk_chars=longest,
            threshold=settings.threshold,
            markers=markers,
            shots=shots,
            whole=matches,
            provider=provider,
            policy=policy,
        )

    async def _examined(self, one: DetectorText, item_id: str, group_keys: Sequence[str]) -> Findings:
        text, question = one.text, None if self.markers.pairs else one.question
        shown = self._shots.messages(text, relevance=question is not None, group_keys=group_keys) if self._shots else ()
        asking = _Asking(self, text, one.locale, question, shown, item_id)
        lost = await asking.ask((0, len(text)), self._chunk_chars)
        if lost is not None:
            return Findings(spans=(), failed=why_lost(lost))
        answers = sorted(asking.answers.items())
        spans = [self._span(mark, start) for start, answer in answers for mark in answer.placed]
        aside = [_moved(aside, start) for start, answer in answers for aside in answer.set_aside]
        return Findings(spans=[span for span in spans if span.score >= self._threshold], set_aside=[*asking.halved, *aside])

    def _span(self, one: PlacedMark, shift: int) -> ScoredSpan:
        entity_type, subtype = self.markers.type_of(one.mark.entity_type)
        return ScoredSpan(
            start=one.start + shift,
            end=one.end + shift,
            entity_type=entity_type,
            subtype=subtype,
            score=REPAIRED if one.mark.misspelt or one.respelled else MODEL_SCORE,
            detector=NAME,
            relevance=one.mark.relevance,
        )


class _Asking:
    """Asks for the pieces of one text. ``answers`` are those of the pieces, by their starts; ``halved`` are the pieces asked in halves."""

    def __init__(
        self, detector: MarkingDetector, text: str, locale: str, question: str | None, shown: tuple[Message, ...], item_id: str
    ) -> None:
        self._detector, self._text, self._locale = detector, text, locale
        self._question, self._shown, self._item_id = question, shown, item_id
        self.answers: dict[int, AlignedAnswer] = {}
        self.halved: list[SetAside] = []

    async def ask(self, within: Range, limit: int) -> Lost | None:
        """Ask for all pieces of a range; return a piece without a usable answer, if there is one."""
        lost = await all_of(self._ask_piece(piece) for piece in self._pieces(within, limit))
        return next((one for one in lost if one is not None), None)

    async def _ask_piece(self, piece: Range) -> Lost | None:
        start, end = piece
        text, relevance = self._text[start:end], self._question is not None
        taxonomy, markers = self._detector.taxonomy, self._detector.markers
        answer = await self._detector.session().asker.ask(
            TEMPLATE,
            {"instruction": marking(taxonomy, relevance=relevance, markers=markers), "message": message(text, self._question)},
            item_id=f"{self._item_id} {start}",
            read=lambda reply: _usable(reply, text, taxonomy, markers, relevance=relevance),
            schema=None,
            settings=SamplingSettings(max_output_tokens=_LEAST_TOKENS + len(text.encode())),  # a token has a byte at least
            shown=self._shown,
            hopeless=(_TRUNCATED,),
        )
        if not isinstance(answer, Lost):
            self.answers[start] = answer
            return None
        half = max(FLOOR, -(-(end - start) // 2))
        if answer.code not in _HALVED or len(self._pieces(piece, half)) < 2:
            return answer
        self.halved.append(SetAside(phase=0, reason=f"asked_in_halves: {answer.code}", start=start, end=end))
        return await self.ask(piece, half)

    def _pieces(self, within: Range, limit: int) -> list[Range]:
        """Return the pieces of a range, without blanks at their ends."""
        is_short = within[1] - within[0] <= limit
        pieces = [within] if is_short else cut_text(self._text, self._ends, self._whole, limit, within)
        return [(start, end) for start, end in (trimmed(self._text, *piece) for piece in pieces) if start < end]

    @cached_property
    def _ends(self) -> Sequence[int]:
        return Sentences(self._text).ends

    @cached_property
    def _whole(self) -> Sequence[Range]:
        return self._detector.whole(self._text, self._locale)


def _usable(reply: str, text: str, taxonomy: Taxonomy, markers: MarkerSet, *, relevance: bool) -> AlignedAnswer:
    """Return the content of *reply*. Raises ``Fault`` if it does not give *text* back."""
    fault = Fault(_NOT_THE_TEXT, "it does not give the text back; give back all of it, character by character, with the markers in it")
    if len(reply) > _LONGER * len(text) + _LEAST_TOKENS:
        raise fault
    answer = align_answer(reply, text, taxonomy, markers, relevance=relevance)
    size = len("".join(text.split()))
    if 2 * answer.lost > size or answer.lost > max(_FEW, size // 4):
        raise fault
    return answer


def _moved(one: SetAside, shift: int) -> SetAside:
    return one if one.start is None or one.end is None else replace(one, start=one.start + shift, end=one.end + shift)
