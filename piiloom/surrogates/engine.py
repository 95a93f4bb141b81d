"""The surrogate engine: plans all documents, assigns people to groups over the whole corpus, and replaces what each document marks.

The same key gives the same bytes for any number of workers and any chunk size. What is drawn for a document depends on the key, its
text, and how many documents of the same text come before it; a person's group depends on the key and all people of the corpus.
"""

from __future__ import annotations

import marshal
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate
from pathlib import Path

from piiloom.foundation.errors import DataError
from piiloom.foundation.seeding import keyed_seeds, mix
from piiloom.foundation.startup import collecting_at
from piiloom.pii_values.names.pools import NamePools, pools_of
from piiloom.pii_values.names.regions import Gender
from piiloom.surrogates.documents import Document, Mention, Replaced, document_seeds
from piiloom.surrogates.engine_report import EngineStatistics, known_given_names
from piiloom.surrogates.persona_assignment.groups import (
    GROUPS,
    NO_GROUP,
    OF_DOCUMENT,
    OPEN,
    Roles,
    assign_by_document,
    assign_groups,
    role_name,
)
from piiloom.surrogates.persona_assignment.personas import PersonaDrawer
from piiloom.surrogates.placeholders.finder import Finder, FoundTags, KeptScans
from piiloom.surrogates.placeholders.mapping import Mapping as TagMapping
from piiloom.surrogates.planned_people import NOBODY, Cluster
from piiloom.surrogates.planning import PERSON, DocumentPlan, Planner, codes_of
from piiloom.surrogates.replacing import NOTHING_GIVEN, Replacer
from piiloom.surrogates.same_values import KnownEntry, SameValues, entries_of, merge_entries, packed_values
from piiloom.surrogates.settings import EngineSettings, OnUnknown

Given = Callable[[int], Mapping[int, str]]
Planned = tuple[DocumentPlan, FoundTags | None]
# Objects before a collection: replacing makes no reference cycles, and collecting took a fifth of the time.
_NEVER = 2**31 - 1
_STEP = 0x57E9
_UNIT = float(1 << 64)
_CLOSE = 3  # code points between two parts of one name
_PER_MENTION = 100  # a mention and what is planned for it take as much as so many code points
_ROOM = 16_000_000  # code points of plans that are kept between the passes: some 60 MB


class Engine:
    """Plans documents, assigns groups to all people, and replaces the mentions. Without ``finder`` the documents must bring mentions.

    ``genders`` maps folded given names to genders. ``given`` maps a document's number to the values that were drawn elsewhere (by a
    model): value number in the plan -> value. With ``statistics`` documents are counted for the report.
    """

    def __init__(
        self,
        settings: EngineSettings,
        pools: NamePools,
        finder: Finder | None = None,
        *,
        genders: Mapping[str, Gender] | None = None,
        given: Given | None = None,
        statistics: EngineStatistics | None = None,
    ) -> None:
        self.settings = settings
        self._finder = finder
        self.same_values = SameValues(settings.same_value, settings.language) if finder is None else None
        self._planner = Planner(settings.language, settings.country, scope=settings.scope, genders=genders)
        self._replacer = Replacer(settings, PersonaDrawer(pools, settings.country), genders or ())
        self._given = given
        self._statistics = statistics
        self._key = settings.key
        self._by_document = settings.groups_by == "document"
        self._groups: bytes = b""
        self._document_groups: bytes = b""
        self._starts: list[int] = []
        self._shared: dict[tuple[str, str], tuple[int, Sequence[int]]] = {}
        self._room = _ROOM
        self._kept: dict[int, list[Planned]] = {}

    @property
    def scan_needs_known(self) -> bool:
        """Whether documents are to be scanned again when the known originals of all of them are loaded."""
        return self.same_values is not None and self.same_values.mode == "corpus" and self.same_values.corpus is None

    # Pass 1

    def plan(self, document: Document) -> Planned:
        """Return the plan of a document, and what the finder found (None if the mentions came with the document).

        Raises ``DataError`` if the document has no mentions and there is no finder.
        """
        found: FoundTags | None = None
        mentions: Sequence[Mention]
        if document.mentions is not None:
            mentions = document.mentions if self.same_values is None else self.same_values.widened(document)
        elif self._finder is not None:
            found = self._finder.find(document.text, document.place)
            mentions = found.mentions
        else:
            raise DataError("the document has no spans and there is no mapping", where=document.id, remedy="Give --placeholders or spans.")
        plan = self._planner.plan(document.text, mentions, document.turns)
        if self.settings.strategy != "consistent":
            keep = self.settings.keep if self.settings.strategy == "markov" else 0.0
            plan = apart(plan, keyed_seeds(self._key, "runs", document.text)[0], keep)
        return plan, found

    def scan(self, documents: Sequence[Document], chunk: int | None = None) -> bytes:
        """Return the people of a chunk, as marshalled bytes.

        One gender code and one role per document-local person, (role, index, code, size) for each person shared across the corpus, the
        known originals, and with ``groups_by`` "document" the number of people of each document. The plans of *chunk* are kept for
        ``replace`` as long as there is room for them. Numbers, ordinals, lines and ids of the documents need not be known yet.
        """
        with collecting_at(_NEVER):
            planned = [self.plan(document) for document in documents]
            if chunk is not None and not self.scan_needs_known:
                pairs = zip(documents, planned, strict=True)
                size = sum(len(document.text) + _PER_MENTION * len(plan.mentions) for document, (plan, _) in pairs)
                if size < self._room:
                    self._room -= size
                    self._kept[chunk] = planned
            return self._people_of(documents, planned)

    def _people_of(self, documents: Sequence[Document], planned: Sequence[Planned]) -> bytes:
        codes, roles = bytearray(), Roles()
        shared: dict[tuple[str, str], list[int]] = {}
        for plan, _ in planned:
            for cluster in plan.clusters:
                if cluster.corpus:
                    _note_shared(shared, cluster.key, cluster.code, cluster.size)
                elif cluster.size:
                    roles.add(cluster.key[0], cluster.size)
            codes += plan.codes
        sizes = [len(plan.codes) for plan, _ in planned] if self._by_document else []
        known = [entry for document in documents for entry in entries_of(document)] if self.same_values is not None else []
        noted = bytes(roles.numbers), list(roles.names)
        return marshal.dumps((bytes(codes), *noted, [(*key, *entry) for key, entry in shared.items()], known, sizes))

    def assign(self, scans: Iterable[bytes]) -> bytes:
        """Assign a group to each person of the corpus, from the ``scan`` results in input order. Return the bytes that ``load`` reads."""
        parts: list[bytes] = []
        sizes: list[int] = []
        documents: list[int] = []
        roles = Roles()
        shared: dict[tuple[str, str], list[int]] = {}
        known: dict[int, KnownEntry] = {}
        for scan in scans:
            people, numbers, names, entries, originals, own_sizes = marshal.loads(scan)  # noqa: S302 - written by ``scan`` a moment ago
            parts.append(people)
            documents += own_sizes
            merge_entries(known, originals)
            sizes.append(len(people))
            roles.extend(names, numbers)
            for role, index, code, size in entries:
                _note_shared(shared, (role, index), code, size)
        local = codes = b"".join(parts)
        for (role, _), (code, size) in shared.items():
            codes += bytes([code, *[OPEN] * (size - 1)])
            roles.add(role, size)
        weights = self.settings.weights if self.settings.balance != "balanced" else None
        seed, at = keyed_seeds(self._key, "groups")[0], len(local)
        of_documents = codes_of_documents = b""
        if self._by_document:
            groups, of_documents, codes_of_documents = assign_by_document(local, documents, seed, weights)
            groups += assign_groups(codes[at:], seed, weights, bytes(roles.numbers[at:]))
        else:
            groups = assign_groups(codes, seed, weights, bytes(roles.numbers))
        everywhere = []
        for key, (_, size) in shared.items():
            everywhere.append((*key, groups[at : at + size]))
            at += size
        told = Counter(zip(roles.numbers, codes, strict=True))
        starts, numbers = [0, *accumulate(sizes)], bytes(roles.numbers)
        dealt = groups, starts, everywhere, list(known.items()), of_documents, codes_of_documents
        assigned = marshal.dumps((*dealt, dict(told), numbers, roles.names))
        if self._statistics is not None:
            self._statistics.note_groups(assigned)
        return assigned

    # Pass 2

    def load(self, assigned: bytes) -> None:
        """Take over the result of ``assign``. To be called in each process before the first ``replace``."""
        self._groups, self._starts, people, known, self._document_groups, *_ = marshal.loads(assigned)  # noqa: S302 - written by ``assign``
        if self.same_values is not None:
            self.same_values.corpus = packed_values(known)
        self._shared = {(role, index): (keyed_seeds(self._key, "person", role, index)[0], groups) for role, index, groups in people}

    def replace(self, documents: Sequence[Document], chunk: int) -> list[Replaced]:
        """Replace the mentions of the documents of chunk number *chunk*, in the order in which ``assign`` got the scans."""
        with collecting_at(_NEVER):
            planned = self._kept.pop(chunk, None) or [self.plan(document) for document in documents]
            replaced = list(self._each(documents, planned, self._starts[chunk]))
            if self.same_values is not None:
                for document, (plan, _), done in zip(documents, planned, replaced, strict=True):
                    done.tallies.update(self.same_values.tallies(document, plan.mentions))
        if self._statistics is not None:
            planned.reverse()
            for done in replaced:  # a plan goes before the text is scanned: a long document's takes much space
                done.tallies.update(self._statistics.tallies(planned.pop()[0], done))
                done.tallies.update(self._statistics.leftovers(done))
        return replaced

    def _each(self, documents: Sequence[Document], planned: Sequence[Planned], at: int) -> Iterator[Replaced]:
        for document, (plan, found) in zip(documents, planned, strict=True):
            after = at + len(plan.codes)
            done = self.replace_plan(plan, document, self._groups[at:after])
            if self.settings.person_groups or self._by_document:
                done.person_groups = self._person_groups(plan, self._groups[at:after], document.number)
            at = after
            if found is not None:
                done.unknown = [(one.start, one.end) for one in found.unknown]
                done.left = list(found.left)
            yield done

    def _person_groups(self, plan: DocumentPlan, groups: Sequence[int], number: int) -> dict[str, list[str]]:
        """Return the groups of the people of document *number* by their role, "person" for people without one; and its own, "group"."""
        found: dict[str, list[str]] = {}
        if self._by_document and self._document_groups[number] != NO_GROUP:
            found[OF_DOCUMENT] = [self._name_of(self._document_groups[number])]
        at = 0
        for cluster in plan.clusters:
            own = self._shared[cluster.key][1] if cluster.corpus else groups[at : at + cluster.size]
            at += 0 if cluster.corpus else cluster.size
            names = list(map(self._name_of, own))
            if names:
                found.setdefault(role_name(cluster.key[0]), []).extend(names)
        return found

    def _name_of(self, group: int) -> str:
        return GROUPS[group][0] if self.settings.own_names else " ".join(GROUPS[group])

    def replace_plan(self, plan: DocumentPlan, document: Document, groups: Sequence[int]) -> Replaced:
        """Replace the mentions of one planned document; *groups* has one group per document-local person."""
        given = self._given(document.number) if self._given is not None else NOTHING_GIVEN
        return self._replacer.replace(plan, document_seeds(self._key, document.text, document.ordinal), groups, self._shared, given)

    def report(self, tallies: Counter[str]) -> dict[str, object]:
        """Return the engine's part of the report; *tallies* are summed over all documents. Empty without ``statistics``."""
        return self._statistics.report(tallies) if self._statistics is not None else {}

    def replace_all(self, documents: Sequence[Document]) -> Iterator[Replaced]:
        """Run both passes over documents in memory. Each is planned once, and replaced when the iterator reaches it."""
        with collecting_at(_NEVER):
            yield from self._both_passes(documents)

    def _both_passes(self, documents: Sequence[Document]) -> Iterator[Replaced]:
        known: dict[int, KnownEntry] = {}
        if self.same_values is not None:
            for document in documents:
                merge_entries(known, entries_of(document))
            self.same_values.corpus = packed_values(known.items())
        planned = [self.plan(document) for document in documents]
        before: Counter[str] = Counter()
        numbered = []
        for document in documents:
            numbered.append(document._replace(ordinal=before[document.text]))
            before[document.text] += 1
        self.load(self.assign([self._people_of(documents, planned)]))
        yield from self._each(numbered, planned, 0)


def _note_shared(shared: dict[tuple[str, str], list[int]], key: tuple[str, str], code: int, size: int) -> None:
    entry = shared.setdefault(key, [code, size])
    entry[0] = entry[0] or code
    entry[1] = max(entry[1], size)


@dataclass(frozen=True, slots=True, kw_only=True)
class EngineFactory:
    """Picklable factory of a process's ``Engine``. Without ``mapping`` the documents must bring mentions.

    ``scan``: scan the texts with surrogates for leftovers. ``miss_rates``: rates (0 to 1) for which the report estimates leakage.
    ``scans`` is what the survey of the documents scanned in this process.
    ``given`` is the path of a file of values that a model drew (``by_model.drawing``); every worker must be able to read it.
    """

    settings: EngineSettings
    mapping: TagMapping | None = None
    on_unknown: OnUnknown = "keep"
    scan: bool = True
    miss_rates: tuple[float, ...] = ()
    given: Path | None = None
    scans: KeptScans | None = None

    def __call__(self) -> Engine:
        """Open the names index, compile the mapping, and return the engine."""
        from piiloom.pii_values.names.index import open_names  # noqa: PLC0415 - heavy; needed by who works only

        settings = self.settings
        index = open_names(Path(settings.names) if settings.names else None)
        pools = pools_of(index, script=settings.script, english_only=settings.english_only)
        finder = Finder(self.mapping, self.on_unknown, self.scans) if self.mapping is not None else None
        names = known_given_names(pools, settings.country) if self.scan or self.mapping is None else {}
        given = None
        if self.given is not None:
            from piiloom.surrogates.given_values import GivenValues  # noqa: PLC0415 - most runs have none

            given = GivenValues(self.given)
        statistics = EngineStatistics(
            settings,
            names_from=index.source,
            given_names=names if self.scan else None,
            miss_rates=self.miss_rates,
            mapping=self.mapping,
            by_model=given.report if given is not None else None,
        )
        return Engine(settings, pools, finder, genders=names, given=given.of if given is not None else None, statistics=statistics)


def apart(plan: DocumentPlan, seed: int, keep: float) -> DocumentPlan:
    """Return *plan* with each person's mentions split into runs, each replaced as a person of its own.

    It follows BRATsynthetic (Osborne et al. 2022): a name that de-identification missed does not show as the only one that fits no cluster.
    *keep* is the probability that a mention continues the run before it; 0 makes each mention a run. The runs depend on *seed*, the
    document's seed. Each run keeps the person's known gender.
    """
    clusters: list[Cluster] = []
    owners = list(plan.owners)
    runs: dict[int, int] = {}
    for number, owner in enumerate(plan.owners):
        if owner == NOBODY:
            continue
        source = plan.clusters[owner]
        if not source.size and not source.parts:  # whom the document does not name: there is nothing to split
            return plan
        named = plan.mentions[number].kind == PERSON  # otherwise a value that belongs to the person
        if named and not _goes_on(plan, number) and (owner not in runs or mix(seed, _STEP + number) / _UNIT >= keep):
            runs[owner] = len(clusters)
            clusters.append(Cluster(source.key, source.code, source.size or 2, []))
        at = runs.get(owner)
        if at is None:  # a value that comes before its owner's first mention
            at = runs[owner] = len(clusters)
            clusters.append(Cluster(source.key, source.code if source.size == 1 else OPEN, source.size or 2, []))
        if named:
            clusters[at].places.append(number)
        owners[number] = at
    return DocumentPlan(plan.text, plan.mentions, clusters, owners, plan.values, codes_of(clusters), plan.originals, plan.again)


def _goes_on(plan: DocumentPlan, number: int) -> bool:
    """Whether mention *number* is a further part of the name that the mention before it begins ("[FIRST_NAME] [LAST_NAME]")."""
    if not number or plan.owners[number - 1] != plan.owners[number]:
        return False
    before, mention = plan.mentions[number - 1], plan.mentions[number]
    return bool(before.kind == PERSON == mention.kind and before.form and mention.form and before.form != mention.form) and (
        mention.start - before.end <= _CLOSE
    )
