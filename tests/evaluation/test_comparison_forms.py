"""A comparison in Markdown, LaTeX and HTML: names of any content stay names."""

from __future__ import annotations

import re
from dataclasses import replace
from html.parser import HTMLParser

from hypothesis import given
from hypothesis import strategies as st

from piiloom.evaluation.comparison import (
    RankingSettings,
    compare_systems,
    comparison_table,
    html_page,
    latex,
    latex_table,
    markdown_table,
)
from tests.evaluation.scored_pairs import exact_scheme, scored_pair
from tests.longer import case_by_case, few

HOSTILE = (
    "<script>alert(1)</script>",
    "a|b\n| - | **c** [d](javascript:e) `f`",
    r"\input{/etc/passwd} & \\ % # $x^2$ {~} _ ^",
    "\"><img src=x onerror=alert(1)>'",
    "\u202egnp.exe\x1b[31m",
    "a--b,,c''d``e",
)


def comparison(names, **ranking):
    counts = {name: [(n % 4 + at % 3, at % 2, 6 - n % 4 - at % 3) for n in range(12)] for at, name in enumerate(names)}
    wanted = RankingSettings(**{"resamples": 50, "permutations": 99, **ranking})
    pairs = {name: [scored_pair(n, each) for n, each in enumerate(rows)] for name, rows in counts.items()}
    return compare_systems(pairs, exact_scheme(), wanted)


class Page(HTMLParser):
    """Elements with their attributes, and the texts of cells."""

    def __init__(self, text):
        super().__init__()
        self.elements, self.cells, self._within = [], [], False
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.elements.append((tag, dict(attrs)))
        if tag in {"th", "td"}:
            self._within = True
            self.cells.append("")

    def handle_endtag(self, tag):
        if tag in {"th", "td"}:
            self._within = False

    def handle_data(self, data):
        if self._within:
            self.cells[-1] += data


def test_markdown_is_one_table_with_names_as_text():
    found = comparison(HOSTILE)
    text = markdown_table(comparison_table(replace(found, extra={"cost | <b>": dict.fromkeys(HOSTILE, "1|2<i>")})))
    lines = [line for line in text.splitlines() if line.startswith("|")]
    assert len(lines) == 2 + len(HOSTILE)
    assert {line.count("|") for line in lines} == {9}
    for forbidden in ("<script", "<img", "<i>", "<b>", "](", "`", "\x1b", "\u202e"):
        assert forbidden not in text
    assert "&#60;script&#62;alert&#40;1&#41;&#60;&#47;script&#62;" in text
    # Our own figures stay as they are read.
    assert re.search(r"\| (\*\*)?0\.\d{4}(\*\*)? \[0\.\d{3}, [01]\.\d{3}\] \|", lines[2])


def test_html_holds_names_as_text_and_no_script():
    page = Page(html_page(comparison_table(replace(comparison(HOSTILE), extra={"<b>cost": {HOSTILE[0]: "<u>"}}))))
    tags = [tag for tag, _ in page.elements]
    assert set(tags) <= set("html head meta title style body main h1 div table caption thead tbody tr th td strong small ul li".split())
    assert {"<script>alert(1)</script>", "<b>cost", "<u>", HOSTILE[3]} <= set(page.cells)
    assert all(not name.startswith("on") for _, attributes in page.elements for name in attributes)
    policy = next(attributes["content"] for tag, attributes in page.elements if attributes.get("http-equiv"))
    assert policy.startswith("default-src 'none'; style-src 'sha256-")


def test_html_table_is_accessible():
    page = Page(text := html_page(comparison_table(comparison(["a", "b"]))))
    assert ("html", {"lang": "en"}) in page.elements
    assert [attributes["scope"] for tag, attributes in page.elements if tag == "th"] == ["col"] * 7 + ["row"] * 2
    assert [tag for tag, _ in page.elements].count("caption") == 1
    assert "prefers-color-scheme: dark" in text
    assert "http" not in text.replace("http-equiv", "")


def rows_of(text):
    within = text[text.index(r"\midrule") : text.index(r"\bottomrule")]
    return [line for line in within.splitlines()[1:] if line]


def cells_of(line):
    assert line.endswith(r" \\")
    return re.split(r"(?<!\\)&", line[:-3])


def test_latex_has_a_row_a_system_with_as_many_cells_as_columns():
    text = latex_table(comparison_table(replace(comparison(HOSTILE), extra={"cost_%": {HOSTILE[2]: "5 % & more"}})))
    rows = rows_of(text)
    assert len(rows) == len(HOSTILE)
    assert {len(cells_of(row)) for row in rows} == {8}
    assert r"\begin{tabular}{rlrrrrrr}" in text
    assert r"\input" not in text
    assert r"\textbackslash{}input\{/etc/passwd\}" in text
    for rule in (r"\toprule", r"\midrule", r"\bottomrule"):
        assert text.count(rule) == 1


_OWN = re.compile(
    r"\\textbackslash\{\}|\\textasciitilde\{\}|\\textasciicircum\{\}|\\textless\{\}|\\textgreater\{\}|\\textbar\{\}|\\ldots\{\}"
    r"|\{\\char34\}|\{['`]\}|-\{\}-\{\}|,\{\},\{\}|\$-\$|\$\\leq\$|\\[{}$&#%_]"
)


@few
@given(name=st.text(max_size=30))
def test_latex_leaves_nothing_that_tex_would_interpret(name):
    left = _OWN.sub("·", latex(name))
    assert not re.search(r"[\\{}$&#%_~^<>|\"'`]|,,", left)
    assert "--" not in left.replace("--", "", name.count("–"))


@few
@given(names=st.lists(st.text(st.characters(exclude_categories=[]), min_size=1, max_size=15), min_size=1, max_size=3, unique=True))
def test_any_names_give_whole_tables(names):
    table = comparison_table(comparison(names, permutations=9))
    lines = [line for line in markdown_table(table).split("\n") if line.startswith("|")]
    assert len(lines) == 2 + len(names)
    assert {line.count("|") for line in lines} == {8}
    assert len(rows_of(latex_table(table))) == len(names)
    assert len(Page(html_page(table).encode().decode()).cells) == 7 * (1 + len(names))


def test_the_best_of_each_column_is_bold_and_extra_columns_have_gaps():
    found = comparison(["a", "b"])
    table = comparison_table(replace(found, extra={"cost": {"b": "$2"}}))
    bold = {name: {row[1].text for row in table.rows if row[at].strong} for at, name in enumerate(found.headline, start=2)}
    for name, who in bold.items():
        best = max(one.figures[name] for one in found.systems)
        assert who == {one.name for one in found.systems if one.figures[name] == best}
    assert {row[1].text: row[-1].text for row in table.rows} == {"a": "–", "b": "$2"}


def test_where_the_lowest_is_best_only_the_ranking_figure_is_bold():
    table = comparison_table(found := comparison(["a", "b"], by="recall", lowest=True))
    bold = {(row[1].text, at) for row in table.rows for at in range(len(row)) if row[at].strong}
    least = min(one.figures["recall"] for one in found.systems)
    assert bold == {(one.name, 3) for one in found.systems if one.figures["recall"] == least}


@case_by_case(
    ("names", "ranking", "said"),
    [
        (["a", "b"], {}, "12 documents in 12 clusters by document"),
        (["a", "b"], {"cluster": "story"}, "12 documents in 12 clusters by story (12 without a key story:…, each by itself)"),
        (["a", "b"], {"permutations": 9}, "too few permutations"),
        (["a", "b"], {}, "adjusted by Holm over 1 pair"),
        (["a", "b"], {}, "95% intervals, bootstrap over clusters (50 resamples, seed 7)"),
    ],
)
def test_notes_say_what_the_figures_rest_on(names, ranking, said):
    assert any(said in note for note in comparison_table(comparison(names, **ranking)).notes)


def test_one_system_has_no_note_on_tests():
    notes = comparison_table(comparison(["a"])).notes
    assert len(notes) == 2
