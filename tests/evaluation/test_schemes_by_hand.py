"""The text of docs/schemes.md under each scheme on offsets: the table there says why."""

from __future__ import annotations

import pytest

from tests.evaluation.scheme_documents import pair, table_of
from tests.longer import case_by_case

TEXT = "Ann Lee, 40, of Ulm met Ann."
GOLD = ("Ann Lee", 0, "name"), ("40", 9, "age"), ("Ulm", 16, "location"), ("Ann", 24, "name")
FOUND = ("Ann", 0, "name"), ("40", 9, "name"), ("Ulm", 16, "location"), ("met", 20, "location")


@case_by_case(
    ("name", "prefix", "counts"),
    [
        ("exact", "", (1, 3, 3)),
        ("partial", "", (1.5, 2.5, 2.5)),
        ("token", "", (2, 2, 3)),
        ("nervaluate", "", (1, 3, 3)),
        ("nervaluate", "exact_", (2, 2, 2)),
        ("nervaluate", "partial_", (2.5, 1.5, 1.5)),
        ("nervaluate", "type_", (2, 2, 2)),
    ],
)
def test_the_text_of_the_docs(name, prefix, counts):
    gold, found = ([(start, start + len(value), kind) for value, start, kind in side] for side in (GOLD, FOUND))
    assert all(TEXT[start : start + len(value)] == value for value, start, _ in GOLD + FOUND)
    figures = table_of(name, [pair(gold, found, TEXT)]).overall()
    tp, fp, fn = counts
    assert [figures[prefix + one] for one in ("tp", "fp", "fn")] == list(counts)
    assert figures[f"{prefix}precision"] == pytest.approx(tp / (tp + fp))
    assert figures[f"{prefix}recall"] == pytest.approx(tp / (tp + fn))
    assert figures[f"{prefix}f1"] == pytest.approx(2 * tp / (2 * tp + fp + fn))
    assert figures[f"{prefix}f5"] == pytest.approx(26 * tp / (26 * tp + 25 * fn + fp))
