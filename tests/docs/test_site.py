"""``make docs``: the site is built offline, without a warning, and each of its links and assets holds."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from docs.conf import with_contents
from docs.making.site_check import check_site
from tests.docs.pages import ROOT

SOURCES = ("README.md", "CONTRIBUTING.md", "CHANGELOG.md", "benchmarks", "docs")


def build(sources: Path, site: Path) -> subprocess.CompletedProcess[str]:
    """Build the pages below *sources* as the Makefile does, but those that are unchanged only once."""
    recipe = (ROOT / "Makefile").read_text(encoding="utf-8")
    (options,) = re.findall(r"-m sphinx (.+) \. outputs/site$", recipe, re.MULTILINE)
    cache = ["-d", str(site.parent / "cache")]
    given = [*options.replace("-d outputs/.site-cache -E ", "").split(), *cache]
    command = [sys.executable, "-m", "sphinx", *given, ".", str(site)]
    return subprocess.run(command, cwd=sources, capture_output=True, text=True, check=False, timeout=300)


@pytest.mark.long
def test_the_site_is_built_and_all_of_its_links_and_assets_hold_and_a_broken_link_fails_the_build(tmp_path):
    sources = tmp_path / "sources"
    sources.mkdir()
    for name in SOURCES:
        (shutil.copytree if (ROOT / name).is_dir() else shutil.copy2)(ROOT / name, sources / name)
    built = build(sources, tmp_path / "site")
    assert (built.returncode, built.stderr) == (0, "")
    checked = check_site((tmp_path / "site").resolve())
    assert checked.faults == []
    assert checked.pages >= len(list((ROOT / "docs").rglob("*.md")))
    assert checked.links > 2_000
    assert (tmp_path / "site" / "index.html").exists()
    # Built anew is the page that changed, and no other.
    page = sources / "docs" / "install.md"
    wrong = "[a page](nowhere.md) [a place](glossary.md#no-such-place) [a file](samples/nothing.yaml)"
    page.write_text(f"{page.read_text(encoding='utf-8')}\n{wrong}\n", encoding="utf-8")
    built = build(sources, tmp_path / "site")
    assert built.returncode != 0
    assert all(re.search(f"install.md:.*{name}", built.stderr) for name in ("nowhere.md", "no-such-place", "nothing.yaml")), built.stderr


@pytest.mark.parametrize(
    ("page", "fault"),
    [
        ('<a href="other.html#there">', None),
        ('<a href="#here">', None),
        ('<a href="https://example.org/x">', None),
        ('<img src="a.png" srcset="a.png 1x, a.png 2x">', None),
        ('<img src="data:image/png;base64,AAAA">', None),
        ('<a href="nowhere.html">', "the link nowhere.html leads nowhere"),
        ('<a href="other.html#nowhere">', "the link other.html#nowhere leads to no such place"),
        ('<a href="#nowhere">', "the link #nowhere leads to no such place"),
        ('<img src="b.png">', "b.png is not there"),
        ('<source srcset="a.png 1x, b.png 2x">', "b.png is not there"),
        ('<script src="https://cdn.example.org/x.js"></script>', "takes https://cdn.example.org/x.js from another host"),
        ('<script src="//cdn.example.org/x.js"></script>', "takes //cdn.example.org/x.js from another host"),
        ('<link rel="stylesheet" href="https://fonts.example.org/x.css">', "takes https://fonts.example.org/x.css from another host"),
    ],
)
def test_what_a_page_may_link_to_and_take_in(tmp_path, page, fault):
    (tmp_path / "a.png").write_bytes(b"x")
    (tmp_path / "other.html").write_text('<p id="there">', encoding="utf-8")
    (tmp_path / "page.html").write_text(f'<p id="here">{page}', encoding="utf-8")
    assert check_site(tmp_path).faults == ([] if fault is None else [f"page.html: {fault}"])


def test_a_style_sheet_takes_nothing_from_another_host(tmp_path):
    sheet = tmp_path / "x.css"
    sheet.write_text("@font-face { src: url(a.woff2) } i { background: url('data:image/svg+xml;x') }", encoding="utf-8")
    assert check_site(tmp_path).faults == []
    sheet.write_text('@import "https://fonts.example.org/y.css"; b { background: url(//example.org/z.png) }', encoding="utf-8")
    assert check_site(tmp_path).faults == [
        "x.css: takes https://fonts.example.org/y.css from another host",
        "x.css: takes //example.org/z.png from another host",
    ]


def test_the_lists_of_the_index_become_the_side_bar():
    text = "# Title\n\nsee [that](that.md)\n\n## One\n\n- [A page](a.md): what it is\n- [B](../b.md#place)\n- no link\n\n## Two\n\nwords\n"
    made = with_contents(text)
    assert made.count("{toctree}") == 1
    assert ":caption: One\n\nA page <a.md>\n```" in made
    assert "```{toctree}" not in made[made.index("## Two") :]
    assert made.startswith("# Title\n\nsee [that](that.md)")
