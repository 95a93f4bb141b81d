"""The large index gives the answers of names-dataset, in its order: of the keys too."""

from __future__ import annotations

import gc
import json
import random
from pathlib import Path

import pytest

from piiloom.pii_values.names.building import build_index
from piiloom.pii_values.names.index import NamesIndex, open_names

names_dataset = pytest.importorskip("names_dataset", reason="names-dataset is not installed (pip install -e '.[names]')")
pytestmark = pytest.mark.long
COUNTRIES = ("NL", "US", "FJ", "IN", "CN", "EG", "BR", "KR", "TM", "XX")


@pytest.fixture(scope="module")
def theirs():
    gc.disable()
    try:
        yield names_dataset.NameDataset()
    finally:
        gc.enable()
        gc.collect()


@pytest.fixture(scope="module")
def ours(tmp_path_factory) -> NamesIndex:
    path = tmp_path_factory.mktemp("names") / "names.idx"
    build_index(path)
    return open_names(path)


def _ordered(found) -> str:
    return json.dumps(found, ensure_ascii=False)  # keeps the order of keys, which == would not compare


@pytest.mark.parametrize("n", [1, 10, 1000])
@pytest.mark.parametrize(("first", "gender"), [(True, None), (True, "Male"), (True, "f"), (False, None)])
def test_top_names_of_all_countries(ours, theirs, n, first, gender):
    expected = theirs.get_top_names(n, first, None, gender)
    assert len(expected) == 105
    assert _ordered(ours.top_names(n, first, None, gender)) == _ordered(expected)


@pytest.mark.parametrize("country", COUNTRIES)
def test_top_names_of_one_country(ours, theirs, country):
    for first, gender in ((True, None), (True, "M"), (True, "Female"), (False, None)):
        assert _ordered(ours.top_names(25, first, country, gender)) == _ordered(theirs.get_top_names(25, first, country, gender))


def test_searches(ours, theirs):
    rng = random.Random(7)
    names = rng.sample(sorted(theirs.first_names), 5000) + rng.sample(sorted(theirs.last_names), 5000)
    names += ["walter", " ZOË ", "de boer", "o'brien", "Xqzzt", "", "Ümi̇t", " Cruz", "محمد", "王"]
    for name in names:
        assert _ordered(ours.search(name)) == _ordered(theirs.search(name)), name


def test_the_recorded_sample_is_what_names_dataset_says(theirs):
    recorded = json.loads((Path(__file__).parent / "recorded_answers.json").read_text("utf-8"))
    for case in recorded["top"]:
        assert _ordered(theirs.get_top_names(**case["asked"])) == _ordered(case["answer"])
    for name, answer in recorded["search"].items():
        assert _ordered(theirs.search(name)) == _ordered(answer)
