"""Cells of tables: nothing that a spreadsheet would compute, and everything else as it is."""

from __future__ import annotations

from pathlib import Path

from piiloom.annotation_app.screens import showing
from tests.longer import case_by_case


@case_by_case(
    ("cell", "safe"),
    [
        ("=1+1", "'=1+1"),
        ("+cmd", "'+cmd"),
        ("-2+3", "'-2+3"),
        ("@SUM(A1)", "'@SUM(A1)"),
        ("＝1", "'＝1"),
        ("\t=1", "'\t'=1"),
        ("  =1", "'  =1"),
        ("a;=1+1", "a;'=1+1"),
        ("a\n=1", "a\n'=1"),
        (["=1", "b"], ["'=1", "b"]),
        ("-5", "-5"),
        ("+3.5%", "+3.5%"),
        ("-", "-"),
        ("a = b", "a = b"),
        ("ana", "ana"),
        ("", ""),
        (-5, -5),
        (None, None),
    ],
)
def test_a_cell_is_no_formula(cell, safe):
    assert showing.safe_cell(cell) == safe


def test_rows_and_names_of_columns():
    assert showing.safe_rows([{"=a": "=b", "c": 1}]) == [{"'=a": "'=b", "c": 1}]


def test_no_page_shows_a_table_another_way():
    # st.table can be saved as no CSV.
    texts = {
        path.name: path.read_text(encoding="utf-8") for path in Path(showing.__file__).parent.glob("*.py") if path.name != "showing.py"
    }
    assert [name for name, text in texts.items() if "st.dataframe" in text or "st.data_editor" in text] == []
