"""Seeds: known numbers, and draws that tell nothing of each other."""

from __future__ import annotations

from collections import Counter

import pytest

from piiloom.foundation.seeding import below, keyed_seeds, mix, part_seed, pick, secret_key, seed_of
from piiloom.surrogates.documents import document_seeds

KNOWN = [2231157398017938395, 3320111210015995441, 9988604870027030631]


def test_known_numbers():
    assert [mix(1, 2), mix(2**64 - 1, 0x61), mix(0, 0)] == KNOWN
    assert seed_of("surrogates", 7) == seed_of("surrogates", 7) != seed_of("surrogates", 8)


def _chi_squared(counts, cells, total):
    expected = total / cells
    return sum((counts.get(cell, 0) - expected) ** 2 / expected for cell in range(cells))


@pytest.mark.parametrize(("first", "second"), [(0x61, 0xFA), (1, 2), (0, 1)])
@pytest.mark.parametrize("sizes", [(32, 32), (30, 35), (64, 16)])
def test_draws_under_two_salts_are_independent(first, second, sizes):
    one, two = sizes
    counts = Counter(below(mix(seed, first), one) * two + below(mix(seed, second), two) for seed in (mix(7, n) for n in range(60_000)))
    cells = one * two
    assert abs(_chi_squared(counts, cells, 60_000) - cells) < 6 * (2 * cells) ** 0.5


def test_consecutive_seeds_are_independent():
    counts = Counter(below(mix(mix(3, n), 5), 32) * 32 + below(mix(mix(3, n + 1), 5), 32) for n in range(60_000))
    assert abs(_chi_squared(counts, 1024, 60_000) - 1024) < 6 * (2 * 1024) ** 0.5


def test_a_pick_is_one_of_the_items():
    assert {pick(mix(9, n), "abc") for n in range(60)} == set("abc")


def test_seeds_of_documents_depend_on_key_text_and_ordinal_and_are_the_same_everywhere():
    key = secret_key(7)
    assert document_seeds(key, "a", 0).shift == 9845784153468048945
    assert part_seed(1)[0] == 18350604582584996838
    many = [document_seeds(one, text, ordinal) for one in (key, secret_key(8)) for text in ("a", "b", "1\0a") for ordinal in (0, 1)]
    many.append(document_seeds(secret_key(), "a", 0))
    assert len({seed for seeds in many for seed in seeds}) == 5 * len(many)
    assert keyed_seeds(key, "person", "a", "b") != keyed_seeds(key, "person", "ab", "")
    assert len({*part_seed(1), *part_seed(2), 1, 2}) == 8
