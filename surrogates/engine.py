"""The surrogate engine: plans all documents, assigns people to groups over the whole corpus, and fills each document.

The same seed gives the same bytes for any number of workers and any chunk size. A document's result depends on its position in the
input; a person's group depends on the position among all people of the corpus.
"""

from __future__ import annotations

import gc
import marshal
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import accumulate
from pathlib import Path
from typing import Protocol

from piiloom.foundation.errors import DataError
from piiloom.surrogates.casting.cast import Caster, Pools
from piiloom.surrogates.casting.groups import CODES, GROUPS, OPEN, assign, spread
from piiloom.surrogates.documents import Document, Filled
from piiloom.surrogates.filling import NOTHING_GIVEN, Filler
from piiloom.surrogates.mentions import Gender, Mention
from piiloom.surrogates.placeholders.finder import Found
from piiloom.surrogates.planning import Plan, Planner
from piiloom.surrogates.seeds import mix, seed_of
from piiloom.surrogates.settings import Settings
from piiloom.surrogates.strategies import apart

_DOCUMENT = 0xD0C
_GENDER_NAMES: dict[int, str] = {CODES["female"]: "female", CODES["male"]: "male", OPEN: "open"}
Shared = dict[tuple[str, str], tuple[int, Sequence[int]]]
Given = Callable[[int], Mapping[int, str]]


class Finder(Protocol):
    """Finds placeholders in a text."""

    def find(self, text: str, where: str = "document") -> Found:
        """Return the mentions, the unknown placeholders and the brackets that are no placeholders. *where* is for error messages."""
        ...


class Engine:
    """Plans documents, assigns groups to all people, and fills the documents. Without ``finder`` the documents must bring mentions.

    ``genders`` maps folded given names to genders. ``given`` maps a document's number to the values that were drawn elsewhere (by a
    model): value number in the plan -> value.
    """

    def __init__(
        self,
        settings: Settings,
        pools: Pools,
        finder: Finder | None = None,
        *,
        genders: dict[str, Gender] | None = None,
        given: Given | None = None,
    ) -> None:
        self.settings = settings
        self._finder = finder
        self._planner = Planner(settings.language, scope=settings.scope, genders=genders)
        self._filler = Filler(settings, Caster(pools, settings.country))
        self._given = given
        self._seed = seed_of("surrogates", settings.seed)
        self._first_seed = mix(self._seed, _DOCUMENT)
        self._groups: bytes = b""
        self._starts: list[int] = []
        self._shared: Shared = {}
        self.plans: list[Plan] = []  # plans of the documents that were filled last

    # Pass 1

    def plan(self, document: Document) -> tuple[Plan, Found | None]:
        """Return the plan of a document, and what the finder found (None if the mentions came with the document).

        Raises ``DataError`` if the document has no mentions and there is no finder.
        """
        found: Found | None = None
        mentions: Sequence[Mention]
        if document.mentions is not None:
            mentions = document.mentions
        elif self._finder is not None:
            found = self._finder.find(document.text, document.id)
            mentions = found.mentions
        else:
            raise DataError("the document has no spans and there is no mapping", where=document.id, remedy="Give --placeholders or spans.")
        plan = self._planner.plan(document.text, mentions)
        if self.settings.strategy != "consistent":
            keep = self.settings.keep if self.settings.strategy == "markov" else 0.0
            plan = apart(plan, self._document_seed(document.number), keep)
        return plan, found

    def look(self, documents: Sequence[Document]) -> bytes:
        """Return the people this chunk needs, as marshalled bytes.

        One gender code per document-local person, and (role, index, code, size) for each person shared across the corpus.
        """
        codes = bytearray()
        shared: dict[tuple[str, str], list[int]] = {}
        for document in documents:
            plan, _ = self.plan(document)
            note_people(plan, codes, shared)
        return marshal.dumps((bytes(codes), [(*key, *entry) for key, entry in shared.items()]))

    def gather(self, looks: Iterable[bytes]) -> bytes:
        """Assign a group to each person of the corpus, from the ``look`` results in input order. Return the bytes that ``open`` reads."""
        parts: list[bytes] = []
        sizes: list[int] = []
        shared: dict[tuple[str, str], list[int]] = {}
        for look in looks:
            codes, entries = marshal.loads(look)  # noqa: S302 - written by ``look`` a moment ago
            parts.append(codes)
            sizes.append(len(codes))
            for role, index, code, size in entries:
                _note_shared(shared, (role, index), code, size)
        return self._hand_out(b"".join(parts), sizes, shared)

    def _hand_out(self, codes: bytes, sizes: list[int], shared: dict[tuple[str, str], list[int]]) -> bytes:
        for code, size in shared.values():
            codes += bytes([code, *[OPEN] * (size - 1)])
        weights = None if self.settings.balance == "exact" else self.settings.weights
        groups = assign(codes, self._seed, weights).tobytes()
        at = sum(sizes)
        people = []
        for key, (_, size) in shared.items():
            people.append((*key, groups[at : at + size]))
            at += size
        told = Counter(codes)
        return marshal.dumps((groups, [0, *accumulate(sizes)], people, dict(told)))

    # Pass 2

    def open(self, gathered: Path) -> None:
        """Load the file that holds the result of ``gather``."""
        self.take(gathered.read_bytes())

    def take(self, gathered: bytes) -> None:
        """Load the result of ``gather`` from memory."""
        self._groups, self._starts, people, _ = marshal.loads(gathered)  # noqa: S302 - written by ``gather``
        self._shared = {(role, index): (seed_of("shared", self._seed, role, index), groups) for role, index, groups in people}

    def fill(self, documents: Sequence[Document], first_look: int) -> list[Filled]:
        """Fill the documents of a chunk. *first_look* is the chunk's number, in the order in which ``gather`` got the looks."""
        with unhurried():
            planned = [self.plan(document) for document in documents]
            self.plans = [plan for plan, _ in planned]
            return list(self._each(documents, planned, self._starts[first_look]))

    def _each(self, documents: Sequence[Document], planned: Sequence[tuple[Plan, Found | None]], at: int) -> Iterator[Filled]:
        for document, (plan, found) in zip(documents, planned, strict=True):
            after = at + len(plan.codes)
            done = self.fill_plan(plan, document.number, self._groups[at:after])
            at = after
            if found is not None:
                done.unknown = [(one.start, one.end) for one in found.unknown]
                done.left = list(found.left)
            yield done

    def fill_plan(self, plan: Plan, number: int, groups: Sequence[int]) -> Filled:
        """Fill one planned document; *number* is its position in the input, *groups* has one group per document-local person."""
        given = self._given(number) if self._given is not None else NOTHING_GIVEN
        return self._filler.fill(plan, self._document_seed(number), groups, self._shared, given)

    def _document_seed(self, number: int) -> int:
        return mix(self._first_seed, number)

    def fill_all(self, documents: Sequence[Document]) -> Iterator[Filled]:
        """Run both passes over documents in memory. Each document is planned once, and filled when the iterator reaches it."""
        with unhurried():
            yield from self._both_passes(documents)

    def _both_passes(self, documents: Sequence[Document]) -> Iterator[Filled]:
        planned = [self.plan(document) for document in documents]
        codes = bytearray()
        shared: dict[tuple[str, str], list[int]] = {}
        for plan, _ in planned:
            note_people(plan, codes, shared)
        self.take(self._hand_out(bytes(codes), [len(codes)], shared))
        yield from self._each(documents, planned, 0)


@contextmanager
def unhurried() -> Iterator[None]:
    """Disable the cyclic garbage collector in the block: filling makes no reference cycles, and collecting took a fifth of the time."""
    running = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if running:
            gc.enable()


def note_people(plan: Plan, codes: bytearray, shared: dict[tuple[str, str], list[int]]) -> None:
    """Add the people of *plan*: document-local ones to *codes*, those shared across the corpus to *shared* (key -> [code, size])."""
    for cluster in plan.clusters:
        if cluster.corpus:
            _note_shared(shared, cluster.key, cluster.code, cluster.size)
    codes += plan.codes


def _note_shared(shared: dict[tuple[str, str], list[int]], key: tuple[str, str], code: int, size: int) -> None:
    entry = shared.setdefault(key, [code, size])
    entry[0] = entry[0] or code
    entry[1] = max(entry[1], size)


def group_report(gathered: bytes, *, own_names: bool = False) -> dict[str, object]:
    """Summarize *gathered* for the report: people by group and by known gender, and the largest difference between two groups.

    ``own_names``: everybody has a name of the texts' own country, so groups differ by gender only.
    """
    groups, _, _, told = marshal.loads(gathered)  # noqa: S302 - written by ``gather``
    counts = Counter(groups)
    named: Counter[str] = Counter()
    for number, (gender, region) in enumerate(GROUPS):
        named[gender if own_names else f"{gender} {region}"] += counts.get(number, 0)
    return {
        "people": len(groups),
        "groups": dict(named),
        "largest_difference": spread(named),
        "gender_told_by_text": {_GENDER_NAMES[code]: count for code, count in sorted(told.items())},
    }
