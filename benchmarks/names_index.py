"""The names index against names-dataset, in one run; and how well names are classified with it.

    pip install -e '.[names]' && piiloom names build
    python benchmarks/names_index.py [--index FILE]
    python benchmarks/names_index.py --classify [--index FILE]     accuracy on names that Faker makes for 15 locales

Each contestant runs in a process of its own: time to load (imports included), peak memory then and at the end, 1,000 calls for the
top ten names of a country and gender, 10,000 searches. names-dataset scans its whole table at each call for top names, so it is
given 20 of them and the time is multiplied.
"""

from __future__ import annotations

import argparse
import json
import random
import resource
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

CALLS, SEARCHES, SLOW_CALLS = 1_000, 10_000, 20
COUNTRIES = ("US", "NL", "IN", "EG", "BR", "KR", "NG", "DE", "JP", "ZA", "FR", "MX", "SA", "PH", "RU", "TR", "IT", "GB", "PL", "ID")
PER_LOCALE = 400
# Faker locale, region of its people
LOCALES = {
    "en_US": "Americas",
    "es_MX": "Americas",
    "pt_BR": "Americas",
    "en_GB": "Europe",
    "de_DE": "Europe",
    "fr_FR": "Europe",
    "it_IT": "Europe",
    "nl_NL": "Europe",
    "pl_PL": "Europe",
    "sv_SE": "Europe",
    "tr_TR": "Asia",
    "en_IN": "Asia",
    "id_ID": "Asia",
    "en_KE": "Africa",
    "yo_NG": "Africa",
}


def main() -> None:
    """Run the contestants in child processes and print a line of JSON each, then the ratios."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--index", type=Path, help="the large index (default: the one that piiloom names build made)")
    parser.add_argument("--classify", action="store_true", help="accuracy of names classify instead")
    parser.add_argument("--child", choices=("ours", "builtin", "theirs"), help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.classify:
        accuracy(given.index)
    elif given.child:
        print(json.dumps(CHILDREN[given.child](given.index)))
    else:
        compare(given.index)


def compare(index: Path | None) -> None:
    """One run of all, and how ours relates to names-dataset."""
    found: dict[str, dict[str, Any]] = {}
    for name in CHILDREN:
        command = [sys.executable, __file__, "--child", name, *(["--index", str(index)] if index else [])]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode:
            raise SystemExit(f"error: {name} cannot be measured: {done.stderr.splitlines()[-1].partition(': ')[2]}")
        found[name] = {"who": name, **json.loads(done.stdout.splitlines()[-1])}
        print(json.dumps(found[name]))
    ours, theirs = found["ours"], found["theirs"]
    ratios = {key: round(theirs[key] / ours[key], 1) for key in ("load_s", "load_mb", "peak_mb", "top_names_s", "searches_s")}
    print(json.dumps({"who": "names-dataset / ours", **ratios}))


def peak_mb() -> float:
    return round(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024, 1)


def measured(loaded: Any, top: Any, load_s: float, load_mb: float, calls: int) -> dict[str, Any]:
    """Time the calls; *top* takes a country and a gender."""
    rng = random.Random(5)
    started = time.perf_counter()
    for turn in range(calls):
        top(COUNTRIES[turn % len(COUNTRIES)], ("M", "F")[turn % 2])
    top_s = (time.perf_counter() - started) * CALLS / calls
    names = [name for country in COUNTRIES[:4] for of in ("M", "F") for name in loaded.get(country, of)]
    wanted = [rng.choice(names) if rng.random() < 0.8 else f"Xq{rng.randrange(10**6)}" for _ in range(SEARCHES)]
    started = time.perf_counter()
    for name in wanted:
        loaded.search(name)
    searches_s = time.perf_counter() - started
    return {
        "load_s": round(load_s, 4),
        "load_mb": load_mb,
        "peak_mb": peak_mb(),
        "top_names_s": round(top_s, 3),
        "searches_s": round(searches_s, 3),
    }


class Ours:
    """Our index behind the two calls that are timed."""

    def __init__(self, index: Any) -> None:
        self.index = index
        self.search = index.search

    def get(self, country: str, gender: str) -> list[str]:
        """Give the first names of a country and gender."""
        return self.index.top_names(1000, True, country, gender)[country][gender]


class BuiltIn(Ours):
    """The index that ships with piiloom: it has its first names as a list of their own."""

    def get(self, country: str, gender: str) -> list[str]:
        """Give the first names of a country and gender."""
        return list(self.index.first_names(country, gender))


def ours(index: Path | None) -> dict[str, Any]:
    started = time.perf_counter()
    from piiloom.pii_values.names.index import open_names

    opened = open_names(index)
    load_s = time.perf_counter() - started
    load_mb = peak_mb()
    assert opened.source.startswith("names-dataset"), "build the large index first: piiloom names build"
    return measured(Ours(opened), lambda country, gender: opened.top_names(10, True, country, gender), load_s, load_mb, CALLS)


def builtin_one(_: Path | None) -> dict[str, Any]:
    started = time.perf_counter()
    from piiloom.pii_values.names.index import builtin

    opened = builtin()
    load_s = time.perf_counter() - started
    load_mb = peak_mb()
    return measured(BuiltIn(opened), lambda country, gender: opened.top_names(10, True, country, gender), load_s, load_mb, CALLS)


class Theirs:
    """names-dataset behind the two calls that are timed."""

    def __init__(self, dataset: Any) -> None:
        self.dataset = dataset
        self.search = dataset.search
        self._top = dataset.get_top_names(1000, True)

    def get(self, country: str, gender: str) -> list[str]:
        """Give the first names of a country and gender."""
        return self._top[country][gender]


def theirs(_: Path | None) -> dict[str, Any]:
    started = time.perf_counter()
    from names_dataset import NameDataset

    dataset = NameDataset()
    load_s = time.perf_counter() - started
    load_mb = peak_mb()
    return measured(Theirs(dataset), lambda country, gender: dataset.get_top_names(10, True, country, gender), load_s, load_mb, SLOW_CALLS)


CHILDREN = {"ours": ours, "builtin": builtin_one, "theirs": theirs}


def accuracy(index: Path | None) -> None:
    """Gender and region of 400 names of each locale, half of them of women, by the large and the built-in index."""
    from piiloom.pii_values.names.classifying import Classifier
    from piiloom.pii_values.names.index import builtin, open_names

    rows: dict[str, list[float]] = {}
    for label, opened in (("large", open_names(index)), ("built-in", builtin())):
        classifier = Classifier(opened)
        for locale, region in LOCALES.items():
            right_gender = right_region = unknown = 0
            for name, gender in faker_names(locale):
                facts = classifier.classify(name)
                right_gender += facts.gender == gender
                right_region += facts.region == region
                unknown += facts.known == "none"
            rows.setdefault(locale, []).extend(round(100 * n / PER_LOCALE, 1) for n in (right_gender, right_region, unknown))
        print(f"{label}: {opened.source}")
    print("locale, then % of genders right, of regions right, of names unknown: large index, built-in index")
    for locale, row in rows.items():
        print(f"{locale:6} {LOCALES[locale]:9}" + "".join(f"{value:7.1f}" for value in row))
    print(f"{'mean':16}" + "".join(f"{sum(column) / len(rows):7.1f}" for column in zip(*rows.values(), strict=True)))


def faker_names(locale: str) -> list[tuple[str, str]]:
    """Names of women and men by turns, and which."""
    from faker import Faker

    faker = Faker(locale)
    faker.seed_instance(17)
    found = []
    for turn in range(PER_LOCALE):
        gender = ("female", "male")[turn % 2]
        found.append((f"{getattr(faker, f'first_name_{gender}')()} {getattr(faker, f'last_name_{gender}')()}", gender))
    return found


if __name__ == "__main__":
    main()
