"""A package that looks like names-dataset, with made-up entries, and its documented answers worked out the slow way."""

from __future__ import annotations

import gzip
import pickle
from pathlib import Path

# Sorted by name, as the package has them. Ties in rank, names without a gender, equal shares, a country without ranks.
FIRST = {
    "Ada": {"country": {"FR": 0.25, "NL": 0.75}, "gender": {"F": 0.9, "M": 0.1}, "rank": {"FR": 7, "NL": 2}},
    "Anne Fleur": {"country": {"NL": 1.0}, "gender": {"F": 1.0}, "rank": {"NL": 2}},
    "Bo": {"country": {"NL": 0.6, "SE": 0.4}, "gender": {"F": 0.5, "M": 0.5}, "rank": {"NL": 1, "SE": 4}},
    "Cem": {"country": {"NL": 0.02, "TR": 0.98}, "gender": {"M": 1.0}, "rank": {"TR": 1}},
    "Dag": {"country": {"SE": 1.0}, "gender": {}, "rank": {"SE": 3}},
    "Emi̇r": {"country": {"TR": 1.0}, "gender": {"M": 1.0}, "rank": {"TR": 2}},
    "Noor": {"country": {"FR": 0.1, "NL": 0.9}, "gender": {"F": 0.7, "M": 0.3}, "rank": {}},
    "Zoë": {"country": {"FR": 0.5, "NL": 0.5}, "gender": {"F": 1.0}, "rank": {"FR": 1, "NL": 2}},
    "王": {"country": {"SE": 1.0}, "gender": {"F": 0.2, "M": 0.8}, "rank": {"SE": 3}},
}
LAST = {
    "De Boer": {"country": {"FR": 0.033, "NL": 0.967}, "gender": {}, "rank": {"NL": 1}},
    "Roux": {"country": {"FR": 1.0}, "gender": {}, "rank": {"FR": 3}},
    "Vos": {"country": {"NL": 1.0}, "gender": {}, "rank": {"NL": 1}},
    "Yılmaz": {"country": {"TR": 1.0}, "gender": {}, "rank": {"TR": 1}},
}


def install(folder: Path, first: object = FIRST, last: object = LAST) -> None:
    """Put the package into *folder*, with metadata."""
    package = folder / "names_dataset"
    (package / "v3").mkdir(parents=True)
    (package / "__init__.py").write_text("")
    for name, data in (("first", first), ("last", last)):
        (package / "v3" / f"{name}_names.pkl.gz").write_bytes(gzip.compress(pickle.dumps(data)))
    metadata = folder / "names_dataset-0.0.1.dist-info"
    metadata.mkdir()
    (metadata / "METADATA").write_text("Metadata-Version: 2.1\nName: names-dataset\nVersion: 0.0.1\n")
    (folder / "pycountry.py").write_text(
        "class _C:\n    def __init__(self, a, n):\n        self.alpha_2, self.name = a, n\n"
        "import string\ncountries = [_C(a + b, 'Land ' + a + b) for a in string.ascii_uppercase for b in string.ascii_uppercase]\n"
    )


def expected_top(names: dict, n: int, country: str | None, gender: str | None, *, first: bool) -> dict:
    """What the package's documentation says of ``get_top_names``: by rank, ties in table order, N/A left out of first names."""
    found: dict = {}
    for name, entry in names.items():
        of = "N/A" if not entry["gender"] else max(sorted(entry["gender"]), key=entry["gender"].get)
        if gender in {None, of}:
            for code, rank in entry["rank"].items():
                if country in {None, code}:
                    found.setdefault(code, {}).setdefault(of, []).append((rank, name))
    for lists in found.values():
        for of, ranked in lists.items():
            lists[of] = [name for _, name in sorted(ranked, key=lambda pair: pair[0])][:n]
    if not first:
        return {code: lists["N/A"] for code, lists in found.items()}
    for lists in found.values():
        lists.pop("N/A", None)
    return found
