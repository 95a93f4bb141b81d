"""Estimates of leaks that a reader can tell: documents that leak recognisably, and names that the known name pools give away.

Hidden in plain sight means that a missed name looks like one more surrogate. Whether a reader can tell depends on how surrogates repeat
(Osborne et al. 2022, BRATsynthetic: 94.2% of documents leak at 5% misses with consistent replacement, 57.7% with their Markov chain;
27.1% and 0.1% at 0.1% misses). Our assumptions:

* each mention is missed with the same probability, independently of the others;
* the reader knows the strategy, and can tell from the text which mentions are of the same person;
* **consistent**: each person has one surrogate, so a single missed mention is a second name: any miss is a leak, also of a person who is
  mentioned only once, as in the paper;
* **per-mention**: surrogates never repeat, so a name that occurs twice is no surrogate: two misses of one person are a leak;
* **markov**: surrogates repeat only in runs. Misses of one person are a leak if they do not form one run of mentions (a surrogate
  never comes back), or if the run is longer than at least 95% of the chain's runs.

An attacker who knows the name pools has two scores. *Membership*: a name that is not in the pool is no surrogate. *Frequency*: names are
drawn uniformly from the pool, so common names are rarer among surrogates than among real people; the score is the log ratio of both
frequencies. Results are areas under the ROC curve (AUC; 0.5: no better than chance, 1: always right), and the share of leftovers (missed
originals) that are not in the pool.

Two people of the same group or of two groups have the same name with the probability Σ P(name | group) · P(name | other group), summed
over all full names. *n* people make n · (n − 1) / 2 pairs: the birthday problem with unequal probabilities.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from datetime import date
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from piiloom.foundation.seeding import below, mix, pick
from piiloom.pii_values.names.index import NamesIndex
from piiloom.pii_values.names.pools import NamePools
from piiloom.surrogates.persona_assignment.groups import GROUPS
from piiloom.surrogates.persona_assignment.personas import PersonaDrawer

STRATEGIES: Final = ("consistent", "per-mention", "markov")
_UNUSUAL: Final = 0.05  # the share of a chain's runs that count as unusually long
_EXPONENT: Final = 0.8  # of the frequencies of names by rank, which are close to Zipf's law; our estimate
_PEOPLE: Final = 2000
_LEFTOVER, _SURROGATE, _PERSON = 0x1EF7, 0x5066, 0xC0
Matrix = NDArray[np.float64]


def leaking_shares(documents: Sequence[Sequence[int]], miss_rate: float, *, keep: float = 0.5) -> dict[str, float]:
    """Return the expected shares of documents with any missed mention ("any_miss"), and that leak recognisably, by strategy.

    A document is the list of its people's numbers of mentions. Exact under the assumptions of the module, without simulation.
    """
    sizes = {size for document in documents for size in document}
    table = {size: np.log(np.maximum(_safe(size, miss_rate, keep), 1e-300)) for size in sizes}
    total: Matrix = np.zeros(4)
    for document in documents:
        total += 1 - np.exp(sum((table[size] for size in document), np.zeros(4)))
    return dict(zip(("any_miss", *STRATEGIES), (total / max(1, len(documents))).tolist(), strict=True))


def _safe(mentions: int, rate: float, keep: float) -> Matrix:
    """Return the probability that a person with so many *mentions* does not leak, by any miss and by each strategy."""
    none = (1 - rate) ** mentions
    one = mentions * rate * (1 - rate) ** (mentions - 1) if mentions else 0.0
    # One run of k misses: it can begin at (mentions - k + 1) positions, and all other mentions are found.
    usual = min(mentions, longest_usual_run(keep))
    runs = sum((mentions - k + 1) * rate**k * (1 - rate) ** (mentions - k) for k in range(2, usual + 1))
    safe: Matrix = np.minimum(np.array([none, none, none + one, none + one + runs]), 1.0)
    return safe


def longest_usual_run(keep: float) -> int:
    """Return the shortest length that at most one run in twenty exceeds. Run lengths are geometric: P(length > n) = *keep* ** n."""
    if keep <= 0:
        return 1
    return max(1, math.ceil(math.log(_UNUSUAL) / math.log(keep))) if keep < 1 else 1 << 30


def family_attack(
    pools: NamePools, ranked: NamesIndex, country: str, seed: int, originals: Sequence[str] = (), *, own_country: bool = False
) -> dict[str, float | int]:
    """Attack family names: they occur alone most often, and then no given name hints at their language.

    *originals* are known leftovers. Without them, 2,000 are drawn from the country's family names by rank. Surrogates are drawn as the
    engine does: evenly from the ten groups, and uniformly from the pools of their countries. ``own_country``: surrogates are names of
    *country* (``--groups cue``), not of the ten groups.
    """
    real = _zipf(ranked.last_names(country))
    leftovers = list(originals) or [_drawn(real, mix(seed, _LEFTOVER + number)) for number in range(_PEOPLE)]
    surrogates, shares = _evenly(pools, seed, country if own_country else None)
    frequency = {name: count / len(originals) for name, count in Counter(originals).items()} if originals else real
    return pool_attack(leftovers, surrogates, shares.keys(), lambda name: frequency.get(name, 0.0), lambda name: shares.get(name, 0.0))


def pool_attack(
    leftovers: Sequence[str],
    surrogates: Sequence[str],
    pool: Collection[str],
    real_frequency: Callable[[str], float],
    pool_frequency: Callable[[str], float],
) -> dict[str, float | int]:
    """Score each name and measure how well the scores separate *leftovers* from *surrogates*.

    The two functions return a name's share among real people and among surrogates (0 if it does not occur).
    """

    def score(name: str) -> float:
        if name not in pool:
            return math.inf
        return math.log(max(real_frequency(name), 1e-12)) - math.log(max(pool_frequency(name), 1e-12))

    outside = [name not in pool for name in leftovers]
    return {
        "leftovers": len(leftovers),
        "surrogates": len(surrogates),
        "given_away": round(sum(outside) / len(outside), 4),
        "membership_auc": round(auc(outside, [name not in pool for name in surrogates]), 4),
        "frequency_auc": round(auc(list(map(score, leftovers)), list(map(score, surrogates))), 4),
    }


def auc(positive: Sequence[float], negative: Sequence[float]) -> float:
    """Return the probability that a positive scores higher than a negative, ties counting half (Mann–Whitney U / n·m)."""
    ordered = np.sort(np.asarray(negative, dtype=float))
    lower, upto = (np.searchsorted(ordered, np.asarray(positive, dtype=float), side) for side in ("left", "right"))
    return float(np.sum(lower + upto)) / 2 / (len(positive) * len(negative))


def _zipf(names: Sequence[str]) -> dict[str, float]:
    weights = [(rank + 1) ** -_EXPONENT for rank in range(len(names))]
    whole = sum(weights)
    return {name: weight / whole for name, weight in zip(names, weights, strict=True)}


def _drawn(shares: dict[str, float], seed: int) -> str:
    point = below(seed, 1 << 32) / (1 << 32)
    for name, share in shares.items():
        point -= share
        if point < 0:
            return name
    return next(reversed(shares))


def _evenly(pools: NamePools, seed: int, only: str | None) -> tuple[list[str], dict[str, float]]:
    """Draw family names of surrogates. Return them, and the probability of each possible name; if given, *only* is their country."""
    shares: Counter[str] = Counter()
    for gender, region in GROUPS:
        countries = (only,) if only else pools.countries(region)
        for code in countries:
            names = pools.family(code, gender)
            for name in names:
                shares[name] += 1 / (len(GROUPS) * len(countries) * len(names))  # type: ignore[assignment]  # counters add up floats
    drawn = []
    for number in range(_PEOPLE):
        one = mix(seed, _SURROGATE + number)
        gender, region = GROUPS[number % len(GROUPS)]
        drawn.append(pick(mix(one, 1), pools.family(only or pick(one, pools.countries(region)), gender)))
    return drawn, dict(shares)


def collision_report(pools: NamePools, people: int, seed: int) -> dict[str, Any]:
    """Compare expected with observed pairs of people with the same name, among *people* drawn with *seed* in equal groups.

    Also gives the number of possible full names per group, and the probability of any such pair (a Poisson approximation).
    """
    sizes = [len(range(group, people, len(GROUPS))) for group in range(len(GROUPS))]
    expected = expected_pairs(sizes, agreement_of(pools))
    drawer = PersonaDrawer(pools, "")
    drawn = (drawer.draw(mix(seed, _PERSON + one), one % len(GROUPS), date.min, "", {}) for one in range(people))
    names = Counter(f"{person.given} {person.family}" for person in drawn)
    possible = {}
    for gender, region in GROUPS:
        countries = dict.fromkeys(pools.countries(region))
        possible[f"{gender} {region}"] = sum(len(pools.given(code, gender)) * len(pools.family(code, gender)) for code in countries)
    return {
        "full_names_by_group": possible,
        "expected_pairs_with_one_name": round(expected, 3),
        "observed_pairs_with_one_name": observed_pairs(names),
        "chance_of_any_such_pair": round(-math.expm1(-expected), 4),
    }


def expected_pairs(sizes: Sequence[int], agreement: Matrix) -> float:
    """Return the expected number of pairs of people with the same full name, for groups of *sizes* (one per group).

    ``agreement[g, h]`` is the probability that a person of group g and one of group h have the same name.
    """
    people = np.asarray(sizes, dtype=np.float64)
    return float(people @ agreement @ people - people @ np.diag(agreement)) / 2


def observed_pairs(counts: Mapping[str, int]) -> int:
    """Return the number of pairs of people with the same name, from the number of people per name."""
    return sum(math.comb(count, 2) for count in counts.values())


def agreement_of(pools: NamePools) -> Matrix:
    """Return, for each pair of groups, the probability that a person of each have the same full name; shape (10, 10)."""
    entries = [
        (group, number / len(countries), pools.given(country, gender), pools.family(country, gender))
        for group, (gender, region) in enumerate(GROUPS)
        for countries in [pools.countries(region)]
        for country, number in Counter(countries).items()
    ]
    given, family = _overlaps([one[2] for one in entries]), _overlaps([one[3] for one in entries])
    full = np.diag(given) * np.diag(family)
    members = np.zeros((len(GROUPS), len(entries)))
    members[[one[0] for one in entries], range(len(entries))] = np.asarray([one[1] for one in entries]) / full
    agreement: Matrix = members @ (given * family) @ members.T
    return agreement


def _overlaps(pools: Sequence[Sequence[str]]) -> Matrix:
    """Return the number of names that each two of *pools* share; on the diagonal the size of each. Shape (pools, pools)."""
    places: dict[str, list[int]] = {}
    for number, names in enumerate(pools):
        for name in names:
            places.setdefault(name, []).append(number)
    found = np.zeros((len(pools), len(pools)))
    for together, count in Counter(map(tuple, places.values())).items():
        found[np.ix_(together, together)] += count
    return found
