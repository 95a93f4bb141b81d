"""The three phases with a language model (the detector "hybrid"), and with rules alone (the detector "hybrid-offline")."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self

from piiloom.corpus.mention_search import Range
from piiloom.detection.asking import AskingDetector, all_of, each_once
from piiloom.detection.detector import DetectorText, Findings, SetAside, TextDetector
from piiloom.detection.detector_settings import DetectorSettings, ModelSettings
from piiloom.detection.hybrid.candidates import Ambiguity, NumberCheck, by_context, by_cues
from piiloom.detection.hybrid.model_reader import TEMPLATES, ModelReader
from piiloom.detection.hybrid.offline.offline_reader import read_by_rules
from piiloom.detection.hybrid.phases import PhaseSettings, TextUnderWay
from piiloom.execution.call_channel import CallPolicy
from piiloom.execution.calls import Lost
from piiloom.providers.protocol import Provider


class HybridDetector(AskingDetector):
    """The three phases with a model. Where no usable answer comes, the rules of "hybrid-offline" decide, which is set aside as told."""

    name = "hybrid"
    templates = TEMPLATES

    def __init__(
        self,
        settings: PhaseSettings,
        model: ModelSettings,
        *,
        provider: Provider | None = None,
        policy: CallPolicy | None = None,
    ) -> None:
        super().__init__(model, provider=provider, policy=policy)
        self._settings = settings

    @classmethod
    def made(cls, settings: DetectorSettings, provider: Provider | None = None, policy: CallPolicy | None = None) -> Self:
        """See ``registry.make_detector``."""
        assert settings.asked is not None  # noqa: S101 - checked when the settings were made
        return cls(PhaseSettings.of(settings), settings.asked, provider=provider, policy=policy)

    async def _examined(self, one: DetectorText, item_id: str, group_keys: Sequence[str]) -> Findings:  # noqa: ARG002 - it is shown no examples
        under_way = TextUnderWay(one.text, one.locale, self._settings)
        asked, phases = _Asked(ModelReader(self.session().asker), under_way, item_id), self._settings.phases
        if phases > 0:
            await asked.find()
        if phases > 1:
            await asked.resolve()
        if phases > 2:
            await asked.verify()
        return under_way.findings()


class _Asked:
    """The three phases of one text, with a model that answers."""

    def __init__(self, reader: ModelReader, under_way: TextUnderWay, item_id: str) -> None:
        self._reader, self._under_way, self._item_id = reader, under_way, item_id
        self._locale = under_way.catalogue.locale

    async def find(self) -> None:
        way = self._under_way
        pieces = way.pieces()
        answers = await all_of(self._reader.find(way.text, piece, way.asked, self._item_id) for piece in pieces)
        for piece, answer in zip(pieces, answers, strict=True):
            if isinstance(answer, Lost):
                way.add(read_by_rules(way, piece), [_left_to_rules(1, answer, piece)])
            else:
                way.add(*answer)

    async def resolve(self) -> None:
        way = self._under_way
        answers = await each_once(way.ambiguities(), lambda one: self._reader.resolve(one, self._locale, self._item_id))
        way.settle([(question, self._settled(question, answer)) for question, answer in answers])

    def _settled(self, question: Ambiguity, answer: str | Lost) -> str:
        if not isinstance(answer, Lost):
            return answer
        ruled = by_context(question)
        best = question.place.best
        self._under_way.add((), [_left_to_rules(2, answer, (best.start, best.end), ruled, question.value)])
        return ruled

    async def verify(self) -> None:
        way = self._under_way
        answers = await each_once(way.checks(), lambda one: self._reader.verify(one, self._locale, self._item_id))
        way.confirm([check for check, answer in answers if not self._confirmed(check, answer)])

    def _confirmed(self, check: NumberCheck, answer: bool | Lost) -> bool:
        if not isinstance(answer, Lost):
            return answer
        one = check.candidate
        self._under_way.add((), [_left_to_rules(3, answer, (one.start, one.end), one.entity.id, check.value)])
        return by_cues(check, self._under_way.catalogue.against)


def _left_to_rules(phase: int, lost: Lost, place: Range, subtype: str | None = None, value: str = "") -> SetAside:
    return SetAside(phase=phase, reason=f"left_to_rules: {lost.code}", subtype=subtype, value=value, start=place[0], end=place[1])


@dataclass(frozen=True, slots=True, kw_only=True)
class OfflineDetector(TextDetector):
    """Rules stand in for the model: labels, a names index, cue words and word lists find; context words settle and confirm."""

    settings: PhaseSettings
    name: str = "hybrid-offline"

    @classmethod
    def made(cls, settings: DetectorSettings, provider: Provider | None = None, policy: CallPolicy | None = None) -> Self:  # noqa: ARG003
        """See ``registry.make_detector``."""
        return cls(settings=PhaseSettings.of(settings))

    def examine(self, text: str, locale: str, question: str | None = None) -> Findings:  # noqa: ARG002 - rules read no question
        """As ``detect``, with what was set aside."""
        under_way, phases = TextUnderWay(text, locale, self.settings), self.settings.phases
        if phases > 0:
            under_way.add(read_by_rules(under_way))
        if phases > 1:
            under_way.settle([(question, by_context(question)) for question in under_way.ambiguities()])
        if phases > 2:
            against = under_way.catalogue.against
            under_way.confirm([check for check in under_way.checks() if not by_cues(check, against)])
        return under_way.findings()
