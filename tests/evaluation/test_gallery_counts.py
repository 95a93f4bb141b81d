"""Counts of errors, the documents that are kept to show, and the files beside the page."""

from __future__ import annotations

import csv
import json
from collections import Counter
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from piiloom.evaluation.bias import BiasCollector
from piiloom.evaluation.gallery.counts import (
    CLASSES,
    DIMENSIONS,
    KINDS,
    OTHERS,
    ErrorCounts,
    aligned_rows,
    bin_label,
    charts,
    matrix,
    rows_in_classes,
    write_confusion,
)
from piiloom.evaluation.gallery.page import LONGEST, GalleryCollector
from piiloom.evaluation.inputs.documents import AnnotatedMention, Pair
from piiloom.foundation.whole_files import drafted
from tests.evaluation.gallery_pairs import hostile_pairs, mention, pair_of, some_pairs
from tests.longer import case_by_case, few

TEXT = "Ann Lee of Leeds met Bob Ray."


def collected(pairs: list[Pair], limit: int = 300) -> GalleryCollector:
    collector = GalleryCollector(limit=limit)
    for pair in pairs:
        collector.add(pair)
    return collector


def test_each_gold_mention_counts_once_and_what_is_spurious_besides():
    gold = [
        mention(TEXT, 0, 3, subject="self"),
        mention(TEXT, 4, 7, subject="self"),
        mention(TEXT, 11, 16, "place"),
        mention(TEXT, 21, 28, "name", subject="friend"),
    ]
    found = [mention(TEXT, 0, 7), mention(TEXT, 11, 16), mention(TEXT, 17, 20, "verb"), AnnotatedMention(text="Bath", entity_type="place")]
    counts = ErrorCounts()
    pair = pair_of(TEXT, gold, found, locale="en_GB")
    counts.add(pair, aligned_rows(pair))
    counts.add(pair_of("", [], [], name="d2"), [])
    # "Ann" and "Lee" are merged, Leeds has the type name, Bob Ray is missed, "met" is spurious, Bath is nowhere.
    assert counts.kinds == {"merged": 2, "wrong type": 1, "missed": 1, "spurious": 1, "not in the text": 1}
    assert (counts.documents, counts.with_errors, counts.gold, counts.found) == (2, 1, 4, 4)
    assert counts.confusion == {("name", "name"): 2, ("place", "name"): 1, ("name", None): 1, (None, "verb"): 1, (None, "place"): 1}
    assert counts.by["words"] == {
        ("1", "merged"): 2,
        ("1", "wrong type"): 1,
        ("2", "missed"): 1,
        ("1", "spurious"): 1,
        ("1", "not in the text"): 1,
    }
    # Of 29 code points, 0 and 4 are in the first two tenths, 11 in the fourth (110 // 29 = 3), 17 in the sixth, 21 in the eighth.
    tenths = {label: number for (label, _), number in counts.by["position"].items()}
    assert tenths == {"1": 1, "2": 1, "4": 1, "6": 1, "8": 1, "no place": 1}
    assert counts.by["subject"]["friend", "missed"] == 1
    assert counts.by["subject"]["not stated", "spurious"] == 1
    assert counts.labels("locale") == ["en_GB"]


@case_by_case(("number", "label"), [(0, "1"), (1, "1"), (4, "4"), (5, "5–7"), (7, "5–7"), (8, "8+"), (99, "8+")])
def test_bins(number, label):
    assert bin_label(number, (1, 2, 3, 4, 5, 8)) == label


def test_all_breakdowns_have_all_mentions():
    counts = collected([*some_pairs(), *hostile_pairs()]).counts
    total = counts.kinds.total()
    assert total == counts.gold + counts.kinds["spurious"] + counts.kinds["not in the text"]
    assert sorted(kind for kinds in CLASSES.values() for kind in kinds) == sorted(KINDS)
    for dimension in DIMENSIONS:
        assert counts.by[dimension].total() == total
        assert sum(sum(numbers) for _, numbers in rows_in_classes(counts, dimension, most=2)) == total
    for most in (2, 5, 500):
        held = matrix(counts, most)
        assert sum(cell.number for _, cells in held.rows for cell in cells) == total
        assert len(held.rows) == len(held.columns) <= most + 1
    assert OTHERS in matrix(counts, 2).columns
    assert {chart.name for chart in charts(counts)} == set(DIMENSIONS)


@few
@given(st.permutations(range(20)), st.integers(0, 12))
def test_what_is_kept_does_not_depend_on_the_order_of_documents(order, limit):
    pairs = some_pairs(20)
    one, other = collected(pairs, limit), collected([pairs[at] for at in order], limit)
    assert one.shown() == other.shown()
    assert one.counts.by == other.counts.by
    assert len(one.shown()) == min(limit, one.counts.with_errors)


def test_nor_if_predictions_have_more_types_than_are_told_apart():
    pairs = [pair_of("Ann", [], [mention("Ann", 0, 3, f"type {n}")], name=f"d{n}") for n in range(400)]
    shown = collected(pairs, limit=20).shown()
    assert shown == collected(pairs[::-1], limit=20).shown()
    assert len(shown) == 20


def test_every_kind_and_type_is_among_what_is_shown_before_any_comes_again():
    common = [pair_of(f"{n} Ann", [mention(f"{n} Ann", 4, 7)], name=f"n{n}") for n in range(100, 400)]
    rare = pair_of("Leeds", [mention("Leeds", 0, 5, "place")], [mention("Leeds", 0, 5)], name="rare")
    shown = collected([*common, rare], limit=5).shown()
    assert len(shown) == 5
    assert "rare" in {document.id for document in shown}


def test_seeds_draw_other_documents():
    def drawn(seed: int) -> list[str | None]:
        collector = GalleryCollector(limit=5, seed=seed)
        for pair in some_pairs():
            collector.add(pair)
        return [document.id for document in collector.shown()]

    assert drawn(1) == drawn(1) != drawn(2)


def test_what_is_kept_is_bounded_whatever_comes():
    collector = GalleryCollector(limit=10)
    for n in range(50):
        text = f"Ann {n} {'word ' * 3000}"
        found = [mention(text, 0, 3, f"type {n}"), *(mention(text, at, at + 4, "word") for at in range(10, 510, 5))]
        collector.add(pair_of(text, [mention(text, 0, 3)], found, name=f"d{n}"))
    shown = collector.shown()
    assert len(shown) == 10
    for document in shown:
        assert sum(len(text) for _, text in document.excerpts) < LONGEST + 1000
        assert len(document.errors) == 40
        assert document.left_out == 1 + 100 - 40


def test_of_very_many_mentions_in_one_row_the_first_are_kept():
    text = "ab " * 1000
    pair = pair_of(text, [mention(text, 0, 3000)], [mention(text, at, at + 2) for at in range(0, 3000, 3)])
    (document,) = collected([pair]).shown()
    (row,) = document.errors
    assert (row.kind, len(row.found), document.shortened) == ("split", 20, True)
    assert len(row.gold[0].text) == 300


def test_a_long_text_is_kept_around_its_errors():
    text = f"Ann {'word ' * 4000}Bob {'word ' * 4000}Eve"
    bob, eve = text.index("Bob"), text.index("Eve")
    pair = pair_of(text, [mention(text, 0, 3), mention(text, bob, bob + 3), mention(text, eve, eve + 3)], [mention(text, 0, 3)])
    (document,) = collected([pair]).shown()
    assert [(start, start + len(kept)) for start, kept in document.excerpts] == [(bob - 300, bob + 303), (eve - 300, eve + 3)]
    assert all(text[start : start + len(kept)] == kept for start, kept in document.excerpts)
    assert document.length == len(text)
    # A gap of a few code points is closed: between both, and at the beginning.
    near = mention(text, bob + 650, bob + 653)
    (document,) = collected([pair_of(text, [mention(text, 350, 353), mention(text, bob, bob + 3), near], [])]).shown()
    assert [(start, start + len(kept)) for start, kept in document.excerpts] == [(0, 653), (bob - 300, bob + 953)]
    (document,) = collected([pair]).shown()
    assert document.correct == ()  # Ann stands in what is left out


def test_none_is_shown_if_none_is_wanted():
    assert collected(some_pairs(), limit=0).shown() == []


def test_all_errors_are_logged_with_places_and_texts(tmp_path):
    pairs = [*some_pairs(), *hostile_pairs(), pair_of("\ud800 Ann", [mention("\ud800 Ann", 0, 5)], name="lone")]
    path = tmp_path / "new" / "errors.jsonl"
    with drafted(path) as log:
        collector = GalleryCollector(limit=1, log=log)
        for pair in pairs:
            collector.add(pair)
    rows = [json.loads(line) for line in path.read_bytes().splitlines()]
    kinds = collector.counts.kinds
    assert Counter(row["kind"] for row in rows for _ in row["gold"] or row["found"]) == {
        kind: n for kind, n in kinds.items() if kind != "correct"
    }
    texts = {pair.gold.id: pair.gold.text for pair in pairs}
    for row in rows:
        for one in (*row["gold"], *row["found"]):
            if one["start"] is not None:
                assert texts[row["document"]][one["start"] : one["end"]] == one["text"]
    assert not list(path.parent.glob(".*"))


def test_the_matrix_as_csv(tmp_path):
    counts = collected([*some_pairs(), *hostile_pairs()]).counts
    write_confusion(tmp_path / "confusion.csv", counts)
    with (tmp_path / "confusion.csv").open(encoding="utf-8", newline="") as fh:
        header, *rows = csv.reader(fh)
    assert (header[0], header[-1], rows[-1][0]) == ("gold", "missed", "spurious")
    numbers = {
        (None if row[0] == "spurious" else row[0], None if name == "missed" else name): int(cell)
        for row in rows
        for name, cell in zip(header[1:], row[1:], strict=True)
    }
    assert {pair: number for pair, number in numbers.items() if number} == counts.confusion


@pytest.mark.long
def test_plots_of_errors_and_bias_are_files_and_the_same_each_time(tmp_path):
    pytest.importorskip("matplotlib", reason="the extra report is not installed")
    from piiloom.evaluation.bias import bias_plot
    from piiloom.evaluation.plots import error_plots, write_plot

    counts = collected([*some_pairs(), *hostile_pairs()]).counts
    names = BiasCollector("name")
    for pair in some_pairs():
        names.add(pair)
    plots = [*error_plots(counts), bias_plot(names.figures())]

    def drawn(folder: Path) -> dict[str, bytes]:
        return {path.name: path.read_bytes() for plot in plots for path in write_plot(folder, plot)}

    once = drawn(tmp_path / "one")
    assert {f"errors-by-{name}.png" for name in DIMENSIONS} | {"confusion.svg", "bias.svg"} <= once.keys()
    assert once == drawn(tmp_path / "two")
