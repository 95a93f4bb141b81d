"""A worker's engine: the ``Work`` that looks at documents, fills them, scans the results for leftovers, and counts for the report."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from piiloom.surrogates.casting.cast import Pools
from piiloom.surrogates.casting.groups import GENDERS
from piiloom.surrogates.documents import Document, Filled
from piiloom.surrogates.engine import Engine, group_report
from piiloom.surrogates.given_values import GivenValues
from piiloom.surrogates.leakage.recognising import STRATEGIES, leakage
from piiloom.surrogates.leakage.residual import residuals
from piiloom.surrogates.mentions import Gender
from piiloom.surrogates.originals import folded
from piiloom.surrogates.placeholders.finder import Finder
from piiloom.surrogates.placeholders.mapping import Mapping
from piiloom.surrogates.planning import Plan
from piiloom.surrogates.settings import OnUnknown, Settings

_ENOUGH: Final = 400  # most entries in one list of the report
_MOST_NAMES: Final = 4000  # first names per country and gender that the residual scan knows


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkFactory:
    """Picklable factory of a worker's ``SurrogateWork``. Without ``mapping`` the documents must bring mentions.

    ``scan``: scan the filled texts for leftovers. ``miss_rates``: rates (0 to 1) for which the report estimates leakage. ``given`` is
    the path of a file of values that a model drew (``by_model.drawing``); every worker must be able to read it.
    """

    settings: Settings
    mapping: Mapping | None = None
    on_unknown: OnUnknown = "keep"
    scan: bool = True
    miss_rates: tuple[float, ...] = ()
    given: Path | None = None

    def __call__(self) -> SurrogateWork:
        """Open the names index, compile the mapping, and return the work."""
        return SurrogateWork(self)


class SurrogateWork:
    """The ``Work`` of a run: the engine with its finder, names and residual scan."""

    def __init__(self, made: WorkFactory) -> None:
        from piiloom.pii_values.names.index import open_names  # noqa: PLC0415 - heavy; needed by who works only
        from piiloom.pii_values.names.pools import pools_of  # noqa: PLC0415

        settings = made.settings
        index = open_names(Path(settings.names) if settings.names else None)
        self._made = made
        self._genders: dict[str, Gender] | None = None
        pools = pools_of(index, script=settings.script, english_only=settings.english_only)
        finder = Finder(made.mapping, on_unknown=made.on_unknown) if made.mapping is not None else None
        self._known = _given_names(pools, settings.country) if made.scan or made.mapping is None else {}
        self._given = GivenValues(made.given) if made.given is not None else None
        given = self._given.of if self._given is not None else None
        self.engine = Engine(settings, pools, finder, genders=self._known, given=given)
        self._groups: dict[str, object] = {}
        self._names_from = index.source

    def look(self, documents: Sequence[Document]) -> bytes:
        """Pass 1: return the people that a chunk needs (see ``Engine.look``)."""
        return self.engine.look(documents)

    def gather(self, looks: Iterable[bytes]) -> bytes:
        """Between the passes: assign the groups of the whole corpus."""
        gathered = self.engine.gather(looks)
        self._groups = group_report(gathered, own_names=self._made.settings.own_names)
        return gathered

    def open(self, gathered: Path) -> None:
        """Before pass 2: load the file that holds the result of ``gather``."""
        self.engine.open(gathered)

    def fill(self, documents: Sequence[Document], first_look: int) -> list[Filled]:
        """Pass 2: fill a chunk, and add its counts to each document's ``tallies``."""
        filled = self.engine.fill(documents, first_look)
        for plan, done in zip(self.engine.plans, filled, strict=True):
            self._count(plan, done)
        return filled

    def report(self, tallies: Counter[str]) -> dict[str, object]:
        """Return the engine's part of the report, from the summed *tallies* of all documents."""
        documents = max(1, tallies["documents filled"])
        report: dict[str, object] = {
            "strategy": self._made.settings.strategy,
            "scope": self._made.settings.scope,
            "names": self._names_from,
            "people": self._groups,
            "consistency": {
                "people_in_documents": tallies["people"],
                "mentions_of_people": tallies["mentions"],
                "people_named_more_than_once": tallies["repeated"],
                "people_torn_or_mixed": tallies["torn"],
            },
        }
        if self._given is not None:
            report["by_model"] = self._given.report
        if self._made.scan:
            report["looks_like_personal_information_still"] = _named(tallies, "residual")
        if self._made.miss_rates:
            report["leakage"] = [
                {"miss_rate": rate, **{name: round(tallies[f"leak {rate} {name}"] / documents, 4) for name in STRATEGIES}}
                for rate in self._made.miss_rates
            ]
        return report

    def _count(self, plan: Plan, done: Filled) -> None:
        tallies: Counter[str] = Counter()
        tallies["documents filled"] += 1
        sizes = [len(cluster.places) for cluster in plan.clusters]
        tallies["people"] += len(sizes)
        tallies["mentions"] += sum(sizes)
        tallies["repeated"] += sum(size > 1 for size in sizes)
        tallies["torn"] += _torn(plan, done)
        if self._made.scan:
            for one in residuals(done.text, done.placed, given_names=self._known, region=self._made.settings.country):
                tallies[f"residual {one.why}"] += 1
        for rate in self._made.miss_rates:
            found = leakage([sizes], rate, keep=self._made.settings.keep)
            for name, share in zip(STRATEGIES, (found.consistent, found.per_mention, found.markov), strict=True):
                tallies[f"leak {rate} {name}"] += share  # type: ignore[assignment]  # counters add up floats as well
        done.tallies.update(tallies)


def _torn(plan: Plan, done: Filled) -> int:
    """Count people whose mentions have several value ids, or a value id that others have, too. Anything but 0 is a fault in the engine."""
    names = [{done.placed[number].value_id for number in cluster.places} for cluster in plan.clusters]
    seen = Counter(value_id for ids in names for value_id in ids)
    return sum(len(ids) != 1 or any(seen[value_id] > 1 for value_id in ids) for ids in names)


def _named(tallies: Counter[str], kind: str) -> dict[str, int]:
    """Return the tallies whose key begins with *kind*, by the rest of the key, most frequent first."""
    found = {key[len(kind) + 1 :]: count for key, count in tallies.items() if key.startswith(f"{kind} ")}
    return dict(sorted(found.items(), key=lambda item: (-item[1], item[0]))[:_ENOUGH])


def _given_names(pools: Pools, country: str) -> dict[str, Gender]:
    """Return the genders of folded given names of *country*, the US and Great Britain, for the scan and for known original names."""
    return {
        folded(name): gender
        for place in reversed(dict.fromkeys((country, "US", "GB")))  # the last entry of a name wins: the own country's
        for gender in reversed(GENDERS)
        for name in reversed(pools.given(place, gender)[:_MOST_NAMES])
    }
