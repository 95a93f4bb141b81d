"""The three phases with a language model (the detector "hybrid"), and with rules alone (the detector "hybrid-offline").

The claims of a model are read leniently, and compared strictly with the text.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Final, NamedTuple, Self, TypeVar

from piiloom.corpus.mention_search import SearchableText, exact_mentions, stands_alone, without_quotes
from piiloom.corpus.normalising import fold
from piiloom.detection.asking import MODEL_SCORE, AskingDetector, ModelAsker, all_of, each_once
from piiloom.detection.detector import DetectorText, Findings, SetAside, TextDetector
from piiloom.detection.detector_settings import DetectorSettings, ModelSettings
from piiloom.detection.hybrid.offline.listed_values import AddressRules, LabelReader, WordLists
from piiloom.detection.hybrid.offline.names import (
    CasedNames,
    Handles,
    HanNames,
    LanguageCues,
    RuleFinding,
    UncasedNames,
    known_names,
    language_cues,
)
from piiloom.detection.hybrid.phases import (
    Ambiguity,
    AskedTypes,
    EntityCandidate,
    NumberCheck,
    PhaseSettings,
    TextUnderWay,
    by_context,
    by_cues,
    prompt_entity,
)
from piiloom.execution.call_channel import CallPolicy
from piiloom.execution.calls import Fault, Lost
from piiloom.foundation.words import STOP_WORDS, Range
from piiloom.providers.protocol import JsonSchema, Provider, SamplingSettings
from piiloom.taxonomy.entities.catalogue_file import Entity

_UNCASED: Final = frozenset({"ar", "hi"})
_FAMILY_FIRST: Final = frozenset({"vi"})


# Yields what a rule finds in a text; findings may overlap.
FindingRule = Callable[[str], Iterator[RuleFinding]]


def read_by_rules(under_way: TextUnderWay, piece: Range | None = None) -> list[EntityCandidate]:
    """What the rules find in a text under way, or in a *piece* of it."""
    start, end = piece or (0, len(under_way.text))
    asked = under_way.asked
    return [
        EntityCandidate(
            start=one.start + start, end=one.end + start, entity=asked.entities[one.entity_id], score=one.score, detector=one.finder
        )
        for one in _reader(asked).read(under_way.text[start:end])
    ]


class RuleReader:
    """All rules for texts of one catalogue; of what they find, only the entities that the catalogue has are told."""

    def __init__(self, asked: AskedTypes) -> None:
        locale = asked.catalogue.locale
        cues = language_cues(locale[:2])
        self._entities = asked.entities
        self._rules: tuple[FindingRule, ...] = (
            LabelReader(asked).read,
            *_names(locale, cues),
            AddressRules(cues, locale).read,
            WordLists(cues, asked.catalogue).read,
        )

    def read(self, text: str) -> Iterator[RuleFinding]:
        """Yield what the rules find in *text*, each only as whole words."""
        for rule in self._rules:
            for one in rule(text):
                if one.entity_id in self._entities and one.start < one.end and stands_alone(text, one.start, one.end):
                    yield one


def _names(locale: str, cues: LanguageCues) -> Iterator[FindingRule]:
    """The rules for names of people in the scripts that texts of *locale* are written in."""
    language = locale[:2]
    known = known_names(locale[3:], language)
    if language in _UNCASED:
        yield UncasedNames(known, cues, fathers_names=language == "ar").read
    if language == "zh":
        # Chinese names are written the same everywhere; the index has them for China only.
        yield HanNames(known_names("CN", language), cues).read
    most_particles = 1 if language == "nl" else 3  # "Joke van den Berg van Garage …"
    yield CasedNames(known, cues, family_first=language in _FAMILY_FIRST, most_particles=most_particles).read
    yield Handles(known).read


@lru_cache(maxsize=64)
def _reader(asked: AskedTypes) -> RuleReader:
    return RuleReader(asked)


MODEL: Final = "model"
_PHASE: Final = 1
_SURE: Final = frozenset({"exact", "normalised"})  # search steps that find the very value
_SHORTEST: Final = 2  # letters of a word in small letters that is no value


class Claim(NamedTuple):
    """One entry of a reply: *value*, which stands behind *before*, is *entity*."""

    entity: Entity
    value: str
    before: str


class _FoundClaim(NamedTuple):
    """A claim with its mentions in the piece (offsets of the text)."""

    claim: Claim
    ranges: tuple[Range, ...]


def read_claims(data: Any, asked: AskedTypes) -> tuple[list[Claim], list[SetAside]]:
    """Return the claims of a reply and the entries that name no kind that was asked for, each once: weak models repeat themselves."""
    claims: dict[Claim, None] = {}
    unknown: dict[SetAside, None] = {}
    for entry in data["found"]:
        entity = asked.find(entry["type"])
        if entity is None:
            unknown.setdefault(SetAside(phase=_PHASE, reason="unknown_type", subtype=entry["type"][:60], value=entry["text"]))
        else:
            claims.setdefault(Claim(entity, entry["text"], entry.get("before") or ""))
    return list(claims), list(unknown)


def candidates_of(text: str, piece: Range, claims: Sequence[Claim]) -> tuple[list[EntityCandidate], list[SetAside]]:
    """Return a candidate for every mention of what was claimed of ``text[start:end]`` (*piece*), and what the text does not have.

    Words that were found in the piece are looked for in the whole text: they mean the same everywhere. Numbers and very common words do
    not: of these, mentions behind the words that the model gave count alone, if there are such. So it is with words that are claimed to be
    several kinds.
    """
    start, end = piece
    searchable = SearchableText(text[start:end])
    by_surface: defaultdict[str, list[_FoundClaim]] = defaultdict(list)
    missing: list[SetAside] = []
    for claim in claims:
        ranges, step = searchable.find(without_quotes(claim.value) or claim.value)
        reason: str | None = None if step in _SURE else "altered" if ranges else step
        if reason is None and _is_common(claim.value) and not any(_behind(searchable.text, ranges, claim.before)):
            reason = "common_word"
        if reason is not None:
            missing.append(SetAside(phase=_PHASE, reason=reason, subtype=claim.entity.id, value=claim.value))
        else:
            first = ranges[0]
            found = _FoundClaim(claim, tuple((a + start, b + start) for a, b in ranges))
            by_surface[searchable.text[first[0] : first[1]]].append(found)
    candidates = [one for surface, found in by_surface.items() for one in _of_one_surface(text, surface, found)]
    return candidates, missing


def _is_common(value: str) -> bool:
    """Whether *value* is a word so common that it counts only where the model saw it, if it says where that is."""
    word = value.strip()
    return word.isalpha() and word.islower() and (len(word) <= _SHORTEST or word in STOP_WORDS)


def _of_one_surface(text: str, surface: str, found: Sequence[_FoundClaim]) -> Iterator[EntityCandidate]:
    several = len({one.claim.entity.id for one in found}) > 1
    words = any(map(str.isalpha, surface)) and not _is_common(surface)
    anchored = {one.claim: frozenset(_behind(text, one.ranges, one.claim.before)) for one in found}
    told = frozenset().union(*anchored.values())
    for one in found:
        everywhere = {*one.ranges, *(exact_mentions(text, surface) if words else ())}
        if several and told:
            places: Iterable[Range] = anchored[one.claim] | (everywhere - told)
        elif told and not words:
            places = anchored[one.claim]
        else:
            places = everywhere
        for a, b in sorted(places):
            yield EntityCandidate(start=a, end=b, entity=one.claim.entity, score=MODEL_SCORE, detector=MODEL)


def _behind(text: str, ranges: Iterable[Range], before: str) -> Iterator[Range]:
    """Yield those of *ranges* that stand directly behind the words *before*."""
    wanted = fold(before).text.strip()
    if not wanted:
        return
    reach = 2 * len(before) + 10
    for start, end in ranges:
        if fold(text[max(0, start - reach) : start]).text.strip().endswith(wanted):
            yield start, end


ZERO_SHOT: Final = "detect_zero_shot"
RESOLUTION: Final = "detect_resolution"
VERIFICATION: Final = "detect_verification"
TEMPLATES: Final = (ZERO_SHOT, RESOLUTION, VERIFICATION)  # each is the name of a template, of its schema, and of the stage in the journal
_LEAST_TOKENS: Final = 512
_SHORT_REPLY: Final = SamplingSettings(max_output_tokens=64)

R = TypeVar("R")


def _closed(required: list[str], **properties: JsonSchema) -> JsonSchema:
    return {"type": "object", "properties": properties, "required": required, "additionalProperties": False}


_TEXT: Final = {"type": "string"}
_ENTRY: Final = _closed(["type", "text"], type=_TEXT, text=_TEXT, before=_TEXT)
_SCHEMAS: Final[Mapping[str, JsonSchema]] = {
    ZERO_SHOT: _closed(["found"], found={"type": "array", "items": _ENTRY}),
    RESOLUTION: _closed(["type"], type=_TEXT),
    VERIFICATION: _closed(["confirmed"], confirmed={"type": "boolean"}),
}


Read = tuple[list[EntityCandidate], list[SetAside]]  # what came of a piece, and what is set aside


class _Asked:
    """The three phases of one text, with a model that answers. Raises errors that would hit every other request, too."""

    def __init__(self, asker: ModelAsker, under_way: TextUnderWay, item_id: str) -> None:
        self._asker, self._under_way, self._item_id = asker, under_way, item_id
        self._locale = under_way.catalogue.locale

    async def find(self) -> None:
        way = self._under_way
        pieces = way.pieces()
        answers = await all_of(map(self._found, pieces))
        for piece, answer in zip(pieces, answers, strict=True):
            if isinstance(answer, Lost):
                way.add(read_by_rules(way, piece), [_left_to_rules(1, answer, piece)])
            else:
                way.add(*answer)

    async def _found(self, piece: Range) -> Read | Lost:
        """Ask what the *piece* of the text has."""
        (start, end), text, asked = piece, self._under_way.text, self._under_way.asked
        variables = {
            "entities": [prompt_entity(one) for one in asked.entities.values()],
            "notes": asked.catalogue.notes or "",
            "locale": self._locale,
            "text": text[start:end],
        }

        def read(data: Any) -> Read:
            claims, unknown = read_claims(data, asked)
            candidates, missing = candidates_of(text, piece, claims)
            return candidates, [*unknown, *missing]

        return await self._ask(ZERO_SHOT, variables, start, read, SamplingSettings(max_output_tokens=_LEAST_TOKENS + end - start))

    async def resolve(self) -> None:
        way = self._under_way
        answers = await each_once(way.ambiguities(), self._resolved)
        way.settle([(question, self._settled(question, answer)) for question, answer in answers])

    async def _resolved(self, question: Ambiguity) -> str | Lost:
        """Ask for the id of one of the options."""
        options = {one.entity.id: one.entity for one in question.options}
        variables = {
            "entities": [prompt_entity(one) for one in options.values()],
            "locale": self._locale,
            "before": question.before,
            "value": question.value,
            "after": question.after,
        }

        def read(data: Any) -> str:
            said = str(data["type"]).strip().strip("\"'`.").lower().replace(" ", "_").replace("-", "_")
            if said not in options:
                raise Fault("outside", f"the type is none of the possible kinds; they are {', '.join(options)}")
            return said

        return await self._ask(RESOLUTION, variables, question.place.best.start, read, _SHORT_REPLY)

    def _settled(self, question: Ambiguity, answer: str | Lost) -> str:
        if not isinstance(answer, Lost):
            return answer
        ruled = by_context(question)
        best = question.place.best
        self._under_way.add((), [_left_to_rules(2, answer, (best.start, best.end), ruled, question.value)])
        return ruled

    async def verify(self) -> None:
        way = self._under_way
        answers = await each_once(way.checks(), self._verified)
        way.confirm([check for check, answer in answers if not self._confirmed(check, answer)])

    async def _verified(self, check: NumberCheck) -> bool | Lost:
        """Ask whether a short number is what it is taken for."""
        variables = {
            "entity": prompt_entity(check.candidate.entity),
            "locale": self._locale,
            "before": check.before,
            "value": check.value,
            "after": check.after,
        }
        return await self._ask(VERIFICATION, variables, check.candidate.start, lambda data: bool(data["confirmed"]), _SHORT_REPLY)

    def _confirmed(self, check: NumberCheck, answer: bool | Lost) -> bool:
        if not isinstance(answer, Lost):
            return answer
        one = check.candidate
        self._under_way.add((), [_left_to_rules(3, answer, (one.start, one.end), one.entity.id, check.value)])
        return by_cues(check, self._under_way.catalogue.against)

    async def _ask(
        self, name: str, variables: Mapping[str, Any], start: int, read: Callable[[Any], R], settings: SamplingSettings
    ) -> R | Lost:
        item_id = f"{self._item_id} {start}"
        return await self._asker.ask(name, variables, item_id=item_id, read=read, schema=_SCHEMAS[name], settings=settings)


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
        asked, phases = _Asked(self.session().asker, under_way, item_id), self._settings.phases
        if phases > 0:
            await asked.find()
        if phases > 1:
            await asked.resolve()
        if phases > 2:
            await asked.verify()
        return under_way.findings()


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
