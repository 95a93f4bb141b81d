"""Make the engine of a process, from settings that can be pickled."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from piiloom.surrogates.engine import Engine
from piiloom.surrogates.engine_report import EngineStatistics, known_given_names
from piiloom.surrogates.placeholders.finder import Finder, KeptScans
from piiloom.surrogates.placeholders.mapping import Mapping
from piiloom.surrogates.settings import OnUnknown, Settings


@dataclass(frozen=True, slots=True, kw_only=True)
class EngineFactory:
    """Picklable factory of a process's ``Engine``. Without ``mapping`` the documents must bring mentions.

    ``scan``: scan the texts with surrogates for leftovers. ``miss_rates``: rates (0 to 1) for which the report estimates leakage.
    ``scans`` is what the survey of the documents scanned in this process.
    ``given`` is the path of a file of values that a model drew (``by_model.drawing``); every worker must be able to read it.
    """

    settings: Settings
    mapping: Mapping | None = None
    on_unknown: OnUnknown = "keep"
    scan: bool = True
    miss_rates: tuple[float, ...] = ()
    given: Path | None = None
    scans: KeptScans | None = None

    def __call__(self) -> Engine:
        """Open the names index, compile the mapping, and return the engine."""
        from piiloom.pii_values.names.index import open_names  # noqa: PLC0415 - heavy; needed by who works only
        from piiloom.pii_values.names.pools import pools_of  # noqa: PLC0415

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
