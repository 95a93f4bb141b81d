"""The protocols of detectors: ``detect(text, locale, question=None) -> spans``, and findings with what was set aside, and why.

A long text is cut into pieces that a model reads one by one, at the ends of its sentences, in the scripts of the catalogue's locales. A
line break always ends a sentence; so does a full stop of a script without capitals. A Latin one does before white space, unless a small
letter or a digit follows, or it belongs to an abbreviation or an initial.
"""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass
from importlib import import_module
from itertools import pairwise
from types import TracebackType
from typing import TYPE_CHECKING, Any, Final, NamedTuple, Protocol, Self, runtime_checkable

from piiloom.corpus.normalising import extends
from piiloom.corpus.record import Relevance
from piiloom.execution.call_entries import CallTotals
from piiloom.foundation.errors import UsageError, how_to_install
from piiloom.foundation.event_loops import run_in_own_loop
from piiloom.foundation.words import Range
from piiloom.patterns.resolving import PER_CHARACTER

if TYPE_CHECKING:
    from piiloom.detection.detector_settings import DetectorSettings
    from piiloom.execution.call_channel import CallPolicy
    from piiloom.providers.protocol import Provider


@dataclass(frozen=True, slots=True, kw_only=True)
class ScoredSpan:
    """``text[start:end]`` (code points, half-open) is taken for personal information. Spans of one text may overlap.

    ``entity_type`` is one of the 15 types, ``subtype`` the id of the entity in the catalogue. ``score`` is the detector's confidence, 0
    to 1. ``detector`` names who found it: "patterns", "model", "names index" …. ``validated``: the entity's validator accepted the value;
    None: it has none. ``candidates`` are the ids of all entities that it may be, if there are several, the likeliest first.
    ``relevance_score`` is the probability that the relevance is "high", from detectors that know one.
    """

    start: int
    end: int
    entity_type: str
    subtype: str | None
    score: float
    detector: str
    validated: bool | None = None
    relevance: Relevance | None = None
    candidates: tuple[str, ...] = ()
    relevance_score: float | None = None


@runtime_checkable
class Detector(Protocol):
    """Finds personal information in texts."""

    @property
    def name(self) -> str:
        """How ``--detector`` calls it."""
        ...

    def detect(self, text: str, locale: str, question: str | None = None) -> Sequence[ScoredSpan]:
        """Return the spans of *text* in text order. *question* is for detectors that judge relevance; others ignore it.

        Raises ``UsageError`` for a locale that the detector does not know.
        """
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class SetAside:
    """Something that gave no span, or was settled otherwise than by a usable answer.

    ``phase`` is 1, 2 or 3, or 0 for a detector without phases. ``reason`` is a stable code. Phase I, of what a model names: "invented",
    "altered", "inside_word" (the text does not have it so), "empty", "common_word" (no value), "unknown_type". Phase III: "refused_number".
    "left_to_rules: <code>": no usable answer came, and a rule decided. Of "capid": ``capid.entries``, ``capid.placing``; there "altered"
    has the place that was taken for it, and ``subtype`` is a type. Of a verifier: "refused_by_verifier",
    "verifier_left_to_default: <code>". ``value`` is what the text or the model says; it may be personal information. ``start`` and ``end``
    are None for what the text does not have. ``note`` is what a model says for its refusal.
    """

    phase: int
    reason: str
    subtype: str | None = None
    value: str = ""
    start: int | None = None
    end: int | None = None
    note: str = ""

    def to_json(self) -> dict[str, Any]:
        """Return it as JSON values; a note only if there is one."""
        told = asdict(self)
        return told if self.note else {name: value for name, value in told.items() if name != "note"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Findings:
    """The spans of a text, disjoint and in text order, and what was set aside.

    ``failed`` says why nothing could be found out about the text: then it has no spans, is rejected for that reason, and others go on.
    """

    spans: Sequence[ScoredSpan]
    set_aside: Sequence[SetAside] = ()
    failed: str | None = None


def library(name: str, problem: str, extra: str, where: str | None = None) -> Any:
    """Return the module *name*, which *extra* brings; raises ``UsageError`` with *problem* and the command that installs it."""
    try:
        return import_module(name)
    except ImportError as error:
        raise UsageError(problem, where=where, remedy=f"Install it: {how_to_install(extra)}") from error


class DetectorText(NamedTuple):
    """What a detector is given."""

    text: str
    locale: str
    question: str | None = None


class TextDetector:
    """A detector on this machine: a subclass has ``examine`` or, if it is faster with many texts at once, ``examine_batch``."""

    name: str

    @classmethod
    def made(cls, settings: DetectorSettings, provider: Provider | None = None, policy: CallPolicy | None = None) -> Self:  # noqa: ARG003
        """Return the detector of *settings*, whose trained model is its first argument; see ``registry.make_detector``."""
        make: Callable[..., Self] = cls
        return make(settings.local, taxonomy=settings.taxonomy, threshold=settings.threshold)

    def detect(self, text: str, locale: str, question: str | None = None) -> Sequence[ScoredSpan]:
        """Return disjoint spans in text order; see ``Detector``."""
        return self.examine(text, locale, question).spans

    def examine(self, text: str, locale: str, question: str | None = None) -> Findings:
        """As ``detect``, with what was set aside."""
        return self.examine_batch([DetectorText(text, locale, question)])[0]

    def examine_batch(self, texts: Sequence[DetectorText]) -> list[Findings]:
        """Return the findings of each of *texts*."""
        return [self.examine(*one) for one in texts]


class ModelDetector(ABC):
    """A detector that asks a model or a service: an async context manager, within which many texts can be under way.

    Entering opens its store, journal and connections; leaving waits for the calls in flight, whose replies are kept. ``detect`` and
    ``examine`` do both for one text. One process at a time can have a store open.
    """

    name: str

    def __init__(self) -> None:
        self._totals = CallTotals()

    @abstractmethod
    async def __aenter__(self) -> Self: ...

    @abstractmethod
    async def __aexit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None: ...

    @abstractmethod
    async def examine_async(
        self, text: str, locale: str, question: str | None = None, *, item_id: str = "", group_keys: Sequence[str] = ()
    ) -> Findings:
        """Return the findings of *text*, which *item_id* names in the journal of calls. Raises errors that would hit every other text.

        *group_keys* are those of the text: no example that a model is shown is of its groups.
        """

    @property
    def totals(self) -> CallTotals:
        """Calls and costs of all sessions of the run so far; usable while it is open and afterwards."""
        return self._totals

    def detect(self, text: str, locale: str, question: str | None = None) -> Sequence[ScoredSpan]:
        """Open, examine one text, and close. Raises ``UsageError`` if nothing could be found out about it."""
        found = self.examine(text, locale, question)
        if found.failed is not None:
            raise UsageError(f"the text was not detected: {found.failed}", where=f"--detector {self.name}")
        return found.spans

    def examine(self, text: str, locale: str, question: str | None = None) -> Findings:
        """Open, examine one text, and close."""

        async def alone() -> Findings:
            async with self:
                return await self.examine_async(text, locale, question)

        return run_in_own_loop(alone)


def examine_texts(detector: Detector, texts: Sequence[DetectorText]) -> list[Findings]:
    """Return the findings of *detector* in each of *texts*, all at once if it is a ``TextDetector``."""
    if isinstance(detector, TextDetector):
        return detector.examine_batch(texts)
    return [Findings(spans=detector.detect(*one)) for one in texts]


def disjoint_spans(spans: Sequence[ScoredSpan]) -> list[ScoredSpan]:
    """Return *spans* in text order, without those that overlap a surer one."""
    ordered = sorted(spans, key=lambda one: (one.start, one.end))
    if all(one.end <= following.start for one, following in pairwise(ordered)):
        return ordered
    kept: list[tuple[int, int, ScoredSpan]] = []
    for span in sorted(ordered, key=lambda one: (-one.score - PER_CHARACTER * (one.end - one.start), one.start, one.subtype or "")):
        at = bisect_left(kept, span.start, key=lambda other: other[0])
        if (at == 0 or kept[at - 1][1] <= span.start) and (at == len(kept) or span.end <= kept[at][0]):
            kept.insert(at, (span.start, span.end, span))
    return [span for _, _, span in kept]


def cut_text(text: str, ends: Sequence[int], whole: Iterable[Range], limit: int, within: Range | None = None) -> list[Range]:
    """Return the ranges of the pieces of *text*, or of its range *within*: they cover it exactly, with at most *limit* code points each.

    Cuts are at *ends* (of sentences, ascending); in a sentence longer than *limit* between words, or anywhere if there is no other place.
    No cut is inside a range of *whole*; a piece with a longer one of these is longer than *limit*.
    """
    blocks = _joined(whole)
    starts = [start for start, _ in blocks]
    free = [end for end in ends if _block_at(end, blocks, starts) is None]
    pieces: list[Range] = []
    at, size = within or (0, len(text))
    while size - at > limit:
        cut = min(_cut(text, at, at + limit, free, blocks, starts), size)
        pieces.append((at, cut))
        at = cut
    if at < size:
        pieces.append((at, size))
    return pieces


def _joined(ranges: Iterable[Range]) -> list[Range]:
    """*ranges* in order, those that overlap as one."""
    joined: list[Range] = []
    for start, end in sorted(ranges):
        if joined and start < joined[-1][1]:
            joined[-1] = (joined[-1][0], max(end, joined[-1][1]))
        else:
            joined.append((start, end))
    return joined


def _block_at(place: int, blocks: Sequence[Range], starts: Sequence[int]) -> Range | None:
    """The block that a cut at *place* would cut."""
    number = bisect_left(starts, place) - 1
    return blocks[number] if number >= 0 and place < blocks[number][1] else None


def _cut(text: str, at: int, latest: int, ends: Sequence[int], blocks: Sequence[Range], starts: Sequence[int]) -> int:
    number = bisect_right(ends, latest) - 1
    if number >= 0 and ends[number] > at:
        return ends[number]
    place = latest
    while place > at:
        block = _block_at(place, blocks, starts)
        if block is not None:
            place = block[0]
        elif text[place - 1].isspace():
            return place
        else:
            place -= 1
    block = _block_at(latest, blocks, starts)
    if block is not None:
        return block[0] if block[0] > at else block[1]
    return _not_before_a_mark(text, at, latest)


def _not_before_a_mark(text: str, at: int, place: int) -> int:
    """*place*, or the nearest before it where no letter is parted from its marks."""
    found = place
    while found > at + 1 and extends(text[found]):
        found -= 1
    return place if found == at + 1 else found


REACH: Final = 400  # no more is shown to either side of a value, however long the sentence
_END: Final = re.compile(r"\n\s*|[。！？｡।॥۔؟]+[\"'”’»」』）)\]]*[^\S\n]*|[.!?…]+[\"'”’»)\]]*[^\S\n]+")
_ABBREVIATIONS: Final = frozenset(
    # titles, streets, numbers and the like that stand before what they belong to
    "dr mr mrs ms mgr inż prof hab lek drs ir ing mevr dhr mw sr sra srta dra exmo exma eng adv gen hr fr st sta sto jr sen dipl "
    "ul al pl os av avda rua tv pç pça est rod qd lt bl ap apto cj nr no núm num tel tlf tfn puh fax art pkt ust poz str s p pp z "
    "ca bl.a t.ex f.eks bijv bv o.a m.fl obs vs approx inc ltd co lda ltda ppor tp q tx hđ bs ths ts pgs gs tt ks kh डॉ श्री सं नं क्र".split()
)
_INITIAL: Final = re.compile(r"(?<!\w)(?:[^\W\d_]\.)*[^\W\d_]\Z")
_WORD_BEFORE: Final = re.compile(r"[\w.]*\Z")
_LOOK_BACK: Final = 16


class Sentences:
    """The sentences of *text*; each has the white space behind it, so that they cover the text exactly."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.ends = [end for match in _END.finditer(text) if (end := match.end()) < len(text) and _ends(text, match)]

    def around(self, start: int, end: int, *, beside: int = 0) -> tuple[int, int]:
        """The range of the sentences that ``[start, end)`` touches, and of *beside* more before and behind; at most ``REACH`` away."""
        first = bisect_right(self.ends, start) - beside
        last = bisect_left(self.ends, end) + beside
        begin = self.ends[first - 1] if first > 0 else 0
        finish = self.ends[last] if last < len(self.ends) else len(self.text)
        return max(begin, start - REACH), min(finish, end + REACH)


def _ends(text: str, match: re.Match[str]) -> bool:
    sign = match.group()[0]
    if sign == "\n" or sign not in ".!?…":
        return True
    following = text[match.end()]
    if following.islower() or (sign == "." and following.isdigit()):
        return False
    if sign != "." or match.group().startswith(".."):
        return True
    at = match.start()
    before = text[max(0, at - _LOOK_BACK) : at]
    word = _WORD_BEFORE.search(before)
    return _INITIAL.search(before) is None and (word is None or word.group().lower() not in _ABBREVIATIONS)


def sentence_pieces(text: str, limit: int, within: Range | None = None) -> list[Range]:
    """Return the pieces of *text*, or of its range *within*, that end with sentences, see ``cut_text``; blank ones are left out."""
    begin, end = within or (0, len(text))
    pieces = [(begin, end)] if end - begin <= limit else cut_text(text, Sentences(text).ends, (), limit, within)
    return [piece for piece in pieces if text[slice(*piece)].strip()]
