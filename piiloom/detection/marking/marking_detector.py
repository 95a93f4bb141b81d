"""The detector "markers": a language model gives the text back with markers around what is personal.

It asks in the form in which the export for tuning trains (``corpus.formats.instruction_tuning``), for plain text; examples, if there are
any, are turns of user and assistant in that form. Signs (``corpus.markers.MarkerSet.pairs``) are asked for without the question of a text,
since they say no relevance. A long text is asked in pieces that end with sentences and part no value that the
patterns know. A piece whose answer was cut off, or did not give the text back, is asked in halves, down to ``FLOOR`` characters.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Final, NamedTuple

from piiloom.corpus.formats.instruction_tuning import marking, message
from piiloom.corpus.markers import TYPES, MarkerSet
from piiloom.corpus.mention_search import Range
from piiloom.detection.asking.asking_detector import AskingDetector
from piiloom.detection.asking.gathering import all_of
from piiloom.detection.detector import ScoredSpan
from piiloom.detection.detector_settings import ModelSettings
from piiloom.detection.findings import Findings, SetAside
from piiloom.detection.marking.bringing_back import Brought, bring_back
from piiloom.detection.marking.cutting import Cutting, WholeRanges
from piiloom.detection.marking.placing import Placed
from piiloom.detection.marking.shots import Shots
from piiloom.execution.call_channel import CallPolicy
from piiloom.execution.calls import Fault, Lost
from piiloom.foundation.seeding import digest
from piiloom.providers.protocol import Message, Provider, SamplingSettings
from piiloom.taxonomy.entity_types import Taxonomy

NAME: Final = "markers"
TEMPLATE: Final = "detect_marking"
SCORE: Final = 0.75  # how sure a model's finding is, that gives no score itself
REPAIRED: Final = 0.6  # where its marker or its value had to be read leniently
FLOOR: Final = 200  # a piece of so many characters is not asked in halves
_LEAST_TOKENS: Final = 512
_NOT_THE_TEXT: Final = "not_the_text"
_TRUNCATED: Final = "truncated"  # the code of a reply that reached the token limit
_HALVED: Final = frozenset({_NOT_THE_TEXT, _TRUNCATED})
_LONGER: Final = 5  # an answer is not so many times as long as its text
_FEW: Final = 12  # so many characters that are lost tell nothing


class _Piece(NamedTuple):
    """What came of ``text[start:…]``."""

    start: int
    brought: Brought


class MarkingDetector(AskingDetector):
    """See ``findings.ModelDetector``. A text of which a piece got no usable answer has failed.

    *shots* are the examples; *whole* gives the ranges that no cut parts.
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
        self.markers, self._shots, self._whole = markers, shots, whole
        self.instructions = ("mark_signs",) if markers.pairs else ("mark", "mark_relevant")

    async def examine_async(
        self, text: str, locale: str, question: str | None = None, *, item_id: str = "", group_keys: Sequence[str] = ()
    ) -> Findings:
        """Ask for the marked *text*. Raises errors of the provider that would hit every other text, and ``BudgetReached``."""
        session = self.session()
        question = None if self.markers.pairs else question
        shown: tuple[Message, ...] = ()
        if self._shots is not None:
            shown = self._shots.messages(text, relevance=question is not None, group_keys=group_keys)
        asking = _Asking(self, Cutting(text, locale, self._whole), question, shown, item_id or digest(locale, text)[:16])
        session.channel.items(1)
        try:
            answers = await asking.ask_all((0, len(text)), self._chunk_chars)
        finally:
            session.channel.items(-1)
        if isinstance(answers, Lost):
            return Findings(spans=(), failed=f"no usable answer came ({answers.code}, attempts: {answers.attempts}): {answers.message}")
        spans = [self._span(one, piece.start) for piece in answers for one in piece.brought.placed]
        told = [_moved(one, piece.start) for piece in answers for one in piece.brought.set_aside]
        return Findings(spans=[span for span in spans if span.score >= self._threshold], set_aside=[*asking.told, *told])

    def _span(self, one: Placed, shift: int) -> ScoredSpan:
        entity_type, subtype = self.markers.type_of(one.mark.entity_type)
        return ScoredSpan(
            start=one.start + shift,
            end=one.end + shift,
            entity_type=entity_type,
            subtype=subtype,
            score=REPAIRED if one.mark.misspelt or one.respelled else SCORE,
            detector=NAME,
            relevance=one.mark.relevance,
        )


class _Asking:
    """Asks for the pieces of one text. ``told``: what is to be told of how they were asked."""

    def __init__(self, detector: MarkingDetector, cutting: Cutting, question: str | None, shown: tuple[Message, ...], item_id: str) -> None:
        self._detector, self._cutting, self._question, self._shown, self._item_id = detector, cutting, question, shown, item_id
        self.told: list[SetAside] = []

    async def ask_all(self, of: Range, limit: int) -> list[_Piece] | Lost:
        """Ask for all pieces of a range; ``Lost`` if that one is of which no usable answer came."""
        found: list[_Piece] = []
        for answer in await all_of(self._ask(piece) for piece in self._cutting.pieces(of, limit)):
            if isinstance(answer, Lost):
                return answer
            found += answer
        return found

    async def _ask(self, piece: Range) -> list[_Piece] | Lost:
        start, end = piece
        text = self._cutting.text[start:end]
        relevance, taxonomy, markers = self._question is not None, self._detector.taxonomy, self._detector.markers
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
            return [_Piece(start, answer)]
        half = max(FLOOR, -(-(end - start) // 2))
        if answer.code not in _HALVED or len(self._cutting.pieces(piece, half)) < 2:
            return answer
        self.told.append(SetAside(phase=0, reason=f"asked_in_halves: {answer.code}", start=start, end=end))
        return await self.ask_all(piece, half)


def _usable(reply: str, text: str, taxonomy: Taxonomy, markers: MarkerSet, *, relevance: bool) -> Brought:
    """Return what *reply* says. Raises ``Fault`` if it does not give *text* back."""
    fault = Fault(_NOT_THE_TEXT, "it does not give the text back; give back all of it, character by character, with the markers in it")
    if len(reply) > _LONGER * len(text) + _LEAST_TOKENS:
        raise fault
    brought = bring_back(reply, text, taxonomy, markers, relevance=relevance)
    size = len("".join(text.split()))
    if 2 * brought.lost > size or brought.lost > max(_FEW, size // 4):
        raise fault
    return brought


def _moved(one: SetAside, shift: int) -> SetAside:
    return one if one.start is None or one.end is None else replace(one, start=one.start + shift, end=one.end + shift)
