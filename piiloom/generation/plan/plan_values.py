"""Choose the values a plan item asks for: those that matter, and asides that state no fact twice about the same person."""

from __future__ import annotations

import random
from collections.abc import Collection, Iterable, Mapping, Sequence
from types import MappingProxyType

from piiloom.generation.item import Aside, Band, WantedValue
from piiloom.pii_values.kinds import KINDS, kinds_for
from piiloom.taxonomy.bank_checks import OF_RELATIVE
from piiloom.taxonomy.entity_types import Pair, Taxonomy
from piiloom.taxonomy.grammar import count_range
from piiloom.taxonomy.scenarios import Bank, Frame, Scenario, SlotKey, fact_of
from piiloom.taxonomy.telling_plan import ANYTHING, Narrowing
from piiloom.taxonomy.text_shapes import RelevanceShares, TextKind

_LONGEST = 620
_ASIDE = 15  # words of an aside, about
_FEWEST_SITUATION = 5
_MOST_ASKED = 70  # upper limit of a situation's minimum length: not every scenario is long enough for more
# Share of texts without any aside; the same for short texts; texts with fewer words than the last number are short.
_BARE, _BARE_IF_SHORT, _SHORT = 0.06, 0.75, 24
_P95 = 1.645  # standard deviations from the median to the 95th percentile


def draw_length(register: TextKind, rng: random.Random) -> int:
    """Draw a context length in words.

    The distribution is log-normal on each side of the register's median; its shortest and longest lengths are the 5th and 95th
    percentiles. The result is at least 6 and at most ``_LONGEST``.
    """
    shortest, median, longest = register.words
    deviation = rng.gauss(0, 1) / _P95
    length: float = median * ((longest / median) ** deviation if deviation > 0 else (shortest / median) ** -deviation)
    return max(6, min(_LONGEST, round(length)))


def draw_low_count(words: int, register: TextKind, rng: random.Random) -> int:
    """Draw how many low-relevance values a text of *words* words gets: about one per 15 to 40 words, sometimes none."""
    if rng.random() < (_BARE_IF_SHORT if words < _SHORT else _BARE):
        return 0
    room: float = (words / 17) ** 0.75
    return min(register.low_spans, round(room * rng.uniform(0.4, 2.0) + rng.uniform(-0.4, 0.6)))


def situation_band(words: int, high: int, low: int, rng: random.Random) -> Band:
    """Draw the (fewest, most) words of the situation: what *low* asides leave of *words*, less some room for small talk."""
    share = rng.uniform(0.55, 1.0)
    room = max(8 * max(1, high), int((words - low * _ASIDE * 0.6) * share))
    return min(_MOST_ASKED, max(_FEWEST_SITUATION, int(room * 0.55))), int(room * 1.3) + 42


def context_band(words: int, situation: Band, aside: Band, asides: int) -> Band:
    """Return the (fewest, most) words of the finished text: near *words*, with room for the situation and all *asides*."""
    longest = situation[1] + min(aside[1], 45) * asides
    return max(3, min(words, situation[0]) * 2 // 3), max(words * 3 // 2, longest) * 4 // 3 + 40


# (counts, weights) of the values that matter, by whether there are further types beside the pair that can change the answer.
_HIGH_COUNTS = {False: ((1, 2), (0.4, 0.6)), True: ((1, 2, 3, 4), (0.2, 0.25, 0.33, 0.22))}
# How often people mention a type in passing, relative to 1 for an average type (our estimate).
_LOW_WEIGHTS = {
    "education": 2.0,
    "age": 1.8,
    "relationship": 1.9,
    "appearance": 1.3,
    "code": 1.3,
    "organization": 1.5,
    "sexual orientation": 1.5,
    "datetime": 1.2,
    "name": 1.2,
    "occupation": 0.65,
    "finance": 0.7,
    "demographic": 0.45,
    "health": 0.42,
    "location": 0.45,
}
_READIEST = 2.0
_PAIR_BOOST = 1.8  # types of the pair are likelier in asides, too: about another person or another time
_GROUP_SIZES = ((1, 2, 3, 4), (0.52, 0.27, 0.14, 0.07))
_TRIES = 12
SOMEONE_ELSE = "someone else"
LONGEST_ASIDE = 45  # words: every frame of a bank is shorter
WORDS_A_VALUE = 3
SHORT_TEXT = 22  # in a text with fewer words there is hardly room for more than one value that matters
_ALONE_IF_SHORT = 0.7


class ValuePlan:
    """A builder of a plan item's values: the values wanted so far, the asides that hold the low ones, and the facts stated by person.

    *aside_words*: the most words of an aside; longer frames are not used. *shares* replace how often asides take a type. *narrowing*: the
    types and kinds that were asked for. *without*: subtypes by type that are drawn by name only. *never*: types that no aside has, but for
    a kind that was asked for.
    """

    def __init__(
        self,
        pair: Pair,
        bank: Bank | None,
        taxonomy: Taxonomy,
        aside_words: int = LONGEST_ASIDE,
        shares: RelevanceShares | None = None,
        narrowing: Narrowing = ANYTHING,
        without: Mapping[str, tuple[str, ...]] = MappingProxyType({}),
        never: Collection[str] = (),
    ) -> None:
        self.narrowing, self.without, self.never = narrowing, without, never
        self.pair, self.bank, self.taxonomy, self.aside_words, self.shares = pair, bank, taxonomy, aside_words, shares
        self.wanted: list[WantedValue] = []
        self.asides: list[Aside] = []
        self._facts: set[tuple[str, str]] = set()
        self._frames: set[int] = set()

    def high_count(self) -> int:
        """Return how many of the wanted values matter."""
        return sum(value.relevance == "high" for value in self.wanted)

    def add_high(self, entity_type: str, subtypes: Sequence[str], subject: str, rng: random.Random) -> None:
        """Add a value that matters: of type *entity_type*, of one of *subtypes* (empty: any), about the person *subject*."""
        subtype = self._subtype(entity_type, subtypes, rng)
        value = WantedValue(id=self._next_id(), entity_type=entity_type, relevance="high", subtypes=(subtype,), subject=subject)
        self.wanted.append(value)
        self._state((entity_type, subtype), subject)

    def add_asked_for(self) -> None:
        """Add an opening aside with the word for the person on whose behalf the text is posted ("my sister")."""
        value = WantedValue(id=self._next_id(), entity_type="relationship", relevance="low", subtypes=("asked_for",))
        self.wanted.append(value)
        self.asides.append(Aside(values=(value.id,), opening=True))

    def add_asides(self, count: int, rng: random.Random) -> None:
        """Add up to *count* values that do not matter, grouped into asides of one to four values."""
        left, failures = count, 0
        while left > 0 and failures < _TRIES:
            size = rng.choices(*_GROUP_SIZES)[0]
            added = self._add_frame(min(size, left), rng) if self.bank else self._add_free(min(size, left, 2), rng)
            left -= added
            failures += not added

    def add_kind(self, rng: random.Random) -> None:
        """Add an aside with a value of one of the kinds that were asked for, unless there is a value of one."""
        if not self.narrowing.kinds or any(self.narrowing.kinds.intersection(value.subtypes) for value in self.wanted):
            return
        slots = self.narrowing.slots(self.taxonomy)
        if self.bank is None:
            self._add_values([slots[int(rng.random() * len(slots))]])
            return
        frames = [frame for slot in slots for frame in self.bank.frames_by_slot.get(slot, ()) if self._is_new(frame)]
        frames = [frame for frame in frames if all(self.narrowing.allows(kind) for kind, _ in frame.slots)]
        if frames:
            self._take(rng.choice(frames))

    def _add_frame(self, size: int, rng: random.Random) -> int:
        """Add one aside of the bank with *size* slots or, if none fits, with one slot; returns the number of values added."""
        assert self.bank is not None  # noqa: S101 - the caller has looked
        for attempt in range(_TRIES):
            several = self.bank.frames_by_size.get(size) if size > 1 and attempt < _TRIES // 2 else None
            frame = rng.choice(several) if several else self._single(rng)
            if frame is not None and self._is_new(frame) and self._fits(frame) and (not several or self._comes_up(frame, rng)):
                self._take(frame)
                return len(frame.slots)
        return 0

    def _is_new(self, frame: Frame) -> bool:
        """Whether the text does not use *frame* yet, and has no closing sentence yet if *frame* is one."""
        return frame.index not in self._frames and not (frame.last and any(aside.closing for aside in self.asides))

    def _single(self, rng: random.Random) -> Frame | None:
        kind = self._low_type(rng)
        found = self.bank.frames_by_slot.get((kind, self._subtype(kind, (), rng))) if self.bank else None
        return rng.choice(found) if found else None

    def _low_type(self, rng: random.Random) -> str:
        names = list(self.taxonomy.types)
        return rng.choices(names, [self._readiness(name) for name in names])[0]

    def _readiness(self, entity_type: str) -> float:
        if not self.narrowing.allows(entity_type) or entity_type in self.never:
            return 0.0
        if self.shares is not None and entity_type in self.shares.types:
            return self.shares.types[entity_type].aside
        return _LOW_WEIGHTS.get(entity_type, 1.0) * (_PAIR_BOOST if entity_type in self.pair else 1.0)

    def _comes_up(self, frame: Frame, rng: random.Random) -> bool:
        """Draw whether to use an aside of several facts, with a probability set by the type that people mention least."""
        return rng.random() * _READIEST < min(self._readiness(kind) for kind, _ in frame.slots)

    def _fits(self, frame: Frame) -> bool:
        if self.aside_words < LONGEST_ASIDE and count_range(frame.text)[0] + WORDS_A_VALUE * len(frame.slots) > self.aside_words:
            return False
        stated = [(fact_of(*slot), frame.subject(slot[0])) for slot in frame.slots]
        return not any(fact is not None and (subject, fact) in self._facts for fact, subject in stated if subject == "self")

    def _take(self, frame: Frame) -> None:
        self._frames.add(frame.index)
        ids = {kind: f"v{len(self.wanted) + number}" for number, (kind, _) in enumerate(frame.slots, 1)}
        for kind, subtype in frame.slots:
            subject = frame.subject(kind)
            owner = f"@{ids['relationship']}" if subject == OF_RELATIVE else subject
            self.wanted.append(WantedValue(id=ids[kind], entity_type=kind, relevance="low", subtypes=(subtype,), subject=owner))
            self._state((kind, subtype), owner)
        self.asides.append(Aside(values=tuple(ids.values()), frame=frame.index, closing=frame.last))

    def _add_free(self, size: int, rng: random.Random) -> int:
        """Add one aside with *size* values for a provider without a bank; returns *size*."""
        kinds = (self._low_type(rng) for _ in range(size))
        return self._add_values([(kind, self._subtype(kind, (), rng)) for kind in kinds])

    def _add_values(self, slots: Iterable[SlotKey]) -> int:
        added: list[str] = []
        for kind, subtype in slots:
            owner = "self" if (fact := fact_of(kind, subtype)) is None or ("self", fact) not in self._facts else SOMEONE_ELSE
            value = WantedValue(id=self._next_id(), entity_type=kind, relevance="low", subtypes=(subtype,), subject=owner)
            self.wanted.append(value)
            self._state((kind, subtype), owner)
            added.append(value.id)
        self.asides.append(Aside(values=tuple(added)))
        return len(added)

    def _state(self, slot: SlotKey, subject: str) -> None:
        fact = fact_of(*slot)
        if fact is not None:
            self._facts.add((subject, fact))

    def _subtype(self, entity_type: str, subtypes: Iterable[str], rng: random.Random) -> str:
        """Draw one of *subtypes* (empty: any of the type), weighted by how often people use it."""
        names = tuple(subtypes)
        if not names and (without := self.without.get(entity_type)):
            names = tuple(kind.subtype for kind in KINDS[entity_type] if kind.subtype not in without and kind.share)
        return kinds_for(entity_type, names or None, self.taxonomy).draw(rng).subtype

    def _next_id(self) -> str:
        return f"v{len(self.wanted) + 1}"


def draw_high(values: ValuePlan, scenario: Scenario | None, words: int, rng: random.Random, *, most: int = 4) -> None:
    """Add the values that matter to *values*: one or both types of the pair, and up to two further types that the scenario names.

    They are *most* at most, except that a fact about a relative needs the word for that relative, too.

    Without a scenario, any other pairable type can be a further one; the model is told that it matters.
    """
    further = list(scenario.also) if scenario else _others(values.pair, values.taxonomy)
    further = [kind for kind in further if values.narrowing.allows(kind)]
    rng.shuffle(further)
    counts, weights = _HIGH_COUNTS[bool(further)]
    wanted = rng.choices(counts, weights)[0]
    if words < SHORT_TEXT:
        wanted = 1 if rng.random() < _ALONE_IF_SHORT else 2
    wanted = min(wanted, most)
    types = [rng.choice(values.pair)] if wanted == 1 else [*values.pair, *further[: wanted - 2]]
    if scenario and any(scenario.subjects.get(kind) == OF_RELATIVE for kind in types) and "relationship" not in types:
        types = [*dict.fromkeys((*values.pair, "relationship"))]  # a fact about a relative needs the word for that relative
    types.sort(key=lambda kind: kind != "relationship")  # the relationship becomes v1, which "@v1" below refers to
    owner = {kind: scenario.subjects.get(kind, "self") if scenario else "self" for kind in types}
    for kind in types:
        uses = scenario.uses.get(kind) or scenario.also[kind].uses if scenario else ()
        values.add_high(kind, uses, "@v1" if owner[kind] == OF_RELATIVE else owner[kind], rng)


def _others(pair: Pair, taxonomy: Taxonomy) -> list[str]:
    others = [kind for kind in taxonomy.types.values() if kind.pairable and kind.name not in pair]
    # A user-defined type may be pairable with certain types only.
    return [
        kind.name
        for kind in others
        if not any(taxonomy.types[name].own for name in (kind.name, *pair)) or _pairs_with(kind.name, pair, taxonomy)
    ]


def _pairs_with(name: str, pair: Pair, taxonomy: Taxonomy) -> bool:
    return all((min(name, other), max(name, other)) in taxonomy.pairs for other in pair)
