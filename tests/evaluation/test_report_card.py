"""The dataset card: its tables come back from Markdown as they went in, and no value of a corpus is obeyed."""

from __future__ import annotations

from hypothesis import example, given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from piiloom.evaluation.report.figures import measure
from piiloom.evaluation.report.folder import dataset_card
from piiloom.evaluation.report.sources import ReportSource
from piiloom.evaluation.report.tables import all_tables
from piiloom.foundation.words import escaped
from piiloom.taxonomy.entity_types import shipped_taxonomy
from tests.evaluation.report_records import marked, varied
from tests.longer import few

NASTY = [
    "<script>alert(1)</script>",
    "![x](http://a.b/c.png)",
    "[x](javascript:1)",
    "a | b \\| c \\",
    "**b** _i_ `c` ``",
    "&lt;b&gt; &#60;",
    "x@y.example",
    "https://a.example/?q=1",
    "# h\n- l\n\n| a |",
    "~~s~~ $x^2$",
]


def cells(markdown: str) -> list[list[str]]:
    """The rows of all tables, as plain text; fails when a cell holds anything but text."""
    rows: list[list[str]] = []
    for token in MarkdownIt("commonmark", {"html": True}).enable(["table", "strikethrough"]).parse(markdown):
        if token.type == "tr_open":
            rows.append([])
        elif token.type == "inline" and rows and token.level >= 4:
            assert {child.type for child in token.children or []} <= {"text", "text_special"}
            rows[-1].append("".join(child.content for child in token.children or []))
    return rows


@few
@given(st.text(st.characters(exclude_categories=["Cc", "Cs", "Zl", "Zp", "Cf"]), min_size=1) | st.sampled_from(NASTY))
@example("a\\|b")
def test_text_is_shown_as_it_is(text):
    table = f"| a | b |\n| --- | --- |\n| {escaped(text)} | 1 |\n"
    assert cells(table)[1] == [" ".join(text.split()), "1"] or not text.strip()


def test_what_is_not_for_showing_becomes_visible():
    assert escaped("a\x1b[31mb\u202ec\ud800") == "a\ufffd&#91;31mb\ufffdc\ufffd"
    assert escaped("👩\u200d🚀 نمی\u200cدانم") == "👩\u200d🚀 نمی\u200cدانم"


def test_the_tables_of_the_card_hold_the_figures_and_nothing_is_obeyed():
    records = [
        *varied(),
        *(marked(f"My note is [{text.replace('[', '(').replace(']', ')').replace('|', '/')}|code|low].") for text in NASTY),
    ]
    source, figures = ReportSource(file="<b>x</b>|.jsonl"), measure({"all": records}, taxonomy=shipped_taxonomy())
    card = dataset_card(source, figures, [("lengths.png", "Words a text")])
    shown = cells(card)
    for table in all_tables(source, figures):
        for row in table.rows:
            assert [" ".join(cell.split()) for cell in row] in shown
    assert "<b>" not in card
    assert "<script>" not in card
    assert "![Words a text](lengths.png)" in card
    assert f"{len(records)} records" in card
    assert "html" not in {token.type.split("_")[0] for token in MarkdownIt("commonmark").parse(card)}
