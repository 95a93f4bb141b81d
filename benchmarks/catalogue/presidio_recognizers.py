"""Which entries of ours stand for the recognizers of countries that presidio-analyzer has."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from benchmarks.catalogue.samples import MOST, samples
from benchmarks.peers.contestants import Contestant
from benchmarks.peers.harness import driven

_FOLDERS = {"sv_SE": "sweden", "zh_SG": "singapore", "pl_PL": "poland", "hi_IN": "india", "fi_FI": "finland"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Recognizer:
    """A recognizer of a country. ``checked``: it has a check, not only a form.

    ``taken`` are entries of ours of which it takes most drawn values for its own, with the shares; if there are none, that of which it
    takes the most.
    """

    entity: str
    language: str
    checked: bool
    taken: dict[str, float]


@dataclass(frozen=True, slots=True, kw_only=True)
class Known:
    """What Presidio has of a country. ``phone``: its phone recognizer knows the region by default. ``iban``: it knows the form."""

    recognizers: tuple[Recognizer, ...]
    phone: bool
    iban: bool


def known_to_presidio(contestant: Contestant, peers: Path, locales: Iterable[str]) -> dict[str, Known]:
    """What it has, by locale; its recognizers are shown forty values of each entry, in its own environment."""
    countries = {locale: {"folder": _FOLDERS.get(locale), "values": samples(locale)} for locale in locales}
    told = driven(contestant, peers, {"countries": countries})
    found = {}
    for locale, recognizers in told["recognizers"].items():
        listed = tuple(
            Recognizer(
                entity=one["entity"],
                language=one["language"],
                checked=one["checked"],
                taken=_most(one["shares"]),
            )
            for one in recognizers
        )
        found[locale] = Known(recognizers=listed, **told["generic"][locale])
    return found


def _most(shares: dict[str, float]) -> dict[str, float]:
    least = min(MOST, max(shares.values(), default=0.0))
    return {entity: share for entity, share in sorted(shares.items(), key=lambda one: -one[1]) if share >= least}
