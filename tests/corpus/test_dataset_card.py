"""The dataset card: a header that datasets reads, sentences only where figures warrant them, and no name of the data is obeyed."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import example, given
from hypothesis import strategies as st
from markdown_it import MarkdownIt
from released import FEATURES, RELEVANCE, TYPES, about_of, rows_of, write_parquet

from piiloom.corpus.formats.base import Json
from piiloom.corpus.formats.dataset_card import (
    COMPOSED,
    IMPORTED,
    UNSTATED,
    WRITTEN,
    DatasetFacts,
    Statements,
    card_text,
    in_markdown,
)
from piiloom.corpus.record import Provenance, Record, RecordPlan, Relevance, SourceReference, Span
from piiloom.corpus.releases.manifest import producer_of
from piiloom.taxonomy.entity_types import shipped_taxonomy

COMPOSER = Provenance(stage="screen", provider="composer")
MODEL = Provenance(stage="screen", provider="openai", model="gpt-9_x")
NASTY = ["<script>alert(1)</script>", "![x](http://a.b/c.png)", "a | b\n---\n# c", "`x` **b**", "---\nlicense: mit", "]\u202e\u2028x", "no"]


def record(number: int, relevance: Relevance | None = "high", **changes: Any) -> Record:
    spans = (
        Span(id="s1", start=0, end=6, entity_type="health", relevance=relevance),
        Span(id="s2", start=8, end=10, entity_type="age", relevance=relevance and "low"),
    )
    return Record(**{"id": f"r{number}", "context": "asthma, 34", "spans": spans, **changes})


def composed(count: int, **changes: Any) -> list[Record]:
    plan = RecordPlan(pair=("age", "health"))
    return [record(number, provenance=COMPOSER, plan=plan, **changes) for number in range(count)]


def header_and_body(card: str) -> tuple[Any, str]:
    assert card.startswith("---\n")
    header, body = card[4:].split("\n---\n", 1)
    return yaml.safe_load(header), body


def card_of(splits: dict[str, list[Record]], **changes: object) -> tuple[Any, str]:
    return header_and_body(card_text(about_of(splits, **changes), FEATURES, taxonomy=shipped_taxonomy()))


def test_the_header_says_how_the_files_are_loaded() -> None:
    splits = {"test": composed(1, locale="pt_BR"), "train": composed(3), "validation": composed(1, locale="xx-QQ-1")}
    header, _ = card_of(splits, license="CC-BY-4.0")
    assert header["license"] == "cc-by-4.0"
    assert header["language"] == ["en", "pt", "xx"]
    assert (header["pretty_name"], header["size_categories"]) == ("v1", ["n<1K"])
    assert header["task_categories"] == ["token-classification"]
    assert header["configs"] == [
        {
            "config_name": "default",
            "data_files": [{"split": name, "path": f"{name}.parquet"} for name in ("train", "validation", "test")],
        }
    ]
    assert header["dataset_info"]["features"] == FEATURES["features"]
    counts = {"train": 3, "validation": 1, "test": 1}
    assert header["dataset_info"]["splits"] == [{"name": name, "num_examples": count} for name, count in counts.items()]


def test_splits_of_the_given_features_are_kept() -> None:
    told: Json = {**FEATURES, "splits": [{"name": "train", "num_examples": 1, "num_bytes": 9}]}
    header, _ = header_and_body(card_text(about_of({"train": composed(1)}), told, taxonomy=shipped_taxonomy()))
    assert header["dataset_info"] == told


@pytest.mark.parametrize(
    ("told", "header"), [(None, {"license": "unknown"}), ("Our own terms", {"license": "other", "license_name": "Our own terms"})]
)
def test_a_licence_that_is_none_or_our_own(told: str | None, header: dict[str, str]) -> None:
    found, body = card_of({"train": composed(1)}, license=told)
    assert {key: value for key, value in found.items() if key.startswith("license")} == header
    assert ("Not stated; `piiloom release --license` states it." in body) == (told is None)
    assert "synthetic" in found["tags"]


def test_the_tables_have_the_counts() -> None:
    _, body = card_of({"train": composed(2), "test": [record(9, None)]})
    assert "| train | 2 | 4 |" in body
    assert "| test | 1 | 2 |" in body
    assert "| type | high | low | not labelled | spans |" in body
    assert "| health | 2 | 0 | 1 | 3 |" in body
    assert "| age | 0 | 2 | 1 | 3 |" in body


def test_producers_are_told_with_their_shares() -> None:
    made = [*composed(2), record(7, provenance=MODEL), record(8, source=SourceReference(file="x"))]
    _, body = card_of({"train": made})
    assert "- 2 records (50%) were composed by piiloom's composer" in body
    assert "- 1 record (25%) was written through openai by gpt-9_x." in body
    assert "- 1 record (25%) was imported." in body
    assert "- 3 records are about invented people" in body
    assert "Whether a language model repeated information of real people in what it wrote was not checked." in body
    assert "- 1 record came from other data; whether the people in them are real is not stated." in body
    assert "50% of the records come from templates: the same sentences may occur with other values in them." in body


def test_the_phrases_of_producers_are_known() -> None:
    made = {
        COMPOSED: record(1, provenance=COMPOSER),
        WRITTEN: record(1, provenance=MODEL),
        IMPORTED: record(1, source=SourceReference(file="x")),
        UNSTATED: record(1),
    }
    assert all(producer_of(one).startswith(beginning) for beginning, one in made.items())


def test_a_sentence_is_there_only_if_the_data_warrants_it() -> None:
    _, imported = card_of({"train": [record(1, None, source=SourceReference(file="x"))], "test": [record(2, None)]})
    for absent in ("invented", "templates", "language model", "high", "pairs", "agreed", "judged", "no split to test"):
        assert absent not in imported.replace("| type | high |", ""), absent
    assert "100% of the spans have no relevance label." in imported
    assert "Of 1 record it is not stated whether the people in them are real." in imported
    _, empty = card_of({"train": [Record(id="x", context="nothing")]})
    assert "## Uses" not in empty
    assert "## Biases" not in empty
    assert "There is no split to test on." in empty


def test_one_sided_types_rare_types_and_missing_pairs_are_told() -> None:
    _, body = card_of({"train": composed(25)})
    assert "Nearly always of high relevance, so that the type alone tells the label: health (100%)." in body
    assert "Nearly always of low relevance, so that the type alone tells the label: age (100%)." in body
    assert "Types with fewer than 30 spans: age (25), health (25)." in body
    pairs = len(shipped_taxonomy().pairs)
    assert f"{pairs - 1} of the {pairs} pairs of types do not occur: " in body
    assert "sexual orientation" in body
    few = card_of({"train": composed(3)})[1]
    assert "Nearly always" not in few


def test_leakage_is_a_table_or_not_stated() -> None:
    splits = {"train": composed(2), "test": composed(1)}
    assert "Not stated; `piiloom report --release` measures it." in card_of(splits)[1]
    seen = {"seen": 1, "of": 4, "share": 0.25}
    leakage = {"test": {"records": 1, "against": "train", "values": seen, "open_values": seen, "contexts": {"near": seen, "same": seen}}}
    body = card_of(splits, leakage=leakage)[1]
    assert (
        "| test | train | contexts &#40;near-duplicates&#41; | 1 | 4 |" in body
        or "| test | train | contexts (near-duplicates) | 1 | 4 |" in body
    )
    assert "25% of the distinct values of types whose values seldom repeat in test are in train, too." in body
    assert "What the splits share" not in card_of({"train": composed(2)})[1]


def test_checks_version_settings_and_losses_are_told() -> None:
    _, body = card_of(
        {"train": composed(2)},
        version="1.2.0",
        content_sha256="ab" * 32,
        statuses={"validated": 2},
        judged=[{"kind": "relevance", "judged": 40, "disagree": 3, "records": 2}],
        filters={"min_agreement": 0.8, "status": "validated", "run_id": None, "left_out": {"agreement": 3}},
        settings={"test_size": 0.1, "group_by": ["keys", "values"], "balance": None, "folds": 0},
        withheld=[{"record": "r1", "reason": "x"}],
        loss={"fields": ["subject"], "reasons": {"too long": 2}, "entries": []},
    )
    assert "- Records by status: validated (2)." in body
    assert "- A model judged 40 values (relevance) and disagreed with the label of 3 (8%), in 2 records." in body
    assert "- Annotators agreed on at least 80% of the labels of every record; others were left out." in body
    assert "Version 1.2.0. A release is frozen" in body
    assert f"SHA-256 {'ab' * 32}" in body
    assert "- 1 record of the release is in no split." in body
    assert "- The format does not keep: subject." in body
    assert "- Lost in 2 places: too long." in body
    assert f"| group_by | {in_markdown('keys, values')} |" in body
    assert "balance" not in body
    assert "left_out" not in body
    assert "| seed | 7 |" in body
    assert "  version = {1.2.0}" in body


def test_the_citation_is_one_entry_whatever_the_name() -> None:
    cited = Statements(DatasetFacts(about_of({"train": composed(1)}, name='a}, evil = {`"\n```')), taxonomy=shipped_taxonomy()).citation()
    assert cited == "@misc{aevil,\n  title = {a, evil =},\n  note = {Made with piiloom 0.1.0}\n}"


@pytest.mark.long
@given(st.text(max_size=20), st.text(max_size=20), st.text(max_size=20))
@example("---\nlicense: mit", "![x](http://a.b/c.png)", "<script>alert(1)</script>")
@example("no", "a | b\n# c", "`x` **b**")
def test_no_name_of_the_data_is_obeyed(name: str, locale: str, entity_type: str) -> None:
    items = [Record(id="r", context="x", locale=locale, spans=(Span(id="s", start=0, end=1, entity_type=entity_type),))]
    model = Provenance(stage="s", provider="p", model=name)
    items.append(Record(id="q", context="x", provenance=model))
    about = about_of({"train": items}, name=name or "n", license=locale, version=entity_type, settings={"x": name})
    header, body = header_and_body(card_text(about, FEATURES, taxonomy=shipped_taxonomy()))
    assert header["pretty_name"] == (name or "n")
    assert (header["license"] == "unknown") == (locale.lower() in {"", "unknown"})
    tokens = MarkdownIt("commonmark", {"html": True}).enable("table").parse(body)
    kinds = Counter(token.type for token in tokens)
    inner = {child.type for token in tokens for child in token.children or ()}
    assert not {"html_block", "hr", "code_block", "blockquote_open"} & set(kinds)
    assert not {"link_open", "image", "html_inline", "em_open", "strong_open"} & inner
    assert kinds["heading_open"] == body.count("\n## ") + 1
    assert kinds["fence"] == 1
    headings = [tokens[at + 1].content for at, token in enumerate(tokens) if token.type == "heading_open"][1:]
    assert headings == [line[3:] for line in body.split("\n") if line.startswith("## ")]


def test_names_are_told_as_they_are_where_markdown_allows_it() -> None:
    assert [in_markdown(text) for text in ("sexual orientation", "en_US", "gpt-4.1", "_x_", "a*b", "1.")] == [
        "sexual orientation",
        "en_US",
        "gpt-4.1",
        "&#95;x&#95;",
        "a&#42;b",
        "1&#46;",
    ]


@pytest.mark.long
def test_datasets_loads_the_folder_by_the_card(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    datasets = pytest.importorskip("datasets")
    splits = {"train": composed(2), "test": [record(9, None, locale="sv_SE")]}
    write_parquet(tmp_path, splits)
    (tmp_path / "README.md").write_text(
        card_text(about_of(splits, name=NASTY[0]), FEATURES, taxonomy=shipped_taxonomy()), encoding="utf-8", newline="\n"
    )
    loaded = datasets.load_dataset(str(tmp_path), cache_dir=str(tmp_path / "cache"))
    assert list(loaded) == ["train", "test"]
    for name, items in splits.items():
        assert list(loaded[name]) == rows_of(items)
    part = loaded["train"].features["spans"].feature
    assert (tuple(part["type"].names), tuple(part["relevance"].names)) == (TYPES, RELEVANCE)
