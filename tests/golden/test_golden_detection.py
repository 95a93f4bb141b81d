"""Goldens of detection and evaluation: rows for texts of 13 locales, and the figures of every scheme to 4 decimals."""

from __future__ import annotations

import json
from collections import defaultdict

import pytest

from piiloom.evaluation.schemes.registry import SCHEMES
from tests.golden.goldens import DATA, as_text, check, piiloom

pytestmark = pytest.mark.golden


@pytest.mark.parametrize("detector", ["patterns", "hybrid-offline"])
def test_rows_of_thirteen_locales(detector, tmp_path):
    """The texts are of our own benchmark: their values are invented, with valid check digits."""
    piiloom(tmp_path, "detect", DATA / "detection.jsonl", "--detector", detector, "--out", "found.jsonl")
    by_locale: dict[str, bytes] = defaultdict(bytes)
    for line in (tmp_path / "found.jsonl").read_bytes().splitlines(keepends=True):
        by_locale[json.loads(line)["locale"]] += line
    assert len(by_locale) == 13
    check(f"detect-{detector}", by_locale)


def test_figures_of_every_scheme(tmp_path):
    words = (
        "evaluate",
        DATA / "gold.jsonl",
        DATA / "predicted.jsonl",
        "--scheme",
        ",".join(SCHEMES),
        "--beta",
        2,
        "--resamples",
        200,
        "--json",
    )
    told = json.loads(piiloom(tmp_path, *words).replace(f"{DATA}/", ""))
    figures = {name: as_text(told["schemes"].pop(name)) for name in SCHEMES}
    check("evaluate", {"all": as_text(told), **figures})
