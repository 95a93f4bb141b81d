"""How many items to plan: as many as are likely to do, then more in the place of those that were rejected."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from piiloom.generation.settings.configuration import RunConfig

# A run gives up after planning this many times the initial number of items; by then something is wrong.
PLANNED_AT_MOST = 4
_SPARE = 20
_LEAST_MORE = 20


def planned_for(samples: int, margin: float) -> int:
    """Return how many items to plan so that *samples* of them are likely to be accepted (*margin*: expected share of rejects)."""
    return samples + int(samples * margin) + _SPARE


def horizons(config: RunConfig, missing: Callable[[], int]) -> Iterator[tuple[int, int]]:
    """Yield the ranges of plan indexes (first, end) to work on, one after the other, while ``missing()`` items are still wanted.

    Ends when ``PLANNED_AT_MOST`` times the initial number is planned.
    """
    first, end = 0, planned_for(config.samples, config.margin)
    limit = PLANNED_AT_MOST * end
    while missing() > 0 and first < limit:
        yield first, end
        first, end = end, min(limit, end + max(_LEAST_MORE, 2 * missing()))
